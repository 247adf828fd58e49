"""The command line as a process: output, exit codes, bad input."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ..support.commands import QUICKSORT, REPLAYS, ROOT, SLUGIFY, SLUGIFY_WITH_EXAMPLE, SUDOKU, greenloop, replayed

RECORDED = ("--model", f"recorded:{REPLAYS}")


@dataclass(frozen=True)
class Ran:
    """A run of the quicksort that has ended, for tests that look at it or go on in a copy."""

    directory: Path
    ended: subprocess.CompletedProcess[str]
    document: dict[str, Any]

    def copied(self, directory: Path) -> None:
        shutil.copytree(self.directory, directory, dirs_exist_ok=True)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    directory = tmp_path_factory.mktemp("ran")
    return Ran(directory, *replayed(directory, QUICKSORT))


def test_a_spec_becomes_a_tested_module(tmp_path: Path) -> None:
    ended = greenloop(tmp_path, QUICKSORT, *RECORDED)
    assert ended.returncode == 0, ended.stderr
    assert "consensus" in ended.stdout
    assert "def quicksort" in (tmp_path / "work_dir" / "user_code.py").read_text()
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_user_code.py"],
        cwd=tmp_path / "work_dir",
        capture_output=True,
        text=True,
    )
    assert tests.returncode == 0, tests.stdout


def test_without_its_requirements_it_says_how_to_install_them() -> None:
    bare = subprocess.run([sys.executable, "-E", "-S", ROOT / "main.py", "--help"], capture_output=True, text=True)
    assert bare.returncode == 2
    assert bare.stderr.endswith(" is not installed; run: python -m pip install -r requirements.txt\n")
    assert len(bare.stderr.splitlines()) == 1


UNUSABLE = ("x" * 300, "spec.md/inner", "loop")
"""A name that is too long, one below a file, and a link to itself."""


@pytest.mark.parametrize(
    "command",
    [
        ("audit", "{}"),
        ("audit", "{}", "--json"),
        ("batch", "status", "{}"),
        ("batch", "merge", "{}", "--out", "merged"),
        ("batch", "--resume", "{}"),
        ("bench", "everyday", "--data", "{}"),
        ("bench", "quixbugs", "--data", "{}"),
        ("debug", "{}", "--json"),
        ("heal", "{}"),
        ("heal", "--undo", "{}"),
        ("heal", "--resume", "{}", "--json"),
        ("mcp", "--roots", "{}"),
        ("show", "{}"),
        ("--fork", "{}"),
        ("--resume", "{}", "--json"),
        (*RECORDED, "--file", "{}"),
        ("verify", "spec.md", "{}"),
        ("verify-pairs", "{}"),
        pytest.param((SLUGIFY, "--model", "recorded:{}"), marks=pytest.mark.thorough),
        pytest.param((SLUGIFY, *RECORDED, "--tests", "{}"), marks=pytest.mark.thorough),
        pytest.param((SLUGIFY, *RECORDED, "--into", "{}"), marks=pytest.mark.thorough),
        pytest.param((SLUGIFY, *RECORDED, "--work-dir", "{}"), marks=pytest.mark.thorough),
    ],
    ids=" ".join,
)
def test_a_path_that_can_not_be_used_is_one_sentence(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "spec.md").write_text("Write f(x: int) -> int.")
    (tmp_path / "loop").symlink_to("loop")
    for path in UNUSABLE if "--json" in command else UNUSABLE[:1]:
        ended = greenloop(tmp_path, *(word.format(path) for word in command))
        assert (ended.returncode in (1, 2, 3), "Traceback" in ended.stderr) == (True, False), ended.stderr
        said = json.loads(ended.stdout)["error"]["message"] if "--json" in command else ended.stderr
        assert said, ended


@pytest.mark.parametrize("server", [("ui", "--no-browser"), ("mcp",)], ids=" ".join)
def test_a_server_refuses_a_work_directory_that_can_not_be_made_at_its_start(
    tmp_path: Path, server: tuple[str, ...]
) -> None:
    for place in ("file", "work_dir"):
        (tmp_path / place).write_text("mine")
    for place in ("file", "file/inner", "work_dir"):
        ended = greenloop(tmp_path, *server, "--work-dir", place, seconds=30)
        said = f"greenloop: {place} can't be written (Not a directory); give another --work-dir.\n"
        assert (ended.returncode, ended.stderr, ended.stdout) == (2, said, "")


def test_an_argument_that_is_not_utf_8_is_one_sentence(tmp_path: Path) -> None:
    ended = greenloop(tmp_path, "--file", "sp\udcffec.md")
    assert (ended.returncode, len(ended.stderr.splitlines())) == (2, 1)
    assert "is not UTF-8" in ended.stderr


def test_a_checkout_runs_where_python_looks_into_no_folder_by_itself(tmp_path: Path) -> None:
    (tmp_path / "agents.py").write_text("raise SystemExit(9)")
    ended = greenloop(tmp_path, "show", extra={"PYTHONSAFEPATH": "1"})
    assert (ended.returncode, ended.stderr) == (0, "")


def test_an_argument_that_python_reads_otherwise_says_so(tmp_path: Path) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ended = greenloop(tmp_path, "Implement tréma(text: str) -> str that lowercases.", extra=plain)
    assert (ended.returncode, len(ended.stderr.splitlines())) == (2, 1)
    assert "is read as ascii; set PYTHONUTF8=1" in ended.stderr
    assert "UTF-8;" not in ended.stderr


def test_json_is_all_there_is_on_standard_output_and_follows_its_schema(ran: Ran) -> None:
    ended, document = ran.ended, ran.document
    Draft202012Validator(json.loads((ROOT / "docs/schema/result.json").read_text())).validate(document)
    assert (ended.returncode, document["exit_code"], document["grade"]) == (0, 0, "consensus")
    assert "def quicksort" in document["code"]
    assert "def test_" in document["tests"]
    assert document["usage"]["calls"] >= 4
    assert document["error"] is None
    assert "Round 1" in ended.stderr


def test_an_example_in_the_spec_is_trusted(tmp_path: Path) -> None:
    _, document = replayed(tmp_path, SLUGIFY_WITH_EXAMPLE)
    origins = {entry["test"]["id"]: entry["test"]["origin"] for entry in document["ledger"]}
    assert origins["test_spec_example_1"] == "spec"


def test_tests_of_the_user_are_trusted_and_decide(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from user_code import quicksort\n\ndef test_mine():\n    assert quicksort([2, 1]) == [2, 1]\n"
    )
    ended, document = replayed(tmp_path, QUICKSORT, "--tests", "mine.py", "--max-rounds", "1")
    assert (ended.returncode, document["grade"]) == (1, "failed")
    assert "trusted" in document["why"]


def test_a_run_goes_on_under_answers_and_asks_nothing_that_it_has_heard(tmp_path: Path, ran: Ran) -> None:
    """The model is a store of replies: a request that was not made before would be exit code 3."""
    ran.copied(tmp_path)
    first = ran.document
    (tmp_path / "answers.txt").write_text("# mine\nquicksort([2, 1, 2]) == [1, 2, 2]\n")
    ended = greenloop(tmp_path, "--resume", first["run_dir"], *RECORDED, "--answers", "answers.txt", "--json")
    second = json.loads(ended.stdout)
    assert (ended.returncode, second["grade"], second["usage"]) == (0, "verified", first["usage"])
    again = json.loads(greenloop(tmp_path, "--resume", first["run_dir"], *RECORDED, "--json").stdout)
    assert (again["grade"], again["why"]) == ("verified", second["why"])


def test_open_questions_are_lines_of_the_end_and_a_file_of_the_run(tmp_path: Path) -> None:
    ended = greenloop(tmp_path, SLUGIFY, *RECORDED)
    (file,) = (tmp_path / "work_dir" / "runs").glob("*/questions.txt")
    answers = "'hello-world!' or 'hello-world' or 'helloworld' or 'hello-world-'"
    assert f"Open: slugify('Hello World!') returns {answers}?\n" in ended.stdout
    assert ended.stdout.count("--answers FILE") == 1
    assert "# slugify('Hello World!') == 'hello-world'\n" in file.read_text(encoding="utf-8")
    assert str(file.relative_to(tmp_path)) in ended.stdout


@pytest.mark.thorough
@pytest.mark.parametrize("required", ["verified", "contested"])
def test_the_exit_code_follows_what_is_required(tmp_path: Path, required: str) -> None:
    ended, _ = replayed(tmp_path, QUICKSORT, "--require", required)
    assert ended.returncode == (1 if required == "verified" else 0)


@pytest.mark.thorough
def test_a_spec_from_standard_input_or_a_file_is_the_same_spec(tmp_path: Path) -> None:
    (tmp_path / "spec.md").write_text(QUICKSORT)
    for given, stdin in ((("--file", "spec.md"), ""), (("-",), QUICKSORT), (("--file", "-"), QUICKSORT)):
        ended = greenloop(tmp_path, *given, *RECORDED, stdin=stdin)
        assert ended.returncode == 0, (given, ended.stderr)


def test_quiet_prints_no_progress(tmp_path: Path) -> None:
    assert greenloop(tmp_path, QUICKSORT, *RECORDED, "--quiet").stderr == ""


def test_no_escape_sequence_reaches_a_pipe(tmp_path: Path) -> None:
    ended = greenloop(tmp_path, QUICKSORT, *RECORDED)
    assert "\x1b" not in ended.stdout + ended.stderr


def test_show_prints_the_run_again(tmp_path: Path, ran: Ran) -> None:
    ran.copied(tmp_path)
    document = ran.document
    ended = greenloop(tmp_path, "show", "latest")
    assert ended.returncode == 0
    assert "Round 1" in ended.stdout
    assert document["why"].split(";")[0] in " ".join(ended.stdout.split())
    by_name = greenloop(tmp_path, "show", "quicksort")
    assert by_name.stdout == ended.stdout


def test_show_without_a_name_lists_the_runs(tmp_path: Path, ran: Ran) -> None:
    assert "no run in work_dir/runs yet" in greenloop(tmp_path, "show").stdout
    ran.copied(tmp_path)
    listed = greenloop(tmp_path, "show").stdout
    assert f" {ran.document['grade']} " in listed
    assert "-quicksort-" in listed
    assert "Round 1" not in listed


def test_the_run_directory_holds_what_the_design_promises(ran: Ran) -> None:
    document = ran.document
    run = ran.directory / document["run_dir"]
    names = {str(path.relative_to(run)) for path in run.rglob("*") if path.is_file()}
    assert {"run.json", "ledger.json", "user_code.py", "test_user_code.py", "rounds/01/round.json"} <= names
    assert "events.jsonl" in names
    record = json.loads((run / "run.json").read_text())
    assert record["schema_version"] == 1
    assert record["status"] == "finished"
    assert record["sandbox"] == document["sandbox"]


def test_a_file_of_the_users_is_set_aside_and_not_overwritten(tmp_path: Path, ran: Ran) -> None:
    ran.copied(tmp_path)
    latest = tmp_path / "work_dir" / "user_code.py"
    latest.write_text(latest.read_text() + "# mine\n")
    _, document = replayed(tmp_path, QUICKSORT)
    assert "# mine" in (tmp_path / "work_dir" / "user_code.kept1.py").read_text()
    assert any("kept" in note for note in document["notes"])
    assert "# mine" not in latest.read_text()


def test_without_a_change_of_the_users_nothing_is_set_aside(tmp_path: Path, ran: Ran) -> None:
    ran.copied(tmp_path)
    replayed(tmp_path, QUICKSORT)
    assert sorted(path.name for path in (tmp_path / "work_dir").glob("*.py")) == [
        "test_user_code.py",
        "user_code.py",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--bogus"], "--bogus"),
        (["--bogus", "x"], "bogus"),
        (["one", "two"], "two"),
        (["x", "--max-rounds", "0"], "max-rounds"),
        (["x", "--max-rounds", "many"], "max-rounds"),
        (["x", "--effort", "heroic"], "effort"),
        (["x", "--file", "y.md"], "one spec"),
        ([""], "empty"),
        (["--file", "missing.md"], "missing.md"),
        (["x", "--tests", "missing.py"], "missing.py"),
        (["x", "--resume", "nothing"], "resumed"),
        (["--resume", "r1", "--tests", "t.py"], "a fork has yours: --fork r1 --tests t.py"),
        (["--resume", "nothing"], "no run"),
        (["f(x: int) -> int", "--answers", "missing.txt"], "missing.txt"),
        (["show", "nothing"], "no run"),
        (["x", "--weights", "missing.gguf", "--model", "embedded"], "missing.gguf"),
        (["f(x: int) -> int", *RECORDED, "--cache", "empty.py"], "--cache empty.py is no folder; name one"),
        (["heal", "empty.py", *RECORDED, "--record", "empty.py"], "--record empty.py is no folder; name one"),
        (["heal", "empty.py", *RECORDED, "--answers", "empty.py"], "empty.py holds no answer; write"),
        (["heal", "empty.py", *RECORDED, "--ask"], "leave out --approve and --ask, or run it"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "empty.py").touch()
    ended = greenloop(tmp_path, *arguments)
    assert ended.returncode == 2, ended.stdout + ended.stderr
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_run_that_never_began_has_nothing_to_sum_up(tmp_path: Path) -> None:
    ended = greenloop(tmp_path, "--file", "nowhere.md")
    assert ended.stdout == ""
    assert len(ended.stderr.splitlines()) == 1


def test_bad_input_is_a_json_document_too(tmp_path: Path) -> None:
    ended = greenloop(tmp_path, "", "--json")
    document = json.loads(ended.stdout)
    assert (ended.returncode, document["exit_code"], document["error"]["kind"]) == (2, 2, "usage")


def test_a_request_that_was_not_recorded_says_so_with_exit_code_3(tmp_path: Path) -> None:
    ended, document = replayed(tmp_path, "Implement something_else(x: int) -> int.")
    assert (ended.returncode, document["error"]["kind"]) == (3, "not_recorded")
    assert (tmp_path / document["run_dir"] / "run.json").is_file()


def test_no_directory_to_write_to_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    ended = greenloop(tmp_path, QUICKSORT, *RECORDED, "--work-dir", "taken")
    assert ended.returncode == 2
    assert "--work-dir" in ended.stderr


def test_a_spent_budget_before_a_ruling_is_exit_code_5_and_keeps_the_draft(tmp_path: Path) -> None:
    ended, document = replayed(tmp_path, QUICKSORT, "--max-tokens", "1")
    assert (ended.returncode, document["error"]["kind"]) == (5, "budget_spent")
    assert "def quicksort" in document["code"]


def test_a_flag_goes_before_the_environment_and_that_before_a_dotenv_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("GREENLOOP_MAX_TOKENS=1\n")
    extra = {"GREENLOOP_MODEL": f"recorded:{REPLAYS}"}
    assert greenloop(tmp_path, QUICKSORT, extra=extra).returncode == 5
    extra |= {"GREENLOOP_MAX_TOKENS": "100000", "GREENLOOP_REQUIRE": "verified"}
    assert greenloop(tmp_path, QUICKSORT, extra=extra).returncode == 1
    assert greenloop(tmp_path, QUICKSORT, "--require", "contested", extra=extra).returncode == 0


def test_models_lists_each_backend_and_why(tmp_path: Path) -> None:
    ended = greenloop(tmp_path, "models", extra={"OPENAI_API_KEY": "x"})
    assert ended.returncode == 0
    assert "OpenAI: usable, OPENAI_API_KEY is set" in ended.stdout
    assert "ANTHROPIC_API_KEY is not set" in ended.stdout
    assert "embedded" in ended.stdout


@pytest.mark.parametrize(
    ("variables", "chosen"),
    [
        ({"GREENLOOP_MODEL": ""}, "embedded. No provider's key is set"),
        ({"GREENLOOP_API_BASE": "http://127.0.0.1:9/v1"}, "http://127.0.0.1:9/v1. No model is named, so the one"),
    ],
)
def test_models_names_what_a_run_would_use(tmp_path: Path, variables: dict[str, str], chosen: str) -> None:
    ended = greenloop(tmp_path, "models", extra=variables)
    assert (ended.returncode, f"Without --model: {chosen}" in ended.stdout) == (0, True), ended


def test_the_hard_specs_end_honestly_on_recorded_replies(tmp_path: Path) -> None:
    _, slugify = replayed(tmp_path, SLUGIFY)
    assert (slugify["grade"], slugify["exit_code"]) == ("contested", 1)
    assert "slugify('éxamplë')" in [dispute["question"] for dispute in slugify["disputes"]]
    _, sudoku = replayed(tmp_path, SUDOKU)
    assert (sudoku["grade"], sudoku["exit_code"]) == ("contested", 1)
    assert sudoku["disputes"]
