"""Runs jobs, one at a time, each in a fork: from before the project's tests are collected (cold), or after (warm).

A server reads jobs from its channel, a line of JSON each, and writes the records of the fork, a line each, and a
last one with `done`. Processes and files that a fork leaves are removed before the next one begins.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import select
import shutil
import signal
import socket
import sys
import tarfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from .suite_start import START

Job = dict[str, Any]
Emit = Callable[[dict[str, Any]], None]
State = dict[str, tuple[int, int, int]]
adopt_orphans: Callable[[], None] = importlib.import_module(f"{__package__}.kernel").adopt_orphans
tree: Callable[[int], list[int]] = importlib.import_module(f"{__package__}.processes").tree
"""Functions of agents/sandbox/inside, whose files lie beside this one in the sandbox."""
_MOST_RECORDS = 48 << 20
_SWEEP_SECONDS = 5.0
_TICK = 0.05
_MOST_TICKS = 20
"""Waits for the end of a fork that has closed its channel."""


def main() -> None:
    """Import pytest and serve cold jobs; the first of them, `collect`, starts the server of warm ones."""
    here, _, cold, warm, place = sys.argv[1:]
    channels = [socket.socket(fileno=int(each)) for each in (cold, warm)]
    for channel in channels:
        channel.set_inheritable(False)
    output = os.open(str(Path.home() / "output"), os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    task = json.loads(Path(here, "task.json").read_text(encoding="utf-8"))
    sys.path[0] = place
    importlib.import_module("pytest")
    from _pytest.config import default_plugins

    for name in default_plugins:
        importlib.import_module(f"_pytest.{name}")
    for source, target in ((nowhere, 0), (output, 1), (output, 2)):  # after the imports, whose errors go to stderr
        os.dup2(source, target)
    from .suite_session import SuiteSession

    def run(job: Job, emit: Emit) -> None:
        if job["outside"]:
            emit({"answers": _answers_outside(here, place, task["lent"], job["asked"])})
            return
        for path, text in job["files"].items():
            Path(place, path).write_bytes(text.encode("latin-1"))
        changed = {f"{place}/{path}" for path in job["files"]}
        if any(getattr(module, "__file__", None) in changed for module in list(sys.modules.values())):
            _forget_packages()
        session = SuiteSession(place, task, job, emit)
        if job["collect"]:
            channels[0].close()
            session.serve = Server(channels[1], place, here, output).serve
            sys.dont_write_bytecode = False  # else later cold jobs spend half of their time on compiling
        try:
            code = session.main(importlib.import_module("pytest").main)
        except SystemExit as error:
            code = 0 if error.code is None else error.code if isinstance(error.code, int) else 1
        except Exception:  # hooks of a conftest.py that this pytest refuses
            traceback.print_exc()
            code = 1
        if job["exits"]:
            atexit._run_exitfuncs()
        os.lseek(output, 0, os.SEEK_SET)
        emit({"exit_code": code, "output": os.read(output, 1 << 16).decode("utf-8", "replace")[-4000:]})

    Server(channels[0], place, here, output).serve(run)


def _answers_outside(here: str, place: str, lent: str, asked: list[list[str]]) -> object:
    """Return the answers to calls from a new process without pytest."""
    calls, told = (Path.home() / name for name in ("calls.json", "answers.json"))
    calls.write_text(json.dumps(asked), encoding="utf-8")
    start = [sys.executable, "-B", "-c", START.format("answers"), here, lent, str(calls), str(told), place]
    os.waitpid(os.posix_spawn(sys.executable, start, os.environ), 0)
    return json.loads(told.read_text(encoding="utf-8"))


def _forget_packages() -> None:
    """Drop pytest and its packages from `sys.modules`, to import them again: the project is one of them."""
    library = os.path.dirname(os.__file__) + os.sep  # noqa: PTH120 - a module's file is a text, too
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None) or library
        of_library = path.startswith(library) and "site-packages" not in path
        if not of_library and name.partition(".")[0] not in ("__main__", __package__):
            del sys.modules[name]


class Server:
    """Serves one channel."""

    def __init__(self, channel: socket.socket, place: str, here: str, output: int) -> None:
        self._channel = channel
        self._place = place
        self._here = here
        self._output = output
        self._kept: set[int] = set()
        """The server of warm jobs, which outlives the job that started it."""

    def serve(self, run: Callable[[Job, Emit], None]) -> None:
        """Run a fork for each job until the channel is closed; never returns."""
        adopt_orphans()
        with self._channel.makefile("rb") as lines:
            for line in lines:
                job = json.loads(line)
                before = self._state()
                with suppress(OSError):
                    os.ftruncate(self._output, 0)
                reading, writing = os.pipe()
                pid = os.fork()
                if pid == 0:
                    os.close(reading)
                    self._run(run, job, writing)
                os.close(writing)
                ended = self._relay(pid, reading, job)
                os.close(reading)
                if ended == "ready":
                    self._kept.add(pid)
                else:
                    with suppress(OSError):  # it may have been reaped
                        os.kill(pid, signal.SIGKILL)
                        os.waitpid(pid, 0)
                    self._sweep()
                after = self._state()
                lost = {path for path, seen in before.items() if after.get(path) != seen}
                if lost and not job["files"]:  # a job with new files has rewritten these itself
                    self._tell({"rewritten": list(self._rewritten(lost))})
                if ended != "ready":
                    self._restore(before, after, lost)
                self._tell({"done": ended})
        os._exit(0)

    def _run(self, run: Callable[[Job, Emit], None], job: Job, writing: int) -> None:
        """Run a job in this process, a fork; never returns."""
        code = 1
        try:
            os.setpgid(0, 0)
            if not job["collect"]:
                self._channel.close()

            def emit(record: dict[str, Any]) -> None:
                data = json.dumps(record).encode() + b"\n"
                while data:
                    data = data[os.write(writing, data) :]

            run(job, emit)
            emit({"end": True})
            code = 0
        finally:
            os._exit(code)

    def _relay(self, pid: int, reading: int, job: Job) -> str:
        """Relay the fork's records until its end or a timeout. Return how it ended."""
        left = _MOST_RECORDS
        deadline = time.monotonic() + job["seconds"]
        most = job["most"] or job["seconds"]
        last = deadline  # no test has begun before the first record
        begun = b""
        gone = False
        while time.monotonic() < min(deadline, last + most) and left > 0:
            if not select.select([reading], [], [], 0 if gone else _TICK)[0]:
                if gone:
                    return "died"
                gone = self._has_died(pid)
                continue
            data = os.read(reading, 1 << 16)
            if not data:
                for _ in range(_MOST_TICKS):
                    if gone or self._has_died(pid):
                        break
                    time.sleep(_TICK)
                return "died"
            left -= len(data)
            last = time.monotonic()
            *whole, begun = (begun + data).split(b"\n")
            for line in whole:
                if line == b'{"end": true}':
                    return "ended"
                self._channel.sendall(line + b"\n")
                if job["collect"] and line.startswith(b'{"ready"'):
                    return "ready"
        return "too much" if left <= 0 else "late" if time.monotonic() < deadline else "over"

    def _has_died(self, pid: int) -> bool:
        """Return True if a fork has ended by itself; send its exit code then."""
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            self._tell({"exit_code": os.waitstatus_to_exitcode(status)})
        return ended == pid

    def _tell(self, record: dict[str, Any]) -> None:
        self._channel.sendall(json.dumps(record).encode() + b"\n")

    # --- after a job ---------------------------------------------------------------------------------------

    def _sweep(self) -> None:
        """Kill and reap every descendant but the server of warm jobs."""
        own = os.getpid()
        deadline = time.monotonic() + _SWEEP_SECONDS
        while (pids := tree(own)[1:]) and time.monotonic() < deadline:
            kept = {each for server in self._kept for each in tree(server)}
            for pid in pids:
                if pid not in kept:
                    with suppress(OSError):
                        os.kill(pid, signal.SIGKILL)
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    continue
            except ChildProcessError:
                return
            if not {*tree(own)[1:]} - kept:
                return
            time.sleep(0.001)

    def _state(self) -> State:
        """Return inode, size and ctime (which no program can set) of each file that a job could write: those of
        the project and of the folders for temporary files."""
        found: State = {}
        pending = [self._place, os.environ.get("TMPDIR", "/tmp"), "/dev/shm", os.environ["HOME"]]
        devices = {path: os.lstat(path).st_dev for path in pending if Path(path).is_dir()}
        for top, device in devices.items():
            below = [top]
            while below:
                folder = below.pop()
                with suppress(OSError), os.scandir(folder) as entries:
                    for entry in entries:
                        seen = entry.stat(follow_symlinks=False)
                        # Jobs can't write to another file system mounted below, such as a virtual environment.
                        if seen.st_dev != device or entry.path in devices:
                            continue
                        is_folder = entry.is_dir(follow_symlinks=False)
                        found[entry.path] = (seen.st_ino, 0, 0) if is_folder else (
                            seen.st_ino, seen.st_size, seen.st_ctime_ns
                        )  # fmt: skip
                        if is_folder:
                            below.append(entry.path)
        return found

    def _rewritten(self, lost: set[str]) -> Iterator[str]:
        """Yield those of the `lost` files of the archive that are Python or have other contents."""
        with tarfile.open(f"{self._here}/tree.tar") as archive:
            for member in archive:
                path = Path(self._place, member.name)
                if str(path) in lost:
                    data = archive.extractfile(member)
                    is_same = path.suffix != ".py" and path.is_file() and not path.is_symlink()
                    if not (is_same and data is not None and path.read_bytes() == data.read()):
                        yield member.name

    def _restore(self, before: State, after: State, lost: set[str]) -> None:
        """Remove new files; restore changed and missing ones from the archive."""
        new = [path for path, seen in after.items() if before.get(path) != seen]
        for path in sorted(new, key=len, reverse=True):
            with suppress(OSError):
                if not Path(path).is_dir() or Path(path).is_symlink():
                    Path(path).unlink()
                elif path not in before or before[path][2]:  # new, or a file before
                    shutil.rmtree(path)
        if lost:
            with tarfile.open(f"{self._here}/tree.tar") as archive:
                for member in archive:
                    if f"{self._place}/{member.name}" in lost:
                        with suppress(OSError):
                            archive.extract(member, self._place)
