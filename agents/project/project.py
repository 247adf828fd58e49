"""Verifies the tests of a project: three runs, one on functions that return something else, then on changed code.

They run by the project's own pytest, with the code, in one process: what is said here is about honest tests that
may be weak, not about code that sets out to deceive them (for that there is `verify CODE TESTS`).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import Interrupted, UsageError
from ..heal.script_run import Invocation, ScriptRun, TestRun, run_script
from ..repository.tree import Tree, never_changes, read_tree
from ..sandbox import Sandbox, SandboxLimits
from ..strength.mutants import mutants
from ..syntax.clean_text import clean
from ..syntax.encoding import decoded, encoded
from .base import Base, function_starts, gone, read_base, test_places, texts_of, uncalled
from .records import Change, Mutation, ProjectReport, TestFinding

RUNS = 3
MOST_MUTANTS = 1000
_BLANK = Path(__file__).parent / "inside" / "blank.py"
_PLUGIN = "greenloop_blank"
_USAGE_ERROR = 4
_MOST_SHOWN = 300
_MOST_NAMED = 10
_LEAST_SECONDS = 5.0
_LONGEST_SELECTION = 50_000
"""Characters in the ids of tests that are named to pytest; an argument of a program has at most 128 KiB."""
_SETTINGS = ("pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg")


@dataclass(frozen=True, slots=True)
class _Mutant:
    """A change, the file with it, and the tests that call the function that was changed."""

    change: Change
    changed: Mapping[str, bytes]
    tests: tuple[str, ...]


class Project:
    """Runs a project's tests in a sandbox, within `seconds` in all; `say` is told of each step."""

    def __init__(
        self,
        root: Path,
        paths: Sequence[Path],
        sandbox: Sandbox,
        seconds: float,
        cancelled: Callable[[], bool] = lambda: False,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        """Raises UsageError where `root` is no folder, or one of `paths` is not in it."""
        if not root.is_dir():
            raise UsageError(f"{root} is no folder; name the project's.")
        self._tree = read_tree(root, [], {})
        self._paths = [_below(root, path) for path in paths]
        self._sandbox = sandbox
        self._began = time.monotonic()
        self._seconds = seconds
        self._cancelled = cancelled
        self._say = say
        self._not_compared = 0
        self._options = ["-o", "pythonpath=src ."] if _has_plain_src(self._tree) else []
        if not any(b"hypothesis" in data for data in self._tree.files.values()):
            self._options += ["-p", "no:hypothesispytest"]  # most of a second at the end of each run
        if sandbox.interpreter.finds("xdist"):
            self._options += ["-n", "0"]  # over `addopts`: what is noted of tests is noted in one process

    def report(self, reference: str | None = None) -> ProjectReport:
        """Find out what the tests are worth; `reference` names the git commit to compare with.

        Raises UsageError where no test can be run, SandboxBroken and Interrupted.
        """
        base = read_base(self._tree, reference) if reference else None
        runs = self._base_runs()
        called = _called(runs[0])
        passing = [name for name in runs[0].tests if all(_outcome(run, name) == "passed" for run in runs)]
        blind = self._blind([name for name in passing if called[name]], runs[0], called)
        findings = tuple(self._finding(name, runs, called, blind) for name in sorted(runs[0].tests))
        before = self._run(base.tests, seed=0, called=True) if base is not None and base.tests else None
        good = [finding.id for finding in findings if finding.status == "counts"]
        mutation = self._mutation(base, before, {name: called[name] for name in good})
        return ProjectReport(
            self._tree.root.resolve().name,
            reference,
            findings,
            gone(self._tree, base, before, runs[0]) if base is not None and before is not None else (),
            mutation,
            self._notes(mutation, uncalled(self._tree, base, runs[0]) if base is not None else ()),
            time.monotonic() - self._began,
        )

    # --- the tests as they are -----------------------------------------------------------------------------

    def _base_runs(self) -> list[ScriptRun]:
        """Run the suite three times, each under another hash seed."""
        self._say("the tests as they are")
        first = self._run({}, seed=0, called=True)
        if first.exit_code == _USAGE_ERROR and not first.tests:  # options of plugins that are not installed
            self._options += ["-o", "addopts="]
            first = self._run({}, seed=0, called=True)
        if first.stopped is not None:
            raise UsageError(
                f"The tests reached the {first.stopped}; give more --seconds, or name some by --tests."
            )
        if not first.whole or not first.tests:
            said = (first.stdout.strip() or first.stderr.strip())[-_MOST_SHOWN:]
            raise UsageError(f"No test of {self._tree.root} could be run: {said or 'pytest said nothing'}")
        return [first, *(self._run({}, seed=seed) for seed in range(1, RUNS))]

    def _finding(
        self, name: str, runs: Sequence[ScriptRun], called: Mapping[str, frozenset[str]], blind: frozenset[str]
    ) -> TestFinding:
        path = name.partition("::")[0]
        line, text = test_places(path, self._tree.files.get(path, b"")).get(name.partition("[")[0], (1, ""))
        outcomes = [_outcome(run, name) for run in runs]
        first = runs[0].tests[name]

        def found(status: str, why: str) -> TestFinding:
            return TestFinding(name, status, why, path, line)  # type: ignore[arg-type]

        if len(set(outcomes)) > 1:
            return found("flaky", f"in {len(runs)} runs: {', '.join(outcomes)}")
        if outcomes[0] == "skipped":
            return found("skipped", "it was skipped")
        if outcomes[0] != "passed":
            return found("failed", (first.text.strip().split("\n") or [""])[-1][:_MOST_SHOWN] or outcomes[0])
        if name in blind:
            return found("cannot fail", "it passes whatever the functions that it calls return")
        if not called[name] and not _asserts(text):
            return found("asserts nothing", "it calls no function of the project, and asserts nothing")
        if not called[name]:
            return found("calls no code", "it calls no function of the project")
        return found("counts", "")

    def _blind(
        self, names: Sequence[str], first: ScriptRun, called: Mapping[str, frozenset[str]]
    ) -> frozenset[str]:
        """Tests that pass while every function that they call returns something else, true or false.

        Not those with a function of their own that is called no more: it may be what asserts.
        """
        self._say("the tests on functions that return something else")
        passing = set(names)
        for value in (True, False):
            told = {"value": value, "called": {name: sorted(called[name]) for name in passing}}
            beside = {
                f"{_PLUGIN}/__init__.py": b"",
                f"{_PLUGIN}/blank.py": _BLANK.read_bytes(),
                f"{_PLUGIN}/blank.json": json.dumps(told).encode(),
            }
            run = self._run(beside, seed=0, called=True, options=["-p", f"{_PLUGIN}.blank"])
            passing = {
                name
                for name in passing
                if _outcome(run, name) == "passed" and _own(first.tests[name]) <= _own(run.tests[name])
            }
        return frozenset(passing)

    # --- the tests on changed code -------------------------------------------------------------------------

    def _mutation(
        self, base: Base | None, before: ScriptRun | None, called: Mapping[str, frozenset[str]]
    ) -> Mutation:
        """Try changes of the code, those that a test reaches, for as long as there is time."""
        of_changed: set[str] = set()
        if base is not None:
            old = texts_of(base.tests)
            new = texts_of({path: self._tree.files.get(path, b"") for path in base.tests})
            touched = {name for name in {*old, *new} if old.get(name) != new.get(name)}
            for run in (called, {} if before is None else _called(before)):
                for name, functions in run.items():
                    if name.partition("[")[0] in touched:
                        of_changed |= functions
        made = list(self._mutants(None if base is None else base.lines, of_changed, called))
        survivors: list[_Mutant] = []
        tried = noticed = 0
        limit = self._limits()
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            passing = pool.map(lambda each: self._survives(each, limit), made)
            for mutant, passed in zip(made, passing, strict=True):
                if passed is None:
                    continue
                tried += 1
                noticed += not passed
                if passed:
                    survivors.append(mutant)
                self._say(f"change {tried} of {len(made)}: {'no test noticed it' if passed else 'noticed'}")
        changes = [mutant.change for mutant in survivors]
        if base is not None and before is not None:
            changes = [self._at_base(mutant, base, before, limit) for mutant in survivors]
        return Mutation(len(made), tried, noticed, tuple(changes))

    def _mutants(
        self,
        lines: Mapping[str, frozenset[int]] | None,
        of_changed: set[str],
        called: Mapping[str, frozenset[str]],
    ) -> Iterator[_Mutant]:
        """Changes on `lines` (None: on all) and in the functions `of_changed`, which some test calls."""
        callers: dict[str, list[str]] = {}
        for name, functions in called.items():
            for function in functions:
                callers.setdefault(function, []).append(name)
        for path in sorted({function.partition("::")[0] for function in {*callers, *of_changed}}):
            text = decoded(self._tree.files[path])
            try:
                starts = function_starts(text)
                made = mutants(text, MOST_MUTANTS)
            except (ValueError, SyntaxError):
                continue
            for mutant in made:
                function = f"{path}::{starts.get(mutant.line, 0)}"
                tests = callers.get(function, ())
                wanted = lines is None or mutant.line in lines.get(path, ()) or function in of_changed
                if wanted and (tests or function in of_changed):
                    change = Change(path, mutant.line, mutant.before, mutant.after)
                    yield _Mutant(change, {path: encoded(mutant.code, self._tree.files[path])}, tuple(tests))

    def _survives(self, mutant: _Mutant, limit: SandboxLimits) -> bool | None:
        """Return True if every test that reaches a change passes; None where there is no time left."""
        if time.monotonic() - self._began > self._seconds:
            return None
        if not mutant.tests:
            return True
        run = self._run(mutant.changed, seed=0, only=mutant.tests, limits=limit, options=["-x"])
        return run.whole and run.stopped is None and all(_outcome(run, name) == "passed" for name in mutant.tests)

    def _at_base(self, mutant: _Mutant, base: Base, before: ScriptRun, limit: SandboxLimits) -> Change:
        """The change, with the test that noticed it at the base, if one did; twice the time is there for that."""
        if time.monotonic() - self._began > 2 * self._seconds:
            self._not_compared += 1
            return mutant.change
        run = self._run({**mutant.changed, **base.tests}, seed=0, limits=limit)
        for name, test in before.tests.items():
            if test.outcome == "passed" and run.whole and _outcome(run, name) == "failed":
                return replace(mutant.change, noticed_before=name)
        return mutant.change

    # --- runs ----------------------------------------------------------------------------------------------

    def _limits(self) -> SandboxLimits:
        """Three times what the suite has taken so far on average, for a run on changed code, which may hang."""
        spent = time.monotonic() - self._began
        seconds = max(_LEAST_SECONDS, 3 * spent / (RUNS + 2))
        return SandboxLimits(wall_seconds=seconds, cpu_seconds=round(2 * seconds))

    def _run(
        self,
        changed: Mapping[str, bytes],
        *,
        seed: int,
        called: bool = False,
        only: Sequence[str] = (),
        limits: SandboxLimits | None = None,
        options: Sequence[str] = (),
    ) -> ScriptRun:
        if self._cancelled():
            raise Interrupted("Interrupted; run it again.")
        left = max(_LEAST_SECONDS, self._seconds - (time.monotonic() - self._began))
        limits = limits or SandboxLimits(wall_seconds=left, cpu_seconds=round(2 * left))
        if sum(map(len, only)) > _LONGEST_SELECTION:
            only = sorted({name.partition("::")[0] for name in only})
        arguments = (*self._options, *options, *(only or self._paths))
        return run_script(
            self._sandbox,
            limits,
            self._tree,
            changed,
            Invocation("", tuple(arguments), program="tests_main", called=called),
            seed=seed,
            cancelled=self._cancelled,
        )

    def _notes(self, mutation: Mutation, unreached: Sequence[str]) -> tuple[str, ...]:
        notes = []
        if unreached:
            shown = ", ".join(unreached[:_MOST_NAMED]) + (", ..." if len(unreached) > _MOST_NAMED else "")
            notes.append(f"No test calls these functions, which differ from the base: {shown}")
        if "addopts=" in self._options:
            notes.append("pytest's own `addopts` were left out: a plugin that they name is not installed.")
        if mutation.tried < mutation.made:
            notes.append(f"{mutation.made - mutation.tried} changes were not tried; more --seconds try more.")
        if self._not_compared:
            notes.append(
                f"{self._not_compared} changes were not tried on the tests of the base; more --seconds do."
            )
        if self._tree.left_out:
            shown = clean(", ".join(sorted(self._tree.left_out)[:_MOST_NAMED]))
            notes.append(
                f"{len(self._tree.left_out)} files were left out (too large, links out of the folder, or no "
                f"regular files): {shown}{', ...' if len(self._tree.left_out) > _MOST_NAMED else ''}"
            )
        return tuple(notes)


def _below(root: Path, path: Path) -> str:
    place = path if path.exists() else root / path
    if not place.exists() or not place.resolve().is_relative_to(root.resolve()):
        raise UsageError(f"There is no {path} in {root}; name files or folders of tests there.")
    return place.resolve().relative_to(root.resolve()).as_posix()


def _has_plain_src(tree: Tree) -> bool:
    """Return True for a project with its packages below src, and no word of that to pytest."""
    told = b"".join(tree.files.get(name, b"") for name in _SETTINGS)
    in_src = any(path.startswith("src/") and path.endswith(".py") for path in tree.files)
    return in_src and b"pythonpath" not in told


def _outcome(run: ScriptRun, name: str) -> str:
    return run.tests[name].outcome if name in run.tests else "missing"


def _called(run: ScriptRun) -> dict[str, frozenset[str]]:
    """The functions of the project's code that each test called, as path::line."""
    return {name: frozenset(test.called) - _own(test) for name, test in run.tests.items()}


def _own(test: TestRun) -> frozenset[str]:
    """The functions of test files that a test called."""
    return frozenset(each for each in test.called if never_changes(each.partition("::")[0]))


def _asserts(dump: str) -> bool:
    return "Assert(" in dump or "raises" in dump or "warns" in dump or "assert" in dump
