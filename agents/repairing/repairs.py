"""Heals failing calls of one function: one heal at a time for each failure, with a cache of verified patches.

A cached patch is untrusted: it is proposed and verified like a model's.
"""

from __future__ import annotations

import ast
import atexit
import hashlib
import json
import os
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, repeat
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

from ..errors import BudgetSpent, GreenloopError, Interrupted, SandboxBroken, UsageError
from ..files import contained, read_regular
from ..healing.call_process import CallStopped, CapturedCall, NotRepeatable, located, project_files, unhealable
from ..healing.calls import CallCase
from ..healing.request import call_tests
from ..healing.voices import voices
from ..records.heal import HealResult
from ..sandbox import Sandbox, SandboxLimits, open_sandbox
from ..storage.atomic import PRIVATE, write_atomically
from ..syntax.encoding import decoded
from ..syntax.source import compiled, parse, program, unparse
from ..syntax.units import named
from .options import RepairEvent, RepairOptions, RepairResult, Runs, Stop
from .search import find_patch

_HOUR = 3600.0
"""Seconds."""
_EXPECTED = (GreenloopError, NotRepeatable, CallStopped, OSError, ValueError, SyntaxError)
"""Errors that prevent a heal: no sandbox, no source, no model."""
Files = Mapping[str, str]
_FENCE = "`" * 40
_MOST_KEPT = 3


class SharedSandbox:
    """The sandbox of all heals of this process: opened by the first, closed at exit; a fork opens its own."""

    def __init__(self, opened: Callable[[], Sandbox] = open_sandbox) -> None:
        self._open = opened
        self._lock = threading.Lock()
        self._opened: dict[int, Sandbox] = {}
        """By the process that has opened it."""

    def get(self) -> Sandbox:
        """Return the open sandbox. Raises SandboxUnavailable."""
        with self._lock:
            if os.getpid() not in self._opened:
                self._opened[os.getpid()] = self._open()
            return self._opened[os.getpid()]

    def close(self) -> None:
        """Close the sandbox if this process has opened it."""
        with self._lock:
            sandbox = self._opened.pop(os.getpid(), None)
        if sandbox is not None:
            sandbox.close()


