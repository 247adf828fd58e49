"""Batches as they lie on a disk, for the tests of their reports: results, and the run directories behind them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agents.batch.labels import Report
from agents.batch.records import EntryResult
from agents.records import (
    Board,
    Candidate,
    Dispute,
    Failure,
    Grade,
    LedgerEntry,
    Outcome,
    RoundRecord,
    Ruling,
    RunRecord,
    Spec,
    Test,
    Usage,
    Verdict,
)
from agents.storage.run_directory import SCHEMA_VERSION, RunDirectory

USAGE = Usage(calls=3, prompt_tokens=1_000, completion_tokens=200, seconds=4.0, cost_usd=0.01)
DISPUTE = Dispute("test_word", "double('a')", ("'aa'", "'a a'"))
FAILING = Outcome("test_two", "failed", "assert double(2) == 4: got 5, expected 4", "5", "4")
HOSTILE = (
    '</script><script>document.title="forged"</script><img src=x onerror=alert(1)><!--<script>',
    "\u202eright to left\u2066 \x00\x1b[31m\x07\ud800\ufffe]]>&amp;{{ 7*7 }}",
    "| a | b |\n# head\n`code` **bold** [link](https://example.org) @someone",
)
"""Texts that a model may write to break a report."""


def report(*results: EntryResult) -> Report:
    """A report of these results."""
    return Report(results, "consensus", 1, 61.0, created="2026-01-31T12:00:00+00:00")


def result(name: str, grade: Grade | None = "consensus", **fields: object) -> EntryResult:
    """A finished result with `grade`; `fields` as EntryResult has them."""
    stated: dict[str, object] = {
        "id": name,
        "where": f"specs/{name}.md",
        "digest": "d",
        "status": "finished",
        "exit_code": 0,
        "grade": grade,
        "why": "The drafts agree.",
        "title": f"Implement {name}(x: int) -> int",
        "rounds": 2,
        "tests": 3,
        "usage": USAGE,
        "seconds": 5.5,
        "model": "embedded",
        "sandbox": "bubblewrap",
        "isolation": "isolated",
    }
    return EntryResult(**{**stated, **fields})  # type: ignore[arg-type]


def one_of_each() -> list[EntryResult]:
    """A result for every way that an entry may end, in no order."""
    return [
        result("right"),
        result("best", "verified"),
        result("open", "contested", exit_code=1, why="A test is in dispute.", disputes=(DISPUTE,)),
        result("wrong", "failed", exit_code=1, why="1 test fails.", failing=(FAILING,)),
        result("dear", None, status="stopped", exit_code=5, error=Failure("budget_spent", "10 calls are spent.")),
        result("cut", "contested", status="interrupted", exit_code=130, error=Failure("interrupted", "Stopped.")),
        EntryResult("bad", "list.jsonl:3", "d", "bad", 2, error=Failure("usage", "list.jsonl:3 is no object.")),
        EntryResult("late", "specs/late.md", "d", "not started", 5),
    ]


def hostile(directory: Path) -> EntryResult:
    """A result whose every text tries to break out of its report; its run is below `directory`."""
    text = " ".join(HOSTILE)
    storable = text.replace("\ud800", "")
    keep_run(directory, "hostile", code=storable, text=storable, detail=f"{storable}{'x' * 100_000}")
    return result(
        f"hostile {text}",
        "contested",
        where=text,
        why=text,
        title=text,
        failing=(Outcome(text, "failed", text),),
        disputes=(Dispute(text, text, (text, text)),),
        model=text,
        notes=(text,),
        folder=text,
        run="runs/hostile",
    )


def keep_run(
    directory: Path, name: str, code: str = "def f(x):\n    return x\n", text: str = "A spec.", detail: str = ""
) -> RunDirectory:
    """Write a run of two rounds below `directory`: a draft that fails `test_f`, and a repair that passes it."""
    run = RunDirectory(directory / "runs" / name)
    draft = Candidate("draft0", code, "draft", 1)
    repair = Candidate("repair1", f"{code}# mended\n", "repair", 2, parent="draft0")
    test = Test("test_f", f"def test_f():\n    assert f(1) == 1  # {text}\n", "generated")
    failed = Verdict("failed", (Outcome("test_f", "failed", detail or "assert 2 == 1"),))
    passed = Verdict("passed", (Outcome("test_f", "passed"),))
    run.append(_round(1, (draft,), (failed,), test, "failed"))
    run.append(_round(2, (draft, repair), (failed, passed), test, "consensus"))
    run.save("user_code.py", repair.code)
    run.write(
        RunRecord(
            schema_version=SCHEMA_VERSION,
            id=name,
            greenloop_version="0",
            created="2026-01-31T12:00:00+00:00",
            status="finished",
            spec=Spec(name, text),
            settings={},
            models={"code_writer": "embedded"},
            model_reason="",
        )
    )
    return run


def _round(
    number: int, candidates: Sequence[Candidate], verdicts: Sequence[Verdict], test: Test, grade: Grade
) -> RoundRecord:
    board = Board(tuple(candidates), (test,), tuple(verdicts))
    entry = LedgerEntry(test, "counts", votes_for=number, votes_against=1, reason="Two of three agree.")
    ruling = Ruling(grade, candidates[-1].id, "repair" if number == 1 else "done", f"Why {number}.", (entry,))
    return RoundRecord(number, board, None, ruling, 1.25)
