"""The verdict on what the sessions of a run found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..records import Isolation, Outcome, Refusal, Stopped, TestStrength, Verdict, VerdictKind
from .audit import Trouble
from .prepared_suite import PreparedSuite, belonging
from .sensitivity import Sensitivity, strength_of

_UNTRIED = "hypothesis finds no example to try it on"


@dataclass(frozen=True, slots=True)
class Findings:
    """Outcomes of one run's sessions, one for each pytest item, and all else that bears on the verdict."""

    outcomes: tuple[Outcome, ...]
    ids: tuple[str, ...]
    trouble: Trouble | None
    stopped: Stopped | None
    isolation: Isolation
    notes: tuple[str, ...]
    output: str
    noticed: Mapping[str, Sensitivity] | None
    untried: frozenset[str]


def decide(prepared: PreparedSuite, found: Findings) -> Verdict:
    """The verdict. A pass counts only where a wrong answer of the code makes the test fail: another test is
    refused, or, where it is trusted, it runs and its failure counts, but not its pass."""
    trusted = {test.id for test in prepared.tests if test.trusted}
    untried = set(found.untried) - trusted
    strengths, reasons = _strengths(prepared, found, untried)
    reasons |= dict.fromkeys(untried, _UNTRIED)
    dropped = {name for name in reasons if name not in trusted}
    skipped = [outcome for outcome in found.outcomes if outcome.status == "missing"]
    reasons |= {belonging(outcome.test_id): outcome.detail for outcome in skipped}
    outcomes = tuple(
        outcome
        for outcome in found.outcomes
        if belonging(outcome.test_id) not in dropped and outcome not in skipped
    )
    idle = set(reasons)
    refused = list(prepared.refused)
    notes = list(found.notes)
    for name, reason in reasons.items():
        if prepared.given or name in dropped:
            refused.append(Refusal(name, reason))
        else:
            notes.append(f"{name} does not count as passed: {reason}.")
    kind, reason = _kind(prepared, found, outcomes, idle, refused)
    notes += _residue(found, strengths) if kind == "passed" else []
    return Verdict(
        kind,
        outcomes=outcomes if prepared.given else tuple(_gathered(prepared, outcomes, dropped)),
        refused=tuple(refused),
        reason=reason,
        isolation=found.isolation,
        stopped=found.stopped,
        notes=tuple(notes),
        output=found.output,
        strength=strengths,
    )


def _residue(found: Findings, strengths: Sequence[TestStrength]) -> list[str]:
    """Notes on a pass: tests that miss half of the changed answers or more, and code that is asked once."""
    notes = [
        f"{strength.test_id} notices {strength.noticed} of {strength.tried} changed answers: "
        f"{strength.missed} would pass it."
        for strength in strengths
        if strength.missed and 0 < 2 * strength.noticed <= strength.tried
    ]
    if found.noticed is not None and sum(item.asked for item in found.noticed.values()) == 1:
        notes.append("The tests ask the code once: code that gets just that right would pass them.")
    return notes


def _strengths(
    prepared: PreparedSuite, found: Findings, untried: set[str]
) -> tuple[tuple[TestStrength, ...], dict[str, str]]:
    """The strength of each test, and the reason for those that show nothing; empty unless all tests passed."""
    reasons: dict[str, str] = {}
    strengths: list[TestStrength] = []
    run = [outcome for outcome in found.outcomes if outcome.status != "missing"]
    tried = [outcome for outcome in run if belonging(outcome.test_id) not in untried]
    if found.noticed is None or not tried or any(outcome.status != "passed" for outcome in tried):
        return (), reasons
    for name in prepared.names:
        if name in untried or not any(belonging(outcome.test_id) == name for outcome in run):
            continue
        items = [item for key, item in found.noticed.items() if belonging(key) == name]
        strength, reason = strength_of(name, items)
        if strength is not None:
            strengths.append(strength)
        if reason:
            reasons[name] = reason
    return tuple(strengths), reasons


def _kind(
    prepared: PreparedSuite,
    found: Findings,
    outcomes: Sequence[Outcome],
    idle: set[str],
    refused: Sequence[Refusal],
) -> tuple[VerdictKind, str]:
    if found.trouble is not None:
        return found.trouble
    if prepared.given and prepared.refused:
        return "refused", f"{prepared.refused[0].test_id}: {prepared.refused[0].reason}"
    if not set(prepared.names) <= {belonging(name) for name in found.ids}:
        return "void", "the tests that pytest collected are not those in the file"
    if len(set(prepared.names)) < len(prepared.names):
        return "void", "two tests have one name"
    if found.stopped is not None:
        return "stopped", str(found.stopped)
    failing = [outcome.test_id for outcome in outcomes if outcome.status != "passed"]
    if failing:
        return "failed", f"{len(failing)} of {len(outcomes)} tests fail"
    if not any(belonging(outcome.test_id) not in idle for outcome in outcomes):
        if refused:
            return "refused", f"{refused[0].test_id}: {refused[0].reason}"
        return "refused", "there is no test to run" if not outcomes else "no test shows anything about the code"
    ran = {outcome.test_id for outcome in found.outcomes}
    if ran != {name for name in found.ids if belonging(name) in prepared.names}:
        return "incomplete", "some tests have no outcome"
    return "passed", ""


def _gathered(prepared: PreparedSuite, outcomes: Sequence[Outcome], dropped: set[str]) -> list[Outcome]:
    """One outcome for each test, of which pytest may have made several items."""
    gathered = []
    for name in prepared.names:
        if name in dropped:
            continue
        parts = [outcome for outcome in outcomes if belonging(outcome.test_id) == name]
        worst = next((part for part in parts if part.status != "passed"), None)
        if not parts:
            gathered.append(Outcome(name, "missing"))
        elif worst is None:
            gathered.append(Outcome(name, "passed", seconds=sum(part.seconds for part in parts)))
        else:
            item = worst.test_id.removeprefix(name).lstrip(":")
            detail = f"{item}: {worst.detail}" if item else worst.detail
            gathered.append(Outcome(name, worst.status, detail, worst.actual, worst.expected, worst.seconds))
    return gathered
