"""Views of runs for the page, as JSON documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..batch.labels import tokens
from ..batch.reports.details import run_facts, served_details
from ..errors import GreenloopError
from ..files import read_regular
from ..records import Ending, RunRecord
from ..records.heal import HealRecord
from ..run.event_log import is_written
from ..storage.json_form import cleaned
from ..storage.questions import answer_lines, how_to_answer, question_line
from ..storage.run_directory import RunDirectory
from ..syntax.clean_text import clean

if TYPE_CHECKING:
    from ..jobs import Job, Jobs

Json = dict[str, Any]
MOST_RUNS = 300
MOST_CALLS = 60
LONGEST_TITLE = 160


def listing(jobs: Jobs) -> list[Json]:
    """The runs, those that work first, then the latest; what can't be read says why."""
    rows = (run_row(run, jobs.find(run.path.name)) for run in jobs.latest(MOST_RUNS))
    return sorted(map(cleaned, rows), key=lambda row: row["state"] not in ("running", "waiting"))


def run_row(run: RunDirectory, job: Job | None = None) -> Json:
    """The row of a run in a list; its texts are not cleaned."""
    row: Json = {"name": run.path.name, "kind": run.kind, "created": "", "tokens": 0, "seconds": 0.0, "cost": None}
    row |= {"grade": None, "model": None}
    if job is not None and not run.exists:
        told = job.document()
        return {**row, "title": told["said"], "state": told["state"]}
    try:
        record = run.record()
    except (GreenloopError, OSError) as error:
        return {**row, "title": str(error), "state": "unreadable"}
    row |= {"state": state_of(run, record, job), "created": record.created}
    ended: Ending | None
    if isinstance(record, HealRecord):
        row["title"] = f"heal {Path(record.request.path).name}"
        if (ended := record.result) is not None:
            row |= {"grade": ended.grade or ended.outcome, "model": ended.model}
    else:
        ended, title = record, record.spec.text.strip()[:LONGEST_TITLE]
        row |= {"title": title, "grade": record.grade, "model": record.models["code_writer"]}
    if ended is not None:
        usage = ended.usage
        row |= {"seconds": ended.seconds, "tokens": tokens(usage), "cost": usage.cost_usd}
    return row


def state_of(run: RunDirectory, record: RunRecord | HealRecord, job: Job | None) -> str:
    """The state of a run: one that no process is at any more is interrupted."""
    if job is not None and not job.future.done():
        return "running" if job.began else "waiting"
    if record.status == "running" and not is_written(run.events):
        return "interrupted"
    return record.status


def run_document(jobs: Jobs, name: str) -> Json:
    """Everything about one run. Raises UsageError."""
    run, job = jobs.directory(name), jobs.find(name)
    return {**cleaned(_run_document(run, job)), "proposal": _proposal(job)}


def _run_document(run: RunDirectory, job: Job | None) -> Json:
    document = run_row(run, job)
    if not run.exists:
        empty: Json = {field: [] for field in ("rounds", "tests", "facts", "notes", "questions")}
        return {**document, **empty, "code": "", "suite": "", "spec": "", "why": document["title"]}
    record, rounds = run.record(), run.rounds()
    if isinstance(record, HealRecord):
        return {**document, "heal": asdict(record.result) if record.result is not None else None}
    ruling = rounds[-1].ruling if rounds else None
    error = record.error.message if record.error is not None else ""
    return {
        **document,
        **served_details(rounds, run.code(), run.tests(), record.spec.text),
        "why": record.why or error or "It has no ruling yet.",
        "error": error,
        "facts": [*_facts(record), *(("Clause", str(each)) for each in (ruling.clauses if ruling else ()))],
        "notes": list(record.notes),
        "questions": [
            {
                "question": question_line(each),
                "how": how_to_answer((each,)),
                "lines": list(answer_lines(each, record.spec, [entry.test for entry in ruling.ledger])),
            }
            for each in ruling.disputes
        ]
        if ruling is not None
        else [],
    }


def calls_document(jobs: Jobs, name: str) -> Json:
    """The recorded calls of a run, the last ones in full, oldest first. Raises UsageError."""
    run = jobs.directory(name)
    paths = sorted(run.replies.glob("*/*.json"), key=lambda path: path.lstat().st_mtime)
    return {"calls": [call for path in paths[-MOST_CALLS:] if (call := _call(path, run.path)) is not None]}


def _call(path: Path, root: Path) -> Json | None:
    try:
        document = json.loads(read_regular(path, root))
        request, reply = document["request"], document["reply"]
        return {
            "title": clean(f"{request['role']}: {request['purpose']}"),
            "prompt": "\n\n".join(
                f"[{clean(message['role'])}]\n{clean(message['content'])}" for message in request["messages"]
            ),
            "reply": clean(reply["text"]),
        }
    except (GreenloopError, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None  # it is being written, or somebody else's


def _proposal(job: Job | None) -> Json | None:
    if job is None or (proposal := job.proposal) is None:
        return None
    shown = {name: clean(getattr(proposal, name)) for name in ("title", "diff", "problem")}
    return {"digest": proposal.digest, "text": proposal.text, "facts": list(map(clean, proposal.facts)), **shown}


def _facts(record: RunRecord) -> Iterator[tuple[str, str]]:
    yield "Model", f"{record.models['code_writer']}. {record.model_reason}"
    yield from run_facts(record, record.sandbox)
    if record.forked_from is not None:
        yield "Forked from", f"{record.forked_from.run} after round {record.forked_from.round}"
    yield "Started", record.created
