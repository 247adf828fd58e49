"""Counts the side effects of statements, which a patch may not remove."""

from __future__ import annotations

import ast
from collections import Counter

from ..syntax.source import unparse

_TYPES = ("list", "dict", "set", "defaultdict", "Counter", "deque", "OrderedDict")
_CONTAINERS = frozenset([*_TYPES, "copy", "deepcopy", "sorted", "split", "splitlines"])
"""Names of calls that return a new container, methods of a text among them."""
_FILL = frozenset(["heappush", "heapify", "insort"])


def effects_lost(before: ast.Module, after: ast.Module) -> int:
    """Return how many effects fewer `after` has; a call whose result is used now, and was not before, is kept."""
    (used, thrown), (used_now, thrown_now) = _calls(before), _calls(after)
    kept = (thrown - thrown_now) & (used_now - used)
    return _effects(before) - _effects(after) - kept.total()


def _effects(tree: ast.Module) -> int:
    """Return the number of effects of statements; filling a container that the function itself makes is none."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    filling = {
        id(node)
        for function in functions
        if (made := _made_in(function))
        for node in ast.walk(function)
        if _changed_name(node) in made
    }
    return sum(_effects_of(node) for node in ast.walk(tree) if id(node) not in filling)


def changes_arguments(node: ast.AST) -> bool:
    """Return True for a function that changes a parameter in place."""
    given = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    return not given.isdisjoint(map(_changed_name, ast.walk(node)))


def _calls(tree: ast.Module) -> tuple[Counter[str], Counter[str]]:
    """Return the calls in a module whose result is used, and those whose result is not, by their text."""
    thrown = Counter(unparse(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr))
    calls = Counter(unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Call))
    return calls - thrown, calls & thrown


def _made_in(function: ast.AST) -> set[str]:
    """Return the names that a function binds only to new containers, as a default or in its body."""
    new: Counter[str] = Counter()
    bound: Counter[str] = Counter()
    for node in ast.walk(function):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=value)
            ):
                new[name] += _is_new(value)
            case ast.arguments(args=args, defaults=values, kwonlyargs=only, kw_defaults=others):
                given = zip([*args, *only][::-1], [*values, *others][::-1], strict=False)
                new.update(each.arg for each, value in given if _is_new(value))
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                bound[name] += 1
            case ast.AugAssign(target=ast.Name(id=name)):
                bound[name] -= 1  # its target counts as stored above, but `+=` changes a container in place
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                bound.update(names)
    return {name for name, count in new.items() if count == bound[name]}


def _is_new(node: ast.expr | None) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _CONTAINERS
        case ast.BinOp(left=ast.List(), op=ast.Mult()):
            return True
    return isinstance(node, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp)


def _changed_name(node: ast.AST) -> str:
    """Return the variable that a statement changes in place; empty for any other statement."""
    match node:
        case ast.Expr(
            value=ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[ast.Name(id=filled), *_])
        ) if name in _FILL:
            return filled
        case (
            ast.Expr(value=ast.Call(func=ast.Attribute(value=place)))
            | ast.Assign(targets=[ast.Subscript(value=place)])
            | ast.AugAssign(target=ast.Subscript(value=place))
        ):
            owner = place.func if isinstance(place, ast.Call) else None
            if isinstance(owner, ast.Attribute) and owner.attr == "setdefault":
                place = owner.value
            while isinstance(place, ast.Subscript):  # an item, such as a row
                place = place.value
            return place.id if isinstance(place, ast.Name) else ""
    return ""


def _effects_of(node: ast.AST) -> int:
    match node:
        case ast.Expr(value=ast.Call() | ast.Await()):
            return 1
        case ast.Assign() | ast.AugAssign() | ast.AnnAssign():
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            parts = [each for target in targets for each in ast.walk(target)]
            places = [each for each in parts if isinstance(each, ast.Attribute | ast.Subscript)]
            return sum(isinstance(each.ctx, ast.Store) for each in places)
        case ast.With(items=items):  # not for `open`: what its body does with the file counts itself
            opened = (ast.unparse(each.context_expr).partition("(")[0] for each in items)
            return int(any(name.rpartition(".")[2] != "open" for name in opened))
    return int(isinstance(node, ast.Delete | ast.AsyncWith))
