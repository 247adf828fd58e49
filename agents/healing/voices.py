"""Counts the voices for a patch: different programs that agree with it; and holds failing items out of prompts."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from ..records.heal import Item, Symptom, Trial
from ..repository.inside.calls import MOST_CALLS
from ..roles.healer import SHOWN_ITEMS
from ..syntax.source import parse, with_values
from .case import Case
from .expectations import EXPECT_CALL
from .near_calls import mended_names

AGREEING = 2
"""Independent patches that have to agree for `consensus`."""
VERIFYING = 3
"""Independent patches that have to agree for `verified` if no failing item was held out."""
OF_ITEMS = ("output", "tests")
"""Kinds of symptoms that consist of their items."""
_MOST_SUMMARY = 500


def summary_of(items: Sequence[Item]) -> str:
    """Return the summary of a symptom that consists of `items`."""
    return "; ".join(f"{item.name}: {item.detail}" for item in items)[:_MOST_SUMMARY]


def tells_items(symptom: Symptom) -> bool:
    """Return True if the summary has the details of the items, not their number."""
    return symptom.kind == "output" or symptom.summary == summary_of(symptom.items)


def shown_in_prompt(symptom: Symptom) -> Symptom:
    """Return a symptom without the items that are held out of the prompt: the last, all beyond the third, and
    expected calls where anything else fails, so that an answer to a question changes no prompt."""
    others = [item for item in symptom.items if item.name != EXPECT_CALL]
    items = others if others or symptom.kind not in OF_ITEMS else symptom.items
    shown = items[: min(SHOWN_ITEMS, max(1, len(items) - 1))]
    is_part = len(shown) < len(symptom.items) and tells_items(symptom)
    return replace(symptom, summary=summary_of(shown) if is_part else symptom.summary, items=tuple(shown))


def held_out(symptom: Symptom, *, holds_out: bool) -> tuple[Item, ...]:
    """Return the failing items that are held out of prompts, without repeats of items there."""
    same = {_content_key(item) for item in shown_in_prompt(symptom).items}
    held = [item for item in symptom.items if _content_key(item) not in same]
    return tuple(item for item in held if holds_out or item.name == EXPECT_CALL)


def _content_key(item: Item) -> str:
    """Return what makes an item the same as another: its source, of a test without the test's name."""
    if item.name == EXPECT_CALL:
        return item.source
    return item.source.partition("(")[2] if item.source and "[" not in item.name else item.name


def voices_needed(case: Case, shown: Sequence[Item], held: Sequence[Item], changed: Mapping[str, str]) -> int:
    """Return how many patches have to agree for `verified`, by the calls of `held` with `changed` files: one if it
    calls a patched function as neither `shown` nor the case does, two if that is unknown."""
    if not held:
        return VERIFYING
    known = {*case.made_by((), changed)[0], *case.made_by(shown, changed)[0]}
    made, left_out = case.made_by(held, changed)
    mended = mended_names(case.files, changed)
    of_mended = [[each for each in calls if (each.path, each.function) in mended] for calls in (made, left_out)]
    if any(of_mended):
        made, left_out = of_mended
    of_one = Counter((each.path, each.function) for each in known)
    new = [each for each in made if each not in known]
    if any(of_one[each.path, each.function] < MOST_CALLS for each in new):
        return 1
    return AGREEING if new or left_out or not made else VERIFYING


_NAMING: Mapping[type[ast.AST], str] = {
    ast.Name: "id",
    ast.arg: "arg",
    ast.ExceptHandler: "name",
    ast.MatchAs: "name",
    ast.MatchStar: "name",
    ast.MatchMapping: "rest",
}
_STEADY = (ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Constant, ast.Load)
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_EFFECTS = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom)


def voices(trials: Sequence[Trial]) -> int:
    """Return the number of different programs of trials, up to names of variables, layout and dead code."""
    made = (each.patch.files.items() for each in trials)
    return len({frozenset((path, _simplified(text)) for path, text in files) for files in made})


@cache
def _simplified(text: str) -> str:
    """Return a program in a normal form: without layout, docstrings, annotations, dead code, and `else` after a
    jump; variables numbered in order; the operands of `*`, `==` and `!=` sorted."""
    tree, known = parse(text), ""
    while (now := ast.dump(tree)) != known:
        known = now
        _Simplified().visit(tree)
    for function in _functions(tree):
        _number(function, " ")
    _number(tree, "")
    return ast.dump(_Ordered().visit(tree))


