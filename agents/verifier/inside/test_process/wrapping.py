"""Wraps the functions of code that shares the test process, so that answers are recorded, and changed in a pass.

Attributes that the tests read directly are not seen."""

from __future__ import annotations

import copy
import enum
import functools
import hashlib
import inspect
import itertools
import re
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..proxy.describe import words
from ..proxy.shared import KINDS
from .changes import ASIDE, TYPE, VALUE, Change, of_items, of_value
from .exchanges import COLLECTION, EVERY, Spot
from .passes import Order

_UNSEEN = words(
    """__new__ __repr__ __str__ __format__ __hash__ __del__ __getattribute__ __setattr__ __class_getitem__ __eq__
    __ne__ __lt__ __le__ __gt__ __ge__ __contains__ __bool__ __sub__ __rsub__ __abs__ __mod__"""
)
"""Methods not wrapped: texts, and operators by which an object may agree with anything."""
_CHANGING = re.compile(r"0x[0-9a-f]+|id='\d+'|pytest-\d+")
"""Addresses, and the folders of tmp_path: another in each process."""
_MOST_TEXT = 300
_MOST_CALLS = 5000
_LEFT_OUT = 0
"""The first change of every answer: the function is not called, and None is the answer."""
_OF_CACHES = ("cache_info", "cache_clear", "cache_parameters")
_DEEPEST = 6


class Changed(RuntimeError):
    """Raised in place of an answer."""


