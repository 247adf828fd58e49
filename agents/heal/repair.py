"""The decorator `repair`: a call that fails is done again in the sandbox, on a patch that tests have accepted."""

from __future__ import annotations

import contextvars
import functools
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import FrameType, FunctionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from ..errors import UsageError
from ..verifier.awaiting import in_thread
from ..verifier.inside.proxy.plain import Unshareable
from .captured_call import CapturedCall, capture, is_method
from .repair_options import SWITCH, Proposer, RepairEvent, RepairOptions, RepairResult, Runs

if TYPE_CHECKING:
    from .repairs import Repairs, Stop

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")
Captured = CapturedCall | str | None
"""A call, why it can't be done again, or None where its arguments are as they were when it has failed."""
_SCALARS = frozenset([type(None), bool, int, float, complex, str, bytes])
_under_way: contextvars.ContextVar[frozenset[int]] = contextvars.ContextVar("under_way", default=frozenset())
"""Decorated functions that are being called: of a recursion only the outermost call is healed."""


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
    tests: Sequence[Callable[[Callable[..., Any]], object] | str | Path] | None = None,
    prompt_extra: str | None = None,
    cache: str | Path | None = None,
    on_event: Callable[[RepairEvent], object] | None = None,
    runs: Runs = "sandbox",
    max_seconds: float = 60,
    max_heals: int = 10,
    exceptions: tuple[type[Exception], ...] = (Exception,),
) -> Callable[[F], F]: ...


def repair(function: Any = None, /, **arguments: Any) -> Any:
    """Decorate a function whose failing calls are healed; `f.last_repair` says what became of the last one.

    A call fails that raises one of `exceptions`, or whose value `verify` refuses (it raises, or returns something
    false). A model (`model`, else GREENLOOP_MODEL, else one on this machine; or `proposer`, an object with
    `propose(system, user) -> str`) is asked for at most `max_attempts` patches; `prompt_extra` is added to each
    prompt. A patch counts as verified only if `tests` (functions of the function, or paths of pytest files) or
    `verify` accept it, and a failing test that no prompt had passes too, or three different patches answer other
    calls alike. `runs` says what is done with it:

    - `sandbox`: the call is done again on it, in a sandbox, and its value returned;
    - `propose`: it is kept in `last_repair`, and the call fails as it did;
    - `record`: no model is asked;
    - `process`: the function is replaced, too, if GREENLOOP_HEAL_IN_PROCESS=1;
    - `off`: nothing is done.

    The environment's GREENLOOP_HEAL lowers that. A call that is not healed raises its own exception
    (`on_failure="raise"`), returns None (`"return_none"`), or what `on_failure` returns for it.

    A heal takes `max_seconds` at the most, and at most `max_heals` are begun within an hour. Verified patches are
    remembered, and kept in the directory `cache` for later processes. `on_event` receives `RepairEvent`s.
    Raises UsageError for arguments that make no sense.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    if "cache" in given:
        given["cache"] = Path(given["cache"])
    given["tests"] = tuple(each if callable(each) else Path(each).absolute() for each in given.get("tests", ()))
    options = RepairOptions(**given)
    decorate = partial(repaired, options)
    return decorate if function is None else decorate(function)


def repaired(options: RepairOptions, function: Any, **parts: Any) -> Any:
    """`function`, decorated; `parts` stand in for the search of patches and the sandbox."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(repaired(options, function.__func__, **parts))
    if not callable(function) or isinstance(function, type):
        raise UsageError("@repair decorates functions; write it above a `def`.")
    if inspect.isasyncgenfunction(function):
        function.last_repair = RepairResult(False, "recorded only: it is a generator")
        return function
    calls = _Calls(function, options, parts)
    made: Any
    if inspect.iscoroutinefunction(function):
        made = calls.awaited()
    elif inspect.isgeneratorfunction(function):
        made = calls.iterated()
    else:
        made = calls.called()
    made.last_repair = None
    calls.made = made
    return made


