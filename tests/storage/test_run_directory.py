from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents.errors import UsageError
from agents.records import Dispute, RoundRecord, Ruling, RunRecord, Test
from agents.spec import read_spec
from agents.storage import run_directory as runs
from agents.storage.publish import publish
from agents.suite import render

from ..support.boards import board, candidate, value_test

ROUND_BOARD = board({value_test("test_1", "f(1)", "1"): "1"}, {candidate("a", code="x = '\\ud800'\n"): ("2",)})


def record(name: str = "20260101-000000-f-0000") -> RunRecord:
    return RunRecord(
        schema_version=runs.SCHEMA_VERSION,
        id=name,
        greenloop_version="0",
        created="2026-01-01T00:00:00+00:00",
        status="running",
        spec=read_spec("Implement f(x: int) -> int. f(1) == 1", origin="argument"),
        settings={"seed": 0, "weights": None},
        models={"code_writer": "m", "test_writer": "m", "critic": "m"},
        model_reason="It was asked for.",
    )


def test_a_record_comes_back_as_it_was(tmp_path: Path) -> None:
    run = runs.create(tmp_path, record())
    assert run.read() == record()


def test_rounds_come_back_as_they_were_and_in_order(tmp_path: Path) -> None:
    from agents.judge.judge import Situation, judge

    run = runs.create(tmp_path, record())
    ruling = judge(ROUND_BOARD, Situation()).ruling
    kept = [RoundRecord(number, ROUND_BOARD, None, ruling, 0.5) for number in (2, 1, 100, 10)]
    for each in kept:
        run.append(each)
    assert [each.number for each in run.rounds()] == [1, 2, 10, 100]
    assert run.rounds()[1] == kept[0]


def test_a_round_of_a_version_that_asked_for_opinions_can_be_read(tmp_path: Path) -> None:
    run = runs.create(tmp_path, record())
    kept = RoundRecord(1, ROUND_BOARD, None, Ruling("contested", "a", "settle", "why"), 0.5)
    run.append(kept)
    path = run.path / "rounds" / "01" / "round.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "opinions": {"f(1)": ["1", None]}}))
    assert run.rounds() == [kept]


def round_with(*disputes: Dispute) -> RoundRecord:
    ruling = Ruling("contested", "a", "done", "why", disputes=disputes)
    return RoundRecord(1, ROUND_BOARD, None, ruling, 0.5)


def test_open_questions_lie_in_a_file_for_as_long_as_there_are_any(tmp_path: Path) -> None:
    run = runs.create(tmp_path, record())
    run.append(round_with(Dispute("test_1", "f(3)", ("1", "2"))))
    assert "# f(3) == 2\n" in (run.path / "questions.txt").read_text()
    run.append(round_with())
    assert not (run.path / "questions.txt").exists()


def test_a_file_of_questions_that_a_user_has_answered_in_is_kept(tmp_path: Path) -> None:
    run = runs.create(tmp_path, record())
    run.append(round_with(Dispute("test_1", "f(1)", ("1", "2"))))
    (run.path / "questions.txt").write_text("# mine\nf(1) == 2\n")
    run.append(round_with())
    assert (run.path / "questions.kept1.txt").read_text() == "# mine\nf(1) == 2\n"
    assert not (run.path / "questions.txt").exists()


@pytest.mark.parametrize("text", ["", "{", '{"schema_version": 1}', "[]"])
def test_a_damaged_record_is_one_sentence(tmp_path: Path, text: str) -> None:
    run = runs.create(tmp_path, record())
    (run.path / "run.json").write_text(text)
    with pytest.raises(UsageError, match=r"run\.json"):
        run.read()


def test_a_record_of_another_version_is_refused_with_the_way_out(tmp_path: Path) -> None:
    run = runs.create(tmp_path, replace(record(), schema_version=99))
    with pytest.raises(UsageError, match="that version"):
        run.read()


def test_a_run_is_found_by_id_beginning_part_path_or_as_the_latest(tmp_path: Path) -> None:
    first = runs.create(tmp_path, record("20260101-000000-first-aaaa"))
    second = runs.create(tmp_path, record("20260102-000000-second-bbbb"))
    assert runs.find(tmp_path, "latest") == second
    for name in ("20260101-000000-first-aaaa", "20260101", "first", str(first.path)):
        assert runs.find(tmp_path, name) == first


def test_a_name_that_fits_none_or_several_names_the_runs_there_are(tmp_path: Path) -> None:
    runs.create(tmp_path, record("20260101-000000-first-aaaa"))
    runs.create(tmp_path, record("20260102-000000-second-bbbb"))
    for name in ("2026", "third"):
        with pytest.raises(UsageError, match="second-bbbb"):
            runs.find(tmp_path, name)


def test_no_name_is_no_run_even_where_there_is_one_alone(tmp_path: Path) -> None:
    """`heal --undo "$RUN"`, with the variable unset."""
    runs.create(tmp_path, record("20260101-000000-first-aaaa"))
    with pytest.raises(UsageError, match=r"'' matches no run in .*; take one of: 20260101-000000-first-aaaa"):
        runs.find(tmp_path, "")


def test_ids_sort_by_time_and_name_their_spec() -> None:
    early = runs.new_id("f", datetime(2026, 1, 1, tzinfo=UTC))
    late = runs.new_id("f", datetime(2026, 1, 2, tzinfo=UTC))
    assert early < late
    assert "-f-" in early
    assert "-heal-my-script-31m-" in runs.new_id("heal-my script\x1b\n[31m", datetime(2026, 1, 1, tzinfo=UTC))


def test_a_run_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="--work-dir"):
        runs.create(tmp_path / "file", record())


def test_the_latest_files_are_published_and_a_users_own_kept(tmp_path: Path) -> None:
    (tmp_path / "user_code.py").write_text("# mine, from before\n")
    run = runs.create(tmp_path, record())
    run.save("user_code.py", "x = 1\n")
    run.save("test_user_code.py", render([Test("test_1", "def test_1():\n    assert True\n", "generated")]))
    (note,) = publish(run, tmp_path)
    assert "user_code.kept1.py" in note
    assert (tmp_path / "user_code.kept1.py").read_text() == "# mine, from before\n"
    assert (tmp_path / "user_code.py").read_text() == "x = 1\n"
    assert "def test_1" in (tmp_path / "test_user_code.py").read_text()
    run.save("user_code.py", "x = 2\n")
    assert publish(run, tmp_path) == []
    assert json.loads((tmp_path / "runs" / "latest.json").read_text())["run"] == run.path.name


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_may_not_be_written_is_one_sentence(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UsageError, match="--work-dir"):
        runs.create(tmp_path, record())
