"""greenloop as pip installs it: a wheel of this checkout, in an environment that was empty before."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import site
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from .commands import ROOT

_INSIDE = ("pytest", "hypothesis")
"""What jobs import: in the sandbox only the environment itself is there."""
_OLDEST_SETUPTOOLS = 77


def install(directory: Path, form: Literal["wheel", "sdist"] = "wheel") -> Path:
    """Build the wheel, or the sdist and a wheel of that, and install it below `directory`; the Python that has it.
    The other libraries are those of this environment. Skips the test where it can't build."""
    if int(importlib.metadata.version("setuptools").split(".")[0]) < _OLDEST_SETUPTOOLS:
        pytest.skip(f"building needs setuptools {_OLDEST_SETUPTOOLS}: pip install -r requirements-dev.txt")
    checkout, environment = directory / "checkout", directory / "environment"
    shutil.copytree(ROOT / "agents", checkout / "agents", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, checkout)
    venv.create(environment, with_pip=False)
    packages = next(environment.glob("lib/python*/site-packages"))
    offline = ["--quiet", "--no-deps", "--no-index"]
    source = checkout
    if form == "sdist":
        _python("build", "--sdist", "--no-isolation", "--outdir", str(directory), str(checkout))
        source = next(directory.glob("*.tar.gz"))
        _python("twine", "check", "--strict", str(source))
    _python("pip", "wheel", *offline, "--no-build-isolation", "--wheel-dir", str(directory), str(source))
    _python("pip", "install", *offline, "--target", str(packages), str(next(directory.glob("*.whl"))))
    (packages / "others.pth").write_text("\n".join([*site.getsitepackages(), ""]), encoding="utf-8")
    for name in {each for wanted in _INSIDE for each in _with_requirements(wanted)}:
        _copy(name, packages)
    return environment / "bin" / "python"


def _python(module: str, *arguments: str) -> None:
    done = subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def _with_requirements(name: str) -> Iterator[str]:
    try:
        requirements = importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:
        return  # for another system
    yield name
    for requirement in requirements:
        if "extra ==" not in requirement:
            yield from _with_requirements(re.split(r"[^\w.-]", requirement)[0])


def _copy(name: str, packages: Path) -> None:
    for file in importlib.metadata.files(name) or ():
        if ".." not in file.parts:
            target = packages / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file.locate(), target)
