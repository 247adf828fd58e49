from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from agents.bench.results import Journal, TaskResult
from agents.errors import UsageError
from agents.records import Usage

from .observed import BASE_ONLY, result

PLAN = {"data_sha256": "0" * 64, "effort": "medium", "strip_examples": False}
FULL = replace(
    result(3, "greenloop", hidden=BASE_ONLY, seed=2, grade="consensus", claimed=True),
    solution="def f():\n    return 'é\udc80'\n".encode("utf-8", "replace").decode(),
    rounds=2,
    drafts=5,
    usage=Usage(9, 8, 7, 6.5, 0.25, 4, 3, 2),
    error="It ended; try again.",
    lost_to_repair=True,
)


def journal(directory: Path, **plan: object) -> Journal:
    return Journal(directory / "out", {**PLAN, **plan})


def kept(directory: Path) -> list[Path]:
    return sorted((directory / "out" / "cells").rglob("*.json"))


@pytest.mark.parametrize("one", [FULL, result(hidden=None), result(grade="failed")])
def test_a_result_is_found_again_as_it_was(tmp_path: Path, one: TaskResult) -> None:
    journal(tmp_path).add(one)
    assert journal(tmp_path).find(one.task_id, one.strategy, one.seed) == one


def test_what_was_not_done_is_not_found(tmp_path: Path) -> None:
    journal(tmp_path).add(FULL)
    again = journal(tmp_path)
    assert again.find("HumanEval/4", "greenloop", 2) is None
    assert again.find("HumanEval/3", "classic", 2) is None
    assert again.find("HumanEval/3", "greenloop", 1) is None


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"task_id": "HumanEval/3"}'])
def test_a_damaged_file_counts_as_not_done_and_is_written_anew(tmp_path: Path, damage: bytes) -> None:
    journal(tmp_path).add(FULL)
    (file,) = kept(tmp_path)
    file.write_bytes(damage)
    again = journal(tmp_path)
    assert again.find(FULL.task_id, FULL.strategy, FULL.seed) is None
    again.add(FULL)
    assert again.find(FULL.task_id, FULL.strategy, FULL.seed) == FULL


def test_a_file_cut_at_any_place_counts_as_not_done(tmp_path: Path) -> None:
    made = journal(tmp_path)
    made.add(FULL)
    (file,) = kept(tmp_path)
    whole = file.read_bytes().rstrip()
    for end in range(0, len(whole), 7):
        file.write_bytes(whole[:end])
        assert made.find(FULL.task_id, FULL.strategy, FULL.seed) is None


def test_each_result_has_a_file_of_its_own(tmp_path: Path) -> None:
    made = journal(tmp_path)
    for strategy in ("single", "greenloop"):
        for seed in (0, 1):
            made.add(result(1, strategy, seed=seed))
    assert len(kept(tmp_path)) == 4


def test_the_same_measurement_goes_on(tmp_path: Path) -> None:
    journal(tmp_path).add(FULL)
    assert Journal(tmp_path / "out", dict(reversed(PLAN.items()))).find(FULL.task_id, "greenloop", 2) == FULL


@pytest.mark.parametrize("change", [{"effort": "low"}, {"strip_examples": True}, {"data_sha256": "1" * 64}])
def test_another_measurement_is_refused_in_one_sentence_and_loses_nothing(
    tmp_path: Path, change: dict[str, object]
) -> None:
    journal(tmp_path).add(FULL)
    with pytest.raises(UsageError) as refused:
        journal(tmp_path, **change)
    said = str(refused.value)
    assert said.startswith(f"{tmp_path / 'out'} holds another measurement")
    assert "--out" in said
    assert "\n" not in said
    assert journal(tmp_path).find(FULL.task_id, "greenloop", 2) == FULL


def test_again_forgets_what_was_done_and_keeps_the_replies(tmp_path: Path) -> None:
    made = journal(tmp_path)
    made.add(FULL)
    made.replies.mkdir()
    (made.replies / "reply.json").write_text("{}")
    again = Journal(tmp_path / "out", {**PLAN, "effort": "high"}, again=True)
    assert again.find(FULL.task_id, "greenloop", 2) is None
    assert (again.replies / "reply.json").exists()
    with pytest.raises(UsageError):
        journal(tmp_path)


def test_a_proof_is_remembered(tmp_path: Path) -> None:
    made = journal(tmp_path)
    assert made.proof is None
    made.proof = "The hidden tests pass every reference."
    assert journal(tmp_path).proof == "The hidden tests pass every reference."


def test_what_is_no_file_of_the_measurement_is_not_read(tmp_path: Path) -> None:
    made = journal(tmp_path)
    made.add(FULL)
    (file,) = kept(tmp_path)
    for secret in ("proof.txt", "measurement.json"):
        (tmp_path / secret).write_text("a key")
        (tmp_path / "out" / secret).unlink(missing_ok=True)
        (tmp_path / "out" / secret).symlink_to(tmp_path / secret)
    assert journal(tmp_path).proof is None
    assert (tmp_path / "measurement.json").read_text() == "a key"
    for plant in (os.mkfifo, Path.mkdir):
        file.unlink()
        plant(file)
        assert journal(tmp_path).find(FULL.task_id, FULL.strategy, FULL.seed) is None
    (tmp_path / "out" / "measurement.json").write_bytes(b"\xff")
    with pytest.raises(UsageError, match="holds another measurement"):
        journal(tmp_path)


@pytest.mark.parametrize("linked", ["cells", "cells/greenloop"])
def test_no_result_is_written_through_a_link_out(tmp_path: Path, linked: str) -> None:
    made = journal(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out" / linked).parent.mkdir(exist_ok=True)
    (tmp_path / "out" / linked).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="link out of"):
        made.add(FULL)
    assert not any((tmp_path / "elsewhere").iterdir())


def test_a_place_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(UsageError, match=r"can't be written \(.+\); choose another --out"):
        journal(tmp_path)
