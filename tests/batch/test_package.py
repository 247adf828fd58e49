"""A batch as one package: importable, tested by plain pytest, and never over files of the user's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agents.batch.package import MANIFEST, _write, check_package, with_imports
from agents.errors import UsageError

from ..support.commands import greenloop
from ..support.provider import Provider, serving
from .adders import KEY
from .chains import OPTIONS, ChainWriter, write_chain

pytestmark = pytest.mark.timeout(600)


def run(directory: Path, provider: Provider) -> dict[str, Any]:
    options = ("--out", "out", "--package", "chain", "--api-base", provider.api_base, *OPTIONS, "--json")
    ended = greenloop(directory, "batch", "specs", *options, extra=KEY, seconds=300)
    document: dict[str, Any] = json.loads(ended.stdout)
    return document


@pytest.mark.thorough
def test_five_specs_become_a_package_that_plain_pytest_runs(tmp_path: Path) -> None:
    write_chain(tmp_path, 5)
    writer = ChainWriter()
    with serving() as provider:
        provider.script(writer)
        document = run(tmp_path, provider)
        assert document["exit_code"] == 0, document["error"]
        assert document["package"]["modules"] == [f"link_{number}" for number in range(5)]
        folder = tmp_path / "chain"
        assert (folder / "chain/link_1.py").read_text().startswith("from .link_0 import link_0\n")
        tests = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        assert tests.returncode == 0, tests.stdout
        assert "5 passed" in tests.stdout
        used = [sys.executable, "-c", "import chain; print(chain.link_4(1), chain.__all__)"]
        shown = subprocess.run(used, cwd=folder, capture_output=True, text=True)
        assert shown.stdout.startswith("5 ['link_0'")
        assert run(tmp_path, provider)["exit_code"] == 0, "what greenloop wrote it may write again"
        (folder / "chain/link_2.py").write_text("mine = 1\n")
        refused = run(tmp_path, provider)
        assert refused["exit_code"] == 2
        assert "was edited since" in refused["error"]["message"]
        assert (folder / "chain/link_2.py").read_text() == "mine = 1\n"


def test_what_fell_short_is_left_out_and_named(tmp_path: Path) -> None:
    write_chain(tmp_path, 2)
    writer = ChainWriter()
    writer.wrong.add(1)
    with serving() as provider:
        provider.script(writer)
        document = run(tmp_path, provider)
    assert document["exit_code"] == 1
    assert (document["package"]["modules"], document["package"]["left_out"]) == (["link_0"], ["link-1"])
    assert not (tmp_path / "chain/chain/link_1.py").exists()


@pytest.mark.parametrize("manifest", [None, "[]", '{"files": {"../mine.py": []}}'])
def test_a_folder_with_files_of_the_users_is_refused_before_anything_runs(
    tmp_path: Path, manifest: str | None
) -> None:
    write_chain(tmp_path, 1)
    (tmp_path / "chain").mkdir()
    (tmp_path / "chain/mine.py").write_text("X = 1\n")
    if manifest is not None:
        (tmp_path / "chain" / MANIFEST).write_text(manifest)
    ended = greenloop(tmp_path, "batch", "specs", "--out", "out", "--package", "chain", "--model", "recorded:none")
    assert ended.returncode == 2
    assert "has files that are not greenloop's" in " ".join(ended.stderr.split())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "from shapes import (\n    Box,\n    area as size,\n)\nX = 1",
            "from mine.shapes import Box, area as size\nX = 1",
        ),
        ("from shapes.round import Ball", "from mine.shapes.round import Ball"),
        ("from .shapes import Box", "from .shapes import Box"),
        ("from other import shapes", "from other import shapes"),
        (
            "def f():\n    import os, shapes as s",
            'def f():\n    import os; s = __import__("importlib").import_module("mine.shapes")',
        ),
    ],
)
def test_imports_of_modules_that_moved_follow_them(before: str, after: str) -> None:
    assert with_imports(before, {"shapes": "mine.shapes"}) == after


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        *(json.dumps({"files": {name: ["x"]}}) for name in ("a\0", "a\ud800", ".", "a" * 3000, "../a")),
    ],
)
def test_a_manifest_that_names_what_no_package_has_is_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(UsageError, match=r"choose another --package|choose an empty folder|is not text"):
        check_package(tmp_path)


def test_a_folder_that_a_kill_left_half_written_is_gone_on_with(tmp_path: Path) -> None:
    _write(tmp_path, {"a.py": "X = 1\n", "b.py": "Y = 1\n"})
    _write(tmp_path, {"a.py": "X = 2\n", "b.py": "Y = 2\n", "c.py": ""})
    (tmp_path / "b.py").write_text("Y = 1\n")
    (tmp_path / "c.py").unlink()
    check_package(tmp_path)
    (tmp_path / "b.py").write_text("Y = 3\n")
    with pytest.raises(UsageError, match="was edited since"):
        check_package(tmp_path)
