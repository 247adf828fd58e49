"""Two commands on one directory: exactly one works, and the other says so."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ...support.commands import environment
from ...support.playback import wait_until
from .provider import provider_process
from .sittings import KEY, Sittings

pytestmark = pytest.mark.thorough

REFUSAL = "Another batch is at work in"


def test_a_second_batch_is_refused_and_the_first_undisturbed(tmp_path: Path) -> None:
    with provider_process(tmp_path / "log.jsonl", pause=0.5) as served:
        batch = Sittings(tmp_path, served, count=3, jobs=2)
        with batch.sitting() as first:
            assert wait_until(lambda: bool(served.asked()), 120)
            second = batch.captured()
            assert first.poll() is None
            assert (second.returncode, second.stdout) == (2, "")
            assert REFUSAL in second.stderr
            assert "Traceback" not in second.stderr
            assert first.wait(300) == 1
        batch.require_all_as_expected()
        answered = [seen.key for seen in served.answered()]
        assert len(answered) == len(set(answered)), "the second asked as well"


@pytest.mark.timeout(600)
def test_of_two_batches_started_at_the_same_moment_exactly_one_works(tmp_path: Path) -> None:
    with provider_process(tmp_path / "log.jsonl", pause=0.3) as served:
        for number in range(2):
            directory = tmp_path / str(number)
            directory.mkdir()
            batch = Sittings(directory, served, count=1, jobs=2)
            started = [
                subprocess.Popen(
                    batch.arguments(),
                    cwd=directory,
                    env=environment(directory, KEY),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    text=True,
                )
                for _ in range(2)
            ]
            said = [process.communicate(timeout=300)[1] for process in started]
            assert sorted(process.returncode for process in started) == [0, 2], said
            assert sum(REFUSAL in words for words in said) == 1
            batch.output.write_text("".join(said))
            batch.require_whole()
            assert [result["status"] for result in batch.results()] == ["finished"]
