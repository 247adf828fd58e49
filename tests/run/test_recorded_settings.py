"""What the record of a run, heal or batch decides where that is gone on with, and what it never does."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.errors import UsageError
from agents.events import Event, Note
from agents.records import Candidate, Grade
from agents.run.recorded_settings import check_server, gone_on, with_recorded
from agents.run.run import _is_found_again
from agents.sandbox import open_sandbox
from agents.sandbox.packages import open_interpreter
from agents.settings import Settings, Use, uses
from agents.spec import read_spec
from agents.storage.run_directory import RunDirectory
from agents.verifier.cached_verifier import CachedVerifier

from ..support.commands import QUICKSORT, REPLAYS, greenloop, replayed

RECORDED: dict[str, Any] = {
    "model": "gpt-4.1-mini", "code_writer_model": "embedded", "test_writer_model": "ollama/x",
    "critic_model": "anthropic/claude", "healer_model": "groq/a/b", "api_base": "http://127.0.0.1:9/v1",
    "weights": "w.gguf", "record": "r", "cache": "c", "frozen": True, "python": "./evilpy", "packages": "numpy",
    "answers": "a.txt", "max_rounds": 2, "max_seconds": 3.0, "max_tokens": 4, "max_cost": 5.0, "drafts": 6,
    "effort": "high", "strategy": "classic", "temperature": 0.1, "seed": 9, "approve": "all",
    "approve_seconds": 7.0, "mutation": False, "require": "contested", "sandbox": "none", "work_dir": "elsewhere",
}  # fmt: skip
MODELS = {name for name in RECORDED if name.endswith("model")}


def told(settings: Settings, recorded: dict[str, Any]) -> tuple[Settings, str]:
    """What is gone on with, and the warnings."""
    said: list[str] = []

    def hear(event: Event) -> None:
        assert isinstance(event, Note)
        assert event.warning
        said.append(event.text)

    return gone_on(settings, recorded, "The run", hear), "\n".join(said)


def test_a_record_decides_limits_and_the_names_of_models_alone() -> None:
    taken = with_recorded(Settings(), RECORDED)
    allowed = {name for name, use in uses().items() if Use.RECORD in use}
    assert {name for name in uses() if getattr(taken, name) != getattr(Settings(), name)} == allowed
    assert allowed.isdisjoint(
        ("sandbox", "python", "api_base", "weights", "record", "cache", "work_dir", "require", "answers", "frozen")
    )


@pytest.mark.parametrize("name", ["python", "api_base", "weights"])
def test_what_chooses_interpreter_server_or_weights_has_to_be_given_again(name: str) -> None:
    recorded = {name: RECORDED[name]}
    with pytest.raises(UsageError, match=f"The run was begun with --{name.replace('_', '-')} {RECORDED[name]}"):
        told(Settings(), recorded)
    given = Settings(**{name: "http://127.0.0.1:1/v1"})  # type: ignore[arg-type]
    assert told(given, recorded) == (given, "")


@pytest.mark.parametrize(
    "model",
    ["recorded:evil", "huggingface/https://evil.example", "openai/http://evil", "azure/x", "evil", 7, ["x"]],
)
@pytest.mark.parametrize("role", sorted(MODELS))
def test_a_directory_an_address_and_an_unknown_provider_are_no_name_of_a_model(role: str, model: object) -> None:
    assert with_recorded(Settings(), {role: model}) == Settings()
    with pytest.raises(UsageError, match="which no record decides"):
        told(Settings(), {role: model})
    given = Settings(**{role: "recorded:mine"})  # type: ignore[arg-type]
    assert told(given, {role: model}) == (given, "")


def test_a_sandbox_a_cache_and_the_grade_to_reach_are_not_taken_over_and_a_sentence_says_so() -> None:
    recorded = {name: RECORDED[name] for name in ("sandbox", "cache", "record", "require")}
    taken, said = told(Settings(), recorded)
    assert taken == Settings()
    assert "begun with --record r and --cache c and --require contested and --sandbox none" in said
    assert told(Settings(sandbox="none", record=Path("r"), cache=Path("c"), require="verified"), recorded)[1] == ""


@pytest.mark.parametrize(
    ("name", "value"), [("max_rounds", "many"), ("effort", "utmost"), ("temperature", -1), ("mutation", [])]
)
def test_a_recorded_value_that_does_not_fit_is_one_sentence(name: str, value: object) -> None:
    with pytest.raises(UsageError, match=f"{name} can't be"):
        with_recorded(Settings(), {name: value})


def test_a_server_goes_on_only_with_what_it_was_started_with() -> None:
    own = {name for name, use in uses().items() if Use.SERVER in use}
    assert {*MODELS, "sandbox", "python", "api_base", "weights", "cache", "record"} == own
    for name in own:
        with pytest.raises(UsageError, match="start the server with it"):
            check_server(Settings(), {name: RECORDED[name]}, "x")
    check_server(Settings(), {name: value for name, value in RECORDED.items() if name not in own}, "x")


def test_a_strangers_record_runs_no_program_and_opens_no_sandbox(tmp_path: Path) -> None:
    evil = tmp_path / "evilpy"
    evil.write_text(f'#!/bin/sh\ntouch evil-ran\nexec {sys.executable} "$@"\n')
    evil.chmod(0o755)
    _, document = replayed(tmp_path, QUICKSORT)
    record = tmp_path / document["run_dir"] / "run.json"
    written = json.loads(record.read_text())
    written["settings"] |= {"python": "./evilpy", "sandbox": "none", "require": "contested"}
    record.write_text(json.dumps(written))
    resume = ("--resume", document["run_dir"], "--model", f"recorded:{REPLAYS}")
    refused = greenloop(tmp_path, *resume)
    assert refused.returncode == 2
    assert "was begun with --python ./evilpy" in refused.stderr
    assert not (tmp_path / "evil-ran").exists()
    ended = greenloop(tmp_path, *resume, "--python", sys.executable, "--json")
    assert "was begun with --require contested and --sandbox none" in ended.stderr
    assert json.loads(ended.stdout)["sandbox"] not in ("", "none")
    assert not (tmp_path / "evil-ran").exists()
    greenloop(tmp_path, *resume, "--python", "./evilpy")  # the control: what the user names is run
    assert (tmp_path / "evil-ran").exists()


WRONG = "def quicksort(arr: list[int]) -> list[int]:\n    return arr\n"


def test_a_grade_that_a_record_claims_is_found_again_or_not_believed(tmp_path: Path) -> None:
    _, document = replayed(tmp_path, QUICKSORT)
    run = RunDirectory(tmp_path / document["run_dir"])
    resume = ("--resume", document["run_dir"], "--model", f"recorded:{REPLAYS}", "--json")
    copied = tmp_path / "work_dir/user_code.py"
    code = copied.read_text()
    copied.unlink()
    honest = greenloop(tmp_path, *resume)
    assert (honest.returncode, "Nothing is new" in honest.stderr) == (0, True), "the control"
    assert copied.read_text() == code, "as where it was killed before its files were copied"
    record, (last,) = run.read(), run.rounds()
    of_answer = read_spec(f"{QUICKSORT} quicksort([1, 1]) == [1]", origin="argument")
    led = replace(last.board, candidates=tuple(replace(each, code=WRONG) for each in last.board.candidates))
    (right,) = (each for each in last.board.candidates if each.id == last.ruling.leader)
    ruling, wrong = last.ruling, replace(right, code=WRONG)
    sandbox = open_sandbox("auto", open_interpreter(None))
    with closing(sandbox), closing(CachedVerifier(sandbox)) as verifier:

        def again(leader: Candidate = right, code: str = right.code, **changes: Any) -> bool:
            run.write(replace(record, **changes))
            run.save("user_code.py", code)
            ruled: Grade = changes.get("grade", "consensus") if leader.id != "other" else "consensus"
            return _is_found_again(run, leader, replace(ruling, grade=ruled), verifier)

        assert again()
        assert not again(code=WRONG), "another code than the one that was judged"
        assert not again(wrong, WRONG), "code that fails the tests"
        assert not again(replace(right, id="other"), grade="verified"), "another grade than the round's"
        assert not again(grade="verified"), "verified by no test of the spec"
        assert not again(spec=of_answer), "code that fails an example of the spec"
        assert not _is_found_again(run, right, replace(ruling, ledger=()), verifier), "without any test"
        run.write(record)
    run.save_record("rounds/01/round.json", replace(last, board=led))
    run.save("user_code.py", WRONG)
    resumed = greenloop(tmp_path, *resume)
    result = json.loads(resumed.stdout)
    assert "says of its end is not found again" in resumed.stderr
    assert (resumed.returncode, result["grade"], result["code"]) == (0, "consensus", document["code"])
