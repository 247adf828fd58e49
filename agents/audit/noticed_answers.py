"""Compares how many changed answers of the code a test notices as it is, and noticed as it was."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from ..repository.suite import Suite, SuiteJob, TestRun
from ..syntax.clean_text import clean
from ..verifier.inside.suite_process.answers import OTHER_ERROR
from .project import functions_of
from .trial import Trial, notices

_MOST_ANSWERS = 4
_MOST_OTHERS = 8
_MOST_CROSSED = 100
"""Answers to a test of which each is told by name."""
Answer = tuple[str, int]
"""A function, and which of its answers to the test."""


@dataclass(frozen=True)
class Side:
    """The tests on one side of a change, and the answers that they get; `named` tells a function's name now."""

    trial: Trial
    names: tuple[str, ...]
    named: Callable[[str], str] = str

    @cached_property
    def recorded(self) -> Mapping[str, TestRun]:
        """Return the runs of the tests with the functions that answer them."""
        called = {name: self._functions(name) for name in self.names}
        return self.trial.crossings(called, self.trial.limit(self.names, self.trial.first)).tests

    def answers(self, name: str) -> dict[Answer, int]:
        """Return the numbers of the last answers to a test; none where there are too many to tell."""
        test = self.recorded.get(name)
        if test is None or test.outcome != "passed" or test.crossed > _MOST_CROSSED:
            return {}
        functions = [self.named(each) for each in test.crossings]
        found = {(each, functions[:at].count(each)): at for at, each in enumerate(functions)}
        return dict([*found.items()][-_MOST_ANSWERS:])

    def tried(self, suite: Suite, name: str, number: int, other: int) -> tuple[str, bool] | None:
        """Return the text of another answer, empty where there is none, and if the test notices it; None where no
        time is left."""
        limit = self.trial.limit([name], self.trial.first)
        job = SuiteJob(limit, (name,), functions=self._functions(name), answer=(number, other))
        done = self.trial.timed(suite, job)
        if done is None:
            return None
        test = done.tests.get(name)
        return (test.given if test else "an answer"), notices(done, [name])

    def _functions(self, name: str) -> tuple[str, ...]:
        return tuple(functions_of(self.trial.first.tests[name].called))


def duller(before: Side, now: Side, pairs: Mapping[str, str]) -> dict[str, str]:
    """Return why tests notice less than they did: `pairs` has each as it was, and as it is. A changed answer that
    another test on the side of now notices is not lost."""
    if now.trial.left <= 0 or not pairs:
        return {}
    old_suite, suite = before.trial.suites.all[0], now.trial.suites.all[0]
    found = {}
    for old, new in pairs.items():
        was, answers = before.answers(old), now.answers(new)
        for answer in [each for each in answers if each in was]:
            for other in range(_MOST_OTHERS):
                tried = now.tried(suite, new, answers[answer], other)
                if tried is None or not tried[0]:
                    break
                lost = None if tried[1] else before.tried(old_suite, old, was[answer], other)
                if lost is None or not lost[1] or _kind(lost[0]) != _kind(tried[0]):
                    continue
                if not any(_notes(now, suite, name, lost[0]) for name in now.names if name != new):
                    found[old] = f"it noticed {clean(lost[0])}, and does not now"
                    break
            if old in found:
                break
    return found


def _notes(side: Side, suite: Suite, name: str, given: str) -> bool:
    """Return True if a test notices that other answer."""
    for number in side.answers(name).values():
        for other in range(_MOST_OTHERS):
            if side.tried(suite, name, number, other) == (given, True):
                return True
    return False


def _kind(given: str) -> object:
    """Return the type of another answer, or its text where that is no literal."""
    text = given.partition(" returning ")[2]
    if given.endswith(OTHER_ERROR):
        return OTHER_ERROR
    try:
        return type(ast.literal_eval(text))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
