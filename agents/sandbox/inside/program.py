"""Runs a Python program in this process, as the interpreter's command line would."""

from __future__ import annotations

import atexit
import os
import runpy
import sys
import threading
import traceback
from collections.abc import Sequence
from types import ModuleType

_WITH_VALUE = ("-X", "-W")


def run_program(argv: Sequence[str]) -> int:
    """Run the arguments of an interpreter (`-I -c CODE ...`, `-m MODULE ...`, `FILE ...`); return the exit code.

    The interpreter's own options are ignored: this one has already started, isolated.
    """
    try:
        code = _exit_code(list(argv))
    finally:
        threading._shutdown()  # type: ignore[attr-defined]  # as the interpreter does at its end
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except (OSError, ValueError):
            code = code or 120  # as the interpreter does
    return code


def _exit_code(argv: list[str]) -> int:
    try:
        _run(argv)
    except SystemExit as end:
        if end.code is None:
            return 0
        if isinstance(end.code, int):
            return end.code & 0xFF
        print(end.code, file=sys.stderr)  # noqa: T201 - the program's own words
        return 1
    except BaseException as error:
        _show(error)
        return 1
    return 0


def _show(error: BaseException) -> None:
    """Print the traceback without the frames of this file."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    traceback.print_exception(type(error), error, trace)


def _run(argv: list[str]) -> None:
    while argv and argv[0].startswith("-") and argv[0] not in ("-c", "-m", "-"):
        del argv[: 2 if argv[0] in _WITH_VALUE else 1]
    main = ModuleType("__main__")
    main.__builtins__ = __builtins__  # type: ignore[attr-defined]
    sys.modules["__main__"] = main
    kind = argv[0]
    if kind == "-m":
        sys.argv = argv[1:]
        runpy.run_module(argv[1], run_name="__main__", alter_sys=True)
        return
    if kind == "-c":
        sys.argv = ["-c", *argv[2:]]
        source: bytes | str = argv[1]
        name = "<string>"
    else:
        sys.argv = argv
        name = main.__file__ = os.path.abspath(kind)  # noqa: PTH100 - as the interpreter does
        with open(kind, "rb") as file:  # noqa: PTH123
            source = file.read()
    exec(compile(source, name, "exec"), main.__dict__)  # noqa: S102 - in the sandbox: this is what it is for
