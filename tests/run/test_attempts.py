"""A run that is gone on with: its earlier result stays until the new attempt has ended, whatever ends that."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.events import Note
from agents.llm_backends.budget import Budget
from agents.run.recorder import RunRecorder
from agents.settings import Settings
from agents.storage import run_directory as runs
from agents.storage.run_directory import RunDirectory

from ..batch.adders import KEY, OPTIONS, Writer
from ..storage.test_run_directory import record
from ..support.commands import ROOT, greenloop, in_background
from ..support.provider import Fails, Provider, serving

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform == "win32", reason="kills with SIGKILL"),
]
SPEC = "Implement add_1(x: int) -> int that adds 1.\n\nadd_1(1) == 2\n"
KILLED = """
import os, signal, sys
from dataclasses import replace
from pathlib import Path
from agents.storage.run_directory import RunDirectory
from tests.run.test_attempts import fill
left = None  # changes of a name that are let through, once they are counted
def hook(event, arguments):
    global left
    if event in ("os.rename", "os.mkdir", "os.remove", "os.rmdir") and left is not None:
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(hook)
for line in sys.stdin:
    moment, path = line.split(maxsplit=1)
    child = os.fork()
    if child == 0:
        run = RunDirectory(Path(path.strip()))
        left = int(moment) if sys.argv[1] == "all" else None
        fill(run.begin_attempt(), "new", rounds=1)
        left = int(moment) if left is None else left
        run.adopt_attempt()
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def fill(run: RunDirectory, name: str, rounds: int) -> None:
    """Write a whole result that says `name` everywhere."""
    from dataclasses import replace

    from agents.records import RoundRecord, Ruling

    from ..storage.test_run_directory import ROUND_BOARD

    run.write(replace(record(), status="finished", grade="verified", rounds=rounds, why=name))
    for number in range(1, rounds + 1):
        run.append(RoundRecord(number, ROUND_BOARD, None, Ruling("verified", "a", "done", name), 0.5))
    run.save("user_code.py", f"# {name}\n")
    run.save("test_user_code.py", "")


def result_of(run: RunDirectory) -> tuple[str, list[str], str | None]:
    return run.read().why, [each.ruling.why for each in run.rounds()], run.code()


OLD, NEW = ("old", ["old", "old"], "# old\n"), ("new", ["new"], "# new\n")


Killed = Callable[[int, RunDirectory], int]


@pytest.fixture
def killed(armed: str) -> Iterator[Killed]:
    """Run a new attempt in a process of its own that is killed at a moment; its exit code."""
    command = [sys.executable, "-c", KILLED, armed]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as forking:
        assert forking.stdin is not None
        assert forking.stdout is not None
        given, told = forking.stdin, forking.stdout

        def killed(moment: int, run: RunDirectory) -> int:
            given.write(f"{moment} {run.path}\n")
            given.flush()
            return int(told.readline())

        yield killed


def test_a_result_takes_the_place_of_another_where_an_earlier_one_was_removed(tmp_path: Path) -> None:
    run = runs.create(tmp_path, record())
    for name in ("older", "old", "new"):
        if name == "new":
            shutil.rmtree(run.path / "earlier" / "1")
        fill(run.begin_attempt(), name, rounds=1)
        run.adopt_attempt()
    assert result_of(run) == NEW
    assert sorted(each.name for each in (run.path / "earlier").iterdir()) == ["2", "3"]


def test_a_run_can_be_read_while_a_result_takes_the_place_of_another(tmp_path: Path) -> None:
    run = runs.create(tmp_path, record())

    def adopt() -> None:
        for _ in range(100):
            run.begin_attempt().write(record())
            run.adopt_attempt()

    adopting = threading.Thread(target=adopt)
    adopting.start()
    read = 0
    while adopting.is_alive():
        assert run.exists
        assert run.read().status == record().status
        read += 1
    assert read > 100


