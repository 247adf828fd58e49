"""The decorator `repair`: repeats a failing call in the sandbox, on a patch that tests have accepted."""

from __future__ import annotations

import contextvars
import functools
import inspect
import os
import sys
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import FrameType, FunctionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from ..errors import UsageError
from ..healing.call_process import CapturedCall, capture, home_of_method
from ..healing.expectations import refusal
from ..verifier.awaiting import in_thread
from ..verifier.inside.proxy.plain import Unshareable
from .options import SWITCH, Proposer, RepairEvent, RepairOptions, RepairResult, Runs, Stop

if TYPE_CHECKING:
    from .repairs import Repairs, SharedSandbox

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
Packing = Callable[[], CapturedCall | str]
"""Returns a captured call, or why it can't be repeated."""
Test = Callable[[Callable[..., Any]], object] | str | Path
"""A function that is given the decorated one, or the path of a pytest file."""
Do = Callable[[Callable[[], Any], Callable[[], object]], Coroutine[Any, Any, Any]]
"""Runs its first argument in a thread; calls the second if cancelled."""
_SCALARS = frozenset([type(None), bool, int, float, complex, str, bytes])
_under_way: contextvars.ContextVar[frozenset[int]] = contextvars.ContextVar("under_way", default=frozenset())
"""Ids of decorated functions under way, so that only the outermost call of a recursion is healed."""


@overload
def repair(function: F, /) -> F: ...


@overload
def repair(
    *,
    max_attempts: int = 5,
    model: str | None = None,
    proposer: Proposer | None = None,
    on_failure: Literal["raise", "return_none"] | Callable[[BaseException], Any] = "raise",
    verify: Callable[[Any], object] | None = None,
    tests: Test | Sequence[Test] | None = None,
    prompt_extra: str | None = None,
    cache: str | Path | None = None,
    on_event: Callable[[RepairEvent], object] | None = None,
    runs: Runs = "sandbox",
    max_seconds: float = 60,
    max_heals: int = 10,
    exceptions: type[Exception] | tuple[type[Exception], ...] = (Exception,),
) -> Callable[[F], F]: ...


def repair(function: Any = None, /, **arguments: Any) -> Any:
    """Decorate a function to heal its failing calls; `f.last_repair` is the result of the last one.

    A call fails if it raises one of `exceptions`, or if `verify` refuses its value (raises, or returns a false
    value). At most `max_attempts` patches are requested from a model (`model`, else GREENLOOP_MODEL, else a local
    one; or `proposer`, an object with `propose(system, user) -> str`); `prompt_extra` is added to each prompt. A
    patch is verified only if `tests` (functions that are given the decorated one, or paths of pytest files) or
    `verify` accept it, and a failing test that no prompt had passes too, or three different patches answer other
    calls alike. `runs` says how it is used:

    - `sandbox`: the call is repeated with it in a sandbox, and that value returned;
    - `propose`: it is stored in `last_repair`, and the call fails as before;
    - `record`: no model is asked;
    - `process`: as `sandbox`, and the function is replaced if GREENLOOP_HEAL_IN_PROCESS=1;
    - `off`: nothing is done.

    GREENLOOP_HEAL in the environment can restrict that. A call that is not healed raises its own exception
    (`on_failure="raise"`), returns None (`"return_none"`), or what `on_failure` returns for the exception.

    A heal takes at most `max_seconds`; at most `max_heals` begin within an hour. Verified patches are cached, in
    the directory `cache` also for later processes. `on_event` receives `RepairEvent`s. Raises UsageError for
    invalid arguments.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    for name, read in (("cache", _path), ("exceptions", _each)):
        if name in given:
            given[name] = read(given[name])
    tests = _each(given.pop("tests", ()))
    given["tests"] = tuple(filter(callable, tests))
    given["test_files"] = tuple(_path(each) for each in tests if not callable(each))
    options = RepairOptions(**given)
    decorate = partial(repaired, options)
    return decorate if function is None else decorate(function)


def _each(given: Any) -> tuple[Any, ...]:
    """Return the items of a collection; anything else as one item."""
    single = callable(given) or isinstance(given, str) or not isinstance(given, Iterable)
    return (given,) if single else tuple(given)


def _path(given: Any) -> Any:
    """Return a path or text as an absolute path; anything else as it is."""
    return Path(given).absolute() if isinstance(given, (str, os.PathLike)) else given


def repaired(options: RepairOptions, function: Any, sandbox: SharedSandbox | None = None) -> Any:
    """Return `function` decorated; its calls are repeated in `sandbox` (None: that of this process)."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(repaired(options, function.__func__, sandbox))
    if not callable(function) or isinstance(function, type):
        raise UsageError("@repair decorates functions; write it above a `def`.")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        function.last_repair = RepairResult(False, "it is a generator: values are handed out before it fails")
        return function
    calls = _Calls(function, options, sandbox)
    made = calls.awaited() if inspect.iscoroutinefunction(function) else calls.called()
    made.last_repair = None  # type: ignore[attr-defined]
    calls.made = made
    return made


