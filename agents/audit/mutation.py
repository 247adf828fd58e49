"""Mutation testing of a project, for as long as there is time."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from ..repository.suite import Suite, SuiteJob, SuiteRun, TestRun
from ..strength.mutants import Mutant
from ..syntax.definitions import Function, first_line
from ..worktree.tree import Tree
from .base import Base, is_of_tests, parsed
from .records import Change, Mutation
from .trial import Trial, notices

_SHARE = 0.6
"""Of the remaining time, for the new tests if those of a base come after."""
_FOR_LINES = 0.2
"""Of the remaining time, the most for finding the tests that run survivors' lines."""


@dataclass(frozen=True, slots=True)
class _Made:
    """A mutant of the file at `path`, in `function` (path::line), and the tests that reach it."""

    path: str
    function: str
    mutant: Mutant
    tests: tuple[str, ...]


def measured(
    trial: Trial, base: Base | None, names: Collection[str], touched: frozenset[str] = frozenset()
) -> Mutation:
    """Try mutants of what the tests `names` call.

    With a base, mutants of differing lines and of what the differing `touched` tests call; survivors also run
    under the base's tests, for which time is reserved. If only tests differ, the base's tests come first: what the
    touched ones did not notice then can't be lost.
    """
    trial.say("changes of the code")
    called = {name: trial.called[name] for name in names}
    survivors: list[_Made] = []
    made = tried = noticed = left_out = 0
    for_lines = min(_FOR_LINES * max(0.0, trial.left), trial.limit(tuple(called), trial.first))
    sooner = replace(trial, end=trial.end - for_lines) if base is None else trial.sooner(_SHARE)
    same_code = base is not None and all(map(is_of_tests, base.differing))
    passed = [name for name, test in trial.before.tests.items() if test.outcome == "passed"]
    passed = [name for name in passed if name.partition("[")[0] in touched] if same_code else passed

    def in_time() -> Iterator[_Made]:
        nonlocal made
        for each in _in_turn(_made(trial, base, called, touched)):
            before = _at_base(sooner, passed, each) if same_code else each.path
            if before == "":
                continue
            made += 1
            if before is None or sooner.left <= 0:
                return
            yield each
        made += trial.left <= 0  # there may be more

    def noticing(suite: Suite, each: _Made) -> tuple[_Made, bool | None]:
        found: bool | None = False if sooner.left > 0 else None
        if each.tests:
            run = sooner.run(suite, each.path, each.mutant, each.tests, trial.first)
            found = None if run is None else notices(run, each.tests)
        others = set(called).difference(each.tests)
        if found is False and others and (not each.mutant.names or each.function in trial.collected.called):
            # What is made at import may be used by tests that call nothing of it.
            names = trial.fastest_first([*others], trial.first)
            run = sooner.run_file(suite, each.path, each.mutant.code, names, trial.first)
            found = None if run is None else notices(run, names)
        return each, found

    for each, found in trial.suites.map(noticing, in_time()):
        if found is None:
            continue
        tried += 1
        noticed += found
        if not found:
            survivors.append(each)
        trial.say(f"change {tried}: {'noticed' if found else 'no test noticed it'}")
    changes = []
    for each, change in _ranked(trial, survivors, called):
        before = _at_base(trial, passed, each)
        if before and _again(trial, each, before):
            noticed += 1
            continue
        left_out += before is None
        if before or base is None or each.mutant.line in base.lines.get(each.path, ()):
            changes.append(replace(change, noticed_before=before or None))
    return Mutation(made, tried, noticed, tuple(changes), left_out)


def lost_functions(mutation: Mutation, tree: Tree) -> set[str]:
    """Return the functions of `tree`, as path::line, with changes that only tests of the base noticed."""
    lost = [change for change in mutation.survivors if change.noticed_before is not None]
    starts = {path: function_starts(parsed(tree.files[path])) for path in {each.path for each in lost}}
    return {f"{each.path}::{starts[each.path].get(each.line, 0)}" for each in lost}


def _made(
    trial: Trial, base: Base | None, called: Mapping[str, frozenset[str]], touched: frozenset[str]
) -> list[Iterator[_Made]]:
    """Return the changes of each file, which are made one at a time."""
    of_changed = _of_changed(trial, called, touched) if base is not None else frozenset()
    callers: dict[str, list[str]] = {}
    of_file: dict[str, dict[str, None]] = {}
    for name, functions in called.items():
        for function in functions:
            callers.setdefault(function, []).append(name)
            of_file.setdefault(function.partition("::")[0], {})[name] = None

    def of_path(path: str) -> Iterator[_Made]:
        starts = function_starts(parsed(trial.tree.files.get(path, b"")))
        for mutant in trial.mutants(path):
            function = f"{path}::{starts.get(mutant.line, 0) if mutant.names else 0}"
            tests = {*(callers.get(function, ()) if mutant.names else of_file.get(path, ()))}
            if function in trial.collected.called:  # such as for the values of a parametrised test
                tests |= {name for name in called if name.partition("[")[0] in touched}
            wanted = base is None or mutant.line in base.lines.get(path, ()) or function in of_changed
            if wanted and (tests or function in of_changed):
                yield _Made(path, function, mutant, trial.fastest_first([*tests], trial.first))

    return [of_path(path) for path in sorted({each.partition("::")[0] for each in {*callers, *of_changed}})]


