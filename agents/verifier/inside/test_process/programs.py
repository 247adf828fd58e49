"""`subprocess` as tests of a program see it: `user_code.py` runs where the code runs, and answers by value."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from typing import Any

Run = Callable[[tuple[str, ...], Any, float | None], Any]
"""As `run_program`."""


def divert(run: Run) -> None:
    """Have `subprocess.run` and `check_output` call `run` for the code under test, and refuse anything else."""

    def diverted(command: Any, **options: Any) -> Any:
        words = command if isinstance(command, list) else []
        start = 2 if words[1:2] == ["-m"] else 1
        if words[start : start + 1] not in (["user_code.py"], ["user_code"]):
            raise PermissionError("tests start no process but the code's")
        return _completed(command, tuple(map(os.fspath, words[start + 1 :])), run, **options)

    def output(command: Any, **options: Any) -> Any:
        return diverted(command, **{"stdout": subprocess.PIPE, "check": True, **options}).stdout

    setattr(subprocess, "run", diverted)  # noqa: B010 - to a type checker it is no variable
    setattr(subprocess, "check_output", output)  # noqa: B010


def _completed(
    command: Any,
    arguments: tuple[str, ...],
    run: Run,
    input: Any = None,
    capture_output: bool = False,
    text: bool | None = None,
    universal_newlines: bool | None = None,
    encoding: str | None = None,
    stdout: int | None = None,
    stderr: int | None = None,
    check: bool = False,
    timeout: float | None = None,
) -> subprocess.CompletedProcess[Any]:
    is_text = bool(text or universal_newlines or encoding)
    given = input if input is not None else "" if is_text else b""
    if isinstance(given, str) is not is_text:
        raise TypeError("input must be a str with text=True, and bytes without it")
    ended = run(arguments, given, timeout)
    if ended is None:
        raise subprocess.TimeoutExpired(command, timeout or 0.0)
    code, out, err = ended
    if stderr == subprocess.STDOUT:
        out, err = out + err, None
    kept_out = out if capture_output or stdout == subprocess.PIPE else None
    kept_err = err if capture_output or stderr == subprocess.PIPE else None
    if check and code:
        raise subprocess.CalledProcessError(code, command, kept_out, kept_err)
    return subprocess.CompletedProcess(command, code, kept_out, kept_err)
