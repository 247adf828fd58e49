"""A suite made ready to run: one file of tests, and for each test what the gate found."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..records import Refusal, Test
from ..suite import render, split
from ..syntax.imports import USER_MODULE
from ..syntax.source import parse
from .static.gate import check_encoding, examine
from .static.needs_one_process import why_one_process
from .static.uses import HYPOTHESIS

TESTS_FILE = "test_user_code.py"


@dataclass(frozen=True, slots=True)
class PreparedSuite:
    """`source` is run as one file; `tests` are those that run, `refused` those that don't. `given` says that it is
    a user's own file, to be run as it stands."""

    source: str
    tests: tuple[Test, ...]
    refused: tuple[Refusal, ...]
    given: bool = False

    @property
    def isolated(self) -> tuple[str, ...]:
        """Names of the tests that work with the code in a process of its own."""
        return tuple(test.id for test in self.tests if why_one_process(test) is None)

    @property
    def has_properties(self) -> bool:
        """Return True if the tests use hypothesis."""
        return "hypothesis" in self.source

    @property
    def has_common_answers(self) -> bool:
        """Return True if tests may build on answers from before they began: from their import, or from a fixture
        of several tests."""
        return "scope" in self.source or _asks_at_import(self.source)

    @property
    def names(self) -> tuple[str, ...]:
        """The tests' names: node ids begin with them."""
        return tuple(test.id for test in self.tests)


@lru_cache(maxsize=64)
def _asks_at_import(source: str) -> bool:
    """Return True if the code is used outside of functions, or a name imported from it is neither called nor used
    for an attribute: a constant is asked for once, at the import."""
    nodes = list(ast.walk(parse(source)))
    names, modules = set(), set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module == USER_MODULE:
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            modules |= {alias.asname or alias.name for alias in node.names if alias.name == USER_MODULE}
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    inside = {id(node) for function in functions for part in function.body for node in ast.walk(part)}
    asked = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    asked |= {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    return "*" in names or any(
        (node.id in names and not (id(node) in inside and id(node) in asked))
        or (node.id in modules and id(node) not in inside)
        for node in nodes
        if isinstance(node, ast.Name)
    )


def belonging(name: str) -> str:
    """The test that the node `name` (without its file) is part of."""
    return name.split("::")[0].split("[")[0]


def prepare_suite(tests: Sequence[Test], importable: frozenset[str] = frozenset([HYPOTHESIS])) -> PreparedSuite:
    """A board's suite: refused tests are left out.

    `importable` are top-level modules that tests may import beside those that all may."""
    kept: list[Test] = []
    refused: list[Refusal] = []
    for test in tests:
        if reason := examine(test, importable):
            refused.append(Refusal(test.id, reason))
        else:
            kept.append(test)
    return PreparedSuite(render(kept) if kept else "", tuple(kept), tuple(refused))


def prepare_file(source: str, importable: frozenset[str] = frozenset([HYPOTHESIS])) -> PreparedSuite:
    """A user's own file, run as it stands. Raises ValueError where it isn't Python."""
    check_encoding(source)
    tests = split(source, "user")
    reasons = {test.id: examine(test, importable) for test in tests}
    reasons |= dict.fromkeys(_defined_twice(parse(source)), "a later test of the same name hides it")
    refused = tuple(Refusal(name, reason) for name, reason in reasons.items() if reason)
    gone = {refusal.test_id for refusal in refused}
    kept = tuple(test for test in tests if test.id not in gone)
    return PreparedSuite(source, kept, refused, given=True)


def _defined_twice(tree: ast.Module) -> list[str]:
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return [name for name in dict.fromkeys(names) if names.count(name) > 1 and name.lower().startswith("test")]
