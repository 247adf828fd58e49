"""Finds (never installs) third-party packages of the Python that runs jobs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import Distribution
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError
from ..records import Package
from .interpreter import Interpreter, other_interpreter, parts_for_jobs, this_interpreter

if TYPE_CHECKING:
    from packaging.requirements import Requirement


def required(text: str) -> Requirement:
    """Parse a requirement such as `pandas>=2`. Raises UsageError."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        found = Requirement(text)
    except InvalidRequirement:
        raise UsageError(
            f"`{text[:80]}` names no package; write its name, or a requirement like pandas>=2."
        ) from None
    if found.url:
        raise UsageError(f"`{text[:80]}` names a place; write the package's name and version, like pandas>=2.")
    return found


def find_packages(requirements: Sequence[str], interpreter: Interpreter) -> tuple[Package, ...]:
    """Return the installed packages that `requirements` name. Raises UsageError with an install command."""
    found: list[Package] = []
    missing: dict[str, str] = {}
    for text in requirements:
        wanted = required(text)
        installed = _distribution(wanted.name, interpreter)
        if installed is None:
            if wanted.name in sys.stdlib_module_names:  # an index may have anybody's of that name
                raise UsageError(f"{wanted.name} comes with Python and is no package; leave it out.")
            missing[text] = f"{wanted} is not installed"
        elif not wanted.specifier.contains(installed.version, prereleases=True):
            missing[text] = f"{wanted} is wanted and {installed.version} is installed"
        else:
            needs = {name for needed in _needed(wanted, interpreter) for name in imports_of(needed)}
            found.append(
                Package(wanted.name, installed.version, tuple(sorted(imports_of(installed))), tuple(sorted(needs)))
            )
    if missing:
        install, reasons = interpreter.install_command([*missing]), "; ".join(missing.values())
        raise UsageError(f"{reasons} in {interpreter.executable}; install what is missing: {install}")
    return tuple(found)


def open_interpreter(python: Path | None) -> Interpreter:
    """Return the interpreter at `python` (None: this process's), with pytest. Raises as `other_interpreter`."""
    return this_interpreter() if python is None else with_pytest(other_interpreter(python))


def with_pytest(interpreter: Interpreter) -> Interpreter:
    """Return `interpreter` with its own pytest, or greenloop's if that runs on its version. Raises UsageError."""
    if interpreter.finds("pytest"):
        return interpreter
    own = this_interpreter()
    lent = [_distribution("pytest", own), *_needed(required("pytest"), own, interpreter.version)]
    if not all(each is not None and _runs_on(each, interpreter) for each in lent):
        version = ".".join(map(str, interpreter.version[:2]))
        raise UsageError(
            f"{interpreter.executable} has no pytest, and greenloop's own does not run on Python {version}; "
            f"install it: {interpreter.install_command(['pytest'])}"
        )
    paths = list(dict.fromkeys(path for each in lent if each is not None for path in _places(each)))
    trees = (*interpreter.trees, *map(str, parts_for_jobs(paths)))
    return replace(interpreter, trees=trees, lent=tuple(map(str, paths)))


def _distribution(name: str, interpreter: Interpreter) -> Distribution | None:
    return next(interpreter.distributions(name), None)


def _needed(
    wanted: Requirement, interpreter: Interpreter, version: tuple[int, ...] | None = None
) -> Iterator[Distribution | None]:
    """Yield the requirements of `wanted` (None for missing ones), by markers for `version` (None: its own)."""
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    full = version or interpreter.version
    environment = {
        "python_version": f"{full[0]}.{full[1]}",
        "python_full_version": ".".join(map(str, full)),
        "implementation_version": ".".join(map(str, full)),
    }
    pending = [wanted]
    seen = {(canonicalize_name(wanted.name), frozenset(wanted.extras))}
    while pending:
        current = pending.pop()
        installed = _distribution(current.name, interpreter)
        if current is not wanted:
            yield installed
        for text in (installed.requires or []) if installed else []:
            try:
                needed = Requirement(text)
            except InvalidRequirement:  # of an old package: `pytz (>dev)`
                continue
            extras = current.extras or {""}
            marker = needed.marker
            holds = marker is None or any(marker.evaluate({**environment, "extra": extra}) for extra in extras)
            key = (canonicalize_name(needed.name), frozenset(needed.extras))
            if holds and key not in seen:
                seen.add(key)
                pending.append(needed)


def imports_of(distribution: Distribution | None) -> set[str]:
    """Return the names that a package is imported by: those that it declares, or else those of its files."""
    if distribution is None:
        return set()
    declared = (distribution.read_text("top_level.txt") or "").split()
    files = [file.parts for file in distribution.files or ()]
    found = {parts[0] if len(parts) > 1 else parts[0].partition(".")[0] for parts in files if parts}
    return {name for name in declared or found if name.isidentifier() and name != "__pycache__"}


def _places(distribution: Distribution) -> list[Path]:
    """Return the paths of the packages and modules of a distribution."""
    found = []
    for name in sorted(imports_of(distribution)):
        folder = Path(str(distribution.locate_file(name)))
        found += [path for path in (folder, folder.with_suffix(".py")) if path.exists()]
    return found


def _runs_on(distribution: Distribution, interpreter: Interpreter) -> bool:
    """Return True if a package of greenloop's own Python works in `interpreter`, too."""
    from packaging.specifiers import SpecifierSet

    supported = SpecifierSet(distribution.metadata["Requires-Python"] or "")
    compiled = any(file.suffix in (".so", ".pyd") for file in distribution.files or ())
    return not compiled and supported.contains(".".join(map(str, interpreter.version)))
