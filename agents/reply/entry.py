"""The entry point of a module: bound where the signature wants it, or the reply is refused."""

from __future__ import annotations

import ast

from ..errors import ReplyError
from ..records import Signature
from ..syntax.collection import is_test
from ..syntax.definitions import Function
from ..syntax.headers import parameters
from ..syntax.source import names_bound, parse


def with_entry(code: str, signature: Signature) -> tuple[str, tuple[str, ...]]:
    """Return `code` with the signature's name bound at module level, and notes on what was added for it.

    A method of that name, as in `class Solution`, gets a function that calls it.
    Raises ReplyError, worded for the model, where nothing in `code` has the signature's name.
    """
    tree = parse(code)
    name = signature.name
    if any(name in names_bound(node) for node in tree.body):
        return code, ()
    if signature.kind == "function" and (wrapper := _around_method(tree, signature)):
        return f"{code.rstrip()}\n\n\n{wrapper}\n", (f"made the method {name} a function",)
    kind = ast.ClassDef if signature.kind == "class" else Function
    others = [node.name for node in tree.body if isinstance(node, kind) and not is_test(node)]
    found = f"it defines {', '.join(others[:5])} instead" if others else "it defines none"
    raise ReplyError(f"the code must define a {signature.kind} named `{name}`; {found}")


def _around_method(tree: ast.Module, signature: Signature) -> str | None:
    """Return a function that calls the method of that name of a class which is made without arguments."""
    for owner in (node for node in tree.body if isinstance(node, ast.ClassDef) and not is_test(node)):
        methods = {node.name: node for node in owner.body if isinstance(node, Function)}
        init = methods["__init__"].args if "__init__" in methods else None
        needed = len(init.posonlyargs + init.args) - len(init.defaults) if init else 0
        if needed > 1 or not isinstance(methods.get(signature.name), ast.FunctionDef):
            continue
        call = f"{owner.name}().{signature.name}"
        given = parameters(signature)
        if given is None:
            return f"{signature.name} = {call}"
        return f"{signature.text}:\n    return {call}({_passed_on(given)})"
    return None


def _passed_on(arguments: ast.arguments) -> str:
    parts = [parameter.arg for parameter in arguments.posonlyargs + arguments.args]
    parts += [f"*{arguments.vararg.arg}"] if arguments.vararg else []
    parts += [f"{parameter.arg}={parameter.arg}" for parameter in arguments.kwonlyargs]
    parts += [f"**{arguments.kwarg.arg}"] if arguments.kwarg else []
    return ", ".join(parts)
