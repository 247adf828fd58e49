"""The verifier: a board of candidates and tests, or a user's own two files."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, as_completed
from dataclasses import replace
from types import TracebackType
from typing import Self

from ..errors import Interrupted, SandboxBroken
from ..records import Board, Candidate, Test, Verdict
from ..sandbox.interface import Sandbox, SandboxLimits
from ..sandbox.interpreter import Interpreter
from .importable import ANYTHING, Importable
from .prepared_suite import PreparedSuite, prepare_file, prepare_suite
from .sensitivity import SensitivityCache
from .session import Cancelled, Terms
from .static.tampering import HYPOTHESIS
from .verification import Verification
from .workers import Workers

_LIMITS = SandboxLimits()


class Verifier:
    """Verifies code in `sandbox`, `jobs` candidates at a time. A call into the code may take `call_seconds`;
    `importable` is what code and tests may import.

    With `workers` it runs on those, which stay their owner's and may serve other verifiers at the same time.
    Every method raises SandboxBroken when the sandbox fails, and Interrupted after `cancel`; what the code does is
    never an exception.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        limits: SandboxLimits = _LIMITS,
        jobs: int = 1,
        call_seconds: float = 4.0,
        workers: Workers | None = None,
        importable: Importable = ANYTHING,
    ) -> None:
        self._workers = workers or Workers(sandbox, jobs)
        self._owner = workers is None
        self._choice = self._workers.worker_choice
        self._limits = limits
        self._importable = importable
        has_hypothesis = self._choice.cold.interpreter.finds(HYPOTHESIS)
        self._names = importable.names | ({HYPOTHESIS} if has_hypothesis else set())
        self._call_seconds = call_seconds
        self._cancelled = threading.Event()
        self._sensitivities = SensitivityCache()

    def board(self, candidates: Sequence[Candidate], tests: Sequence[Test]) -> Board:
        """Verify every candidate on every test, equal code once. Interrupted, it cancels all verifications."""
        return self._board(candidates, tests, None)

    def hasty_board(self, candidates: Sequence[Candidate], tests: Sequence[Test], call_seconds: float) -> Board:
        """Verify only as far as it takes to know which candidates pass: each is given up at the first test in
        which a call takes longer than `call_seconds`, and later tests have no outcome."""
        return self._board(candidates, tests, call_seconds)

    def _board(self, candidates: Sequence[Candidate], tests: Sequence[Test], haste: float | None) -> Board:
        begun = time.monotonic()
        prepared = self._prepared(tests)
        codes = list(dict.fromkeys(candidate.code for candidate in candidates))
        where = self._sandbox(len(codes), prepared)
        found = self._run({code: self._submit(code, prepared, where, haste) for code in codes})
        verdicts = tuple(found[candidate.code] for candidate in candidates)
        return Board(tuple(candidates), tuple(tests), verdicts, time.monotonic() - begun)

    def _run(self, pending: Mapping[str, Future[Verdict]]) -> dict[str, Verdict]:
        """Wait for verdicts by code; an exception cancels all verifications."""
        try:
            for future in as_completed(pending.values()):
                future.result()
            return {code: future.result() for code, future in pending.items()}
        except BaseException:
            self._cancelled.set()
            raise
        finally:
            for future in pending.values():
                future.cancel()

    def verify(self, code: str, tests_source: str) -> Verdict:
        """Verify a user's own two files, the tests run as they stand, with an outcome for each pytest item.

        `passed` means that every test ran and passed, and that one at least could have failed. Tests whose pass
        shows nothing are listed in `refused`, and their failures count all the same; a test that reaches for the
        run itself makes the verdict `refused`.
        """
        try:
            prepared = prepare_file(tests_source, self._names)
        except ValueError as error:
            reason = f"the tests cannot be read: {error}{_newer(self._choice.cold.interpreter)}"
            return Verdict("refused", reason=reason, backend=self._choice.cold.name)
        return self._verdict(code, prepared, self._sandbox(1, prepared))

    def confirm(self, candidate: Candidate, tests: Sequence[Test]) -> Verdict:
        """Verify once more in a cold sandbox: imports of a warm worker can hide a missing one."""
        prepared = self._prepared(tests)
        code = candidate.code
        return self._run({code: self._submit(code, prepared, self._choice.cold, None)})[code]

    def cancel(self) -> None:
        """Cancel running verifications, which raise Interrupted, and refuse later ones; from any thread."""
        self._cancelled.set()

    def close(self) -> None:
        """Wait for what is under way and release the threads; the sandbox stays its owner's."""
        if self._owner:
            self._workers.close()

    def _submit(self, code: str, prepared: PreparedSuite, where: Sandbox, haste: float | None) -> Future[Verdict]:
        return self._workers.pool.submit(self._verdict, code, prepared, where, haste)

    def _prepared(self, tests: Sequence[Test]) -> PreparedSuite:
        return prepare_suite(tests, self._names)

    def _sandbox(self, verifications: int, prepared: PreparedSuite) -> Sandbox:
        return self._choice.sandbox(verifications, prepared.has_properties, self._importable.preloaded)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _verdict(
        self, code: str, prepared: PreparedSuite, sandbox: Sandbox, haste: float | None = None
    ) -> Verdict:
        begun = time.monotonic()
        try:
            seconds = haste or self._call_seconds
            terms = Terms(sandbox, self._limits, seconds, self._cancelled, hasty=haste is not None)
            verdict = Verification(terms, code, prepared, self._sensitivities, self._importable).verdict()
        except Cancelled as cancelled:
            raise Interrupted("The verification was stopped; go on with --resume.") from cancelled
        except SandboxBroken:
            if sandbox is self._choice.cold:
                raise
            self._choice.discard(sandbox)
            return self._verdict(code, prepared, self._choice.cold, haste)
        return replace(verdict, backend=sandbox.name, seconds=time.monotonic() - begun)


def _newer(interpreter: Interpreter) -> str:
    """What to say of tests that greenloop's own Python cannot read, where the one inside is newer."""
    own = sys.version_info[:2]
    if interpreter.version[:2] <= own:
        return ""
    return f" (greenloop reads them with Python {own[0]}.{own[1]}, which lacks what is newer)"
