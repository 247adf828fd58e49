"""What `heal --apply` writes and `--undo` takes back, whatever ends the process."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agents.errors import StorageFailed, UsageError
from agents.healing.apply import open_targets, undo, write
from agents.records.heal import WrittenFile
from agents.storage.user_file import UserFile
from agents.worktree.tree import Tree

from ..support.commands import RECORDED_ON, REPLAYS, ROOT, environment
from ..support.killed import copied, killed
from ..support.pipes import a_plain_read_waits

NEW = {"a.py": "A = 2\n", "b.py": "B = 2\n"}


@RECORDED_ON
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    "points", [pytest.param(8, marks=pytest.mark.thorough), pytest.param(50, marks=pytest.mark.slow)]
)
def test_a_heal_that_is_killed_at_any_point_can_be_undone(tmp_path: Path, points: int) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    script = readme[readme.index("## Heal\n") :].split("```python\n")[1].split("```")[0]
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "report.py").write_text(script)
    options = ["report.py", "--expect", "total: 6", "--model", f"recorded:{REPLAYS}", "--apply", "--quiet"]
    options += ["--require", "contested"]
    ended = subprocess.run(
        [sys.executable, "-m", "tests.support.killed", str(folder), str(points), "heal", *options],
        cwd=ROOT,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert len({each["at"] for each in told}) == points
    assert not [each for each in told if each["patched now"]]
    for each in told:
        said = each["said"] or "nothing to undo"
        assert "Undone" in said if each["patched"] else "As it was before" in said or "nothing to undo" in said, (
            each
        )
    assert sum(each["patched"] for each in told) > points // 10


def two_files(folder: Path) -> Path:
    folder.mkdir()
    for name in NEW:
        (folder / name).write_text(f"{name[0].upper()} = 1\n")
    return folder


def opened(folder: Path) -> dict[str, UserFile]:
    """Both files, to be written."""
    tree = Tree(folder, {name: (folder / name).read_bytes() for name in NEW})
    return open_targets(tree, list(NEW), force=True)


def kept_in(folder: Path) -> tuple[WrittenFile, ...]:
    """What `apply` has recorded."""
    record = folder / "record.json"
    return tuple(WrittenFile(*each) for each in json.loads(record.read_text())) if record.exists() else ()


def apply(folder: Path) -> None:
    """Write both files, with a record beside them."""

    def keep(written: tuple[WrittenFile, ...]) -> None:
        rows = [[each.file, each.backup, each.digest, each.before] for each in written]
        (folder / "record.new").write_text(json.dumps(rows))
        (folder / "record.new").rename(folder / "record.json")

    write(opened(folder), NEW, keep)


def test_of_two_files_none_is_lost_wherever_it_is_killed(tmp_path: Path) -> None:
    folder = two_files(tmp_path / "two")
    _, (total, _) = killed(whole := copied(folder, 0), lambda: apply(whole))
    assert {name: (whole / name).read_text() for name in NEW} == NEW
    patched = []
    for number in range(1, total + 1):
        each = copied(folder, number)
        assert killed(each, lambda each=each: apply(each), number)[1] == []  # type: ignore[misc]
        patched.append([(each / name).read_text() == text for name, text in NEW.items()])
        undo(kept_in(each), each, "")
        assert {name: (each / name).read_text() for name in NEW} == {"a.py": "A = 1\n", "b.py": "B = 1\n"}
    assert [True, False] in patched


def apply_and_record_after(folder: Path) -> None:
    """Write both files, and record them when that is done."""
    written: list[WrittenFile] = []
    write(opened(folder), NEW, written.extend)
    rows = [[each.file, each.backup, each.digest, each.before] for each in written]
    (folder / "record.json").write_text(json.dumps(rows))


def test_a_record_written_after_the_files_would_lose_them(tmp_path: Path) -> None:
    folder = two_files(tmp_path / "two")
    _, (total, _) = killed(whole := copied(folder, 0), lambda: apply_and_record_after(whole))
    lost = 0
    for number in range(1, total + 1):
        each = copied(folder, number)
        killed(each, lambda each=each: apply_and_record_after(each), number)  # type: ignore[misc]
        if not kept_in(each):
            lost += any((each / name).read_text() == text for name, text in NEW.items())
    assert lost > 0, "the control: without the record first there is nothing to undo by"


def full(folder: Path) -> None:
    """Apply where the disk has no room for the second file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def keep(written: tuple[WrittenFile, ...]) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
        print("kept", len(written))  # noqa: T201

    new = {"a.py": "A = 2\n", "b.py": "B = 2  # longer\n"}
    try:
        write(opened(folder), new, keep)
    except StorageFailed as error:
        print(error)  # noqa: T201
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_leaves_both_files_as_they_were(tmp_path: Path) -> None:
    folder = two_files(tmp_path / "two")
    said, ended = killed(folder, lambda: full(folder))
    assert ended
    first, last, error = said.splitlines()
    assert (first, last) == ("kept 2", "kept 0")
    assert "b.py can't be written (File too large)" in error
    assert {name: (folder / name).read_text() for name in NEW} == {"a.py": "A = 1\n", "b.py": "B = 1\n"}