@pytest.mark.parametrize("armed", [pytest.param("all", marks=pytest.mark.thorough), "adopting"])
def test_a_kill_at_any_moment_leaves_one_whole_result(tmp_path: Path, armed: str, killed: Killed) -> None:
    """Killed before its first, second, ... change of a name, until one attempt comes through."""
    seen = []
    for moment in range(0, 60, 3 if armed == "all" else 1):
        run = runs.create(tmp_path / str(moment), record())
        fill(run, "old", rounds=2)
        code = killed(moment, run)
        assert code in (0, -signal.SIGKILL)
        found = result_of(run)
        assert found in (OLD, NEW)
        assert runs.find(tmp_path / str(moment), "latest") == run
        run.begin_attempt()
        assert result_of(run) == found, "what was cut off is taken up, and changes no result"
        assert {path.name for path in run.path.iterdir()}.isdisjoint({"adopted", "attempt"})
        seen.append(found)
        if code == 0:
            break
    assert seen[0] == OLD
    assert seen[-1] == NEW
    assert (run.path / "earlier" / "1" / "run.json").is_file()
    assert len(list((run.path / "earlier" / "1" / "rounds").iterdir())) == 2


def tell(recorder: RunRecorder, first: int) -> None:
    for number in range(100):
        recorder.emit(Note(f"{first} {number}"))


def test_no_note_is_lost_between_threads(tmp_path: Path) -> None:
    run = runs.create(tmp_path, record())
    recorder = RunRecorder(run, record(), Settings(), Budget(), lambda event: None)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        told = [threading.Thread(target=tell, args=(recorder, first)) for first in range(8)]
        for thread in told:
            thread.start()
        for thread in told:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    recorder.save_code("x = 1\n")
    recorder._write()
    assert len(set(run.read().notes)) == 800


def started(directory: Path, provider: Provider) -> tuple[dict[str, Any], RunDirectory]:
    """A run that a provider has brought to its end."""
    ended = greenloop(directory, SPEC, *OPTIONS, "--api-base", provider.api_base, "--json", extra=KEY)
    document = json.loads(ended.stdout)
    assert (ended.returncode, document["grade"]) == (0, "verified"), ended.stderr
    return document, RunDirectory(directory / document["run_dir"])


def resume(directory: Path, run: RunDirectory, *more: str) -> subprocess.CompletedProcess[str]:
    return greenloop(directory, "--resume", run.path.name, *more, "--json", extra=KEY)


OTHER = ("--model", "openai/other")


@pytest.mark.thorough
def test_a_finished_result_outlives_limits_dead_servers_and_kills(tmp_path: Path) -> None:
    with serving() as provider:
        provider.script(Writer())
        first, run = started(tmp_path, provider)
        server = ("--api-base", provider.api_base)
        before = (run.read(), run.rounds(), run.code(), (tmp_path / "work_dir/user_code.py").read_text())

        def untouched() -> bool:
            now = (run.read(), run.rounds(), run.code(), (tmp_path / "work_dir/user_code.py").read_text())
            return now == before

        again = resume(tmp_path, run, "--api-base", "http://127.0.0.1:9/v1")
        assert (again.returncode, json.loads(again.stdout)["grade"]) == (0, "verified"), "nothing is new"
        assert "Nothing is new" in again.stderr
        assert json.loads(again.stdout)["code"] == first["code"]
        assert untouched()

        provider.script(lambda handler: Fails(401, "dead")(handler))
        dead = resume(tmp_path, run, *server, *OTHER)
        assert dead.returncode == 3
        assert "(verified) stays as it was" in dead.stderr
        assert untouched()

        provider.script(Writer(until=threading.Event()))
        with in_background(tmp_path, "--resume", run.path.name, *server, *OTHER, extra=KEY) as process:
            asked = len(provider.requests)
            assert provider.waits_for_requests(asked + 1, 120)
            busy = resume(tmp_path, run, *server, *OTHER)
            assert (busy.returncode, "Another process" in json.loads(busy.stdout)["error"]["message"]) == (2, True)
            process.kill()
        assert untouched()
        assert run.attempt.exists, "control: the attempt had begun"

        provider.script(Writer())
        limited = resume(tmp_path, run, *server, *OTHER, "--max-seconds", "0.001")
        assert limited.returncode == 5
        assert untouched()

        done = resume(tmp_path, run, *server, *OTHER)
        assert (done.returncode, run.read().models["code_writer"]) == (0, "openai/other")
        assert (
            json.loads((run.path / "earlier/1/run.json").read_text())["models"]["code_writer"] == "openai/embedded"
        )
