from __future__ import annotations

import json
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.errors import ModelError
from agents.llm_backends.recorded import ReplyStore, model_slug, request_key
from agents.records import Message, Reply, Request, Usage

REQUEST = Request(
    role="code_writer",
    messages=(Message("system", "You write code."), Message("user", "quicksort, bitte — “now”")),
    max_tokens=300,
    temperature=0.0,
    seed=7,
    stop=("```\n\n",),
)
REPLY = Reply("def quicksort(): ...\n", "stop", Usage(2, 20, 9, 1.5, 0.01, 3, 4, 2), "some/model", 10.5)
REPLAYED = replace(REPLY, usage=replace(REPLY.usage, replayed=2), replayed=True)


def test_a_recorded_reply_comes_back_as_it_was_and_says_that_it_is_replayed(tmp_path: Path) -> None:
    ReplyStore(tmp_path, "some/model").save(REQUEST, REPLY)
    assert ReplyStore(tmp_path, "some/model").find(REQUEST) == REPLAYED


def test_a_store_of_all_models_finds_what_any_of_them_recorded(tmp_path: Path) -> None:
    ReplyStore(tmp_path, "some/model").save(REQUEST, REPLY)
    assert ReplyStore(tmp_path).find(REQUEST) == REPLAYED


def test_a_store_of_one_model_does_not_answer_for_another(tmp_path: Path) -> None:
    ReplyStore(tmp_path, "some/model").save(REQUEST, REPLY)
    assert ReplyStore(tmp_path, "other/model").find(REQUEST) is None


def test_the_role_does_not_decide_and_everything_else_does(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path, "m")
    store.save(REQUEST, REPLY)
    assert store.find(replace(REQUEST, role="critic")) is not None
    for other in (
        replace(REQUEST, messages=REQUEST.messages[:1]),
        replace(REQUEST, messages=REQUEST.messages[::-1]),
        replace(REQUEST, max_tokens=301),
        replace(REQUEST, temperature=0.1),
        replace(REQUEST, seed=8),
        replace(REQUEST, stop=()),
    ):
        assert store.find(other) is None


def test_the_key_is_stable_across_versions() -> None:
    request = Request("critic", (Message("user", "hi"),), 10, 1, 0)
    assert request_key(request) == request_key(replace(request, temperature=1.0))
    assert request_key(request) == "61fc1616b61b5e67814cf65a83398297342b8f55ba07c6c7e3342c860267d1f5"


def test_a_request_that_was_not_recorded_is_an_error_that_names_the_directory(tmp_path: Path) -> None:
    error = ReplyStore(tmp_path).missing(REQUEST)
    assert isinstance(error, ModelError)
    assert error.kind == "not_recorded"
    assert str(tmp_path) in str(error)


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"schema": 99}',
        "null",
        "\x00",
        '{"schema": 1, "reply": {"text": 3, "finish": "stop"}}',
    ],
)
def test_a_damaged_file_counts_as_missing_and_is_noted(tmp_path: Path, damage: str) -> None:
    store = ReplyStore(tmp_path, "m")
    store.save(REQUEST, REPLY)
    path = next(tmp_path.glob("m/*.json"))
    path.write_text(damage)
    assert store.find(REQUEST) is None
    assert len(store.notes) == 1
    assert str(path) in store.notes[0]
    assert "1 files there are damaged" in str(store.missing(REQUEST))


@pytest.mark.parametrize(
    "usage", [{"calls": "many"}, {"unknown": 1}, [], 3, {"completion_tokens": -1}, {"cost_usd": math.nan}]
)
def test_a_file_whose_usage_is_wrong_counts_as_missing(tmp_path: Path, usage: object) -> None:
    store = ReplyStore(tmp_path, "m")
    store.save(REQUEST, REPLY)
    path = next(tmp_path.glob("m/*.json"))
    document = json.loads(path.read_text())
    document["reply"]["usage"] = usage
    path.write_text(json.dumps(document))
    assert store.find(REQUEST) is None
    assert store.notes


def test_a_file_that_was_swapped_for_another_requests_does_not_answer(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path, "m")
    other = replace(REQUEST, seed=8)
    store.save(REQUEST, REPLY)
    store.save(other, REPLY)
    path, swapped = (tmp_path / "m" / f"{request_key(each)}.json" for each in (REQUEST, other))
    swapped.replace(path)
    assert store.find(REQUEST) is None
    assert ReplyStore(tmp_path).find(REQUEST) is None
    assert "another request" in store.notes[0]


def test_a_file_of_another_model_does_not_answer(tmp_path: Path) -> None:
    ReplyStore(tmp_path, "a/b").save(REQUEST, REPLY)
    said: list[str] = []
    assert ReplyStore(tmp_path, "a-b", said.append).find(REQUEST) is None
    assert "another model's" in said[0]


def test_damage_is_told_once(tmp_path: Path) -> None:
    said: list[str] = []
    store = ReplyStore(tmp_path, "m", said.append)
    store.save(REQUEST, REPLY)
    next(tmp_path.glob("m/*.json")).write_text("{")
    assert (store.find(REQUEST), store.find(REQUEST)) == (None, None)
    assert len(said) == 1


def test_a_replayed_reply_is_recorded_as_the_first_time(tmp_path: Path) -> None:
    ReplyStore(tmp_path / "first", "m").save(REQUEST, REPLY)
    ReplyStore(tmp_path / "again", "m").save(REQUEST, REPLAYED)
    first, again = (next((tmp_path / name).glob("m/*.json")).read_bytes() for name in ("first", "again"))
    assert first == again


def test_a_damaged_file_of_one_model_does_not_hide_the_reply_of_another(tmp_path: Path) -> None:
    ReplyStore(tmp_path, "a").save(REQUEST, REPLY)
    next(tmp_path.glob("a/*.json")).write_text("{")
    ReplyStore(tmp_path, "b").save(REQUEST, REPLY)
    assert ReplyStore(tmp_path).find(REQUEST) is not None


def test_saving_at_once_from_many_threads_leaves_whole_files_and_nothing_else(tmp_path: Path) -> None:
    store = ReplyStore(tmp_path, "m")
    requests = [replace(REQUEST, seed=number % 5) for number in range(60)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda request: store.save(request, REPLY), requests))
    files = list((tmp_path / "m").iterdir())
    assert len(files) == 5
    assert all(json.loads(path.read_text())["schema"] == 1 for path in files)


def test_a_store_of_all_models_can_not_be_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="read only"):
        ReplyStore(tmp_path).save(REQUEST, REPLY)


def test_a_folder_name_can_not_leave_the_directory() -> None:
    assert model_slug("openai/Qwen/Qwen2.5-Coder:7b") == "openai-Qwen-Qwen2.5-Coder-7b"
    assert model_slug("../../etc") == "etc"
    assert model_slug("..") == "model"


@given(st.text(), st.text())
def test_any_text_is_kept_exactly(tmp_path_factory: pytest.TempPathFactory, prompt: str, answer: str) -> None:
    store = ReplyStore(tmp_path_factory.mktemp("replies"), "m")
    request = replace(REQUEST, messages=(Message("user", prompt),))
    store.save(request, replace(REPLY, text=answer))
    found = store.find(request)
    assert found is not None
    assert found.text == answer
