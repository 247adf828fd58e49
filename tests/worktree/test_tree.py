"""A tree: what of a folder goes along into the sandbox."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from agents.worktree.links import behind_links
from agents.worktree.tree import files_below, never_changes, packages_of, read_tree

IGNORED = {
    "src/pkg/version.py": True,
    "src/pkg/_speed.cpython-311-x86_64-linux-gnu.so": True,
    "src/pkg/data/table.csv": True,
    "src/pkg/data/deep/model.json": True,
    "src/pkg.egg-info/entry_points.txt": True,
    "src/pkg/.env": False,
    "src/pkg/client_secret.json": False,
    "src/pkg/local.toml": False,
    "src/pkg/key.pem": False,
    "src/pkg/notes.log": False,
    "src/pkg/__pycache__/version.cpython-311.pyc": False,
    "src/pkg/build/lib/pkg/version.py": False,
    "src/pkg/.cache/table.json": False,
    "src/pkg/venv/pyvenv.cfg": False,
    "src/pkg/venv/lib/x.py": False,
    "build/lib/pkg/version.py": False,
    "src/pkg/core/__init__.py": False,
    "tests/conftest.py": False,
    "tests/cases.json": True,
    "credentials.json": False,
    "settings.py": False,
}
"""Files that git ignores, and whether they are the project's as it runs."""
BEHIND = ("__init__.py", "deep/a.py")
TESTS = ("tests/__init__.py", "tests/test_a.py")


def test_of_ignored_files_those_in_packages_that_python_could_import_or_read_go_along(tmp_path: Path) -> None:
    for path in (*IGNORED, "src/pkg/__init__.py", "src/pkg/data/__init__.py", "src/pkg/core.py", *TESTS):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x = 1\n")
    (tmp_path / ".gitignore").write_text("\n".join(f"/{path}" for path in IGNORED))
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    found = read_tree(tmp_path, [], {})
    assert {path: path in found.files for path in IGNORED} == IGNORED
    assert {"src/pkg/__init__.py", "src/pkg/core.py", *TESTS} <= {*found.files}
    assert packages_of(found) == {"pkg"}


def test_a_link_in_a_package_to_a_file_outside_does_not_go_along(tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg" / "__init__.py").write_text("")
    (tmp_path / "outside.json").write_text("{}")
    (root / "pkg" / "made.json").symlink_to(tmp_path / "outside.json")
    (root / ".gitignore").write_text("*.json\n")
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    assert "pkg/made.json" not in read_tree(root, [], {}).files


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_a_folder_that_may_not_be_read_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("x = 1\n")
    (tmp_path / "database").mkdir(mode=0)
    assert list(read_tree(tmp_path, [], {}).files) == ["code.py"]


def test_files_of_tests_are_known_by_their_names_and_folders() -> None:
    of_tests = ["tests.py", "pkg/tests.py", "test/data.csv", "testing/helper.py", "unittests/utility.py"]
    of_tests += ["integration_tests/server.py", "pkg/conftest.py", "pkg/test_a.py"]
    of_code = ["pkg/testing/helper.py", "contest/a.py", "pkg/latest.py", "pkg/test.py", "pkg/attests/a.py"]
    assert [path for path in (*of_tests, *of_code) if never_changes(path)] == of_tests


def test_folders_without_end_are_looked_into_for_a_while(tmp_path: Path) -> None:
    """Git is asked once a level: 900 of them took a minute."""
    folder = tmp_path.joinpath(*["d"] * 300)
    folder.mkdir(parents=True)
    (folder / "a.py").touch()
    (tmp_path / "d" / "b.py").touch()
    asked: list[list[str]] = []

    def nothing(paths: list[str]) -> set[str]:
        asked.append(paths)
        return set()

    assert list(files_below(tmp_path, nothing)) == ["d/b.py"]
    assert len(asked) < 50


@pytest.mark.parametrize("repository", [True, False])
def test_what_lies_behind_a_link_to_a_folder_goes_along(tmp_path: Path, repository: bool) -> None:
    """Python imports the package, and not the module beside it."""
    (tmp_path / "other" / "deep").mkdir(parents=True)
    for path in ("s.py", "other/__init__.py", "other/deep/a.py", "others.py"):
        (tmp_path / path).write_text(f"# {path}\n")
    for name, target in (("s", "again"), ("again", "./other"), ("other/up", ".."), ("out", "/usr"), ("o", "oth")):
        (tmp_path / name).symlink_to(target)
    if repository:
        subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    files = read_tree(tmp_path, [], {}).files
    folders = ("other", "s", "again")
    assert {*files} == {"s.py", "others.py", *(f"{each}/{path}" for each in folders for path in BEHIND)}
    assert files["s/deep/a.py"] == b"# other/deep/a.py\n"


def test_links_to_each_other_are_looked_through_in_little_time() -> None:
    files = [*(f"d/{number}.py" for number in range(20_000)), *(f"d{number}" for number in range(20_000))]
    began = time.monotonic()
    assert len(behind_links({f"d/l{number}": "../d" for number in range(20_000)}, files)) <= 20_000
    assert time.monotonic() - began < 5
