"""Describes a class or a function, so that the other side can make one that looks and behaves like it."""

from __future__ import annotations

import inspect
import sys
import types
from typing import Any

from .shared import KINDS


def words(text: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(text.split())


SPECIALS = frozenset(
    f"__{name}__"
    for name in words(
        "repr str format bytes hash bool len length_hint call iter next reversed contains getitem setitem delitem"
        " missing eq ne lt le gt ge add radd iadd sub rsub isub mul rmul imul matmul rmatmul imatmul"
        " truediv rtruediv itruediv floordiv rfloordiv ifloordiv mod rmod imod divmod rdivmod pow rpow ipow"
        " lshift rlshift ilshift rshift rrshift irshift and rand iand or ror ior xor rxor ixor"
        " neg pos abs invert int float complex index round trunc floor ceil"
        " enter exit await aiter anext aenter aexit fspath"
    )
)
VALUE_TYPES: tuple[type, ...] = (int, float, complex, str, bytes, tuple, frozenset)
_VALUE_MODULES = words(
    "builtins collections collections.abc decimal fractions datetime numbers pathlib uuid types typing"
)
_ERROR_MODULES = words(
    """asyncio builtins binascii collections concurrent configparser csv _csv dataclasses decimal enum fractions
    functools io ipaddress itertools json locale math operator pathlib pickle queue _queue random re socket
    statistics string struct subprocess tarfile tomllib types typing unicodedata urllib uuid xml zipfile zlib
    zoneinfo"""
)

Description = dict[str, Any]


def may_be_named(value: type, module: str) -> bool:
    """Whether a class of `module` is one that sides name to each other: a harmless one of the standard library."""
    if issubclass(value, BaseException):
        return module.partition(".")[0] in _ERROR_MODULES
    return module in _VALUE_MODULES


def named_type(value: type, user_modules: frozenset[str]) -> tuple[str, str] | None:
    """Module and qualified name of a class that both sides have; None for one of the code or of the tests."""
    module, name = value.__module__, value.__qualname__
    if module in user_modules or not may_be_named(value, str(module)):
        return None
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return (module, name) if found is value else None


def own_attributes(value: type, mirrored: list[type]) -> dict[str, Any]:
    """Attributes that `value` brings along: its own, and those of bases that are not mirrored themselves."""
    covered = {base for other in mirrored for base in other.__mro__} | {object, *VALUE_TYPES}
    found: dict[str, Any] = {}
    for base in value.__mro__:
        if base in covered or (issubclass(base, BaseException) and base.__module__ == "builtins"):
            continue
        for name, attribute in vars(base).items():
            found.setdefault(name, attribute)
    return found


def describe_class(value: type, mirrored: list[type]) -> Description:
    """What a class looks like; `mirrored` are those of its bases that the other side mirrors."""
    own = own_attributes(value, mirrored)
    base = next((base for base in VALUE_TYPES if issubclass(value, base)), None)
    error = next((base for base in value.__mro__ if base.__module__ == "builtins"), object)
    like = next((name for kind, name in KINDS.items() if issubclass(value, kind)), None)
    return {
        "name": value.__name__,
        "qualname": value.__qualname__,
        "module": str(value.__module__),
        "specials": sorted(name for name in own if name in SPECIALS and own[name] is not None),
        "methods": sorted(
            name
            for name, attribute in own.items()
            if type(attribute) is types.FunctionType and name not in SPECIALS and not _is_internal(name)
        ),
        "unhashable": "__hash__" in own and own["__hash__"] is None,
        "value": base.__name__ if base is not None else None,
        "error": error.__name__ if issubclass(value, BaseException) else None,
        "like": like if "__eq__" not in vars(value) else None,
    }


def _is_internal(name: str) -> bool:
    return name.startswith("__") and name not in ("__init__",)


def describe_function(value: Any) -> Description:
    """What a function looks like: names, whether it is async, and its parameters as (name, kind, has default)."""
    try:
        parameters = [
            [parameter.name, int(parameter.kind), parameter.default is not inspect.Parameter.empty]
            for parameter in inspect.signature(value).parameters.values()
        ]
    except (TypeError, ValueError):
        parameters = [["args", int(inspect.Parameter.VAR_POSITIONAL), False]]
    return {
        "name": str(getattr(value, "__name__", "function")),
        "doc": value.__doc__ if isinstance(value.__doc__, str) else None,
        "async": inspect.iscoroutinefunction(value),
        "parameters": parameters,
    }


def plain_value(value: Any, base: str) -> object:
    """The built-in value that an instance of a subclass of `base` carries."""
    if base in ("str", "bytes"):
        return {"str": str, "bytes": bytes}[base].__getitem__(value, slice(None))  # type: ignore[index]
    if base == "tuple":
        return tuple(tuple.__iter__(value))
    if base == "frozenset":
        return frozenset(frozenset.__iter__(value))
    kind: Any = {"int": int, "float": float, "complex": complex}[base]
    return kind.__add__(value, kind())


def make_function(description: Description, call: Any) -> Any:
    """A real function with the described parameters; it calls `call(itself, args, kwargs)`."""
    header: list[str] = []
    positional: list[str] = []
    keywords: list[str] = []
    star = False
    only = False
    for name, kind, optional in description["parameters"]:
        given = f"{name}=_missing" if optional else name
        if kind == inspect.Parameter.POSITIONAL_ONLY:
            only = True
        elif only:
            header.append("/")
            only = False
        if kind == inspect.Parameter.VAR_POSITIONAL:
            header.append(f"*{name}")
            positional.append(f"*{name}")
            star = True
        elif kind == inspect.Parameter.VAR_KEYWORD:
            header.append(f"**{name}")
            keywords.append(f"**{name}")
        elif kind == inspect.Parameter.KEYWORD_ONLY:
            header += [given] if star else ["*", given]
            star = True
            keywords.append(f"{name}={name}")
        else:
            header.append(given)
            positional.append(name)
    if only:
        header.append("/")
    await_ = ("async ", "await ") if description["async"] else ("", "")
    source = (
        f"{await_[0]}def forward({', '.join(header)}):\n"
        f"    return {await_[1]}_call(_given({', '.join(positional)}), dict({', '.join(keywords)}))\n"
    )
    scope = {
        "_missing": _MISSING,
        "_given": _given,
        "_call": lambda args, kwargs: call(function, args, _without(kwargs)),
    }
    exec(compile(source, "<callback>", "exec"), scope)  # noqa: S102 - the subject's own process; names are checked
    function: Any = scope["forward"]
    function.__name__ = function.__qualname__ = description["name"]
    function.__doc__ = description["doc"]
    return function


_MISSING = object()


def _given(*args: object) -> tuple[object, ...]:
    return tuple(argument for argument in args if argument is not _MISSING)


def _without(kwargs: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in kwargs.items() if value is not _MISSING}
