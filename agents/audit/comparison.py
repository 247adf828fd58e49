"""Verifies a change to a project: old and new code under old and new tests."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from itertools import accumulate
from pathlib import PurePosixPath

from ..errors import UsageError
from ..repository.suite import Suite, SuiteJob, SuiteRun
from ..repository.suites import Suites, alike, run_whole
from ..worktree.tree import Tree
from .answers import asserts, blind_tests
from .base import Base, around, functions_in, places_of, read_base, with_tests_of
from .check_helpers import expectations, old_checks
from .mutation import lost_functions, measured, uncalled
from .names import absences, dropped, renames, with_absent_names, with_names
from .noticed_answers import duller_and_moved
from .project import Project, check_found_in_time, listed, outcomes_of
from .pytest_options import options_for
from .records import DOUBTFUL, REFUSED, ProjectReport, Tampering, TestChange
from .special_cases import Outside, special_cases
from .tampering import tampering
from .trial import Trial, hanging_limit, last_said, made_to_fail, notices
from .two_by_two import TwoByTwo, flaky, normal_id, settled, steady
from .weaker import weakened, weaker_asserts, with_doctests_of

_SHARE = 0.25
"""Of the remaining time, for changed answers of new and changed tests."""
_SEEDS = (0, 1)
_MOST_UNFAILING = 5
_RUNS_AT_BASE = 10
_NOTED = 20
"""Slowdown allowed to a test whose calls are recorded."""
_SLOWER, _MORE_SECONDS = 2, 5.0
"""Slowdown of the tests since the base, as a factor plus seconds, that is not reported."""
_IN_CI = dict.fromkeys(("CI", "GITHUB_ACTIONS", "GITLAB_CI"), "true")
_ASKS = re.compile(rb"environ|getenv|\bCI\b")
_FAILED, _NO_TESTS = 1, 5
"""pytest's exit codes for failed tests, and for none."""


