"""Compares old and new code under old and new tests: the status of each test."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ..repository.suite import SuiteRun
from .base import TestPlace, is_of_tests
from .cases import cases, each_left_out, unquoted
from .project import outcomes_of
from .pytest_options import SETTINGS
from .records import Change, ChangeStatus, Tampering, TestChange
from .trial import reason

_OF_OBJECT = re.compile(r"(?<=[\[-])([a-zA-Z_]\w*?)\d+(?=[\]-])")
"""The part of an id for an object: pytest makes it of the parameter's name and a number."""
_LACKS = re.compile(
    r"^E .*(?:no attribute|cannot import name|No module named|: no) ['`]([\w.]+)['`]", re.MULTILINE
)
"""In the text of a failure for a missing name."""
_MOST_LINES = 8
_MOST_SHOWN = 200


@dataclass(frozen=True)
class TwoByTwo:
    """Four runs, and the test functions of the base and of now by id without parameters; `around` are differing
    files around the tests, `dropped` the names that only the old code has.

    `base` is old tests on old code, `contract` old on new, `now` new on new, `shown` new tests on old code.
    """

    base: SuiteRun
    contract: SuiteRun
    now: SuiteRun
    shown: SuiteRun
    old: Mapping[str, TestPlace]
    new: Mapping[str, TestPlace]
    around: Sequence[str] = ()
    dropped: Container[str] = ()

    def doubtful(self) -> list[str]:
        """Return the old tests that pass on the old code alone: a second run tells whether they always do."""
        names = [self._same(self.contract, name) for name in self._passing()]
        return [name for name in names if self.contract.outcome(name) == "failed"]

    def holding(self, paths: Container[str]) -> list[str]:
        """Return the old tests that pass on both codes, and call functions of files at `paths`."""
        return self.calling(paths, [name for name in self._passing() if self.contract.outcome(name) == "passed"])

    def calling(self, paths: Container[str], names: Container[str]) -> list[str]:
        """Return the old tests among `names` that pass on the old code, and call functions of files at `paths`."""
        tests = self.contract.tests
        found = (name for name in self._passing() if name in names and name in tests)
        return [name for name in found if any(each.partition("::")[0] in paths for each in tests[name].called)]

    def failing(self, names: Sequence[str]) -> TwoByTwo:
        """Return the same where these tests fail on the new code."""
        why = "it fails at times on the code of now, and never on that of the base"
        there = [name for name in names if name in self.now.tests]
        contract, now = self.contract.ruled("failed", names, why), self.now.ruled("failed", there, why)
        return replace(self, contract=contract, now=now)

    def with_caught_failures(self) -> TwoByTwo:
        """Return the same where tests have failed of which an assertion fails in a call by the new code alone."""
        sound = [name for name in self._passing() if not self.base.tests[name].failed_in_callback]
        why = "an assertion of it fails in a call by the code, which catches the error"

        def ruled(run: SuiteRun, names: Iterable[str]) -> SuiteRun:
            passed = (name for name in names if run.outcome(name) == "passed")
            return run.ruled("failed", [name for name in passed if run.tests[name].failed_in_callback], why)

        contract = ruled(self.contract, (self._same(self.contract, name) for name in sound))
        return replace(self, contract=contract, now=ruled(self.now, map(self._counterpart, sound)))

    def changes(self) -> Iterator[TestChange]:
        """Yield each test of the base that passed or passes now, and each new one."""
        known: set[str] = set()
        for name in self._passing():
            now = self._counterpart(name)
            known.add(now)
            yield self._ruled(name, now)
        for name, test in self.now.tests.items():
            if name in known:
                continue
            if test.outcome == "passed" and name in self.base.tests:
                fixed: ChangeStatus = "kept" if self.base.outcome(name) == "skipped" else "fixed"
                yield self._made(name, fixed, "")
            elif name in self.base.tests or test.outcome == "skipped":
                continue
            elif test.outcome != "passed":
                yield self._made(name, "broken", f"it is new, and fails: {reason(test)}")
            elif self.shown.outcome(self._same(self.shown, name)) == "passed":
                yield self._made(name, "shows nothing", "it is new, and passes on the code of the base, too")
            else:
                yield self._made(name, "new", "")

    def rewriting(self) -> Iterator[Tampering]:
        """Yield the files that are judged and that tests rewrite on the new code alone."""
        for path in sorted({*self.now.rewritten, *self.contract.rewritten} - {*self.base.rewritten}):
            if path.endswith(".py") or is_of_tests(path):
                yield Tampering(path, 1, "it is rewritten while the tests run, and was not at the base")

    def rewritten(self, touched: Container[str] = ()) -> dict[str, str]:
        """Return the tests that pass then and now and have another text or are `touched`, each with its id now."""
        found = {}
        for name in self._passing():
            now = self._counterpart(name)
            old, new = self.old.get(name.partition("[")[0]), self.new.get(now.partition("[")[0])
            differs = old and new and (old.body != new.body or name.partition("[")[0] in touched)
            if self.now.outcome(now) == "passed" and differs:
                found[name] = now
        return found

    @cached_property
    def touched(self) -> frozenset[str]:
        """Return the ids, without parameters, of functions of the tests that differ, or have a file of `around`
        beside them; one with tests of its own is beside these alone."""
        texts = [{name: place.whole for name, place in each.items()} for each in (self.old, self.new)]
        names = {*self.old, *self.new}
        found = {name for name in names if texts[0].get(name) != texts[1].get(name)}
        files = {name.partition("::")[0] for run in (self.base, self.now) for name in run.tests}
        for path in self.around:
            folder = "" if path in SETTINGS else path.rpartition("/")[0]
            below = f"{path}::" if path in files else f"{folder}/" if folder else ""
            found |= {name for name in names if name.startswith(below)}
        return frozenset(found)

    def _passing(self) -> list[str]:
        return [name for name, test in self.base.tests.items() if test.outcome == "passed"]

    def _counterpart(self, name: str) -> str:
        """Return the id that an old test has now, which may have the same text or name elsewhere, or cases."""
        there = self._same(self.now, name)
        if there in self.now.tests:
            return there
        function, bracket, parameters = name.partition("[")
        if function not in self.old:
            return name
        body = self.old[function].body
        added = [each for each in self.new if each not in self.old]
        alike = [each for each in added if self.new[each].body == body]
        last = function.rpartition("::")[2]
        moved = alike or [each for each in added if each.rpartition("::")[2] == last]
        for each in [function] if function in self.new else moved:
            cases = [other for other in self.now.tests if not bracket and other.startswith(f"{each}[")]
            passed = [other for other in cases if self.now.outcome(other) == "passed"]
            for found in (f"{each}{bracket}{parameters}", each, *passed, *cases, self._skipped.get(each, "")):
                if found in self.now.tests:
                    return found
        return name

    @cached_property
    def _skipped(self) -> dict[str, str]:
        """Return a case of each function with only skipped cases now, by the function's id."""
        ran = {name.partition("[")[0] for name, test in self.now.tests.items() if test.outcome != "skipped"}
        cases = {name.partition("[")[0]: name for name in self.now.tests}
        return {function: cases[function] for function in cases.keys() - ran}

    def _same(self, run: SuiteRun, name: str) -> str:
        """Return the id of a test in another run, where objects among its parameters may have another number."""
        if name in run.tests:
            return name
        return self._by_normal_id[id(run)].get(normal_id(name), name)

    @cached_property
    def _by_normal_id(self) -> dict[int, dict[str, str]]:
        """Return the first test by normal id, for each run."""
        runs = (self.base, self.contract, self.now, self.shown)
        return {id(run): {normal_id(name): name for name in reversed([*run.tests])} for run in runs}

    def _ruled(self, name: str, now: str) -> TestChange:
        before, after = self.contract.outcome(self._same(self.contract, name)), self.now.outcome(now)
        if after == "passed" and before == "passed":
            return self._made(name, "kept", "", now)
        if dropped := self._dropped(name) if after in ("passed", "missing") else "":
            why = f"as it was it needs `{dropped}`, which the code has nowhere any more"
            return self._made(name, "expects otherwise", why, now)
        if after == "passed":
            on_both = self.shown.outcome(self._same(self.shown, now)) == "passed"
            why = "as it was at the base it fails on the code of now"
            why += "; as it is, it passes on the code of both" if on_both else ""
            status: ChangeStatus = "weaker" if on_both else "expects otherwise"
            return self._made(name, status, why + self.surroundings(name, now), now)
        if after == "skipped":
            fails = ", and as it was it fails on the code of now" if before == "failed" else ""
            where = self.now.tests[now].text
            return self._made(name, "gone", f"it is skipped now{where}, or a failure is expected{fails}", now)
        if after == "failed":
            return self._made(name, "broken", f"it fails now: {reason(self.now.tests[now])}", now)
        if before == "passed":
            return self._made(name, "gone", "")
        if self.shown.outcome(self._same(self.shown, name)) == "passed":
            why = "the tests of now have this case on the old code, and not on the new: their cases come from it"
            return self._made(name, "gone", why)
        function = name.partition("[")[0]
        if name in self._replaced_cases:
            why = "this case is gone, fails on the code of now, and one that expects otherwise took its place"
            return self._made(name, "expects otherwise", why)
        written = function in self.new and function in self.old
        there = ", though it is written as it was" if written and not self._diff(name, name) else ""
        why = f"it is not run any more{there}, and as it was it fails on the code of now"
        return self._made(name, "gone", why + (self.surroundings(name, name) if there else ""))

    def _dropped(self, name: str) -> str:
        """Return the name that an old test fails for on the new code, if that was dropped from it."""
        test = self.contract.tests.get(self._same(self.contract, name))
        lacking = _LACKS.findall(test.text) if test is not None and test.outcome == "failed" else ["."]
        return next((each for each in lacking[-1:] if each.rpartition(".")[2] in self.dropped), "")

    @cached_property
    def _replaced_cases(self) -> set[str]:
        """Return the gone cases for which a new one passes with the same parameters but one: the expected value,
        if it fails on the old code, or a value that replaced the old one."""
        gone: dict[str, list[str]] = {}
        for name in self._passing():
            if self._counterpart(name) not in self.now.tests:
                gone.setdefault(name.partition("[")[0], []).append(name)
        found = [each for function in gone for each in self._replacing(function, gone[function])]
        values = {values for _, values, is_expected in found if is_expected and values[0] != values[1]}
        return {name for name, pair, is_expected in found if is_expected or pair in values}

    def _replacing(self, function: str, names: Sequence[str]) -> Iterator[tuple[str, tuple[str, str], bool]]:
        """Yield a function's cases with a value and its replacement in a new case, and True if that case has other
        parameters, too, and fails on the old code."""
        if function not in self.old or function not in self.new:
            return
        before, now = (
            cases(places[function].source, [each for each in run.tests if each.startswith(f"{function}[")])
            for places, run in ((self.old, self.base), (self.new, self.now))
        )
        standing: dict[object, list[tuple[str, bool]]] = {}
        for each in now:
            if each not in before and self.now.outcome(each) == "passed":
                shows = self.shown.outcome(self._same(self.shown, each)) != "passed"
                for rest, value in each_left_out(now[each]):
                    standing.setdefault(rest, []).append((value, shows and len(now[each]) > 1))
        for name in names:
            for rest, value in each_left_out(before.get(name, ())):
                for other, is_expected in standing.get(rest, ()):
                    if other != value:
                        yield name, (unquoted(value), unquoted(other)), is_expected

    def surroundings(self, name: str, now: str) -> str:
        """Say which files differ around an unchanged test."""
        if not self.around or self._diff(name, now):
            return ""
        return f"; the test is the same, and around it differ {', '.join(self.around[:3])}"

    def _diff(self, name: str, now: str) -> tuple[str, ...]:
        old, new = (
            places[each.partition("[")[0]].source.splitlines() if each.partition("[")[0] in places else []
            for places, each in ((self.old, name), (self.new, now))
        )
        lines = [*difflib.unified_diff(old, new, n=0, lineterm="")][2:]
        shown = [f"{line[0]} {line[1:]}"[:_MOST_SHOWN] for line in lines if line[0] != "@" and line[1:].strip()]
        return (*shown[:_MOST_LINES], *(["..."] if len(shown) > _MOST_LINES else []))

    def _made(self, name: str, status: ChangeStatus, why: str, now: str | None = None) -> TestChange:
        now = now or name
        place = self.new.get(now.partition("[")[0]) or self.old.get(name.partition("[")[0])
        path = (now if now.partition("[")[0] in self.new else name).partition("::")[0]
        diff = self._diff(name, now) if status in ("weaker", "expects otherwise") else ()
        return TestChange(name, status, why, path, place.line if place else 1, diff)


