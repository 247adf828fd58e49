"""A file of the user's: read as it is, refused with a reason, replaced in one step or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agents.errors import StorageFailed, UsageError
from agents.storage.user_file import read_user_file

BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (BOM + b"X = 1\r\nY = 2\n", "X = 1\r\nY = 2\n"),
        (b"# coding: latin-1\nX = '\xe9'\r", "# coding: latin-1\nX = 'é'\r"),
        (b"", ""),
    ],
)
def test_a_file_is_written_as_it_was_read(tmp_path: Path, data: bytes, text: str) -> None:
    path = tmp_path / "mine.py"
    path.write_bytes(data)
    path.chmod(0o750)
    file = read_user_file(path)
    assert file.text == text
    kept = file.replace(f"{text}#\r\n", tmp_path / "run" / "mine.py")
    assert path.read_bytes() == data + b"#\r\n"
    assert path.stat().st_mode & 0o777 == 0o750
    assert kept.read_bytes() == data
    assert [each.name for each in tmp_path.iterdir() if each.name != "run"] == ["mine.py"]


def test_an_earlier_backup_stays(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    for number in range(3):
        path.write_text(f"X = {number}\n")
        read_user_file(path).replace("X = None\n", tmp_path / "run" / "mine.py")
    kept = {each.name: each.read_text() for each in (tmp_path / "run").iterdir()}
    assert kept == {"mine.py": "X = 0\n", "mine.py.2": "X = 1\n", "mine.py.3": "X = 2\n"}


def test_a_file_that_changed_meanwhile_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("X = 1\n")
    file = read_user_file(path)
    path.write_text("X = 2\n")
    with pytest.raises(UsageError, match="was changed"):
        file.replace("X = 3\n", tmp_path / "kept.py")
    assert path.read_text() == "X = 2\n"
    path.unlink()
    with pytest.raises(UsageError, match="was changed"):
        file.check_unchanged()
    (tmp_path / "other.py").write_text("X = 1\n")
    path.symlink_to("other.py")
    with pytest.raises(UsageError, match="was changed"):
        file.check_unchanged()


def test_what_its_encoding_cannot_hold_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_bytes(b"# coding: latin-1\n")
    with pytest.raises(UsageError, match="iso-8859-1, which can't hold '→'"):
        read_user_file(path).replace("# coding: latin-1\nX = '→'\n", tmp_path / "kept.py")
    assert path.read_bytes() == b"# coding: latin-1\n"


def test_where_no_backup_can_be_kept_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("X = 1\n")
    (tmp_path / "run").write_text("no folder")
    with pytest.raises(StorageFailed, match="can't be written"):
        read_user_file(path).replace("X = 2\n", tmp_path / "run" / "mine.py")
    assert path.read_text() == "X = 1\n"


def test_a_file_that_cannot_be_written_later_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    with pytest.raises(UsageError, match="can't be read"):
        read_user_file(path)
    with pytest.raises(UsageError, match="is no file; name one"):
        read_user_file(tmp_path)
    path.write_text("X = 1\n")
    (tmp_path / "link.py").symlink_to(path)
    with pytest.raises(UsageError, match="a symbolic link"):
        read_user_file(tmp_path / "link.py")
    path.chmod(0o444)
    with pytest.raises(UsageError, match="read-only"):
        read_user_file(path)
    path.chmod(0o644)
    os.link(path, tmp_path / "same.py")
    with pytest.raises(UsageError, match="several names"):
        read_user_file(path)


@pytest.mark.parametrize(
    "data", [b"def broken(:", b"X = '\xff'", b"# coding: nonsense\n", b"X = '\0'", b"\x89PNG\r\n\x1a\n"]
)
def test_what_is_no_python_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "mine.py"
    path.write_bytes(data)
    with pytest.raises(UsageError, match="is no Python"):
        read_user_file(path)
