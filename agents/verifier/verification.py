"""One verification: runs each file of tests and returns the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..records import Outcome, Refusal, TestStrength, Verdict, VerdictKind
from ..syntax.clean_text import clean
from .file_run import MOST_OUTPUT, FileRun
from .prepared_suite import PreparedSuite, belonging, by_test
from .sensitivity import Sensitivity, strength_of
from .session import Terms
from .static.gate import check_encoding
from .static.hard_coded_answers import answers_from_a_table
from .static.reads_tests import asks_where_it_runs, has_written_cases, reaches_tests

_MOST_NOTES = 20
_UNTRIED = "hypothesis finds no example to try it on"


def verification(terms: Terms, code: str, prepared: PreparedSuite) -> Verdict:
    """Verify one candidate's `code` on a prepared suite. Raises SandboxBroken and Interrupted.

    A pass counts only if the test fails for a wrong answer; any other untrusted test is refused.
    """
    runs = _run(terms, code, prepared)
    found = [outcome for run in runs for outcome in run.outcomes]
    noticed = None if terms.hasty else {key: one for run in runs for key, one in run.noticed.items()}
    trusted = {test.id for test in prepared.tests if test.trusted}
    untried = {name for run in runs for name in run.untried} - trusted
    strengths, reasons = _strengths(prepared, found, noticed, untried)
    reasons |= dict.fromkeys(untried, _UNTRIED)
    dropped = reasons.keys() - trusted
    skipped = [outcome for outcome in found if outcome.status == "missing"]
    reasons |= {belonging(outcome.test_id): outcome.detail for outcome in skipped}
    outcomes = tuple(
        outcome for outcome in found if belonging(outcome.test_id) not in dropped and outcome.status != "missing"
    )
    refused = list(prepared.refused)
    notes = [clean(note) for note in dict.fromkeys(_notes(code, prepared, runs))]
    if len(notes) > _MOST_NOTES:
        notes[_MOST_NOTES:] = [f"{len(notes) - _MOST_NOTES} more notes on the code are left out."]
    for name, reason in reasons.items():
        if prepared.given or name in dropped:
            refused.append(Refusal(name, reason))
        else:
            notes.append(f"{name} does not count as passed: {reason}.")
    kind, reason = _kind(prepared, runs, outcomes, set(reasons), refused)
    notes += _residue(noticed, strengths) if kind == "passed" else []
    return Verdict(
        kind,
        outcomes=outcomes if prepared.given else tuple(_gathered(prepared, outcomes, dropped)),
        refused=tuple(refused),
        reason=reason,
        isolation="in-process" if any(run.isolation == "in-process" for run in runs) else "isolated",
        stopped=runs[-1].stopped if runs else None,
        notes=tuple(notes),
        output=clean("".join(run.output for run in runs))[:MOST_OUTPUT],
        strength=strengths,
    )


def _run(terms: Terms, code: str, prepared: PreparedSuite) -> list[FileRun]:
    runs: list[FileRun] = []
    for file in prepared.files:
        stopped = runs[-1].stopped if runs else None
        run = FileRun(terms, code, file, stopped, measure=not terms.hasty and _all_passed(runs))
        run.run()
        runs.append(run)
        if run.trouble is not None or run.given_up:
            break
    return runs


def _notes(code: str, prepared: PreparedSuite, runs: Sequence[FileRun]) -> Iterator[str]:
    in_process = any(run.isolation == "in-process" for run in runs)
    reaches = reaches_tests(code) if in_process else None
    asks = asks_where_it_runs(code, prepared.source)
    yield from filter(None, (answers_from_a_table(code, prepared.source), reaches, asks))
    yield from has_written_cases(prepared.source)
    try:
        check_encoding(code)
    except ValueError as error:
        yield f"Of the code, {error}: Python runs another text than stands there."
    whole = _all_passed(runs) and not (prepared.given and prepared.refused)
    for run in runs:
        yield from run.notes
        if run.never and whole:
            lines = ", ".join(map(str, sorted(run.never)))
            yield f"Assertions of the tests that never ran, or went through nothing: line {lines}."


def _all_passed(runs: Sequence[FileRun]) -> bool:
    return all(outcome.status == "passed" for run in runs for outcome in run.outcomes)


def _residue(noticed: Mapping[str, Sensitivity] | None, strengths: Sequence[TestStrength]) -> list[str]:
    """Return notes on a pass: tests that miss half of the changed answers or more, code that is called once."""
    notes = [
        f"{strength.test_id} notices {strength.noticed} of {strength.tried} changed answers: "
        f"{strength.missed} would pass it."
        for strength in strengths
        if strength.missed and 0 < 2 * strength.noticed <= strength.tried
    ]
    if noticed is not None and sum(item.asked for item in noticed.values()) == 1:
        notes.append("The tests ask the code once: code that gets just that right would pass them.")
    return notes


def _strengths(
    prepared: PreparedSuite,
    found: Sequence[Outcome],
    noticed: Mapping[str, Sensitivity] | None,
    untried: set[str],
) -> tuple[tuple[TestStrength, ...], dict[str, str]]:
    """Return each test's strength, and the reasons of those that show nothing; empty unless all passed."""
    reasons: dict[str, str] = {}
    strengths: list[TestStrength] = []
    run = [outcome for outcome in found if outcome.status != "missing"]
    tried = [outcome for outcome in run if belonging(outcome.test_id) not in untried]
    if noticed is None or not tried or any(outcome.status != "passed" for outcome in tried):
        return (), reasons
    ran, items = {belonging(outcome.test_id) for outcome in run}, by_test(noticed.items())
    for name in prepared.names:
        if name in untried or name not in ran:
            continue
        strength, reason = strength_of(name, items.get(name, []))
        if strength is not None:
            strengths.append(strength)
        if reason:
            reasons[name] = reason
    return tuple(strengths), reasons


