"""Finds the tests that pass whatever the code answers them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator

from ..repository.suite import Suite, SuiteRun, TestRun
from ..strength.sites import is_message
from ..syntax.clean_text import clean
from ..syntax.source import swapped, unparse
from ..verifier.inside.suite_process import answers
from .base import newly_parsed
from .trial import Trial, notices

_MOST_ANSWERS = 8
_MOST_OTHERS = 4
"""Of the last answers to a test so many are changed, each so often, until it notices one."""
_STUMBLED_OVER = (answers.ALTERING, answers.RAISING, answers.RETYPED)
_MOST_CHANGES = 40
"""Changes of the code for a test that notices no other answer, and as many statements left out."""


def blind_tests(
    trial: Trial, names: Collection[str], text_of: Callable[[str], str | None], *, asserting: bool = False
) -> tuple[dict[str, str], set[str]]:
    """Return why each of the tests `names` that can't fail can't, and those that there was no time for.

    A test counts if it fails on one other answer to it, or if an assertion of it or another line of its file fails
    on a change of the code that it calls: it may look at what the code leaves behind, not at what it returns. A
    test that asserts something need not notice that the code says nothing. Nothing is said of one that expects an
    error which no answer to it is: Python raises it, where the code lacks an operation. `text_of` has the text of
    each test, as a dump of its tree, if that is known; with `asserting` only assertions that fail count.
    """
    if trial.left <= 0:
        return {}, {*names}
    recorded = trial.crossings(names, min(trial.limit(tuple(names), trial.first), trial.left / 2))
    asked = [name for name, test in recorded.tests.items() if test.outcome == "passed" and test.crossings]
    untried = {name for name in names if name not in recorded.tests}
    blind: dict[str, str] = {}

    def tried(suite: Suite, name: str) -> str | None:
        """Why a test can't fail; empty where it can, None where no time is left."""
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
        return f"it notices no wrong answer: {clean(missed)} would pass it"

    for name, why in zip(asked, trial.suites.map(tried, asked), strict=True):
        if why is None:
            untried.add(name)
        elif why:
            blind[name] = why
        trial.say(f"changed answers: {name}")
    return blind, untried


def _shows(other: int, given: str, run: SuiteRun, name: str, text: str | None) -> bool:
    """Return True if it shows something of a test that it failed on that answer: on an exception or a changed
    object, which the code itself may stumble over, by an assertion; on another type if it has one."""
    if other == answers.RETYPED and (text is None or asserts(text)):
        return True
    changed = any(word in given for word in (answers.MADE, answers.LEFT, answers.ALTERED))
    return _asserted(run, name) or (other not in _STUMBLED_OVER and not changed)


def asserts(text: str) -> bool:
    """Return True for the dump of a test that asserts something."""
    words = ("Assert(", "assert", "Raise(exc", "raises", "warns", "attr='fail'", "id='fail'")
    return any(word in text for word in words)


def _asserted(run: SuiteRun, name: str) -> bool:
    """Return True if an assertion of a test failed."""
    return run.outcome(name) == "failed" and run.tests[name].asserted


def _answers(test: TestRun) -> Iterator[tuple[int, int]]:
    """Yield the number of an answer, and of another one in its place: of the last answers first; changed
    arguments, what the code says beside its answers, and what has another type, come last."""
    for other in (*range(_MOST_OTHERS), answers.ALTERING, answers.SILENT, answers.RAISING, answers.RETYPED):
        for number in reversed(range(max(0, test.crossed - _MOST_ANSWERS), test.crossed)):
            yield number, other


def _on_changes(trial: Trial, suite: Suite, name: str, crossing: set[str]) -> Iterator[SuiteRun | None]:
    """Run a test on changes of functions that it calls: of those that answer it, then without statements, one of
    which may do what it looks at, and without all that tells people something; not on answers that become None."""
    called = trial.called[name]
    paths = sorted({function.partition("::")[0] for function in called})
    found = [
        (".".join(mutant.names) not in crossing, path, mutant)
        for path in paths
        for mutant in trial.mutants(path)
        if f"{path}::{mutant.first}" in called and mutant.names and mutant.after != "return None"
    ]
    first = sorted(found, key=lambda each: each[0])[:_MOST_CHANGES]
    left_out = [each for each in found if not each[2].after and each not in first]
    for _, path, mutant in first + left_out[:_MOST_CHANGES]:
        yield trial.run(suite, path, mutant, [name], trial.first)
    for path in paths:
        tree = newly_parsed(trial.tree.files.get(path, b""))
        if any(map(is_message, ast.walk(tree))):
            silent = swapped(tree, lambda node: ast.Pass() if is_message(node) else None)
            yield trial.run_file(suite, path, unparse(silent), [name], trial.first)
