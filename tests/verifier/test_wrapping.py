"""In one process with the code: only what the tests call themselves counts as asked, however the code runs it."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import types
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from agents.verifier.inside.test_process.wrapping import CallAnswers

CODE = """
import asyncio
from contextlib import aclosing
def inner(x):
    return x + 1
def plain(x):
    return inner(x)
def deep(x):
    return x and 1 + deep(x - 1)
async def waiting(x):
    await asyncio.sleep(0)
    return inner(x)
async def gathering(x):
    return await asyncio.gather(waiting(x), asyncio.create_task(waiting(x)))
def steps(x):
    got = yield inner(x)
    try:
        yield got
    except KeyError:
        yield inner(x)
    return inner(x)
async def stream(x):
    got = yield inner(x)
    try:
        yield got
    except KeyError:
        await asyncio.sleep(0)
        yield inner(x)
class Fixed(type):
    def __setattr__(self, name, value):
        raise AttributeError(name)
class Named(metaclass=Fixed):
    @property
    def __name__(self):
        return "named"
    def value(self):
        return 1
class Held:
    @property
    def __class__(self):
        return int
    async def value(self, x):
        return await waiting(x)
"""


@pytest.fixture
def code() -> Iterator[tuple[types.ModuleType, Callable[[], list[str]]]]:
    """The code, and what it was asked so far."""
    module = types.ModuleType("user_code")
    sys.modules["user_code"] = module
    exec(compile(CODE, "user_code.py", "exec"), vars(module))
    answers = CallAnswers()
    answers.wrap(module)
    answers.begin("test")
    yield module, lambda: [spot.asked for spot in answers.spots()["test"]]
    del sys.modules["user_code"]


Code = tuple[types.ModuleType, Callable[[], list[str]]]


@pytest.mark.parametrize("name", ["waiting", "gathering"])
def test_what_a_coroutine_calls_is_not_asked_by_the_test(name: str, code: Code) -> None:
    module, asked = code
    asyncio.run(getattr(module, name)(1))
    assert asked() == [f"{name}(1)"]


def test_two_coroutines_of_the_tests_are_both_asked() -> None:
    async def both(module: types.ModuleType) -> list[int]:
        return list(await asyncio.gather(module.waiting(1), module.waiting(2)))

    module = types.ModuleType("user_code")
    exec(compile(CODE, "user_code.py", "exec"), vars(module))
    answers = CallAnswers()
    answers.wrap(module)
    answers.begin("test")
    assert asyncio.run(both(module)) == [2, 3]
    assert len(answers.spots()["test"]) == 2


def test_the_steps_of_a_generator_are_the_codes_own(code: Code) -> None:
    module, asked = code
    steps = module.steps(1)
    assert (next(steps), steps.send("sent"), steps.throw(KeyError())) == (2, "sent", 2)
    with pytest.raises(StopIteration) as ended:
        next(steps)
    assert ended.value.value == 2
    assert asked() == ["steps(1)"]


def test_the_steps_of_an_asynchronous_generator_are_the_codes_own(code: Code) -> None:
    module, asked = code

    async def use() -> list[object]:
        stream: AsyncIterator[object] = module.stream(1)
        found = [await anext(stream), await stream.asend("sent"), await stream.athrow(KeyError())]  # type: ignore[attr-defined]
        return [*found, *[each async for each in stream]]

    assert asyncio.run(use()) == [2, "sent", 2]
    assert asked() == ["stream(1)"]


def test_a_class_that_lets_nothing_be_set_stays_as_it_is(code: Code) -> None:
    module, _ = code
    assert (module.Named().value(), module.Named().__name__) == (1, "named")
    assert isinstance(module.Held(), int)


def test_what_the_test_calls_between_the_steps_is_asked(code: Code) -> None:
    module, asked = code
    for _ in module.steps(1):
        module.plain(3)
        break
    assert asked() == ["steps(1)", "plain(3)"]


def test_code_may_recurse_as_deep_as_without(code: Code) -> None:
    module, asked = code
    limit = sys.getrecursionlimit()
    for depth in (limit - 200, limit + 50):
        with contextlib.nullcontext() if depth < limit else pytest.raises(RecursionError):
            assert module.deep(depth) == depth
    assert asked() == [f"deep({limit - 200})", f"deep({limit + 50})"]