def _kind(
    prepared: PreparedSuite,
    runs: Sequence[FileRun],
    outcomes: Sequence[Outcome],
    idle: set[str],
    refused: Sequence[Refusal],
) -> tuple[VerdictKind, str]:
    # Each run speaks for its own tests alone, whatever was reported in it.
    ids = {name for run in runs for name in run.ids}
    ids |= {name for file in prepared.files[len(runs) :] for name in file.names}
    names = set(prepared.names)
    if runs and runs[-1].trouble is not None:
        return runs[-1].trouble
    if prepared.given and prepared.refused:
        return "refused", f"{prepared.refused[0].test_id}: {prepared.refused[0].reason}"
    others = {belonging(name) for run in runs for name in run.collected} - names if prepared.given else set()
    if others or not names <= {belonging(name) for name in ids}:
        return "void", "the tests that pytest collected are not those in the file"
    if len(names) < len(prepared.names):
        return "void", "two tests have one name"
    if runs and runs[-1].stopped is not None:
        return "stopped", str(runs[-1].stopped)
    failing = [outcome.test_id for outcome in outcomes if outcome.status != "passed"]
    if failing:
        return "failed", f"{len(failing)} of {len(outcomes)} tests fail"
    if not any(belonging(outcome.test_id) not in idle for outcome in outcomes):
        if refused:
            return "refused", f"{refused[0].test_id}: {refused[0].reason}"
        return "refused", "there is no test to run" if not outcomes else "no test shows anything about the code"
    ran = {outcome.test_id for run in runs for outcome in run.outcomes}
    if ran != {name for name in ids if belonging(name) in names}:
        return "incomplete", "some tests have no outcome"
    return "passed", ""


def _gathered(prepared: PreparedSuite, outcomes: Sequence[Outcome], dropped: set[str]) -> Iterator[Outcome]:
    """Yield one outcome for each test, of which pytest may have several items."""
    found = by_test((outcome.test_id, outcome) for outcome in outcomes)
    for name in prepared.names:
        if name in dropped:
            continue
        parts = found.get(name, [])
        worst = next((part for part in parts if part.status != "passed"), None)
        if not parts:
            yield Outcome(name, "missing")
        elif worst is None:
            yield Outcome(name, "passed", seconds=sum(part.seconds for part in parts))
        else:
            item = worst.test_id.removeprefix(name).lstrip(":")
            detail = f"{item}: {worst.detail}" if item else worst.detail
            yield Outcome(name, worst.status, detail, worst.actual, worst.expected, worst.seconds)
