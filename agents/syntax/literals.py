"""Values that an example may state: literals and calls that make one; and their comparison.

Values are parsed, never evaluated: they come from models and from untrusted code.
"""

from __future__ import annotations

import ast
import builtins
import re
from typing import Any

from .source import parse_expression, statements

LONGEST_LITERAL = 4000
"""Characters; a longer text counts as no literal."""
LONGEST_WHOLE = 250
"""Characters; a longer value in a report may be cut in its middle, which makes it another value."""
MAKERS = frozenset(
    {"Counter", "Decimal", "Fraction", "OrderedDict", "date", "defaultdict", "deque", "math", "timedelta"}
)
"""Names of the standard library that an example may use without an import."""
_CALLED = MAKERS.union(
    ["set", "frozenset", "float", "int", "complex", "bytes", "bytearray", "range", "dict", "list", "tuple"]
)
_SPELLINGS = {"true": "True", "false": "False", "null": "None", "none": "None", "TRUE": "True", "FALSE": "False"}


def expression(text: str) -> ast.expr | None:
    """Return `text` as a single expression; None where it is not one."""
    match statements(text.strip()):
        case [ast.Expr(value=node)]:
            return node
    return None


def value(text: str) -> str | None:
    """Return `text` as the source of a value, with `true` and `null` as in Python; None where it is no value.

    One string in parentheses is none: it may be meant as a tuple of one.
    """
    text = text.strip()
    text = _SPELLINGS.get(text, text)
    # A full stop after an integer makes no float.
    text = re.sub(r"^(-?\d+)\.$", r"\1", text)
    if re.fullmatch(r"-?\d{1,3}(?:,\d{3})+", text):  # an integer with thousands separators
        return None
    node = expression(text)
    if node is None or not is_value(node) or text.endswith(","):
        return None
    if text.startswith("(") and not isinstance(node, ast.Tuple | ast.BinOp | ast.UnaryOp):
        return None
    whole = isinstance(node, ast.Tuple) or node.end_lineno != 1
    return text if whole else text.encode()[: node.end_col_offset].decode()


def is_value(node: ast.expr) -> bool:
    """Return True if `node` has the same value wherever it is evaluated."""
    match node:
        case ast.Constant(value=stated):
            return stated is not ...
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return all(map(is_value, items))
        case ast.Dict(keys=keys, values=values):
            return all(each is not None and is_value(each) for each in (*keys, *values))
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return is_value(operand)
        case ast.BinOp(left=left, op=op, right=right) if not isinstance(op, ast.BitOr | ast.BitXor | ast.BitAnd):
            return is_value(left) and is_value(right)  # `'a' | 'b'` is two values
        case ast.Attribute(value=ast.Name(id="math"), attr=name):
            return name in {"pi", "e", "inf", "tau"}
        case ast.Call(func=ast.Name(id=name), args=items, keywords=[]) if name in _CALLED:
            constants = (item.value for item in items if isinstance(item, ast.Constant))
            is_nan = any(str(each).strip().lower() == "nan" for each in constants)
            return not is_nan and all(map(is_value, items))
    return False


def exception(text: str) -> str | None:
    """Return `text` if it is the name of a built-in exception; else None."""
    name = text.strip().removesuffix("()")
    found = getattr(builtins, name, None) if name.isidentifier() else None
    return found.__name__ if isinstance(found, type) and issubclass(found, Exception) else None


def literal_value(node: ast.expr | str) -> tuple[Any] | None:
    """Return the value of a literal, alone in a tuple; None for any other expression."""
    try:
        return (ast.literal_eval(node),)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def is_literal(text: str) -> bool:
    """Return True if `text` is the source of a plain value."""
    return _parsed(text) is not None


def is_writable(text: str) -> bool:
    """Return True if `text` is a plain value that stays the same when it is parsed and written again: not `inf`,
    `nan` or `1e999`."""
    parsed = _parsed(text)
    return parsed is not None and is_literal(repr(parsed[0])) and same_value(repr(parsed[0]), text)


def same_value(one: str, other: str) -> bool:
    """Return True if two literals are the same value, types included (`1`, `1.0` and `True` are three values)."""
    left, right = _parsed(one), _parsed(other)
    if left is None or right is None:
        return one.strip() == other.strip()
    return _typed(left[0]) == _typed(right[0])


def _parsed(text: str) -> tuple[object] | None:
    if len(text) > LONGEST_LITERAL:
        return None
    try:
        node = parse_expression(text.strip())
    except ValueError:
        return None
    within = (each for each in ast.walk(node) if each is not node)
    left_out = any(isinstance(each, ast.Constant) and each.value is ... for each in within)
    return None if left_out else literal_value(node)


def _typed(value: object) -> object:
    """Return `value` with the type of every part, so that 1 and True are not equal."""
    typed = value
    if isinstance(value, list | tuple):
        typed = tuple(map(_typed, value))
    elif isinstance(value, dict | set):
        typed = frozenset(map(_typed, value.items() if isinstance(value, dict) else value))
    return (type(value).__name__, typed)
