"""Describes a class or a function, so that the other process can make one that looks and behaves like it."""

from __future__ import annotations

import collections.abc
import importlib
import inspect
import sys
import types
from contextlib import suppress
from typing import Any

from .kinds import CONTAINERS
from .plain import named_value, writer
from .versions import STANDARD_LIBRARY


def words(text: str) -> frozenset[str]:
    """Return the words of a text, separated by spaces."""
    return frozenset(text.split())


def specials(text: str) -> frozenset[str]:
    """Return the special names of a list of words: `__len__` for `len`."""
    return frozenset(f"__{name}__" for name in words(text))


SPECIALS = specials(
    "repr str format bytes hash bool len length_hint call iter next reversed contains getitem setitem delitem"
    " missing eq ne lt le gt ge add radd iadd sub rsub isub mul rmul imul matmul rmatmul imatmul"
    " truediv rtruediv itruediv floordiv rfloordiv ifloordiv mod rmod imod divmod rdivmod pow rpow ipow"
    " lshift rlshift ilshift rshift rrshift irshift and rand iand or ror ior xor rxor ixor"
    " neg pos abs invert int float complex index round trunc floor ceil"
    " enter exit await aiter anext aenter aexit fspath get"
)
VALUE_TYPES: tuple[type, ...] = (int, float, complex, str, bytes, tuple, frozenset)
ABCS = ("Set", "MutableSet", "Mapping", "MutableMapping", "Sequence", "MutableSequence")
"""Those classes of `collections.abc` that no method reveals."""
_REDUCED = words("date datetime time timedelta Decimal")
"""Types of the standard library whose subclasses are passed with their value, by `__reduce__`."""
_PLAIN_METACLASSES = words("type ABCMeta EnumMeta EnumType NamedTupleMeta _ProtocolMeta")
_DATA_TYPES = {
    "builtins": words(
        """NoneType bool bytearray bytes complex dict float frozenset int list memoryview object range set slice
        str tuple type"""
    ),
    "collections": words("ChainMap Counter OrderedDict defaultdict deque"),
    "datetime": words("date datetime time timedelta timezone"),
    "decimal": words("Decimal"),
    "fractions": words("Fraction"),
    "uuid": words("UUID"),
    "numpy": words(
        """bool bool_ bytes_ complex128 complex64 datetime64 dtype float16 float32 float64 int16 int32 int64 int8
        ndarray str_ timedelta64 uint16 uint32 uint64 uint8"""
    ),
    "pandas": words(
        """Categorical CategoricalIndex DataFrame DatetimeIndex Index MultiIndex Period PeriodIndex RangeIndex
        Series Timedelta TimedeltaIndex Timestamp"""
    ),
}
_ERROR_MODULES = words(
    """asyncio builtins binascii collections concurrent configparser csv _csv dataclasses decimal enum fractions
    functools io ipaddress itertools json locale math numpy operator pandas pathlib pickle queue _queue random re
    socket sqlite3 statistics string struct subprocess tarfile tomllib types typing unicodedata urllib uuid xml
    zipfile zlib zoneinfo"""
)

_LONGEST_DEFAULT = 100
_CLASS_STATEMENT = 1 << 9  # Py_TPFLAGS_HEAPTYPE, which few classes in C have

Description = dict[str, Any]


def named_type(value: type, user_modules: frozenset[str]) -> tuple[str, str] | None:
    """Return module and name of a type or exception of the standard library on a closed list, else None."""
    module, name = str(value.__module__), value.__qualname__
    if module in user_modules:
        return None
    if module.startswith("pandas.") and name in _DATA_TYPES["pandas"]:
        module = "pandas"  # from 3.0 on its classes say so themselves
    known = issubclass(value, BaseException) and module.partition(".")[0] in _ERROR_MODULES
    if not known and name not in _DATA_TYPES.get(module, ()):
        return None
    return (module, name) if vars(sys.modules.get(module, types)).get(name) is value else None