def test_a_file_that_is_edited_between_two_writes_stays_and_the_other_is_taken_back(tmp_path: Path) -> None:
    folder = two_files(tmp_path / "two")
    told: list[int] = []

    def keep(written: tuple[WrittenFile, ...]) -> None:
        told.append(len(written))
        (folder / "b.py").write_text("B = 7\n")

    with pytest.raises(UsageError, match="was changed"):
        write(opened(folder), NEW, keep)
    assert {name: (folder / name).read_text() for name in NEW} == {"a.py": "A = 1\n", "b.py": "B = 7\n"}
    assert told == [2, 0]


def test_a_file_that_is_another_one_than_was_run_is_not_written(tmp_path: Path) -> None:
    folder = two_files(tmp_path / "two")
    tree = Tree(folder, {"a.py": b"A = 1\n", "b.py": b"B = 3\n"})
    with pytest.raises(UsageError, match=r"b\.py is not what is run"):
        open_targets(tree, list(NEW), force=True)


def test_a_backup_takes_the_place_of_nothing(tmp_path: Path) -> None:
    folder = two_files(tmp_path / "two")
    (folder / "a.py.heal-backup").symlink_to("nowhere")
    (folder / "b.py.heal-backup").mkdir()
    write(opened(folder), NEW, lambda _: None)
    assert (folder / "a.py.heal-backup").is_symlink()
    assert {each.read_text() for each in folder.glob("*.heal-backup.2")} == {"A = 1\n", "B = 1\n"}


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def planted(file: Path, backup: Path, now: bytes = b"MINE = 1\n", earlier: bytes = b"THEIRS = 1\n") -> WrittenFile:
    """What a strange record says of a file of the user's, whose bytes its maker knows."""
    for path, data in ((file, now), (backup, earlier)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return WrittenFile(str(file), str(backup), digest(now), digest(earlier))


def test_undo_writes_to_no_file_outside_of_the_folder_that_it_is_run_in(tmp_path: Path) -> None:
    victim = tmp_path / "home" / "mine.py"
    record = planted(victim, victim.with_name("mine.py.heal-backup"))
    with pytest.raises(UsageError, match="lies outside of"):
        undo([record], two_files(tmp_path / "strange"), str(victim))
    assert victim.read_text() == "MINE = 1\n"
    assert undo([record], victim.parent, str(victim)) == [str(victim)]  # the control: only the folder stops it
    assert victim.read_text() == "THEIRS = 1\n"


@pytest.mark.parametrize("name", ["link.py", "folder/mine.py"])
def test_undo_follows_no_link(tmp_path: Path, name: str) -> None:
    folder, victim = two_files(tmp_path / "strange"), tmp_path / "home" / "mine.py"
    planted(victim, victim.with_name("mine.py.heal-backup"))
    (folder / "link.py").symlink_to(victim)
    (folder / "folder").symlink_to(victim.parent)
    (folder / "link.py.heal-backup").write_bytes(b"THEIRS = 1\n")
    file = folder / name
    record = WrittenFile(str(file), f"{file}.heal-backup", digest(victim.read_bytes()), digest(b"THEIRS = 1\n"))
    assert file.read_text() == "MINE = 1\n"  # the control: opened plainly, it is the file elsewhere
    with pytest.raises(UsageError):
        undo([record], folder, str(file))
    assert victim.read_text() == "MINE = 1\n"
    assert (folder / "link.py").is_symlink()


@pytest.mark.parametrize(
    "backup", ["work_dir/runs/x/mine.py.heal-backup", "b.py", "mine.py.heal-backup.x", "away"]
)
def test_undo_takes_bytes_from_a_backup_beside_the_file_alone(tmp_path: Path, backup: str) -> None:
    folder = tmp_path / "strange"
    record = planted(folder / "mine.py", folder / backup)
    with pytest.raises(UsageError, match="no backup that a heal keeps"):
        undo([record], folder, "")
    assert (folder / "mine.py").read_text() == "MINE = 1\n"
    (folder / backup).rename(beside := folder / "mine.py.heal-backup.2")
    assert undo([replace(record, backup=str(beside))], folder, "")  # the control


def test_undo_writes_python_files_and_what_was_healed_alone(tmp_path: Path) -> None:
    folder = tmp_path / "strange"
    record = planted(folder / ".bashrc", folder / ".bashrc.heal-backup")
    with pytest.raises(UsageError, match="no backup that a heal keeps"):
        undo([record], folder, str(folder / "s.py"))
    assert undo([record], folder, str(folder / ".bashrc"))  # as if it was the script that was healed


def test_what_was_changed_since_stays_and_a_backup_that_was_is_not_written(tmp_path: Path) -> None:
    record = planted(tmp_path / "mine.py", tmp_path / "mine.py.heal-backup")
    (tmp_path / "mine.py.heal-backup").write_text("OTHER = 1\n")
    with pytest.raises(UsageError, match="changed since the heal"):
        undo([record], tmp_path, "")
    (tmp_path / "mine.py").write_text("EDITED = 1\n")
    with pytest.raises(UsageError, match="its bytes before the heal are in"):
        undo([record], tmp_path, "")
    assert (tmp_path / "mine.py").read_text() == "EDITED = 1\n"


def test_a_fifo_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    record = planted(tmp_path / "mine.py", tmp_path / "mine.py.heal-backup")
    (tmp_path / "mine.py").unlink()
    os.mkfifo(tmp_path / "mine.py")
    assert a_plain_read_waits(tmp_path / "mine.py")
    with pytest.raises(UsageError, match="no regular file"):
        undo([record], tmp_path, "")