def _in_turn(made: Sequence[Iterator[_Made]]) -> Iterator[_Made]:
    """Yield the changes of each file in turn, made a round at a time: those in functions first, being quicker."""
    files, later = deque(made), []
    while files:
        for each in islice(files[0], 1):
            files.append(files[0])
            if each.mutant.names:
                yield each
            else:
                later.append(each)
        files.popleft()
    yield from later


def _of_changed(trial: Trial, called: Mapping[str, frozenset[str]], touched: frozenset[str]) -> frozenset[str]:
    """Return the functions that `touched` tests call, now or at the base, or that a test calls no more."""
    before = {name: frozenset(test.called) for name, test in trial.before.tests.items()}
    found = {
        function
        for run in (called, before)
        for name, functions in run.items()
        if name.partition("[")[0] in touched
        for function in functions
    }
    for name, functions in before.items():
        if name in trial.first.tests:
            found |= functions - called.get(name, functions)
    return frozenset(trial.tree.code_in(found))


def _ranked(
    trial: Trial, survivors: Sequence[_Made], called: Mapping[str, frozenset[str]]
) -> list[tuple[_Made, Change]]:
    """Return the survivors with the tests that run their lines (a default: the function), most tests first."""
    lines: dict[str, set[int]] = {}
    for each in survivors:
        if each.mutant.names:
            lines.setdefault(each.path, set()).add(each.mutant.line)
    names = tuple(dict.fromkeys(name for each in survivors for name in each.tests))
    running: dict[str, list[str]] = {}
    ended: Mapping[str, TestRun] = {}
    if lines and names and trial.left > 0:
        told = {path: tuple(sorted(numbers)) for path, numbers in lines.items()}
        job = SuiteJob(trial.left, names, record=True, lines=told)
        ended = trial.suites[0].run(job, cold=trial.cold).tests
        for name, test in ended.items():
            for line in test.called:
                running.setdefault(line, []).append(name)

    def with_tests(each: _Made) -> Change:
        """Return a survivor with its tests; those of its function without a recorded run may run the line."""
        line = each.mutant.line
        if each.mutant.names:
            run = running.get(f"{each.path}::{line}", []) + [name for name in each.tests if name not in ended]
        elif line in (starts := function_starts(parsed(trial.tree.files[each.path]))):
            run = [name for name in each.tests if f"{each.path}::{starts[line]}" in called[name]]
        else:
            run = [*each.tests]
        return Change(each.path, line, each.mutant.before, each.mutant.after, tests=tuple(run))

    return sorted(((each, with_tests(each)) for each in survivors), key=lambda pair: -len(pair[1].tests))


def _again(trial: Trial, each: _Made, before: str) -> bool:
    """Return True if a new test notices a survivor at a second try: the one that noticed it `before`, alone, since
    others may hide the change from it, or a nondeterministic one."""
    for names in ((before,), each.tests):
        tests = tuple(name for name in names if name in trial.first.tests)
        run = trial.run(trial.suites[0], each.path, each.mutant, tests, trial.first) if tests else None
        if run is not None and notices(run, tests):
            return True
    return False


def _at_base(trial: Trial, passed: Sequence[str], each: _Made) -> str | None:
    """Return the test of those that `passed` at the base that noticed a mutant ("": none); None if out of time."""
    reaching = [name for name in passed if each.function in trial.before.tests[name].called]
    tests = trial.fastest_first(reaching, trial.before)
    if not tests or trial.old is None:
        return ""
    run = trial.run(trial.old, each.path, each.mutant, tests, trial.before)
    return None if run is None else next((name for name in tests if run.outcome(name) == "failed"), "")


def uncalled(tree: Tree, base: Base, run: SuiteRun) -> list[str]:
    """Return the functions with new or changed lines that no test calls, as path:line."""
    called = {function for test in run.tests.values() for function in test.called}
    found = []
    for path, lines in base.lines.items():
        starts = function_starts(parsed(tree.files[path]))
        new = sorted({starts[line] for line in lines if line in starts})
        found += [f"{path}:{start}" for start in new if f"{path}::{start}" not in called]
    return found


def function_starts(module: ast.Module) -> dict[int, int]:
    """Return, for each line in a function, the first line of the innermost one, decorators included."""
    found: dict[int, int] = {}
    for node in ast.walk(module):  # outer functions come first
        if isinstance(node, Function):
            start = first_line(node)
            found.update(dict.fromkeys(range(start, (node.end_lineno or node.lineno) + 1), start))
    return found
