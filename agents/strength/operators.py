"""Mutation operators: replacements for a site.

A sufficient set (Offutt et al., "An Experimental Determination of Sufficient Mutant Operators", 1996: relational,
arithmetic, logical), with those of Python's tools. Of equivalent changes (`n < 1` and `n <= 0`) one is made.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from encodings import normalize_encoding
from encodings.aliases import aliases

from ..syntax.collection import last_name
from ..syntax.literals import literal_value
from .sites import Site, is_constant

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult, ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd,
}  # fmt: skip
_NEUTRAL: dict[type[ast.operator], int] = {
    ast.Add: 0, ast.Sub: 0, ast.Mult: 1, ast.Div: 1, ast.FloorDiv: 1, ast.Pow: 1, ast.LShift: 0, ast.RShift: 0,
}  # fmt: skip
"""Right operands for which the operator and its replacement return the left one."""
_SWAPPED = {
    "min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list", "lower": "upper", "upper": "lower",
    "strip": "lstrip", "lstrip": "rstrip", "rstrip": "lstrip", "startswith": "endswith", "endswith": "startswith",
}  # fmt: skip
_UNWRAPPED = frozenset({"abs", "reversed"})
_SEQUENCES = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp)
_ENCODINGS = frozenset(aliases.values())
_MAKE_SEQUENCES = frozenset({"str", "list", "tuple", "sorted", "repr", "join"})


def replacements(site: Site) -> Iterator[ast.AST]:
    """Yield the nodes that a mutant has in the place of the site's own."""
    node = site.node
    match node:
        case ast.Compare():
            yield from _compared(node, site)
        case ast.BinOp():
            yield from _calculated(node)
        case ast.BoolOp(op=operator, values=values):
            yield ast.BoolOp(ast.And() if isinstance(operator, ast.Or) else ast.Or(), values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.Call():
            yield from _called(node)
        case ast.Constant() | ast.UnaryOp() if is_constant(node):
            yield from _constants(node, site)
        case ast.stmt():
            yield from _statements(node, site)
    if isinstance(node, ast.expr):
        yield from _by_place(node, site)


def _compared(node: ast.Compare, site: Site) -> Iterator[ast.AST]:
    chained = len(node.ops) > 1
    clamps = False  # such as `9 if n > 9 else n`: both are the same where they are equal
    if isinstance(site.parent, ast.IfExp) and site.field == "test":
        sides = sorted(map(ast.dump, (node.left, *node.comparators)))
        clamps = sides == sorted(map(ast.dump, (site.parent.body, site.parent.orelse)))
    for index, operator in enumerate(node.ops):
        others = _COMPARISONS[type(operator)]
        for other in others[1 if clamps and len(others) > 1 else 0 : 1 if chained else None]:
            yield ast.Compare(node.left, [*node.ops[:index], other(), *node.ops[index + 1 :]], node.comparators)


def _calculated(node: ast.BinOp) -> Iterator[ast.AST]:
    if _is_sequence(node.left) or _is_sequence(node.right):
        if isinstance(node.op, ast.Add | ast.Mult):
            yield node.left if not is_constant(node.left) else node.right
        return
    of_types = isinstance(node.op, ast.BitOr) and any(
        isinstance(side, ast.Constant) and side.value is None for side in (node.left, node.right)
    )
    neutral = isinstance(node.right, ast.Constant) and node.right.value == _NEUTRAL.get(type(node.op))
    if not of_types and type(node.op) in _ARITHMETIC and not neutral:
        yield ast.BinOp(node.left, _ARITHMETIC[type(node.op)](), node.right)


def _is_sequence(node: ast.expr) -> bool:
    """Return True if `node` is visibly text or a list, which can be added but not subtracted."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, str | bytes)
        case ast.Call(func=function):
            return last_name(function) in _MAKE_SEQUENCES
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return _is_sequence(left) or _is_sequence(right)
    return isinstance(node, _SEQUENCES)


def _called(node: ast.Call) -> Iterator[ast.AST]:
    name = last_name(node.func)
    swapped = _SWAPPED.get(name)
    if swapped is not None and isinstance(node.func, ast.Attribute):
        yield ast.Call(ast.Attribute(node.func.value, swapped, ast.Load()), node.args, node.keywords)
    elif swapped is not None:
        keywords = [] if name == "sorted" else node.keywords
        yield ast.Call(ast.Name(swapped, ast.Load()), node.args, keywords)
    elif name in _UNWRAPPED and isinstance(node.func, ast.Name) and len(node.args) == 1:
        yield node.args[0]
    elif name == "range" and node.args and not isinstance(node.args[0], ast.Starred):
        stop = 0 if len(node.args) == 1 else 1
        if not is_constant(node.args[stop]):
            shorter = [*node.args[:stop], _shifted(node.args[stop], -1), *node.args[stop + 1 :]]
            yield ast.Call(node.func, shorter, node.keywords)


def _shifted(node: ast.expr, by: int) -> ast.expr:
    return ast.BinOp(node, ast.Add() if by > 0 else ast.Sub(), ast.Constant(abs(by)))


def _constants(node: ast.expr, site: Site) -> Iterator[ast.AST]:
    [value] = literal_value(node) or (None,)
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield from (_number(value + offset) for offset in _offsets(site))
    elif isinstance(value, float):
        yield ast.Constant(value + 1.0)
    elif isinstance(value, str) and not (_encoding(value) and _encoding(value) == _encoding(value[:-1])):
        told = value.rstrip() if "\n" in value.strip() else value  # a pattern with re.VERBOSE may end in blanks
        yield ast.Constant(told[:-1] + value[len(told) :] if value else "x")


def _encoding(name: str) -> str:
    """Return an encoding's module, as it may have several names (`utf-8`, `utf-`); empty for other texts."""
    normal = normalize_encoding(name).lower()
    module = aliases.get(normal, normal)
    return module if module in _ENCODINGS else ""


def _number(value: int) -> ast.expr:
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def _offsets(site: Site) -> tuple[int, ...]:
    """Return the changes of a number: not those that a change of its `<=` or `>` makes, nor a step of 0."""
    if isinstance(site.parent, ast.AugAssign):
        return (1,)
    if isinstance(site.parent, ast.Compare) and site.field == "comparators":
        operator = site.parent.ops[site.index or 0]
        if isinstance(operator, ast.LtE | ast.Gt):
            return (1,)
        if isinstance(operator, ast.Lt | ast.GtE):
            return (-1,)
    return (1, -1)


def _statements(node: ast.stmt, site: Site) -> Iterator[ast.AST]:
    match node:
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()
        case ast.AugAssign():
            if type(node.op) in _ARITHMETIC and not _is_sequence(node.value):
                yield ast.AugAssign(node.target, _ARITHMETIC[type(node.op)](), node.value)
            if not is_constant(node.value):
                yield ast.Pass()
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.Raise() | ast.Delete():
            yield ast.Pass()
        case ast.Assign(
            targets=[ast.Name(id=name)], value=ast.Call(func=function, args=[_, ast.Name(id=same)])
        ) if name == same and last_name(function) == "cast":
            return  # for a checker of types alone
        case ast.Assign(targets=targets) if all(_is_bound(target, site) for target in targets):
            yield ast.Pass()


def _is_bound(target: ast.expr, site: Site) -> bool:
    """Return True if `target` is bound before the assignment."""
    match target:
        case ast.Name(id=name):
            return site.scope.first_bound.get(name, site.statement.lineno) < site.statement.lineno
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return all(_is_bound(element, site) for element in elements)
    return isinstance(target, ast.Attribute | ast.Subscript)


def _by_place(node: ast.expr, site: Site) -> Iterator[ast.AST]:
    match site.parent, site.field:
        case (ast.If() | ast.While() | ast.IfExp(), "test") | (ast.comprehension(), "ifs"):
            if not isinstance(node, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Constant):
                yield ast.UnaryOp(ast.Not(), node)
        case ast.Return(), "value":
            if not isinstance(node, ast.Constant | ast.Compare | ast.BoolOp):
                yield ast.Constant(None)
        case ast.Slice(), "lower" | "upper" if not is_constant(node):
            yield _shifted(node, 1 if site.field == "lower" else -1)
        case ast.Subscript(ctx=ast.Load()), "slice":
            if isinstance(node, ast.Name) and node.id in site.scope.integers:
                yield _shifted(node, -1)
