"""What pip installs: all files of the package, and a command that works in an empty directory."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Literal

import pytest
import yaml

from .support.commands import QUICKSORT, REPLAYS, environment
from .support.installed import install

ROOT = Path(__file__).parent.parent


@pytest.mark.thorough
@pytest.mark.parametrize("form", ["wheel", "sdist"])
def test_what_is_installed_runs_the_main_job_in_an_empty_directory(
    form: Literal["wheel", "sdist"], tmp_path: Path
) -> None:
    if form == "sdist" and not all(map(importlib.util.find_spec, ("build", "twine"))):
        pytest.skip("build or twine is not installed: pip install -r requirements-dev.txt")
    empty = tmp_path / "empty"
    empty.mkdir()
    program = install(tmp_path, form).with_name("greenloop")
    python = program.with_name("python")

    def greenloop(*arguments: str) -> subprocess.CompletedProcess[str]:
        code = "import sys; from greenloop.cli import main; sys.exit(main())"
        return subprocess.run(
            [python, "-c", code, *arguments],
            cwd=empty,
            env=environment(empty),
            capture_output=True,
            text=True,
            timeout=150,
        )

    done = greenloop(QUICKSORT, "--model", f"recorded:{REPLAYS}", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["grade"] == "consensus"
    assert "def quicksort" in (empty / "work_dir" / "user_code.py").read_text(encoding="utf-8")
    assert greenloop("--version").stdout.strip().endswith(_version())
    helped = greenloop("help", "sandbox", "build")
    assert (helped.returncode, "--packages" in helped.stdout) == (0, True)
    unknown = greenloop("help", "nonsense")
    assert (unknown.returncode, unknown.stderr.count("\n")) == (2, 1)
    completing = greenloop("--install-completion", "--shell", "bash")
    assert completing.returncode == 0, completing.stderr
    assert list(empty.rglob("completions/greenloop"))


def _version() -> str:
    import agents

    return agents.__version__


def test_the_version_stands_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "greenloop.__version__"}
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert "version" not in citation
    assert f"## {_version()}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_file_that_is_no_module_is_shipped() -> None:
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"][
        "package-data"
    ]
    for file in (ROOT / "agents").rglob("*"):
        if file.is_file() and file.suffix not in (".py", ".pyc"):
            package = ".".join(["greenloop", *file.parent.relative_to(ROOT / "agents").parts])
            assert any(fnmatch(file.name, pattern) for pattern in data.get(package, ())), file


def test_every_folder_with_modules_is_a_package() -> None:
    for module in (ROOT / "agents").rglob("*.py"):
        assert (module.parent / "__init__.py").is_file(), module
