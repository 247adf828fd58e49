"""The budget of a whole batch, on a provider that fails: what it stops goes on once it is raised."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from .provider import provider_process
from .sittings import Sittings

pytestmark = pytest.mark.thorough


@pytest.mark.timeout(600)
def test_a_spent_total_leaves_the_rest_not_started_and_a_higher_one_goes_on(tmp_path: Path) -> None:
    with provider_process(tmp_path / "log.jsonl", seed=3, rate=0.2) as served:
        batch = Sittings(tmp_path, served, count=8, jobs=2)
        spent = batch.captured("--total-tokens", "450")
        assert spent.returncode == 5, spent.stderr
        assert "raise --total-tokens and run the same command again" in spent.stdout + spent.stderr
        statuses = Counter(result["status"] for result in batch.results())
        assert statuses["finished"]
        assert statuses["not started"]
        assert statuses.total() == batch.count
        stopped = [result for result in batch.results() if result["status"] == "stopped"]
        assert {result["error"]["kind"] for result in stopped} <= {"total_spent"}
        kept = [(len(served.asked()), batch.finished())]

        assert batch.run("--total-tokens", "100000") == 1  # the tasks called `slip` are contested
        batch.require_all_as_expected()
        batch.require_nothing_done_again(kept)
