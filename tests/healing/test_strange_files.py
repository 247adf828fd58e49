"""Files of a folder that a stranger wrote, named to each command: links out of it, FIFOs, devices and sockets."""

from __future__ import annotations

import io
import json
import math
import os
import socket
import time
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import pytest

from agents.batch.entries import heal_content, read_entries
from agents.errors import UsageError
from agents.healing.request import open_case, resolved
from agents.healing.request import tests_case as case_of_tests
from agents.records.heal import HealRequest
from agents.sandbox import open_sandbox
from agents.spec import read_modules
from agents.storage.user_file import read_user_file
from agents.worktree.tree import read_tree

from ..support.commands import greenloop
from ..support.heals import Heals

KEY = "def f():\n    return 'private key'\n"
TESTS = "from user_code import f\n\n\ndef test_f():\n    assert f()\n"


@pytest.fixture
def strange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a link to a private key of the user's, below whose home it lies, a FIFO and a device."""
    (tmp_path / "key.py").write_text(KEY)
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "id.py").write_text(KEY)
    folder = tmp_path / "strange"
    folder.mkdir()
    (folder / "link.py").symlink_to(tmp_path / "key.py")
    (folder / "linked").symlink_to(tmp_path / "private")
    os.mkfifo(folder / "fifo.py")
    (folder / "zero.py").symlink_to("/dev/zero")
    (folder / "s.py").write_text("print(1)\n")
    (folder / "inside.py").symlink_to("s.py")
    monkeypatch.chdir(folder)
    assert (folder / "link.py").read_text() == KEY  # what an ordinary reader gets
    return folder


def test_a_tree_has_the_regular_files_and_says_which_it_leaves_out(strange: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.py")
        tree = read_tree(strange, [], {})
    assert tree.files == {"s.py": b"print(1)\n", "inside.py": b"print(1)\n"}
    assert tree.left_out == {"link.py", "fifo.py", "zero.py", "socket.py", "linked"}


def test_a_link_to_a_secret_of_the_folder_is_a_secret(strange: Path) -> None:
    (strange / ".env").write_text("KEY=1")
    (strange / "notes.txt").symlink_to(".env")
    assert "notes.txt" not in read_tree(strange, [], {}).files


@pytest.mark.parametrize("name", ["x\n--- a/s.py\n+++ b/s.py", "s\u202eyp.py", os.fsdecode(b"\xff.py")])
def test_a_file_whose_name_can_not_be_shown_never_changes(strange: Path, name: str) -> None:
    (strange / name).parent.mkdir(parents=True, exist_ok=True)
    for path in ("named.py", name):
        (strange / path).write_text("x = 1\n")
    request = resolved(HealRequest(path="s.py", may_change=("*.py",)))
    with closing(open_sandbox("none")) as sandbox:
        assert set(open_case(request, sandbox, {}, lambda: False).files) == {"s.py", "named.py", "inside.py"}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"seconds": math.inf}, "wall_seconds has to be"),
        ({"seconds": math.nan}, "seconds can't be nan"),
        ({"seconds": -1}, "wall_seconds has to be"),
        ({"path": "x" * 5000}, "There is no script"),
        ({"expect": b"x"}, "give a text"),
        ({"arguments": "abc"}, "give a tuple of texts"),
        ({"arguments": ("\udcff",)}, "give a tuple of texts"),
    ],
)
def test_a_request_that_no_heal_fits_is_refused_before_a_model_is_asked(
    strange: Path, values: dict[str, Any], said: str
) -> None:
    with closing(open_sandbox("none")) as sandbox, pytest.raises(UsageError, match=said):
        open_case(resolved(HealRequest(**{"path": "s.py", **values})), sandbox, {}, lambda: False)


@pytest.mark.parametrize(
    ("name", "text", "taken"),
    [
        ("README.md", "# A title\n\nIt's text.\n", False),
        ("NOTES", "It's text.\n", False),
        ("broken.py", "def f(:\n", True),
        ("tool", "#!/usr/bin/env python3\ndef f(:\n", True),
        ("tool.cgi", "print(1)\n", True),
    ],
)
def test_a_file_that_is_no_python_is_refused(strange: Path, name: str, text: str, taken: bool) -> None:
    (strange / name).write_text(text)
    refused = nullcontext() if taken else pytest.raises(UsageError, match="is no Python")
    with closing(open_sandbox("none")) as sandbox, refused:
        open_case(resolved(HealRequest(path=name)), sandbox, {}, lambda: False)


@pytest.mark.parametrize("name", ["link.py", "fifo.py", "zero.py"])
@pytest.mark.parametrize("home", [False, True])
def test_a_script_that_is_no_file_of_its_folder_is_refused(
    heals: Heals,
    strange: Path,
    name: str,
    home: bool,
) -> None:
    heals.folder = strange.parent if home else strange
    assert heals.run(f"strange/{name}" if home else name, "--expect", "1") == 2
    assert heals.requests == []
    assert "private key" not in heals.error + json.dumps(heals.document)


def test_data_that_leads_out_of_the_folder_is_refused(heals: Heals, strange: Path) -> None:
    heals.folder = strange
    outside = strange.parent / "downloads"
    outside.mkdir()
    (outside / "rows.csv").symlink_to(strange.parent / "key.py")
    for data in ("link.py", "linked", str(outside), str(outside / "rows.csv")):
        assert heals.run("s.py", "--data", data, "--expect", "1") == 2
        assert "link out of" in heals.document["error"]["message"], data
    for pipe in ("fifo.py", "/dev/zero"):
        assert heals.run("s.py", "--stdin", pipe, "--expect", "1") == 2
        assert "no regular file" in heals.document["error"]["message"], pipe
    assert heals.requests == []


