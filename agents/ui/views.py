"""What the page shows of runs, as JSON documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..batch.reports.details import run_details
from ..errors import GreenloopError
from ..files import read_regular
from ..jobs import Job, Jobs
from ..records import RunRecord
from ..records.heal import HealRecord
from ..run.event_log import is_written
from ..storage.questions import answer_lines, how_to_answer, question_line
from ..storage.run_directory import RunDirectory, runs_in
from ..syntax.clean_text import clean

Json = dict[str, Any]
MOST_RUNS = 300
MOST_CALLS = 60
LONGEST_TITLE = 160


def listing(jobs: Jobs) -> list[Json]:
    """The runs, those that work first, then the latest; what can't be read says why."""
    found = {run.path.name for run in runs_in(jobs.settings.work_dir)} | set(jobs.names)
    rows = [_row(jobs.directory(name), jobs.find(name)) for name in sorted(found, reverse=True)[:MOST_RUNS]]
    return sorted(rows, key=lambda row: row["state"] not in ("running", "waiting"))


def _row(run: RunDirectory, job: Job | None) -> Json:
    row: Json = {"name": run.path.name, "kind": run.kind, "created": "", "tokens": 0, "seconds": 0.0, "cost": None}
    if job is not None and not run.exists:
        told = job.document()
        return {**row, "title": clean(told["said"]), "state": told["state"], "grade": None, "model": None}
    try:
        if run.kind == "heal":
            heal = run.read_heal()
            result = heal.result
            usage = result.usage if result is not None else None
            row |= {
                "title": f"heal {Path(heal.request.path).name}",
                "state": state_of(run, heal, job),
                "grade": result.grade or result.outcome if result is not None else None,
                "model": result.model if result is not None else None,
                "created": heal.created,
                "seconds": result.seconds if result is not None else 0.0,
            }
        else:
            record = run.read()
            usage = record.usage
            row |= {
                "title": clean(record.spec.text.strip())[:LONGEST_TITLE],
                "state": state_of(run, record, job),
                "grade": record.grade,
                "model": record.models["code_writer"],
                "created": record.created,
                "seconds": record.seconds,
            }
    except (GreenloopError, OSError) as error:
        return {**row, "title": clean(str(error)), "state": "unreadable", "grade": None, "model": None}
    if usage is not None:
        row |= {"tokens": usage.prompt_tokens + usage.completion_tokens, "cost": usage.cost_usd}
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
    document: Json = {"name": name, "proposal": _proposal(job), **_row(run, job)}
    if not run.exists:
        empty: Json = {field: [] for field in ("rounds", "tests", "facts", "notes", "questions")}
        return {**document, **empty, "code": "", "suite": "", "spec": "", "why": document["title"]}
    if run.kind == "heal":
        result = run.read_heal().result
        return {**document, "heal": asdict(result) if result is not None else None}
    record, rounds = run.read(), run.rounds()
    ruling = rounds[-1].ruling if rounds else None
    error = record.error.message if record.error is not None else ""
    return {
        **document,
        **run_details(rounds, run.code(), run.tests(), record.spec.text),
        "why": clean(record.why or error or "It has no ruling yet."),
        "error": clean(error),
        "facts": [*_facts(record), *(("Clause", clean(str(each))) for each in (ruling.clauses if ruling else ()))],
        "notes": [clean(note) for note in record.notes],
        "questions": [
            {
                "question": question_line(each),
                "how": how_to_answer((each,)),
                "lines": list(answer_lines(each)),
            }
            for each in (ruling.disputes if ruling is not None else ())
        ],
    }


def calls_document(jobs: Jobs, name: str) -> Json:
    """The recorded calls of a run, the last ones in full, oldest first. Raises UsageError."""
    paths = sorted(jobs.directory(name).replies.glob("*/*.json"), key=lambda path: path.stat().st_mtime)
    return {"calls": [call for path in paths[-MOST_CALLS:] if (call := _call(path)) is not None]}


def _call(path: Path) -> Json | None:
    try:
        document = json.loads(read_regular(path))
        request, reply = document["request"], document["reply"]
        return {
            "title": clean(f"{request['role']}: {request['purpose']}"),
            "prompt": "\n\n".join(
                f"[{message['role']}]\n{clean(message['content'])}" for message in request["messages"]
            ),
            "reply": clean(reply["text"]),
        }
    except (GreenloopError, OSError, ValueError, KeyError, TypeError):
        return None  # it is being written


def _proposal(job: Job | None) -> Json | None:
    proposal = job.proposal if job is not None else None
    if proposal is None:
        return None
    return {
        "digest": proposal.digest,
        "title": clean(proposal.title),
        "diff": clean(proposal.diff),
        "text": proposal.text,
        "facts": [clean(fact) for fact in proposal.facts],
        "problem": clean(proposal.problem),
    }


def _facts(record: RunRecord) -> Iterator[tuple[str, str]]:
    usage = record.usage
    yield "Model", f"{record.models['code_writer']}. {record.model_reason}"
    yield "Sandbox", f"{record.sandbox}, {record.isolation or 'no verdict'}"
    yield "Time", f"{record.seconds:,.1f} s, of that {usage.seconds:,.1f} s in {usage.calls} model calls"
    yield "Tokens", f"{usage.prompt_tokens:,} read, {usage.completion_tokens:,} generated"
    if usage.cost_usd:
        yield "Cost", f"{usage.cost_usd:.4f} USD"
    if record.strength is not None:
        yield "Suite", str(record.strength).removeprefix("Suite: ")
    if record.forked_from is not None:
        yield "Forked from", f"{record.forked_from.run} after round {record.forked_from.round}"
    yield "Started", record.created
