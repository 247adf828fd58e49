"""The details of one entry in the report, bounded in size: rounds as diffs, tests, open questions, code."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ...errors import GreenloopError
from ...records import Candidate, LedgerEntry, Outcome, RoundRecord, RunOutcome, Verdict
from ...storage.questions import how_to_answer, question_line
from ...storage.run_directory import RunDirectory
from ...syntax.clean_text import clean
from ..labels import one_line, reason, shortened
from ..records import EntryResult

Json = dict[str, Any]
LEAST_BYTES = 4_096
"""Needed for the part above the rounds."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """Bounds: characters of a text, characters of a line, and items of a list."""

    text: int
    line: int
    items: int

    def lines(self, text: str) -> str:
        """Clean `text`, and cut its lines and itself; it is cut first too, as cleaning takes time."""
        lines = clean(shortened(text, self.text)).split("\n")
        return shortened("\n".join(shortened(line, self.line) for line in lines), self.text)

    def line_of(self, text: str) -> str:
        """Clean and cut `text`, on one line."""
        return one_line(text, self.line)


_MOST_COMPARED = 64_000
"""Characters of a code that a diff is made of; the time it takes grows with their square."""
_CUTS = tuple(_Cut(16_000 // 2**step, max(600 // 2**step, 80), 128 // 2**step) for step in range(8))


@dataclass(frozen=True, slots=True)
class _Run:
    """The contents of a run directory; `missing` says what could not be read."""

    rounds: Sequence[RoundRecord] = ()
    code: str | None = None
    text: str = ""
    missing: str = ""


def details(directory: Path, result: EntryResult, most_bytes: int) -> str:
    """Make a JSON document on `result` in ASCII, of at most `most_bytes` bytes (at least LEAST_BYTES).

    It is cut until it fits: long texts in their middle, lists at their end. Nothing in it ends a script element.
    """
    run = _read(directory, result)
    for cut in _CUTS:
        text = _safe(_document(result, run, cut))
        if len(text) <= most_bytes:
            return text
    return short_details(result, "The rest is too long to be shown here.")


def run_details(
    rounds: Sequence[RoundRecord], code: str | None, tests: str | None, spec: str, cut: _Cut = _CUTS[0]
) -> Json:
    """Make the parts of a run's details; by default, for a page that is served, little but long texts is cut."""
    return {
        "rounds": list(_rounds(rounds, cut)),
        "tests": _tests(rounds[-1], cut) if rounds else [],
        "code": cut.lines(code or ""),
        "suite": cut.lines(tests or ""),
        "spec": cut.lines(spec),
    }


def short_details(result: EntryResult, rest: str = "This batch is too large for more; `show` has its run.") -> str:
    """Make a JSON document like that of `details`, with the reason for the label alone; `rest` says why."""
    facts = [("Run", shortened(result.run or "none", 200))]
    return _safe({"why": shortened(reason(result), 200), "notes": [rest], "facts": facts})