class _Calls:
    """Calls of a decorated function."""

    made: Any

    def __init__(self, function: Any, options: RepairOptions, sandbox: SharedSandbox | None) -> None:
        self._function = function
        self._options = options
        self._sandbox = sandbox
        home = home_of_method(function) if isinstance(function, FunctionType) else None
        checks = options.verify is not None or bool(options.tests or options.test_files)
        self._used = (function, options.exceptions, home, id(self), checks)

    def called(self) -> Callable[..., Any]:
        """Return the wrapper of a `def`."""
        function, exceptions, home, name, checks = self._used

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if os.environ.get(SWITCH) == "off" or name in _under_way.get():
                return function(*args, **kwargs)
            call = _packing(home, args, kwargs)
            token = _under_way.set(_under_way.get() | {name})
            try:
                value = function(*args, **kwargs)
            except exceptions as error:
                settled, value = _completed(self._heal(_in_thread_here, call, error))
                if not settled:
                    raise
                return value
            finally:
                _under_way.reset(token)
            return _completed(self._checked(_in_thread_here, call, value)) if checks else value

        return wrapper

    def awaited(self) -> Callable[..., Any]:
        """Return the wrapper of an `async def`."""
        function, exceptions, home, name, checks = self._used

        @functools.wraps(function)
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            if os.environ.get(SWITCH) == "off" or name in _under_way.get():
                return await function(*args, **kwargs)
            call = _packing(home, args, kwargs)
            token = _under_way.set(_under_way.get() | {name})
            try:
                value = await function(*args, **kwargs)
            except exceptions as error:
                settled, value = await self._heal(in_thread, call, error)
                if not settled:
                    raise
                return value
            finally:
                _under_way.reset(token)
            return await self._checked(in_thread, call, value) if checks else value

        return wrapper

    @functools.cached_property
    def _repairs(self) -> Repairs:
        from .repairs import SHARED_SANDBOX, Repairs

        return Repairs(self._function, self._options, self._sandbox or SHARED_SANDBOX)

    async def _checked(self, do: Do, call: Packing, value: Any) -> Any:
        """Return the value of a call, healed if `verify` or the tests refuse it. The tests run after the first
        call that returns. Raises the error of `verify`."""
        if (verify := self._options.verify) is not None and (refused := refusal(verify, value)) is not None:
            settled, value = await self._heal(do, call, refused, returned=True)
            if not settled:
                raise refused
            return value
        if self._options.tests or self._options.test_files:
            if self._repairs.tests_fail is None:
                stop = Stop(self._options.max_seconds)
                await do(partial(self._repairs.run_tests, stop), stop.cancel)
            if self._repairs.tests_fail:
                settled, healed = await self._heal(do, call, None, returned=True)
                return healed if settled else value
        return value

    async def _heal(
        self, do: Do, call: Packing, error: Exception | None, returned: bool = False
    ) -> tuple[bool, Any]:
        """Heal a failing call. Return True with the value to return in its place, else False."""
        from .repairs import Failure

        stop = Stop(self._options.max_seconds)
        packed = call() if returned or not _is_signature_error(error) else "its arguments do not fit the function"
        failure = Failure(packed, error, returned, _running_line(self._function))
        token = _under_way.set(_under_way.get() | {id(self)})  # calls by the tests are not healed
        context = contextvars.copy_context()
        _under_way.reset(token)
        result = await do(partial(context.run, self._repairs.heal, failure, stop), stop.cancel)
        if result is None:
            return False, None
        self.made.last_repair = result
        if result.succeeded or error is None:
            return result.succeeded, result.final_value
        for note in (f"greenloop did not heal this call: {result.why.rstrip('.')}.", *result.notes):
            error.add_note(note)
        if callable(self._options.on_failure):
            return True, self._options.on_failure(error)
        return self._options.on_failure == "return_none", None


async def _in_thread_here(work: Callable[[], Any], cancel: Callable[[], object]) -> Any:
    """Run `work` as `in_thread` does, but block: a thread is needed since tests may start event loops."""
    executor = ThreadPoolExecutor(1, thread_name_prefix="greenloop")
    future = executor.submit(work)
    executor.shutdown(wait=False)
    try:
        return future.result()
    except BaseException:
        cancel()
        raise


def _completed(steps: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that awaits nothing but `_in_thread_here`."""
    try:
        steps.send(None)
    except StopIteration as ended:
        result: T = ended.value
        return result
    raise AssertionError("it waits for an event loop")


def _packing(home: str | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Packing:
    """Return a function that packs a call; arguments that the call could change are packed at once."""

    def packing() -> CapturedCall | str:
        try:
            return capture(home, args, kwargs)
        except Unshareable as reason:
            return str(reason)
        except Exception as error:  # of the user's objects, which the function itself may never ask
            return f"its arguments can't be read ({type(error).__name__})"

    if _SCALARS.issuperset(map(type, args)) and _SCALARS.issuperset(map(type, kwargs.values())):
        return packing
    packed = packing()
    return lambda: packed


def _is_signature_error(error: Exception | None) -> bool:
    """Return True for the TypeError of arguments that don't fit the signature."""
    return isinstance(error, TypeError) and error.__traceback__ is not None and error.__traceback__.tb_next is None


def _running_line(function: Callable[..., Any]) -> int | None:
    """Return the line of the function's module that is being executed in this thread; None after its import."""
    path = function.__code__.co_filename if isinstance(function, FunctionType) else None
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename == path:
            return frame.f_lineno
        frame = frame.f_back
    return None
