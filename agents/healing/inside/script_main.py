"""Runs a script as `python SCRIPT ARGUMENTS` does, and reports its errors, its calls if asked, and the answers to
calls; without a script these only."""

from __future__ import annotations

import builtins
import importlib
import json
import sys
import threading
import types
from contextlib import nullcontext
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_report: Any = importlib.import_module(f"{__package__}.report")
"""agents/repository/inside/report.py, which lies beside this in the sandbox."""


def main() -> None:
    """Run the script, and end as it does."""
    descriptor, tree, script, called, arguments, asked, traced = json.loads(sys.argv[1])
    path = str(Path(tree, script))
    report = _report.Report(descriptor, tree)
    if not script:
        sys.path[0] = tree
        report.answer(asked, traced=traced)
        return
    module = types.ModuleType("__main__")
    vars(module).update(__file__=path, __builtins__=builtins, __cached__=None)
    sys.modules["__main__"] = module
    sys.argv = [script, *arguments]
    sys.path[0] = str(Path(path).parent)
    _report_threads(report)
    try:
        code = compile(Path(path).read_bytes(), path, "exec", dont_inherit=True)
        with report.profiled() if called else nullcontext():
            exec(code, vars(module))  # noqa: S102 - the script, in the sandbox
    except SystemExit as ended:
        if ended.code:
            report.error(ended)
        raise
    except BaseException as error:
        report.error(error)
        report.write()
        sys.excepthook(type(error), error, _report.stripped(error))
        sys.exit(1)
    finally:
        report.ended = True
        report.write()
        report.answer(asked, traced=traced)


def _report_threads(report: Any) -> None:
    shown = threading.excepthook

    def hook(told: Any) -> None:
        if told.exc_value is not None:
            report.error(told.exc_value)
            report.write()
        shown(told)

    threading.excepthook = hook
