"""ScriptCase: a script that fails, run in the sandbox on a copy of its folder."""

from __future__ import annotations

import ast
import itertools
import json
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property

from ..judge.probes import near_calls
from ..records.heal import Answer, Call, Frame, Item, Observation, Symptom, SymptomKind
from ..syntax.source import parse_expression
from .case import Invocation, ScriptRun, TreeCase
from .environment import arguments_fault, environment_fault
from .expectations import Expectations, failing_calls

_VARYING = re.compile(r"0x[0-9a-f]{6,}|/(?:tmp|box)/[\w./-]+|\b\d+\.\d{3,} ?s\b|\b\d{4}-\d\d-\d\d[T ][\d:.]+")
_SHORTEST_SECRET = 4
"""Characters; a shorter value occurs in too many other texts."""
_CUT = 30
"""Characters that an abbreviated value keeps of either end, at least."""
_RUNS = 8
"""Other runs of a script that are tried."""
_MOST_SUMMARY = 300
_UNWATCHED = "the script ended the process that watched it"
_MOST_TRACEBACK = 3000


@dataclass(frozen=True, kw_only=True)
class ScriptCase(TreeCase):
    """The script of `invocation`, and the runs `keep` that must behave as before."""

    invocation: Invocation
    expectations: Expectations
    keep: tuple[Invocation, ...] = ()

    holds_out = False
    """The prompt has all expectations of the script."""

    @property
    def trusted(self) -> bool:
        """True if the user gave an expectation."""
        return self.expectations.given or bool(self.expected)

    @cached_property
    def other_runs(self) -> tuple[Call, ...]:
        """Runs of the script on other arguments and other standard input, if it has any."""
        given = [*map(_as_number, self.invocation.arguments)]
        lines = (self.invocation.stdin or b"").decode("utf-8", "replace").splitlines()
        stdin = [f"stdin={[*map(_as_number, lines)]!r}"] if lines else []
        texts = [*map(repr, given), *stdin]
        if not texts or any(each != self._masked(each) for each in texts):
            return ()
        forms = [(_run_call(texts), False)]
        if len(given) > 1:  # in another order, fewer, and more of them
            forms.append((_run_call([repr(given), *stdin]), True))
        runs = ((_run_call([source[4:-1]]), whole) for source, whole in near_calls(forms, _RUNS).items())
        return tuple(Call("", "", ast.unparse(_spread(run) if whole else run)) for run, whole in runs)

    def made_by(self, items: Sequence[Item], changed: Mapping[str, str]) -> tuple[Sequence[Call], Sequence[Call]]:
        """Return the calls of one run with `changed` files, or those made by the calls that items are about."""
        asked = self.asked_by(items)
        if items and not asked:
            return (), ()
        run = self.run(replace(self.invocation, called=True, asked=asked, traced=bool(asked)), changed, 0)
        return self._without_secrets(run.calls), self.own(run.left_out)

    def answers(self, changed: Mapping[str, str], calls: Sequence[Call]) -> list[Answer | None]:
        """Return the answers to calls after a run with `changed` files."""
        found = {each: self._run_near(changed, each) for each in calls if not each.path}
        asked = tuple(each for each in calls if each.path)
        answers = self.run(replace(self.invocation, asked=asked), changed, 0).answers if asked else ()
        found.update(zip(asked, map(self._masked_answer, answers), strict=True))
        return [found[each] for each in calls]

    def _run_near(self, changed: Mapping[str, str], call: Call) -> Answer | None:
        node = parse_expression(call.source)
        assert isinstance(node, ast.Call)
        arguments = tuple(str(ast.literal_eval(each)) for each in node.args)
        lines = [str(line) for each in node.keywords for line in ast.literal_eval(each.value)]
        stdin = "".join(f"{line}\n" for line in lines).encode() if self.invocation.stdin is not None else None
        near = replace(self.invocation, arguments=arguments, stdin=stdin, asked=())
        run = self.run(near, changed, 0)
        if run.stopped or not run.whole or run.errors or run.exit_code != (self.expectations.exit_code or 0):
            return None
        return self._masked_answer(Answer(repr(run.stdout)))

    def _masked_answer(self, answer: Answer | None) -> Answer | None:
        if answer is None:
            return None
        texts = {name: self._masked(each) for name, each in asdict(answer).items() if isinstance(each, str)}
        return replace(answer, **texts)  # type: ignore[arg-type]

    def _without_secrets(self, calls: Sequence[Call]) -> tuple[Call, ...]:
        """Return the calls of functions in files that may change, but none with a value of `--env`."""
        return tuple(each for each in self.own(calls) if each.source == self._masked(each.source))

    @property
    def task(self) -> str:
        """The script's name and its expectations."""
        return self._masked(f"The script {self.invocation.script} fails. {self.expectations.sentence}".strip())

    def observe(self, changed: Mapping[str, str], *, seed: int = 0) -> Observation:
        """Run the script once, and the runs to keep."""
        run = self.run(self.invocation, changed, seed)
        symptom = self._symptom(run)
        kept = {each: self.run(each, changed, seed) for each in self.keep if symptom is None or not changed}
        fault = self._environment(run, symptom) or ("" if changed else self._guard_fault(kept))
        broken = self._broken(run, kept, seed) if changed and symptom is None else ()
        return Observation(
            symptom,
            broken,
            self._masked(fault) or None,
            behavior=json.dumps([self._masked(_behavior(each)) for each in (run, *kept.values())]),
            reached={} if not self.trusted else {path: 1.0 / rank for rank, path in enumerate(run.called, 1)},
            calls=self._without_secrets(list(dict.fromkeys([*run.calls, *self.expected]))),
            left_out=self._left_out(run),
            new_files=self._new_files(run) if changed and symptom is None else (),
        )

    def _left_out(self, run: ScriptRun) -> tuple[Call, ...]:
        secret = set(run.calls).difference(self._without_secrets(run.calls))
        found = [*run.left_out, *(replace(each, source="an argument has a value of --env") for each in secret)]
        return self.own(found)

    def _new_files(self, run: ScriptRun) -> tuple[str, ...]:
        """Return the files that only the patch writes; none where the script did not end before."""
        before = self.run(self.invocation, {}, 0)
        if before.errors or before.stopped or not before.whole:
            return ()
        known = {*before.changed, *self.invocation.wanted}
        return tuple(path for path in run.changed if path not in known)

    def _environment(self, run: ScriptRun, symptom: Symptom | None) -> str:
        """Return a sentence with the remedy where the script fails for lack of something in its environment."""
        if symptom is None or run.stopped or not run.errors:
            return ""
        exits = run.errors[0].kind == "SystemExit"
        if exits and self.expectations.given:
            return ""
        has_stdin = self.invocation.stdin is not None
        fault = environment_fault(run.errors, self.tree, self.sandbox.interpreter, has_stdin=has_stdin)
        if fault is None and not self.invocation.arguments and not self.expectations.given:
            fault = arguments_fault(run.errors[0], self.tree)
        if fault is not None or not exits:
            return fault or ""
        said = run.stderr.strip().split("\n")[-1][:200]
        return (
            f"The script ended itself with exit code {run.exit_code}{f' ({said})' if said else ''}; check its "
            "arguments, or say what is expected of it with --expect or --expect-exit."
        )

    def _guard_fault(self, kept: Mapping[Invocation, ScriptRun]) -> str:
        """Return why a run to keep can't be a guard; empty if all can."""
        for invocation, run in kept.items():
            if run.exit_code != 0 or run.stopped:
                return f"The run {_option(invocation)} does not work as it is; name a run that does."
            if _behavior(run) != _behavior(self.run(invocation, {}, 0)):
                return f"The run {_option(invocation)} does not do the same twice; name a run that does."
        return ""

    def _broken(self, run: ScriptRun, kept: Mapping[Invocation, ScriptRun], seed: int) -> tuple[str, ...]:
        """Return the guards that break, of a run that meets all expectations and of the runs to keep."""
        before = self.run(self.invocation, {}, seed)
        broken = []
        error = before.errors[0] if before.errors else None
        if error is not None and error.kind != "SystemExit":
            again = self.run(self.invocation, {}, seed + 1)
            found_wrong = self.trusted or "AssertionError" in error.bases  # what was printed may be the error
            if not _continues(run.stdout, before.stdout, again.stdout, same=not found_wrong):
                broken.append("what was printed before the failure is printed no more")
        if not run.ended:
            broken.append("the script ends its process without coming to its end")
        for invocation, now in kept.items():
            if _behavior(now) != _behavior(self.run(invocation, {}, seed)):
                broken.append(f"the run {_option(invocation)} does otherwise than before")
        return tuple(broken)

    def _symptom(self, run: ScriptRun) -> Symptom | None:
        calls = self._masked_items(failing_calls(self.expected_calls, run.answers))
        if run.stopped is not None or not run.whole:
            how = f"the {run.stopped.limit} limit was reached" if run.stopped is not None else _UNWATCHED
            return Symptom("limit", how, self._tail(run.stderr), items=calls)
        main = run.errors[0] if run.errors and run.exit_code != 0 else None
        items = (*self._masked_items(self.expectations.failing(run.exit_code, run.stdout, run.contents)), *calls)
        expected = self.expectations.exit_code or 0
        if main is not None and main.kind != "SystemExit" and run.exit_code != expected:
            kind: SymptomKind = "syntax" if "SyntaxError" in main.bases and len(main.frames) == 1 else "exception"
            line = self._masked(main.message).split("\n")[0][:_MOST_SUMMARY]
            summary = _VARYING.sub("…", f"{main.kind}: {line}" if line else main.kind)
            return Symptom(kind, summary, self._tail(main.text), self._frames(run), items)
        if run.exit_code < 0:
            how = f"it was ended by signal {-run.exit_code}"
            return Symptom("limit", how, self._tail(run.stderr), items=calls)
        if items:
            summary = "; ".join(f"{item.name} {item.source}".strip() for item in items)
            text = f"It ended with exit code {run.exit_code}. Its output:\n{self._tail(run.stdout)}"
            return Symptom("output", summary[:_MOST_SUMMARY], text, self._frames(run), items)
        if run.exit_code != expected:
            text = self._tail(run.stderr or run.stdout)
            return Symptom("output", f"it ended with exit code {run.exit_code}", text, self._frames(run))
        return None

    def _masked_items(self, items: Sequence[Item]) -> tuple[Item, ...]:
        return tuple(replace(item, detail=self._masked(item.detail)) for item in items)

    def _tail(self, text: str) -> str:
        return self._masked(text)[-_MOST_TRACEBACK:]

    def _frames(self, run: ScriptRun) -> tuple[Frame, ...]:
        return tuple(
            replace(frame, values={name: self._masked_value(text) for name, text in frame.values.items()})
            for error in run.errors
            for frame in error.frames
        )

    def _masked(self, text: str) -> str:
        """Return `text` without the values of `--env`."""
        for name, value in self.invocation.environment:
            if len(value) >= _SHORTEST_SECRET:
                for form in (value, repr(value)[1:-1], json.dumps(value)[1:-1]):
                    text = text.replace(form, f"<{name}>")
        return text

    def _masked_value(self, text: str) -> str:
        """Return the text of a value, possibly abbreviated in the middle, without the values of `--env`."""
        for name, value in self.invocation.environment:
            shown = repr(value)[1:-1]
            if len(shown) > 2 * _CUT and (shown[:_CUT] in text or shown[-_CUT:] in text):
                return f"<{name}>"
        return self._masked(text)


