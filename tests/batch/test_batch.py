"""The batch command as a process: killed, interrupted, refused, limited, and gone on with."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from agents.batch.journal import Journal

from ..support.commands import greenloop, in_background, processes_with
from ..support.playback import wait_until
from ..support.provider import Fails, Provider
from .adders import KEY, OPTIONS, Writer, write_specs, writing
from .made import integrity

pytestmark = pytest.mark.timeout(600)
PATIENCE = 120.0
"""Seconds; LiteLLM's import alone can take long on a busy machine."""
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


def batch(
    directory: Path, provider: Provider, *more: str, specs: str = "specs"
) -> subprocess.CompletedProcess[str]:
    """Run the batch of all specs in `directory` to its end."""
    return greenloop(directory, *arguments(provider, *more, specs=specs), extra=KEY, seconds=2 * PATIENCE)


def arguments(provider: Provider, *more: str, specs: str = "specs") -> tuple[str, ...]:
    return "batch", specs, "--out", "out", "--api-base", provider.api_base, *OPTIONS, *more


def under_way(directory: Path, provider: Provider, *more: str) -> AbstractContextManager[subprocess.Popen[str]]:
    """The same batch in the background."""
    return in_background(directory, *arguments(provider, *more), extra=KEY)


def document_of(ended: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def statuses(directory: Path) -> dict[str, str]:
    with Journal(directory / "out", read_only=True) as journal:
        assert integrity(journal) == "ok"
        return {result.id: result.status for result in journal.results()}


def leaves_nothing_running(directory: Path) -> bool:
    return wait_until(lambda: not processes_with(str(directory)), 20)


@pytest.mark.thorough
@linux_only
def test_a_batch_killed_again_and_again_does_everything_once(tmp_path: Path) -> None:
    write_specs(tmp_path, 6)
    writer = Writer(pause=0.05)
    with writing(writer) as provider:
        for calls in (1, 4):
            with under_way(tmp_path, provider, "--jobs", "2") as process:
                assert provider.waits_for_requests(calls, PATIENCE)
                process.kill()
            assert leaves_nothing_running(tmp_path)
            assert set(statuses(tmp_path)) == {f"add-{number}" for number in range(6)}
        document = document_of(batch(tmp_path, provider, "--json", "--jobs", "2"))
        assert (document["exit_code"], document["counts"]) == (0, {"verified": 6})
    assert sum(writer.asked.values()) <= 6 + 2 * 2, "a kill loses the calls in flight, and no others"
    for number in range(6):
        assert f"def add_{number}" in (tmp_path / f"out/specs/add-{number}/user_code.py").read_text()


@pytest.mark.thorough
@linux_only
def test_a_second_batch_on_one_directory_is_refused_and_status_is_read_beside_it(tmp_path: Path) -> None:
    write_specs(tmp_path, 2)
    release = threading.Event()
    with writing(Writer(until=release)) as provider, under_way(tmp_path, provider, "--jobs", "1") as process:
        assert provider.waits_for_requests(1, PATIENCE)
        second = batch(tmp_path, provider)
        assert second.returncode == 2
        assert second.stderr.startswith("greenloop: Another batch is at work in out; wait for it")
        shown = greenloop(tmp_path, "batch", "status", "out")
        assert f"Process {process.pid} works on it; under way: add-0." in shown.stdout
        release.set()
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
    assert "Nobody works on it now." in greenloop(tmp_path, "batch", "status", "out").stdout


@linux_only
def test_ctrl_c_finishes_what_runs_and_the_next_call_does_the_rest(tmp_path: Path) -> None:
    write_specs(tmp_path, 3)
    release = threading.Event()
    with writing(Writer(until=release)) as provider:
        with under_way(tmp_path, provider, "--jobs", "1") as process:
            assert provider.waits_for_requests(1, PATIENCE)
            process.send_signal(signal.SIGINT)
            assert process.stderr is not None
            assert "Press Ctrl-C again to stop now." in process.stderr.readline()
            release.set()
            _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130, err
        assert statuses(tmp_path) == {"add-0": "finished", "add-1": "not started", "add-2": "not started"}
        assert (tmp_path / "out" / "report.html").is_file()
        assert batch(tmp_path, provider).returncode == 0


@pytest.mark.thorough
@linux_only
@pytest.mark.parametrize("signals", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM,)])
def test_a_second_ctrl_c_or_a_sigterm_stops_at_once_and_leaves_nothing_running(
    tmp_path: Path, signals: tuple[int, ...]
) -> None:
    write_specs(tmp_path, 2)
    release = threading.Event()
    with writing(Writer(until=release)) as provider:
        with under_way(tmp_path, provider, "--jobs", "1") as process:
            assert provider.waits_for_requests(1, PATIENCE)
            for number in signals:
                process.send_signal(number)
                time.sleep(0.2)  # two equal signals at once are one
            _, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130, err
        assert "Traceback" not in err
        assert statuses(tmp_path) == {"add-0": "interrupted", "add-1": "not started"}
        assert leaves_nothing_running(tmp_path)
        release.set()
        assert batch(tmp_path, provider).returncode == 0


