"""The contract of `interface.py`, on every backend of this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

import agents
from agents.errors import SandboxBroken
from agents.sandbox import Ended, Job, Sandbox, SandboxLimits
from agents.sandbox.backends.bubblewrap import Bubblewrap

from ..support.sandboxes import ISOLATING, BackendName, open_or_skip

SLEEP = "import time; time.sleep(60)"


def run(sandbox: Sandbox, code: str, *, limits: SandboxLimits | None = None, stdin: bytes = b"") -> Ended:
    job = Job(["-I", "-c", code], limits=limits or SandboxLimits(), stdin=stdin)
    with sandbox.launch(job) as running:
        return running.wait()


def test_a_program_ends_with_its_exit_code_and_output(sandbox: Sandbox) -> None:
    ended = run(sandbox, "import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)")
    assert (ended.exit_code, ended.stdout, ended.stderr) == (7, b"out\n", b"err\n")
    assert ended.stopped is None
    assert ended.seconds > 0


def test_a_signal_is_a_negative_exit_code(sandbox: Sandbox) -> None:
    assert run(sandbox, "import os; os.abort()").exit_code == -signal.SIGABRT


def test_files_appear_read_only_and_the_working_directory_is_empty_and_writable(sandbox: Sandbox) -> None:
    code = (
        b"import os, sys\n"
        b"here = os.path.dirname(__file__)\n"
        b"print(sys.argv[1:], os.listdir('.'), open(os.path.join(here, 'deep', 'data')).read())\n"
        b"open('mine', 'w').write('x')\n"
    )
    job = Job(["-I", "/src/main.py", "an argument"], {"main.py": code, "deep/data": b"content"})
    with sandbox.launch(job) as running:
        ended = running.wait()
    assert (ended.stdout, ended.stderr) == (b"['an argument'] [] content\n", b"")


def test_a_place_is_an_empty_writable_folder_or_the_program_is_told_that_there_is_none(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    (tmp_path / "of the machine").write_text("x")
    code = (
        "import os, sys\nplace, box = sys.argv[1:]\nif box != '/box/case':\n    print('none')\nelse:\n"
        "    print(os.listdir(place))\n    open(place + '/mine', 'w').write('x')\n"
    )
    job = Job(["-I", "-c", code, str(tmp_path), "/box/case"], place=str(tmp_path))
    with sandbox.launch(job) as running:
        ended = running.wait()
    assert ended.stdout in (b"[]\n", b"none\n"), ended
    assert ended.stdout == b"[]\n" or sandbox.name != "bubblewrap"
    assert [path.name for path in tmp_path.iterdir()] == ["of the machine"]


def test_no_environment_is_inherited(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVIDER_API_KEY", "secret")
    names = run(sandbox, "import os; print(*sorted(os.environ))").stdout.decode().split()
    threads = {"MKL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"}
    assert set(names) <= {"HOME", "LANG", "LC_CTYPE", "PATH", "PWD", "TMPDIR"} | threads


def test_standard_input_is_fed_and_may_be_left_unread(sandbox: Sandbox) -> None:
    data = b"x" * 300_000
    assert run(sandbox, "import sys; print(len(sys.stdin.buffer.read()))", stdin=data).stdout == b"300000\n"
    assert run(sandbox, "print('done')", stdin=data).stdout == b"done\n"


def test_pytest_can_be_imported(sandbox: Sandbox) -> None:
    assert run(sandbox, "import pytest; print('there')").stdout == b"there\n"


def test_no_descriptor_but_the_channels_is_inherited(sandbox: Sandbox) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        code = (
            "import os\nfor n in range(3, 200):\n    try:\n        os.fstat(n); print(n)\n    except OSError: pass"
        )
        with sandbox.launch(Job(["-I", "-c", code], channels=[theirs.fileno()])) as running:
            assert running.wait().stdout.split() == [str(theirs.fileno()).encode()]


def test_a_channel_carries_both_ways_and_ends_with_the_job(sandbox: Sandbox) -> None:
    ours, theirs = socket.socketpair()
    with ours:
        number = theirs.fileno()
        code = f"import os; os.write({number}, os.read({number}, 100).upper())"
        with theirs, sandbox.launch(Job(["-I", "-c", code], channels=[number])) as running:
            ours.sendall(b"hello")
            ours.settimeout(10)
            assert ours.recv(100) == b"HELLO"
            theirs.close()
            assert running.wait().exit_code == 0
        assert ours.recv(100) == b""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("limit", "limits", "code"),
    [
        ("wall", SandboxLimits(wall_seconds=0.3), SLEEP),
        ("cpu", SandboxLimits(cpu_seconds=1, wall_seconds=30), "while True: pass"),
        (
            "cpu",
            SandboxLimits(cpu_seconds=1, wall_seconds=30),
            "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass",
        ),
        ("output", SandboxLimits(output_bytes=100_000), "while True: print('x' * 1000)"),
        (
            "memory",
            SandboxLimits(memory_bytes=200 << 20),
            "import os, time\nfor _ in range(3):\n    if os.fork() == 0: break\n"
            "block = b'x' * (100 << 20)\ntime.sleep(20)",
        ),
        (
            "processes",
            SandboxLimits(processes=8),
            "import os, time\nfor _ in range(20):\n    try:\n        if os.fork() == 0: break\n"
            "    except OSError: pass\ntime.sleep(20)",
        ),
        (
            "disk",
            SandboxLimits(disk_bytes=8 << 20, wall_seconds=30),
            "import time\nfor n in range(6):\n    open(str(n), 'wb').write(bytes(4 << 20))\n    time.sleep(0.1)",
        ),
        (
            "file_size",
            SandboxLimits(file_bytes=1 << 20),
            "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
            "open('big', 'wb').write(bytes(2 << 20))",
        ),
    ],
    ids=["wall", "cpu", "cpu-ignored", "output", "memory", "processes", "disk", "file_size"],
)
def test_an_overrun_limit_is_named_with_its_figures(
    sandbox: Sandbox, limit: str, limits: SandboxLimits, code: str
) -> None:
    ended = run(sandbox, code, limits=limits)
    assert ended.stopped is not None, ended
    assert ended.stopped.limit == limit
    assert ended.stopped.value >= ended.stopped.allowed > 0
    assert ended.exit_code is None


def test_one_allocation_above_the_limit_fails_inside(sandbox: Sandbox) -> None:
    ended = run(sandbox, "bytearray(1 << 30)", limits=SandboxLimits(memory_bytes=256 << 20))
    assert b"MemoryError" in ended.stderr


def test_kept_output_is_cut_at_a_megabyte_a_stream(sandbox: Sandbox) -> None:
    ended = run(sandbox, "import sys\nprint('x' * 3_000_000)\nsys.stderr.write('y' * 10)")
    assert (len(ended.stdout), ended.stderr, ended.stopped) == (1 << 20, b"y" * 10, None)


def test_waiting_can_be_given_up_and_taken_up_again(sandbox: Sandbox) -> None:
    with sandbox.launch(Job(["-I", "-c", SLEEP])) as running:
        with pytest.raises(TimeoutError):
            running.wait(0.05)
        running.kill()
        assert running.wait().exit_code is None


def test_killing_ends_a_job_at_any_moment(sandbox: Sandbox) -> None:
    for delay in (0, 0.002, 0.005, 0.01, 0.02, 0.04, 0.08):
        with sandbox.launch(Job(["-I", "-c", SLEEP])) as running:
            time.sleep(delay)
            begun = time.monotonic()
            running.kill()
            assert time.monotonic() - begun < 4
            assert running.wait().stopped is None


def test_a_limit_ends_the_job_although_nobody_waits(sandbox: Sandbox) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        job = Job(["-I", "-c", SLEEP], limits=SandboxLimits(wall_seconds=0.2), channels=[theirs.fileno()])
        with sandbox.launch(job):
            theirs.close()
            ours.settimeout(10)
            assert ours.recv(1) == b""


def test_jobs_of_several_threads_do_not_disturb_each_other(sandbox: Sandbox) -> None:
    def answer(number: int) -> bytes:
        return run(sandbox, f"print({number})").stdout

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(answer, range(18))) == [f"{number}\n".encode() for number in range(18)]


def test_a_job_outlives_the_thread_that_launched_it(sandbox: Sandbox) -> None:
    launched = []
    job = Job(["-I", "-c", "import time; time.sleep(0.3); print('done')"])
    thread = threading.Thread(target=lambda: launched.append(sandbox.launch(job)))
    thread.start()
    thread.join()
    with launched[0] as running:
        assert running.wait().stdout == b"done\n"


def traces() -> tuple[set[str], list[str], str, set[str]]:
    """Open descriptors, child processes, mounts and temporary directories of this process."""
    children: list[str] = []
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a thread that has just ended
            children += (task / "children").read_text().split()
    # Containers of other tests are mounted and unmounted meanwhile.
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    mounts = "\n".join(line for line in lines if "containers" not in line and "netns" not in line)
    directories = {path.name for path in Path(tempfile.gettempdir()).glob(f"greenloop-{os.getpid()}-*")}
    return set(os.listdir("/proc/self/fd")), children, mounts, directories  # noqa: PTH208 - names alone


def test_nothing_is_left_behind(sandbox: Sandbox) -> None:
    run(sandbox, "pass")
    before = traces()
    daemon = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(60)\n"
    for _ in range(6):
        run(sandbox, "open('file', 'w').write('x'); import os; os.mkdir('closed', 0)")
        run(sandbox, daemon)
        run(sandbox, SLEEP, limits=SandboxLimits(wall_seconds=0.05))
        with sandbox.launch(Job(["-I", "-c", SLEEP])):
            pass
    descriptors, children, mounts, directories = traces()
    # What was there before may have gone meanwhile: other tests' threads end when they end.
    assert (descriptors - before[0], set(children) - set(before[1])) == (set(), set())
    assert (mounts, directories - before[3]) == (before[2], set())


def test_folders_too_deep_for_a_path_are_measured_and_removed(sandbox: Sandbox) -> None:
    before = traces()[3]
    deep = "import os, time\nfor _ in range(20):\n    os.mkdir('x' * 250); os.chdir('x' * 250)\n"
    assert run(sandbox, deep).exit_code == 0
    fill = "for n in range(6):\n    open(str(n), 'wb').write(bytes(4 << 20))\n    time.sleep(0.1)"
    ended = run(sandbox, deep + fill, limits=SandboxLimits(disk_bytes=8 << 20))
    assert ended.stopped is not None, ended
    assert ended.stopped.limit == "disk"
    assert traces()[3] <= before


@pytest.mark.parametrize("name", ISOLATING)
def test_a_job_cannot_speak_for_the_process_that_reports_its_end(name: BackendName) -> None:
    code = (
        "import os\n"
        "for path in ('/proc/1/mem', '/proc/1/task/1/mem', *(f'/proc/1/fd/{n}' for n in range(64))):\n"
        "    try: os.close(os.open(path, os.O_RDWR)); print('reached', path)\n"
        "    except OSError: pass\n"
        "try: os.kill(1, 9)\nexcept OSError: pass\n"
        "raise SystemExit(3)"
    )
    with closing(open_or_skip(name)) as opened:
        ended = run(opened, code)
    assert (ended.stdout, ended.stderr, ended.exit_code) == (b"", b"", 3)


@pytest.mark.parametrize("name", ISOLATING)
def test_a_job_does_not_see_where_greenloop_is_installed(name: BackendName) -> None:
    code = (
        "import glob, os, sys\n"
        "print(sys.path, sys.argv, sys.orig_argv, os.getcwd(), [m for m in map(repr, sys.modules.values())])\n"
        "frame = sys._getframe()\n"
        "while frame: print(frame.f_code.co_filename); frame = frame.f_back\n"
        "for path in (*glob.glob('/proc/*/cmdline'), *glob.glob('/proc/*/environ'), '/proc/self/mountinfo'):\n"
        "    try: print(path, open(path).read())\n"
        "    except OSError: pass"
    )
    with closing(open_or_skip(name)) as opened:
        ended = run(opened, code)
    assert ended.exit_code == 0, ended
    assert str(Path(agents.__file__).parent) not in ended.stdout.decode()


def test_a_sandbox_that_fails_is_not_a_failing_program(tmp_path: Path) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    with (
        Bubblewrap(str(program)).launch(Job(["-c", ""])) as running,
        pytest.raises(SandboxBroken, match="No perm"),
    ):
        running.wait()