def _safe(document: Json) -> str:
    text = json.dumps(document, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _read(directory: Path, result: EntryResult) -> _Run:
    if result.run is None:
        return _Run()
    run = RunDirectory(directory / result.run)
    try:
        rounds, code, record = run.rounds(), run.code(), run.read()
    except (GreenloopError, OSError, UnicodeDecodeError) as error:
        return _Run(missing=f"The rounds can't be shown: {error}")
    return _Run(rounds, code, record.spec.text)


def _document(result: EntryResult, run: _Run, cut: _Cut) -> Json:
    newer = [f"A newer attempt came to no end: {result.attempt.message}"] if result.attempt is not None else []
    notes = [*result.notes, *newer, *([run.missing] if run.missing else [])]
    clauses = run.rounds[-1].ruling.clauses if run.rounds else ()
    shown = run_details(run.rounds, run.code, None, run.text, cut)
    return {
        "why": cut.lines(reason(result)),
        "facts": [
            *_facts(result, cut),
            *(("Clause", cut.line_of(str(each))) for each in clauses[: cut.items]),
        ],
        "questions": [
            {"question": cut.line_of(question_line(each)), "how": cut.line_of(how_to_answer((each,)))}
            for each in result.disputes[: cut.items]
        ],
        **(shown if run.rounds else {**shown, "tests": _failing(result.failing, cut)}),
        "notes": [cut.line_of(note) for note in notes[: cut.items]],
    }


def run_facts(ended: RunOutcome, sandbox: str | None) -> Iterator[tuple[str, str]]:
    """Yield what a run took, by name."""
    usage = ended.usage
    if sandbox:
        yield "Sandbox", f"{sandbox}, {ended.isolation or 'no verdict'}"
    yield "Time", f"{ended.seconds:,.1f} s, of that {usage.seconds:,.1f} s in {usage.calls} model calls"
    yield "Tokens", f"{usage.prompt_tokens:,} read, {usage.completion_tokens:,} generated"
    if usage.cost_usd:
        yield "Cost", f"{usage.cost_usd:.4f} USD"
    if ended.strength is not None:
        yield "Suite", str(ended.strength).removeprefix("Suite: ")


def _facts(result: EntryResult, cut: _Cut) -> list[tuple[str, str]]:
    stated = (
        ("Where", result.where),
        ("Model", result.model),
        *run_facts(result, result.sandbox),
        ("Begun", f"{result.tries} times" if result.tries > 1 else None),
        ("Files", result.folder),
        ("Run", result.run),
    )
    return [(name, cut.line_of(value)) for name, value in stated if value]


def _rounds(rounds: Sequence[RoundRecord], cut: _Cut) -> Iterator[Json]:
    known: dict[str, Candidate] = {}
    for each in rounds[: cut.items]:
        ruling = each.ruling
        tried = islice(zip(each.board.candidates, each.board.verdicts, strict=True), cut.items)
        yield {
            "number": each.number,
            "seconds": round(each.seconds, 1),
            "grade": ruling.grade,
            "why": cut.line_of(ruling.why),
            "next": ruling.next_step,
            "candidates": [_candidate(one, verdict, ruling.leader, known, cut) for one, verdict in tried],
            "failing": _failing(each.board.verdict(ruling.leader).outcomes if ruling.leader else (), cut),
        }
        known |= {candidate.id: candidate for candidate in each.board.candidates}


def _candidate(
    candidate: Candidate, verdict: Verdict, leader: str | None, known: dict[str, Candidate], cut: _Cut
) -> Json:
    passed = sum(outcome.status == "passed" for outcome in verdict.outcomes)
    document: Json = {
        "id": cut.line_of(candidate.id),
        "origin": candidate.origin,
        "leads": candidate.id == leader,
        "verdict": verdict.kind,
        "passed": passed,
        "failed": len(verdict.outcomes) - passed,
        "refused": len(verdict.refused),
        "reason": cut.line_of(verdict.reason),
        "mended": cut.line_of("; ".join(candidate.mended)),
    }
    if candidate.id not in known:
        parent = known.get(candidate.parent or "")
        document["parent"] = cut.line_of(parent.id) if parent else None
        document["change"] = cut.lines(change(parent, candidate) if parent else candidate.code)
    return document


def change(parent: Candidate, candidate: Candidate) -> str:
    """Return the change from one candidate to another as a unified diff, cleaned."""
    return compared((parent.id, parent.code), (candidate.id, candidate.code))


def compared(old: tuple[str, str], new: tuple[str, str]) -> str:
    """Return the change between two texts, each behind its name, as a unified diff, cleaned; of long ones, the
    lines of both."""
    lines = [clean(text).split("\n") if text else [] for _, text in (old, new)]
    is_long = max(len(old[1]), len(new[1])) > _MOST_COMPARED
    pairs = [(lines[0], []), ([], lines[1])] if is_long else [(lines[0], lines[1])]
    found = (difflib.unified_diff(before, after, old[0], new[0], lineterm="") for before, after in pairs)
    return "\n".join(line for diff in found for line in diff)


def _tests(last: RoundRecord, cut: _Cut) -> list[Json]:
    leader = last.ruling.leader
    verdict = last.board.verdict(leader) if leader is not None else None
    return [_test(entry, verdict, cut) for entry in last.ruling.ledger[: cut.items]]


def _test(entry: LedgerEntry, verdict: Verdict | None, cut: _Cut) -> Json:
    outcome = verdict.outcome(entry.test.id) if verdict is not None else None
    return {
        "id": cut.line_of(entry.test.id),
        "origin": entry.test.origin,
        "standing": entry.standing,
        "for": entry.votes_for,
        "against": entry.votes_against,
        "reason": cut.line_of(entry.reason),
        "status": "not run" if outcome is None or entry.standing == "refused" else outcome.status,
        "detail": cut.lines(outcome.detail) if outcome is not None else "",
        "source": cut.lines(entry.test.source),
    }


def _failing(outcomes: Sequence[Outcome], cut: _Cut) -> list[Json]:
    failing = [outcome for outcome in outcomes if outcome.status != "passed"]
    return [
        {"id": cut.line_of(out.test_id), "status": out.status, "detail": cut.lines(out.detail)}
        for out in failing[: cut.items]
    ]