class CallAnswers:
    """Answers of the functions of one module. Calls between them are its own affair."""

    def __init__(self) -> None:
        self.shared = False
        self.followed = "before"
        self._spots: dict[str, list[Spot]] = {}
        self._current: list[Spot] | None = None
        self._keys: Mapping[str, frozenset[str]] = {}
        self._expected: frozenset[str] | None = None
        self._order: Order | None = None
        self._wanted = ("", 0)
        self._inside = threading.local()

    @property
    def asked(self) -> bool:
        """Return True if the code was called in this segment."""
        return bool(self._current)

    def fail(self) -> None:
        """The test has failed: nothing more depends on what it calls."""

    def begin(self, name: str | None) -> None:
        """A segment begins."""
        self._current = None if name is None else self._spots.setdefault(name, [])
        if self._order is not None and name is not None:
            together = COLLECTION in self._order
            self._wanted = self._order.get(COLLECTION if together else name, ("", 0))
            self._expected = None if together else self._keys.get(name)
            if not together or self.followed != "delivered":
                self.followed = "before"

    def digest(self) -> str | None:
        """Nothing identifies the answers: the code may do more than answer."""
        return None

    def given(self) -> Any:
        """The calls of each segment, as marshal takes them."""
        return [(name, [spot.group[:16] for spot in found]) for name, found in self._spots.items()]

    def take(self, given: Any) -> None:
        """Read what `given` returned."""
        self._keys = {name: frozenset(keys) for name, keys in given}

    def change(self, order: Order) -> None:
        """Change answers from now on."""
        self._order = order

    def spots(self) -> Mapping[str, Sequence[Spot]]:
        """The calls, by segment."""
        return self._spots

    def wrap(self, module: types.ModuleType) -> None:
        """Wrap the functions of `module`, and those in its classes."""
        made: dict[int, Any] = {}
        for name, value in list(vars(module).items()):
            if getattr(value, "__module__", None) != module.__name__:
                continue
            if isinstance(value, type):
                self._wrap_class(value, made)
            elif isinstance(value, types.FunctionType) or (callable(value) and hasattr(value, "cache_info")):
                setattr(module, name, self._once(value, made))

    def _wrap_class(self, owner: type, made: dict[int, Any]) -> None:
        if issubclass(owner, enum.Enum):
            return
        for name, value in list(vars(owner).items()):
            if name in _UNSEEN:
                continue
            wrapped: Any = None
            if isinstance(value, types.FunctionType):
                wrapped = self._once(value, made)
            elif isinstance(value, (staticmethod, classmethod)) and isinstance(value.__func__, types.FunctionType):
                wrapped = type(value)(self._once(value.__func__, made))
            elif type(value) is property and isinstance(value.fget, types.FunctionType):
                wrapped = property(self._once(value.fget, made), value.fset, value.fdel, value.__doc__)
            if wrapped is not None:
                setattr(owner, name, wrapped)

    def _once(self, function: Any, made: dict[int, Any]) -> Any:
        if id(function) not in made:
            made[id(function)] = self._wrapped(function)
        return made[id(function)]

    def _wrapped(self, function: Any) -> Any:
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def waited(*args: Any, **kwargs: Any) -> Any:
                if self._idle:
                    return await function(*args, **kwargs)
                call = _Call(function, args, kwargs)
                if self._is_left_out(call):
                    return None
                try:
                    result = await function(*args, **kwargs)
                except Exception as error:
                    return self._raised(call, error)
                return self._answer(call, result)

            return waited

        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            if self._idle:
                return function(*args, **kwargs)
            self._inside.busy = True
            try:
                call = _Call(function, args, kwargs)
                if self._is_left_out(call):
                    return None
                try:
                    result = function(*args, **kwargs)
                except Exception as error:
                    return self._raised(call, error)
                return self._answer(call, result)
            finally:
                self._inside.busy = False

        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def produced(*args: Any, **kwargs: Any) -> Any:
                return (yield from called(*args, **kwargs))

            return produced
        for name in _OF_CACHES:
            if hasattr(function, name):
                setattr(called, name, getattr(function, name))
        return called

    @property
    def _idle(self) -> bool:
        return self._current is None or getattr(self._inside, "busy", False) or len(self._current) > _MOST_CALLS

    def _is_left_out(self, call: _Call) -> bool:
        if self._order is None:
            return False
        if self.followed == "before" and self._expected is not None and call.key not in self._expected:
            self.followed = "left"
        group, number = self._wanted
        if number != _LEFT_OUT or group == EVERY or not group.startswith(call.key) or self.followed == "left":
            return False
        self.followed = "delivered"
        return True

    def _answer(self, call: _Call, result: Any) -> Any:
        target, variants = result, list(_variants(result, not call.is_init))
        if call.is_init:
            target = call.args[0]
            variants = list(_of_attributes(target))
        for given in call.args:
            if isinstance(given, (list, dict, set, bytearray)):
                variants.append(
                    ("it with its argument changed", ASIDE, functools.partial(_altered, given, result))
                )
        changes = [Change("not doing anything", b"", VALUE if result is None and not call.is_init else TYPE)]
        changes += [Change(f"returning {text}", b"", rank) for text, rank, _ in variants]
        changes.append(Change("raising an exception", b"", TYPE))
        number = self._found(call, f"returned {_text(target)}", changes)
        if number is None:
            return result
        if number > len(variants):
            raise Changed("another answer")
        other = variants[number - 1][2]()
        if call.is_init:
            for name, value in vars(other).items():
                object.__setattr__(target, name, value)
            return None
        return other

    def _raised(self, call: _Call, error: Exception) -> Any:
        if isinstance(error, (StopIteration, StopAsyncIteration)):
            raise error
        changes = [Change("returning None", b""), Change("raising another exception", b"")]
        if self._found(call, f"raised {type(error).__name__}", changes) is None:
            raise error
        raise Changed("another answer")

    def _found(self, call: _Call, said: str, changes: list[Change]) -> int | None:
        """Record an answer; the number of the change that it is to have."""
        group = call.key + hashlib.blake2b(said.encode("utf-8", "replace"), digest_size=8).hexdigest()
        if self._order is None:
            if self._current is not None:
                spot = Spot(len(self._current), group, call.text, tuple(changes), True, self.shared)
                self._current.append(spot)
            return None
        wanted, number = self._wanted
        if wanted == EVERY and len(changes) > 2 and changes[1].rank == VALUE:
            wanted, number = group, 1
        if wanted != group or self.followed == "left":
            return None
        self.followed = "delivered"
        return number


