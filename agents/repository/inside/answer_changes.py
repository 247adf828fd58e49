"""Changes one answer of the project's code: what a function returns or raises to a file of tests."""

from __future__ import annotations

import importlib
import inspect
import itertools
import os
import sys
import types

from .function_changes import Functions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

other_answers: Any = importlib.import_module(f"{__package__}.test_process.other_answers")
"""The verifier's, which lie beside this in the sandbox."""
VALUE, ASIDE, TYPE = other_answers.VALUE, other_answers.ASIDE, other_answers.TYPE
_LEFT_ALONE = ("__new__", "__hash__", "__class_getitem__", "__init_subclass__", "__set_name__", "__del__")
"""Methods that fail by any other value, whatever the test asserts."""
_MOST_OTHERS = 5
_MOST_KEPT = 400
_MOST_FRAMES = 60


class Answers:
    """Counts the answers that cross from the project to its tests; with `wanted`, the number of an answer and that
    of another one, the test is given that."""

    def __init__(self, place: str, test_files: Sequence[str], wanted: Sequence[int] | None) -> None:
        self._below = place + os.sep
        self._tests = frozenset(self._below + path for path in test_files)
        self._wanted = wanted
        self._count = 0
        self._found: list[tuple[int, str, list[tuple[str, int]]]] = []
        self._busy = False

    def begin(self) -> None:
        """Start counting for a test."""
        self._count = 0
        self._found = []

    def end(self) -> list[tuple[int, str, list[tuple[str, int]]]]:
        """Return the answers of the test: number, name of the function, texts and ranks of the others."""
        return self._found

    def install(self, functions: Functions, wanted: Sequence[str]) -> None:
        """Have the functions that are `wanted`, as path::line, answer by way of this."""
        for name in wanted:
            for function in functions.at.get(name, ()):
                if function.__name__ not in _LEFT_ALONE and function.__code__.co_filename not in self._tests:
                    code = function.__code__
                    original = types.FunctionType(
                        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
                    )
                    original.__kwdefaults__ = function.__kwdefaults__
                    function.__code__ = _through(self._answer, original, code)

    def _answer(self, original: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._busy or not self._crosses(sys._getframe(2)):
            return original(*args, **kwargs)
        number, self._count = self._count, self._count + 1
        changed = self._wanted is not None and self._wanted[0] == number
        if self._wanted is not None and not changed:
            return original(*args, **kwargs)
        others: list[tuple[str, int, Callable[[], Any]]] = []
        try:
            value = original(*args, **kwargs)
        except (StopIteration, StopAsyncIteration):
            raise
        except Exception as error:
            others = list(_of_error(error))
            if not changed:
                self._keep(number, original, others)
                raise
            return self._other(others)
        if inspect.iscoroutine(value):
            return self._awaited(number, original, value, changed)
        self._busy = True
        try:
            others = list(self._of_value(original, args, value))
        except Exception:
            others = []
        finally:
            self._busy = False
        if not changed:
            self._keep(number, original, others)
            return value
        return self._other(others)

    async def _awaited(self, number: int, original: types.FunctionType, value: Any, changed: bool) -> Any:
        result = await value
        others = list(self._of_value(original, (), result))
        if changed:
            return self._other(others)
        self._keep(number, original, others)
        return result

    def _keep(self, number: int, original: types.FunctionType, others: list[tuple[str, int, Any]]) -> None:
        if len(self._found) < _MOST_KEPT:
            told = [(text, rank) for text, rank, _ in others]
            self._found.append((number, getattr(original, "__qualname__", original.__name__), told))

    def _other(self, others: list[tuple[str, int, Callable[[], Any]]]) -> Any:
        assert self._wanted is not None
        return others[self._wanted[1]][2]()

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

    def _of_value(
        self, original: types.FunctionType, args: tuple[Any, ...], value: Any
    ) -> Iterator[tuple[str, int, Callable[[], Any]]]:
        """Yield other answers in place of a returned value: texts, ranks, and what makes each."""
        if original.__name__ == "__init__":
            if args:
                yield from itertools.islice(self._of_object(args[0]), _MOST_OTHERS)
            return
        own = self._is_own(type(value)) and not isinstance(value, BaseException)
        made = other_answers.of_attributes(value) if own else other_answers.others_of(value)
        rank = ASIDE if value is None else VALUE
        others = list(itertools.islice(made, _MOST_OTHERS))
        yield from ((f"returning {text}", rank, make) for text, make in others)
        if value is not None:
            yield "returning None", TYPE if others or own else VALUE, lambda: None
        yield "raising an exception", TYPE, lambda: _raise(RuntimeError)

    def _of_object(self, made: Any) -> Iterator[tuple[str, int, Callable[[], Any]]]:
        """Yield other states of an object that was made: of each attribute another value."""
        for name in getattr(made, "__dict__", ()):
            for text, make in itertools.islice(other_answers.others_of(getattr(made, name)), 1):

                def put(name: str = name, make: Callable[[], Any] = make) -> None:
                    object.__setattr__(made, name, make())

                yield f"making an object whose {name} is {text}", VALUE, put

    def _is_own(self, kind: type) -> bool:
        module = sys.modules.get(kind.__module__)
        path = getattr(module, "__file__", None)
        return isinstance(path, str) and path.startswith(self._below)


def _of_error(error: Exception) -> Iterator[tuple[str, int, Callable[[], Any]]]:
    yield "returning None", VALUE, lambda: None
    other = LookupError if isinstance(error, RuntimeError) else RuntimeError
    yield "raising another exception", VALUE, lambda: _raise(other)


def _raise(kind: type[Exception]) -> None:
    raise kind("another answer")


def _through(answer: Callable[..., Any], original: types.FunctionType, like: types.CodeType) -> types.CodeType:
    """The code of a function that takes anything and calls `answer` with `original`; it has free variables as
    `like` does."""
    names = like.co_freevars
    bound = "".join(f"    {name} = None\n" for name in names if name != "__class__")
    used = f"        ({', '.join(names)},)\n" if names else ""
    body = "        answer = 'answer'\n        return answer('original', args, kwargs)\n"
    inner = f"    def through(*args, **kwargs):\n{used}{body}"
    opened = "    __class__ = None\n" if "__class__" in names else ""
    space: dict[str, Any] = {}
    exec(f"def outer():\n{opened}{bound}{inner}    return through\n", space)  # noqa: S102 - text of this module
    code: types.CodeType = space["outer"]().__code__
    values = {"answer": answer, "original": original}
    constants = tuple(values.get(each, each) if type(each) is str else each for each in code.co_consts)
    return code.replace(co_consts=constants, co_name=like.co_name)