@pytest.mark.thorough
def test_a_changed_spec_is_done_again_and_a_bad_one_stops_nothing(tmp_path: Path) -> None:
    folder = write_specs(tmp_path, 2)
    (folder / "empty.md").write_text("")
    writer = Writer()
    with writing(writer) as provider:
        first = document_of(batch(tmp_path, provider, "--json"))
        assert (first["exit_code"], first["counts"]) == (1, {"bad": 1, "verified": 2})
        assert writer.asked == {0: 1, 1: 1}
        (folder / "empty.md").unlink()
        changed = folder / "add-1.md"
        changed.write_text(f"{changed.read_text()}\nadd_1(2) == 3\n")
        second = document_of(batch(tmp_path, provider, "--json"))
    assert (second["exit_code"], second["counts"]) == (0, {"verified": 2})
    assert writer.asked == {0: 1, 1: 2}
    assert len(list((tmp_path / "out/specs/add-1/runs").glob("*/run.json"))) == 2, "the old run stays"


@pytest.mark.thorough
def test_when_the_total_is_spent_the_rest_waits_for_a_higher_one(tmp_path: Path) -> None:
    write_specs(tmp_path, 3)
    writer = Writer()
    with writing(writer) as provider:
        first = document_of(batch(tmp_path, provider, "--json", "--total-tokens", "6", "--jobs", "1"))
        assert (first["exit_code"], first["error"]["kind"]) == (5, "total_spent")
        assert first["counts"] == {"not started": 1, "verified": 2}
        options = ("--json", "--total-tokens", "100", "--api-base", provider.api_base)
        second = document_of(greenloop(tmp_path, "batch", "--resume", "out", *options, extra=KEY))
    assert (second["exit_code"], second["counts"]) == (0, {"verified": 3})
    assert writer.asked == {0: 1, 1: 1, 2: 1}


@pytest.mark.thorough
def test_a_model_that_is_away_ends_the_batch_with_exit_code_3_and_it_goes_on_later(tmp_path: Path) -> None:
    write_specs(tmp_path, 5)
    with writing(Writer()) as provider:
        provider.script(Fails(401, "Incorrect API key provided", "invalid_api_key"))
        ended = batch(tmp_path, provider, "--jobs", "1")
        assert ended.returncode == 3
        assert "3 specs in a row failed alike, so no more are begun" in ended.stderr
        assert len(provider.requests) == 3
        provider.script(Writer())
        assert batch(tmp_path, provider).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("specs",), "Say where results are kept"),
        (("--out", "out"), "Name the specs"),
        (("specs", "--resume", "out"), "A resumed batch has its specs"),
        (("--resume", "nowhere"), "There is no batch in nowhere"),
        (("specs", "--out", "out", "--shard", "3/2"), "is no shard"),
        (
            ("specs", "--out", "out", "--answers", "a.txt"),
            "batch has no --answers; a run of a spec and heal have it.",
        ),
    ],
)
def test_what_contradicts_itself_is_refused_with_one_sentence(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    write_specs(tmp_path, 1)
    ended = greenloop(tmp_path, "batch", *arguments)
    assert ended.returncode == 2
    assert ended.stderr.startswith("greenloop: ")
    assert said in " ".join(ended.stderr.split())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["junit.xml", "report.html", "results.jsonl", "summary.md"])
def test_a_file_that_is_of_no_batch_is_not_overwritten_and_no_model_is_asked(tmp_path: Path, name: str) -> None:
    write_specs(tmp_path, 1)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text("mine")
    with writing(Writer()) as provider:
        ended = batch(tmp_path, provider)
    said = f"greenloop: {Path('out', name)} is of no batch and would be overwritten; choose another --out.\n"
    assert (ended.returncode, ended.stderr, provider.requests) == (2, said, [])
    assert [(each.name, each.read_text()) for each in (tmp_path / "out").iterdir()] == [(name, "mine")]


def test_check_only_reads_and_shards_are_disjoint_and_all(tmp_path: Path) -> None:
    folder = write_specs(tmp_path, 5)
    shares = [greenloop(tmp_path, "batch", "specs", "--check", "--shard", f"{n}/2") for n in (1, 2)]
    lines = [line for share in shares for line in share.stdout.splitlines()[:-1]]
    assert sorted(lines) == [
        f"add-{n} (specs/add-{n}.md): def add_{n}(x: int) -> int, 1 example" for n in range(5)
    ]
    (folder / "empty.md").write_text("")
    ended = greenloop(tmp_path, "batch", "specs", "--check")
    assert ended.returncode == 1
    assert "6 specs, 1 of them bad" in ended.stdout
    assert greenloop(tmp_path, "batch", "specs/empty.md", "--check").returncode == 2
