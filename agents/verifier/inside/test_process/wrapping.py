"""Wraps the functions of code in the test process, to record and change answers. Attributes are not covered."""

from __future__ import annotations

import enum
import hashlib
import inspect
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from functools import partial, wraps
from typing import Any

from ..proxy.describe import words
from .changes import LEFT_OUT, NO_VALUE, Change
from .exchanges import COLLECTION, EVERY, MOST_ARGUMENTS, Spot
from .other_answers import ASIDE, TYPE, VALUE, altered, of_attributes, others_of, silence, text_of
from .passes import Order

_UNSEEN = words(
    """__new__ __repr__ __str__ __format__ __hash__ __del__ __getattribute__ __setattr__ __class_getitem__ __eq__
    __ne__ __lt__ __le__ __gt__ __ge__ __contains__ __bool__ __sub__ __rsub__ __abs__ __mod__"""
)
"""Methods not wrapped: texts, and operators by which an object may compare."""
_MOST_CALLS = 5000
_LEFT_OUT = 0
"""The first change of every answer: the function is not called, and returns None."""
_SILENT = 1
"""The next change of a value: output, log messages and warnings of the function are lost."""
_WITHIN_CODE = ContextVar("within the code", default=False)
"""True while the code runs, and in the tasks that it starts."""
_OF_CACHES = ("cache_info", "cache_clear", "cache_parameters")


@contextmanager
def _within_code() -> Iterator[None]:
    before = _WITHIN_CODE.get()
    _WITHIN_CODE.set(True)
    try:
        yield
    finally:
        _WITHIN_CODE.set(before)


