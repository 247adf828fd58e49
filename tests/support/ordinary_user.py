"""Runs a program on greenloop as an ordinary user, where the tests run as root: root's own Python may lie where
nobody else may go, so it takes one that everybody can run, with the packages that are wanted copied for it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

from agents.sandbox.host.limits import spare_uid

PACKAGE = Path(__file__).parents[2] / "agents"


def told_by_ordinary_user(
    program: str, arguments: Sequence[str] = (), given: object = None, packages: Sequence[str] = ()
) -> Any:
    """Return what `program` writes to standard output as JSON; it imports `agents` and `packages` (pure Python
    ones), and finds `given` as JSON on standard input. Skips where the tests have no root rights or no
    Python for it."""
    if os.geteuid() != 0:
        pytest.skip("the tests run as an ordinary user already")
    python = next((path for path in (sys.executable, "/usr/bin/python3") if for_everybody(path)), None)
    if python is None:
        pytest.skip("no Python 3.11 or newer that an ordinary user can run")
    user = spare_uid()
    with tempfile.TemporaryDirectory(prefix="greenloop-user-") as directory:
        place = Path(directory)
        place.chmod(0o755)
        home = place / "home"
        home.mkdir()
        os.chown(home, user, user)
        site = _environment(python, place / "environment")
        shutil.copytree(PACKAGE, site / "agents", ignore=shutil.ignore_patterns("__pycache__"))
        for name in packages:
            _copy_package(name, site)
        done = subprocess.run(
            [place / "environment/bin/python", "-I", "-B", "-c", program, *arguments],
            env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
            cwd=home,
            user=user,
            group=user,
            extra_groups=[],
            input=json.dumps(given).encode(),
            capture_output=True,
            timeout=170,
        )
        assert done.returncode == 0, done.stderr.decode()
        assert list(home.iterdir()) == []
    return json.loads(done.stdout)


def for_everybody(python: str) -> bool:
    """Return True if it is new enough and other users may run it."""
    path = Path(python)
    if not path.exists() or not all(parent.stat().st_mode & 0o001 for parent in path.resolve().parents):
        return False
    version = [python, "-I", "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
    return subprocess.run(version).returncode == 0


def _environment(python: str, path: Path) -> Path:
    """An empty virtual environment; its site-packages."""
    made = subprocess.run([python, "-I", "-m", "venv", "--without-pip", path], capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(f"{python} makes no virtual environment: {made.stderr.strip()}")
    return next(path.glob("lib/python*/site-packages"))


def _copy_package(name: str, site: Path) -> None:
    for file in distribution(name).files or ():
        if ".." not in file.parts and "__pycache__" not in file.parts:
            target = site / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(Path(str(file.locate())), target)
