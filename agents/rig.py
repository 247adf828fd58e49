"""The test rig of a run: boards in a warm sandbox, the last word in a cold one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack

from .errors import SandboxUnavailable
from .records import Board, Candidate, Test, Verdict
from .sandbox import Sandbox, open_warm
from .suite import render
from .verifier import Verifier

MOST_AT_ONCE = 4


class Rig:
    """Runs boards in forks of a warm worker where `sandbox` can hold one, and remembers their verdicts.

    Every method raises SandboxBroken when the sandbox fails.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._held = ExitStack()
        self._cold = self._held.enter_context(Verifier(sandbox))
        try:
            warm = open_warm(sandbox)
        except SandboxUnavailable:
            warm = sandbox  # `none`, or a machine without namespaces: each job starts cold
        else:
            self._held.callback(warm.close)
        at_once = min(MOST_AT_ONCE, os.cpu_count() or 1)
        self._verifier = self._held.enter_context(Verifier(warm, jobs=at_once))
        self._known: dict[tuple[str, tuple[Test, ...]], Verdict] = {}

    def board(self, candidates: Sequence[Candidate], tests: Sequence[Test]) -> Board:
        """Every candidate on every test; what was run before is not run again."""
        suite = tuple(tests)
        new = [candidate for candidate in candidates if (candidate.code, suite) not in self._known]
        fresh = self._verifier.board(new, suite)
        for candidate, verdict in zip(fresh.candidates, fresh.verdicts, strict=True):
            self._known[candidate.code, suite] = verdict
        verdicts = tuple(self._known[candidate.code, suite] for candidate in candidates)
        return Board(tuple(candidates), suite, verdicts, fresh.seconds)

    def confirm(self, candidate: Candidate, tests: Sequence[Test]) -> Verdict:
        """The candidate on the surviving suite, as the files that the user gets, in a fresh cold sandbox.

        What the warm worker has imported can hide that a module forgets an import of its own.
        """
        return self._cold.verify(candidate.code, render(tests))

    def close(self) -> None:
        """End the worker and what it runs; the sandbox stays its owner's."""
        self._held.close()
