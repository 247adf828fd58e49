"""events.jsonl: what a process that follows a run finds there."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agents import Settings, generate
from agents.errors import UsageError
from agents.events import Answered, Asked, BoardStarted, Fetching, Note, RunEnded, RunStarted, Streamed
from agents.records import Message, Reply, Request
from agents.run.event_log import MOST_BYTES, EventLog

from ..support.commands import QUICKSORT, REPLAYS, ROOT

SCHEMA = Draft202012Validator(json.loads((ROOT / "docs" / "schema" / "event.json").read_text("utf-8")))
QUESTION = Request("critic", (Message("user", "?"),), 10, 0.0, 0, purpose="replacement for round 2")


def lines(path: Path) -> list[dict[str, Any]]:
    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n")
    assert all(len(line.encode()) < MOST_BYTES for line in text.splitlines())
    return [json.loads(line) for line in text.splitlines()]


def test_a_run_writes_every_kind_of_event_in_the_published_form(tmp_path: Path) -> None:
    settings = Settings(model=f"recorded:{REPLAYS}", mutation=False)
    result = generate(QUICKSORT, settings=settings, work_dir=tmp_path)
    assert result.run_dir is not None
    found = lines(Path(result.run_dir) / "events.jsonl")
    for line in found:
        SCHEMA.validate(line)
    assert [line["number"] for line in found] == list(range(1, len(found) + 1))
    assert {line["event"] for line in found} == {"started", "asked", "answered", "testing", "ruled", "ended"}
    assert found[0]["id"] == Path(result.run_dir).name
    assert (found[-1]["event"], found[-1]["grade"], found[-1]["exit_code"]) == ("ended", "consensus", 0)
    calls = [line["call"] for line in found if line["event"] == "asked"]
    assert sorted(calls) == sorted(line["call"] for line in found if line["event"] == "answered")


def test_the_schema_refuses_what_is_no_event() -> None:
    right = {"number": 1, "time": "2026-01-01T00:00:00Z", "event": "note", "text": "", "warning": False}
    assert SCHEMA.is_valid(right)
    for wrong in ({"number": 0}, {"event": "other"}, {"warning": "no"}, {"time": 0}):
        assert not SCHEMA.is_valid({**right, **wrong}), wrong


def test_of_many_that_open_a_log_at_once_one_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    together = threading.Barrier(8)
    found: list[EventLog | UsageError] = []

    def open_it() -> None:
        together.wait()
        try:
            found.append(EventLog(path))
        except UsageError as refusal:
            found.append(refusal)

    at_once = [threading.Thread(target=open_it) for _ in range(8)]
    for thread in at_once:
        thread.start()
    for thread in at_once:
        thread.join()
    (log,) = (each for each in found if isinstance(each, EventLog))
    refusals = {str(each) for each in found if isinstance(each, UsageError)}
    assert refusals == {f"Another process is at {tmp_path}; wait for its end, or stop it first."}
    log.close()
    EventLog(path).close()


def test_a_log_that_is_looked_at_for_a_moment_can_be_opened(tmp_path: Path) -> None:
    import fcntl

    path = tmp_path / "events.jsonl"
    path.touch()
    with path.open("rb") as looked_at:
        fcntl.flock(looked_at, fcntl.LOCK_SH)
        threading.Timer(0.05, fcntl.flock, (looked_at, fcntl.LOCK_UN)).start()
        EventLog(path).close()


def test_a_log_goes_on_with_its_numbers_and_without_half_a_line(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    first = EventLog(path)
    first.add(RunStarted(str(tmp_path), "m", "It was asked for.", "none"))
    first.add(Fetching("the hub", 1, 2))
    first.close()
    with path.open("a") as file:
        file.write('{"number": 3, "ti')
    second = EventLog(path)
    second.add(BoardStarted(1, 4, 8))
    second.add(RunEnded("finished", "verified", 0, None))
    assert [(line["number"], line["event"]) for line in lines(path)] == [
        (1, "started"), (2, "fetching"), (3, "testing"), (4, "ended")
    ]  # fmt: skip
    second.add(Note("too late"))
    assert len(lines(path)) == 4


def test_text_is_gathered_and_no_line_is_too_long(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl")
    log.add(Asked(QUESTION))
    begun = time.monotonic()
    while time.monotonic() - begun < 0.7:
        log.add(Streamed(QUESTION, "word "))
        time.sleep(0.001)
    log.add(Answered(QUESTION, Reply("\U0001f40d\ud800" * 100_000, "stop")))
    log.add(Note("é" * 100_000, warning=True))
    asked, *texts, answered, note = lines(tmp_path / "events.jsonl")
    assert asked["purpose"] == "replacement for round 2"
    assert 1 <= len(texts) <= 3
    assert all(len(line["text"]) > 100 for line in texts)
    for line in (*texts, answered, note):
        SCHEMA.validate(line)
    assert len(note["text"]) > 5000


def test_another_process_sees_whole_lines_while_threads_write(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    log = EventLog(path)
    follower = (
        "import json, sys, time\n"
        "file, rest, seen = open(sys.argv[1], 'rb'), b'', 0\n"
        "while seen < 600:\n"
        "    *whole, rest = (rest + file.read()).split(b'\\n')\n"
        "    for line in whole:\n"
        "        seen += 1\n"
        "        assert json.loads(line)['number'] == seen\n"
        "assert rest == b''\n"
    )
    process = subprocess.Popen([sys.executable, "-c", follower, str(path)], stderr=subprocess.PIPE, text=True)

    def write(size: int) -> None:
        for _ in range(200):
            log.add(Note("x" * size))

    threads = [threading.Thread(target=write, args=(size,)) for size in (10, 9_000, 60_000)]
    for thread in threads:
        thread.start()
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("place", ["nowhere/events.jsonl", "."])
def test_a_log_that_cannot_be_written_is_given_up(tmp_path: Path, place: str) -> None:
    log = EventLog(tmp_path / place)
    log.add(Note("unheard"))
    log.add(RunEnded("finished", "verified", 0, None))
    assert log.fault is not None


def test_a_full_disk_ends_the_log_with_a_whole_line(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        for _ in range(4):
            log.add(Note("x" * 250))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [line["number"] for line in lines(tmp_path / "events.jsonl")] == [1, 2]
    assert log.fault is not None
