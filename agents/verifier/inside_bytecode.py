"""The programs that run in the sandbox: bytecode, compiled once here, or source for another Python version."""

from __future__ import annotations

import importlib.util
import marshal
import struct
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Literal

from ..sandbox.interpreter import LENDING, Interpreter

Side = Literal["test_process", "code_process"]
"""The processes of a verification."""

_FOLDER = Path(__file__).with_name("inside")


def programs(side: Side | Literal["call_process", "suite_process"], interpreter: Interpreter) -> dict[str, bytes]:
    """Return the modules of one process and its start file, by their paths in a job."""
    files = {"inside/start.py": (_FOLDER / "start.py").read_bytes(), "inside/lending.py": LENDING.read_bytes()}
    as_bytecode = bytes.fromhex(interpreter.magic) == importlib.util.MAGIC_NUMBER
    for pattern in ("__init__.py", "proxy/*.py", f"{side}/*.py"):
        files |= _modules(pattern, as_bytecode)
    return files


def preloaded_programs(interpreter: Interpreter) -> dict[str, bytes]:
    """Return the modules that a warm worker imports: all but those that import hypothesis."""
    files = programs("test_process", interpreter) | programs("code_process", interpreter)
    left_out = ("inside/start", "inside/lending", "inside/test_process/properties")
    return {path: content for path, content in files.items() if path.rpartition(".")[0] not in left_out}


@cache
def _modules(pattern: str, as_bytecode: bool) -> dict[str, bytes]:
    """Return modules as source, or as .pyc files without flags, time and size. Raises ImportError."""
    names = [path.relative_to(_FOLDER).with_suffix("").as_posix() for path in sorted(_FOLDER.glob(pattern))]
    if not names:
        raise ImportError(f"greenloop is installed without {pattern} of {_FOLDER}; install it again.")
    if not as_bytecode:
        return {f"inside/{name}.py": (_FOLDER / f"{name}.py").read_bytes() for name in names}
    return {f"inside/{name}.pyc": _compiled(name) for name in names}


def _compiled(name: str) -> bytes:
    loader = SourceFileLoader(f"{__package__}.inside.{name.replace('/', '.')}", str(_FOLDER / f"{name}.py"))
    code = loader.get_code(loader.name)  # not by the import system: pytest's hook there puts its own code in
    assert code is not None
    return importlib.util.MAGIC_NUMBER + struct.pack("<III", 0, 0, 0) + marshal.dumps(_placed(code, name))


def _placed(code: CodeType, name: str) -> CodeType:
    """Return `code` without its path on this machine."""
    constants = tuple(_placed(part, name) if isinstance(part, CodeType) else part for part in code.co_consts)
    return code.replace(co_filename=f"inside/{name}.py", co_consts=constants)
