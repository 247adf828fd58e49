"""The verifier of boards (candidates and tests), and of a user's own modules and test files."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, as_completed, wait
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Self

from ..errors import SandboxBroken, check_type
from ..records import Board, Candidate, Test, UserModule, Verdict
from ..sandbox import open_sandbox
from ..sandbox.interface import Sandbox, SandboxLimits, SandboxName, check_limit
from ..sandbox.interpreter import Interpreter
from ..sandbox.packages import find_packages, open_interpreter
from .awaiting import result_of
from .importable import Importable
from .prepared_suite import PreparedSuite, prepare_file, prepare_suite
from .sensitivity import Sensitivity
from .session import Terms
from .static.uses import HYPOTHESIS
from .verification import verification
from .workers import Workers

_LIMITS = SandboxLimits()
_AHEAD = 64
"""Pairs that `map` submits ahead for each job, so that one slow pair does not block the other jobs."""


class Verifier:
    """Verifies code in `sandbox`, `jobs` candidates at a time (None: one for each core), each within `limits`.
    `call_seconds` is the timeout of a call into the code.

    A sandbox given by name is opened for thousands of modules, or SandboxUnavailable raised. `workers` stay their
    owner's, and may serve other verifiers at the same time. `python`, `packages` and `modules` are as for
    `verify`; `importable` is the result of looking up the last two. Raises UsageError, with the command that
    installs a missing package. Every method raises SandboxBroken when the sandbox fails, and Interrupted after
    `cancel`, but nothing for what the code does.
    """

    def __init__(
        self,
        sandbox: Sandbox | SandboxName = "auto",
        limits: SandboxLimits = _LIMITS,
        jobs: int | None = 1,
        call_seconds: float = 4.0,
        workers: Workers | None = None,
        *,
        python: Path | None = None,
        packages: Sequence[str] | None = None,
        modules: Sequence[UserModule] = (),
        importable: Importable | None = None,
    ) -> None:
        self._jobs = jobs or os.cpu_count() or 1
        check_limit("jobs", self._jobs)
        check_limit("call_seconds", call_seconds, whole=False)
        self._limits = limits
        self._call_seconds = call_seconds
        self._cancelled = threading.Event()
        self._sensitivities: dict[tuple[str, str], Mapping[str, Sensitivity]] = {}
        own = isinstance(sandbox, str)
        with ExitStack() as held:
            if isinstance(sandbox, str):
                sandbox = open_sandbox(sandbox, open_interpreter(python))
                held.callback(sandbox.close)
            if importable is None:
                found = None if packages is None else find_packages(packages, sandbox.interpreter)
                importable = Importable(found, tuple(modules))
            self._importable = importable
            has_hypothesis = sandbox.interpreter.finds(HYPOTHESIS)
            self._names = importable.names | ({HYPOTHESIS} if has_hypothesis else set())
            if workers is None:
                workers = Workers(sandbox, self._jobs, lasting=own)
                held.callback(workers.close)
            self._workers = workers
            self._held = held.pop_all()

    def board(self, candidates: Sequence[Candidate], tests: Sequence[Test]) -> Board:
        """Verify every candidate on every test, equal code once. An exception cancels the verifications."""
        return self.hasty_board(candidates, tests, None)

    def hasty_board(
        self, candidates: Sequence[Candidate], tests: Sequence[Test], call_seconds: float | None
    ) -> Board:
        """Verify only as far as needed to know which candidates pass: each stops at the first test with a call
        longer than `call_seconds` (None: at none), and later tests have no outcome."""
        begun = time.monotonic()
        prepared = prepare_suite(tests, self._names)
        codes = list(dict.fromkeys(candidate.code for candidate in candidates))
        where = self._sandbox(len(codes), prepared)
        found = self._run(codes, prepared, where, call_seconds)
        verdicts = tuple(found[candidate.code] for candidate in candidates)
        return Board(tuple(candidates), tuple(tests), verdicts, time.monotonic() - begun)

    def _run(
        self, codes: Sequence[str], prepared: PreparedSuite, where: Sandbox, haste: float | None = None
    ) -> dict[str, Verdict]:
        """Return the verdicts by code; an exception cancels those in flight."""
        stop = threading.Event()
        submit = self._workers.pool.submit
        pending = {code: submit(self._verdict, code, prepared, where, haste, stop) for code in codes}
        try:
            for future in as_completed(pending.values()):
                future.result()
            return {code: future.result() for code, future in pending.items()}
        except BaseException:
            stop.set()
            raise
        finally:
            for future in pending.values():
                future.cancel()

    def verify(self, code: str, tests: str, stop: threading.Event | None = None) -> Verdict:
        """Verify a user's own two files, the tests as they are, with an outcome for each pytest item.

        `passed` means that every test passed, and at least one of them could have failed. `refused` lists tests
        whose pass shows nothing, though their failures count; a test that tampers with the run makes the verdict
        `refused`. Raises Interrupted when `stop` is set, from any thread.
        """
        for name, text in (("code", code), ("tests", tests)):
            check_type(name, text, str, "the text of a file, such as Path.read_text() of it")
        try:
            prepared = prepare_file(tests, self._names)
        except ValueError as error:
            reason = f"the tests cannot be read: {error}{_newer(self._workers.cold.interpreter)}"
            return Verdict("refused", reason=reason, backend=self._workers.cold.name)
        return self._verdict(code, prepared, self._sandbox(1, prepared), stop=stop)

    async def averify(self, code: str, tests: str) -> Verdict:
        """Do as `verify`, in one of the `jobs` threads. On cancellation it waits for its processes to end."""
        stop = threading.Event()
        return await result_of(self._workers.pool.submit(self.verify, code, tests, stop), stop.set)

    def map(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Verdict]:
        """Verify pairs of code and tests, `jobs` at a time, and yield the verdicts in the order of the pairs.

        `pairs` may be infinite: at most 64 for each job are submitted ahead. Closing the iterator cancels the
        rest.
        """
        stop = threading.Event()
        pending: deque[Future[Verdict]] = deque()
        try:
            for code, tests in pairs:
                pending.append(self._workers.pool.submit(self.verify, code, tests, stop))
                while pending and (pending[0].done() or len(pending) >= _AHEAD * self._jobs):
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            stop.set()
            for future in pending:
                future.cancel()
            wait(pending)

    def confirm(self, candidate: Candidate, tests: Sequence[Test]) -> Verdict:
        """Verify once more in a cold sandbox: the imports of a warm worker can hide a missing one."""
        prepared = prepare_suite(tests, self._names)
        return self._run([candidate.code], prepared, self._workers.cold)[candidate.code]

    def cancel(self) -> None:
        """Cancel running verifications, which raise Interrupted, and refuse later ones. Thread-safe."""
        self._cancelled.set()

    def close(self) -> None:
        """Wait for running verifications and release what the verifier opened; a sandbox passed in stays open."""
        self._held.close()

    def _sandbox(self, verifications: int, prepared: PreparedSuite) -> Sandbox:
        properties = any(file.has_properties for file in prepared.files)
        return self._workers.sandbox(verifications, properties, self._importable.preloaded)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.cancel()
        self.close()

    def _verdict(
        self,
        code: str,
        prepared: PreparedSuite,
        sandbox: Sandbox,
        haste: float | None = None,
        stop: threading.Event | None = None,
    ) -> Verdict:
        begun = time.monotonic()

        def cancelled() -> bool:
            return self._cancelled.is_set() or (stop is not None and stop.is_set())

        try:
            seconds = haste or self._call_seconds
            hasty, importable = haste is not None, self._importable
            terms = Terms(sandbox, self._limits, seconds, cancelled, hasty, importable, self._sensitivities)
            verdict = verification(terms, code, prepared)
        except SandboxBroken:
            if sandbox is self._workers.cold:
                raise
            self._workers.discard(sandbox)
            return self._verdict(code, prepared, self._workers.cold, haste, stop)
        return replace(verdict, backend=sandbox.name, seconds=time.monotonic() - begun)


def _newer(interpreter: Interpreter) -> str:
    """Explain that greenloop's own Python is older than the sandbox's, so cannot parse the tests; else ""."""
    own = sys.version_info[:2]
    if interpreter.version[:2] <= own:
        return ""
    return f" (greenloop reads them with Python {own[0]}.{own[1]}, which lacks what is newer)"