def type_named(module: str, name: str) -> type | None:
    """Return the class that `named_type` names so; None if there is none, or it was not imported here."""
    if name in _DATA_TYPES.get(module, ()):
        with suppress(ImportError):
            importlib.import_module(module)
    found = vars(sys.modules.get(module, types)).get(name)
    return found if isinstance(found, type) and named_type(found, frozenset()) == (module, name) else None


def own_attributes(value: type, mirrored: list[type]) -> dict[str, Any]:
    """Return the attributes to send with `value`: its own, and those of bases that are not mirrored."""
    covered = {base for other in mirrored for base in other.__mro__} | {object, *VALUE_TYPES, value_base(value)}
    found: dict[str, Any] = {}
    for base in value.__mro__:
        if base in covered or (issubclass(base, BaseException) and base.__module__ == "builtins"):
            continue
        for name, attribute in vars(base).items():
            found.setdefault(name, attribute)
    return found


def value_base(value: type) -> type | None:
    """Return the plain base type of `value`, if its instances are passed with a value of that type."""
    for base in value.__mro__[1:]:
        if base in VALUE_TYPES or (base.__name__ in _REDUCED and writer(base) is not None):
            return base
    return None


def base_named(name: object) -> type | None:
    """Return the type that `value_base` found, by its name in a description."""
    if not isinstance(name, list) or len(name) != 2:
        return None
    if name[0] == "builtins":
        return next((base for base in VALUE_TYPES if base.__name__ == name[1]), None)
    return named_value(*name) if name[1] in _REDUCED else None


def describe_class(value: type, mirrored: list[type]) -> Description:
    """Describe a class; `mirrored` are those of its bases that the other process mirrors."""
    own = own_attributes(value, mirrored)
    base = value_base(value)
    error = next((base for base in value.__mro__ if base.__module__ == "builtins"), object)
    like = next((name for name, kind in CONTAINERS.items() if issubclass(value, kind)), None)
    own_bases = [base for base in value.__mro__ if str(base.__module__).partition(".")[0] not in STANDARD_LIBRARY]
    meta = {
        name for kind in type.mro(type(value)) if kind.__name__ not in _PLAIN_METACLASSES for name in vars(kind)
    }
    return {
        "name": value.__name__,
        "qualname": value.__qualname__,
        "module": _module_of(value),
        "doc": value.__doc__ if isinstance(value.__doc__, str) else None,
        "specials": sorted(name for name in own if name in SPECIALS and own[name] is not None),
        "methods": sorted(
            name
            for name, attribute in own.items()
            if (type(attribute) is types.FunctionType and (name == "__init__" or not name.startswith("__")))
            # Of these the plain type's own would be found first: `now` of a class based on datetime.
            or (type(attribute) in (classmethod, staticmethod) and hasattr(base, name) and name[:2] != "__")
        ),
        "unhashable": "__hash__" in own and own["__hash__"] is None,
        "value": [base.__module__, base.__name__] if base is not None else None,
        "tzinfo": any((base.__module__, base.__name__) == ("datetime", "tzinfo") for base in value.__mro__),
        "error": error.__name__ if issubclass(value, BaseException) else None,
        "like": like,
        "compares": any("__eq__" in vars(base) for base in own_bases),
        "registers": type(value).__name__ not in _PLAIN_METACLASSES
        or any("__init_subclass__" in vars(base) for base in own_bases),
        "abcs": [name for name in ABCS if issubclass(value, getattr(collections.abc, name))],
        "checks": type(value).__name__ in ("ABCMeta", "_ProtocolMeta") or "__instancecheck__" in meta,
        "truth": not meta.isdisjoint(("__bool__", "__len__")),
    }


def _module_of(value: type) -> str:
    """Return the module of `value`; `user_code` for a class made by a statement outside the standard library."""
    module = str(value.__module__)
    known = vars(sys.modules.get(module, types)).get(value.__name__) is value
    claims = module.partition(".")[0] in STANDARD_LIBRARY and value.__flags__ & _CLASS_STATEMENT
    return "user_code" if claims and not known else module


