"""`sandbox check`, as a process."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from agents.errors import SandboxUnavailable
from agents.sandbox import open_sandbox
from agents.sandbox.conformance import ATTACKS

from ..support.commands import greenloop
from ..support.interpreters import interpreters

pytestmark = pytest.mark.thorough

LINE = re.compile(r"^ *(\d+) .+: (stopped|known residual|unprovable)\b", re.MULTILINE)


def test_a_check_tells_what_became_of_each_attack(tmp_path: Path) -> None:
    try:
        name = open_sandbox().name
    except SandboxUnavailable as unavailable:
        pytest.skip(f"no sandbox here: {unavailable}")
    ended = greenloop(tmp_path, "sandbox", "check", "--sandbox", name)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"Attacks on the sandbox {name}:" in ended.stdout
    assert [int(number) for number, _ in LINE.findall(ended.stdout)] == [attack.number for attack in ATTACKS]
    assert list(tmp_path.iterdir()) == []


def test_a_check_without_a_home_says_what_it_lacks(tmp_path: Path) -> None:
    ended = greenloop(tmp_path, "sandbox", "check", extra={"HOME": str(tmp_path / "none")})
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert f"{tmp_path}/none/.greenloop-check-" in ended.stderr
    assert ended.stderr.endswith("can't be used (No such file or directory); check its name and permissions.\n")


def test_a_check_under_another_python(tmp_path: Path) -> None:
    other = next((each for each in interpreters() if each.version[:2] != sys.version_info[:2]), None)
    if other is None:
        pytest.skip("no other Python with pytest is here (TEST_PYTHONS)")
    ended = greenloop(tmp_path, "sandbox", "check", "--python", other.executable)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert len(LINE.findall(ended.stdout)) == len(ATTACKS)


def test_a_check_without_that_sandbox_is_exit_4(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    ended = greenloop(
        tmp_path, "sandbox", "check", "--sandbox", "bubblewrap", extra={"PATH": str(tmp_path / "empty")}
    )
    assert (ended.returncode, ended.stdout) == (4, "")
    assert "install bubblewrap" in ended.stderr


def test_a_check_of_no_sandbox_is_refused(tmp_path: Path) -> None:
    ended = greenloop(tmp_path, "sandbox", "check", "--sandbox", "none")
    assert ended.returncode == 2
    assert "stops no attack" in ended.stderr


def test_an_image_is_built_with_bounds_on_both_sides_of_a_package(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "here").mkdir()
    engine, asked = tmp_path / "bin" / "podman", tmp_path / "asked"
    engine.write_text(f"#!{sys.executable}\nimport sys\nopen({str(asked)!r}, 'w').write(repr(sys.argv[1:]))\n")
    engine.chmod(0o755)
    given = ("--packages", "numpy, pandas>=2,<3")
    ended = greenloop(tmp_path / "here", "sandbox", "build", *given, extra={"PATH": str(engine.parent)})
    assert ended.returncode == 0, ended.stderr
    assert re.search(r"PACKAGES=numpy pandas(<3,>=2|>=2,<3)", asked.read_text())
