"""Compares patches with each other and with the original code, on calls that no model has seen."""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice, product, starmap

from ..judge.agreement import comparable
from ..records.heal import Answer, Call, Item, Suspicion, SuspicionName, Trial
from ..repository.inside.calls import NO_END
from ..strength.mutants import mutants_in
from ..syntax.source import parse_expression, unparse
from ..verifier.inside.proxy.plain_source import is_plain, value_of, written
from .case import Case
from .expectations import RAISES, YIELDS, answered_by, is_same, rounded
from .near_calls import after, bound_in, calls_near, literal_call, mended_names, without
from .statement_effects import changes_arguments
from .voices import VERIFYING, voices_needed

_MOST_MUTANTS = 10
_SLOWER = 10
_SLOW_SECONDS = 1.0
_LONGEST_SHOWN = 200
_MOST_REASONS = 3
_OF_STATE = ("having(", "[it := having(")
"""Beginnings of a call on a captured object."""
Answers = dict[Call, Answer | None]


@dataclass(slots=True)
class Evidence:
    """The answers to `calls` of the original code (`before`) and of patches, by their ids (`after`).

    `shown` are the failing items in prompts and `held` those held out of them; `voices_needed` is the number of
    agreeing patches that the latter verify. `seeds` are the calls that the case makes; `left_out` says why others
    can't be repeated. `smaller` are smaller changes that meet the same expectations, by the ids of patches.
    """

    calls: Sequence[Call] = ()
    before: Answers = field(default_factory=dict)
    after: dict[str, Answers] = field(default_factory=dict)
    shown: Sequence[Item] = ()
    held: Sequence[Item] = ()
    voices_needed: int = VERIFYING
    seeds: Sequence[Call] = ()
    left_out: Sequence[Call] = ()
    smaller: dict[str, Trial | None] = field(default_factory=dict)

    def gather(self, case: Case, trials: list[Trial]) -> None:
        """Run new calls on the original code and on each plausible patch; add the effects of patches to the
        suspicions in `trials`. Raises SandboxBroken and Interrupted."""
        plausible = [trial.patch for trial in trials if trial.plausible]
        if not plausible:
            return
        if not self.after:
            self.voices_needed = voices_needed(case, self.shown, self.held, plausible[0].files)
        if not self.seeds:  # the original code may fail before any call
            by_whom = ((), (*self.shown, *self.held))
            self.seeds = [call for items in by_whom for call in case.made_by(items, plausible[0].files)[0]]
        if not any(literal_call(each.source) for each in self.seeds):  # expectations may name a script's objects
            self.seeds = [*self.seeds, *case.made_by(self.shown, {})[0]]
        for patches in (plausible, ()):
            found = calls_near(self.seeds, case.files, patches, case.other_runs, case.beside)
            asked = without(found, case.left_open, self.seeds)
            self.calls = list(dict.fromkeys([*self.calls, *asked]))
            self._answer(case, self.before, {})
            for patch in plausible:
                same = next(each.id for each in plausible if each.files == patch.files)
                self.after[patch.id] = answers = self.after.setdefault(same, {})
                self._answer(case, answers, patch.files)
            if any(self._differs(trial, self.calls) for trial in trials):
                break  # else try calls of the functions that use the patched ones
        functions = ((path, *each) for path, text in case.files.items() for each in bound_in(text))
        in_place = {(path, name) for path, name, node in functions if changes_arguments(node)}
        for number, trial in enumerate(trials):
            if trial.plausible:
                named = dict.fromkeys([*trial.suspicions, *self.effects(trial, in_place)])
                trials[number] = replace(trial, suspicions=tuple(named))

    def smaller_change(self, case: Case, trial: Trial) -> Trial | None:
        """Return a change of one place that meets all expectations too, and changes some of the answers that the
        patch changes and no other; none beyond one without an end. Raises as `gather`."""
        changed, files = {*self.changed(trial)}, trial.patch.files
        mended = mended_names(case.files, files)
        mutants = ((path, each) for path in files for each in mutants_in(case.files[path], ()))
        own = ((path, each) for path, each in mutants if (path, ".".join(each.names)) in mended)
        for path, mutant in islice(own, _MOST_MUTANTS) if changed else ():
            patch = replace(trial.patch, id=f"{trial.patch.id}, smaller", files={**files, path: mutant.code})
            other = Trial(patch, case.observe(patch.files))
            if (symptom := other.observation.symptom) is not None and symptom.kind == "limit":
                break
            if other.plausible:
                self._answer(case, self.after.setdefault(patch.id, {}), patch.files)
                if {*self.changed(other)} < changed:
                    return other
        return None

    def _differs(self, trial: Trial, calls: Sequence[Call]) -> bool:
        return any(self._text(trial, call) not in (None, self._original(call)) for call in calls)

    def _answer(self, case: Case, known: Answers, files: Mapping[str, str]) -> None:
        missing = [call for call in self.calls if call not in known]
        for call, answer in zip(missing, case.answers(files, missing) if missing else (), strict=True):
            lacks = answer and answer.raises == "AttributeError" and call.source.startswith(_OF_STATE)
            known[call] = None if lacks else answer  # the original code made the object, with other attributes

    def notes(self, leader: Trial) -> tuple[str, ...]:
        """Return sentences on what a patch changes beside the failure, and on what was not tried."""
        said = []
        if reasons := dict.fromkeys(f"{each.function} ({each.source})" for each in self.left_out):
            said.append(f"Not tried on other arguments: {', '.join(list(reasons)[:_MOST_REASONS])}.")
        answers = self.after.get(leader.patch.id)
        if answers and (changed := self.changed(leader)):
            raising = [call for call in changed if _is_raised(self._text(leader, call))]
            call = (raising or changed)[0]
            was, now = self.before[call], self._text(leader, call) or "no answer"
            said.append(
                f"It changes {len(changed)} of {len(self.answered())} other answers that the code gave"
                f"{f', and raises at {len(raising)}' if raising else ''}, such as "
                f"{shown(call)}: {_cut(str(was and was.text))} before, {_cut(now)} now."
            )
        return tuple(said)

    def following(self, leader: Trial, trials: Sequence[Trial]) -> list[Trial]:
        """Return the trials, `leader` included, that agree with it and with each other: in their case, and in each
        call that two of them answer; among each other not in calls on an object's state."""

        def alike(one: Trial, other: Trial, calls: Sequence[Call]) -> bool:
            pairs = ((self._text(one, call), self._text(other, call)) for call in calls)
            same = one.observation.behavior == other.observation.behavior
            return same and all(a is None or b is None or is_same(a, b) for a, b in pairs)

        stateless = [call for call in self.calls if not call.source.startswith(_OF_STATE)]
        group = [leader]
        for trial in trials:
            found = trial is not leader and alike(trial, leader, self.calls)
            if found and all(alike(trial, each, stateless) for each in group):
                group.append(trial)
        return [trial for trial in trials if trial in group]

    def left_failing(self, trial: Trial, trials: Sequence[Trial], least: int) -> int:
        """Return the number of calls in which a patch still fails, but `least` of `trials` return one value."""
        found = 0
        for call in self.calls:
            if self._text(trial, call) is None and self._fails(trial, call):
                said = [text for each in trials if (text := self._text(each, call)) is not None]
                found += any(sum(is_same(one, other) for other in said) >= least for one in said)
        return found

    def tried(self, trials: Sequence[Trial]) -> int:
        """Return the number of calls that all trials answer; 0 if the original code answers them all the same."""

        def answers(trial: Trial, call: Call) -> bool:
            return self._text(trial, call) not in (None, "None") and not self._fails(trial, call)

        answered = [call for call in self.calls if all(answers(each, call) for each in trials)]
        return len(answered) if self._differs(trials[0], answered) else 0

    def changed(self, trial: Trial) -> list[Call]:
        """Return the calls to which a patch gives another answer than the original code."""
        return [call for call in self.answered() if self._text(trial, call) != _text(self.before.get(call))]

    def answered(self) -> list[Call]:
        """Return the calls for which the original code returns a value."""
        return [call for call in self.calls if _text(self.before.get(call)) is not None]

    def failing(self, trial: Trial) -> list[Call]:
        """Return the calls that the original code answers, and where a patch raises by no `raise` of its own."""
        return [call for call in self.answered() if self._fails(trial, call)]

    def _fails(self, trial: Trial, call: Call) -> bool:
        answer = self.after.get(trial.patch.id, {}).get(call)
        return answer is not None and answer.raises is not None and not answer.deliberate

    def effects(self, trial: Trial, in_place: Set[tuple[str, str]] = frozenset()) -> Iterator[Suspicion]:
        """Yield a suspicion for each kind of new effect; functions `in_place` may change their arguments."""
        found: dict[SuspicionName, str] = {}
        slow = fast = 0.0
        answers = self.after.get(trial.patch.id, {})
        for call in self.answered() or self.calls:
            before, after = self.before.get(call), answers.get(call)
            if before is None or after is None or before.raises == NO_END:
                continue
            if after.raises == NO_END:
                found.setdefault("slower", f"{shown(call)} does not end in time, or ends its process")
                continue
            if before.value is None:  # it raised, before it had all its effects
                continue
            slow, fast = slow + after.seconds, fast + before.seconds
            changes = after.arguments and after.value is not None and not before.arguments
            if changes and (call.path, call.function) not in in_place:
                left = f"{shown(call)} leaves its arguments as {_cut(after.arguments)}"
                found.setdefault("changes arguments", left)
            if after.output and not before.output:
                found.setdefault("prints", f"{shown(call)} prints {_cut(after.output)!r}")
        if slow > max(_SLOWER * fast, _SLOW_SECONDS):
            found.setdefault("slower", f"calls take {slow:.1f} s that took {fast:.1f} s")
        for path in trial.observation.new_files[:1]:
            found["writes files"] = f"{path} is written"
        return (Suspicion(name, detail) for name, detail in found.items())

    def question(self, leader: Trial, rival: Trial | None) -> str | None:
        """Return a question for the user on the shortest call in which a patch differs from its rival (None: from
        the original code; then also on the longest and one with another number of items); None without one."""
        found = {}
        for call, bare in product(self.calls, (False, True)):  # prefers a bare value, which a user can state
            one = self._text(leader, call, bare=bare)
            other = _text(self.before.get(call), bare) if rival is None else self._text(rival, call, bare=bare)
            alone = rival is None and one != self._original(call) and not self._fails(leader, call)
            if one is not None and (alone if other is None else not is_same(one, other)):
                found[call] = call, YIELDS.sub("[", one), other and YIELDS.sub("[", other)

        def is_stated(text: str | None) -> bool:
            whole = text is None or (len(text) <= _LONGEST_SHOWN and "..." not in text)
            return whole and (text is None or is_plain(text) or (_is_raised(text) and "; " not in text))

        against = self.before if rival is None else self.after.get(rival.patch.id, {})
        of_states = [each for call in found for each in _state_pairs(call, self.after[leader.patch.id], against)]
        plain = [each for each in (*found.values(), *of_states) if all(map(is_stated, each[1:]))]
        if not plain:
            for call, one, other in found.values():
                answers = f"{_predicate(_cut(one))}{f', or {_cut(other)}' if other else ''}"
                return f"{shown(call)} {answers}? A test decides it, or 'any: CALL' where any is right."
            return None
        shortest = min(plain, key=lambda each: (not each[0].path, len(each[0].source), each[0].source))
        call, one, other = shortest
        if not call.path:
            rivals = one if other is None else f"{one} or {other}"
            return f"{shown(call)} prints {rivals}? Heal that run too, with --expect, to decide it."
        of_code = [each for each in plain if each[0].path]
        longest = max(of_code, key=lambda each: len(each[0].source))
        known = {each.source.count(",") for each in (*self.seeds, call, longest[0])}
        apart = (each for each in of_code if each[0].source.count(",") not in known)  # another number of items
        others = [longest, next(apart, of_code[-1])] if rival is None else []
        asked = list(dict.fromkeys([shortest, *others]))
        said = " ".join(f"--expect-call {_quoted(answered_by(call, one))}" for call, one, _ in asked)
        each = "each " if len(asked) > 1 else ""
        asking = " ".join(starmap(_question_on, asked))
        return f"{asking} {said} decides it, {each}with the value that is right ('any: CALL' where any is)."

    def _text(self, trial: Trial, call: Call, *, bare: bool = False) -> str | None:
        """Return a patch's answer as text. An exception counts as one where the original code returns a value, or
        where a `raise` statement raised it; else None."""
        answer, was = self.after.get(trial.patch.id, {}).get(call), self.before.get(call)
        if answer is None or answer.raises in (None, NO_END) or was is None or self._original(call) is None:
            return _text(answer, bare)
        return _text(answer, bare, raising=True) if was.raises is None or answer.deliberate else None

    def _original(self, call: Call) -> str | None:
        """Return the original code's answer as text, also for an exception."""
        return _text(self.before.get(call), raising=True)