def settled(
    changes: Sequence[TestChange],
    survivors: Sequence[Change],
    blunted: Mapping[str, str],
    compared: Callable[[str], bool],
    late: Container[str] = (),
    slower: str = "",
) -> tuple[TestChange, ...]:
    """Return `changes` with what mutants say: a test is weaker if it alone noticed a mutant before, if it is
    `blunted`, with the reason, or if it was `late` while all got `slower`; a gone test is kept if it was
    `compared` and others notice what it did."""
    lost: dict[str, Change] = {}
    for each in survivors:
        if each.noticed_before is not None:
            lost.setdefault(normal_id(each.noticed_before), each)
    dull = {normal_id(name): why for name, why in blunted.items()}
    found = []
    for change in changes:
        missed, unable = lost.get(normal_id(change.id)), dull.get(normal_id(change.id))
        is_open = change.status == "gone" and not change.why
        if missed is not None and change.status in ("kept", "gone") and (is_open or change.status == "kept"):
            what = f"`{missed.before}` -> `{missed.after or 'nothing'}` ({missed.path}:{missed.line})"
            status: ChangeStatus = "gone" if is_open else "weaker"
            found.append(replace(change, status=status, why=f"it noticed {what}, and no test does now"))
        elif change.status in ("kept", "expects otherwise") and unable is not None:
            found.append(replace(change, status="weaker", why=unable))
        elif change.status == "kept" and change.id in late and not compared(change.id):
            why = f"there was no time to compare it with what it was{slower}; more --seconds do"
            found.append(replace(change, status="weaker" if slower else "not compared", why=why))
        elif is_open and compared(change.id):
            found.append(replace(change, status="kept", why="others notice what it did"))
        elif is_open:
            found.append(replace(change, why="it is not run any more, and others may not notice what it did"))
        else:
            found.append(change)
    return tuple(found)


def steady(runs: Sequence[SuiteRun]) -> SuiteRun:
    """Return the first run, in which a test that is flaky passes: it is named as that."""
    return runs[0].ruled("passed", flaky(runs))


def flaky(runs: Sequence[SuiteRun]) -> list[str]:
    """Return the tests that do not end alike in all runs."""
    return [name for name in runs[0].tests if len({*outcomes_of(name, runs)}) > 1]


def normal_id(name: str) -> str:
    """Return an id without the numbers of objects in its parameters, which differ from run to run for a set."""
    function, bracket, parameters = name.partition("[")
    return function + _OF_OBJECT.sub(r"\1", bracket + parameters)
