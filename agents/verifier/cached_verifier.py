"""The verifier of a run: boards on all cores, verdicts cached by AST."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..records import Board, Candidate, Test, Verdict
from ..sandbox import Sandbox
from ..syntax.source import program
from . import Verifier, Workers

MOST_AT_ONCE = 4


class CachedVerifier:
    """Runs boards in `sandbox` and caches their verdicts; on `workers`, where several runs share them.

    Every method raises SandboxBroken when the sandbox fails, and Interrupted after `cancel`.
    """

    def __init__(self, sandbox: Sandbox, workers: Workers | None = None) -> None:
        self.sandbox = sandbox
        self._verifier = Verifier(sandbox, jobs=boards_at_once(), workers=workers)
        self._known: dict[tuple[str, tuple[Test, ...]], Verdict] = {}

    def board(self, candidates: Sequence[Candidate], tests: Sequence[Test]) -> Board:
        """Run every candidate on every test. Verdicts are cached by AST: no reformatted duplicate is run."""
        suite = tuple(tests)
        forms = {candidate.id: program(candidate.code) for candidate in candidates}
        new = {
            forms[candidate.id]: candidate
            for candidate in reversed(candidates)
            if (forms[candidate.id], suite) not in self._known
        }
        fresh = self._verifier.board(tuple(new.values()), suite)
        for form, verdict in zip(new, fresh.verdicts, strict=True):
            self._known[form, suite] = verdict
        verdicts = tuple(self._known[forms[candidate.id], suite] for candidate in candidates)
        return Board(tuple(candidates), suite, verdicts, fresh.seconds)

    def confirm(self, candidate: Candidate, tests: Sequence[Test]) -> Verdict:
        """Verify a candidate once more, in a fresh cold sandbox: what a warm worker has imported can hide that a
        module lacks an import of its own."""
        return self._verifier.confirm(candidate, tests)

    def hasty_board(self, candidates: Sequence[Candidate], tests: Sequence[Test], call_seconds: float) -> Board:
        """Run every candidate on every test; each stops at the first test in which a call takes longer."""
        return self._verifier.board(candidates, tests, haste=call_seconds)

    def cancel(self) -> None:
        """Cancel what is running, and refuse what follows; from any thread."""
        self._verifier.stop()

    def close(self) -> None:
        """End what is running; the sandbox stays its owner's."""
        self._verifier.close()


def boards_at_once() -> int:
    """Verifications that run at the same time on this machine."""
    return min(MOST_AT_ONCE, os.cpu_count() or 1)
