"""`--into FILE.py` from the command line: the diff, the document, a resumed run, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from ..support.commands import QUICKSORT, REPLAYS, ROOT, greenloop, replayed

BEFORE = b"\xef\xbb\xbf# mine\r\nX = 1\r\n\r\ndef quicksort(a):\r\n\treturn a\r\n"
RECORDED = ("--model", f"recorded:{REPLAYS}")


@pytest.mark.thorough
def test_the_definition_is_written_and_shown_as_a_diff(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_bytes(BEFORE)
    ended, document = replayed(tmp_path, QUICKSORT, "--into", "mine.py")
    assert ended.returncode == 0, ended.stderr
    Draft202012Validator(json.loads((ROOT / "docs/schema/result.json").read_text())).validate(document)
    into = document["into"]
    assert (into["file"], into["name"], into["note"]) == ("mine.py", "quicksort", None)
    assert (tmp_path / into["backup"]).read_bytes() == BEFORE
    head = BEFORE[: BEFORE.index(b"def")]
    assert path.read_bytes().startswith(head + b"def quicksort(arr: list[int]) -> list[int]:\r\n\t")
    assert path.read_bytes().count(b"\n") == path.read_bytes().count(b"\r\n")
    again = greenloop(tmp_path, "--resume", document["run_dir"], *RECORDED, "--into", "mine.py")
    assert again.returncode == 0, again.stderr
    assert "has this quicksort already" in again.stdout
    path.write_bytes(BEFORE)
    shown = greenloop(tmp_path, "--resume", document["run_dir"], *RECORDED, "--into", "mine.py")
    assert "-def quicksort(a):" in shown.stdout
    assert f"{into['backup']}.2" in shown.stdout
    path.write_bytes(BEFORE)
    quiet = greenloop(tmp_path, "--resume", document["run_dir"], *RECORDED, "--into", "mine.py", "--quiet")
    assert "-def quicksort(a):" not in quiet.stdout
    assert "Written into mine.py" in quiet.stdout


def test_below_what_is_required_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_bytes(BEFORE)
    ended, document = replayed(tmp_path, QUICKSORT, "--into", "mine.py", "--require", "verified")
    assert (ended.returncode, document["into"]) == (1, None)
    assert (tmp_path / "mine.py").read_bytes() == BEFORE


def test_a_file_that_cannot_be_written_is_refused_before_any_call(tmp_path: Path) -> None:
    for text, reason in (("def broken(:", "is no Python"), ("quicksort = 1", "bound by something else")):
        (tmp_path / "mine.py").write_text(text)
        ended = greenloop(tmp_path, QUICKSORT, *RECORDED, "--into", "mine.py")
        assert ended.returncode == 2
        assert reason in ended.stderr
        assert "Traceback" not in ended.stderr
    assert not (tmp_path / "work_dir").exists()