class CallAnswers:
    """Answers of the functions of one module to its tests, not to each other."""

    def __init__(self) -> None:
        self.shared = False
        self.followed = "before"
        self._made: dict[int, Any] = {}
        self._spots: dict[str, list[Spot]] = {}
        self._current: list[Spot] | None = None
        self._order: Order | None = None
        self._wanted = ("", 0)

    def count(self) -> int:
        """Return the number of calls in this segment."""
        return len(self._current or ())

    def fail(self) -> None:
        """No-op: nothing depends on the calls after a failure."""

    def begin(self, name: str | None) -> None:
        """Begin a segment."""
        self._current = None if name is None else self._spots.setdefault(name, [])
        if self._order is not None and name is not None:
            together = COLLECTION in self._order
            self._wanted = self._order.get(COLLECTION if together else name, ("", 0))
            if not together or self.followed != "delivered":
                self.followed = "before"

    def digest(self) -> str | None:
        """Return None: the code may do more than answer, so answers identify nothing."""
        return None

    def given(self) -> None:
        """Return None: a pass calls the code again, and needs no answers."""

    def take(self, given: None) -> None:
        """No-op."""

    def change(self, order: Order) -> None:
        """Change answers from now on."""
        self._order = order

    def spots(self) -> Mapping[str, Sequence[Spot]]:
        """Return the calls, by segment."""
        return self._spots

    def wrap(self, module: types.ModuleType) -> None:
        """Wrap the functions of `module`, and those in its classes."""
        for name, value in list(vars(module).items()):
            if getattr(value, "__module__", None) != module.__name__:
                continue
            if isinstance(value, type):
                self._wrap_class(value)
            elif isinstance(value, types.FunctionType) or (callable(value) and hasattr(value, "cache_info")):
                setattr(module, name, self._once(value))

    def _wrap_class(self, owner: type) -> None:
        if issubclass(owner, enum.Enum):
            return
        for name, value in list(vars(owner).items()):
            if name in _UNSEEN:
                continue
            wrapped: Any = None
            if isinstance(value, types.FunctionType):
                wrapped = self._once(value)
            elif isinstance(value, (staticmethod, classmethod)) and isinstance(value.__func__, types.FunctionType):
                wrapped = type(value)(self._once(value.__func__))
            elif type(value) is property and isinstance(value.fget, types.FunctionType):
                wrapped = property(self._once(value.fget), value.fset, value.fdel, value.__doc__)
            if wrapped is not None:
                with suppress(Exception):  # `__name__` as a property, and what a metaclass lets nobody set
                    setattr(owner, name, wrapped)

    def _once(self, function: Any) -> Any:
        return self._made.setdefault(id(function), self.wrapped(function))

    def wrapped(self, function: Any) -> Any:
        """Return `function` wrapped."""
        if inspect.iscoroutinefunction(function):

            @wraps(function)
            async def waited(*args: Any, **kwargs: Any) -> Any:
                if self._idle:
                    return await function(*args, **kwargs)
                with _within_code():
                    call = _Call(function, args, kwargs)
                    if self._is_left_out(call):
                        return None
                    try:
                        with silence() if self._is_to_have(call, _SILENT) else nullcontext():
                            result = await function(*args, **kwargs)
                    except Exception as error:
                        return self._raised(call, error)
                    return self._answer(call, result)

            return waited

        @wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            if self._idle:
                sys.setrecursionlimit(sys.getrecursionlimit() + 1)  # this frame counts for none of the code's
                try:
                    return function(*args, **kwargs)
                finally:
                    sys.setrecursionlimit(sys.getrecursionlimit() - 1)
            with _within_code():
                call = _Call(function, args, kwargs)
                if self._is_left_out(call):
                    return None
                try:
                    with silence() if self._is_to_have(call, _SILENT) else nullcontext():
                        result = function(*args, **kwargs)
                except Exception as error:
                    return self._raised(call, error)
                return self._answer(call, result)

        if inspect.isgeneratorfunction(function):

            @wraps(function)
            def produced(*args: Any, **kwargs: Any) -> Any:
                steps: Any = iter(called(*args, **kwargs))  # another answer may be no generator
                step: Callable[[], Any] = partial(next, steps)
                while True:
                    try:
                        with _within_code():
                            item = step()
                    except StopIteration as stop:
                        return stop.value
                    try:
                        sent = yield item
                        step = partial(next, steps) if sent is None else partial(steps.send, sent)
                    except BaseException as error:
                        step = partial(steps.throw, error)

            return produced
        if inspect.isasyncgenfunction(function):

            @wraps(function)
            async def streamed(*args: Any, **kwargs: Any) -> Any:
                steps = called(*args, **kwargs)
                step = partial(steps.asend, None)
                while True:
                    try:
                        with _within_code():
                            item = await step()
                    except StopAsyncIteration:
                        return
                    try:
                        step = partial(steps.asend, (yield item))
                    except BaseException as error:
                        step = partial(steps.athrow, error)

            return streamed
        for name in _OF_CACHES:
            if hasattr(function, name):
                setattr(called, name, getattr(function, name))
        return called

    @property
    def _idle(self) -> bool:
        return self._current is None or _WITHIN_CODE.get() or len(self._current) > _MOST_CALLS

    def _is_left_out(self, call: _Call) -> bool:
        left_out = self._is_to_have(call, _LEFT_OUT)
        if left_out:
            self.followed = "delivered"
        return left_out

    def _is_to_have(self, call: _Call, change: int) -> bool:
        group, number = self._wanted
        return number == change and group != EVERY and group.startswith(call.key)

    def _answer(self, call: _Call, result: Any) -> Any:
        target = call.args[0] if call.is_init else result
        others = of_attributes(target) if call.is_init else others_of(result)
        usual = ASIDE if result is None and not call.is_init else VALUE
        variants = [(text, usual, make) for text, make in others]
        if result is not None:
            own = variants or callable(result) or type(result).__module__ == "user_code"
            variants.append(("None", TYPE if own else VALUE, lambda: None))
        for given in call.args:
            if isinstance(given, (list, dict, set, bytearray)):
                variants.append(("it with its argument changed", ASIDE, partial(altered, given, result)))
        variants.insert(0, ("it and saying nothing", ASIDE, lambda: target))
        changes = [Change(LEFT_OUT, b"", ASIDE if result is None and not call.is_init else TYPE)]
        changes += [Change(f"returning {text}", b"", rank) for text, rank, _ in variants]
        changes.append(Change("raising an exception", b"", TYPE))
        number = self._found(call, f"returned {text_of(target)}", changes)
        if number is None:
            return result
        if number > len(variants):
            raise RuntimeError("another answer")
        other = variants[number - 1][2]()
        if call.is_init:
            for name, value in vars(other).items():
                object.__setattr__(target, name, value)
            return None
        return other

    def _raised(self, call: _Call, error: Exception) -> Any:
        if isinstance(error, (StopIteration, StopAsyncIteration)):
            raise error
        changes = [Change(NO_VALUE, b""), Change("raising another exception", b"")]
        if self._found(call, f"raised {type(error).__name__}", changes) is None:
            raise error
        raise RuntimeError("another answer")

    def _found(self, call: _Call, said: str, changes: list[Change]) -> int | None:
        """Record an answer; return the number of the change to make, if any."""
        group = call.key + hashlib.blake2b(said.encode("utf-8", "replace"), digest_size=8).hexdigest()
        if self._order is None:
            if self._current is not None:
                spot = Spot(len(self._current), group, call.text, tuple(changes), True, self.shared)
                self._current.append(spot)
            return None
        wanted, number = self._wanted
        first = _SILENT + 1
        if wanted == EVERY and len(changes) > first + 1 and changes[first].rank == VALUE:
            wanted, number = group, first
        if wanted != group:
            return None
        self.followed = "delivered"
        return number


class _Call:
    """A call and its key."""

    def __init__(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        given = [text_of(value) for value in args] + [f"{name}={text_of(value)}" for name, value in kwargs.items()]
        self.args = args
        self.is_init = function.__name__ == "__init__"
        told = given[self.is_init :]
        self.text = f"{function.__qualname__}({', '.join(told)[:MOST_ARGUMENTS]})"
        key = f"{function.__qualname__}({told})"
        self.key = hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=8).hexdigest()


def load(answers: CallAnswers) -> None:
    """Import the code and wrap it; if that fails, the tests' own import fails, too."""
    try:
        import user_code  # type: ignore[import-not-found]
    except BaseException:
        sys.modules.pop("user_code", None)
    else:
        answers.wrap(user_code)
