from __future__ import annotations

import io
from collections import Counter
from dataclasses import replace

import pytest
from rich.console import Console as RichConsole

from agents.batch.outcome import batch_result
from agents.batch.records import Task
from agents.batch.worker import stopped
from agents.errors import ModelError
from agents.events import Asked, Note, Streamed
from agents.records import Request
from agents.settings import in_ci
from agents.terminal.batch_console import BatchConsole, closing_lines, entry_lines, result_line
from agents.terminal.console import Console

from ..batch.made import bad, entry, verified

ASKED = Request("code_writer", (), 10, 0.0, 0, purpose="draft 1")
TASK = Task(entry("a"), "d1")


def drawn(view: BatchConsole) -> str:
    console = RichConsole(file=io.StringIO(), width=100)
    console.print(view)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_table_shows_what_runs_with_its_tokens_and_what_is_done() -> None:
    view = BatchConsole(Console(), 3, Counter({"failed": 1}))
    view.began(TASK)
    view.emit(Asked(ASKED), "a")
    for _ in range(3):
        view.emit(Streamed(ASKED, "word"), "a")
    assert "code writer: draft 1" in drawn(view)
    assert "3 tokens" in drawn(view)
    assert "1 of 4 specs: 1 failed" in drawn(view)
    view.ended(verified(TASK))
    assert "draft 1" not in drawn(view)
    assert "2 of 4 specs: 1 failed, 1 verified" in drawn(view)


def test_a_table_of_many_specs_fits_a_screen() -> None:
    view = BatchConsole(Console(), 100)
    for number in range(100):
        view.began(Task(entry(f"s{number}"), "d1"))
    assert len(drawn(view).splitlines()) < 20
    assert "and 88 more" in drawn(view)


def test_elsewhere_each_finished_spec_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    display = BatchConsole(Console(), 2)
    with display.progress():
        display.began(TASK)
        display.ended(verified(TASK))
        display.ended(stopped(Task(entry("b"), "d1"), ModelError("network", "Nobody\x1b[2J answers.")))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "1/2 a: verified, 0 rounds, 10 tokens, 0 s"
    assert lines[1].startswith("2/2 b: stopped: Nobody")
    assert "\x1b" not in lines[1]


def test_a_warning_of_many_runs_is_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    display = BatchConsole(Console(), 2)
    for name in ("a", "b"):
        display.emit(Note("No sandbox.", warning=True), name)
        display.emit(Note("Only by the way."), name)
    assert capsys.readouterr().err == "No sandbox.\n"


def test_quiet_prints_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    BatchConsole(Console(quiet=True), 1).ended(verified(TASK))
    assert capsys.readouterr().err == ""


def test_the_end_counts_and_names_bad_entries() -> None:
    unread = Task.planned(bad("b"), "d").result
    assert unread is not None
    results = [verified(TASK), unread]
    lines = closing_lines(batch_result("out", results, 300.0, None, ["out/report.html"]))
    assert lines == [
        "2 specs: 1 bad, 1 verified",
        "5 min 00 s, 1 calls, 10 tokens generated",
        "Bad: b.md is empty",
        "Written: out/report.html",
    ]


def test_a_check_lists_every_entry() -> None:
    assert entry_lines([entry("a"), bad("b")]) == [
        "a (a.md): no signature, 0 examples",
        "b (b.md): bad: b.md is empty",
        "2 specs, 1 of them bad",
    ]


def test_a_result_names_its_rounds() -> None:
    assert result_line(replace(verified(TASK), rounds=1)).startswith("a: verified, 1 round, ")


@pytest.mark.parametrize(("value", "expected"), [("true", True), ("1", True), ("false", False), ("", False)])
def test_a_ci_job_is_known_by_its_variable(monkeypatch: pytest.MonkeyPatch, value: str, expected: bool) -> None:
    monkeypatch.setenv("CI", value)
    assert in_ci() is expected


def test_in_ci_nothing_is_coloured_or_drawn_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("FORCE_COLOR", "1")
    console = Console()
    assert not console.is_live
    with console.err.capture() as captured:
        console.err.print("text", style="red")
    assert captured.get() == "text\n"
