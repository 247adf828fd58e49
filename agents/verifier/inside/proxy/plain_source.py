"""Plain values as Python source: literals, and constructor calls of plain types of the standard library."""

from __future__ import annotations

import ast
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

from .plain import MODULE_OF, named_value, writer

_LONGEST = 4000
COLLECTIONS = (Counter, OrderedDict, defaultdict, deque)
"""Container types whose source is a constructor call with a plain one."""
BY_NAME: dict[str, Any] = {kind.__name__: kind for kind in (*COLLECTIONS, set, frozenset)}
_FACTORIES = {kind.__name__: kind for kind in (list, dict, set, int, float, str, bool, *COLLECTIONS)}
_WRITTEN_OUT = (ast.List, ast.Dict, ast.Set, ast.Tuple, ast.Constant, ast.Name)
"""Valid arguments of such a call: `deque(range(9**9))` would take all memory."""
_CONTAINERS = {ast.List: list, ast.Tuple: tuple, ast.Set: set}


def source_of(value: Any) -> str | None:
    """Return the source of a plain value without literals, None if it can't be parsed back."""
    text = repr(value) if writer(type(value)) is not None else ""
    return text if text[-1:] == ")" and is_plain(text) else None


def content_of(value: Any) -> Any:
    """Return the content of a value of `COLLECTIONS` in a plain container."""
    return list(value) if isinstance(value, deque) else dict(value)


def collection_source(value: Any, source: Callable[[Any], str]) -> str | None:
    """Return the source of a value of `COLLECTIONS`; None if its default factory has no name."""
    parts = [source(content_of(value))]
    if isinstance(value, defaultdict):
        factory = value.default_factory
        name = getattr(factory, "__name__", "None")
        if factory is not _FACTORIES.get(name):
            return None
        parts.insert(0, name)
    elif isinstance(value, deque) and value.maxlen is not None:
        parts.append(f"maxlen={value.maxlen}")
    return f"{type(value).__name__}({', '.join(parts)})"


def written(value: Any) -> str:
    """Return the source of a plain value; if `is_plain` is false of it, the source means something else."""
    kind = type(value)
    if kind in COLLECTIONS:
        return collection_source(value, written) or repr(value)
    if kind is dict:
        return f"{{{', '.join(f'{written(key)}: {written(item)}' for key, item in value.items())}}}"
    if kind is list:
        return f"[{', '.join(map(written, value))}]"
    return f"({', '.join(map(written, value))}{',' * (len(value) == 1)})" if kind is tuple else repr(value)


def is_plain(node: ast.AST | str) -> bool:
    """Return True if an expression, or the text of one, stands for such a value."""
    try:
        value_of(node)
    except ValueError:
        return False
    return True


def value_of(node: ast.AST | str) -> Any:
    """Return the value of such source. Raises ValueError for any other, and for a long text."""
    try:
        if isinstance(node, str):
            node = ast.parse(node if len(node) <= _LONGEST else "", mode="eval").body
        return _value(node)
    except Exception as error:  # of the types' own
        raise ValueError(f"no plain value: {error}") from error


def _value(node: Any) -> Any:
    if isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))  # with or without its module
        if name in BY_NAME and not all(isinstance(each, _WRITTEN_OUT) for each in node.args):
            raise ValueError("its content is not written out")
        args = [_FACTORIES[each.id] if isinstance(each, ast.Name) else _value(each) for each in node.args]
        kind: Any = range if name == "range" else BY_NAME.get(name) or named_value(MODULE_OF[name], name)
        if name == "Fraction" and isinstance(args[0], str):
            raise ValueError("an exponent in a text may take all memory")
        made = kind(*args, **{str(each.arg): _value(each.value) for each in node.keywords})
        if made != made or (name == "Decimal" and made != +made):
            raise ValueError("it equals nothing, or has too many digits to count with")
        return made
    if isinstance(node, ast.Attribute) and ast.unparse(node) == "datetime.timezone.utc":
        return value_of("timezone(timedelta(0))")
    if isinstance(node, ast.Dict):
        return dict(zip(map(_value, node.keys), map(_value, node.values)))
    if type(node) in _CONTAINERS:
        return _CONTAINERS[type(node)](map(_value, node.elts))
    return ast.literal_eval(node)
