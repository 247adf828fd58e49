"""One run that is killed while the Critic writes: `--resume` goes on there, and asks for nothing twice."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from ...support.commands import command, environment, greenloop
from ...support.playback import wait_until
from .orphans import adopting_orphans, linux_only
from .provider import provider_process
from .sittings import KEY, MODEL
from .specs import Task

pytestmark = pytest.mark.thorough


@linux_only
@pytest.mark.timeout(600)
def test_a_run_killed_while_the_replacement_is_written_goes_on_there(tmp_path: Path) -> None:
    task = Task(3)
    with provider_process(tmp_path / "log.jsonl", pause=2.0) as served, adopting_orphans() as orphans:
        options = ("--model", MODEL, "--api-base", served.api_base, "--effort", "low")
        with subprocess.Popen(
            command(task.text, *options),
            cwd=tmp_path,
            env=environment(tmp_path, KEY),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            try:
                asked = wait_until(lambda: any(seen.wanted == "replacement" for seen in served.asked()), 120)
            finally:
                process.kill()
        assert asked, "the Critic was never asked"
        assert all(seen.wanted != "replacement" for seen in served.answered()), "the kill came too late"
        assert orphans.gone()
        assert greenloop(tmp_path, "show", "latest").returncode == 0
        (run,) = (tmp_path / "work_dir" / "runs").glob("*/run.json")
        ended = greenloop(tmp_path, "--resume", run.parent.name, *options, "--json", extra=KEY, seconds=300)
    document = json.loads(ended.stdout)
    assert (document["grade"], document["code"].strip()) == (task.grade, task.code.strip())
    times = Counter((seen.wanted, seen.key) for seen in served.asked())
    assert {wanted for (wanted, _), number in times.items() if number > 1} == {"replacement"}
