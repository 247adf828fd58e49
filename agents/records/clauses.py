"""The clauses of a spec, and what a run found out about each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

NeedKind = Literal["exception", "name", "text", "input", "value", "test"]


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that a test of a clause has to use: an exception, a name, a quoted text, a kind of input,
    a kind of value that goes in or comes out, or a test that was written for it.

    An input needed together with an exception (`raise ValueError for an empty string`) has it in `raising`; the
    literal that a clause ends in (`if there is none, return -1`) is in `giving`: its test has to expect that.
    """

    kind: NeedKind
    value: str
    raising: str = ""
    giving: str = ""

    def __str__(self) -> str:
        if self.raising:
            return f"{self.raising} for {self.value}"
        if self.kind == "test":
            return f"“{self.value}”"
        return self.value if self.kind in ("input", "value") else f"`{self.value}`"


@dataclass(frozen=True, slots=True)
class Clause:
    """One sentence, list item or part between semicolons of a spec, and what a test of it has to use."""

    text: str
    needs: tuple[Need, ...] = ()


@dataclass(frozen=True, slots=True)
class ClauseCheck:
    """The standing of one clause: `tests` that count are about it, `missing` is what none of them uses, and
    `would_test` a line that would test that. `open` says that a test of it is an open question."""

    text: str
    tests: int
    missing: tuple[Need, ...] = ()
    open: bool = False
    would_test: str = ""

    @property
    def standing(self) -> str:
        """Its standing in a few words."""
        if self.open:
            return "open"
        if not self.missing:
            return f"held by {self.tests} test{'' if self.tests == 1 else 's'}"
        what = ", ".join(map(str, self.missing))
        own = self.missing[0].kind == "test"
        return f"nothing checks {what if self.tests and not own else 'this'}"

    def __str__(self) -> str:
        would = f"; this would: {self.would_test}" if self.would_test and not self.open else ""
        return f"{self.text}: {self.standing}{would}"
