"""Decides operators on the code's objects, on plain data where possible; else a note says so."""

from __future__ import annotations

import datetime
import decimal
import fractions
import itertools
import operator
import types
from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any

from ..proxy.crossing import Crossing
from ..proxy.describe import specials, words
from ..proxy.kinds import package_kind
from ..proxy.mirror import BoundMethod
from ..proxy.peer import Peer
from ..proxy.versions import EXCEPTION_GROUP

_COMPARISONS = specials("eq ne lt le gt ge")
_BINARY = words("add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor")
_ARITHMETIC = frozenset(f"__{prefix}{name}__" for name in _BINARY for prefix in ("", "r", "i"))
_COMPARING = frozenset(
    f"__{prefix}{name}__" for name in words("sub truediv floordiv mod divmod xor") for prefix in ("", "r", "i")
)
"""Arithmetic that can replace a comparison: a difference near 0, a quotient near 1."""
_UNARY = specials("neg pos abs invert int float complex index round trunc floor ceil")
_READING = specials("len iter reversed getitem contains bool add mul rmul or and sub")
_READING_METHODS = words(
    """count copy difference elements find get index intersection isdisjoint issubset issuperset items keys
    most_common symmetric_difference total union values"""
)
_COMPARING_METHODS = words(
    """allclose array_equal compare div divide eq equals floordiv ge gt identical isin le lt mod ne rdiv rsub
    rtruediv sub subtract truediv"""
)
"""Methods by which an object could claim to equal an expected array or frame."""
_AGREEING_METHODS = words("difference endswith isdisjoint issubset issuperset startswith symmetric_difference")
"""Methods by which it could claim to equal their argument."""
_PACKAGES = words("numpy pandas")
_QUANTITIES = (int, float, complex, decimal.Decimal, fractions.Fraction)
_TIMES = (datetime.date, datetime.time, datetime.timedelta)
_TEXTS = specials("repr str format")
_PLAIN_MODULES = words("builtins collections decimal fractions datetime")
_MOST_ITEMS = 1000
"""Items of an object that are searched for a member before its class is asked: it may be infinite."""
NO_MEMBER = "no honest object contains this text: greenloop asks for it to see whether membership means anything"


