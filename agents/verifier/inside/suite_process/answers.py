"""Replaces one return value or exception of a project's function, as a file of tests gets it."""

from __future__ import annotations

import copy
import inspect
import itertools
import os
import re
import sys
import types
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ..test_process.other_answers import Other, altered, attributes_of, of_attributes, others_of, silence
from .close_answers import Attribute, close_states, close_to

SILENT = -1
"""An alternative's number: the same answer, without output, warnings and log messages."""
RAISING, RETYPED = -2, -3
"""An exception, or a bare object, as the answer."""
ALTERING = -4
"""The same answer, with each list, dict and set among the arguments changed."""
MADE = "making an object whose"
LEFT = "leaving an object whose"
OTHER_ERROR = "raising another exception"
"""Prefixes or suffixes of an answer's text: another state of a new object, of a known one; an exception."""
ALTERED = "an object whose attributes are all others"
_OF_FIXED_TYPE = (
    *("__new__", "__init__", "__iter__", "__aiter__", "__len__", "__bool__", "__hash__", "__str__", "__repr__"),
    *("__bytes__", "__format__", "__index__", "__int__", "__float__"),
)
"""Methods whose return type Python itself checks."""
_LEFT_ALONE = ("__class_getitem__", "__init_subclass__", "__set_name__", "__del__")
"""Methods that fail with any other value, whatever the test asserts."""
MOST_KEPT = 100
"""The number of last answering functions whose names are reported."""
_MOST_FRAMES = 60
_PLAIN = (bool, int, float, str, type(None))
_DATA = (*_PLAIN, bytes, tuple, list, dict, set, frozenset)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class Answers:
    """Counts answers to the project's tests; `wanted` is the number of one, and of its alternative."""

    def __init__(self, place: str, test_files: Sequence[str], wanted: Sequence[int] | None) -> None:
        self._below = place + os.sep
        self._tests = frozenset(self._below + path for path in test_files)
        self._wanted = wanted
        self._busy = False
        self._changed = ("", "")
        self.begin()

    def begin(self) -> None:
        """Start counting for a test."""
        self._names: list[str] = []
        self._questions: list[str] = []
        self._given = ""

    def end(self) -> dict[str, Any]:
        """Return the last answering functions, digests of the first arguments, and the alternative's text."""
        return {
            "crossings": self._names[-MOST_KEPT:],
            "questions": self._questions,
            "crossed": len(self._names),
            "given": self._given,
        }

    def install(self, functions: Mapping[str, Sequence[types.FunctionType]], wanted: Sequence[str]) -> None:
        """Patch those of `functions` (path::line) that are `wanted`."""
        for name in wanted:
            for function in functions.get(name, ()):
                if function.__name__ not in _LEFT_ALONE and function.__code__.co_filename not in self._tests:
                    code = function.__code__
                    original = types.FunctionType(
                        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
                    )
                    original.__kwdefaults__ = function.__kwdefaults__
                    original.__qualname__ = function.__qualname__
                    function.__code__ = _through(self._answer, original, code)

    def _answer(self, original: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._busy or not self._crosses(sys._getframe(2)):
            sys.setrecursionlimit(sys.getrecursionlimit() + 2)  # the frames of this and of what called it
            try:
                return original(*args, **kwargs)
            finally:
                sys.setrecursionlimit(sys.getrecursionlimit() - 2)
        self._names.append(original.__qualname__)
        if self._wanted is None and len(self._questions) < MOST_KEPT:
            self._questions.append(self._digest(args, kwargs))
        if self._wanted is None or self._wanted[0] > len(self._names) - 1:
            return original(*args, **kwargs)
        asked = (original.__qualname__, self._digest(args, kwargs) + self._digest(_states(args), {}))
        if self._wanted[0] == len(self._names) - 1:
            self._changed = asked
        is_fixed = self._wanted[1] == RETYPED and original.__name__ in _OF_FIXED_TYPE
        if is_fixed or asked != self._changed:  # who asks the same again gets the same other answer
            return original(*args, **kwargs)
        if self._wanted[1] == SILENT:
            self._given = f"{self._names[-1]} saying nothing"
            with silence():
                return original(*args, **kwargs)
        if self._wanted[1] == RAISING:
            self._given = f"{self._names[-1]} raising an exception"
            _raise(RuntimeError())
        if self._wanted[1] == RETYPED:
            self._given = f"{self._names[-1]} returning an object of another type"
            original(*args, **kwargs)
            return object()
        if self._wanted[1] == ALTERING:
            given = [each for each in (*args, *kwargs.values()) if type(each) in (list, dict, set, bytearray)]
            self._given = f"{self._names[-1]} changing its arguments" if given else ""
            value = original(*args, **kwargs)
            for each in given:
                altered(each, None)
            return value
        try:
            value = original(*args, **kwargs)
        except (StopIteration, StopAsyncIteration):
            raise
        except Exception as error:
            found, other = self._chosen(_of_error(error))
            if not found:
                raise
            return other()
        if inspect.iscoroutine(value):
            return self._awaited(original, value)
        others = itertools.chain(self._of_value(original, args, value), self._of_state(original, args, value))
        found, other = self._chosen(others)
        result = other() if found else value
        return None if found and original.__name__ == "__init__" else result

    def _digest(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """Return a digest that equal arguments of two runs share, as far as their texts tell."""
        self._busy = True
        text = repr([*map(_text, args), *((name, _text(each)) for name, each in sorted(kwargs.items()))])
        self._busy = False
        return f"{zlib.crc32(_ADDRESS.sub('', text).encode('utf-8', 'replace')):08x}"

    async def _awaited(self, original: types.FunctionType, value: Any) -> Any:
        result = await value
        found, other = self._chosen(self._of_value(original, (), result))
        return other() if found else result

    def _chosen(self, others: Iterator[Other]) -> tuple[bool, Callable[[], Any]]:
        """Return the other answer that is wanted, if there are as many."""
        assert self._wanted is not None
        self._busy = True
        try:
            text, made = next(itertools.islice(others, self._wanted[1], None))
        except Exception:  # of the project's own classes, or because there is no such answer
            return False, object
        finally:
            self._busy = False
        self._given = self._given or f"{self._names[-1]} {text}"
        return True, made

    def _crosses(self, frame: types.FrameType | None) -> bool:
        """Return True if the nearest frame of the project's files is one of its tests'."""
        for _ in range(_MOST_FRAMES):
            if frame is None:
                return False
            path = frame.f_code.co_filename
            if path in self._tests:
                return True
            if path.startswith(self._below) or path.endswith("contextlib.py"):
                return False
            frame = frame.f_back
        return False

    def _of_value(self, original: types.FunctionType, args: tuple[Any, ...], value: Any) -> Iterator[Other]:
        """Yield alternatives to a returned value. Those of another type may crash tests that ignore them."""
        if original.__name__ == "__init__" and args:
            yield from ((f"making {text}", make) for text, make in _of_object(args[0]))
            return
        if original.__name__ == "__new__" and not hasattr(value, "_replace"):  # an error of it is an answer
            return
        found: Iterator[Other]
        rest = others_of(value)
        if self._is_own(type(value)) and not isinstance(value, BaseException):
            rest = (each for each in of_attributes(value) if " whose __" not in each[0])
            same = ("another object", partial(copy.copy, value))
            found = itertools.chain(_altered(value, copy.copy), itertools.islice(rest, 1), [same], rest)
        else:
            first = [*itertools.islice(rest, 1)]
            found = itertools.chain(first, close_to(value), rest, () if first else [("None", lambda: None)])
        yield from ((f"returning {text}", make) for text, make in found)

    def _of_state(self, original: types.FunctionType, args: tuple[Any, ...], value: Any) -> Iterator[Other]:
        """Yield the same answer with another state of the first argument, one public attribute at a time.
        `__str__`, `__len__` and the like do not change their object."""

        def leave(change: Attribute) -> Any:
            _put(args[0], [change])
            return value

        if args and self._is_own(type(args[0])) and original.__name__ not in _OF_FIXED_TYPE:
            for change in _attributes(args[0]):
                if not change[0].startswith("_"):
                    yield f"{LEFT} {change[0]} is {change[1]}", partial(leave, change)

    def _is_own(self, kind: type) -> bool:
        module = sys.modules.get(kind.__module__)
        path = getattr(module, "__file__", None)
        return isinstance(path, str) and path.startswith(self._below)


def _text(value: Any) -> str:
    """Return the text of an object; none where its class fails to tell, as of one that is still being made."""
    try:
        return repr(value)
    except Exception:
        return ""


def _states(values: Sequence[Any]) -> tuple[Any, ...]:
    """Return the plain attributes of those objects whose texts do not tell one from another."""
    inherited: Any = object.__repr__
    held = (getattr(each, "__dict__", {}) for each in values if type(each).__repr__ is inherited)
    return tuple({name: each for name, each in state.items() if type(each) in _PLAIN} for state in held)


def _attributes(value: Any) -> list[Attribute]:
    """Return changeable attributes as name, text and factory; the class's plain data come last."""
    names = attributes_of(value)
    if hasattr(value, "__dict__"):
        held = [each for base in type(value).__mro__ for each in vars(base).items()]
        names += [name for name, each in held if name[:1] != "_" and type(each) in _DATA and name not in names]
    return [(name, *other) for name in names for other in itertools.islice(others_of(getattr(value, name)), 1)]


def _altered(value: Any, like: Callable[[Any], Any]) -> Iterator[Other]:
    """Yield objects `like` one with other attributes: all of them, and all that have values close to theirs."""
    changes = _public(_attributes(value))
    if len(changes) > 1:
        yield ALTERED, lambda: _put(like(value), changes)
    for few in map(_public, close_states(value)):
        yield f"an object whose {_told(few)}", partial(lambda few: _put(like(value), few), few)


def _of_object(made: Any) -> Iterator[Other]:
    """Yield other states of an object that was made: all of its attributes other ones, and each by itself."""
    yield from _altered(made, lambda made: made)
    for change in _attributes(made):
        yield f"an object whose {change[0]} is {change[1]}", partial(_put, made, [change])


def _told(attributes: Sequence[Attribute]) -> str:
    return " and ".join(f"{name} is {text}" for name, text, _ in attributes)


def _public(attributes: list[Attribute]) -> list[Attribute]:
    """Return those that are public, or all where none is."""
    return [each for each in attributes if not each[0].startswith("_")] or attributes


def _put(value: Any, attributes: Sequence[Attribute]) -> Any:
    for name, _, make in attributes:
        object.__setattr__(value, name, make())
    return value


def _of_error(error: Exception) -> Iterator[Other]:
    yield "returning None", lambda: None
    other = LookupError if isinstance(error, RuntimeError) else RuntimeError
    yield OTHER_ERROR, lambda: _raise(other())
    yield "raising that with another text", lambda: _raise(error)


def _raise(error: Exception) -> None:
    error.args = ("another answer",)
    raise error


def _through(answer: Callable[..., Any], original: types.FunctionType, like: types.CodeType) -> types.CodeType:
    """Return code with the free variables of `like` that passes any arguments to `answer` after `original`."""
    names = like.co_freevars  # among which `args` may be, so that nothing else here has such a name
    bound = "".join(f"    {name} = None\n" for name in names if name != "__class__")
    used = f"        ({', '.join(names)},)\n" if names else ""
    body = "        _gl = 'answer'\n        return _gl('original', _gl_args, _gl_kwargs)\n"
    inner = f"    def through(*_gl_args, **_gl_kwargs):\n{used}{body}"
    opened = "    __class__ = None\n" if "__class__" in names else ""
    space: dict[str, Any] = {}
    exec(f"def outer():\n{opened}{bound}{inner}    return through\n", space)  # noqa: S102 - text of this module
    code: types.CodeType = space["outer"]().__code__
    values = {"answer": answer, "original": original}
    constants = tuple(values.get(each, each) if type(each) is str else each for each in code.co_consts)
    return code.replace(co_consts=constants, co_name=like.co_name)
