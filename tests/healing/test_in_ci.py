"""The GitHub action, run as its shell step, and the pre-push hook."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

from ..support.commands import ROOT, environment
from ..support.heals import Heals

ACTION = yaml.safe_load((ROOT / ".github/actions/heal/action.yml").read_text(encoding="utf-8"))
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))


def given(folder: Path, result: Mapping[str, object]) -> dict[str, str]:
    """Return the variables of the heal action's step, with a `greenloop` that prints this result."""
    (folder / "result.json").write_text(json.dumps(result))
    command = folder / "greenloop"
    command.write_text(f"#!/bin/sh\ncat '{folder}/result.json'\n")
    command.chmod(0o755)
    return {
        "PATH": f"{folder}:{Path(sys.executable).parent}:/usr/bin:/bin",
        "RUNNER_TEMP": str(folder),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
    }


def test_the_action_pushes_nothing_and_needs_no_secret() -> None:
    text = (ROOT / ".github/actions/heal/action.yml").read_text(encoding="utf-8")
    assert "git push" not in text
    assert "secrets." not in text
    assert ACTION["inputs"]["model"]["default"] == "embedded"


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash is here")
def test_a_module_of_the_checkout_is_not_run_by_the_actions_step(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "json.py").write_text("import pathlib\npathlib.Path('ran').touch()\nload = lambda file: {}\n")
    result = {"outcome": "unhealed", "grade": None, "error": None, "why": "", "question": None, "diff": ""}
    extra = given(tmp_path, result)
    step = ACTION["runs"]["steps"][0]["run"]
    for text, ran in ((step, False), (step.replace("python -I", "python"), True)):  # the second is the control
        subprocess.run(["bash", "-c", text], cwd=checkout, env=environment(tmp_path, extra), capture_output=True)
        assert (checkout / "ran").exists() is ran
    assert "unhealed" in (tmp_path / "summary.md").read_text()


def test_every_python_of_the_actions_is_isolated() -> None:
    for action in (ROOT / ".github/actions").glob("*/action.yml"):
        for line in action.read_text(encoding="utf-8").splitlines():
            assert not line.strip().startswith("python ") or line.strip().startswith("python -I ")


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash is here")
@pytest.mark.parametrize(("reply", "code"), [("x * 2", 0), ("x * 3", 1)])
def test_the_actions_step_says_what_a_patch_is_worth(heals: Heals, reply: str, code: int) -> None:
    heals.script("def twice(x):\n    return x + 2\n", "m.py")
    heals.script("from m import twice\n\n\ndef test_twice():\n    assert twice(5) == 10\n", "tests/test_m.py")
    heals.script("[tool.pytest.ini_options]\npythonpath = ['.']\n", "pyproject.toml")
    heals.alike(f"def twice(x):\n    return {reply}\n")
    command = heals.folder.parent / "bin" / "greenloop"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{ROOT / "main.py"}" "$@"\n')
    command.chmod(0o755)
    temporary = heals.folder.parent / "temp"
    temporary.mkdir()
    extra = {
        "PATH": f"{command.parent}:{Path(sys.executable).parent}:/usr/bin:/bin",
        "TESTS": "tests",
        "MAY_CHANGE": "*.py",
        "GREENLOOP_MODEL": "openai/tiny-1b",
        "GREENLOOP_API_BASE": heals.provider.api_base,
        "GREENLOOP_REQUIRE": "consensus",
        "GREENLOOP_MAX_ROUNDS": "1",
        "GREENLOOP_WORK_DIR": str(temporary / "greenloop"),
        "RUNNER_TEMP": str(temporary),
        "GITHUB_STEP_SUMMARY": str(temporary / "summary.md"),
        "OPENAI_API_KEY": "k",
    }
    step = ACTION["runs"]["steps"][0]["run"]
    ended = subprocess.run(
        ["bash", "-e", "-c", step],
        cwd=heals.folder,
        env=environment(heals.folder, extra),
        capture_output=True,
        text=True,
    )
    assert ended.returncode == code, ended.stderr
    summary = (temporary / "summary.md").read_text()
    assert ("healed, verified" if code == 0 else "unhealed, failed") in summary
    patches = list((temporary / "greenloop/runs").glob("*/heal.patch"))
    assert len(patches) == (1 if code == 0 else 0)
    assert (heals.folder / "m.py").read_text() == "def twice(x):\n    return x + 2\n"


def test_the_hook_runs_pytest_and_changes_nothing() -> None:
    hook = next(hook for hook in HOOKS if hook["id"] == "greenloop-heal")
    assert hook["entry"] == "python -m pytest --heal"
    assert set(hook["stages"]) == {"pre-push", "manual"}


def fenced_off(text: str) -> list[str]:
    """The lines of Markdown that are in no code block."""
    return [token.content for token in MarkdownIt().parse(text) if token.type in ("inline", "html_block")]


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash is here")
def test_no_text_of_a_heal_leaves_its_fence_in_the_summary(tmp_path: Path) -> None:
    hostile = "+ ````\n+```\n````\n<img src=x>\n**bold**"
    result = {"outcome": "unhealed", "grade": "contested", "error": None, "why": hostile, "question": hostile}
    extra = given(tmp_path, {**result, "diff": hostile})
    step = ACTION["runs"]["steps"][0]["run"]
    subprocess.run(["bash", "-c", step], cwd=tmp_path, env=environment(tmp_path, extra), check=True)
    summary = (tmp_path / "summary.md").read_text()
    assert summary.count("<img src=x>") == 3
    assert fenced_off(summary) == ["greenloop heal: unhealed, contested"]
    assert fenced_off(f"````diff\n{hostile}````")  # a fence of fixed length


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash is here")
def test_the_name_of_a_file_in_a_pull_request_is_no_option(tmp_path: Path) -> None:
    verify = yaml.safe_load((ROOT / ".github/actions/verify/action.yml").read_text(encoding="utf-8"))
    (step,) = (each for each in verify["runs"]["steps"] if each.get("name") == "Build the specs that differ")
    command = tmp_path / "bin" / "greenloop"
    command.parent.mkdir()
    command.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > "$RUNNER_TEMP/given"\n')
    command.chmod(0o755)
    own = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for arguments in (("init", "--quiet"), (*own, "commit", "--quiet", "--allow-empty", "--message", "one")):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    for name in ("--sandbox=none", "a.md"):
        (tmp_path / name).touch()
    subprocess.run(["git", "add", "--", "--sandbox=none", "a.md"], cwd=tmp_path, check=True)
    extra = {
        "PATH": f"{command.parent}:/usr/bin:/bin",
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        **{"SPECS": ".", "BASE": "HEAD", "CACHE": "replies"},
    }
    for text, bare in (
        (step["run"], False),
        (step["run"].replace("/#/./", ""), True),
    ):  # the second is the control
        subprocess.run(["bash", "-c", text], cwd=tmp_path, env=environment(tmp_path, extra), capture_output=True)
        assert ("--sandbox=none" in (tmp_path / "given").read_text().splitlines()) is bare
