"""The code under test as a program: run in an interpreter of its own, as a shell runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

_run = subprocess.run  # the tests' own is another


def run_program(arguments: tuple[str, ...], stdin: Any, seconds: float | None) -> tuple[int, Any, Any] | None:
    """Run `user_code.py` as `__main__`; its exit code, standard output and standard error, as texts where `stdin`
    is one. None where it takes longer than `seconds`."""
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
