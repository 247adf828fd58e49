"""CallCase: a failing call of one function, repeated in the sandbox on patched source, with its tests."""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import FunctionType
from typing import Any

from ..errors import Interrupted
from ..records.heal import Answer, Call, Item, Observation, RaisedError, Symptom
from ..repository.inside.calls import NotPlain
from ..sandbox import Sandbox, SandboxLimits
from ..storage.json_form import checked, cleaned
from ..syntax.clean_text import clean
from ..syntax.definitions import first_line
from ..syntax.encoding import decoded, encoded
from ..syntax.source import parse
from ..verifier.inside.proxy.crossing import PlainCrossing
from ..verifier.inside.proxy.plain import Malformed, Tree, Unshareable
from .call_process import Callee, CallProcess, CallStopped, CapturedCall, capture, home_of_method
from .case import Case
from .expectations import refusal
from .tests_case import TestsCase
from .voices import summary_of

Test = Callable[[Callable[..., Any]], object]
Verify = Callable[[Any], object]
_MOST_DETAIL = 500
_MOST_CALLS = 8
_LIMITS = SandboxLimits()


@dataclass(frozen=True)
class CallCase(Case):
    """A call of `function` of `project` (bytes by path), with its expectations; without `call`, its tests alone.

    `tests` get a function whose calls run in the sandbox, `verify` gets the value. Both run in this process, since
    they are the user's, and see nothing but plain data of the code. `pytest` are tests in files, which run in the
    sandbox. `raised` is the class of the exception that the call raised here (None: it returned), to compare with
    that in the sandbox. `line` is that of the module's statement under way: the sandbox gets the module up to it.
    """

    sandbox: Sandbox
    callee: Callee
    project: Mapping[str, bytes]
    call: CapturedCall | None
    function: FunctionType
    tests: Sequence[Test] = ()
    pytest: TestsCase | None = None
    verify: Verify | None = None
    raised: type[BaseException] | None = None
    line: int | None = None
    limits: SandboxLimits = _LIMITS
    cancelled: Callable[[], bool] = lambda: False
    _called: dict[str, list[CapturedCall]] = field(default_factory=dict, init=False, compare=False)
    """Calls that each test has made, by its name."""

    @cached_property
    def files(self) -> Mapping[str, str]:
        """The text of the module."""
        return {self.callee.path: decoded(self.project[self.callee.path])}

    @property
    def beside(self) -> Mapping[str, bytes]:
        """The files of the project."""
        return self.project

    @property
    def entry_line(self) -> int:
        """The first line of the function."""
        return self.function.__code__.co_firstlineno

    @property
    def trusted(self) -> bool:
        """True if tests or `verify` decide."""
        return bool(self.tests or self.pytest) or self.verify is not None

    def made_by(self, items: Sequence[Item], changed: Mapping[str, str]) -> tuple[Sequence[Call], Sequence[Call]]:
        """Return the calls that tests have made, and those of a run of tests in files."""
        of_tests = [each for item in items for each in self._called.get(item.name, ())]
        calls, left_out = self._sources(of_tests if items else [self.call])
        in_files = [item for item in items if "::" in item.name]
        if self.pytest is None or not in_files:
            return calls, left_out
        (path,) = self.pytest.files
        found = self.pytest.made_by(in_files, dict.fromkeys([path], *changed.values()))
        return (*calls, *self._in_module(found[0])), (*left_out, *self._in_module(found[1]))

    def _sources(self, calls: Sequence[CapturedCall | None]) -> tuple[list[Call], list[Call]]:
        """Return calls as source, and why others can't be written."""
        path, name = self.callee.path, self.callee.qualname
        made: dict[Call, None] = {}
        left_out: dict[Call, None] = {}
        for each in filter(None, calls):
            try:
                made[Call(path, name, each.source(name))] = None
            except (NotPlain, Malformed) as reason:
                left_out[Call(path, name, str(reason))] = None
        return list(made), list(left_out)

    def _in_module(self, calls: Sequence[Call]) -> tuple[Call, ...]:
        """Return the calls of the function, with the path of its module here."""
        own = (each for each in calls if each.function == self.callee.qualname)
        return tuple(replace(each, path=self.callee.path) for each in own)

    def answers(self, changed: Mapping[str, str], calls: Sequence[Call]) -> list[Answer | None]:
        """Return the answers to calls made in forks of one process. Raises SandboxBroken and Interrupted."""
        with suppress(CallStopped), self._process(changed) as process:
            return process.answers(calls)
        return [None] * len(calls)

    @property
    def task(self) -> str:
        """The function that is called, and what is expected."""
        expected = " Its tests have to pass." if self.tests or self.pytest else ""
        expected += " Its value has to be accepted by `verify`." if self.verify is not None else ""
        return f"`{self.callee.qualname}` of {self.callee.path} is called and has to return.{expected}"

    def observe(self, changed: Mapping[str, str], *, seed: int = 0) -> Observation:
        """Make the call once, in a cold process, and run the tests. Raises SandboxBroken and Interrupted."""
        with self._process(changed) as process:
            try:
                seen = self._observed(process)
                if not changed:
                    of_tests = [each for calls in self._called.values() for each in calls]
                    calls, _ = self._sources([self.call, *of_tests[:_MOST_CALLS]])
                    seen = replace(self._compared_with_here(seen), calls=tuple(calls))
            except CallStopped as stopped:
                return Observation(Symptom("limit", clean(str(stopped))))
        if self.pytest is None or (changed and not seen.healed):
            return seen
        return self._with_files_of_tests(self.pytest, seen, changed, seed)

    def _with_files_of_tests(
        self, pytest: TestsCase, seen: Observation, changed: Mapping[str, str], seed: int
    ) -> Observation:
        """Return `seen` with the results of tests in files, in whose project the module has another path."""
        (path,) = pytest.files
        own = self.callee.path
        tests = pytest.observe({path: changed[own]} if changed else {}, seed=seed)
        symptom = seen.symptom
        if tests.symptom is not None:
            frames = (replace(frame, path=own) for frame in tests.symptom.frames if frame.path == path)
            symptom = symptom or replace(tests.symptom, frames=tuple(frames), items=())
            symptom = replace(symptom, items=(*symptom.items, *tests.symptom.items))
        reached = {name.rpartition("::"): value for name, value in tests.reached.items()}
        return replace(
            seen,
            symptom=symptom,
            broken=(*seen.broken, *tests.broken),
            environment=seen.environment or tests.environment,
            behavior=seen.behavior + tests.behavior,
            calls=(*seen.calls, *self._in_module(tests.calls)),
            reached={f"{own}::{line}": value for (file, _, line), value in reached.items() if file == path},
        )

    def _compared_with_here(self, seen: Observation) -> Observation:
        """Return `seen` of the unchanged source, with an `environment` fault if the call ended another way."""
        found = seen.symptom
        if self.call is None:
            return seen
        inside = "" if found is None or found.kind == "tests" else found.summary.partition(":")[0]
        here = "" if self.raised is None else self.raised.__qualname__
        if inside == here or (here and inside.endswith(f".{here}")):
            return seen
        how = f"fails otherwise in the sandbox ({found.summary})" if found and inside else ""
        how = how or "does not fail in the sandbox"
        return replace(seen, environment=f"the call {how}, which has no network and no files of yours")

    def value(self, changed: Mapping[str, str]) -> Any:
        """Return the value of the call with `changed` files, and put the caller's arguments into the state after
        it. Raises CallStopped where it does not return plain data, and SandboxBroken."""
        assert self.call is not None
        with self._process(changed) as process:
            how, what = process.call(self.call)
        if how != "return":
            raise CallStopped("the call did not return a second time")
        with _reading("value"):
            return self.call.value(what)

    def _process(self, changed: Mapping[str, str]) -> CallProcess:
        path = self.callee.path
        new = {name: encoded(text, self.project.get(name, b"")) for name, text in changed.items()}
        if self.line is not None:
            before = _module_up_to(self.files[path], self.line, changed.get(path, self.files[path]))
            new[path] = encoded(before, self.project[path])
        return CallProcess(self.sandbox, self.callee, {**self.project, **new}, self.limits, self.cancelled)

    def _observed(self, process: CallProcess) -> Observation:
        items: list[Item] = []
        symptom: Symptom | None = None
        behavior = ""
        if self.call is not None:
            how, what = process.call(self.call)
            if how == "raise":
                _, errors = _read_error(what)
                what = f"{errors[0].kind}: {errors[0].message}"
                frames = tuple(frame for each in errors for frame in each.frames)
                symptom = Symptom("exception", what, errors[0].text, frames)
            elif how == "unshareable":
                symptom = Symptom("output", f"the value can't be taken over: {clean(str(what))}")
            elif self.verify is not None and (detail := self._refused(what)) is not None:
                items.append(Item("verify", detail))
            behavior = json.dumps([how, what])
        for test in self.tests:
            name = getattr(test, "__name__", "test")
            detail = self._failure(test, process, self._called.setdefault(name, []))
            behavior += f"\n{name}: {detail}"
            if detail is not None:
                items.append(Item(name, detail, _source(test)))
        if items:
            symptom = replace(symptom or Symptom("tests", summary_of(items)), items=tuple(items))
        return Observation(symptom, behavior=behavior)

    def _refused(self, body: Tree) -> str | None:
        """Return why `verify` refuses the value; None if it accepts it."""
        assert self.verify is not None
        assert self.call is not None
        with _reading("value"):
            value = self.call.preview(body)
        error = refusal(self.verify, value)
        return None if error is None else _error_text(error)

    def _failure(self, test: Test, process: CallProcess, calls: list[CapturedCall]) -> str | None:
        """Run `test` and add its calls to `calls`. Return how it failed; None if it passed."""
        try:
            result = test(self._remote_function(process, calls))
            if inspect.isawaitable(result):
                asyncio.run(_awaited(result))
        except (CallStopped, Interrupted, KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # pytest's are no Exceptions
            return _error_text(error)
        return None

    def _remote_function(self, process: CallProcess, calls: list[CapturedCall]) -> Callable[..., Any]:
        """Return a function that calls the one in the sandbox, and adds each call to `calls`."""

        def called(*args: Any, **kwargs: Any) -> Any:
            packed = capture(home_of_method(self.function), args, kwargs)
            calls.append(packed)
            how, what = process.call(packed)
            if how == "unshareable":
                raise Unshareable(str(what))
            if how == "raise":
                raise self._exception(what)
            with _reading("value"):
                return packed.value(what)

        async def called_async(*args: Any, **kwargs: Any) -> Any:
            return called(*args, **kwargs)

        found = called_async if inspect.iscoroutinefunction(self.function) else called
        found.__name__ = found.__qualname__ = self.callee.qualname.rpartition(".")[2]
        return found

    def _exception(self, told: Any) -> BaseException:
        """Return the exception that a call in the sandbox raised, of its own class if that is built in or of the
        module."""
        name, (raised, *_) = _read_error(told)
        if told.get("error") is not None:
            with _reading("exception"):
                error = PlainCrossing(2).unpack(told["error"])[0]
            if isinstance(error, Exception):
                return error
        kind = self.function.__globals__.get(name)
        if not (isinstance(kind, type) and issubclass(kind, Exception)):
            return RuntimeError(f"{name}: {raised.message}")
        return BaseException.__new__(kind, raised.message)


@contextmanager
def _reading(what: str) -> Iterator[None]:
    try:
        yield
    except (Malformed, RecursionError) as error:
        raise CallStopped(f"the {what} can't be read: {error}") from error


async def _awaited(result: Any) -> Any:
    return await result


def _read_error(told: Any) -> tuple[str, tuple[RaisedError, ...]]:
    """Return the class name of what a call raised, and the errors of its chain, itself first."""
    try:
        first, *others = checked(list[RaisedError], cleaned(told["errors"]))
        return checked(str, told["name"]), (first, *others)
    except (ValueError, LookupError, TypeError) as error:
        raise CallStopped("what the code's process wrote is no exception") from error


def _error_text(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:_MOST_DETAIL]


def _source(test: Test) -> str:
    with suppress(OSError, TypeError):
        return inspect.getsource(test)
    return ""


def _module_up_to(old: str, line: int, new: str) -> str:
    """Return `new` up to its top-level statement that is at `line` in `old`; all of it where there is none."""
    running = [ast.dump(node) for node in parse(old).body if first_line(node) <= line <= (node.end_lineno or 0)]
    first = next((first_line(node) for node in parse(new).body if ast.dump(node) in running), None)
    return new if first is None else "".join(new.splitlines(keepends=True)[: first - 1])