class _Call:
    """A call, and what identifies it."""

    def __init__(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        given = [_text(value) for value in args] + [f"{name}={_text(value)}" for name, value in kwargs.items()]
        self.args = args
        self.is_init = function.__name__ == "__init__"
        self.text = f"{function.__qualname__}({', '.join(given[self.is_init :])})"[:_MOST_TEXT]
        key = self.text if self.is_init else f"{function.__qualname__}({given})"
        self.key = hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _text(value: object) -> str:
    try:
        return _CHANGING.sub("", repr(value))[:_MOST_TEXT]
    except Exception:
        return f"a {type(value).__name__}"


_Variant = tuple[str, int, Callable[[], Any]]
"""Its text, its rank, and what makes it."""


def _variants(value: Any, told: bool, depth: int = 0) -> Iterator[_Variant]:
    others: list[Any] = []
    kind = type(value)
    if value is None:
        others = [1] if told else []
    elif kind in KINDS or kind in (tuple, frozenset):
        others = list(_of_container(value, depth))
    elif isinstance(value, Iterator):
        yield "nothing more", VALUE, lambda: iter(())
        yield "one item fewer", VALUE, lambda: itertools.islice(value, 1, None)
    elif kind.__module__ == "user_code" or isinstance(value, enum.Enum):
        yield from _of_attributes(value)
    else:
        others = of_value(value)
    for other in others:
        yield _text(other), ASIDE if value is None and not depth else VALUE, functools.partial(_same, other)
    if value is not None and depth == 0:
        own = bool(others) or isinstance(value, Iterator) or kind.__module__ == "user_code" or callable(value)
        yield "None", TYPE if own or isinstance(value, enum.Enum) else VALUE, lambda: None


def _of_container(value: Any, depth: int) -> Iterator[Any]:
    def first(item: Any) -> list[Any]:
        return [made() for _, _, made in itertools.islice(_variants(item, True, depth + 1), 1)]

    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        flat = [part for pair in value.items() for part in pair]
        for items in of_items(flat, first, 2):
            other = copy.copy(value)
            other.clear()
            dict.update(other, zip(items[::2], items[1::2]))
            yield other
        return
    for items in of_items(list(value), first):
        try:
            other = type(value)(items)
        except (TypeError, ValueError):
            continue
        if not isinstance(value, (set, frozenset)) or other != value:  # items of the tests may record comparisons
            yield other


def _of_attributes(value: Any) -> Iterator[_Variant]:
    """Another object of the code's: one attribute has another value."""
    if isinstance(value, enum.Enum):
        for other in type(value):
            if other is not value:
                yield str(other), VALUE, functools.partial(_same, other)
                return
    if isinstance(value, tuple) and hasattr(value, "_replace"):
        for index, other in enumerate(_of_container(tuple(value), 1)):
            if len(other) == len(value) and index < len(value):
                yield _text(other), VALUE, functools.partial(_same, type(value)(*other))
        return
    declared = [vars(base).get("__slots__", ()) for base in type(value).__mro__]
    slots = [name for names in declared for name in ((names,) if isinstance(names, str) else names)]
    names = [name for name in (*getattr(value, "__dict__", ()), *slots) if hasattr(value, name)]
    for name in names:
        held = getattr(value, name, None)
        for text, _, made in itertools.islice(_variants(held, True, 1), 1):
            yield f"an object whose {name} is {text}", VALUE, functools.partial(_with, value, name, made)


def _with(value: Any, name: str, made: Callable[[], Any]) -> Any:
    other = copy.copy(value)
    object.__setattr__(other, name, made())
    return other


def _altered(given: Any, result: Any) -> Any:
    """`result`, with a change of an argument that may hold nothing."""
    if isinstance(given, dict):
        given.popitem() if given else given.update({1: 1})
    elif given:
        given.pop()
    elif isinstance(given, set):
        given.add(1)
    else:
        given.append(1)
    return result


def _same(value: Any) -> Any:
    return value


def load(answers: CallAnswers) -> None:
    """Import the code and wrap it; where that fails, the tests' own import fails, too."""
    try:
        import user_code  # type: ignore[import-not-found]
    except BaseException:
        sys.modules.pop("user_code", None)
    else:
        answers.wrap(user_code)