SHARED_SANDBOX = SharedSandbox()
atexit.register(SHARED_SANDBOX.close)


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that failed, or why it can't be repeated. `error` is what it raised, or if it `returned`, why its
    value was refused (None: the function's tests fail). `line` is that of the module's statement under way."""

    call: CapturedCall | str
    error: Exception | None
    returned: bool = False
    line: int | None = None

    @property
    def shown(self) -> str:
        """Type and message of the error."""
        return "its tests fail" if self.error is None else f"{type(self.error).__name__}: {self.error}"


class Repairs:
    """Heals the failing calls of `function`; thread-safe."""

    def __init__(self, function: FunctionType, options: RepairOptions, sandbox: SharedSandbox) -> None:
        self.function = function
        self.options = options
        self.unhealable = unhealable(function)
        self._sandbox = sandbox
        self.tests_fail: bool | None = None
        self._lock = threading.Lock()
        self._lock_of_tests = threading.Lock()
        self._under_way: dict[tuple[int, str], threading.Lock] = {}
        """By process and failure: a fork has no threads that would release its parent's locks."""
        self._patches: dict[str, Files | None] = {}
        """By the failures' keys; None where a heal found none."""
        self._begun: deque[float] = deque()
        self._observer_failed = False
        self._notes: tuple[str, ...] = ()

    def run_tests(self, stop: Stop) -> None:
        """Set `tests_fail` by a run of the tests on the unchanged source, once for all calls."""
        with self._lock_of_tests:
            if self.tests_fail is not None:
                return
            try:
                runs = self.options.allowed(os.environ)
                if self.unhealable is None and runs not in ("off", "record"):
                    self.tests_fail = self._case(Failure("", None), stop).observe({}).symptom is not None
            except _EXPECTED:
                self.tests_fail = False

    def heal(self, failure: Failure, stop: Stop) -> RepairResult | None:
        """Heal a failing call and return the result; None where healing is off. Raises no Exception of its own."""
        try:
            runs = self.options.allowed(os.environ)
            if runs == "off":
                return None
            self._emit(RepairEvent("attempt_failed", error=failure.shown))
            result = self._healed(failure, runs, stop)
        except Exception as error:
            if isinstance(error, SandboxBroken):
                self._sandbox.close()  # the next heal opens another
            kind = type(error).__name__
            why = str(error) or kind if isinstance(error, _EXPECTED) else f"{kind}: {error}"
            why = re.sub(r" (and go on )?with --resume", "", why)  # there is no run to resume
            if isinstance(error, (BudgetSpent, Interrupted)):  # if the caller cancelled, nobody reads it
                why = f"it takes longer than max_seconds={self.options.max_seconds:g}; raise that"
            result = RepairResult(False, why)
        self._emit(RepairEvent("repair_succeeded" if result.succeeded else "repair_exhausted", error=result.why))
        notes, self._notes = self._notes, ()
        return replace(result, notes=notes)

    def _healed(self, failure: Failure, runs: Runs, stop: Stop) -> RepairResult:
        if self.unhealable is not None or isinstance(failure.call, str):
            raise NotRepeatable(f"recorded only: {self.unhealable or failure.call}")
        if runs == "record":
            raise NotRepeatable("recorded only")
        case = self._case(failure, stop)
        files, heal = self._patch_for(case, failure, stop)
        result = RepairResult(False, heal.why if heal is not None else "", heal=heal)
        if files is None:
            return result
        if runs == "propose":
            return replace(result, why="a verified patch is proposed")
        value = case.value(files)
        if runs == "process":
            self._install(case, files)
        return replace(result, succeeded=True, final_value=value)

    def _case(self, failure: Failure, stop: Stop) -> CallCase:
        callee, path = located(self.function)
        call = failure.call if isinstance(failure.call, CapturedCall) else None
        sandbox, files = self._sandbox.get(), self.options.test_files
        return CallCase(
            sandbox,
            callee,
            project_files(path, callee),
            call,
            self.function,
            tests=self.options.tests,
            pytest=call_tests(path, files, sandbox, max(0.1, stop.left), stop) if files else None,
            verify=self.options.verify,
            raised=type(failure.error) if failure.error is not None and not failure.returned else None,
            line=failure.line,
            limits=SandboxLimits(wall_seconds=max(0.1, min(SandboxLimits().wall_seconds, stop.left))),
            cancelled=stop,
        )

    def _patch_for(self, case: CallCase, failure: Failure, stop: Stop) -> tuple[Files | None, HealResult | None]:
        """Return the patch for a failure (a known one, or a heal's; None if not healed), and the heal. One heal at
        a time for each failure. Raises NotRepeatable where none is tried."""
        parts = [program(case.files[case.callee.path]), case.callee.qualname, failure.shown, self.options.digest()]
        key = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
        with self._lock:
            own = self._under_way.setdefault((os.getpid(), key), threading.Lock())
        if not own.acquire(timeout=max(0.0, stop.left)):
            raise NotRepeatable("another thread's heal of it took too long")
        try:
            if key not in self._patches:  # a heal that raises, as without a model, is tried again
                heal = self._heal_by_cache(key, case, stop) or self._heal_by_model(key, case, stop)
                self._patches[key] = found = heal.files if heal.grade == "verified" else None
                return found, heal
        finally:
            own.release()
        if (known := self._patches[key]) is None:
            raise NotRepeatable("the same failure was not healed before")
        if not case.observe(known).healed:
            raise NotRepeatable("the patch that is known does not mend this call")
        self._emit(RepairEvent("cache_hit"))
        return known, None

    def _heal_by_cache(self, key: str, case: CallCase, stop: Stop) -> HealResult | None:
        """Return the heal by cached patches; None where they are not verified."""
        if (cache := self.options.cache) is None:
            return None
        if texts := read_kept(cache, key):
            replies = chain(texts, repeat(texts[-1]))
            kept: Any = SimpleNamespace(propose=lambda *_: f"{_FENCE}python\n{next(replies)}\n{_FENCE}\n")
            proposed = replace(self.options, proposer=kept, max_attempts=len(texts))
            heal = find_patch(case, proposed, lambda _: None, stop)
            if heal.grade == "verified":
                self._emit(RepairEvent("cache_hit"))
                return heal
        self._emit(RepairEvent("cache_miss"))
        return None

    def _heal_by_model(self, key: str, case: CallCase, stop: Stop) -> HealResult:
        """Return the heal by a model. Raises NotRepeatable beyond `max_heals` within an hour."""
        now = time.monotonic()
        with self._lock:
            while self._begun and self._begun[0] < now - _HOUR:
                self._begun.popleft()
            if len(self._begun) >= self.options.max_heals:
                raise NotRepeatable(f"{self.options.max_heals} heals were begun within an hour")
            self._begun.append(now)
        heal = find_patch(case, self.options, self._emit, stop)
        if heal.grade == "verified":
            self._emit(RepairEvent("verify_success"))
            if self.options.cache is not None:
                self._cache_patches(self.options.cache, key, case, heal)
        return heal

    def _cache_patches(self, cache: Path, key: str, case: CallCase, heal: HealResult) -> None:
        """Cache the good patches, the leader first, one for each different program."""
        good = [trial for trial in heal.trials if trial.plausible and not trial.suspicions]
        good.sort(key=lambda trial: trial.patch.id != heal.leader)
        apart = [each for at, each in enumerate(good) if voices(good[: at + 1]) > voices(good[:at])]
        texts = [trial.patch.files[case.callee.path] for trial in apart]
        kept = json.dumps({"callee": asdict(case.callee), "texts": texts}, indent=1)
        try:
            write_atomically(cache / f"{key}.json", kept, contained(cache), PRIVATE)
        except (OSError, UsageError) as error:  # must not fail the heal
            self._notes = (f"the patch was not kept: {error}",)

    def _install(self, case: CallCase, files: Files) -> None:
        path = case.callee.path
        try:
            install(self.function, decoded(case.project[path]), files[path])
        except Exception as error:  # raised by the module's own code
            self._emit(RepairEvent("install_failed", error=f"{type(error).__name__}: {error}"))
        else:
            self._emit(RepairEvent("install_success"))

    def _emit(self, event: RepairEvent) -> None:
        try:
            if self.options.on_event is not None:
                self.options.on_event(event)
        except Exception as error:  # an observer must not fail the heal
            if not self._observer_failed:
                self._observer_failed = True
                self._notes = (f"on_event raised {type(error).__name__}: {error}",)


def install(function: FunctionType, old: str, new: str) -> None:
    """Give `function` its code in `new`, the patched text of its module; `old` is the text before.

    Other new statements at the top of the module are executed first. Raises what they raise, and ValueError where
    `new` has no such function.
    """
    kept = {ast.dump(node) for node in parse(old).body}
    top = function.__qualname__.partition(".")[0]
    added = [node for node in parse(new).body if ast.dump(node) not in kept and getattr(node, "name", "") != top]
    scope = function.__globals__
    _run(added, scope)
    made: dict[str, Any] = {}
    *outer, own = named(parse(new), function.__qualname__.replace("<locals>.", ""))
    own.decorator_list = []
    if outer and isinstance(kind := outer[-1], ast.ClassDef):  # `self.__x` and `super()` need the class
        kind.bases, kind.keywords, kind.decorator_list, kind.body = [], [], [], [own]
        _run([kind], scope, made)
        made = dict(vars(made[kind.name]))
    else:
        _run([own], scope, made)
    functions = (each for each in made.values() if isinstance(each, FunctionType))
    found = next(each for each in functions if each.__name__ == function.__name__)
    function.__code__ = found.__code__
    function.__defaults__ = found.__defaults__
    function.__kwdefaults__ = found.__kwdefaults__


def _run(nodes: Sequence[ast.stmt], scope: dict[str, Any], local: dict[str, Any] | None = None) -> None:
    code = compiled(unparse(ast.Module([*nodes], [])))
    exec(code, scope, local)  # noqa: S102 - asked for by the code and by the environment


def read_kept(directory: Path, key: str) -> list[str]:
    """Return the cached patches of a key, as new texts of the module; none where they can't be read."""
    try:
        data = read_regular(directory / f"{key}.json", contained(directory))
        return [str(text) for text in json.loads(data)["texts"]][:_MOST_KEPT]
    except (OSError, UsageError, ValueError, LookupError, TypeError, RecursionError):
        return []