def _functions(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the functions that are not nested in another one."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        else:
            yield from _functions(node)


def _number(scope: ast.AST, mark: str) -> None:
    """Rename the variables that a scope stores to numbers, in their order."""
    shared = {name for node in ast.walk(scope) if isinstance(node, ast.Global) for name in node.names}
    numbers: dict[str, str] = {}
    for node, _, name in _names(scope):
        if name not in shared and (not isinstance(node, ast.Name) or isinstance(node.ctx, ast.Store)):
            numbers.setdefault(name, f"{mark}{len(numbers)}")
    for node, field, name in _names(scope):
        setattr(node, field, numbers.get(name, name))


def _names(tree: ast.AST) -> list[tuple[ast.AST, str, str]]:
    """Return node, field and name for each node that names a variable."""
    fields = ((node, _NAMING[type(node)]) for node in ast.walk(tree) if type(node) in _NAMING)
    return [(node, field, name) for node, field in fields if (name := getattr(node, field)) is not None]


class _Simplified(ast.NodeTransformer):
    """Removes statements without an effect, and inlines variables that are stored once: read once by the next
    statement, or set by arithmetic and read only below.

    Stores and reads are those of one function; in the body of a class nothing is inlined.
    """

    def __init__(self) -> None:
        self._stored: Counter[str] = Counter()
        self._read: Counter[str] | None = None

    def visit(self, node: ast.AST) -> ast.AST | None:
        """Visit a node with the variables of its scope."""
        outer = self._stored, self._read
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef):
            self._stored, self._read = variables(node)
        elif isinstance(node, ast.ClassDef):
            self._read = None
        visited: ast.AST | None = super().visit(node)
        self._stored, self._read = outer
        return visited

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Visit the children of a node, drop annotations, and inline in its statements."""
        super().generic_visit(node)
        for field in ("annotation", "returns"):
            if hasattr(node, field):
                setattr(node, field, None)
        for field in ("body", "orelse", "finalbody"):
            if isinstance(statements := getattr(node, field, None), list) and self._read is not None:
                self._inline(statements, self._read)
        return node

    def _inline(self, statements: list[ast.stmt], read: Counter[str]) -> None:
        for number, first in reversed(list(enumerate(statements))):
            if isinstance(first, ast.If) and first.body and isinstance(first.body[-1], _LEAVES):
                statements[number + 1 : number + 1] = first.orelse
                first.orelse = []
            match statements[number : number + 2]:
                case [ast.Assign(targets=[ast.Name(id=name)], value=value), ast.Return(ast.Name(id=left))]:
                    if name == left:
                        statements[number : number + 2] = [ast.Return(value)]
        values: dict[str, ast.expr] = {}
        below: Counter[str] = Counter()
        after: Counter[str] = Counter()
        for number, first in reversed(list(enumerate(statements))):
            match first:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if self._stored[name] == 1 and (
                    read[name] == after[name] == 1 or (read[name] == below[name] and self._is_steady(value))
                ):
                    values[name] = value
                    del statements[number]
                case _:
                    after = variables(first)[1]
                    below += after
        statements[:] = [with_values(each, values) for each in statements]

    def _is_steady(self, value: ast.expr) -> bool:
        """Return True for arithmetic on variables that are stored once, which has the same value later."""
        return all(
            isinstance(each, _STEADY) or (isinstance(each, ast.Name) and self._stored[each.id] == 1)
            for each in ast.walk(value)
        )

    def visit_Pass(self, node: ast.Pass) -> None:
        """Remove it."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        """Remove an unused value without a call or yield."""
        return self.generic_visit(node) if any(isinstance(each, _EFFECTS) for each in ast.walk(node)) else None

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        return None if node.value is None else self.visit(ast.Assign([node.target], node.value))

    def visit_Assign(self, node: ast.Assign | ast.AugAssign) -> ast.AST | None:
        """Remove an assignment to names that are never read."""
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        read = self._read
        unread = read is not None and all(isinstance(each, ast.Name) and not read[each.id] for each in targets)
        return None if unread else self.generic_visit(node)

    visit_AugAssign = visit_Assign  # noqa: N815 - ast.NodeVisitor names them


def variables(scope: ast.AST) -> tuple[Counter[str], Counter[str]]:
    """Return how often each variable is stored and read; `global` and `nonlocal` ones count as read elsewhere."""
    stored: Counter[str] = Counter()
    read: Counter[str] = Counter()
    for node in ast.walk(scope):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                stored[name] += 1
            case ast.Name(id=name):
                read[name] += 1
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                read.update(names * 2)
    return stored, read


class _Ordered(ast.NodeTransformer):
    """Sorts the operands of commutative operators."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Mult):
            node.left, node.right = sorted((node.left, node.right), key=ast.dump)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq | ast.NotEq):
            node.left, node.comparators[0] = sorted((node.left, node.comparators[0]), key=ast.dump)
        return node
