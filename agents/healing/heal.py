"""The loop of a heal: reproduce, locate, ask for patches, run them, rule, and run the leader again, cold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from ..errors import ReplyError
from ..events import EventHandler, Note, ignore_event
from ..records.heal import HealResult, HealRuling, Observation, Patch, Place, Symptom, Trial
from ..roles.healer import Healer
from ..settings import RequiredGrade, reaches
from ..syntax.changes import unified
from ..syntax.source import program
from ..syntax.units import text_of, unit_at, unit_named, whole_file
from ..worktree.tree import never_changes
from .case import Case
from .evidence import Evidence
from .ruling import rule
from .suspicions import suspicions
from .voices import AGREEING, OF_ITEMS, held_out, shown_in_prompt, tells_items

COLD_RUNS = 3
"""Runs of the case as it is, and of the leading patch, each with another hash seed."""
MOST_ROUNDS_AGREEING = 2
"""Rounds that look for patches that agree with a good one."""
MOST_PLACES = 3


@dataclass(slots=True)
class _Search:
    """The state of a heal."""

    case: Case
    symptom: Symptom
    places: tuple[Place, ...]
    evidence: Evidence
    found: Callable[[HealResult], None]
    trials: list[Trial] = field(default_factory=list)
    asked: int = 0
    repeats: int = 0

    @property
    def ruling(self) -> HealRuling:
        return rule(self.trials, trusted=self.case.trusted, evidence=self.evidence)

    @property
    def good(self) -> list[Trial]:
        """Plausible patches without a suspicion."""
        return [trial for trial in self.trials if trial.plausible and not trial.suspicions]

    def tell(self, *, confirmed: bool) -> None:
        """Pass the best patch so far to `found`: with the grade only if it was run again and is contested."""
        result = _result(self, "consensus")
        grade = result.grade if confirmed and result.grade == "contested" else None
        self.found(replace(result, grade=grade, outcome="unhealed", exit_code=1))


def heal_case(
    case: Case,
    healer: Healer,
    *,
    max_rounds: int,
    patches: int = 3,
    emit: EventHandler = ignore_event,
    require: RequiredGrade = "consensus",
    anyway: bool = False,
    found: Callable[[HealResult], None] = lambda _: None,
) -> HealResult:
    """Look for a patch of `case`, at most `patches` in each of `max_rounds` rounds. `found` gets the best so far.

    No model is asked where the case passes or is flaky, nor (unless `anyway`) where its environment lacks what it
    needs. Raises ModelError, BudgetSpent, SandboxBroken and Interrupted.
    """
    ended, seen = _reproduce(case, anyway=anyway)
    if ended is not None:
        return ended
    assert seen.symptom is not None
    for said in seen.broken:
        emit(Note(said))
    if failing := elsewhere(case.files, seen.symptom):
        emit(Note(f"It fails in {failing}."))
    shown, held = shown_in_prompt(seen.symptom).items, held_out(seen.symptom, holds_out=case.holds_out)
    evidence = Evidence(shown=shown, held=held, seeds=seen.calls, left_out=seen.left_out)
    there = places(case, seen.symptom, seen.reached, healer.longest)
    search = _Search(case, seen.symptom, there, evidence, found)
    for number in range(1, max_rounds + 1):
        before = len(search.trials)
        _round(search, healer, number, patches, emit)
        search.evidence.gather(case, search.trials)
        _confirm(search)
        search.tell(confirmed=True)
        if reaches(search.ruling.grade, "verified" if patches == 1 else "consensus"):
            break
        if len(search.trials) == before and not search.good:
            break
        rivals = (good := search.good) and search.evidence.following(good[0], good) != good
        if rivals or (good and patches > 1 and (search.repeats or number == MOST_ROUNDS_AGREEING)):
            break  # more patches of the same model don't decide which is right
    return _result(search, require)


def _reproduce(case: Case, *, anyway: bool) -> tuple[HealResult | None, Observation]:
    """Run a case as it is. Return the first observation, and the result if there is nothing to heal."""
    first = case.observe({}, seed=0)
    if first.environment is not None and not anyway:
        return HealResult(outcome="environment", why=first.environment, symptom=first.symptom), first
    others = [*case.observe_by(range(1, COLD_RUNS), {})]
    ways = [_failure_key(each.symptom) for each in (first, *others)]
    if len(set(ways)) > 1:
        if not anyway and (lacking := next(filter(None, (each.environment for each in others)), None)):
            return HealResult(outcome="environment", why=lacking, symptom=first.symptom), first
        shown = " / ".join(dict.fromkeys(way[0] if way else "no failure" for way in ways))
        why = f"It does not fail the same way each time: {shown}."
        return HealResult(outcome="flaky", why=why, symptom=first.symptom), first
    if first.symptom is None:
        way = "" if case.trusted else " If it should do something else, give an expectation (--expect) or tests."
        return HealResult(outcome="healthy", exit_code=0, why=f"It does not fail.{way}"), first
    return None, first


def _failure_key(symptom: Symptom | None) -> tuple[str, ...] | None:
    """Return a key that is equal for runs that fail the same way: kind, exception type and place, failing items;
    without the line of a recursion error, which varies."""
    if symptom is None:
        return None
    kind = symptom.summary.partition(":")[0] if symptom.kind == "exception" else symptom.summary
    recursion = kind == "RecursionError"
    place = [frame.path if recursion else f"{frame.path}:{frame.line}" for frame in symptom.frames[:1]]
    return (kind, symptom.kind, *place, *(item.name for item in symptom.items))


def _round(search: _Search, healer: Healer, number: int, patches: int, emit: EventHandler) -> None:
    case, shown = search.case, shown_in_prompt(search.symptom)
    for turn in range(patches if search.places else 0):
        search.asked += 1
        place = search.places[turn % len(search.places)]
        earlier = _earlier(search, place) if number > 1 else {}
        try:
            asked = (case.files, case.task, place, shown, earlier, search.asked)
            patch = healer.patch(*asked, repeats=search.repeats)
        except ReplyError as reason:
            emit(Note(f"Patch {search.asked}: the replies have no usable patch ({reason})."))
            continue
        known = _same_program(search, patch)
        if known is not None:
            search.repeats += 1
            emit(Note(f"Patch {search.asked} repeats {known.patch.id}."))
            if not known.plausible or known.suspicions:
                continue
            trial = replace(known, patch=patch)
        else:
            doubts = suspicions(case.files, patch.files, shown.items)
            trial = Trial(patch, case.observe(patch.files), doubts)
        search.trials.append(trial)
        search.tell(confirmed=False)
        if known is None:
            named = f"::{place.name}" if place.name else f":{place.first_line}-{place.last_line}"
            emit(Note(f"Patch {search.asked}, of {place.path}{named}: {_outcome(trial)}."))
        if len(search.good) >= AGREEING:
            search.evidence.gather(case, search.trials)
            best = reaches(search.ruling.grade, "verified" if case.trusted else "consensus")
            if best or (known is not None and patches > 1):
                return  # a model that repeats itself has one voice


def _same_program(search: _Search, patch: Patch) -> Trial | None:
    """Return the trial of an earlier patch that makes the same program."""

    def programs(patch: Patch) -> dict[str, str]:
        return {path: program(text) for path, text in patch.files.items()}

    made = programs(patch)
    return next((trial for trial in search.trials if programs(trial.patch) == made), None)


def _confirm(search: _Search) -> None:
    """Run the leading patch again, cold, until a leader holds each time; one that fails is no longer plausible."""
    while (leader := search.ruling.leader) is not None:
        index = next(number for number, trial in enumerate(search.trials) if trial.patch.id == leader)
        trial = search.trials[index]
        again = search.case.observe_by(range(1, COLD_RUNS), trial.patch.files)
        failed = next((each for each in again if not each.healed), None)
        if failed is not None:
            search.trials[index] = replace(trial, observation=failed)
        elif leader in search.evidence.smaller or not reaches(search.ruling.grade, "consensus"):
            return
        else:
            search.evidence.smaller[leader] = search.evidence.smaller_change(search.case, trial)


def _earlier(search: _Search, place: Place) -> dict[str, str]:
    """Return the texts that failed patches have at a place, with their outcomes."""
    tried = [trial for trial in search.trials if trial.patch.place == place and not trial.plausible]
    held = {(item.name, item.source) for item in search.evidence.held}
    codes = {_new_text(search.case.files, trial.patch): _outcome_for_prompt(trial, held) for trial in tried}
    return {code: f"{outcome[0].upper()}{outcome[1:]}." for code, outcome in codes.items()}


def _new_text(files: Mapping[str, str], patch: Patch) -> str:
    """Return the lines that a patch has at its place."""
    new = patch.files[patch.place.path]
    grown = len(new.splitlines()) - len(files[patch.place.path].splitlines())
    place = patch.place
    return text_of(new, replace(place, last_line=max(place.first_line, place.last_line + grown))).rstrip("\n")


def _outcome(trial: Trial) -> str:
    seen = trial.observation
    if seen.environment is not None:
        return f"it fails otherwise: {seen.environment.rstrip('.')}"
    if seen.symptom is not None:
        return f"it still fails ({seen.symptom.summary})"
    if seen.broken:
        return f"the failure is gone, but {'; '.join(seen.broken)}"
    if trial.suspicions:
        return f"the failure is gone, but the patch is suspicious ({trial.suspicions[0].name})"
    return "the failure is gone"


def _outcome_for_prompt(trial: Trial, held: set[tuple[str, str]]) -> str:
    """Return the outcome for a prompt, without the items that are `held` out."""
    symptom = trial.observation.symptom
    items = symptom.items if symptom is not None and symptom.kind in OF_ITEMS else ()
    told = [item.name for item in items if (item.name, item.source) not in held]
    if items and not told:
        return "it still fails, in what is not shown here"
    if symptom is None or len(told) == len(items) or not tells_items(symptom):
        return _outcome(trial)
    return f"it still fails ({', '.join(told)})"


def _result(search: _Search, require: RequiredGrade) -> HealResult:
    ruling = search.ruling
    leader = next((trial for trial in search.trials if trial.patch.id == ruling.leader), None)
    healed = reaches(ruling.grade, require)
    why = ruling.why
    if leader is None and (failing := elsewhere(search.case.files, search.symptom)):
        why += f"; it fails in {failing}"
    files = leader.patch.files if leader else {}
    return HealResult(
        outcome="healed" if healed else "unhealed",
        exit_code=0 if healed else 1,
        grade=ruling.grade,
        why=f"{why[0].upper()}{why[1:]}.",
        question=ruling.question,
        symptom=search.symptom,
        places=search.places,
        trials=tuple(search.trials),
        leader=ruling.leader,
        diff="".join(unified(search.case.files[path], text, path) for path, text in files.items()),
        files=files,
        notes=search.evidence.notes(leader) if leader else (),
    )


def places(case: Case, symptom: Symptom, reached: Mapping[str, float], longest: int) -> tuple[Place, ...]:
    """Return at most three places: those of the traceback's frames, deepest first, then of the functions that the
    failing run reached, most suspicious first. `longest` is the room of a reply, in characters.

    A `target` is the only place of its case. Without a traceback a single short file is a place as a whole, unless
    tests fail, which rank the functions.
    """
    files = case.files
    if case.target is not None:
        path, name = case.target
        lines = [frame.line for frame in symptom.frames if frame.path == path]
        return (unit_named(path, files[path], name, lines, longest),)
    told_apart = symptom.kind == "tests" and bool(reached)
    if not symptom.frames and not told_apart and len(files) == 1:
        path, text = next(iter(files.items()))
        if len(text) <= longest // 2:
            return (whole_file(path, text),)
    found: list[Place] = []
    functions = (name.rpartition("::") for name in sorted(reached, key=lambda name: -reached[name]))
    seen = [(frame.path, frame.line) for frame in symptom.frames]
    for path, line in [*seen, *((path, int(line)) for path, _, line in functions)]:
        if path in files and (place := unit_at(path, files[path], line, longest)) not in found:
            found.append(place)
    if not found and len(files) == 1:
        path, text = next(iter(files.items()))
        found.append(unit_at(path, text, case.entry_line or len(text.splitlines()), longest))
    return tuple(found[:MOST_PLACES])


def elsewhere(files: Mapping[str, str], symptom: Symptom) -> str:
    """Return the function in which a case fails, for a sentence; empty where its file may change or has tests."""
    deepest = next(iter(symptom.frames), None)
    if deepest is None or deepest.path in files or never_changes(deepest.path):
        return ""
    name = f"{deepest.path}::{deepest.function}"
    return f"{name}, which may not change (--may-change {deepest.path} lets it)"