def _state_pairs(call: Call, one: Answers, other: Answers) -> Iterator[tuple[Call, str, str | None]]:
    """Yield the attributes of a method's object that two programs leave different: expression and two values."""
    node, answers = literal_call(call.source), [each.get(call) for each in (one, other)]
    states = [each.state for each in answers if each and each.state and is_plain(each.state)]
    if len(states) == 2 and node is not None and isinstance(node.func, ast.Attribute):
        left, others = map(value_of, states)
        for name in left:
            if name in others and left[name] != others[name]:
                asked = replace(call, source=after(node, node.func, f"it.{name}"))
                yield asked, written(left[name]), written(others[name])


def shown(call: Call) -> str:
    """Return a call for a sentence."""
    return _cut(call.source if call.path else f"the script run with {_command_line(call.source)}")


def _question_on(call: Call, one: str, other: str | None) -> str:
    """Return the question which of two answers is right."""
    second = f"is {other}" if _is_raised(one) and not _is_raised(other) else other
    return f"{call.source} {_predicate(one) if other is None else f'{_predicate(one)} or {second}'}?"


def _predicate(answer: str) -> str:
    """Return an answer as a predicate: `raises ValueError`, `is 3`."""
    return answer if _is_raised(answer) else f"is {answer}"


def _command_line(source: str) -> str:
    """Return the arguments and lines of standard input of a script's run, for a command line."""
    run = parse_expression(source)
    assert isinstance(run, ast.Call)
    given = shlex.join(str(ast.literal_eval(each)) for each in run.args)
    stdin = [f"--stdin of the lines {unparse(each.value)}" for each in run.keywords]
    return " and ".join([*stdin, *([f"`-- {given}`"] if given else [])])


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def _is_raised(text: str | None) -> bool:
    return text is not None and text.startswith(RAISES)


@lru_cache(1 << 14)
def _text(answer: Answer | None, bare: bool = False, *, raising: bool = False) -> str | None:
    """Return an answer as text, with its effects unless `bare`. An exception is one only if `raising`; its effects
    count only if a `raise` statement raised it."""
    if answer is None or (answer.value is None and not (raising and answer.raises)):
        return None
    value = f"{RAISES}{answer.raises}" if answer.value is None else rounded(answer.value)
    if bare or (answer.value is None and not answer.deliberate):
        return comparable(value)
    arguments, state = (rounded(each, as_equal=True) for each in (answer.arguments, answer.state))
    return comparable(replace(answer, value=value, arguments=arguments, state=state).text)


def _quoted(text: str) -> str:
    """Return Python source quoted for a shell, in double quotes where these don't change it."""
    return shlex.quote(text) if set(text) & set('"$`\\!') else f'"{text}"'
