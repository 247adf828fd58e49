"""The sandbox `container`: what its contract and the attacks, which run on every backend, don't show."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from agents.errors import SandboxBroken
from agents.sandbox import Job
from agents.sandbox.container.engine import find_engine
from agents.sandbox.container.sandbox import Container
from agents.verifier import Verifier

from ...support.commands import QUICKSORT, REPLAYS, command, environment
from ...support.held import wait_until
from ...support.sandboxes import open_or_skip

pytestmark = pytest.mark.thorough

SLEEP = "import time; time.sleep(60)"
CODE = "def f(x):\n    return x + 1\n"
TESTS = "from user_code import f\n\n\ndef test_f():\n    assert f(1) == 2\n"


@pytest.fixture
def container() -> Iterator[Container]:
    opened = open_or_skip("container")
    assert isinstance(opened, Container)
    yield opened
    opened.close()


def containers(pid: int | None = None) -> list[str]:
    """Names of the containers of a process, this one by default."""
    asked = [find_engine().program, "ps", "--all", "--format", "{{.Names}}"]
    names = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
    return [name for name in names if name.startswith(f"greenloop-{pid or os.getpid()}-")]


def test_its_python_and_packages_are_those_of_the_image(container: Container) -> None:
    interpreter = container.interpreter
    assert interpreter.executable == "/usr/local/bin/python3"
    assert interpreter.version[:2] == sys.version_info[:2]
    assert interpreter.finds("_pytest.python")
    assert not interpreter.finds("litellm")
    assert "pytest" in interpreter.importable
    [pytest_there] = interpreter.distributions("PyTest")
    assert pytest_there.version == pytest.__version__
    assert list(interpreter.distributions("litellm")) == []


def test_a_job_that_floods_a_channel_waits_for_its_reader(container: Container) -> None:
    ours, theirs = socket.socketpair()
    code = f"import os\nfor _ in range(200): os.write({theirs.fileno()}, bytes(100_000))\nprint('done')"
    with ours, container.launch(Job(["-I", "-c", code], channels=[theirs.fileno()])) as running:
        theirs.close()
        with pytest.raises(TimeoutError):
            running.wait(1.5)
        ours.settimeout(20)
        count = 0
        while data := ours.recv(1 << 20):
            count += len(data)
        assert (count, running.wait().stdout) == (20_000_000, b"done\n")


def test_a_container_that_is_ended_from_outside_breaks_its_jobs_and_the_next_job_gets_another(
    container: Container,
) -> None:
    [name] = containers()
    with container.launch(Job(["-I", "-c", SLEEP])) as running:
        find_engine().remove(name)
        with pytest.raises(SandboxBroken, match="The container is gone"):
            running.wait(20)
    with container.launch(Job(["-I", "-c", "print(1)"])) as running:
        assert running.wait().stdout == b"1\n"
    [other] = containers()
    assert other != name


def test_closing_it_ends_its_jobs_and_leaves_nothing(container: Container) -> None:
    running = container.launch(Job(["-I", "-c", SLEEP]))
    container.close()
    with pytest.raises(SandboxBroken):
        running.wait(1)
    assert containers() == []


def test_a_job_of_a_container_of_its_own_is_not_told_of_the_one_before() -> None:
    with closing(open_or_skip("a container a job")) as sandbox:
        for _ in range(2):
            with sandbox.launch(Job(["-I", "-c", "import os; print(os.listdir()); open('/tmp/x', 'w')"])) as job:
                assert job.wait().stdout == b"[]\n"
        assert wait_until(lambda: containers() == [], 10)


def test_a_pair_is_verified_with_a_container_for_each_process() -> None:
    with closing(open_or_skip("a container a job")) as sandbox, Verifier(sandbox) as verifier:
        verdict = verifier.verify(CODE, TESTS)
        assert verdict.kind == "passed", (verdict.reason, verdict.output)
        assert verifier.verify(CODE.replace("+ 1", "+ 2"), TESTS).kind == "failed"


@pytest.mark.parametrize("after", [0.2, 1.0, 3.0])
def test_a_killed_tool_leaves_no_container(container: Container, tmp_path: Path, after: float) -> None:
    container.close()
    (tmp_path / "code.py").write_text(CODE)
    (tmp_path / "test_code.py").write_text(TESTS.replace("assert", "import time; time.sleep(8); assert"))
    tool = subprocess.Popen(
        command("verify", "code.py", "test_code.py", "--sandbox", "container"),
        cwd=tmp_path,
        env={**environment(tmp_path), **_engine()},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert wait_until(lambda: containers(tool.pid) != [], 20)
    time.sleep(after)
    tool.send_signal(signal.SIGKILL)
    tool.wait()
    assert wait_until(lambda: containers(tool.pid) == [], 20)


def _engine() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("CONTAINERS_")}


def test_the_main_job_and_verify_run_on_it(container: Container, tmp_path: Path) -> None:
    for arguments in (
        (QUICKSORT, "--model", f"recorded:{REPLAYS}", "--json"),
        ("verify", "work_dir/user_code.py", "work_dir/test_user_code.py", "--json"),
    ):
        done = subprocess.run(
            command(*arguments, "--sandbox", "container"),
            cwd=tmp_path,
            env={**environment(tmp_path), **_engine()},
            capture_output=True,
            text=True,
            timeout=150,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["backend"] == "container"
