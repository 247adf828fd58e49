"""A request to heal a function or a project -> its case."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ..errors import UsageError
from ..files import contained
from ..records.heal import HealRequest
from ..sandbox import Sandbox, SandboxLimits
from ..syntax.encoding import decoded
from ..syntax.units import unit_named
from .expectations import read_calls
from .script_case import changeable
from .tests_case import TestsCase
from .tree import never_changes, read_tree

_MARKS = ("pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg", "setup.py", ".git")
"""What the top of a project holds."""
_CPU_SHARE = 2
"""Processor seconds for each second of wall time: tests may use both cores."""


def tests_case(request: HealRequest, sandbox: Sandbox, cancelled: Callable[[], bool]) -> TestsCase:
    """Read a project with tests that fail. Raises UsageError."""
    path = Path(request.path)
    if not path.exists():
        raise UsageError(f"There is no {path}; give the path of a Python file or of a project's folder.")
    if path.is_file() and never_changes(path.name):
        raise UsageError(f"{path} holds tests or configuration, which never change; name the code that they test.")
    tests = [Path(reference.partition("::")[0]) for reference in request.tests]
    for each in tests:
        if not each.exists():
            raise UsageError(f"There is no {each}; name tests as pytest does: tests/test_it.py::test_name")
    root = path if path.is_dir() else _root(path, tests)
    for each in tests:
        if not each.resolve().is_relative_to(root.resolve()):
            raise UsageError(f"{each} lies outside of {root}; name tests of that project.")
    named = [] if path.is_dir() else [_relative(path, root)]
    tree = read_tree(root, [*named, *(_relative(each, root) for each in tests if each.is_file())], {})
    references = tuple(
        _relative(each, root) + reference[len(str(each)) :]
        for each, reference in zip(tests, request.tests, strict=True)
    )
    case = TestsCase(
        sandbox=sandbox,
        limits=SandboxLimits(
            wall_seconds=request.seconds, cpu_seconds=max(1, round(request.seconds * _CPU_SHARE))
        ),
        tree=tree,
        may_change=(*named, *changeable(tree, None, request.may_change)),
        cancelled=cancelled,
        wanted=references,
    )
    case = replace(case, expected_calls=read_calls(request.expect_call, case.files))
    if request.name is None:
        return case
    try:
        unit_named(named[0], decoded(tree.files[named[0]]), request.name, (), 0)
    except (ValueError, SyntaxError) as error:
        raise UsageError(f"{path}: {error}; name a function or a method: FILE.py::Class.method") from error
    return replace(case, target=(named[0], request.name))


def _root(path: Path, tests: list[Path]) -> Path:
    """The top of the project of a file: the nearest folder above that has a project's marks and the tests."""
    common = Path(os.path.commonpath([path.parent, *(each.parent for each in tests)]))
    for folder in (common, *common.parents):
        if any((folder / mark).exists() for mark in _MARKS):
            return folder
    return common


def _relative(path: Path, root: Path) -> str:
    return contained(path, root).relative_to(root.resolve()).as_posix()
