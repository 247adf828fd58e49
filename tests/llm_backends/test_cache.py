from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from agents.errors import Interrupted, ModelError
from agents.events import Event, Streamed
from agents.llm_backends.budget import Budget
from agents.llm_backends.call import Caller
from agents.llm_backends.recorded import ReplyCache, ReplyStore, request_key
from agents.records import Reply

from .test_call import BAD_KEY, REQUEST, Scripted, end, text

ROOT = Path(__file__).parents[2]


def cache(directory: Path, said: list[str] | None = None) -> ReplyCache:
    notes = [] if said is None else said
    return ReplyCache(directory, "openai/scripted", notes.append)


def entries(directory: Path) -> list[Path]:
    return sorted(directory.rglob("*.json"))


def test_a_cached_reply_is_charged_and_told_as_replayed_and_no_call_is_made(tmp_path: Path) -> None:
    model = Scripted([*text("a"), end()])
    live = Caller(model, Budget(), cache=cache(tmp_path)).ask(REQUEST)
    budget, heard = Budget(), list[Event]()
    caller = Caller(model, budget, cache=cache(tmp_path), emit=heard.append)
    assert caller.ask(REQUEST) == replace(live, usage=replace(live.usage, replayed=1), replayed=True)
    assert (budget.usage.calls, budget.usage.replayed, len(model.calls)) == (1, 1, 1)
    assert heard == [Streamed(REQUEST, "a")]


def test_an_entry_is_text_in_a_stable_order_that_names_no_time_and_no_place(tmp_path: Path) -> None:
    Caller(Scripted([*text("a"), end()]), Budget(), cache=cache(tmp_path)).ask(REQUEST)
    (path,) = entries(tmp_path)
    document = json.loads(path.read_text())
    assert path.relative_to(tmp_path).as_posix() == f"openai-scripted/{request_key(REQUEST)}.json"
    assert path.read_text() == json.dumps(document, indent=1, sort_keys=True) + "\n"
    assert (document["model"], document["request"]["seed"]) == ("openai/scripted", REQUEST.seed)
    assert set(document) == {"schema", "model", "role", "request", "reply"}
    assert set(document["reply"]) == {"text", "finish", "model", "tokens_per_second", "usage"}
    assert str(tmp_path) not in path.read_text()


def test_a_failed_call_leaves_no_entry(tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        Caller(Scripted([BAD_KEY]), Budget(), cache=cache(tmp_path)).ask(REQUEST)
    assert entries(tmp_path) == []


@pytest.mark.parametrize("damage", ["", '{"schema": 1', "[" * 100_000])
def test_a_damaged_entry_is_noted_once_asked_again_and_mended(tmp_path: Path, damage: str) -> None:
    model = Scripted([*text("a"), end()])
    Caller(model, Budget(), cache=cache(tmp_path)).ask(REQUEST)
    (path,) = entries(tmp_path)
    path.write_text(damage)
    said: list[str] = []
    assert not Caller(model, Budget(), cache=cache(tmp_path, said)).ask(REQUEST).replayed
    assert len(said) == 1
    assert str(path) in said[0]
    assert cache(tmp_path).find(REQUEST) is not None


def test_without_a_model_what_is_not_cached_is_an_error_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="once without --frozen on the same --cache, and commit") as error:
        Caller(None, Budget(), cache=cache(tmp_path)).ask(REQUEST)
    assert (error.value.kind, error.value.exit_code) == ("not_cached", 3)
    assert entries(tmp_path) == []


def test_what_a_run_has_recorded_is_put_into_the_cache(tmp_path: Path) -> None:
    model = Scripted([*text("a"), end()])
    store = ReplyStore(tmp_path / "run", model.model_id)
    Caller(model, Budget(), store=store).ask(REQUEST)
    assert Caller(model, Budget(), store=store, cache=cache(tmp_path / "cache")).ask(REQUEST).replayed
    assert Caller(None, Budget(), cache=cache(tmp_path / "cache")).ask(REQUEST).text == "a"