def describe_function(value: Any) -> Description:
    """Describe a function: names, whether it is async, and its parameters as (name, kind, default)."""
    try:
        parameters = [
            [parameter.name, int(parameter.kind), _default(parameter.default)]
            for parameter in inspect.signature(value).parameters.values()
        ]
    except (TypeError, ValueError):
        kinds = {"args": inspect.Parameter.VAR_POSITIONAL, "kwargs": inspect.Parameter.VAR_KEYWORD}
        parameters = [[name, int(kind), False] for name, kind in kinds.items()]
    return {
        "name": str(getattr(value, "__name__", "function")),
        "doc": value.__doc__ if isinstance(value.__doc__, str) else None,
        "async": inspect.iscoroutinefunction(value),
        "parameters": parameters,
    }


def _default(value: Any) -> bool | list[Any]:
    """Return the default of a parameter as JSON has it: True for one that does not cross, False for none."""
    if value is inspect.Parameter.empty:
        return False
    crosses = value is None or type(value) in (bool, int, str)
    return [value] if crosses and len(repr(value)) <= _LONGEST_DEFAULT else True


def _made_default(told: bool | list[Any]) -> Any:
    """Return the default that `_default` tells of."""
    if isinstance(told, list):
        return told[0]
    return _MISSING if told else inspect.Parameter.empty


def native_fields(kind: type) -> list[str]:
    """Return attributes that a built-in exception has outside its `__dict__`, such as `code` of SystemExit."""
    return [
        name
        for base in kind.__mro__
        if base.__module__ == "builtins" and base is not object
        for name, attribute in vars(base).items()
        if isinstance(attribute, (types.MemberDescriptorType, types.GetSetDescriptorType))
        and name[:1] != "_"
        and name not in ("args", "exceptions", "message")
    ]


def plain_value(value: Any, base: type) -> object:
    """Return the plain value of an instance of a subclass of `base`, by the methods of `base` itself."""
    kind: Any = base
    if base is frozenset or base.__name__ in _REDUCED:
        return kind(*kind.__reduce__(value)[1])
    return kind(*kind.__getnewargs__(value))


def value_of_subclass(made: Any, base: type, value: Any) -> Any:
    """Return an instance of `made`, a subclass of `base`, with `value`. Raises TypeError and ValueError."""
    if type(value) is not base:
        raise TypeError(f"a {base.__name__} is needed")
    construct: Any = base.__new__
    return construct(made, *(value.__reduce__()[1] if base.__name__ in _REDUCED else (value,)))


def make_function(description: Description, call: Any) -> Any:
    """Return a real function with the described parameters; it calls `call(itself, args, kwargs)`."""
    parameters = [
        inspect.Parameter(name, kind, default=_made_default(default))
        for name, kind, default in description["parameters"]
    ]
    names = [item.name for item in parameters if item.kind < item.VAR_POSITIONAL]
    positional = [*names, *(f"*{item.name}" for item in parameters if item.kind == item.VAR_POSITIONAL)]
    keywords = [f"{item.name}={item.name}" for item in parameters if item.kind == item.KEYWORD_ONLY]
    keywords += [f"**{item.name}" for item in parameters if item.kind == item.VAR_KEYWORD]
    async_, await_ = ("async ", "await ") if description["async"] else ("", "")
    source = (
        f"{async_}def forward{inspect.Signature(parameters)}:\n"
        f"    return {await_}_call([{', '.join(positional)}], dict({', '.join(keywords)}))\n"
    )

    def forwarded(args: list[object], kwargs: dict[str, object]) -> Any:
        end = next((index for index, value in enumerate(args) if value is _MISSING), len(args))
        kwargs = {**dict(zip(names[end:], args[end:])), **kwargs}  # what follows a default goes by name
        given = {name: value for name, value in kwargs.items() if value is not _MISSING}
        return call(function, tuple(args[:end]), given)

    scope = {"_missing": _MISSING, "_call": forwarded}
    exec(compile(source, "<callback>", "exec"), scope)  # noqa: S102 - the code process; names are checked
    function: Any = scope["forward"]
    function.__name__ = function.__qualname__ = description["name"]
    function.__doc__ = description["doc"]
    return function


_MISSING = type("Missing", (), {"__repr__": lambda _: "_missing"})()
"""Replaces a default that only the other process has; its text is what a signature shows."""