class Comparison(Project):
    """Runs the tests of a project and of a commit on both codes, in a sandbox, within `seconds` in all."""

    def report_since(self, reference: str, *, strict: bool = False) -> ProjectReport:
        """Report on the change since a commit. Raises UsageError, SandboxBroken and Interrupted."""
        base = read_base(self._tree, reference)
        if base.tree.named:  # those of now could say that code is tests
            self._tree = replace(self._tree, named=base.tree.named)
            self._suite = self._opened(replace(self._suite, tree=self._tree))
        if ".gitmodules" in self._tree.files:
            self._notes.append("What its submodules have in them is not compared.")
        if not base.differing:
            self._notes.append(f"Nothing differs from {reference}: no test was run.")
            return ProjectReport(self._name, reference, (), strict=strict, **self._ending())
        with self._held:
            self._say("the tests as they are")
            collected, faulty = self._collected(least=1 if self._suite.paths else 0)
            suites = self._held.enter_context(closing(alike(self._suite)))
            runs = self._runs(collected, faulty, _SEEDS, whole=True)
            self._say("old and new code under old and new tests")
            four, contract, at_base = self._four(base, reference, steady(runs), suites)
            four = self._without_flaky(four, contract, at_base, base.lines, flaky(runs))
            four = self._with_old_checks(four, contract, base)
            four = self._with_skips_in_ci(four, at_base, base)
            trial = Trial(suites, self._tree, runs[0], collected, self._cold, self._end, self._say)
            trial = replace(trial, before=four.contract, old=contract, lines=base.lines)
            passing = [name for name in runs[0].tests if {*outcomes_of(name, runs)} == {"passed"}]
            calls = [collected.called, *(test.called for test in runs[0].tests.values())]
            imported = {call.partition("::")[0] for each in calls for call in each}
            found = [*tampering(self._tree, base, imported), *self._unfailing(four, at_base)]
            found += [*weakened(self._tree, base, four.base.tests), *four.rewriting()]
            found += weaker_asserts(four.old, four.new)
            outside = self._outside(base, trial, four, at_base, contract)
            found += [*outside.tampering(base), *self._special_cases(base, trial, four, outside)]
            self._say("the new tests on changed answers")
            asked = [name for name in passing if trial.called[name] and name.partition("[")[0] in four.touched]
            blind, untried = blind_tests(trial.sooner(_SHARE), asked, self._text)
            blunted = self._blunted(trial, four, blind, passing)
            changes = [*four.changes()]
            if not (changes or four.now.tests):
                raise UsageError(f"No test of {self._name} could be run (pytest found none).")
            gone = [each.id for each in changes if each.status == "gone" and not each.why]
            doubtful = {*blind, *untried}
            dull, moved, late = duller_and_moved(trial, four, (base.tree, at_base), passing, gone, doubtful)
            blunted |= dull | self._replaced(changes, trial, four, at_base)
            mutation = measured(trial, base, [name for name in passing if name not in blind], four.touched)
        tried = [name for name in runs[0].tests if name.partition("[")[0] in four.touched]
        findings = tuple(self._finding(name, runs, trial, blind, untried) for name in tried)
        lost = lost_functions(mutation, self._tree)
        whole = mutation.tried == mutation.made and not mutation.not_compared
        then = {normal_id(name): test.called for name, test in reversed([*four.contract.tests.items()])}

        def compared(name: str) -> bool:
            """Return True if changes of all that a test of the base calls were tried, and none of it is lost."""
            called = then.get(normal_id(name), ()) if whole else ()
            return name in moved or (bool(self._tree.code_in(called)) and lost.isdisjoint(called))

        ruled = settled(changes, mutation.survivors, blunted, compared, late, self._slower(at_base, four))
        in_doubt = {each.path for each in ruled if each.status in REFUSED | DOUBTFUL}
        self._notes += [why for path, why in self._absent if not path or path in in_doubt]
        self._note_base(reference, base, four, uncalled(self._tree, base, runs[0]))
        self._note(mutation, len(untried), runs[0])
        return ProjectReport(
            self._name, reference, findings, ruled, tuple(found), mutation, strict=strict, **self._ending()
        )

    def _slower(self, at_base: Suite, four: TwoByTwo) -> str:
        """Say how much longer the tests and their collection take than at the base, if much."""
        then, now = (
            self._collecting.get(id(suite), 0.0) + sum(test.seconds for test in run.tests.values())
            for suite, run in ((at_base, four.base), (self._suite, four.now))
        )
        return f", as all take {now:.0f} s, and took {then:.0f} s" if now > _SLOWER * then + _MORE_SECONDS else ""

    def _four(self, base: Base, reference: str, now: SuiteRun, suites: Suites) -> tuple[TwoByTwo, Suite, Suite]:
        """Run old and new tests on old and new code, and collect the new ones' suites meanwhile. Also return the
        suites of old tests on new code and on old code."""
        names = renames(base.tree, self._tree)
        back = {right: left for left, right in names.items()}
        beside = expectations(self._tree, base)
        on_now = with_tests_of(with_doctests_of(self._tree, base.tree), with_names(base.tree, names), beside)
        on_old = with_tests_of(with_doctests_of(base.tree, self._tree), with_names(self._tree, back), beside)
        trees = ((base.tree, base.tree), (on_now, self._tree), (on_old, base.tree))
        compared = [self._suite_of(tree, code) for tree, code in trees]
        with ThreadPoolExecutor(2) as pool:
            limits = (0.0, 0.0, hanging_limit(now))
            ran = pool.map(self._ran, compared, (reference, "", ""), ("", "now", reference), limits)
            for suite in suites[1:]:
                pool.submit(suite.collect, self._left())
            (old, before), (contract, on_new), (_, shown) = ran
        tests = {name.partition("[")[0].rpartition("::")[2] for run in (before, now) for name in run.tests}
        beside += around(self._tree, replace(base, tree=with_names(base.tree, names)), tests)
        lost = dropped(base.tree, self._tree) - names.keys()
        four = TwoByTwo(before, on_new, now, shown, places_of(base.tree), self._places, beside, lost)
        return four, contract, old

    def _blunted(
        self, trial: Trial, four: TwoByTwo, blind: Mapping[str, str], passing: Sequence[str]
    ) -> dict[str, str]:
        """Return why tests can't fail now, by an assertion if they fail as they were, which could at the base."""
        ended = four.contract.tests
        asserted = {name for name, test in ended.items() if test.outcome == "failed" and test.asserted}
        asked = [name for name in passing if name in asserted and trial.called[name]]
        found, _ = blind_tests(trial.sooner(_SHARE), asked, self._text, asserting=True) if asked else ({}, set())
        old = [name for name in blind if name in ended and ended[name].outcome == "passed"]
        if old and trial.old is not None:
            before = replace(trial.sooner(_SHARE), suites=Suites([trial.old]), first=four.contract)
            bodies = {name: place.body for name, place in four.old.items()}
            still, untried = blind_tests(before, old, lambda name: bodies.get(name.partition("[")[0]))
            found |= {} if untried else {name: blind[name] for name in old if name not in still}
        silent = [name for name in passing if not trial.called[name] and name in ended]
        code = functions_in(self._tree, of_tests=False) if silent else {}
        for name in silent:
            text, then = self._text(name) or "", self._tree.code_in(ended[name].called)
            names = [code[each].name for each in then if each in code]
            if then and not asserts(text or "assert"):
                found[name] = "it calls no function of the project, and asserts nothing"
            elif any(f"func=Name(id='{each}'" in text or f"attr='{each}'" in text for each in names):
                found[name] = "it calls no function of the project, though its text does"
        return {name: f"as it was it could fail; now {why}" for name, why in found.items()}

    def _replaced(
        self, changes: Sequence[TestChange], trial: Trial, four: TwoByTwo, suite: Suite
    ) -> dict[str, str]:
        """Return why tests of unchanged text, whose old version fails on the new code, pass: files around them
        replace functions of the code, which they did not at the base."""
        same = [each.id for each in changes if each.status == "expects otherwise" and not each.diff]
        names = [name for name in same if name in four.now.tests and name in four.base.tests]
        if not names:
            return {}
        job = SuiteJob(self._left(), replaced=True)
        now, before = (run_whole(each, names, job, cold=trial.cold) for each in (trial.suites[0], suite))
        found = {}
        for name in names:
            was = before.tests[name].replaced if name in before.tests else ()
            new = [each for each in now.tests[name].replaced if each not in was] if name in now.tests else []
            if new:
                found[name] = f"around it {new[0]} of the code is replaced; as it was it fails"
        return found

    def _suite_of(self, tree: Tree, code: Tree) -> Suite:
        """Return a suite like that of now for another tree, which has the code of `code`."""
        options = options_for(tree, self._suite.sandbox.interpreter, code)
        files = [*map(PurePosixPath, tree.files)]
        paths = [path for path in self._suite.paths if any(each.is_relative_to(path) for each in files)]
        return self._opened(replace(self._suite, tree=tree, options=options, paths=paths))

    def _ran(self, suite: Suite, reference: str, code: str, most: float) -> tuple[Suite, SuiteRun]:
        """Collect and run a suite, each test for `most` seconds (0: half of the remaining time). Files that can't
        be collected have failed; of `reference` some file must be collectable. With tests of another version than
        `code`, missing names fail only the tests that use them."""
        if self._suite.paths and not suite.paths:
            return suite, SuiteRun({}, "ended")
        collected, faulty = self._collect(suite)
        if absent := [*absences(faulty, suite.tree.files, code)] if code else []:
            suite.close()
            self._absent += absent
            suite = self._opened(replace(suite, tree=with_absent_names(suite.tree)))
            collected, faulty = self._collect(suite)
        check_found_in_time(collected, faulty)
        if collected is None or not collected.tests:
            if reference and (faulty.tests or (collected is None and faulty.exit_code != _NO_TESTS)):
                texts = [test.text for test in faulty.tests.values()]
                said = last_said("\n".join(texts) or faulty.output) or faulty.ended
                raise UsageError(
                    f"The tests of {reference} can't be run on the code of {reference} ({said}); name a commit on "
                    "which they can."
                )
            return suite, faulty
        run = run_whole(suite, collected.tests, SuiteJob(self._left(), record=True, most=most), cold=self._cold)
        if missing := {*run.planned} - {*run.tests}:
            count = f"{len(missing)} of {len(collected.tests)} tests"
            raise UsageError(f"{count} did not end in time; give more by --seconds.")
        return suite, run.after(faulty)

    def _without_flaky(
        self, four: TwoByTwo, contract: Suite, at_base: Suite, paths: Container[str], unsteady: Sequence[str]
    ) -> TwoByTwo:
        """Repeat the old tests that fail on the new code. One that passes is flaky, and counts as passed, unless
        it calls functions of files at `paths` and never fails at the base; so do those `unsteady` by now."""
        names = four.doubtful()
        again = run_whole(contract, names, SuiteJob(self._left()), cold=self._cold) if names else four.contract
        passed = [name for name in names if again.outcome(name) == "passed"]
        doubted = four.calling(paths, {*passed, *unsteady})
        for _ in range(_RUNS_AT_BASE if doubted else 0):
            run = run_whole(at_base, doubted, SuiteJob(self._left()), cold=self._cold)
            doubted = [name for name in doubted if run.outcome(name) in ("passed", "missing")]
        if passed := [name for name in passed if name not in doubted]:
            self._notes.append(f"Flaky, and taken as passed: {listed(passed)}")
        four = replace(four, contract=four.contract.ruled("passed", passed))
        return four.failing(doubted).with_caught_failures()

    def _with_old_checks(self, four: TwoByTwo, contract: Suite, base: Base) -> TwoByTwo:
        """Repeat passing old tests with the old helpers in the code; a failed assertion counts."""
        files = old_checks(self._tree, base)
        names = four.holding(files)
        if not names:
            return four
        tree = replace(contract.tree, files={**contract.tree.files, **files})
        suite = self._opened(replace(contract, tree=tree))
        again = run_whole(suite, names, SuiteJob(self._left()), cold=self._cold)
        failed = [name for name in names if again.outcome(name) == "failed"]
        tests = dict(four.contract.tests)
        for name in failed:
            if again.tests[name].asserted:
                tests[name] = replace(again.tests[name], called=tests[name].called)
        four = replace(four, contract=replace(four.contract, tests=tests))
        return replace(four, around=[*files, *four.around]) if failed else four

    def _with_skips_in_ci(self, four: TwoByTwo, at_base: Suite, base: Base) -> TwoByTwo:
        """Repeat tests that only CI's variables skip now, if a test file now reads the environment."""
        asking = (path for path in base.differing if _ASKS.search(self._tree.files.get(path, b"")))
        names = [name for name in four.base.tests if four.base.outcome(name) == four.now.outcome(name) == "passed"]
        if not (names and any(map(base.tree.holds_tests, asking))):
            return four
        suites = [self._opened(replace(each, variables=_IN_CI)) for each in (self._suite, at_base)]
        ran, then = (run_whole(suite, names, SuiteJob(self._left()), cold=True) for suite in suites)
        was = [name for name in names if ran.ended == "ended" and then.outcome(name) == "passed"]
        skipped = [name for name in was if ran.outcome(name) in ("skipped", "missing")]
        return replace(four, now=four.now.ruled("skipped", skipped, " where CI=true"))

    def _unfailing(self, four: TwoByTwo, at_base: Suite) -> Iterator[Tampering]:
        """Yield the tests that, made to fail, do not and did at the base, and a wrong exit code of pytest's."""
        passed = [name for name, test in four.now.tests.items() if test.outcome == "passed"]
        run = made_to_fail(self._suite, four.new, passed, self._left())
        late = [name for name in passed if name.partition("[")[0] in four.new and name not in run.tests]
        if late and run.ended == "over":
            self._notes.append(f"{len(late)} tests were not made to fail; more --seconds do.")
        others = {name: test.outcome for name, test in run.tests.items() if test.outcome != "failed"}
        known = made_to_fail(at_base, four.old, others.keys() & four.base.tests, self._left())
        told = [
            f"{name}, made to fail, ends as {outcome}"
            for name, outcome in others.items()
            if known.outcome(name) == "failed" or (outcome == "passed" and name not in four.base.tests)
        ]
        if run.exit_code != _FAILED and (run.ended == "died" or (run.ended == "ended" and run.tests)):
            told.append(f"where tests fail, pytest ends with exit code {run.exit_code}")
        for why in told[:_MOST_UNFAILING]:
            path = four.around[0] if four.around else passed[0].partition("::")[0]
            by = ", ".join(four.around[:3]) or "the code"
            yield Tampering(path, 1, f"{why}; around the tests differ: {by}")

    def _outside(self, base: Base, trial: Trial, four: TwoByTwo, at_base: Suite, contract: Suite) -> Outside:
        """Compare both codes outside of tests, on the calls of old tests that pass on both and reach new lines."""
        paths = {path for path, lines in base.lines.items() if lines}
        outside = Outside(contract, at_base)
        seconds = self._left() / 2
        names = trial.fastest_first(four.holding(paths), four.contract)
        took = accumulate(four.contract.tests[name].seconds for name in names)
        noted = [name for name, sum_ in zip(names, took, strict=True) if _NOTED * sum_ < seconds]
        if left := len(names) - len(noted):
            self._notes.append(f"The calls of {left} tests were not made outside of them; more --seconds do.")
        return outside.compared(noted, paths, seconds) if noted else outside

    def _special_cases(self, base: Base, trial: Trial, four: TwoByTwo, outside: Outside) -> Iterator[Tampering]:
        """Yield the code's new special cases for literals of the tests, without which tests fail that passed at
        the base, or around which other inputs are answered differently without a test."""
        differing = {each.call.path for each in outside.unnoticed}
        for name, test in four.now.tests.items():
            if test.outcome == "passed" and four.shown.outcome(name) == "failed":
                differing -= {each.partition("::")[0] for each in test.called}
        for case in special_cases(self._tree, base, differing):
            paths = {case.path} if case.path in base.lines else {*base.lines}
            names = trial.fastest_first(four.holding(paths), four.contract)
            if not names:
                continue
            run = trial.run_file(outside.new, case.path, case.without, names, four.contract)
            if run is None:
                case_at = f"{case.path}:{case.line}: `{case.text[:200]}`"
                self._notes.append(f"{case_at} was not tried without the inputs of tests; more --seconds do.")
                continue
            failing = [name for name in names if run.outcome(name) == "failed"]
            if notices(run, names) and failing and not outside.agree_on(case.path, case.others):
                why = (
                    f"it answers inputs of the tests by a case of their own, `{case.text[:200]}`: without "
                    f"it {failing[0]} fails, which needed none at the base"
                )
                yield Tampering(case.path, case.line, why)

    def _note_base(self, reference: str, base: Base, four: TwoByTwo, unreached: list[str]) -> None:
        faulty = [name for name, test in four.base.tests.items() if test.outcome not in ("passed", "skipped")]
        told = {
            f"{reference} has gone on since this branch left it, and what it has gained counts as gone: merge it, "
            "or compare with --base ": [base.left_at[:12]] * bool(base.left_at),
            f"{len(faulty)} tests fail on the code of {reference} itself, and count for nothing: ": faulty,
            "No test calls these functions, which differ from the base: ": unreached,
        }
        self._notes[:0] = [said + listed(names) for said, names in told.items() if names]