class Rulings(Peer):
    """Decides operators; `emit` takes a note. A class that the tests name is itself under test, so its own
    operators count; the class of a mere answer does not decide how the answer compares."""

    def __init__(self, emit: Callable[[str, str], None]) -> None:
        self.crossing = Crossing(self, first=2)
        self._emit = emit
        self.named: set[int] = set()
        """Classes that the tests name, by `id`."""
        self._differences: set[int | None] = set()
        self._members: dict[object, str] = {}
        self._constants: dict[object, int] = {}
        self.caught: list[BaseException] = []
        """Failures of the current test that the code swallowed, and uses that do not count: a test that expects a
        TypeError must not take them for the code's."""

    def forward(self, target: object, name: str, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Any:
        """Apply an operator as the object's class defines it."""
        return super().special(target, name, args, kwargs)

    def is_named(self, kind: type) -> bool:
        """Return True if the tests name `kind` or a base of it."""
        return any(id(base) in self.named for base in kind.__mro__)

    def is_local(self, target: Any, name: str) -> bool:
        """Return True if method `name` of a subclass of plain data is the base's own, not the code's override."""
        if self.is_named(target):
            return False
        value, like = _plain_base(target), getattr(target, "_greenloop_like", None)
        return hasattr(value, name) if value else like is not None and name in _READING_METHODS

    def special(self, target: Any, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Apply an operator to an object of the code's, unless it is decided here."""
        kind = type(target)
        other = bool(args) and self._is_remote(args[0])
        if (base := _plain_base(kind)) is not None and name not in _TEXTS:
            return self._of_subclass(target, base, name, args, other)
        if getattr(kind, "_greenloop_like", None) is not None and not other:
            own = self.is_named(kind)
            if (name in _COMPARISONS and not (own and kind._greenloop_compares)) or (name in _READING and not own):
                return self._of_container(target, name, args)
        members = not other and issubclass(kind, Set) and isinstance(args[0] if args else None, (set, frozenset))
        if members and name in _COMPARISONS | _ARITHMETIC and not self.is_named(kind):
            held = set(target)  # such as the keys of a mapping of the code's
            return getattr(held, name, lambda _: NotImplemented)(args[0])
        if name in _COMPARISONS:
            if not other and not (self.is_named(kind) and type(args[0]).__module__ in _PLAIN_MODULES):
                if name not in ("__eq__", "__ne__"):
                    return self._ordered(target, name, args)
                if type(args[0]) not in (tuple, list):
                    return NotImplemented
                if not kind._greenloop_compares or not self._holds(target, args[0]):
                    return NotImplemented
            found = self.forward(target, name, args, kwargs)
            if name == "__eq__" and found is True and self._is_anything(target, name, (NO_MEMBER,)):
                raise self._uncounted(f"a {kind.__name__} says that it equals anything")
            self._note(f"how objects of {kind.__name__} compare")
            return found
        if name in _ARITHMETIC:
            return self._calculated(target, name, args, other)
        if name in _UNARY:
            self._refuse_difference(target, name)
        elif name == "__str__" and isinstance(target, BaseException):
            self._note(f"the message of {kind.__name__}")
        elif name == "__bool__":
            return self._truth(target, kind.__name__)
        elif name == "__contains__":
            return self._contains(target, args[0])
        return self.forward(target, name, args, kwargs)

    def get(self, target: object, name: str) -> Any:
        """Get an attribute of an object of the code; a comparing method is wrapped, so that its calls are seen."""
        if name in _COMPARING_METHODS and self._is_remote(target) and not self.is_named(type(target)):
            return BoundMethod(self, target, name)
        self._tell_of(target)
        if not self.is_named(type(target)):
            self._refuse_difference(target, name)
        result = super().get(target, name)
        if isinstance(target, (type, types.ModuleType)):
            self._tell_of_member(target, name, result)
        kinds = result if type(result) is tuple else (result,)
        known = getattr(result, "__name__", "a tuple") if all(isinstance(each, type) for each in kinds) else name
        if known != name and issubclass(NameError, kinds):  # it takes in what is an error of the code itself
            self._emit("note", f"{name} of the code is {known}: any error is one")
        return result

    def method(self, target: object, name: str, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Any:
        """Call a method. Raises TypeError if an unnamed class's compares with data of numpy or pandas."""
        kind = type(target)
        if isinstance(target, datetime.tzinfo):
            self._note(f"how late it is by a {kind.__name__}")
        if self._is_remote(target) and not self.is_named(kind):
            if name in _COMPARING_METHODS and any(map(_is_of_package, (*args, *kwargs.values()))):
                raise self._uncounted(f"{name} of an object of the code's, a {kind.__name__}, does not count")
            self._tell_of(target)
            self._refuse_difference(target, name)
            if name in _AGREEING_METHODS:
                self._note(f"what {name} of a {kind.__name__} answers")
        result: Any = super().method(target, name, args, kwargs)
        if name == "derive" and isinstance(target, EXCEPTION_GROUP):
            given: Any = args[0]
            if [*result.exceptions] != [*given]:
                self._note(f"what a {kind.__name__} makes of a part of it")
        return result

    def _refuse_difference(self, target: object, name: str) -> None:
        """Raise TypeError for a use of what an object of the code's made of itself and what is expected of it."""
        if self._is_difference(target):
            raise self._uncounted(
                f"{name} of a difference that {type(target).__name__} makes itself does not count"
            )

    def _uncounted(self, text: str) -> TypeError:
        self.caught.append(TypeError(text))
        return TypeError(text)

    def _tell_of_member(self, target: type | types.ModuleType, name: str, member: object) -> None:
        """Note a member under two names, or two objects under one, whose class compares by identity."""
        number = self.crossing.remote_number(member)
        by_identity = name.isupper() and not getattr(type(member), "_greenloop_compares", False)
        if number and by_identity and self._constants.setdefault((id(target), name), number) != number:
            self._emit("note", f"{target.__name__}.{name} is not always one object")
        if type(member) is not target and not (name.isupper() and type(member) in (int, float, str)):
            return
        first = self._members.setdefault((target, type(member), number or member), name)
        if first != name:
            how = "one object" if number else f"both {member!r:.50}"
            self._emit("note", f"{target.__name__}.{first} and {target.__name__}.{name} are {how}")

    def _tell_of(self, target: object) -> None:
        """Note that a test uses an object of the code that looks like an array or a frame."""
        kind = type(target)
        package = str(kind.__module__).partition(".")[0]
        if package in _PACKAGES and self._is_remote(target):
            self._note(f"what a {kind.__name__} of {package} holds")

    def on_class(self, target: Any, name: str, *args: Any) -> Any:
        """Return the result of an operator on a class of the code."""
        if name == "bool":
            return self._truth(target, target.__name__) if target._greenloop_truth else True
        if name == "contains" and not self.is_named(target):
            return any(item is args[0] or item == args[0] for item in itertools.islice(target, _MOST_ITEMS))
        if name == "isinstance":
            if _is_of_package(args[0]):
                return False
            found = bool(self.operate(name, args[0], target))
            if found:
                self._note(f"what is an instance of {target.__name__}")
            return found
        return self.operate(name, target, *args)

    def _is_difference(self, value: object) -> bool:
        return self.crossing.remote_number(value) in self._differences

    def _is_remote(self, value: object) -> bool:
        return self.crossing.remote_number(value) is not None

    def _note(self, what: str) -> None:
        self._emit("note", f"{what} is said by the code itself")

    def _of_subclass(self, proxy: Any, base: type, name: str, args: tuple[Any, ...], other: bool) -> Any:
        """Apply an operator to the plain value of an instance of a subclass of `int`, `str`, `tuple`, ... If the
        tests name the class, its own operators count on another object of the code, on a tuple, and if they return
        an object of the same plain value."""
        kind = type(proxy)
        if name == "__bool__" and not self.is_named(kind):
            return bool(getattr(base, "__bool__", getattr(base, "__len__", lambda _: True))(proxy))
        if not hasattr(base, name):
            if name not in _ARITHMETIC:
                return self.forward(proxy, name, args, {})
            return self._calculated(proxy, name, args, other) if self.is_named(kind) else NotImplemented
        here = getattr(base, name)(proxy, *args)
        if not self.is_named(kind):
            return here
        if name in _COMPARISONS and not other:
            return here
        there = self.forward(proxy, name, args, {})
        if other or issubclass(base, (tuple, frozenset)):
            self._note(f"what {kind.__name__} makes of its operators")
            return there
        same = _plain_base(type(there)) is base and base.__eq__(there, here) is True
        return there if same or here is NotImplemented else here

    def _of_container(self, proxy: Any, name: str, args: tuple[Any, ...]) -> Any:
        """Apply an operator to the contents of an instance of a subclass of `list`, `dict`, ..."""
        held = self.operate(type(proxy)._greenloop_like, proxy)
        if name == "__bool__":
            return bool(held)
        return getattr(type(held), name, lambda *_: NotImplemented)(held, *args)

    def _ordered(self, proxy: Any, name: str, args: tuple[Any, ...]) -> Any:
        """Raise TypeError if an object of an unnamed class has an order with plain data."""
        if type(args[0]).__module__ in _PLAIN_MODULES and type(self.forward(proxy, name, args, {})) is bool:
            raise self._uncounted(f"{name} of {type(proxy).__name__} with plain data does not count")
        return NotImplemented

    def _calculated(self, proxy: Any, name: str, args: tuple[Any, ...], other: bool) -> Any:
        """Do arithmetic with plain data, or with an `other` object of the code. A difference from a plain number
        is refused, also indirectly: the code's operator sees that number, and could return 0."""
        kind = type(proxy)
        result = self.forward(proxy, name, args, {})
        measures = name in _COMPARING and (isinstance(args[0], (*_QUANTITIES, *_TIMES)) or _is_of_package(args[0]))
        compares = (measures and not other) or any(map(self._is_difference, (proxy, *args)))
        parts = result if type(result) is tuple else (result,)  # `divmod` gives two
        if compares and any(_is_measure(part, args[0]) for part in parts):
            raise self._uncounted(f"{name} of {kind.__name__} makes a plain number of one, which does not count")
        if self._is_remote(result):
            if name in _COMPARING and not other:
                self._note(f"what {kind.__name__} makes of its operators")
            if compares:
                self._differences.add(self.crossing.remote_number(result))
            return result
        if other or result is NotImplemented:
            return result
        if not self.is_named(kind):
            raise self._uncounted(
                f"{name} of {kind.__name__} makes plain data of plain data, which does not count"
            )
        self._note(f"what {kind.__name__} makes of its operators")
        return result

    def _holds(self, proxy: Any, items: Any) -> bool:
        """Return True if an object has just `items`, before its own operator sees the expected value."""
        if issubclass(type(proxy), Iterable):
            members = list(itertools.islice(iter(proxy), len(items) + 1))
        else:
            held = getattr(proxy, "__dict__", None)
            slots = getattr(type(proxy), "__slots__", ()) if held is None else ()
            members = list(held.values()) if type(held) is dict else [getattr(proxy, name) for name in slots]
        return len(members) == len(items) and all(map(operator.eq, members, items))

    def _truth(self, target: Any, name: str) -> bool:
        first, again = (bool(self.operate("bool", target)) for _ in range(2))
        if first != again:
            raise self._uncounted(f"whether a {name} is true changes from one time it is asked to the next")
        self._note(f"whether a {name} is true")
        return first

    def _contains(self, proxy: Any, item: object) -> bool:
        kind = type(proxy)
        if not self.is_named(kind) and issubclass(kind, Iterable):
            members = iter(proxy)
            for member in itertools.islice(members, _MOST_ITEMS):
                if member is item or member == item:
                    return True
            if next(members, NO_MEMBER) is NO_MEMBER:
                return False
        found = bool(self.forward(proxy, "__contains__", (item,), {}))
        if found and self._is_anything(proxy, "__contains__", NO_MEMBER):
            raise self._uncounted(f"a {kind.__name__} says that it contains anything")
        self._note(f"what a {kind.__name__} contains")
        return found

    def _is_anything(self, proxy: Any, name: str, nothing: object) -> bool:
        """Return True if an operator says yes to what no honest object contains or equals."""
        try:
            return self.forward(proxy, name, (nothing,), {}) is True
        except Exception:
            return False


def _is_of_package(value: object) -> bool:
    return package_kind(type(value)) is not None


def _is_measure(value: object, of: object) -> bool:
    """Return True for plain data that tells how far an object is from `of`; a duration tells it of a moment."""
    kinds = (*_QUANTITIES, datetime.timedelta) if isinstance(of, _TIMES) else _QUANTITIES
    return isinstance(value, kinds) or _plain_base(type(value)) is not None or _is_of_package(value)


def _plain_base(kind: type) -> Any:
    return getattr(kind, "_greenloop_value", None)
