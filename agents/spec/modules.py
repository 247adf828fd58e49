"""The user's own modules and packages that a spec uses: their source is read, never imported."""

from __future__ import annotations

import keyword
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from ..errors import UsageError
from ..files import contained
from ..records import UserModule
from ..syntax.source import compile_error
from .place import read_text

MOST_FILES = 200
MOST_BYTES = 1_000_000
"""Of one module or package."""
MOST_LEFT_OUT = 5
_RESERVED = re.compile(
    r"(test_)?user_code|under_coverage|under_trace|snippet|inside|loaded|conftest|(site|user)customize|_?pytest|py|pluggy|iniconfig"
    r"|packaging|pygments|hypothesis|sortedcontainers|coverage"
)
"""Names of modules that greenloop's programs in the sandbox use."""
_REQUIREMENT = re.compile(r"(?:\[[^\[\]]*+\]|[^,]|,(?!\s*[A-Za-z]))+")
"""One requirement: a comma in it is before an operator, or in brackets."""
_SKIPPED = re.compile(r"__pycache__|\..*|.*\.py[co]")


def is_reserved(name: str) -> bool:
    """Return True for a name that greenloop's programs in the sandbox need."""
    return _RESERVED.fullmatch(name) is not None


def requirements(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the requirements in `texts`; a text may have several, as `numpy, pandas>=2,<3` has two."""
    parts = [part.strip(" ,") for text in texts for part in _REQUIREMENT.findall(text)]
    return tuple(dict.fromkeys(part for part in parts if part))


def read_modules(paths: Sequence[Path]) -> tuple[UserModule, ...]:
    """Return the modules (`shapes.py`) and packages (folders) at `paths`. Raises UsageError."""
    modules = tuple(map(_read, paths))
    names = [module.name for module in modules]
    for path, name in zip(paths, names, strict=True):
        if not name.isidentifier() or keyword.iskeyword(name):
            raise UsageError(f"{path} can't be imported as `{name}`; give the path of a module or package.")
        if name in sys.stdlib_module_names or is_reserved(name):
            raise UsageError(f"{path} has the name of a module that is there already, `{name}`; rename it.")
        if names.count(name) > 1:
            raise UsageError(f"{path} is the second module named `{name}`; name each once.")
    return modules


def _read(path: Path) -> UserModule:
    real = contained(path)
    if not real.is_dir():
        if path.suffix != ".py" and path.exists():
            raise UsageError(f"{path} is neither a Python file nor a package's folder; give one of them.")
        text = read_text(path, MOST_BYTES)
        if error := compile_error(text):
            raise UsageError(f"{path} can't be imported ({error}); mend it, or leave it out.")
        return UserModule(path.stem, {path.name: text})
    files: dict[str, str] = {}
    left_out: list[str] = []
    size = 0
    for folder, folders, names in os.walk(real):
        folders[:] = sorted(name for name in folders if not _SKIPPED.fullmatch(name))
        for name in sorted(name for name in names if not _SKIPPED.fullmatch(name)):
            file = Path(folder, name)
            inner = f"{real.name}/{file.relative_to(real).as_posix()}"
            # A link may lead to any file of this machine, and a FIFO would block.
            if file.suffix != ".py" or not file.is_file() or not file.resolve().is_relative_to(real):
                left_out.append(inner)
                continue
            files[inner] = read_text(file, MOST_BYTES)
            size += len(files[inner].encode("utf-8", "surrogatepass"))
            if len(files) > MOST_FILES or size > MOST_BYTES:
                raise UsageError(
                    f"{path} is more than {MOST_FILES} files or {MOST_BYTES // 1_000_000} MB; name the part of it "
                    "that the code needs."
                )
    if not files:
        raise UsageError(f"{path} holds no Python file; give the path of a module or package.")
    return UserModule(real.name, files, tuple(left_out))
