"""The jobs in docs/ci.md work as written: their commands are taken from there and run in a checkout of specs."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from agents.batch.shards import shard_of

from .support.commands import QUICKSORT, REPLAYS, ROOT, environment

INSTALLING = ("sudo ", "apt-get ", "pip install ")
"""Commands that change the machine; the tests' environment has what they install."""
SHARDS = (1, 2)
IDS = ("sort-apples", "sort-pears")


def documents() -> list[dict[Any, Any]]:
    text = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    return [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)]


BUILD, ASK, GITLAB = documents()


def github_commands(job: Mapping[str, Any], shard: int) -> Iterator[str]:
    for step in job["steps"]:
        if "run" in step:
            yield step["run"].replace("${{ matrix.shard }}", str(shard)).strip()


def run(checkout: Path, commands: Sequence[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """The commands as a runner does them: one shell each, the first failure ends the job."""
    script = "\n".join(line for each in commands for line in each.splitlines() if not line.startswith(INSTALLING))
    extra = {"CI": "true", "GREENLOOP_MODEL": "embedded", **variables}
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=checkout,
        env=environment(checkout, extra),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=150,
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with two specs, and the replies of the embedded model to them."""
    for name in ("agents", "main.py", "requirements.txt"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "specs").mkdir()
    for name in IDS:
        (tmp_path / "specs" / f"{name}.md").write_text(f"---\nid: {name}\n---\n{QUICKSORT}\n", encoding="utf-8")
    shutil.copytree(REPLAYS, tmp_path / "replies")
    return tmp_path


def test_the_specs_of_this_test_fall_into_both_shards() -> None:
    assert {shard_of(name, 2) for name in IDS} == {1, 2}


@pytest.mark.thorough
def test_the_github_jobs_build_every_spec_without_a_call(checkout: Path) -> None:
    build, whole = BUILD["jobs"]["build"], BUILD["jobs"]["whole"]
    assert build["strategy"]["matrix"]["shard"] == list(SHARDS)
    for shard in SHARDS:
        ended = run(checkout, list(github_commands(build, shard)), GITHUB_STEP_SUMMARY="summary.md")
        assert ended.returncode == 0, ended.stderr
        assert "\x1b" not in ended.stdout + ended.stderr
    summary = (checkout / "summary.md").read_text(encoding="utf-8")
    assert all(name in summary or "consensus" in summary for name in IDS)
    ended = run(checkout, list(github_commands(whole, 1)))
    assert ended.returncode == 0, ended.stderr
    for name in IDS:
        assert "def quicksort" in (checkout / "build" / "all" / "specs" / name / "user_code.py").read_text("utf-8")


def test_the_job_that_asks_calls_no_model_for_what_is_cached(checkout: Path) -> None:
    before = sorted(path.name for path in (checkout / "replies").rglob("*"))
    ended = run(checkout, list(github_commands(ASK["jobs"]["ask"], 1)))
    assert ended.returncode == 0, ended.stderr
    assert sorted(path.name for path in (checkout / "replies").rglob("*")) == before


def test_a_frozen_build_fails_for_a_spec_that_nobody_asked_the_model_about(checkout: Path) -> None:
    for known in (checkout / "specs").iterdir():
        known.unlink()
    new = "---\nid: triple\n---\nImplement triple(n: int) -> int: three times n."
    (checkout / "specs" / "new.md").write_text(new, encoding="utf-8")
    shard = shard_of("triple", 2)
    ended = run(checkout, list(github_commands(BUILD["jobs"]["build"], shard))[:-1])
    assert ended.returncode in (1, 3), ended.stderr
    assert "Traceback" not in ended.stderr
    assert "--frozen" in ended.stdout + ended.stderr


@pytest.mark.thorough
def test_the_gitlab_jobs_build_every_spec(checkout: Path) -> None:
    modules, ask = GITLAB["modules"], GITLAB["ask"]
    assert modules["parallel"] == len(SHARDS)
    for shard in SHARDS:
        nodes = {"CI_NODE_INDEX": str(shard), "CI_NODE_TOTAL": str(len(SHARDS))}
        ended = run(checkout, modules["script"], **nodes)
        assert ended.returncode == 0, ended.stderr
        assert (checkout / "build" / f"shard-{shard}" / "junit.xml").is_file()
    assert run(checkout, ask["script"]).returncode == 0


def test_every_job_that_strangers_can_start_is_frozen_and_has_no_key() -> None:
    for job in (BUILD["jobs"]["build"], GITLAB["modules"]):
        text = yaml.safe_dump(job)
        assert "--frozen" in text
        assert "secrets." not in text
    assert "secrets." not in yaml.safe_dump(BUILD)
    assert set(ASK[True]) == {"workflow_dispatch"}, "YAML reads the key `on` as true"
    assert "protected" in GITLAB["ask"]["rules"][0]["if"].lower()
