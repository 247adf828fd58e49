"""Run a script as `python SCRIPT ARGUMENTS` does, and report what it raised and, if asked, what it called."""

from __future__ import annotations

import builtins
import json
import sys
import threading
import types
from pathlib import Path

from .report import Report, stripped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def main() -> None:
    """Run the script; ends as it does."""
    descriptor, tree, script, called, arguments, asked, traced = json.loads(sys.argv[1])
    path = str(Path(tree, script))
    report = Report(descriptor, tree)
    module = types.ModuleType("__main__")
    vars(module).update(__file__=path, __builtins__=builtins, __cached__=None)
    sys.modules["__main__"] = module
    sys.argv = [script, *arguments]
    sys.path[0] = str(Path(path).parent)
    _report_threads(report)
    try:
        code = compile(Path(path).read_bytes(), path, "exec", dont_inherit=True)
        if called:
            threading.setprofile(report.profile)
            sys.setprofile(report.profile)
        exec(code, vars(module))  # noqa: S102 - the script, in the sandbox
    except SystemExit as ended:
        if ended.code:
            report.error(ended)
        raise
    except BaseException as error:
        sys.setprofile(None)
        report.error(error)
        report.write()
        sys.excepthook(type(error), error, stripped(error))
        sys.exit(1)
    finally:
        sys.setprofile(None)
        report.ended = True
        report.write()
        if asked:
            from .answers import answer

            answer(report, tree, asked, traced)


def _report_threads(report: Report) -> None:
    shown = threading.excepthook

    def hook(told: Any) -> None:
        if told.exc_value is not None:
            report.error(told.exc_value)
            report.write()
        shown(told)

    threading.excepthook = hook
