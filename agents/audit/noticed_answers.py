"""Compares how many changed answers a test notices with how many it noticed at the base."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from ..repository.suite import Suite, TestRun
from ..repository.suites import Suites
from ..syntax.literals import literal_value
from ..verifier.inside.suite_process.answers import OTHER_ERROR
from ..worktree.tree import Tree
from .names import renames
from .trial import Trial, notices
from .two_by_two import TwoByTwo

_SHARE = 0.5
"""Of the remaining time, for changed answers of tests with another text or surroundings."""
_MOST_ANSWERS = 4
_MOST_OTHERS = 8
_FEW_OTHERS = 2
"""Alternatives to the last answers to a test, and to earlier ones."""
_MOST_CROSSED = 100
"""Answers to a test that are reported by name."""
_MOST_ALIKE = 2
"""Tests of a file, differing only in surroundings, that get other answers of one function."""
Answer = tuple[str, int]
"""A function, and the number of its answer to the test."""
Question = tuple[str, str]
"""A function, and a digest of its arguments."""
ANY = "*"
"""Matches any function's name."""


@dataclass(frozen=True)
class Side:
    """The tests on one side of a change and their answers; `named` returns a function's new name."""

    trial: Trial
    names: tuple[str, ...]
    named: Callable[[str], str] = str

    @cached_property
    def recorded(self) -> Mapping[str, TestRun]:
        """Return the runs of the tests with the functions that answer them."""
        seconds = min(self.trial.limit(self.names, self.trial.first), self.trial.left)
        return self.trial.crossings(self.names, seconds).tests if seconds > 0 else {}

    def answers(self, name: str) -> dict[Answer, int]:
        """Return the numbers of the answers to a test, none if too many; not of hashes, which matter by chance."""
        functions = [function for function, _ in self.asked(name)]
        told = [(at, each) for at, each in enumerate(functions) if not each.endswith("__hash__")]
        return {(each, functions[:at].count(each)): at for at, each in told}

    def asked(self, name: str) -> list[Question]:
        """Return the questions of a test, in turn; none where there are too many to tell."""
        test = self.recorded.get(name)
        if test is None or test.outcome != "passed" or test.crossed > _MOST_CROSSED:
            return []
        return [(self.named(each), asked) for each, asked in zip(test.crossings, test.questions, strict=False)]

    @cached_property
    def questions(self) -> set[Question]:
        """Return the questions of all tests."""
        return {each for name in self.names for each in self.asked(name)}

    @cached_property
    def untold(self) -> set[str]:
        """Return the functions that are asked more than is told, or may be."""
        if any(name not in self.recorded for name in self.names):
            return {ANY}
        many = [
            test for test in self.recorded.values() if test.crossed > _MOST_CROSSED or test.outcome != "passed"
        ]
        return {self.named(each) for test in many for each in test.crossings}

    def tried(self, name: str, number: int, other: int) -> tuple[str, bool] | None:
        """Return the text of another answer ("": none), and if the test notices it; None if time is over."""
        found = self.trial.with_answer(self.trial.suites[0], name, (number, other), self.trial.first)
        return None if found is None else (found[1], notices(found[0], [name]))


