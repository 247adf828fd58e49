"""Finding an engine and building the image; podman is played by a program of the test's."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agents.errors import SandboxUnavailable, UsageError
from agents.sandbox.container.engine import build_image, find_engine, image_name

from ...support.commands import ROOT


def test_without_an_engine_or_an_image_the_refusal_has_the_command_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for system, install in (
        ("darwin", "brew install podman"),
        ("win32", "Podman Desktop"),
        ("linux", "apt install"),
    ):
        with pytest.raises(SandboxUnavailable, match=install) as refused:
            find_engine({}, system)
        assert str(refused.value).endswith("then `python main.py sandbox build`.")
    engine = tmp_path / "podman"
    engine.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('Error: no such image x')\n")
    engine.chmod(0o755)
    with pytest.raises(SandboxUnavailable, match=r"it has no image .*build it: `python main.py sandbox build`"):
        find_engine({}, image=image_name())
    engine.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('Cannot connect to Podman.')\n")
    with pytest.raises(SandboxUnavailable, match="podman: Cannot connect to Podman"):
        find_engine({}, image=image_name())
    with pytest.raises(SandboxUnavailable, match="set it to podman or docker"):
        find_engine({"GREENLOOP_CONTAINER": "./podman"})


def test_an_engine_in_the_working_directory_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "podman").write_text("#!/bin/sh\n")
    (tmp_path / "podman").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxUnavailable, match="there is no container engine"):
        find_engine({})


def test_packages_of_an_image_are_requirements_and_nothing_else() -> None:
    for text in ("--index-url=http://x", "numpy; rm -rf /", "$(id)", "numpy @ http://x/numpy.whl"):
        with pytest.raises(UsageError):
            build_image([text])


def test_building_hands_the_version_and_the_packages_to_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = tmp_path / "podman"
    engine.write_text(
        f"#!{sys.executable}\nimport sys\nopen({str(tmp_path / 'asked')!r}, 'w').write(repr(sys.argv[1:]))\n"
    )
    engine.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    build_image(["numpy", "pandas >= 2"])
    asked = (tmp_path / "asked").read_text()
    version = ".".join(map(str, sys.version_info[:2]))
    for part in (f"PYTHON={version}", "PACKAGES=numpy pandas>=2", image_name(), "Containerfile"):
        assert part in asked
    assert (ROOT / "agents/sandbox/container/requirements.txt").read_text().count("--hash=sha256:") > 10
