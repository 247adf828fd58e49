"""The details of one entry in the report, bounded in size: rounds as diffs, tests, open questions, code."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from ...errors import GreenloopError
from ...records import Candidate, LedgerEntry, Outcome, RoundRecord, RunOutcome, Verdict
from ...storage.json_form import cleaned
from ...storage.questions import how_to_answer, question_line
from ...storage.run_directory import RunDirectory
from ...syntax.clean_text import clean
from ..labels import reason, shortened
from ..records import EntryResult

Json = dict[str, Any]
LEAST_BYTES = 4_096
"""Enough for the part above the rounds."""


_MOST_COMPARED = 64_000
"""Characters of a code that is diffed: the time is quadratic."""
_MOST_ITEMS = 128
_HALVINGS = 8


def _cut(document: Json, step: int = 0) -> Json:
    """Return a JSON document with its texts, their lines and its lists cleaned and cut; each step halves the
    bounds. Texts are cut first too: cleaning is slow."""
    most = 16_000 >> step

    def shown(text: str) -> str:
        lines = clean(shortened(text, most)).split("\n")
        return shortened("\n".join(shortened(line, max(600 >> step, 80)) for line in lines), most)

    found: Json = cleaned(document, shown, _MOST_ITEMS >> step)
    return found


def details(directory: Path, result: EntryResult, most_bytes: int) -> str:
    """Return a JSON document on `result` in ASCII, of at most `most_bytes` bytes (at least LEAST_BYTES). Long
    texts are cut in their middle and lists at their end until it fits. It is safe in a script element."""
    document = _document(directory, result)
    texts = (_safe(_cut(document, step)) for step in range(_HALVINGS))
    fitting = next((text for text in texts if len(text) <= most_bytes), None)
    return fitting or short_details(result, "The rest is too long to be shown here.")


def served_details(rounds: Sequence[RoundRecord], code: str | None, tests: str | None, spec: str) -> Json:
    """Return the details of a run for the served page, where only very long texts are cut."""
    return _cut(_run_details(rounds, code, tests, spec))


def _run_details(rounds: Sequence[RoundRecord], code: str | None, tests: str | None, spec: str) -> Json:
    parts = {"code": code or "", "suite": tests or "", "spec": spec}
    return {"rounds": list(_rounds(rounds)), "tests": _tests(rounds[-1]) if rounds else [], **parts}


def short_details(result: EntryResult, rest: str = "This batch is too large for more; `show` has its run.") -> str:
    """Return a JSON document like that of `details` with the reason for the label alone; `rest` says why."""
    facts = [("Run", shortened(result.run or "none", 200))]
    return _safe({"why": shortened(reason(result), 200), "notes": [rest], "facts": facts})


def _safe(document: Json) -> str:
    text = json.dumps(document, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _document(directory: Path, result: EntryResult) -> Json:
    rounds: Sequence[RoundRecord] = ()
    code, text, notes = None, "", list(result.notes)
    if result.attempt is not None:
        notes.append(f"A newer attempt came to no end: {result.attempt.message}")
    if result.run is not None:
        run = RunDirectory(directory / result.run)
        try:
            rounds, code, text = run.rounds(), run.code(), run.read().spec.text
        except (GreenloopError, OSError, UnicodeDecodeError) as error:
            notes.append(f"The rounds can't be shown: {error}")
    clauses = rounds[-1].ruling.clauses if rounds else ()
    ways = [(each, how_to_answer((each,), by_file=False)) for each in result.disputes]
    document = {
        "why": reason(result),
        "facts": [*_facts(result), *(("Clause", str(each)) for each in clauses)],
        "questions": [{"question": question_line(each), "how": way} for each, way in ways],
        "notes": notes,
        **_run_details(rounds, code, None, text),
    }
    return document if rounds else {**document, "tests": _failing(result.failing)}


def run_facts(ended: RunOutcome, sandbox: str | None) -> Iterator[tuple[str, str]]:
    """Yield names and values of a run's costs and conditions."""
    usage = ended.usage
    if sandbox:
        yield "Sandbox", f"{sandbox}, {ended.isolation or 'no verdict'}"
    yield "Time", f"{ended.seconds:,.1f} s, of that {usage.seconds:,.1f} s in {usage.calls} model calls"
    yield "Tokens", f"{usage.prompt_tokens:,} read, {usage.completion_tokens:,} generated"
    if usage.cost_usd:
        yield "Cost", f"{usage.cost_usd:.4f} USD"
    if ended.strength is not None:
        yield "Suite", str(ended.strength).removeprefix("Suite: ")


