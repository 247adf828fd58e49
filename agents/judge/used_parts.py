"""The parts that a test uses, by its syntax, compared with what a clause of the spec needs."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..records import Need, Test
from ..spec.kinds_of_input import BY_NAME
from ..spec.sentences import SUCH_AS, quoted_texts
from ..syntax.checks import checks_in
from ..syntax.collection import last_name
from ..syntax.literals import literal_value
from ..syntax.source import statements, unparse
from .argument_tests import SAID
from .probes import argument_nodes
from .relation_tests import RELATION
from .shown_rules import Stated, shows, within

_KEPT = re.compile(
    r"(?i)\b(?:leaves?|stays?|remains?|keeps?|unchanged|untouched|does nothing"
    r"|(?:changes?|no) (?:nothing|effect))\b"
)
"""A clause on what stays as it was after a call, which may raise: `raises` alone does not show it."""
_TWICE = re.compile(r"(?i)(?<!counts )(?<!count )(?<!written )\b(?:twice|(?:a )?second time|repeatedly)\b")
_RAISING = re.compile(r"(?i)\b(?:if|when|where)\b[^,;]{0,30} (?:raises?|fails?)\b")
_NUMBER_IN_TEXT = re.compile(r"(?<![\d.])\d{1,9}(?:\.\d{1,4})?(?!\.?\d)")


@dataclass(frozen=True, slots=True)
class Used:
    """The parts that one test uses: names, exceptions, arguments (`values`), expected values, and texts."""

    names: frozenset[str]
    raises: frozenset[str]
    values: tuple[object, ...]
    expected: tuple[object, ...]
    texts: tuple[str, ...]
    answered: tuple[str, ...]
    """The texts outside `with pytest.raises(...)`."""
    stated: Stated = ()
    """The arguments of each call that is compared with a literal, and that literal."""
    about: str = ""
    """The clause that the test was asked for."""
    repeated: bool = False
    """All its checks are in examples that stand before its clause."""
    asserts: bool = False
    """It has an `assert`."""
    numbers: frozenset[float] = frozenset()
    """As `_numbers_in` yields them."""
    twice: bool = False
    """It has a call, or an item of a value, that occurs twice."""
    fails: bool = False
    """It expects an exception, or has code that raises one."""
    counting: Stated = ()
    """`stated` of all tests that count."""

    def meets(self, need: Need) -> bool:
        """Return True if the test uses what `need` asks for."""
        if need.raising and need.raising not in self.raises:
            return False
        match need.kind:
            case "exception":
                return need.value in self.raises
            case "name":
                return need.value in self.names or any(need.value in text for text in self.texts)
            case "text":
                wanted = str(ast.literal_eval(need.value))
                return any(wanted in text for text in self.answered)
            case "test":
                shown = ast.literal_eval(need.giving) in self.expected if need.giving else not self.repeated
                kept = self.asserts or not _KEPT.search(need.value)
                shown = shown and kept and need.value == self.about and self._repeats_and_fails(need.value)
                return shown and shows(need.value, self.stated, self.counting)
            case "bound" if need.value.isidentifier():
                return any(_is_at_a_limit(given) for given, _ in self.stated)
            case "bound" if need.value[0] in "<>":
                limit, above = float(need.value[1:]), need.value[0] == ">"
                return any(number > limit if above else number < limit for number in self.numbers)
            case "bound":
                return float(need.value) in self.numbers
            case _ if need.giving:
                wanted, has = ast.literal_eval(need.giving), BY_NAME[need.value].has
                return any(result == wanted and any(map(has, values)) for values, result in self.stated)
            case "input":
                return any(map(BY_NAME[need.value].has, self.values))
            case "value":
                results = (result for _, result in self.stated)
                return any(map(BY_NAME[need.value].has, (*self.values, *self.expected, *results)))

    def _repeats_and_fails(self, rule: str) -> bool:
        """Return False for a rule on what is done twice without a call or an item that occurs twice, for one on
        what raises without an exception, and for one with illustrations (`such as "van"`) without any of them."""
        illustrated = [each for found in SUCH_AS.findall(rule) for each in quoted_texts(found)]
        if illustrated and not any(each in text for each in illustrated for text in self.texts):
            return False
        twice = self.twice or not _TWICE.search(rule)
        return twice and (self.fails or not _RAISING.search(rule))


@lru_cache(maxsize=1024)
def used_by(test: Test) -> Used:
    """Return the parts that `test` uses; none where it can't be parsed, or checks no value (argument_tests.py)."""
    no_value = test.id.startswith(SAID) and not test.id.startswith(RELATION)
    source = "" if no_value else f"{test.preamble}\n{test.source}"
    nodes = [node for each in statements(source) for node in ast.walk(each)]
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    raising = [call for call in calls if last_name(call) == "raises"]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    names |= {node.arg for node in nodes if isinstance(node, ast.keyword) and node.arg}
    given = [node for call in calls if call not in raising for node in argument_nodes(call)]
    given += [node.value for node in nodes if isinstance(node, ast.Assign)]
    given += [node.iter for node in nodes if isinstance(node, ast.For)]
    compared = [each for node in nodes if isinstance(node, ast.Compare) for each in node.comparators]
    raised = [node for call in raising for node in call.args[:1]]
    kinds = [each for node in raised for each in (node.elts if isinstance(node, ast.Tuple) else [node])]
    values, expected = (tuple(value for node in part for value in _values(node)) for part in (given, compared))
    refused = {
        id(each)
        for node in nodes
        if isinstance(node, ast.With) and any(item.context_expr in raising for item in node.items)
        for each in ast.walk(node)
    }
    said = [node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return Used(
        frozenset(names),
        frozenset(map(last_name, kinds)),
        values,
        expected,
        texts=tuple(str(node.value) for node in said),
        answered=tuple(str(node.value) for node in said if id(node) not in refused),
        stated=tuple(_stated_in(test)) if source else (),
        about=test.about,
        asserts=no_value or any(isinstance(node, ast.Assert) for node in nodes),
        numbers=frozenset(_numbers_in(nodes, (*values, *expected))),
        twice=_has_twice(calls) or any(map(BY_NAME["repeated items"].has, values)),
        fails=any(isinstance(node, ast.Raise) for node in nodes) or bool(raising),
    )


def _has_twice(calls: Sequence[ast.Call]) -> bool:
    """Return True if the same is called twice, or goes through a loop or `list` twice."""
    made = [*map(unparse, calls)]
    return len({*made}) < len(made) or max(Counter(map(last_name, calls)).values(), default=0) > 1


def _is_at_a_limit(given: Sequence[object]) -> bool:
    """Return True if an argument is a number or text that occurs twice, or the size of another argument."""
    counts = Counter(each for each in given if isinstance(each, int | float | str) and not isinstance(each, bool))
    sizes = {*_sizes(given)}
    return any(count > 1 or each in sizes for each, count in counts.items())


def _sizes(values: Iterable[object]) -> Iterator[int]:
    """Yield the lengths of containers and texts, and how many words, lines and comma-separated parts texts
    have."""
    for value in values:
        if isinstance(value, str | list | tuple | dict | set):
            yield len(value)
        if isinstance(value, str):
            yield from map(len, (value.split(), value.splitlines(), value.split(",")))


def _numbers_in(nodes: Sequence[ast.AST], values: Sequence[object]) -> Iterator[float]:
    """Yield the numbers that a test uses: in its code and texts, the sizes of values, how often it calls one name;
    of sizes and calls also one less, since a test of a limit exceeds it by one."""
    for node in nodes:
        match node:
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                yield -number
            case ast.Constant(value=int() | float() as number):
                yield number
    texts = [value for value in values if isinstance(value, str)]
    yield from (float(found[0]) for text in texts for found in _NUMBER_IN_TEXT.finditer(text))
    called = Counter(last_name(node) for node in nodes if isinstance(node, ast.Call))
    sizes = {*_sizes(values), *called.values()}
    yield from sizes
    yield from (size - 1 for size in sizes)


def _stated_in(test: Test) -> Iterator[tuple[tuple[object, ...], object]]:
    """Yield for each check of `test` against a literal the values of its arguments, and that literal."""
    for check in checks_in(test.source, test.preamble):
        value = {"true": (True,), "false": (False,)}.get(check.sign) or literal_value(check.value)
        if value and check.sign != "!=":
            calls = [
                node for each in statements(check.call) for node in ast.walk(each) if isinstance(node, ast.Call)
            ]
            yield (
                tuple(each for call in calls for node in argument_nodes(call) for each in _values(node)),
                value[0],
            )


def _values(node: ast.expr) -> Iterator[object]:
    """Yield the literal values in an expression, and those within containers."""
    if (value := literal_value(node)) is not None:
        yield from (value[0], *within(value[0]))
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr) and not isinstance(node, ast.Call):
            yield from _values(child)
