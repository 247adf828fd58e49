"""Runs of a server: one job at a run, one decision on a proposal, however often the page asks; a long list."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from agents.errors import UsageError
from agents.jobs import Job, Jobs
from agents.records.approvals import Decision, Proposal
from agents.settings import Settings
from agents.ui.views import MOST_RUNS, listing


class Unopened(Jobs):
    """Runs of a server without a model and a sandbox."""

    def _open(self) -> Any:
        return ThreadPoolExecutor(2), None


def test_a_run_that_is_gone_on_with_twice_at_once_is_done_once(tmp_path: Path) -> None:
    jobs, ended = Unopened(Settings(work_dir=tmp_path)), threading.Event()
    first = jobs._begin("run", lambda *_: ended.wait() and None)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="run is still running"):
        jobs._begin("run", lambda *_: None)  # type: ignore[arg-type]
    assert jobs.find("run") is first
    ended.set()
    jobs.close()


def shown(job: Job) -> str:
    """Return the digest of the proposal that waits, once there is one."""
    while (proposal := job.proposal) is None:
        time.sleep(0.001)
    return proposal.digest


def test_a_second_decision_on_a_proposal_decides_nothing_that_comes_after() -> None:
    job = Job("run")
    decided: list[str] = []

    def work() -> None:
        decided.extend(job.approve(Proposal("replacement", title, "x = 1\n")).answer for title in ("one", "two"))

    asking = threading.Thread(target=work, daemon=True)
    asking.start()
    first = shown(job)
    job.decide(first, Decision("yes"))
    with pytest.raises(UsageError, match="decided already"):
        job.decide(first, Decision("yes"))
    job.decide(shown(job), Decision("no"))
    asking.join()
    assert decided == ["yes", "no"]


def test_a_long_list_of_runs_is_made_in_linear_time(tmp_path: Path) -> None:
    for number in range(2 * MOST_RUNS):
        run = tmp_path / "runs" / f"{number:04}"
        run.mkdir(parents=True)
        (run / "run.json").write_text("{}")
    jobs = Jobs(Settings(work_dir=tmp_path))
    began = time.process_time()
    rows = listing(jobs)
    assert time.process_time() - began < 2  # 5 s where each row looks through all runs
    assert [rows[0]["name"], len(rows)] == [f"{2 * MOST_RUNS - 1:04}", MOST_RUNS]
