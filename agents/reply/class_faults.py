"""Faults of a class that show without running it: a method that an attribute hides, or that can't be called as the
spec writes it, and a name of the spec that is not there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import chain

from ..records import Spec
from ..spec.clauses import clauses
from ..spec.signature import closing
from ..syntax.definitions import Function
from ..syntax.source import parse, parse_expression


def class_fault(code: str, spec: Spec) -> str | None:
    """Return the first fault of the class that `spec` asks for, worded for the model; None without one."""
    if spec.signature is None or spec.signature.kind != "class":
        return None
    tree = parse(code)
    return next(chain(_hidden(tree), _called_otherwise(tree, spec), _left_out(tree, spec)), None)


def _methods(owner: ast.ClassDef) -> dict[str, Function]:
    return {node.name: node for node in owner.body if isinstance(node, Function) and not node.decorator_list}


def _hidden(tree: ast.Module) -> Iterator[str]:
    for owner in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        methods = _methods(owner)
        for node in (inner for method in methods.values() for inner in ast.walk(method)):
            match node:
                case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()) if name in methods:
                    yield f"`self.{name} = ...` hides the method `{name}` of `{owner.name}`; rename the attribute"


def _called_otherwise(tree: ast.Module, spec: Spec) -> Iterator[str]:
    assert spec.signature is not None
    owners = [each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == spec.signature.name]
    methods = _methods(owners[0]) if owners else {}
    for found in re.finditer(r"\b(?P<name>[a-z_]\w*)\(", spec.text):
        end = closing(spec.text, found.end() - 1)
        method = methods.get(found["name"])
        if end is None or method is None:
            continue
        try:
            call = parse_expression(spec.text[found.start() : end + 1])
        except ValueError:
            continue  # a header, with types
        if isinstance(call, ast.Call) and call.args and not _takes(method.args, call):
            yield f"`{found['name']}` must be callable as `{ast.unparse(call)}`, as the spec writes it"


def _takes(arguments: ast.arguments, call: ast.Call) -> bool:
    """Return True if a method with `arguments` can be called so; starred arguments may be anything."""
    if any(isinstance(each, ast.Starred) or ast.unparse(each) == "..." for each in call.args):
        return True
    positional = len(arguments.posonlyargs + arguments.args) - 1
    given = len(call.args) + len(call.keywords)
    enough = given >= positional - len(arguments.defaults)
    return enough and bool(given <= positional + len(arguments.kwonlyargs) or arguments.vararg or arguments.kwarg)


def _left_out(tree: ast.Module, spec: Spec) -> Iterator[str]:
    there = set(map(_name_of, ast.walk(tree)))
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
