"""Watches the tests' `assert` statements, as pytest rewrites them: which were reached, failed, or accepted a value
of another type. Format strings of tests read no private attributes of theirs."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Container, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from _pytest.assertion import rewrite

from ..proxy.peer import USER_MODULE
from .capabilities import HIDDEN
from .rulings import NO_MEMBER

_NUMBERS = frozenset([bool, int, float, complex])
_OTHERS = frozenset([Decimal, Fraction, bytes, bytearray])
_PLAIN_MODULES = ("builtins", "datetime", "decimal", "fractions")
_PRIVATE = re.compile(rf"\.(?!__(?:class|name|qualname|module)__\b)(?:{'|'.join(HIDDEN)})")
_MOST_ITEMS = 1000
"""Values that are visited in one comparison."""


class Asserts:
    """`failures` counts failed assertions, caught or not; `failed` is called for each, `note` with notes for the
    user. `asked` is called before an expression statement, and `unused` with the results of both after it."""

    def __init__(self, tests_path: Path, failed: Callable[[], object], note: Callable[[str], None]) -> None:
        self.failures = 0
        self.asked: Callable[[], int] = int
        self.unused: Callable[[int, object], object] = lambda *_: None
        self._failed = failed
        self._note = note
        self._noted: set[frozenset[str]] = set()
        self._path = str(tests_path)
        self._named = frozenset(re.findall(r"\w+", tests_path.read_text("utf-8", "replace")))
        self._lines: set[int] = set()
        self._passed: set[int] = set()
        self._reached = self._passed.add
        self._empty: dict[int, bool] = {}

    def watch(self, *, unittest: bool) -> None:
        """Install the hooks of pytest, and of `unittest` if used. Call it before the tests are imported."""
        written = rewrite.AssertionRewriter.visit_Assert
        written_comparison = rewrite.AssertionRewriter.visit_Compare
        written_module = rewrite.AssertionRewriter.run
        explain = rewrite._format_explanation  # type: ignore[attr-defined]

        def helper(rewriter: Any, name: str, value: ast.expr, *others: ast.expr) -> Any:
            call = rewriter.helper(f"_greenloop_{name}", value, *others)
            return ast.fix_missing_locations(ast.copy_location(call, value))

        def visit(rewriter: Any, statement: ast.Assert) -> list[ast.stmt]:
            statements = written(rewriter, statement)
            if rewriter.module_path == self._path and not isinstance(statement.test, ast.Constant):
                self._lines.add(statement.lineno)
                place = ast.copy_location(ast.Constant(statement.lineno), statement)
                statements.insert(0, ast.copy_location(ast.Expr(helper(rewriter, "reached", place)), statement))
            return statements

        def visit_comparison(rewriter: Any, node: ast.Compare) -> Any:
            statements, before = rewriter.statements, len(rewriter.statements)
            result = written_comparison(rewriter, node)
            for made in statements[before:] if rewriter.module_path == self._path else ():
                compared = made.value if isinstance(made, ast.Assign) else None
                if isinstance(compared, ast.Compare) and isinstance(compared.ops[0], ast.Eq):
                    name = ast.copy_location(ast.Name(made.targets[0].id, ast.Load()), node)
                    sides = [compared.left, compared.comparators[0]]
                    call = helper(rewriter, "compared", name, *sides, ast.Constant(node.lineno))
                    statements.append(ast.copy_location(ast.Expr(call), node))
            return result

        def visit_module(rewriter: Any, module: ast.Module) -> None:
            for node in ast.walk(module) if rewriter.module_path == self._path else ():
                if isinstance(node, ast.Attribute) and node.attr in ("format", "format_map"):
                    node.value = helper(rewriter, "template", node.value)
                elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                    asked = ast.copy_location(rewriter.helper("_greenloop_asked"), node.value)
                    node.value = helper(rewriter, "unused", asked, node.value)
                elif isinstance(node, ast.Call) and _goes_through(node):
                    line = ast.Constant(node.lineno)
                    node.args[-1] = helper(rewriter, "items", node.args[-1], node.func, line)
            written_module(rewriter, module)

        def explained(explanation: str) -> str:
            self._count()
            return explain(explanation)

        def failed(failure: Any, *arguments: Any, **named: Any) -> None:
            self._count()
            made(failure, *arguments, **named)

        made = pytest.fail.Exception.__init__
        setattr(pytest.fail.Exception, "__init__", failed)  # noqa: B010 - of `pytest.raises`, too
        setattr(rewrite.AssertionRewriter, "visit_Assert", visit)  # noqa: B010 - to a type checker it is no field
        setattr(rewrite.AssertionRewriter, "visit_Compare", visit_comparison)  # noqa: B010
        setattr(rewrite.AssertionRewriter, "run", visit_module)  # noqa: B010
        for name in ("template", "items", "compared", "reached"):
            setattr(rewrite, f"_greenloop_{name}", getattr(self, f"_{name}"))
        setattr(rewrite, "_greenloop_asked", lambda: self.asked())  # noqa: B010
        setattr(rewrite, "_greenloop_unused", lambda *found: self.unused(*found))  # noqa: B010
        setattr(rewrite, "_format_explanation", explained)  # noqa: B010
        if unittest:
            self._watch_cases()
        _approximate_something()

    def _watch_cases(self) -> None:
        from unittest import TestCase, case

        setattr(case, "_ShouldStop", ())  # noqa: B010 - a test that the code ends by it had passed
        count = self._count

        class Failure(AssertionError):
            def __new__(cls, *arguments: Any) -> Any:
                count()
                return AssertionError(*arguments)

        if "failureException" not in self._named:
            TestCase.failureException = Failure

        def watched(asked: Callable[..., None]) -> Callable[..., None]:
            def assert_equal(case: Any, first: object, second: object, *others: Any, **named: Any) -> None:
                asked(case, first, second, *others, **named)
                caller = sys._getframe(1)
                if caller.f_code.co_filename == self._path:  # assertEqual calls the others itself
                    self._compared(True, first, second, caller.f_lineno)

            return assert_equal

        for kind in ("", "Dict", "List", "Set", "Tuple", "Sequence"):
            name = f"assert{kind}Equal"
            setattr(TestCase, name, watched(getattr(TestCase, name)))

    def _count(self) -> None:
        self.failures += 1
        self._failed()

    def never(self) -> list[int]:
        """Return the lines of assertions that were never reached, or iterated over nothing each time."""
        return sorted(self._lines - self._passed | {line for line, empty in self._empty.items() if empty})

    def _items(self, items: Any, function: Any, line: int) -> Any:
        if function not in (all, any, zip):
            return items
        self._empty.setdefault(line, True)
        return self._each(items, line)

    def _each(self, items: Iterable[Any], line: int) -> Iterator[Any]:
        for item in items:
            self._empty[line] = False
            yield item

    def _compared(self, equal: object, left: object, right: object, line: int) -> None:
        is_true = equal is True or (type(equal).__module__ == "numpy" and str(equal) == "True")
        found = unlike(left, right, self._named) if is_true else None
        for part in filter(_is_anything, found or ()):
            raise TypeError(f"a {type(part).__name__} says that it equals anything")
        if found is not None and (kinds := frozenset(type(part).__name__ for part in found)) not in self._noted:
            self._noted.add(kinds)
            one, other = (f"a {type(part).__name__}" if _is_of_code(type(part)) else repr(part) for part in found)
            self._note(f"Line {line} of the tests takes {one} for {other}: equal, but of another type")

    def _template(self, text: Any) -> Any:
        """Return `text` for formatting. Raises TypeError if it reads more of the tests' objects than the code may,
        such as expected values: the text may come from the code."""
        if text is str:  # `str.format(text, ...)`
            return SimpleNamespace(
                format=lambda text, *given, **named: str.format(self._template(text), *given, **named),
                format_map=lambda text, given: str.format_map(self._template(text), given),
            )
        if isinstance(text, str) and _PRIVATE.search(text.partition("{")[2]):
            self._count()
            raise TypeError(f"a text that reads private attributes is not filled in: {text!r:.80}")
        return text


def _goes_through(node: Any) -> bool:
    """Return True for a call of `all`, `any` or `zip`: of nothing they say what the code may not deserve."""
    named = isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("all", "any", "zip")
    return bool(named and node.args) and not isinstance(node.args[-1], ast.Starred)


def _approximate_something() -> None:
    """Have no empty array equal `approx` of a number: pytest compares item by item."""
    number: Any = type(pytest.approx(1))
    compared = number.__eq__

    def equal(approx: Any, actual: Any) -> bool:
        is_array = type(actual).__module__ == "numpy"
        return not (is_array and getattr(actual, "size", 1) == 0) and bool(compared(approx, actual))

    number.__eq__ = equal


def _is_anything(part: Any) -> bool:
    """Return True for an object of the code's that says that it equals what no honest one does."""
    try:
        return _is_of_code(type(part)) and (part == (NO_MEMBER,)) is True
    except Exception:
        return False


