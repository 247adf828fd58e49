"""ScriptCase: a script that fails, run in the sandbox on a copy of its folder."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from ..records.heal import Frame, Observation, Symptom, SymptomKind
from ..sandbox import Sandbox, SandboxLimits
from ..syntax.encoding import decoded, encoded
from .environment import environment_fault
from .expectations import Expectations
from .script_run import Invocation, RaisedError, ScriptRun, run_script
from .tree import Tree

_VARYING = re.compile(r"0x[0-9a-f]{6,}|/(?:tmp|box)/[\w./-]+|\b\d+\.\d{3,} ?s\b|\b\d{4}-\d\d-\d\d[T ][\d:.]+")
_SHORTEST_SECRET = 4
"""Characters; a shorter value is found in too much that has nothing to do with it."""
_CUT = 30
"""Characters that are left of either end of a long value, at the least."""
_MOST_SUMMARY = 300
_MOST_TRACEBACK = 3000


@dataclass(frozen=True)
class ScriptCase:
    """The script of `invocation` and the runs `keep` that have to go on as they are; `may_change` are the paths
    that patches may change. `installed` are the modules that the interpreter has beside its own."""

    sandbox: Sandbox
    limits: SandboxLimits
    tree: Tree
    invocation: Invocation
    expectations: Expectations
    may_change: tuple[str, ...]
    keep: tuple[Invocation, ...] = ()
    installed: frozenset[str] = frozenset()
    cancelled: Callable[[], bool] = lambda: False

    @cached_property
    def files(self) -> Mapping[str, str]:
        """The text of the files that may change."""
        return {path: decoded(self.tree.files[path]) for path in self.may_change}

    @property
    def target(self) -> tuple[str, str] | None:
        """None: the place is found."""
        return None

    @property
    def trusted(self) -> bool:
        """True where the user said what is expected."""
        return self.expectations.given

    @property
    def task(self) -> str:
        """What is run, and what is expected."""
        return self._masked(f"The script {self.invocation.script} fails. {self.expectations.sentence}".strip())

    def observe(self, changed: Mapping[str, str], *, seed: int = 0) -> Observation:
        """Run the script once, and what is to be kept. Raises SandboxBroken and Interrupted."""
        run = self._run(self.invocation, changed, seed)
        symptom = self._symptom(run)
        kept = (
            {each: self._run(each, changed, seed) for each in self.keep} if symptom is None or not changed else {}
        )
        fault = self._environment(run, symptom) or ("" if changed else self._unkept(kept, seed))
        broken = self._broken(run, kept, seed) if changed and symptom is None else ()
        return Observation(
            symptom,
            broken,
            self._masked(fault) or None,
            behavior=json.dumps([self._masked(_behavior(each)) for each in (run, *kept.values())]),
            reached={path: 1.0 / rank for rank, path in enumerate(run.called, 1)},
        )

    def _environment(self, run: ScriptRun, symptom: Symptom | None) -> str:
        """The sentence with the way out where the script fails for what its surroundings lack."""
        if symptom is None or run.stopped or not run.errors:
            return ""
        if self.expectations.given and run.errors[0].kind == "SystemExit":
            return ""
        python = self.sandbox.interpreter.executable
        has_stdin = self.invocation.stdin is not None
        fault = environment_fault(run, self.tree, self.installed, has_stdin=has_stdin, python=python)
        return fault or ""

    def _unkept(self, kept: Mapping[Invocation, ScriptRun], seed: int) -> str:
        """Why runs that are to go on can't be guards."""
        for invocation, run in kept.items():
            if run.exit_code != 0 or run.stopped:
                return f"The run {_named(invocation)} does not work as it is; name a run that does."
            if _behavior(run) != _behavior(self._run(invocation, {}, 0)):
                return f"The run {_named(invocation)} does not do the same twice; name a run that does."
        return ""

    def _broken(self, run: ScriptRun, kept: Mapping[Invocation, ScriptRun], seed: int) -> tuple[str, ...]:
        """What a run that meets all expectations, and the runs to be kept, did not do as on the files before."""
        before = self._run(self.invocation, {}, seed)
        broken = []
        raised = before.errors and before.errors[0].kind != "SystemExit"
        if raised and not _continues(run.stdout, before.stdout, self._run(self.invocation, {}, seed + 1).stdout):
            broken.append("what was printed before the failure is printed no more")
        if not run.ended:
            broken.append("the script ends its process without coming to its end")
        for invocation, now in kept.items():
            if _behavior(now) != _behavior(self._run(invocation, {}, seed)):
                broken.append(f"the run {_named(invocation)} does otherwise than before")
        return tuple(broken)

    @cached_property
    def _runs(self) -> dict[object, ScriptRun]:
        """Runs on the files as they are, each done once."""
        return {}

    def _run(self, invocation: Invocation, changed: Mapping[str, str], seed: int) -> ScriptRun:
        if changed:
            return self._cold_run(invocation, changed, seed)
        if (invocation, seed) not in self._runs:
            self._runs[invocation, seed] = self._cold_run(invocation, {}, seed)
        return self._runs[invocation, seed]

    def _cold_run(self, invocation: Invocation, changed: Mapping[str, str], seed: int) -> ScriptRun:
        new = {path: encoded(text, self.tree.files[path]) for path, text in changed.items()}
        return run_script(
            self.sandbox,
            self.limits,
            self.tree.archive(new),
            {**self.tree.files, **new},
            invocation,
            seed=seed,
            called=self.expectations.given and not changed,
            cancelled=self.cancelled,
        )

    def _symptom(self, run: ScriptRun) -> Symptom | None:
        if run.stopped is not None:
            return Symptom("limit", f"the {run.stopped.limit} limit was reached", self._tail(run.stderr))
        if not run.whole:
            return Symptom("limit", "the script ended the process that watched it", self._tail(run.stderr))
        main = run.errors[0] if run.errors and run.exit_code != 0 else None
        items = self.expectations.failing(run.exit_code, run.stdout, run.contents)
        items = tuple(replace(item, detail=self._masked(item.detail)) for item in items)
        expected = self.expectations.exit_code or 0
        if main is not None and main.kind != "SystemExit" and run.exit_code != expected:
            kind: SymptomKind = "syntax" if "SyntaxError" in main.bases and len(main.frames) == 1 else "exception"
            return Symptom(kind, self._summary(main), self._traceback(main), self._frames(run), items)
        if run.exit_code < 0:
            return Symptom("limit", f"it was ended by signal {-run.exit_code}", self._tail(run.stderr))
        if items:
            summary = "; ".join(f"{item.name} {item.source}".strip() for item in items)
            text = f"It ended with exit code {run.exit_code}. Its output:\n{self._tail(run.stdout)}"
            return Symptom("output", summary[:_MOST_SUMMARY], text, self._frames(run), items)
        if run.exit_code != expected:
            text = self._tail(run.stderr or run.stdout)
            return Symptom("output", f"it ended with exit code {run.exit_code}", text, self._frames(run))
        return None

    def _summary(self, error: RaisedError) -> str:
        line = self._masked(error.message).split("\n")[0][:_MOST_SUMMARY]
        return _VARYING.sub("…", f"{error.kind}: {line}" if line else error.kind)

    def _traceback(self, error: RaisedError) -> str:
        text = self._masked(error.text)
        if len(text) > _MOST_TRACEBACK:
            head, _, _ = text.partition("\n")
            text = f"{head}\n…\n{text[-_MOST_TRACEBACK:]}"
        return text

    def _tail(self, text: str) -> str:
        return self._masked(text)[-_MOST_TRACEBACK:]

    def _frames(self, run: ScriptRun) -> tuple[Frame, ...]:
        return tuple(
            replace(frame, values={name: self._masked_value(text) for name, text in frame.values.items()})
            for error in run.errors
            for frame in error.frames
        )

    def _masked(self, text: str) -> str:
        """`text` without the values of `--env`."""
        for name, value in self.invocation.environment:
            if len(value) >= _SHORTEST_SECRET:
                for form in (value, repr(value)[1:-1], json.dumps(value)[1:-1]):
                    text = text.replace(form, f"<{name}>")
        return text

    def _masked_value(self, text: str) -> str:
        """The text of a value, which may have lost the middle, without the values of `--env`."""
        for name, value in self.invocation.environment:
            shown = repr(value)[1:-1]
            if len(shown) > 2 * _CUT and (shown[:_CUT] in text or shown[-_CUT:] in text):
                return f"<{name}>"
        return self._masked(text)


def _named(invocation: Invocation) -> str:
    return f"--keep {' '.join(invocation.arguments)!r}"


def _behavior(run: ScriptRun) -> str:
    return json.dumps([run.exit_code, run.stdout, run.changed, run.stopped is not None])


def _continues(now: str, *before: str) -> bool:
    """Return True if `now` begins with the lines that the outputs `before` have in common."""
    lines = zip(*(text.splitlines() for text in before), strict=False)
    common = list(itertools.takewhile(lambda row: len(set(row)) == 1, lines))
    return now.splitlines()[: len(common)] == [row[0] for row in common]
