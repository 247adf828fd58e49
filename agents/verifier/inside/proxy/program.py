"""Runs the code under test as a program in its own interpreter, and restricts the tests' `subprocess` to it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_run = subprocess.run  # the tests' own is another


def run_program(arguments: tuple[str, ...], stdin: Any, seconds: float | None) -> tuple[int, Any, Any] | None:
    """Run `user_code.py` as `__main__`. Return its exit code, standard output and standard error, as text if
    `stdin` is text; None after `seconds`."""
    program = Path(sys.path[0]) / "user_code.py"  # this module may come from a warm worker, the code never does
    command = [sys.executable, "-B", "-X", "utf8", str(program), *arguments]
    given = stdin.encode() if isinstance(stdin, str) else stdin
    try:
        ended = _run(command, input=given, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return None
    if given is stdin:
        return ended.returncode, ended.stdout, ended.stderr
    return ended.returncode, _text(ended.stdout), _text(ended.stderr)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\r\n", "\n")


def divert(run: Callable[[tuple[str, ...], Any, float | None], Any]) -> None:
    """Have `subprocess.run` and `check_output` call `run` (see `run_program`), and refuse any other program."""

    def diverted(command: Any, **options: Any) -> Any:
        words = command if isinstance(command, list) else []
        start = 2 if words[1:2] == ["-m"] else 1
        if words[start : start + 1] not in (["user_code.py"], ["user_code"]):
            raise PermissionError("tests start no process but the code's")
        is_text = any(map(options.get, ("text", "universal_newlines", "encoding")))
        given = options.get("input")
        given = given if given is not None else "" if is_text else b""
        if isinstance(given, str) is not is_text:
            raise TypeError("input must be a str with text=True, and bytes without it")
        ended = run(tuple(map(os.fspath, words[start + 1 :])), given, options.get("timeout"))
        if ended is None:
            raise subprocess.TimeoutExpired(command, options.get("timeout") or 0.0)
        code, out, err = ended
        if options.get("stderr") == subprocess.STDOUT:
            out, err = out + err, None
        both = options.get("capture_output")
        kept_out = out if both or options.get("stdout") == subprocess.PIPE else None
        kept_err = err if both or options.get("stderr") == subprocess.PIPE else None
        if options.get("check") and code:
            raise subprocess.CalledProcessError(code, command, kept_out, kept_err)
        return subprocess.CompletedProcess(command, code, kept_out, kept_err)

    def output(command: Any, **options: Any) -> Any:
        return diverted(command, **{"stdout": subprocess.PIPE, "check": True, **options}).stdout

    setattr(subprocess, "run", diverted)  # noqa: B010 - to a type checker it is no variable
    setattr(subprocess, "check_output", output)  # noqa: B010
