"""Finds tests that pass whatever the code answers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator

from ..repository.suite import Suite, SuiteRun, TestRun
from ..strength.sites import is_message
from ..syntax.source import swapped, unparse
from ..verifier.inside.suite_process import answers
from .base import newly_parsed
from .trial import Trial, notices

_MOST_ANSWERS = 8
_MOST_OTHERS = 4
"""So many of the last answers to a test are changed, each so often, until it notices one."""
_STUMBLED_OVER = (answers.ALTERING, answers.RAISING, answers.RETYPED)
_MOST_CHANGES = 40
"""Changes of the code for a test that notices no other answer; as many removed statements."""


def blind_tests(
    trial: Trial, names: Collection[str], text_of: Callable[[str], str | None], *, asserting: bool = False
) -> tuple[dict[str, str], set[str]]:
    """Return the reasons of the tests of `names` that can't fail, and those for which there was no time.

    A test can fail if it fails on one changed answer, or on a change of the code that it calls, by an assertion or
    another line of its file: it may check side effects instead of answers. Missing output need not be noticed by a
    test that asserts something. A test that expects an error is excused if no answer is one, as Python raises it.
    `text_of` returns the dump of a test's tree, if known; with `asserting` only failed assertions count.
    """
    if trial.left <= 0:
        return {}, {*names}
    recorded = trial.crossings(names, min(trial.limit(tuple(names), trial.first), trial.left / 2))
    asked = [name for name, test in recorded.tests.items() if test.outcome == "passed" and test.crossings]
    untried = {name for name in names if name not in recorded.tests}
    blind: dict[str, str] = {}

    def tried(suite: Suite, name: str) -> str | None:
        """Return why a test can't fail; empty if it can, None if no time is left."""
        missed, raised = "", False
        overlooked = (*_STUMBLED_OVER, answers.SILENT) if asserts(text_of(name) or "assert") else _STUMBLED_OVER
        for answer in _answers(recorded.tests[name]):
            found = trial.with_answer(suite, name, answer, recorded)
            if found is None:
                return None
            run, given = found
            shows = _asserted(run, name) if asserting else _shows(answer[1], given, run, name, text_of(name))
            if given and notices(run, [name]) and shows:
                return ""
            if answer[1] not in overlooked:
                missed, raised = missed or given, raised or given.endswith(answers.OTHER_ERROR)
        if not missed or ("raises" in (text_of(name) or "raises").lower() and not raised):
            return ""
        crossing = {*recorded.tests[name].crossings}
        for done in _on_changes(trial, suite, name, crossing):
            if done is None:
                return None
            if _asserted(done, name) or (done.outcome(name) == "failed" and done.tests[name].by_test):
                return ""
        return f"it notices no wrong answer: {missed} would pass it"

    for name, why in zip(asked, trial.suites.map(tried, asked), strict=True):
        if why is None:
            untried.add(name)
        elif why:
            blind[name] = why
        trial.say(f"changed answers: {name}")
    return blind, untried


def _shows(other: int, given: str, run: SuiteRun, name: str, text: str | None) -> bool:
    """Return True if a failure on that answer counts: on an exception or a changed object, over which the code
    itself may stumble, only by an assertion; on another type if the test has an assertion."""
    if other == answers.RETYPED and (text is None or asserts(text)):
        return True
    changed = any(word in given for word in (answers.MADE, answers.LEFT, answers.ALTERED))
    return _asserted(run, name) or (other not in _STUMBLED_OVER and not changed)


def asserts(text: str) -> bool:
    """Return True for the dump of a test with an assertion."""
    words = ("Assert(", "assert", "Raise(exc", "raises", "warns", "attr='fail'", "id='fail'")
    return any(word in text for word in words)


def _asserted(run: SuiteRun, name: str) -> bool:
    return run.outcome(name) == "failed" and run.tests[name].asserted


def _answers(test: TestRun) -> Iterator[tuple[int, int]]:
    """Yield numbers of answers, last first, with those of alternatives; the least telling ones come last."""
    for other in (*range(_MOST_OTHERS), answers.ALTERING, answers.SILENT, answers.RAISING, answers.RETYPED):
        for number in reversed(range(max(0, test.crossed - _MOST_ANSWERS), test.crossed)):
            yield number, other


def _on_changes(trial: Trial, suite: Suite, name: str, crossing: set[str]) -> Iterator[SuiteRun | None]:
    """Run a test on changes of functions that it calls: first those that answer it, then removed statements, then
    the removal of all messages; never with answers that become None."""
    called = trial.called[name]
    paths = sorted({function.partition("::")[0] for function in called})
    found = [
        (".".join(mutant.names) not in crossing, path, mutant)
        for path in paths
        for mutant in trial.mutants(path)
        if f"{path}::{mutant.first}" in called and mutant.names and mutant.after != "return None"
    ]
    if trial.left <= 0:  # there may be more
        yield None
    first = sorted(found, key=lambda each: each[0])[:_MOST_CHANGES]
    left_out = [each for each in found if not each[2].after and each not in first]
    for _, path, mutant in first + left_out[:_MOST_CHANGES]:
        yield trial.run(suite, path, mutant, [name], trial.first)
    for path in paths:
        tree = newly_parsed(trial.tree.files.get(path, b""))
        if any(map(is_message, ast.walk(tree))):
            silent = swapped(tree, lambda node: ast.Pass() if is_message(node) else None)
            yield trial.run_file(suite, path, unparse(silent), [name], trial.first)
