"""`verify-pairs` as a process: its lines, what a second call does again, what is bad, an interruption."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from ..support.commands import greenloop, in_background

RIGHT, WRONG = "def f(x):\n    return 2 * x\n", "def f(x):\n    return 3 * x\n"
SLOW = "import time\ntime.sleep(1)\n"
TESTS = "from user_code import f\n\ndef test_f() -> None:\n    assert f(2) == 4\n"
NO_SANDBOX = ("--sandbox", "none")


def line(name: str | int, code: str = RIGHT) -> str:
    return json.dumps({"id": name, "code": code, "tests": TESTS}) + "\n"


def verdicts(text: str) -> list[tuple[str | int, str]]:
    return [(read["id"], read["verdict"]) for read in map(json.loads, text.splitlines())]


def test_each_pair_gets_a_line_that_is_the_document_of_verify(tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text(line("a") + "\n" + line(7, WRONG))
    ended = greenloop(tmp_path, "verify-pairs", "pairs.jsonl")
    assert ended.returncode == 1
    assert verdicts(ended.stdout) == [("a", "passed"), (7, "failed")]
    (tmp_path / "code.py").write_text(RIGHT)
    (tmp_path / "tests.py").write_text(TESTS)
    alone = json.loads(greenloop(tmp_path, "verify", "code.py", "tests.py", "--json").stdout)
    first: dict[str, Any] = json.loads(ended.stdout.splitlines()[0])
    assert first.keys() - alone.keys() == {"id", "digest"}
    timed = ("seconds", "strength")  # how many changes are tried depends on the time
    assert all(first[name] == alone[name] for name in alone if name not in timed)
    assert "pair 2: 7: failed" in ended.stderr


def test_pairs_come_from_standard_input_and_all_that_pass_are_exit_0(tmp_path: Path) -> None:
    ended = greenloop(tmp_path, "verify-pairs", "-", *NO_SANDBOX, stdin=line("a") + line("b"))
    assert ended.returncode == 0, ended.stderr
    assert verdicts(ended.stdout) == [("a", "passed"), ("b", "passed")]


def test_what_the_file_has_already_is_not_verified_again_unless_it_changed(tmp_path: Path) -> None:
    arguments = ("verify-pairs", "-", "--out", "verdicts.jsonl", *NO_SANDBOX)
    out = tmp_path / "verdicts.jsonl"
    ended = greenloop(tmp_path, *arguments, stdin=line("a") + line("b", WRONG))
    assert (ended.returncode, ended.stdout) == (1, "")
    whole = out.read_text()
    out.write_text(whole + '{"id": "c", "dig')  # as a kill leaves it
    ended = greenloop(tmp_path, *arguments, stdin=line("a") + line("b", WRONG))
    assert (ended.returncode, out.read_text()) == (1, whole), "what failed before still counts"
    assert "2 verdicts were in verdicts.jsonl before: failed, passed" in ended.stderr
    ended = greenloop(tmp_path, *arguments, stdin=line("a") + line("b") + line("c"))
    assert ended.returncode == 0, ended.stderr
    assert verdicts(out.read_text()) == [("a", "passed"), ("b", "failed"), ("b", "passed"), ("c", "passed")]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("{", "it is not JSON"),
        ("[1]", "no JSON object"),
        ('{"code": "", "tests": ""}', "`id` has to be"),
        ('{"id": true, "code": "", "tests": ""}', "`id` has to be"),
        ('{"id": 1, "code": "", "tests": null}', "`tests` has to be a string"),
        (line("a", WRONG).strip(), "'a' was there before"),
        ("[" * 100_000, "is no pair"),
    ],
)
def test_a_bad_line_is_named_passed_over_and_exit_2(tmp_path: Path, bad: str, said: str) -> None:
    ended = greenloop(tmp_path, "verify-pairs", "-", *NO_SANDBOX, stdin=f"{line('a')}\n{bad}\n{line('b')}")
    assert ended.returncode == 2
    assert verdicts(ended.stdout) == [("a", "passed"), ("b", "passed")]
    message = " ".join(ended.stderr.split())
    assert "Line 3 is no pair" in message
    assert said in message
    assert "Traceback" not in message


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["verify-pairs", "nowhere.jsonl"], "nowhere.jsonl does not exist"),
        (["verify-pairs", "-"], "There is no pair in standard input"),
        (["verify-pairs", "-", "tests.py"], "tests.py"),
        (["verify-pairs", "-", "--out", "mine.txt"], "holds other things than verdicts"),
        (["verify-pairs", "mine.txt", "--out", "no/such.jsonl"], "no/such.jsonl can't be used (No such file"),
        (["verify-pairs", "mine.txt", "--out", "."], ". can't be used (Is a directory); give --out"),
        (["verify-pairs"], "FILE"),
        (["verify"], "CODE"),
        (["verify", "code.py"], "TESTS"),
        (["verify", "code.py", "tests.py", "--jobs", "2"], "verify has no --jobs; batch, "),
        (["verify", "--jsonl", "-"], "verify has no --jsonl any more; give verify-pairs FILE."),
        (["verify", "--jsonl=-", "--out", "mine.txt"], "verify has no --jsonl any more; give verify-pairs FILE."),
        (["verify", "--project", "."], "verify has no --project any more; give audit DIR."),
        (["verify", "--project=.", "--base", "main"], "verify has no --project any more; give audit DIR."),
    ],
)
def test_bad_usage_is_one_sentence_and_exit_2(tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "mine.txt").write_text("my notes")
    ended = greenloop(tmp_path, *arguments, *NO_SANDBOX)
    assert ended.returncode == 2
    assert said in " ".join(ended.stderr.split())
    assert (tmp_path / "mine.txt").read_text() == "my notes"


@pytest.mark.thorough
def test_interrupted_it_leaves_whole_lines_and_goes_on(tmp_path: Path) -> None:
    given = "".join(line(number, SLOW + RIGHT) for number in range(8))
    (tmp_path / "pairs.jsonl").write_text(given)
    arguments = ("verify-pairs", "pairs.jsonl", "--out", "verdicts.jsonl", "--jobs", "1", *NO_SANDBOX)
    out = tmp_path / "verdicts.jsonl"
    with in_background(tmp_path, *arguments) as process:
        assert process.stderr is not None
        while not (told := process.stderr.readline()).startswith("pair 2:"):
            assert told, "it ended"
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
    left = out.read_text()
    assert left.endswith("\n")
    assert 2 <= len(verdicts(left)) < 8
    ended = greenloop(tmp_path, *arguments)
    assert ended.returncode == 0, ended.stderr
    assert out.read_text().startswith(left)
    assert verdicts(out.read_text()) == [(number, "passed") for number in range(8)]


@pytest.mark.parametrize(
    "text", ["0x" + "f" * 5000, "+".join("1" * 900), "f" + "()" * 700], ids=["long", "deep", "calls"]
)
def test_a_pair_that_no_walk_comes_through_is_refused_and_the_next_is_verified(tmp_path: Path, text: str) -> None:
    tests = TESTS + f"\n\ndef test_g() -> None:\n    assert f({text}) == 4\n"
    bad = json.dumps({"id": "::error::bad\n::x", "code": RIGHT, "tests": tests}) + "\n"
    (tmp_path / "pairs.jsonl").write_text(bad + line("good"))
    ended = greenloop(tmp_path, "verify-pairs", "pairs.jsonl", extra={"CI": "true"})
    assert [verdict for _, verdict in verdicts(ended.stdout)] == ["refused", "passed"]
    assert not [each for each in ended.stderr.splitlines() if each.lstrip().startswith("::")]


def test_a_line_without_end_is_a_sentence(tmp_path: Path) -> None:
    with (tmp_path / "pairs.jsonl").open("w") as file:
        file.write(line("a"))
        file.truncate(1 << 36)  # takes no room on the disk
    ended = greenloop(tmp_path, "verify-pairs", "pairs.jsonl")
    assert ended.returncode == 2
    assert "A line is longer than 64 MiB" in ended.stderr
    (tmp_path / "deep.out").write_text('{"id": ' + "[" * 100_000 + "\n")
    ended = greenloop(tmp_path, "verify-pairs", "pairs.jsonl", "--out", "deep.out")
    assert "holds other things than verdicts" in ended.stderr
