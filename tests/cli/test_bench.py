"""`bench humaneval+` and `bench mbpp+`: what a user gets wrong ends in one sentence and exit code 2."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from agents.errors import SandboxUnavailable
from agents.sandbox import open_sandbox

from ..bench.test_hidden_tests import COMMON, needs_evalplus
from ..support.commands import ROOT, greenloop, in_background
from ..support.provider import Hangs, serving
from ..support.written_model import HALVED, data_file


def bench(directory: Path, *arguments: str, on: str = "humaneval+") -> subprocess.CompletedProcess[str]:
    return greenloop(directory, "bench", on, *arguments)


def sentence(ended: subprocess.CompletedProcess[str]) -> str:
    """The one line that a usage error says."""
    assert ended.returncode == 2, (ended.returncode, ended.stderr)
    assert ended.stdout == ""
    (said,) = ended.stderr.splitlines()
    assert said.startswith("greenloop: ")
    return said


@pytest.fixture
def _sandboxed() -> None:
    try:
        open_sandbox().close()
    except SandboxUnavailable as unavailable:
        pytest.skip(f"no sandbox here: {unavailable}")


def test_without_data_the_option_is_named(tmp_path: Path) -> None:
    assert "--data" in sentence(bench(tmp_path))


def test_data_that_is_not_there_is_named_with_what_to_give(tmp_path: Path) -> None:
    said = sentence(bench(tmp_path, "--data", "none.jsonl"))
    assert "none.jsonl" in said
    assert "give EvalPlus's HumanEval+ file" in said


@pytest.mark.parametrize("on", ["humaneval+", "quixbugs", "everyday", "seeded-bugs"])
def test_data_that_never_ends_is_no_file(tmp_path: Path, on: str) -> None:
    data = tmp_path / "pipe"
    if on in ("quixbugs", "everyday"):
        shutil.copytree(ROOT / "docs/benchmark/everyday", data)
        data = data / "a.toml"
    os.mkfifo(data)
    assert "no " in sentence(bench(tmp_path, "--data", "pipe", on=on))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "holds no task"),
        (b"def f(): pass\n", "line 1: it is not JSON"),
        (b'{"task_id": "Own/0"}\n', "line 1: it has no text for prompt and entry_point"),
        (b"\xff\xfe\x00", "is not UTF-8"),
    ],
)
def test_data_of_another_kind_is_refused_with_the_reason(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "tasks.jsonl").write_bytes(content)
    said = sentence(bench(tmp_path, "--data", "tasks.jsonl"))
    assert reason in said
    assert "HumanEval+ file" in said


@pytest.mark.parametrize(
    ("on", "row", "said"),
    [
        ("mbpp+", HALVED, "it has no text for assertion; give EvalPlus's MBPP+ file."),
        ("humaneval+", COMMON, "it defines no function similar_elements); give EvalPlus's HumanEval+ file."),
    ],
)
def test_the_other_benchmarks_data_is_refused(tmp_path: Path, on: str, row: dict[str, Any], said: str) -> None:
    data = data_file(tmp_path, {"canonical_solution": "pass", **row})
    assert said in sentence(bench(tmp_path, "--data", str(data), on=on))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--strategy", "luck"), "luck"),
        (("--limit", "0"), "--limit"),
        (("--temperature", "0"), "--temperature"),
        (("--nothing",), "--nothing"),
    ],
)
def test_an_option_that_cannot_be_is_named(tmp_path: Path, arguments: tuple[str, ...], named: str) -> None:
    data = data_file(tmp_path)
    assert named in sentence(bench(tmp_path, "--data", str(data), *arguments))
    assert not (tmp_path / "bench_dir").exists()


@needs_evalplus
def test_another_measurement_in_the_same_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    plan = tmp_path / "out" / "measurement.json"
    plan.write_text(json.dumps({"effort": "another"}))
    said = sentence(
        bench(tmp_path, "--data", str(data_file(tmp_path)), "--out", "out", "--model", "recorded:none")
    )
    assert "out holds another measurement" in said
    assert "--again" in said
    assert json.loads(plan.read_text()) == {"effort": "another"}


@needs_evalplus
@pytest.mark.usefixtures("_sandboxed")
def test_an_out_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    said = sentence(
        bench(tmp_path, "--data", str(data_file(tmp_path)), "--out", "out", "--model", "recorded:none")
    )
    assert "choose another --out" in said
    assert (tmp_path / "out").read_text() == "mine"


@needs_evalplus
@pytest.mark.usefixtures("_sandboxed")
def test_a_task_that_evalplus_could_not_judge_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    half: dict[str, Any] = {name: value for name, value in HALVED.items() if name != "plus_input"}
    said = sentence(bench(tmp_path, "--data", str(data_file(tmp_path, half)), "--model", "recorded:none"))
    assert "it has no usable plus_input; give EvalPlus's HumanEval+ file." in said


@pytest.mark.slow
@pytest.mark.usefixtures("_sandboxed")
def test_the_throughput_of_each_way_is_measured_on_the_same_pairs(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "docs.measure.speed", "--data", str(data_file(tmp_path))]
    command += ["--pairs", "6", "--jobs", "2"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    head, _, *rows = ended.stdout.splitlines()
    assert head.startswith("| 6 pairs, 2 at once |")
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert float(cells[0][2]) == 1.0
    assert all(float(rate) > 0 for _, rate, _, _ in cells)
    passed = {int(passed) for *_, passed in cells}
    assert len(passed) == 1, "the ways agree"
    assert 2 <= passed.pop() < 6, "the references pass, and not every mutant does"


@pytest.mark.usefixtures("_sandboxed")
def test_an_interrupt_waits_for_no_reply_and_says_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "specs").mkdir()
    shutil.copy(ROOT / "docs/benchmark/everyday/age-on.toml", tmp_path / "specs")
    released = threading.Event()
    with serving() as provider:
        provider.script(*[Hangs(released)] * 4)
        model = ("--model", "openai/m", "--api-base", provider.api_base)
        command = ("bench", "everyday", "--data", "specs", "--strategy", "single", *model)
        with in_background(tmp_path, *command, extra={"OPENAI_API_KEY": "k"}) as measuring:
            assert provider.waits_for_requests(1, 60)
            measuring.send_signal(signal.SIGINT)
            _, said = measuring.communicate(timeout=20)
        released.set()
    assert (measuring.returncode, "Traceback" in said) == (130, False)
    assert said.splitlines()[-1] == (
        "greenloop: Interrupted; what was finished is kept, and the same command goes on."
    )
