"""The pytest files that a decorated function names, as a case: they guard each patch, and fail it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from ..records.heal import HealRequest
from ..sandbox import Sandbox
from ..verifier import inside_bytecode
from .call_process import STAND_INS
from .open_case import tests_case
from .tests_case import TestsCase

_INERT = Path(inside_bytecode.__file__).with_name("inside") / "call_process" / "inert_decorators.py"
_PACKAGE = """

replace_packages([__name__])


def __getattr__(name: str) -> Any:
    return getattr(_Package("greenloop"), name)
"""


def call_tests(
    path: Path, files: Sequence[Path], sandbox: Sandbox, seconds: float, cancelled: Callable[[], bool]
) -> TestsCase:
    """Read the project of the module `path` and of the pytest files of one of its functions.

    They are run by the project's own pytest, on a copy in which greenloop's decorators leave functions as they
    are. Raises UsageError.
    """
    request = HealRequest(path=str(path), tests=tuple(map(str, files)), seconds=seconds)
    case = tests_case(request, sandbox, cancelled)
    inert = (_INERT.read_text(encoding="utf-8") + _PACKAGE).encode()
    own = {file.partition("/")[0] for file in case.tree.files}
    stand_ins = {f"{name}/__init__.py": inert for name in STAND_INS if name not in own}
    tree = replace(case.tree, files={**case.tree.files, **stand_ins})
    return replace(case, tree=tree, arguments=case.wanted)
