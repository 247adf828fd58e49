"""The entry point of a module, brought to the name and the place that the signature gives it."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Sequence

from ..errors import ReplyError
from ..records import Signature
from ..syntax.collection import is_test
from ..syntax.headers import parameters
from ..syntax.source import names_bound, names_used, parse

_LIKENESS = 0.6
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def aligned(code: str, signature: Signature) -> tuple[str, tuple[str, ...]]:
    """`code` with the signature's name bound at module level, and what was changed for it.

    Raises ReplyError, worded for the model, where nothing in `code` is plausibly meant by the signature.
    """
    tree = parse(code)
    if any(signature.name in names_bound(node) for node in tree.body):
        return code, ()
    if signature.kind == "class":
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and not is_test(node)]
        found = _chosen(signature.name, [node.name for node in classes])
        return _under_another_name(code, found, signature, [node.name for node in classes])
    if wrapped := _method_wrapped(tree, signature):
        return f"{code.rstrip()}\n\n\n{wrapped}\n", (f"made the method {signature.name} a function",)
    functions = [node for node in tree.body if isinstance(node, _Function) and not is_test(node)]
    return _under_another_name(code, _meant(functions, signature), signature, [node.name for node in functions])


def _under_another_name(
    code: str, found: str | None, signature: Signature, names: Sequence[str]
) -> tuple[str, tuple[str, ...]]:
    if found is None:
        there = f"it defines {', '.join(names[:5])} instead" if names else "it defines none"
        raise ReplyError(f"the code must define a {signature.kind} named `{signature.name}`; {there}")
    note = f"renamed {found} to {signature.name}"
    renamed = _renamed(code, found, signature.name)
    return renamed or f"{code.rstrip()}\n\n\n{signature.name} = {found}\n", (note,)


def _meant(functions: Sequence[_Function], signature: Signature) -> str | None:
    """The function that the signature means: the one of its arity, the most alike, or the one nothing calls."""
    wanted = parameters(signature)
    fitting = [node for node in functions if not wanted or _accepts(node.args, len(_positional(wanted)))]
    if alike := _chosen(signature.name, [node.name for node in fitting]):
        return alike
    working = [node for node in functions if node.name != "main"]
    called = {name for node in working for name in names_used(node.body) if name != node.name}
    outer = [node.name for node in fitting if node.name not in called and node in working]
    return outer[0] if len(outer) == 1 else None


def _chosen(name: str, names: Sequence[str]) -> str | None:
    """The one of `names` that is most like `name`; a single one needs no likeness."""
    if len(names) == 1:
        return names[0]
    scores = sorted(((_likeness(name, other), other) for other in names), reverse=True)
    if not scores or scores[0][0] < _LIKENESS or scores[0][0] == scores[1][0]:
        return None
    return scores[0][1]


def _likeness(one: str, other: str) -> float:
    plain = one.lower().replace("_", ""), other.lower().replace("_", "")
    if plain[0] and plain[1] and (plain[0] in plain[1] or plain[1] in plain[0]):
        return 0.9 if plain[0] != plain[1] else 1.0
    return difflib.SequenceMatcher(None, *plain).ratio()


def _positional(arguments: ast.arguments) -> list[ast.arg]:
    return [*arguments.posonlyargs, *arguments.args]


def _accepts(arguments: ast.arguments, count: int) -> bool:
    places = len(_positional(arguments))
    required = places - len(arguments.defaults)
    return required <= count and (count <= places or arguments.vararg is not None)


def _method_wrapped(tree: ast.Module, signature: Signature) -> str | None:
    """A function that calls the method of that name of a class which is made without arguments."""
    for owner in (node for node in tree.body if isinstance(node, ast.ClassDef) and not is_test(node)):
        methods = {node.name: node for node in owner.body if isinstance(node, _Function)}
        likely = [name for name in methods if _likeness(signature.name, name) >= 0.9 and not name.startswith("__")]
        name = signature.name if signature.name in methods else likely[0] if len(likely) == 1 else None
        made = "__init__" not in methods or _accepts(methods["__init__"].args, 1)
        if not name or not made or isinstance(methods[name], ast.AsyncFunctionDef):
            continue
        given = parameters(signature) or _without_self(methods[name].args)
        header = signature.text if parameters(signature) else f"def {signature.name}({ast.unparse(given)})"
        return f"{header}:\n    return {owner.name}().{name}({_passed_on(given)})"
    return None


def _without_self(arguments: ast.arguments) -> ast.arguments:
    arguments = parse(f"def f({ast.unparse(arguments)}): ...").body[0].args  # type: ignore[attr-defined]
    places = arguments.posonlyargs or arguments.args
    if places and places[0].arg in {"self", "cls"}:
        del places[0]
    return arguments


def _passed_on(arguments: ast.arguments) -> str:
    parts = [parameter.arg for parameter in _positional(arguments)]
    if arguments.vararg:
        parts.append(f"*{arguments.vararg.arg}")
    parts.extend(f"{parameter.arg}={parameter.arg}" for parameter in arguments.kwonlyargs)
    if arguments.kwarg:
        parts.append(f"**{arguments.kwarg.arg}")
    return ", ".join(parts)


def _renamed(code: str, old: str, new: str) -> str | None:
    """`code` with a module-level definition renamed in place; None where that is not certain to be the same."""
    tree = parse(code)
    lines = code.split("\n")
    places: list[tuple[int, int]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in {old, new} and not isinstance(node.ctx, ast.Load):
            return None
        if isinstance(node, ast.Name) and node.id == old:
            places.append((node.lineno, node.col_offset))
        elif isinstance(node, _Function | ast.ClassDef) and node.name == old:
            column = lines[node.lineno - 1].encode().find(old.encode(), node.col_offset)
            places.append((node.lineno, column))
        elif (isinstance(node, ast.arg) and node.arg in {old, new}) or _names(node, old):
            return None
    for line, column in sorted(places, reverse=True):
        raw = lines[line - 1].encode()
        if raw[column : column + len(old.encode())] != old.encode():
            return None
        lines[line - 1] = (raw[:column] + new.encode() + raw[column + len(old.encode()) :]).decode()
    renamed = "\n".join(lines)
    # Positions inside f-strings are not reliable on every Python: make sure that nothing else moved.
    return renamed if _dumped(tree, {old: new}) == _dumped(parse(renamed), {}) else None


def _names(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Global | ast.Nonlocal):
        return name in node.names
    return isinstance(node, ast.JoinedStr) and name in names_used(node)


def _dumped(tree: ast.Module, names: dict[str, str]) -> str:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
        elif isinstance(node, _Function | ast.ClassDef):
            node.name = names.get(node.name, node.name)
    return ast.dump(tree)
