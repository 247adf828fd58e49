"""A verifier that runs boards on all cores and caches their verdicts."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..records import Board, Candidate, Test, Verdict
from ..sandbox import Sandbox
from ..syntax.source import program
from . import Verifier, Workers
from .importable import ANYTHING, Importable

MOST_AT_ONCE = 4


class CachedVerifier(Verifier):
    """Caches the verdicts of `board` by AST: a reformatted duplicate is not run again."""

    def __init__(
        self, sandbox: Sandbox, workers: Workers | None = None, importable: Importable = ANYTHING
    ) -> None:
        super().__init__(sandbox, jobs=boards_at_once(), workers=workers, importable=importable)
        self.sandbox = sandbox
        self.files_beside = importable.files
        self._known: dict[tuple[str, tuple[Test, ...]], Verdict] = {}

    def board(self, candidates: Sequence[Candidate], tests: Sequence[Test]) -> Board:
        """Verify every candidate on every test, except what is cached."""
        suite = tuple(tests)
        forms = {candidate.id: program(candidate.code) for candidate in candidates}
        new = {
            forms[candidate.id]: candidate
            for candidate in reversed(candidates)
            if (forms[candidate.id], suite) not in self._known
        }
        fresh = super().board(tuple(new.values()), suite)
        for form, verdict in zip(new, fresh.verdicts, strict=True):
            self._known[form, suite] = verdict
        verdicts = tuple(self._known[forms[candidate.id], suite] for candidate in candidates)
        return Board(tuple(candidates), suite, verdicts, fresh.seconds)


def boards_at_once() -> int:
    """Return the number of verifications that run concurrently on this machine."""
    return min(MOST_AT_ONCE, os.cpu_count() or 1)
