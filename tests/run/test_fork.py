"""`--fork`: what is shared is replayed, the parent is only read, and what is new decides anew."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.records import Example, ForkedFrom, RoundRecord, Ruling
from agents.run.fork import FORK_FILE, Fork, Segment, open_fork
from agents.storage import run_directory

from ..storage.test_run_directory import ROUND_BOARD, record
from ..support.commands import greenloop
from ..support.provider import Handler, Provider, serving
from .test_approvals import MENDED, SPEC, WRONG, answering

STRICTER = "from user_code import double\n\n\ndef test_text():\n    assert double('a') == 'aa!'\n"
OWN = "def double(x: int) -> int:\n    return x + x  # my own\n"


def replacement(handler: Handler) -> str:
    """Right from the model `gpt-4.1`, wrong from any other."""
    return MENDED if handler.body["model"] == "gpt-4.1" else WRONG.replace("x + 1", "x + 3")


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serving() as server:
        server.script(answering(replacement))
        yield server


class Runs:
    """Runs the tool in `folder` on `provider`; `parent` is the first run."""

    def __init__(self, folder: Path, provider: Provider) -> None:
        self.folder = folder
        self.provider = provider
        _, document = self.run(SPEC, "--effort", "low", "--model", "openai/gpt-4o", "--no-mutation")
        self.parent = Path(document["run_dir"])
        self.asked = len(provider.requests)

    def run(self, *arguments: str) -> tuple[int, Any]:
        options = ("--json", "--api-base", self.provider.api_base)
        ended = greenloop(self.folder, *arguments, *options, extra={"OPENAI_API_KEY": "k"})
        assert "Traceback (most recent" not in ended.stderr, ended.stderr
        return ended.returncode, json.loads(ended.stdout)

    @property
    def new_requests(self) -> list[dict[str, Any]]:
        return self.provider.requests[self.asked :]

    def path(self, run: Path) -> Path:
        return self.folder / run

    def record(self, run: str) -> Any:
        return json.loads((self.folder / run / "run.json").read_text())

    def hashes(self) -> dict[str, str]:
        files = sorted(path for path in self.path(self.parent).rglob("*") if path.is_file())
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture
def runs(tmp_path: Path, provider: Provider) -> Runs:
    return Runs(tmp_path, provider)


def origins(runs: Runs, run: str) -> list[str]:
    rounds = sorted((runs.folder / run / "rounds").glob("*/round.json"))
    return [each["origin"] for each in json.loads(rounds[-1].read_text())["board"]["candidates"]]


def test_a_fork_of_a_resumed_fork_keeps_the_answers_that_this_was_resumed_with(tmp_path: Path) -> None:
    spec = record().spec
    answered = replace(spec, examples=(*spec.examples, Example("assert f(2) == 4", "f(2) == 4", answer=True)))
    run = run_directory.create(tmp_path, replace(record(), status="finished", spec=answered))
    segments = (Segment(0, {}, (), spec), Segment(1, {}, (), spec))
    run.save_record(FORK_FILE, Fork(ForkedFrom("first", 1), segments, str(tmp_path)))
    for number in (1, 2):
        run.append(RoundRecord(number, ROUND_BOARD, None, Ruling("contested", "a", "redraft", ""), 0.5))
    fork, _ = open_fork(tmp_path, run.path.name, 2)
    assert [segment.spec for segment in fork.segments] == [spec, answered, answered]


def test_a_run_whose_record_lacks_a_model_can_be_forked(tmp_path: Path) -> None:
    run = run_directory.create(tmp_path, replace(record(), status="finished", models={"code_writer": "embedded"}))
    fork, _ = open_fork(tmp_path, run.path.name, code="x = 1\n")
    assert fork.segments[-1].code == "x = 1\n"


@pytest.mark.thorough
def test_a_fork_with_another_model_replays_what_it_shares_and_leaves_its_parent_alone(runs: Runs) -> None:
    before = runs.hashes()
    _, document = runs.run("--fork", runs.parent.name, "--round", "1", "--model", "openai/gpt-4.1")
    assert runs.hashes() == before
    assert document["error"] is None, document
    assert document["code"] == MENDED
    record = runs.record(document["run_dir"])
    assert record["forked_from"] == {"run": runs.parent.name, "round": 1}
    assert all(request["model"] == "gpt-4.1" for request in runs.new_requests)
    assert "Write the complete corrected" in runs.new_requests[0]["messages"][-1]["content"]
    assert document["usage"]["calls"] == len(runs.new_requests)


@pytest.mark.thorough
def test_a_fork_is_resumed_without_its_parent(runs: Runs) -> None:
    _, document = runs.run("--fork", runs.parent.name, "--round", "1", "--model", "openai/gpt-4.1")
    asked = len(runs.provider.requests)
    shutil.rmtree(runs.path(runs.parent))
    _, again = runs.run("--resume", Path(document["run_dir"]).name)
    assert (again["code"], again["grade"]) == (document["code"], document["grade"])
    assert len(runs.provider.requests) == asked


@pytest.mark.thorough
def test_tests_of_the_users_enter_as_trusted_and_decide_the_grade(runs: Runs) -> None:
    _, fine = runs.run("--fork", runs.parent.name, "--round", "1", "--model", "openai/gpt-4.1")
    assert fine["grade"] != "failed"
    (runs.folder / "stricter.py").write_text(STRICTER)
    forked = Path(fine["run_dir"]).name
    code, document = runs.run("--fork", forked, "--tests", "stricter.py")
    assert (code, document["grade"]) == (1, "failed")
    trusted = [entry["test"]["id"] for entry in document["ledger"] if entry["test"]["origin"] == "user"]
    assert trusted == ["test_text"]


@pytest.mark.thorough
def test_code_of_the_users_joins_and_has_no_vote(runs: Runs) -> None:
    (runs.folder / "own.py").write_text(OWN)
    _, document = runs.run("--fork", runs.parent.name, "--code", "own.py")
    assert document["code"] == OWN
    assert "user" in origins(runs, document["run_dir"])
    assert document["grade"] != "consensus"


@pytest.mark.thorough
def test_a_fork_of_a_fork_replays_both(runs: Runs) -> None:
    _, first = runs.run("--fork", runs.parent.name, "--round", "1", "--model", "openai/gpt-4.1")
    asked = len(runs.provider.requests)
    (runs.folder / "own.py").write_text(OWN)
    _, second = runs.run("--fork", Path(first["run_dir"]).name, "--code", "own.py")
    assert second["error"] is None, second
    assert not any(
        "Write the complete corrected" in request["messages"][-1]["content"]
        for request in runs.provider.requests[asked:]
    )
    assert {"user", "repair"} <= set(origins(runs, second["run_dir"]))


@pytest.mark.thorough
def test_round_0_shares_nothing(runs: Runs) -> None:
    _, document = runs.run("--fork", runs.parent.name, "--round", "0", "--model", "openai/gpt-4.1")
    assert document["error"] is None
    assert "Write the complete corrected" not in runs.new_requests[0]["messages"][-1]["content"]
    assert not (runs.folder / document["run_dir"] / "prefix").exists()


@pytest.mark.thorough
def test_a_run_on_recorded_replies_can_be_forked(runs: Runs, tmp_path: Path) -> None:
    replies = runs.path(runs.parent) / "replies"
    _, replayed = runs.run(SPEC, "--effort", "low", "--no-mutation", "--model", f"recorded:{replies}")
    _, document = runs.run("--fork", Path(replayed["run_dir"]).name, "--round", "1", "--model", "openai/gpt-4.1")
    assert document["error"] is None, document
    assert document["code"] == MENDED
    assert all("Write the complete corrected" in str(each) or "pytest" in str(each) for each in runs.new_requests)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("arguments", "changes", "said"),
    [
        (("--fork", "../../x"), {}, "no run"),
        (("--fork", "RUN", "--round", "99"), {}, "and no round 99"),
        (("--fork", "RUN", "--round", "LAST", "--model", "openai/gpt-4.1"), {}, "Nothing is left to ask"),
        (("--fork", "RUN", "--resume", "RUN"), {}, "without a spec and --resume"),
        (("--fork", "RUN", SPEC), {}, "without a spec"),
        (("--round", "1", SPEC), {}, "belong to --fork"),
        (("--fork", "RUN"), {"schema_version": 99}, "another version"),
        (("--fork", "RUN"), {"status": "running"}, "end it by --resume"),
        (("--fork", "RUN"), {"models": 7}, "can't be read"),
        (("--fork", "RUN", "--round", "1", "--strategy", "single"), {}, "can't be forked"),
    ],
)
def test_what_cannot_be_forked_is_one_sentence_and_nothing_is_written(
    runs: Runs, arguments: tuple[str, ...], changes: dict[str, object], said: str
) -> None:
    folder = runs.path(runs.parent)
    kept = sorted(path.name for path in folder.parent.iterdir())
    last = str(len(list((folder / "rounds").iterdir())))
    record = folder / "run.json"
    record.write_text(json.dumps({**json.loads(record.read_text()), **changes}))
    named = {"RUN": folder.name, "LAST": last}
    code, document = runs.run(*(named.get(each, each) for each in arguments))
    assert code == 2
    assert said in document["error"]["message"]
    assert sorted(path.name for path in folder.parent.iterdir()) == kept
    assert runs.new_requests == []


@pytest.mark.thorough
def test_a_prefix_that_lacks_a_reply_ends_with_exit_2_and_asks_nobody(runs: Runs) -> None:
    for path in (runs.path(runs.parent) / "replies").rglob("*.json"):
        if '"code_writer"' in path.read_text():
            path.unlink()
            break
    code, document = runs.run("--fork", runs.parent.name, "--round", "1", "--model", "openai/gpt-4.1")
    assert code == 2
    assert "has no reply to this request of the code_writer" in document["error"]["message"]
    assert runs.new_requests == []
