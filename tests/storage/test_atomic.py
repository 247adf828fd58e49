from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agents.storage.atomic import write_atomically


def test_a_write_that_is_killed_leaves_the_old_text(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    write_atomically(path, "old")
    code = (
        "import os, sys; from pathlib import Path; from agents.storage.atomic import write_atomically\n"
        "os.fsync = lambda handle: os._exit(9)\n"
        "write_atomically(Path(sys.argv[1]), 'new' * 100000)"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(path)])
    assert ended.returncode == 9
    assert path.read_text() == "old"


def test_a_write_that_fails_leaves_no_temporary_file(tmp_path: Path) -> None:
    (tmp_path / "file.txt").mkdir()
    with pytest.raises(OSError, match=r"file\.txt"):
        write_atomically(tmp_path / "file.txt", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["file.txt"]
