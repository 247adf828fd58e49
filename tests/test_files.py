"""Files of a strange folder: what is opened, and what is refused with a sentence."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from agents.errors import SandboxUnavailable, UsageError
from agents.files import (
    contained,
    find_program,
    forget_relative_path,
    lines_of,
    open_regular,
    opened_folder,
    read_regular,
)
from agents.sandbox.backends.bubblewrap import Bubblewrap
from agents.storage.atomic import write_atomically

from .support.commands import ROOT


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "secret").write_text("key")
    found = tmp_path / "folder"
    found.mkdir()
    monkeypatch.chdir(found)
    return found


def test_a_file_is_read(folder: Path) -> None:
    (folder / "a").write_text("12345")
    assert read_regular(Path("a")) == b"12345"
    assert read_regular(folder / "a", most=2) == b"12"


def test_a_link_that_stays_in_the_folder_is_followed(folder: Path) -> None:
    (folder / "a").write_text("1")
    (folder / "b").symlink_to("a")
    assert read_regular(Path("b")) == b"1"


@pytest.mark.parametrize("link", ["../secret", "absolute"])
def test_a_link_out_of_the_folder_is_refused(folder: Path, link: str) -> None:
    (folder / "a").symlink_to(folder.parent / "secret" if link == "absolute" else link)
    assert (folder / "a").read_bytes() == b"key"  # what an ordinary reader gets
    with pytest.raises(UsageError, match="a link out of"):
        read_regular(Path("a"))
    with pytest.raises(UsageError, match="a link out of"):
        read_regular(folder / "a")


def test_a_file_behind_a_linked_folder_is_refused(folder: Path) -> None:
    (folder / "sub").symlink_to(folder.parent)
    with pytest.raises(UsageError, match="a link out of"):
        read_regular(Path("sub/secret"))


def test_a_folder_above_the_named_one_may_be_a_link(folder: Path, tmp_path: Path) -> None:
    (folder / "a").write_text("1")
    (tmp_path / "linked").symlink_to(folder)
    os.chdir(tmp_path.anchor)
    assert read_regular(tmp_path / "linked" / "a") == b"1"


@contextmanager
def swapped(one: Path, other: Path) -> Iterator[None]:
    """Give two entries each other's names, again and again."""
    exchange = (
        "import ctypes, os, sys\n"
        "libc, names = ctypes.CDLL(None), [os.fsencode(each) for each in sys.argv[1:]]\n"
        "while os.getppid() != 1: libc.renameat2(-100, names[0], -100, names[1], 2)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", exchange, one, other], cwd=ROOT)
    try:
        yield
    finally:
        process.kill()
        process.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="names are exchanged by a system call of Linux")
@pytest.mark.parametrize("use", [read_regular, lambda path, root: write_atomically(path, "evil", root)])
def test_a_folder_that_becomes_a_link_between_check_and_use_leads_nowhere(
    folder: Path, tmp_path: Path, use: Callable[[Path, Path], bytes | None]
) -> None:
    """The control: by its path the secret is reached."""
    private, below = tmp_path / "private", folder / "below"
    private.mkdir()
    below.mkdir()
    (private / "a").write_text("secret")
    (below / "a").write_text("theirs")
    (folder / "link").symlink_to(private)
    with swapped(below, folder / "link"):
        while (below / "a").read_text() != "secret":
            pass
        for _ in range(8000):
            with suppress(UsageError, OSError):
                assert use(below / "a", folder) != b"secret"
            assert (private / "a").read_text() == "secret"


def test_a_fifo_is_refused_and_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    with pytest.raises(UsageError, match="no regular file"):
        read_regular(Path("pipe"))


def test_a_loop_of_links_is_refused(folder: Path) -> None:
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")
    with pytest.raises((UsageError, OSError), match=r"; check its name and its links\.|Too many levels"):
        read_regular(Path("a"))


def test_a_folder_and_a_missing_file_are_errors_of_the_system(folder: Path) -> None:
    with pytest.raises(IsADirectoryError):
        read_regular(folder)
    with pytest.raises(FileNotFoundError):
        read_regular(Path("missing"))


def test_a_new_file_is_the_users_alone(folder: Path) -> None:
    os.close(open_regular(Path("new"), flags=os.O_RDWR | os.O_CREAT))
    assert (folder / "new").stat().st_mode & 0o077 == 0
    assert contained(Path("missing")) == folder.resolve() / "missing"


def test_a_file_or_a_line_without_end_is_not_read_whole(folder: Path) -> None:
    with (folder / "a").open("wb") as file:
        file.write(b"one\n")
        file.truncate(1 << 36)  # takes no room on the disk
    assert read_regular(Path("a"), most=3) == b"one"
    with pytest.raises(UsageError, match="longer than 64 MiB"):
        read_regular(Path("a"))
    with (folder / "a").open("rb") as file:
        lines = lines_of(file)
        assert next(lines) == b"one\n"
        with pytest.raises(UsageError, match="longer than 64 MiB"):
            next(lines)


def test_no_library_finds_a_program_of_the_working_directory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("xdg-open", "chromium"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f".:bin::{folder}")
    assert shutil.which("chromium") == "./chromium"
    forget_relative_path()
    assert (shutil.which("chromium"), shutil.which("xdg-open")) == (None, None)


def test_a_working_directory_that_is_gone_is_one_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (gone := folder / "gone").mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    program = [sys.executable, str(ROOT / "main.py"), "show"]
    ended = subprocess.run(program, capture_output=True, text=True)
    monkeypatch.chdir(folder)
    assert ended.returncode == 2
    assert ended.stderr == "greenloop: The working directory is gone; change into one that exists.\n"


def test_a_program_is_looked_for_by_absolute_paths_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (folder, folder / "bin", folder.parent):
        place.mkdir(exist_ok=True)
        (place / "bwrap").write_text("#!/bin/sh\n")
        (place / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", f".:bin::{folder.parent}")
    assert shutil.which("bwrap") == "./bwrap"  # what any other search finds
    assert find_program("bwrap") == str(folder.parent / "bwrap")
    monkeypatch.setenv("PATH", ".:bin:")
    assert find_program("bwrap") is None
    with pytest.raises(SandboxUnavailable, match="bubblewrap is not installed"):
        Bubblewrap()


def test_an_error_of_a_descriptor_in_an_opened_folder_is_the_systems(folder: Path) -> None:
    with pytest.raises(OSError, match="Bad file descriptor") as raised, opened_folder(folder):
        os.chmod(1 << 20, 0o600)  # noqa: PTH101 - by its number
    assert raised.value.filename == str(folder)