@dataclass(frozen=True)
class Duller:
    """Finds tests that notice less than before: `pairs` has each as it was, and as it is; those `alike` differ in
    surroundings only. What another unchanged test notices now is not lost."""

    before: Side
    now: Side
    pairs: Mapping[str, str]
    alike: Collection[str] = ()

    def found(self, kept: Collection[str]) -> tuple[dict[str, str], set[str]]:
        """Return reasons by id at the base, for `kept` tests also lost calls, and what was out of time."""
        if self.now.trial.left <= 0 or not self.pairs:
            return {}, self.pairs.keys() - self.alike
        found: dict[str, str] = {}
        late: set[str] = set()
        was = {old: self.before.answers(old) for old in self.pairs}
        for old, answer, number, others in self._in_turn():
            if old in found or answer not in was[old]:
                continue
            if why := self._overlooked(old, answer, was[old][answer], number, others):
                found[old] = why
            elif self.now.trial.left <= 0:
                late.add(old)
        for old in self.pairs:
            if old in kept and old not in found and (why := self._unasked(old)):
                found[old] = why
        ran = self.before.recorded.keys(), self.now.recorded.keys()
        late |= {old for old, new in self.pairs.items() if not (old in ran[0] and new in ran[1])}
        return found, late - found.keys() - {*self.alike}

    def _in_turn(self) -> Iterator[tuple[str, Answer, int, int]]:
        """Yield tests with their answers, the numbers of these, and how many alternatives to try: the last answers
        of all tests first, and of those `alike` the last of each function."""
        before_last: list[tuple[str, Answer, int, int]] = []
        asked: Counter[tuple[str, str]] = Counter()
        for old, new in self.pairs.items():
            answers = [*self.now.answers(new).items()]
            if old in self.alike:
                for function, answer in {answer[0]: (answer, number) for answer, number in answers}.items():
                    place = (old.partition("::")[0], function)
                    asked[place] += 1
                    before_last += [(old, *answer, _MOST_ANSWERS)] if asked[place] <= _MOST_ALIKE else []
                continue
            yield from ((old, *answer, _MOST_OTHERS) for answer in answers[-_MOST_ANSWERS:])
            before_last += [(old, *answer, _FEW_OTHERS) for answer in answers[:-_MOST_ANSWERS]]
        yield from before_last

    def _overlooked(self, old: str, answer: Answer, was: int, number: int, others: int) -> str:
        """Return why a test does not notice an answer that it gets now, and did as the number `was`."""
        new = self.pairs[old]
        around = {new, *map(self.pairs.get, self.alike)}
        rest = [name for name in self.now.names if name not in around]
        for other in range(others):
            tried = self.now.tried(new, number, other)
            if tried is None or not tried[0]:
                return ""
            lost = None if tried[1] else self.before.tried(old, was, other)
            if lost is None or not lost[1] or _kind(lost[0]) != _kind(tried[0]):
                continue
            if not any(self._notes(name, answer[0], lost[0]) for name in rest):
                return f"it noticed {lost[0]}, and does not now"
        return ""

    def _unasked(self, old: str) -> str:
        """Return why a noticed answer is lost: fewer tests ask that function, and none asks this."""
        untold, asked, was = self.now.untold, self.now.questions, self.before.questions
        lost = {question: at for at, question in enumerate(self.before.asked(old)) if question not in asked}
        own = {*self.now.asked(self.pairs[old])} - {*self.before.asked(old)}
        if ANY in untold or len(lost) <= len(own):
            return ""
        functions = [function for function, _ in lost]
        gained = [function for function, _ in asked - was]
        fewer = {each for each in functions if functions.count(each) > gained.count(each)} - untold
        for question, number in lost.items():
            for other in range(_FEW_OTHERS) if question[0] in fewer else ():
                tried = self.before.tried(old, number, other)
                if tried is None or not tried[0]:
                    break
                others = self._others  # a test that is as it was asks that, or may
                if tried[1] and question not in others.questions and others.untold.isdisjoint((question[0], ANY)):
                    return f"it noticed {tried[0]}, and no test asks for that now"
        return ""

    @cached_property
    def _others(self) -> Side:
        trial = self.now.trial
        tests = trial.first.tests.items()
        names = [name for name, test in tests if test.outcome == "passed" and trial.called[name]]
        return replace(self.now, names=tuple(name for name in names if name not in self.now.names))

    def _notes(self, name: str, function: str, given: str) -> bool:
        """Return True if a test notices that other answer of the function."""
        numbers = [number for (each, _), number in self.now.answers(name).items() if each == function]
        return any(
            self.now.tried(name, number, other) in ((given, True), None)
            for number in numbers[-_MOST_ANSWERS:]
            for other in range(_MOST_OTHERS)
        )


def duller_and_moved(
    trial: Trial,
    four: TwoByTwo,
    old: tuple[Tree, Suite],
    passing: Collection[str],
    gone: Collection[str],
    doubtful: Collection[str],
) -> tuple[dict[str, str], set[str], set[str]]:
    """Return why tests with another text or surroundings notice fewer changed answers than at the base (`old`: its
    tree and suite), and which `gone` tests have a new one, not `doubtful`, that asks the same and notices as much.
    Also return those for which there was no time."""
    tree, suite = old
    pairs = {was: now for was, now in four.rewritten(four.touched).items() if now in passing}
    alike = pairs.keys() - four.rewritten()
    new = [name for name in passing if name not in four.base.tests and name not in pairs.values()]
    able = [name for name in new if name not in doubtful]
    left = [name for name in four.base.tests if name in gone] if able else []
    names = renames(tree, trial.tree)
    now = Side(trial.sooner(_SHARE), (*{*pairs.values()}, *new))
    before = replace(now.trial, suites=Suites([suite]), tree=tree, first=four.base)
    was = Side(before, (*pairs, *left), lambda name: ".".join(names.get(each, each) for each in name.split(".")))
    kept = [name for name in pairs if four.contract.outcome(name) == "passed"]
    for name in left:
        asked = {*was.asked(name)}
        same = [each for each in able if asked and asked <= {*now.asked(each)}]
        if same:
            pairs[name] = same[0]
    found, late = Duller(was, now, pairs, alike).found(kept)
    moved = {name for name in left if name in pairs and name not in found and name not in late}
    dull = {name: why for name, why in found.items() if name not in left}
    told = {name: why + four.surroundings(name, pairs[name]) for name, why in dull.items()}
    return told, moved, late


def _kind(given: str) -> object:
    """Return the type of another answer, or its text where that is no literal."""
    text = given.partition(" returning ")[2]
    if given.endswith(OTHER_ERROR):
        return OTHER_ERROR
    value = literal_value(text)
    return text if value is None else type(value[0])