def _is_of_code(kind: type) -> bool:
    return kind.__module__ == USER_MODULE


def _is_in_disguise(kind: type, plain: type, named: Container[str]) -> bool:
    usual = any("_replace" in vars(base) or base.__module__ == "enum" for base in kind.__mro__)
    return _is_of_code(kind) and plain.__module__ in _PLAIN_MODULES and not usual and kind.__name__ not in named


def unlike(left: Any, right: Any, named: Container[str] = ()) -> tuple[object, object] | None:
    """Return the first two values at the same place of equal plain data with two types: numbers, others of which
    neither type is based on the other, or one of a class of the code's that is no enum or NamedTuple. Only types
    that the tests have not `named` count, but for built-in numbers."""
    waiting, seen = [(left, right)], 0
    while waiting and seen < _MOST_ITEMS:
        one, other = waiting.pop()
        seen += 1
        kind, its_kind = type(one), type(other)
        if _differ(kind, its_kind, named):
            return one, other
        if any(_is_in_disguise(*kinds, named) for kinds in ((kind, its_kind), (its_kind, kind))):
            return one, other
        # A subclass, too: a Counter equals a dict, and a NamedTuple, as it is held, a tuple.
        if isinstance(one, tuple) and isinstance(other, tuple):
            waiting += zip(tuple.__iter__(one), tuple.__iter__(other))
        elif _is_of_code(kind) or _is_of_code(its_kind):
            continue
        elif isinstance(one, list) and isinstance(other, list):
            waiting += zip(one, other)
        elif isinstance(one, (dict, set, frozenset)) and isinstance(other, (dict, set, frozenset)):
            equal = {part: part for part in other if _is_plain(type(part))}
            waiting += [(part, equal.get(part, part)) for part in one if _is_plain(type(part))]
            if isinstance(one, dict) and isinstance(other, dict):
                waiting += [(one[key], other[key]) for key in one]
    return None


def _is_plain(kind: type) -> bool:
    return kind in _NUMBERS or kind in _OTHERS or kind.__module__ == "numpy"


def _differ(kind: type, its_kind: type, named: Container[str]) -> bool:
    """Return True for two kinds of plain data that have equal values, unless the tests name one of them."""
    if kind is its_kind or not (_is_plain(kind) and _is_plain(its_kind)):
        return False
    others = {each.__name__ if each in _OTHERS else each.__module__ for each in (kind, its_kind)} - {"builtins"}
    return not any(name in named or (name == "numpy" and "pandas" in named) for name in others)
