"""A project beside which greenloop itself is installed editable: its modules are out of the sandbox's reach."""

from __future__ import annotations

import json
import venv
from importlib.metadata import distribution
from pathlib import Path

import pytest

from ..support.commands import greenloop

TESTS = """\
import pytest
from m import f

@pytest.mark.heal(target="m.f")
def test_f():
    assert f() == 1
"""
INI = """\
[tool.pytest.ini_options]
addopts = "--strict-markers --strict-config --heal"
heal_may_change = ["*.py"]
"""


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """A Python with the entry point of greenloop's plugin, and no greenloop that it could import."""
    place = tmp_path / "environment"
    venv.create(place, symlinks=True)
    (site,) = place.glob("lib/python*/site-packages")
    (site / "here.pth").write_text(str(distribution("pytest").locate_file("")))
    information = site / "greenloop-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: greenloop\nVersion: 1\n")
    (information / "entry_points.txt").write_text("[pytest11]\ngreenloop = greenloop.healing.pytest_plugin\n")
    return place / "bin" / "python"


def test_its_plugin_is_left_out_and_its_names_are_known(tmp_path: Path, python: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "m.py").write_text("def f():\n    return 1\n")
    (project / "test_m.py").write_text(TESTS)
    (project / "pyproject.toml").write_text(INI)
    options = (str(project), "--python", str(python), "--seconds", "60", "--json")
    ended = greenloop(tmp_path, "audit", *options)
    report = json.loads(ended.stdout)
    assert ended.returncode == 0, ended.stdout
    assert [test["status"] for test in report["tests"]] == ["counts"]
