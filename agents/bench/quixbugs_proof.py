"""Proves that QuixBugs can be judged here and now, before anything is measured."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .proof import BROKEN
from .quixbugs import Program, Split
from .quixbugs_tests import QuixBugsTests, each


@dataclass(frozen=True, slots=True)
class QuixBugsProof:
    """Programs whose reference fails an item or an input, whose bug no visible item shows, and broken programs
    that are taken for correct (program and way). All are empty where the harness can be relied on."""

    programs: int
    failing: tuple[str, ...]
    unseen: tuple[str, ...]
    passing: tuple[tuple[str, str], ...]
    seconds: float

    @property
    def holds(self) -> bool:
        """Return True if every reference passed, and every buggy and broken program failed."""
        return not (self.failing or self.unseen or self.passing)

    def __str__(self) -> str:
        if self.holds:
            return (
                f"{self.programs} references pass all items and inputs, {self.programs} buggy programs fail a "
                f"visible item, {self.programs * len(BROKEN)} broken ones fail ({self.seconds:.0f} s)."
            )
        wrong = [f"{name}: its reference fails" for name in self.failing]
        wrong += [f"{name}: no visible item shows its bug" for name in self.unseen]
        wrong += [f"{name}: a program that {way} is taken for correct" for name, way in self.passing]
        return f"QuixBugs can't be judged here ({'; '.join(wrong)}): check the checkout and the machine's load."


def prove(programs: Sequence[Program], splits: Mapping[str, Split], tests: QuixBugsTests) -> QuixBugsProof:
    """Judge references, buggy programs and broken ones. Raises SandboxBroken."""
    begun = time.monotonic()

    def names(holds: Callable[[Program], bool]) -> tuple[str, ...]:
        return tuple(one.name for one, held in zip(programs, each(holds, programs), strict=True) if held)

    def reference_fails(one: Program) -> bool:
        return not tests.judge(one.name, one.reference, tuple(one.items)).plus

    def bug_unseen(one: Program) -> bool:
        return tests.verdict(one, one.buggy, splits[one.name].visible).kind not in ("failed", "stopped")

    def taken_for_correct(one: Program, code: str) -> bool:
        return tests.judge(one.name, code, splits[one.name].held_out).plus

    return QuixBugsProof(
        programs=len(programs),
        failing=names(reference_fails),
        unseen=names(bug_unseen),
        passing=tuple(
            (name, way)
            for way, broken in BROKEN.items()
            for name in names(lambda one, make=broken: taken_for_correct(one, make(one.head)))  # type: ignore[misc]
        ),
        seconds=time.monotonic() - begun,
    )