def _facts(result: EntryResult) -> list[tuple[str, str]]:
    stated = (
        ("Where", result.where),
        ("Model", result.model),
        *run_facts(result, result.sandbox),
        ("Begun", f"{result.tries} times" if result.tries > 1 else None),
        ("Files", result.folder),
        ("Run", result.run),
    )
    return [(name, value) for name, value in stated if value]


def _rounds(rounds: Sequence[RoundRecord]) -> Iterator[Json]:
    known: dict[str, Candidate] = {}
    for each in rounds[:_MOST_ITEMS]:
        ruling = each.ruling
        tried = islice(zip(each.board.candidates, each.board.verdicts, strict=True), _MOST_ITEMS)
        yield {
            "number": each.number,
            "seconds": round(each.seconds, 1),
            "grade": ruling.grade,
            "why": ruling.why,
            "next": ruling.next_step,
            "candidates": [_candidate(one, verdict, ruling.leader, known) for one, verdict in tried],
            "failing": _failing(each.board.verdict(ruling.leader).outcomes if ruling.leader else ()),
        }
        known |= {candidate.id: candidate for candidate in each.board.candidates}


def _candidate(candidate: Candidate, verdict: Verdict, leader: str | None, known: dict[str, Candidate]) -> Json:
    passed = sum(outcome.status == "passed" for outcome in verdict.outcomes)
    document: Json = {
        "id": candidate.id,
        "origin": candidate.origin,
        "leads": candidate.id == leader,
        "verdict": verdict.kind,
        "passed": passed,
        "failed": len(verdict.outcomes) - passed,
        "refused": len(verdict.refused),
        "reason": verdict.reason,
        "mended": "; ".join(candidate.mended),
    }
    if candidate.id not in known:
        parent = known.get(candidate.parent or "")
        document["parent"] = parent.id if parent else None
        document["change"] = change(parent, candidate) if parent else candidate.code
    return document


def change(parent: Candidate, candidate: Candidate) -> str:
    """Return the change from one candidate to another as a unified diff, cleaned."""
    return compared((parent.id, parent.code), (candidate.id, candidate.code))


def compared(old: tuple[str, str], new: tuple[str, str]) -> str:
    """Return a cleaned unified diff of two texts, each given with its name; for long ones, the lines of both."""
    lines = [clean(text).split("\n") if text else [] for _, text in (old, new)]
    is_long = max(len(old[1]), len(new[1])) > _MOST_COMPARED
    pairs = [(lines[0], []), ([], lines[1])] if is_long else [(lines[0], lines[1])]
    found = (difflib.unified_diff(before, after, old[0], new[0], lineterm="") for before, after in pairs)
    return "\n".join(line for diff in found for line in diff)


def _tests(last: RoundRecord) -> list[Json]:
    leader = last.ruling.leader
    verdict = last.board.verdict(leader) if leader is not None else None
    return [_test(entry, verdict) for entry in last.ruling.ledger]


def _test(entry: LedgerEntry, verdict: Verdict | None) -> Json:
    outcome = verdict.outcome(entry.test.id) if verdict is not None else None
    return {
        "id": entry.test.id,
        "origin": entry.test.origin,
        "standing": entry.standing,
        "for": entry.votes_for,
        "against": entry.votes_against,
        "reason": entry.reason,
        "status": "not run" if outcome is None or entry.standing == "refused" else outcome.status,
        "detail": outcome.detail if outcome is not None else "",
        "source": entry.test.source,
    }


def _failing(outcomes: Sequence[Outcome]) -> list[Json]:
    failing = (each for each in outcomes if each.status != "passed")
    return [{"id": each.test_id, "status": each.status, "detail": each.detail} for each in failing]
