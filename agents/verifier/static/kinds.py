"""Classes and annotations whose names and texts stand in the file: dataclasses and hypothesis run them as code."""

from __future__ import annotations

import ast

from .names import Function, Names, last


def is_plain_class(names: Names, node: ast.AST | None) -> bool:
    """Return True if a class has no attributes but those in its body and in those of its bases."""
    return isinstance(node, ast.ClassDef) and all(
        is_known(names, base)
        or (isinstance(base, ast.Subscript) and is_known(names, base.value))
        or _is_class_here(names, base)
        for base in node.bases
    )


def is_known(names: Names, node: ast.AST) -> bool:
    """Return True if `node` names a builtin, what is imported, or a part of the code under test."""
    return names.is_builtin(node) or names.is_under_test(node) or bool(names.paths(node))


def is_kind(names: Names, node: ast.AST, in_annotation: bool = False, depth: int = 0) -> bool:
    """Return True if `node` names a kind, and is no text made at run time. Texts in an annotation are read with
    the rest of the test."""
    if depth > 20:
        return False
    match node:
        case ast.Constant(value=value):
            return in_annotation or not isinstance(value, str)
        case ast.Name(id=name) if name in names.defined:
            places = names.defined[name]
            values = [getattr(names.parent(place), "value", None) for place in places]
            return (
                _is_class_here(names, node)
                or all(isinstance(place, Function) for place in places)
                or all(value is not None and is_kind(names, value, depth=depth + 1) for value in values)
            )
        case ast.Name() | ast.Attribute():
            return is_known(names, node)
        case ast.Subscript(value=value, slice=inner):
            literal = names.stands_for(value, "typing.Literal")
            return is_kind(names, value) and (literal or is_kind(names, inner, in_annotation, depth + 1))
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return is_kind(names, left, in_annotation, depth + 1) and is_kind(
                names, right, in_annotation, depth + 1
            )
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(is_kind(names, part, in_annotation, depth + 1) for part in parts)
        case ast.Call(func=function):
            return names.stands_for(function, "typing.TypeVar", "typing.NewType", "typing.ParamSpec")
    return False


def _is_class_here(names: Names, node: ast.AST) -> bool:
    places = names.defined.get(last(node), []) if isinstance(node, ast.Name) else []
    return bool(places) and all(is_plain_class(names, place) for place in places)
