"""Prepares a suite: a file of tests for each origin, and the tests that the gate refused."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from ..records import Refusal, Test, TestOrigin
from ..spec.doctests import with_doctests
from ..suite import render, split
from ..syntax.definitions import Function
from ..syntax.source import names_bound, parse
from .static.gate import check_encoding, examine
from .static.names import names_in
from .static.needs_one_process import why_one_process
from .static.uses import HYPOTHESIS, REFUSED_BUILTINS

TESTS_FILE = "test_user_code.py"
Found = TypeVar("Found")


_FILES: tuple[tuple[TestOrigin, ...], ...] = (("spec",), ("user",), ("generated", "settled"))
"""The origins of the tests of each file. Trusted ones run first, out of reach of later ones."""


@dataclass(frozen=True, slots=True)
class TestFile:
    """Tests that run as one file in their own sessions."""

    __test__ = False

    source: str
    tests: tuple[Test, ...]

    @property
    def isolated(self) -> tuple[str, ...]:
        """Return the names of the tests that run in another process than the code."""
        return tuple(test.id for test in self.tests if why_one_process(test) is None)

    @property
    def has_properties(self) -> bool:
        """Return True if the tests use hypothesis."""
        return "hypothesis" in self.source

    @property
    def has_common_answers(self) -> bool:
        """Return True if tests may share answers: those to their import, or to a fixture of a wider scope."""
        shared = ("scope", "setUpClass", "setUpModule", "setup_class", "setup_module")
        return any(name in self.source for name in shared) or _asks_at_import(self.source)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the tests' names, with which node ids begin."""
        return tuple(test.id for test in self.tests)


@dataclass(frozen=True, slots=True)
class PreparedSuite:
    """`files` run in turn; `refused` tests don't run. `given` is set for a user's own file."""

    files: tuple[TestFile, ...]
    refused: tuple[Refusal, ...]
    given: bool = False

    @property
    def tests(self) -> tuple[Test, ...]:
        """Return the tests that run, file by file."""
        return tuple(test for file in self.files for test in file.tests)

    @property
    def source(self) -> str:
        """Return the joined text of all files."""
        return "\n\n".join(file.source for file in self.files)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the tests that run."""
        return tuple(test.id for test in self.tests)


@lru_cache(maxsize=64)
def _asks_at_import(source: str) -> bool:
    """Return True if the code is used at module level, or a name imported from it is neither called nor has an
    attribute read: a constant is read once, at the import."""
    names = names_in(source)
    functions = (node for node in names.nodes if isinstance(node, Function))
    inside = {id(node) for function in functions for part in function.body for node in ast.walk(part)}

    def is_asked_later(node: ast.Name) -> bool:
        asked = names.call_of(node) or isinstance(names.parent(node), ast.Attribute) or node.id in names.imports
        return bool(asked) and id(node) in inside

    used = [node for node in names.nodes if isinstance(node, ast.Name) and names.is_under_test(node)]
    return names.everything or not all(map(is_asked_later, used))


def belonging(name: str) -> str:
    """Return the test that the item `name` (without its file) is part of."""
    return name.split("::")[0].split("[")[0]


def by_test(found: Iterable[tuple[str, Found]]) -> Mapping[str, list[Found]]:
    """Group (item name, value) pairs by the test that each item is part of."""
    grouped: dict[str, list[Found]] = {}
    for name, one in found:
        grouped.setdefault(belonging(name), []).append(one)
    return grouped


def prepare_suite(tests: Sequence[Test], importable: frozenset[str] = frozenset([HYPOTHESIS])) -> PreparedSuite:
    """Return a board's suite without refused tests; tests may also import the modules `importable`."""
    found = [(test, examine(test, importable)) for test in tests]
    refused = tuple(Refusal(test.id, reason) for test, reason in found if reason is not None)
    return PreparedSuite(in_files([test for test, reason in found if reason is None]), refused)


def in_files(tests: Sequence[Test]) -> tuple[TestFile, ...]:
    """Return `tests` in a file for each origin, trusted ones first, without empty files."""
    groups = [[test for test in tests if test.origin in origins] for origins in _FILES]
    return tuple(TestFile(render(group), tuple(group)) for group in groups if group)


def _imported_late(tree: ast.Module) -> str | None:
    """Return the name of a builtin that is used above the import that takes its name; None if there is none."""
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    taken = {name: node.lineno for node in imports for name in names_bound(node) & REFUSED_BUILTINS}
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name)) if taken else ()
    return next((node.id for node in names if node.lineno < taken.get(node.id, 0)), None)


def prepare_file(source: str, importable: frozenset[str] = frozenset([HYPOTHESIS])) -> PreparedSuite:
    """Return a user's own file, with its doctests as tests. Raises ValueError if it isn't Python."""
    check_encoding(source)
    source = with_doctests(source)
    tests = split(source, "user")
    reasons = {test.id: examine(test, importable) for test in tests}
    tree = parse(source)
    if late := _imported_late(tree):
        reasons |= dict.fromkeys(reasons, f"it uses {late} above the import that binds it")
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    twice = [name for name, n in Counter(names).items() if n > 1 and name.lower().startswith("test")]
    reasons |= dict.fromkeys(twice, "a later test of the same name hides it")
    refused = tuple(Refusal(name, reason) for name, reason in reasons.items() if reason is not None)
    kept = tuple(test for test in tests if reasons[test.id] is None)
    return PreparedSuite((TestFile(source, kept),), refused, given=True)
