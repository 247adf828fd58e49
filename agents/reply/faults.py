"""Faults of a module found by its syntax, as messages for the model: no entry point, omitted code (empty bodies,
comments such as "rest of the code here"), and a class without what the spec names."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from itertools import chain

from ..errors import ReplyError
from ..records import Signature, Spec
from ..spec.clauses import clauses
from ..spec.signature import is_stub, parameters
from ..syntax.collection import is_test, last_name
from ..syntax.definitions import Function
from ..syntax.source import names_bound, names_used, parse

_ELISION = re.compile(
    r"""\#\s*+(?:
        (?:\.\.\.|…)\s*\(?(?:the\s+)?(?:rest|remaining|existing|previous|other|same|unchanged|implementation)\b.*
        | (?:\[|<|\.\.\.|…|\()?\s*+(?:the\s+)?(?:rest|remainder)\s+of\s+(?:the\s+|your\s+|this\s+)?
          (?:code|file|function|functions|class|methods|implementation|module|program)
          (?:\s+(?:here|goes|remains|stays|is|as|unchanged|same|follows|omitted)\b.*)?[\s.\])>]*
        | (?:add\s+|put\s+|write\s+|insert\s+)?(?:your|the|actual)\s+(?:code|implementation|solution|logic)\s+
          (?:goes\s+)?here[\s.!]*
        | (?:existing|previous|other|remaining)\s+(?:code|functions|methods|tests|implementation)
          (?:\s+(?:here|remains?|stays?|unchanged|as|goes|go|follows?)\b.*)?[\s.]*
        | (?:todo|fixme)\s*:?\s*(?:implement|write|complete)
          (?:\s+(?:this|me|it|here|the|your|function|method|logic|code))*[\s.!]*
        | implement(?:ation)?\s+(?:goes\s+)?here[\s.]*
        | (?:same|unchanged)\s+as\s+(?:before|above)\b.*
    )$""",
    re.IGNORECASE | re.VERBOSE,
)


def class_fault(code: str, spec: Spec) -> str | None:
    """Return the first fault of the class that `spec` asks for, as a message for the model; None without one."""
    if spec.signature is None or spec.signature.kind != "class":
        return None
    tree = parse(code)
    owners = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == spec.signature.name]
    return next(chain(_hidden(tree), *(_left_out(tree, owner, spec) for owner in owners)), None)


def _hidden(tree: ast.Module) -> Iterator[str]:
    for owner in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        methods = [node for node in owner.body if isinstance(node, Function) and not node.decorator_list]
        names = {method.name for method in methods}
        for node in (inner for method in methods for inner in ast.walk(method)):
            match node:
                case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()) if name in names:
                    yield f"`self.{name} = ...` hides the method `{name}` of `{owner.name}`; rename the attribute"


def _left_out(tree: ast.Module, owner: ast.ClassDef, spec: Spec) -> Iterator[str]:
    if any(last_name(base) not in map(_name_of, tree.body) for base in owner.bases):
        return  # members of a base class from a library are not in the code
    there = {"bool", "hash", *map(_name_of, ast.walk(tree))}  # each object has these
    if owner.decorator_list:  # such as a dataclass
        there |= {"__repr__", "__str__"}
    there |= {"iter"} if "__getitem__" in there else set()
    for need in (need for clause in clauses(spec) for need in clause.needs):
        if need.kind == "name" and need.value.isidentifier() and not {need.value, f"__{need.value}__"} & there:
            yield f"the spec names `{need.value}`, and the code has nothing of that name"


def _name_of(node: ast.AST) -> str:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.Attribute(attr=name) | ast.Name(id=name) | ast.arg(arg=name) | ast.Constant(value=str(name)):
            return name
    return ""


def with_entry(code: str, signature: Signature) -> tuple[str, tuple[str, ...]]:
    """Return `code` with the signature's name bound at module level, and notes on additions.

    A method of that name, as in `class Solution`, gets a function that calls it. Raises ReplyError where nothing
    in `code` has the signature's name.
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
    """Return a function that calls the method of the signature's name, of a class that needs no arguments."""
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


def left_out(code: str, entry: str | None) -> str | None:
    """Return a message for the model on omitted code; None where `code` is complete.

    An empty function counts when it is the entry point, or when other code calls it.
    """
    for comment in _comments(code):
        if _ELISION.match(comment):
            return f"it leaves code out (`{comment[:60]}`); write the complete file, every function in full"
    tree = parse(code)
    for node in tree.body:
        if isinstance(node, Function) and is_stub(node):
            others = names_used([other for other in tree.body if other is not node])
            if node.name == entry or (entry and node.name in others and not node.decorator_list):
                return f"the function `{node.name}` has no body; write it in full"
    return None


def _comments(code: str) -> list[str]:
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, SyntaxError):
        return []
    return [token.string for token in tokens if token.type == tokenize.COMMENT]
