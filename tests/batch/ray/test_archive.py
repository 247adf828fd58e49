from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from agents.batch.ray.archive import MOST_BYTES, ArchiveRefused, pack, unpack


def folder(path: Path, **files: str) -> Path:
    for name, text in files.items():
        target = path / name.replace("__", "/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return path


def contents(path: Path) -> dict[str, str]:
    return {each.relative_to(path).as_posix(): each.read_text() for each in path.rglob("*") if each.is_file()}


def archive(name: str, kind: bytes = tarfile.REGTYPE, size: int = 0) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as made:
        member = tarfile.TarInfo(name)
        member.type, member.size, member.linkname = kind, size, "/etc/passwd"
        made.addfile(member, io.BytesIO(b"x" * size))
    return buffer.getvalue()


def test_a_folder_arrives_as_it_was_sent(tmp_path: Path) -> None:
    sent = folder(tmp_path / "sent", code="a", replies__model__key="b")
    unpack(pack(sent), tmp_path / "deep" / "arrived")
    assert contents(tmp_path / "deep" / "arrived") == {"code": "a", "replies/model/key": "b"}


def test_what_is_there_is_replaced_file_by_file_and_the_rest_stays(tmp_path: Path) -> None:
    there = folder(tmp_path / "there", code="old", own="mine")
    unpack(pack(folder(tmp_path / "sent", code="new")), there)
    assert contents(there) == {"code": "new", "own": "mine"}
    assert {path.name for path in tmp_path.iterdir()} == {"there", "sent"}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("../escaped", tarfile.REGTYPE),
        ("/escaped", tarfile.REGTYPE),
        ("a/../../escaped", tarfile.REGTYPE),
        ("link", tarfile.SYMTYPE),
        ("link", tarfile.LNKTYPE),
        ("pipe", tarfile.FIFOTYPE),
    ],
)
def test_only_plain_files_below_the_folder_are_taken(tmp_path: Path, name: str, kind: bytes) -> None:
    with pytest.raises(ArchiveRefused, match="no plain file"):
        unpack(archive(name, kind), tmp_path / "in" / "arrived")
    assert list((tmp_path / "in").iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == {"in"}


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    with pytest.raises(ArchiveRefused, match="64 MiB"):
        unpack(archive("large", size=MOST_BYTES + 1), tmp_path / "arrived")
    assert not (tmp_path / "arrived").exists()


@pytest.mark.parametrize("damage", [slice(0, 20), slice(20, None), slice(0, 0)])
def test_a_damaged_parcel_is_refused(tmp_path: Path, damage: slice) -> None:
    with pytest.raises(ArchiveRefused, match="damaged"):
        unpack(pack(folder(tmp_path / "sent", code="a" * 999))[damage], tmp_path / "arrived")


def test_links_stay_at_home(tmp_path: Path) -> None:
    sent = folder(tmp_path / "sent", code="a")
    (sent / "link").symlink_to("/etc/passwd")
    unpack(pack(sent), tmp_path / "arrived")
    assert contents(tmp_path / "arrived") == {"code": "a"}
