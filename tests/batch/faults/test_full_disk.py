"""A disk that fills up under a batch: it says so in one sentence, and goes on where there is room again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from ...support.commands import QUICKSORT, REPLAYS, ROOT, environment
from .orphans import linux_only
from .provider import provider_process
from .sittings import Sittings

pytestmark = pytest.mark.thorough

SIZE = 32 * 2**20
"""Bytes of the small disk; what the batch leaves is well below."""
ROOMS = (0, 48 * 1024, 512 * 1024)
"""Bytes free: not enough for a journal, for the first entry, for all entries."""


@dataclass(frozen=True)
class SmallDisk:
    """A tmpfs at `path`, in the mount namespace of the process `holder` alone."""

    path: Path
    holder: int

    @property
    def seen(self) -> Path:
        """Where this process reaches it."""
        return Path(f"/proc/{self.holder}/root{self.path}")

    def command(self) -> tuple[str, ...]:
        """The beginning of a command line that runs there, as this user."""
        enter = ("nsenter", f"--target={self.holder}", f"--wd={self.path.parent}", "--mount")
        if os.geteuid() == 0:
            return enter
        own = ("unshare", "--user", f"--map-user={os.geteuid()}", f"--map-group={os.getegid()}")
        return (*enter, "--user", "--preserve-credentials", *own)

    def leave(self, room: int) -> None:
        """Fill it up, but for `room` bytes."""
        ballast = self.seen / "ballast"
        ballast.unlink(missing_ok=True)
        free = shutil.disk_usage(self.seen).free
        with ballast.open("wb") as file:
            file.write(b"\0" * max(0, free - room))

    def empty(self) -> None:
        (self.seen / "ballast").unlink()


@contextmanager
def small_disk(path: Path) -> Iterator[SmallDisk]:
    """A disk of SIZE bytes at `path` while the body runs; skips where this user can't have one."""
    path.mkdir()
    mount = f'mount -t tmpfs -o size={SIZE} tmpfs "$0" && echo mounted && exec cat'
    user = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    with subprocess.Popen(
        ["unshare", "--mount", *user, "sh", "-c", mount, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stderr is not None
        try:
            if holder.stdout.readline() != "mounted\n":
                pytest.skip(f"this user can't mount a small disk: {holder.stderr.read().strip()}")
            yield SmallDisk(path, holder.pid)
        finally:
            holder.kill()


@linux_only
@pytest.mark.skipif(not (shutil.which("unshare") and shutil.which("nsenter")), reason="needs util-linux")
@pytest.mark.timeout(900)
def test_a_batch_on_a_full_disk_says_so_and_goes_on_where_there_is_room(tmp_path: Path) -> None:
    with provider_process(tmp_path / "log.jsonl") as served, small_disk(tmp_path / "out") as disk:
        batch = Sittings(tmp_path, served, count=6, jobs=2, before=disk.command())
        for room in ROOMS:
            disk.leave(room)
            full = batch.captured()
            said = full.stdout + full.stderr
            assert full.returncode not in (0, 130), said
            (sentence,) = (line for line in full.stderr.splitlines() if line.startswith("greenloop: "))
            assert "full" in sentence or "No space left on device" in sentence
        assert served.answered(), "the disk was full before anything was done"
        disk.empty()
        again = batch.captured()
        assert again.returncode == 1, again.stdout + again.stderr  # the tasks called `slip` are contested
        shutil.copytree(disk.seen, batch.out, dirs_exist_ok=True)
        batch.require_all_as_expected()


@linux_only
@pytest.mark.skipif(not (shutil.which("unshare") and shutil.which("nsenter")), reason="needs util-linux")
@pytest.mark.parametrize("room", [4096, 8192, 12288])
def test_a_run_whose_beginning_fills_the_disk_ends_in_a_sentence(tmp_path: Path, room: int) -> None:
    with small_disk(tmp_path / "out") as disk:
        disk.leave(room)
        model = ("--model", f"recorded:{REPLAYS}", "--work-dir", str(disk.path))
        command = [*disk.command(), sys.executable, str(ROOT / "main.py"), QUICKSORT, *model, "--json"]
        ended = subprocess.run(command, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True)
    assert "Traceback" not in ended.stderr, ended.stderr
    error = json.loads(ended.stdout)["error"]["message"] if ended.stdout else ended.stderr
    assert "No space left on device" in error
    assert ended.returncode != 0
