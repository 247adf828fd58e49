"""The action, the hook and the GitLab job of `audit` as they are run: their commands, by bash."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from ..support.commands import QUICKSORT, REPLAYS, ROOT, environment
from .test_project import CODE, TESTS, git

FOLDER = ROOT / ".github" / "actions" / "verify"
ACTION: dict[str, Any] = yaml.safe_load((FOLDER / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"] if "name" in step}
WEAK = TESTS.replace("cart.total == 7", "cart.total is not None").replace("== due", "is not None")


@pytest.fixture
def request_of(tmp_path: Path) -> Path:
    """A checkout of a pull request with an honest change, and `greenloop` on the path."""
    folder = tmp_path / "checkout"
    (folder / "tests").mkdir(parents=True)
    (folder / "shop.py").write_text(CODE)
    (folder / "tests" / "test_shop.py").write_text(TESTS)
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "base")
    (folder / "shop.py").write_text(CODE.replace("total * 0.9", "total - total * 0.1"))
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "greenloop"
    program.write_text(
        f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(ROOT / "main.py"))} "$@"\n'
    )
    program.chmod(0o755)
    return folder


def run(checkout: Path, script: str, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    own = environment(checkout)
    temporary = checkout.parent / "runner"
    temporary.mkdir(exist_ok=True)
    places = {
        "PATH": f"{checkout.parent / 'bin'}:{Path(sys.executable).parent}:{own['PATH']}",
        "RUNNER_TEMP": str(temporary),
        "GITHUB_STEP_SUMMARY": str(temporary / "summary.md"),
        "GITHUB_ACTION_PATH": str(FOLDER),
        "CI": "true",
    }
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=checkout,
        env={**own, **places, **variables},
        capture_output=True,
        text=True,
        timeout=170,
    )


def step(checkout: Path, name: str, **given: str) -> subprocess.CompletedProcess[str]:
    """Run a step of the action with its inputs' defaults, but for those `given`."""
    inputs = {key: value["default"] for key, value in ACTION["inputs"].items()} | {"base": "main"} | given
    variables = {}
    for variable, text in STEPS[name]["env"].items():
        match = re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", text)
        assert match is not None, text
        variables[variable] = inputs[match[1]]
    return run(checkout, STEPS[name]["run"], variables)


@pytest.mark.thorough
def test_the_action_passes_an_honest_pull_request_and_fails_one_with_weakened_tests(request_of: Path) -> None:
    honest = step(request_of, "Verify the tests", seconds="100")
    assert honest.returncode == 0, honest.stdout + honest.stderr
    assert "::error" not in honest.stdout
    (request_of / "tests" / "test_shop.py").write_text(WEAK)
    weak = step(request_of, "Verify the tests", seconds="100")
    assert weak.returncode == 1, weak.stdout + weak.stderr
    assert "::error file=tests/test_shop.py,line=6::tests/test_shop.py::test_total: cannot fail" in weak.stdout
    assert "tests/test_shop.py::test_total: weaker: " in weak.stdout
    runner = request_of.parent / "runner"
    assert "## Tests of checkout: failed" in (runner / "summary.md").read_text(encoding="utf-8")
    assert {path.name for path in (runner / "greenloop").iterdir()} == {"junit.xml", "report.json", "summary.md"}


@pytest.mark.thorough
def test_the_action_builds_the_specs_that_differ_without_a_model(request_of: Path) -> None:
    specs = request_of / "specs"
    specs.mkdir()
    (specs / "new one.md").write_text(f"---\nid: sort\n---\n{QUICKSORT}\n", encoding="utf-8")
    git(request_of, "add", "--all")
    built = step(request_of, "Build the specs that differ", specs="specs", cache=str(REPLAYS))
    assert "sort" in built.stdout + built.stderr
    assert "No spec" not in built.stderr
    assert "Traceback" not in built.stderr
    nothing = step(request_of, "Build the specs that differ", specs="tests/none")
    assert (nothing.returncode, nothing.stdout) == (0, "")


def test_annotations_can_hold_no_command(tmp_path: Path) -> None:
    hostile = "a\n::set-output name=x::y%"
    test = {"path": "a,b:c.py", "line": 3, "id": hostile, "status": "failed", "why": hostile}
    (tmp_path / "report.json").write_text(json.dumps({"tests": [test]}))
    done = subprocess.run(
        [sys.executable, FOLDER / "annotate.py", tmp_path / "report.json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.count("\n") == 1
    assert done.stdout.startswith("::error file=a%2Cb%3Ac.py,line=3::a%0A::set-output name=x::y%25")


def test_the_action_has_no_secret_and_what_it_uses_is_pinned_by_commit() -> None:
    text = (FOLDER / "action.yml").read_text(encoding="utf-8")
    assert "secrets." not in text
    assert "pull_request_target" not in text
    for used in re.findall(r"uses: (\S+)", text):
        assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", used), used
    # What a pull request may choose reaches the shell as variables, never as text of the script.
    assert all("${{" not in each["run"] for each in ACTION["runs"]["steps"] if "run" in each)


@pytest.mark.slow
def test_the_hook_and_the_gitlab_job_fail_weakened_tests(request_of: Path) -> None:
    (request_of / "tests" / "test_shop.py").write_text(WEAK)
    git(request_of, "update-ref", "refs/remotes/origin/HEAD", "main")
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    hook = next(each for each in hooks if each["id"] == "greenloop-audit")
    ended = run(request_of, shlex.join([*shlex.split(hook["entry"]), *hook["args"], "--seconds", "30"]), {})
    assert ended.returncode == 1, ended.stderr
    inputs, job = yaml.safe_load_all((ROOT / ".gitlab" / "verify.yml").read_text(encoding="utf-8"))
    own = job["greenloop-verify"]
    values = {name: value["default"] for name, value in inputs["spec"]["inputs"].items()}
    variables = {
        name: re.sub(r"\$\[\[ inputs\.(\w+) \]\]", lambda match: values[match[1]], str(text))
        for name, text in own["variables"].items()
    }
    variables |= {"CI_MERGE_REQUEST_DIFF_BASE_SHA": "main", "SECONDS_IN_ALL": "30"}
    ended = run(request_of, "\n".join(own["script"]), variables)
    assert ended.returncode == 1, ended.stderr
    assert (request_of / "junit.xml").is_file()