def test_a_function_of_a_file_that_is_a_link_out_of_its_project_is_refused(strange: Path) -> None:
    (strange / "test_s.py").write_text(TESTS)
    request = resolved(HealRequest(path="link.py::f", tests=("test_s.py",)))
    with closing(open_sandbox("none")) as sandbox, pytest.raises(UsageError, match="link out of"):
        case_of_tests(request, sandbox, lambda: False)


@pytest.mark.parametrize("name", ["link.py", "fifo.py", "zero.py"])
def test_what_a_heal_of_a_batch_names_is_read_as_a_file_or_not_at_all(strange: Path, name: str) -> None:
    empty = heal_content(HealRequest(path=str(strange / name)))
    (strange / name).unlink()
    (strange / name).write_text("")
    assert heal_content(HealRequest(path=str(strange / name))) == empty
    (strange / name).write_text(KEY)
    assert heal_content(HealRequest(path=str(strange / name))) != empty


@pytest.mark.parametrize("name", ["link.py", "fifo.py", "zero.py"])
def test_verify_reads_regular_files(strange: Path, name: str) -> None:
    (strange / "tests.py").write_text(TESTS)
    for given in (("verify", name, "tests.py"), ("verify", "s.py", name), ("verify-pairs", name)):
        done = greenloop(strange, *given, seconds=60)
        assert done.returncode == 2
        assert "link out of" in done.stderr or "no regular file" in done.stderr, done.stderr
    (strange / "pairs.jsonl").write_text("")
    done = greenloop(strange, "verify-pairs", "pairs.jsonl", "--out", name, seconds=60)
    assert done.returncode == 2
    assert (strange.parent / "key.py").read_text() == KEY
    if name == "link.py":  # the control: a file that is opened by its name
        (strange / name).write_text("verdicts")
        assert (strange.parent / "key.py").read_text() == "verdicts"


@pytest.mark.parametrize("option", ["--tests", "--with", "--answers", "--file", "--into"])
@pytest.mark.parametrize("name", ["link.py", "fifo.py", "zero.py"])
def test_options_of_a_run_name_regular_files(strange: Path, option: str, name: str) -> None:
    spec = [] if option == "--file" else ["Implement f(x: int) -> int that doubles. f(1) == 2"]
    done = greenloop(strange, *spec, option, name, "--model", "recorded:none", seconds=60)
    assert done.returncode == 2, done.stderr
    assert "link" in done.stderr or "no regular file" in done.stderr or "is no file" in done.stderr, done.stderr
    assert "private key" not in done.stderr + done.stdout
    assert not list(strange.glob("work_dir/runs/*"))


def test_modules_behind_links_are_refused_or_left_out(strange: Path) -> None:
    with pytest.raises(UsageError, match="link out of"):
        read_modules([Path("linked")])
    package = strange / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "link.py").symlink_to(strange.parent / "key.py")
    os.mkfifo(package / "fifo.py")
    [module] = read_modules([package])
    assert (set(module.files), set(module.left_out)) == (
        {"package/__init__.py"},
        {"package/fifo.py", "package/link.py"},
    )


def test_a_file_behind_a_linked_folder_is_not_written_into(strange: Path) -> None:
    with pytest.raises(UsageError, match="link out of"):
        read_user_file(Path("linked/id.py"))


def test_specs_behind_links_are_bad_entries(strange: Path) -> None:
    specs = strange / "specs"
    (specs / "more").mkdir(parents=True)
    (specs / "a.md").write_text("Implement f(x: int) -> int.")
    (specs / "more" / "b.md").write_text("Implement g(x: int) -> int.")
    (specs / "link.md").symlink_to(strange.parent / "key.py")
    (specs / "near.md").symlink_to("more/b.md")
    os.mkfifo(specs / "fifo.md")
    os.chdir(strange.parent)  # the user's home, below which the key lies too
    for named in ("strange/specs", "strange/specs/*.md", "strange/specs/**/*.md"):
        found = {Path(entry.where).name: entry for entry in read_entries([named], io.StringIO())}
        assert "link out of" in str(found["link.md"].error)
        assert found["a.md"].error is None
        assert "fifo.md" not in found or "no regular file" in str(found["fifo.md"].error)


def test_linked_folders_are_not_gone_through_again_and_again(strange: Path) -> None:
    """Two links to the folder itself are 2 ** 40 paths to a search that follows them."""
    (strange / "again").symlink_to(".")
    (strange / "and-again").symlink_to(".")
    (strange / "a.md").write_text("Implement f(x: int) -> int.")
    began = time.monotonic()
    found = read_entries(["**/a.md"], io.StringIO())
    assert time.monotonic() - began < 10
    assert [entry.where for entry in found] == ["a.md"]
    assert "a.md" in read_tree(strange, [], {}).files


def test_a_line_without_end_is_not_read_whole(strange: Path) -> None:
    with (strange / "specs.csv").open("wb") as file:
        file.write(b"spec\n")
        file.truncate(1 << 33)  # takes no room on the disk
    began = time.monotonic()
    [entry] = read_entries(["specs.csv"], io.StringIO())
    assert entry.error is not None
    assert time.monotonic() - began < 20
