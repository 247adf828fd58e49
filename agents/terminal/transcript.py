"""The transcript of a run, which `show` prints: each round with diffs, failing tests and ruling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from ..batch.reports.details import change
from ..records import Candidate, RoundRecord, RunRecord
from ..syntax.clean_text import clean
from .safe_console import source_text


def transcript(record: RunRecord, rounds: Sequence[RoundRecord]) -> Iterator[RenderableType]:
    """Yield the run from its start to its end."""
    yield Text(f"Run {record.id} of {record.created}, {record.status}", style="bold")
    if (fork := record.forked_from) is not None:
        yield Text(f"Forked from {fork.run} after round {fork.round}.")
    yield Text(clean(record.spec.text.strip()))
    yield Text(f"Model: {record.models['code_writer']}. {record.model_reason} Sandbox: {record.sandbox}.")
    known: dict[str, Candidate] = {}
    for each in rounds:
        yield Rule(f"Round {each.number} ({each.seconds:.1f} s)")
        yield from _round(each, known)
        known |= {candidate.id: candidate for candidate in each.board.candidates}
    for survivor in record.strength.survivors if record.strength else ():
        yield Text(f"Not caught, {clean(str(survivor))}", style="yellow")
    for note in record.notes:
        yield Text(f"Note: {clean(note)}", style="yellow")
    if record.error is not None:
        yield Text(clean(record.error.message), style="red")


def _round(each: RoundRecord, known: dict[str, Candidate]) -> Iterator[RenderableType]:
    for candidate in each.board.candidates:
        if candidate.id not in known:
            yield from _candidate(candidate, known)
    yield _board(each)
    if each.ruling.leader is not None:
        yield from _failing(each, each.ruling.leader)
    for entry in each.ruling.ledger:
        if entry.standing in ("ruled out", "refused", "contested"):
            yield Text(f"{entry.test.id} is {entry.standing}: {clean(entry.reason)}", style="yellow")
    yield Text(f"{each.ruling.grade}: {clean(each.ruling.why)} Next: {each.ruling.next_step}.", style="bold")


def _candidate(candidate: Candidate, known: dict[str, Candidate]) -> Iterator[RenderableType]:
    mended = f" (mended: {'; '.join(candidate.mended)})" if candidate.mended else ""
    parent = known.get(candidate.parent or "")
    made_from = f" of {parent.id}" if parent else ""
    yield Text(f"{candidate.id}: {candidate.origin}{made_from}{clean(mended)}", style="cyan")
    yield source_text(change(parent, candidate), "diff") if parent else source_text(candidate.code)


def _board(each: RoundRecord) -> RenderableType:
    table = Table("candidate", "verdict", "passed", "failed", "refused", "seconds")
    for candidate, verdict in zip(each.board.candidates, each.board.verdicts, strict=True):
        passed = sum(outcome.status == "passed" for outcome in verdict.outcomes)
        name = f"{candidate.id} *" if candidate.id == each.ruling.leader else candidate.id
        counts = (passed, len(verdict.outcomes) - passed, len(verdict.refused))
        table.add_row(name, verdict.kind, *map(str, counts), f"{verdict.seconds:.2f}")
    return table


def _failing(each: RoundRecord, leader: str) -> Iterator[RenderableType]:
    verdict = each.board.verdict(leader)
    for test in each.board.tests:
        outcome = verdict.outcome(test.id)
        if outcome.status == "passed" or any(refusal.test_id == test.id for refusal in verdict.refused):
            continue
        yield Text(f"{test.id} ({test.origin}) {outcome.status}:", style="red")
        yield source_text(test.source)
        yield Text(clean(outcome.detail))
