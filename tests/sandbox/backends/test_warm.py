from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from agents.errors import SandboxBroken, SandboxUnavailable
from agents.sandbox import Ended, Job, Sandbox, open_sandbox
from agents.sandbox.interpreter import this_interpreter

from ...support.sandboxes import BackendName, open_or_skip

HOSTS: tuple[BackendName, ...] = ("bubblewrap", "native")


@pytest.fixture(scope="module", params=HOSTS)
def warm(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with closing(open_or_skip(request.param).warm(("pytest", "json"))) as opened:
        yield opened


def run(warm: Sandbox, *argv: str, files: dict[str, bytes] | None = None) -> Ended:
    with warm.launch(Job(argv, files or {})) as running:
        return running.wait()


@pytest.mark.parametrize(
    ("argv", "stdout"),
    [
        (["-I", "-c", "import sys; print(__name__, sys.argv)", "a"], b"__main__ ['-c', 'a']\n"),
        (["-I", "-X", "utf8", "/src/main.py", "a"], b"__main__ ['/src/main.py', 'a'] /src/main.py\n"),
        (["-m", "json.tool", "/src/data.json"], b"{}\n"),
    ],
)
def test_a_program_runs_as_from_the_command_line(warm: Sandbox, argv: list[str], stdout: bytes) -> None:
    files = {"main.py": b"import sys; print(__name__, sys.argv, __file__)", "data.json": b"{}"}
    ended = run(warm, *argv, files=files)
    assert (ended.stdout, ended.stderr, ended.exit_code) == (stdout, b"", 0)


@pytest.mark.parametrize(
    ("code", "exit_code", "stderr"),
    [
        ("import sys; sys.exit()", 0, b""),
        ("import sys; sys.exit(300)", 44, b""),
        ("import sys; sys.exit('no')", 1, b"no\n"),
        ("import os; os._exit(9)", 9, b""),
        ("import atexit; atexit.register(print, 'bye')", 0, b""),
        pytest.param(
            "1 / 0",
            1,
            b'Traceback (most recent call last):\n  File "<string>", line 1, in <module>\n'
            b"ZeroDivisionError: division by zero\n",
            marks=pytest.mark.skipif(
                sys.version_info >= (3, 13), reason="Python 3.13 shows the line of `-c`, of a worker its own"
            ),
        ),
    ],
)
def test_a_program_ends_as_in_a_cold_sandbox(warm: Sandbox, code: str, exit_code: int, stderr: bytes) -> None:
    ended = run(warm, "-I", "-c", code)
    assert (ended.exit_code, ended.stderr) == (exit_code, stderr)
    with open_sandbox("none").launch(Job(["-I", "-c", code])) as running:
        cold = running.wait()
    assert (ended.exit_code, ended.stdout, ended.stderr) == (cold.exit_code, cold.stdout, cold.stderr)


def test_threads_are_waited_for_at_the_end(warm: Sandbox) -> None:
    code = "import threading, time\nthreading.Thread(target=lambda: (time.sleep(0.1), print('done'))).start()"
    assert run(warm, "-I", "-c", code).stdout == b"done\n"


def test_modules_are_there_beforehand_and_the_workers_own_are_not(warm: Sandbox) -> None:
    code = (
        "import sys\nprint('pytest' in sys.modules, [name for name in sys.modules if 'inside' in name])\n"
        "print([path for path in sys.path if 'sandbox' in path])\n"
        "try: import inside\nexcept ImportError: print('none')"
    )
    assert run(warm, "-I", "-c", code).stdout == b"True []\n[]\nnone\n"


def _places() -> set[str]:
    """Names in /tmp on the way to this Python, where it lies below /tmp."""
    parts = [Path(tree).parts for tree in this_interpreter().trees]
    return {names[2] for names in parts if names[:2] == ("/", "tmp") and len(names) > 2}


def test_nothing_passes_from_one_job_to_the_next(warm: Sandbox) -> None:
    spoil = "import sys, json, pytest\njson.dumps = None\nsys.path.append('/tmp')\n"
    spoil += "for path in ('/tmp/x', '/box/x', '/dev/shm/x'): open(path, 'w').close()\nprint('spoilt')"
    look = "import json, os, sys\nprint(json.dumps(1), '/tmp' in sys.path, "
    look += f"*(sorted(set(os.listdir(path)) - {_places()!r}) for path in ('/tmp', '/box', '/dev/shm', '/src')))"
    assert run(warm, "-I", "-c", spoil, files={"left.py": b""}).stdout == b"spoilt\n"
    assert run(warm, "-I", "-c", look).stdout == b"1 False [] [] [] []\n"


def test_random_numbers_differ_between_jobs(warm: Sandbox) -> None:
    code = "import random; print(random.random())"
    assert run(warm, "-I", "-c", code).stdout != run(warm, "-I", "-c", code).stdout


def test_jobs_at_the_same_time_do_not_see_each_other(warm: Sandbox) -> None:
    stay = "import socket, time\ns = socket.create_server(('127.0.0.1', 4567))\nprint(flush=True); time.sleep(60)"
    look = (
        "import os, socket\nprint(sum(name.isdigit() for name in os.listdir('/proc')) <= 2)\n"
        "try: socket.create_connection(('127.0.0.1', 4567), 2)\nexcept OSError as error: print('refused')"
    )
    with warm.launch(Job(["-I", "-c", stay])):
        time.sleep(0.3)
        assert run(warm, "-I", "-c", look).stdout == b"True\nrefused\n"


def test_the_way_to_the_worker_is_closed_to_jobs(warm: Sandbox) -> None:
    code = "import os\nprint(os.getppid(), [n for n in range(3, 500) if os.path.exists(f'/proc/self/fd/{n}')])"
    assert run(warm, "-I", "-c", code).stdout == b"1 []\n"


@pytest.mark.parametrize("name", HOSTS)
def test_closing_ends_jobs_under_way_and_later_ones_break(name: BackendName) -> None:
    warm = open_or_skip(name).warm(())
    running = warm.launch(Job(["-I", "-c", "import time; time.sleep(60)"]))
    warm.close()
    begun = time.monotonic()
    with running:
        assert time.monotonic() - begun < 5
    with pytest.raises(SandboxBroken), warm.launch(Job(["-I", "-c", ""])) as late:
        late.wait()


@pytest.mark.parametrize("name", HOSTS)
def test_a_module_that_is_missing_breaks_the_start(name: BackendName) -> None:
    with pytest.raises(SandboxBroken, match="no_such_module"):
        open_or_skip(name).warm(("no_such_module",))


def test_no_sandbox_holds_no_worker() -> None:
    with pytest.raises(SandboxUnavailable, match="none"):
        open_sandbox("none").warm(["pytest"])


def test_a_warm_job_costs_less_than_starting_python(warm: Sandbox) -> None:
    def seconds(run_once: object) -> float:
        assert callable(run_once)
        begun = time.perf_counter()
        run_once()
        return time.perf_counter() - begun

    none = open_sandbox("none")

    def cold() -> None:
        with none.launch(Job(["-I", "-c", "import pytest"])) as running:
            assert running.wait().exit_code == 0

    cold_times = [seconds(cold) for _ in range(5)]
    warm_times = [seconds(lambda: run(warm, "-I", "-c", "import pytest")) for _ in range(5)]
    assert min(warm_times) < min(cold_times)
