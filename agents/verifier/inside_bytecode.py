"""The files of the programs that run inside: compiled here once, as each of the many processes would have to."""

from __future__ import annotations

import importlib.util
import marshal
import struct
from collections.abc import Sequence
from functools import cache
from importlib.abc import InspectLoader
from pathlib import Path
from types import CodeType

_FOLDER = Path(__file__).with_name("inside")
_BOTH = (
    "__init__", "frames", "plain", "shared", "describe", "mirror", "packing", "unpacking", "crossing",
    "awaiting",
)  # fmt: skip
JUDGE = (
    *_BOTH, "facts", "asserts", "changes", "exchanges", "replay", "passes", "wrapping", "measuring", "reporter",
    "properties", "capabilities", "rulings", "caller", "remote_module", "judge",
)  # fmt: skip
SUBJECT = (*_BOTH, "subject")


def programs(modules: Sequence[str]) -> dict[str, bytes]:
    """The named modules of `inside` as bytecode, and the file that starts them, under a job's paths."""
    files = {f"inside/{name}.pyc": _bytecode(name) for name in modules}
    return {"inside/start.py": (_FOLDER / "start.py").read_bytes(), **files}


def loaded() -> dict[str, bytes]:
    """What a warm worker imports for its jobs: all but what needs hypothesis."""
    modules = dict.fromkeys((*JUDGE, *SUBJECT))
    return {f"inside/{name}.pyc": _bytecode(name) for name in modules if name != "properties"}


@cache
def _bytecode(name: str) -> bytes:
    """A module as a sourceless .pyc: magic number, no flags, no time and size, code."""
    package = f"{__package__}.inside"
    spec = importlib.util.find_spec(package if name == "__init__" else f"{package}.{name}")
    code = spec.loader.get_code(spec.name) if spec and isinstance(spec.loader, InspectLoader) else None
    if code is None:
        raise ImportError(f"greenloop is installed without {package}.{name}; install it again.")
    return importlib.util.MAGIC_NUMBER + struct.pack("<III", 0, 0, 0) + marshal.dumps(_placed(code, name))


def _placed(code: CodeType, name: str) -> CodeType:
    """`code` without the path that it has on this machine."""
    constants = tuple(_placed(part, name) if isinstance(part, CodeType) else part for part in code.co_consts)
    return code.replace(co_filename=f"inside/{name}.py", co_consts=constants)
