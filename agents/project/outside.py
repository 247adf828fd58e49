"""Compares what calls that tests make come to in the tests, and in a process that knows nothing of tests."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from ..healing.evidence import calls_near
from ..records.heal import Answer, Call
from ..repository.inside.calls import EQUALS_ANYTHING
from ..repository.suite import Suite, SuiteJob
from ..repository.suites import run_whole
from ..worktree.tree import never_changes

_SECONDS = 20.0
"""For all calls on one code: to start a process, and for the calls themselves."""
_MOST_VARIED = 200
_MOST_NEAR = 10
"""Calls of tests that are varied, and of each so often."""


@dataclass(frozen=True, slots=True)
class Differing:
    """A call that new code answers otherwise than old code, outside of tests, and both answers."""

    call: Call
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Outside:
    """Calls that the new code answers as the old one in tests, and otherwise outside of them, or by what equals
    anything, are `hidden`.
    `unnoticed` are calls near those of tests, of functions that answer all of these as the old code does."""

    hidden: tuple[Differing, ...] = ()
    unnoticed: tuple[Differing, ...] = ()


def answers_outside(
    new: Suite, old: Suite, names: Sequence[str], paths: Collection[str], seconds: float
) -> Outside:
    """Compare the answers of two codes, whose old tests `names` pass on both: to their calls, and to those near
    calls of functions in the files at `paths`."""
    run = run_whole(new, names, SuiteJob(seconds, calls=True, pickled=True), cold=True)
    told = zip(run.calls, run.returned, strict=False)
    inside = {call: value for call, value in told if value is not None and not never_changes(call.path)}
    varied = [call for call in inside if call.path in paths][:_MOST_VARIED]
    near = [each for call in varied for each in calls_near([call], {}, [])[:_MOST_NEAR]]
    found = [*_differing(new, old, [*inside, *near])]
    again = [*_differing(new, old, [each.call for each in found])] if found else []
    steady = [each for each in found if each in again]
    changed = {(each.call.path, each.call.function) for each in steady if each.call in inside}
    others = (each for each in steady if (each.call.path, each.call.function) not in changed)
    hidden = (each for each in steady if inside.get(each.call) in (each.old, EQUALS_ANYTHING))
    return Outside(tuple(hidden), tuple(others))


def _differing(new: Suite, old: Suite, calls: Sequence[Call]) -> Iterator[Differing]:
    """Yield the calls that the old code returns something for, and the new one something else."""
    job = SuiteJob(_SECONDS, asked=tuple((each.path, each.source) for each in calls), outside=True)
    before, now = (suite.run(job, cold=True).answers for suite in (old, new))
    for call, was, answer in zip(calls, before, now, strict=False):
        if was is not None and was.value is not None and answer is not None and answer.value != was.value:
            yield Differing(call, was.value, _text(answer))


def _text(answer: Answer) -> str:
    return answer.value if answer.value is not None else f"raises {answer.raises}"