@pytest.mark.parametrize("frozen", [False, True])
def test_what_the_cache_answers_is_kept_in_the_run_for_its_forks(tmp_path: Path, *, frozen: bool) -> None:
    first = Caller(Scripted([*text("a"), end()]), Budget(), cache=cache(tmp_path / "cache")).ask(REQUEST)
    store = ReplyStore(tmp_path / "run", "openai/scripted")
    model = None if frozen else Scripted()
    Caller(model, Budget(), store=store, cache=cache(tmp_path / "cache")).ask(REQUEST)
    kept = store.find(REQUEST)
    assert kept is not None
    assert kept.text == first.text


def test_equal_requests_at_once_are_asked_once(tmp_path: Path) -> None:
    model = Scripted([lambda: time.sleep(0.2), *text("a"), end()])
    budget = Budget()
    callers = [Caller(model, budget, cache=cache(tmp_path)) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda caller: caller.ask(REQUEST), callers))
    assert [reply.text for reply in replies] == ["a"] * 8
    assert len(model.calls) == 1
    assert (budget.usage.calls, budget.usage.replayed) == (8, 7)


def test_when_the_one_that_asks_fails_the_next_asks_for_itself(tmp_path: Path) -> None:
    model = Scripted([lambda: time.sleep(0.1), BAD_KEY], [*text("a"), end()])
    callers = [Caller(model, Budget(), cache=cache(tmp_path)) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(caller.ask, REQUEST) for caller in callers]
        ends = [future.exception(10) or future.result().text for future in asked]
    assert sorted(map(str, ends)) == sorted(["a", "a", "a", str(BAD_KEY)])
    assert len(model.calls) == 2


def test_cancelling_ends_the_wait_for_another_threads_reply(tmp_path: Path) -> None:
    released = threading.Event()
    model = Scripted([lambda: released.wait(20), *text("a"), end()])
    first, second = (Caller(model, Budget(), cache=cache(tmp_path)) for _ in range(2))
    with ThreadPoolExecutor(2) as pool:
        asking = pool.submit(first.ask, REQUEST)
        time.sleep(0.1)
        waiting = pool.submit(second.ask, REQUEST)
        time.sleep(0.1)
        second.cancel()
        assert isinstance(waiting.exception(5), Interrupted)
        released.set()
        assert asking.result(10).text == "a"


def test_a_cache_that_can_not_be_written_is_one_warning_and_no_error(tmp_path: Path) -> None:
    directory = tmp_path / "file"
    directory.write_text("in the way")
    said: list[str] = []
    caller = Caller(Scripted([*text("a"), end()]), Budget(), cache=cache(directory, said))
    assert [caller.ask(replace(REQUEST, seed=seed)).text for seed in range(3)] == ["a"] * 3
    assert len([note for note in said if "can't be kept" in note]) == 1


def test_of_two_processes_the_first_one_s_reply_stands(tmp_path: Path) -> None:
    elsewhere = cache(tmp_path)
    model = Scripted([lambda: elsewhere.keep(REQUEST, Reply("first", "stop")), *text("second"), end()])
    store = ReplyStore(tmp_path / "run", model.model_id)
    assert Caller(model, Budget(), store=store, cache=cache(tmp_path)).ask(REQUEST).text == "first"
    kept = store.find(REQUEST)
    assert kept is not None
    assert kept.text == "first"


WRITER = """
import sys
from pathlib import Path
from agents.llm_backends.recorded import ReplyCache
from agents.records import Message, Reply, Request

cache = ReplyCache(Path(sys.argv[1]), "m", lambda note: sys.exit(note))
for number in range(40):
    request = Request("critic", (Message("user", "hi"),), 9, 0.0, number)
    cache.keep(request, Reply("x" * 5000, "stop"))
    assert cache.find(request).text == "x" * 5000
"""


def test_processes_that_write_at_once_leave_whole_entries_and_nothing_else(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    running = [subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    ends = [(each.communicate(timeout=60)[1], each.returncode) for each in running]
    assert ends == [("", 0)] * 3
    assert len(list((tmp_path / "m").iterdir())) == len(entries(tmp_path)) == 40


def test_a_folder_of_the_cache_that_leads_out_of_it_ends_no_run(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "openai-scripted").symlink_to(tmp_path / "elsewhere")
    said: list[str] = []
    caller = Caller(Scripted([*text("a"), end()]), Budget(), cache=cache(tmp_path / "cache", said))
    assert caller.ask(REQUEST).text == "a"
    assert "can't be kept" in said[-1]
    assert entries(tmp_path / "elsewhere") == []