class _Calls:
    """What a decorated function does when it is called."""

    made: Any

    def __init__(self, function: Callable[..., Any], options: RepairOptions, parts: dict[str, Any]) -> None:
        self._function = function
        self._options = options
        self._parts = parts
        self._of_class = isinstance(function, FunctionType) and is_method(function)

    def called(self) -> Callable[..., Any]:
        """The function for a `def`."""
        function, exceptions, of_class = self._function, self._options.exceptions, self._of_class
        verify, tests, name = self._options.verify, self._options.tests, id(self)

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if os.environ.get(SWITCH) == "off" or name in _under_way.get():
                return function(*args, **kwargs)
            call = None if _cannot_change(args, kwargs) else _captured(of_class, args, kwargs)
            token = _under_way.set(_under_way.get() | {name})
            try:
                value = function(*args, **kwargs)
            except exceptions as error:
                settled, value = self._heal(call, args, kwargs, error)
                if not settled:
                    raise
                return value
            finally:
                _under_way.reset(token)
            if verify is not None and (refused := _refused(verify, value)) is not None:
                settled, value = self._heal(call, args, kwargs, refused, returned=True)
                if not settled:
                    raise refused
            elif tests and self._tests_fail():
                settled, healed = self._heal(call, args, kwargs, None, returned=True)
                return healed if settled else value
            return value

        return wrapper

    def awaited(self) -> Callable[..., Any]:
        """The function for an `async def`."""
        function, exceptions, of_class = self._function, self._options.exceptions, self._of_class
        verify, tests, name = self._options.verify, self._options.tests, id(self)

        @functools.wraps(function)
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            if os.environ.get(SWITCH) == "off" or name in _under_way.get():
                return await function(*args, **kwargs)
            call = None if _cannot_change(args, kwargs) else _captured(of_class, args, kwargs)
            token = _under_way.set(_under_way.get() | {name})
            try:
                value = await function(*args, **kwargs)
            except exceptions as error:
                settled, value = await self._heal_async(call, args, kwargs, error)
                if not settled:
                    raise
                return value
            finally:
                _under_way.reset(token)
            if verify is not None and (refused := _refused(verify, value)) is not None:
                settled, value = await self._heal_async(call, args, kwargs, refused, returned=True)
                if not settled:
                    raise refused
            elif tests and await self._tests_fail_async():
                settled, healed = await self._heal_async(call, args, kwargs, None, returned=True)
                return healed if settled else value
            return value

        return wrapper

    def iterated(self) -> Callable[..., Any]:
        """The function for a generator: its failures are recorded."""
        function, exceptions = self._function, self._options.exceptions

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            try:
                return (yield from function(*args, **kwargs))
            except exceptions as error:
                settled, value = self._heal("", (), {}, error)
                if not settled:
                    raise
                return value

        return wrapper

    @functools.cached_property
    def _repairs(self) -> Repairs:
        from .repair_search import find_patch
        from .repairs import SHARED_SANDBOX, Repairs

        function: Any = self._function
        parts: dict[str, Any] = {"search": find_patch, "sandbox": SHARED_SANDBOX, **self._parts}
        return Repairs(function, self._options, **parts)

    def _heal(
        self, call: Captured, args: Any, kwargs: Any, error: Exception | None, returned: bool = False
    ) -> tuple[bool, Any]:
        """Whether a failing call has a value all the same, and the value."""
        stop, work = self._work(call, args, kwargs, error, returned)
        return self._settled(_done_in_thread(work, stop), error)

    async def _heal_async(
        self, call: Captured, args: Any, kwargs: Any, error: Exception | None, returned: bool = False
    ) -> tuple[bool, Any]:
        stop, work = self._work(call, args, kwargs, error, returned)
        return self._settled(await in_thread(work, stop.set), error)

    def _tests_fail(self) -> bool:
        """Whether the function's tests fail; they are run with the first call that works."""
        if self._repairs.tests_fail is None:
            stop = self._stop()
            _done_in_thread(partial(self._repairs.run_tests, stop), stop)
        return self._repairs.tests_fail is True

    async def _tests_fail_async(self) -> bool:
        if self._repairs.tests_fail is None:
            stop = self._stop()
            await in_thread(partial(self._repairs.run_tests, stop), stop.set)
        return self._repairs.tests_fail is True

    def _stop(self) -> Stop:
        from .repairs import Stop

        return Stop(self._options.max_seconds)

    def _work(
        self, call: Captured, args: Any, kwargs: Any, error: Exception | None, returned: bool
    ) -> tuple[Stop, Callable[[], RepairResult | None]]:
        from .repairs import Failure

        stop = self._stop()
        captured = call or _captured(self._of_class, args, kwargs)
        failure = Failure(captured, error, returned, _running_line(self._function))
        token = _under_way.set(_under_way.get() | {id(self)})  # tests that call it again heal nothing
        context = contextvars.copy_context()
        _under_way.reset(token)
        return stop, partial(context.run, self._repairs.heal, failure, stop)

    def _settled(self, result: RepairResult | None, error: Exception | None) -> tuple[bool, Any]:
        if result is None:
            return False, None
        self.made.last_repair = result
        if result.succeeded or error is None:
            return result.succeeded, result.final_value
        for note in (f"greenloop did not heal this call: {result.why}.", *result.notes):
            error.add_note(note)
        if callable(self._options.on_failure):
            return True, self._options.on_failure(error)
        return self._options.on_failure == "return_none", None


def _done_in_thread(work: Callable[[], T], stop: Stop) -> T:
    """What `work` returns, in a thread of its own: tests may start event loops."""
    executor = ThreadPoolExecutor(1, thread_name_prefix="greenloop")
    future = executor.submit(work)
    executor.shutdown(wait=False)
    try:
        return future.result()
    except BaseException:
        stop.set()
        raise


def _cannot_change(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return True for arguments that the call can't change, which are packed only if it fails."""
    return _SCALARS.issuperset(map(type, args)) and _SCALARS.issuperset(map(type, kwargs.values()))


def _captured(of_class: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CapturedCall | str:
    """The call, or why it can't be done again."""
    try:
        return capture(of_class, args, kwargs)
    except (Unshareable, RecursionError) as reason:
        return str(reason)


def _refused(verify: Callable[[Any], object], value: Any) -> Exception | None:
    """What `verify` raises for a value, or a ValueError where it returns something false."""
    try:
        if verify(value):
            return None
    except Exception as error:
        return error
    return ValueError("`verify` refused the value")


def _running_line(function: Callable[..., Any]) -> int | None:
    """The line of the statement at the top of the function's module that is running in this thread, if one is."""
    path = function.__code__.co_filename if isinstance(function, FunctionType) else None
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename == path:
            return frame.f_lineno
        frame = frame.f_back
    return None
