"""Compares what calls that tests make come to in the tests, and in a process that knows nothing of tests."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from ..healing.near_calls import calls_near
from ..judge.probes import calls_with
from ..records.heal import Answer, Call
from ..repository.inside.calls import EQUALS_ANYTHING, RAISED
from ..repository.suite import Suite, SuiteJob
from ..repository.suites import run_whole
from ..syntax.clean_text import clean
from ..syntax.source import parse_expression
from .base import Base
from .records import Tampering

_SECONDS = 20.0
"""For all calls on one code: to start a process, and for the calls themselves."""
_MOST_VARIED = 200
_MOST_NEAR = 10
"""Calls of tests that are varied, and of each so often."""
_MOST_SHOWN = 300
_PICKLED = "applied("


@dataclass(frozen=True, slots=True)
class Differing:
    """A call that new code answers otherwise than old code, outside of tests, and both answers."""

    call: Call
    old: str
    new: str


@dataclass(frozen=True)
class Outside:
    """Two codes, asked outside of tests: `calls` are those of old tests that pass on both.

    Those that new code answers as old code in tests and otherwise outside of them, or by what equals anything, are
    `hidden`. `unnoticed` are calls near them that it answers otherwise, of functions that answer all of `calls` as
    the old code does.
    """

    new: Suite
    old: Suite
    calls: Collection[Call] = ()
    hidden: Sequence[Differing] = field(default_factory=tuple)
    unnoticed: Sequence[Differing] = field(default_factory=tuple)

    def compared(self, names: Sequence[str], paths: Collection[str], seconds: float) -> Outside:
        """Compare the answers to the calls of tests, and to those near them of functions in files at `paths`."""
        run = run_whole(self.new, names, SuiteJob(seconds, calls=True, pickled=True), cold=True)
        told = zip(run.calls, run.returned, strict=False)
        ours = self.new.tree.holds_tests
        inside = {call: value for call, value in told if value is not None and not ours(call.path)}
        varied = [call for call in inside if call.path in paths][:_MOST_VARIED]
        near = [each for call in varied for each in calls_near([call], {}, [])[:_MOST_NEAR]]
        found = [*self._differing([*inside, *near])]
        again = [*self._differing([each.call for each in found])] if found else []
        steady = [each for each in found if each in again]
        changed = {(each.call.path, each.call.function) for each in steady if each.call in inside}
        hidden = [each for each in steady if inside.get(each.call) in (each.old, EQUALS_ANYTHING)]
        others = [each for each in steady if (each.call.path, each.call.function) not in changed]
        others = [each for each in others if each.old != RAISED]  # a fix may answer what was an error
        return replace(self, calls=inside, hidden=hidden, unnoticed=others)

    def tampering(self, base: Base) -> Iterator[Tampering]:
        """Yield each changed file with the shortest call that is answered otherwise where no test runs."""
        changed = [path for path, lines in base.lines.items() if lines]
        shortest: dict[str, Differing] = {}
        for each in sorted(self.hidden, key=lambda each: len(each.call.source)):
            shortest.setdefault(each.call.path if each.call.path in changed else changed[0], each)
        for path, found in shortest.items():
            source = found.call.source
            text = f"{found.call.function}(...)" if source.startswith(_PICKLED) else source
            why = f"it answers tests as at the base, and others otherwise: `{text}` is {found.old}, or {found.new}"
            yield Tampering(clean(path), min(base.lines[path]), clean(why)[:_MOST_SHOWN])

    def agree_on(self, path: str, values: Sequence[object]) -> bool:
        """Return True if the new code answers a call of the file at `path` with these values, and both alike."""
        given: list[tuple[ast.Call, Call]] = []
        for call in self.calls:
            with suppress(ValueError):
                node = parse_expression(call.source)
                if call.path == path and isinstance(node, ast.Call) and not call.source.startswith(_PICKLED):
                    given.append((node, call))
        made = [replace(call, source=text) for text, call in calls_with(given, values, len(values)).items()]
        told = [*self._answered(made)]
        return any(new.value for *_, new in told) and all(old.value in (None, new.value) for _, old, new in told)

    def _differing(self, calls: Sequence[Call]) -> Iterator[Differing]:
        """Yield the calls that the two codes answer with different values, or one with none."""
        for call, old, new in self._answered(calls):
            if old.value != new.value:
                yield Differing(call, old.value or RAISED, new.value or f"raises {new.raises}")

    def _answered(self, calls: Sequence[Call]) -> Iterator[tuple[Call, Answer, Answer]]:
        """Yield the calls that both codes answer, with the answers of the old and the new one."""
        job = SuiteJob(_SECONDS, asked=tuple((each.path, each.source) for each in calls), outside=True)
        before, now = (suite.run(job, cold=True).answers for suite in (self.old, self.new))
        yield from ((call, old, new) for call, old, new in zip(calls, before, now, strict=False) if old and new)
