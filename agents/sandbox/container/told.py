"""Parses a container's untrusted reports: its description, and the ends of jobs. A hostile job may control it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from ...records import Stopped
from ..interface import Ended
from ..interpreter import Interpreter


@dataclass(frozen=True, slots=True)
class _Interpreter(Interpreter):
    """The container's Python, with the packages that the container reported."""

    modules: frozenset[str] = frozenset()
    metadata: tuple[tuple[str, str], ...] = ()

    def distributions(self, name: str) -> Iterator[Distribution]:
        found = (_Told(head, modules) for head, modules in self.metadata)
        yield from (each for each in found if canonicalize_name(each.metadata["Name"]) == canonicalize_name(name))

    def finds(self, module: str) -> bool:
        return module in self.modules

    @property
    def importable(self) -> frozenset[str]:
        return frozenset(name for name in self.modules if "." not in name)

    def install_command(self, requirements: Sequence[str]) -> str:
        packages = shlex.quote(",".join(requirements))
        return f"python main.py sandbox build --packages {packages} (and all other packages that specs name)"


class _Told(Distribution):
    """A package that the container reported."""

    def __init__(self, head: str, modules: str) -> None:
        self._texts = {"METADATA": head, "top_level.txt": modules}

    def read_text(self, filename: str) -> str | None:
        return self._texts.get(filename)

    def locate_file(self, path: Any) -> Path:
        return Path(path)


def read_description(told: Mapping[str, Any]) -> tuple[Interpreter, bool]:
    """Return the Python of a container, and if jobs may share that. Raises LookupError, TypeError, ValueError."""
    metadata = tuple((str(head), str(modules)) for head, modules in told["distributions"])
    interpreter = _Interpreter(
        str(told["executable"]),
        trees=(),
        links=(),
        version=tuple(map(int, told["version"])),
        magic=str(told["magic"]),
        modules=frozenset(map(str, told["modules"])),
        metadata=metadata,
    )
    return interpreter, told["shared"] is True


def read_ended(told: Mapping[str, Any]) -> Ended:
    """Return the end of a job. Raises LookupError, TypeError and ValueError."""
    code, reached = told["exit_code"], told["stopped"]
    stopped = None
    if reached is not None:
        figures = float(reached["value"]), float(reached["allowed"])
        stopped = Stopped(str(reached["limit"]), *figures, str(reached["unit"]))
    stdout, stderr = (told[name].encode("latin-1") for name in ("stdout", "stderr"))
    return Ended(None if code is None else int(code), stdout, stderr, stopped, float(told["seconds"]))