def _run_call(texts: Sequence[str]) -> ast.Call:
    """Return a run of the script as a call, with arguments as source."""
    call = parse_expression(f"run({', '.join(texts)})")
    assert isinstance(call, ast.Call)
    return call


def _spread(run: ast.Call) -> ast.Call:
    """Return a run with the items of its first argument as arguments."""
    (given,) = run.args
    assert isinstance(given, ast.List)
    return ast.Call(run.func, given.elts, run.keywords)


def _as_number(text: str) -> object:
    """Return a text as a number if it is one that source can write (not `nan`), else as it is."""
    for kind in (int, float):
        with suppress(ValueError):
            number = kind(text)
            if str(number) == text and abs(number) < math.inf:
                return number
    return text


def _option(invocation: Invocation) -> str:
    return f"--keep {' '.join(invocation.arguments)!r}"


def _behavior(run: ScriptRun) -> str:
    return json.dumps([run.exit_code, run.stdout, run.changed, run.stopped is not None])


def _continues(now: str, *before: str, same: bool) -> bool:
    """Return True if `now` begins with the first lines that the outputs `before` share; with as many lines, unless
    `same`."""
    lines = zip(*(text.splitlines() for text in before), strict=False)
    common = list(itertools.takewhile(lambda row: len(set(row)) == 1, lines))
    begun = now.splitlines()[: len(common)]
    return begun == [row[0] for row in common] if same else len(begun) == len(common)
