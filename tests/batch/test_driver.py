"""The driver with workers that do what each test wants."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agents.batch.driver import Driver, Executor
from agents.batch.journal import Journal
from agents.batch.records import EntryResult, Task
from agents.batch.supply import Supplier
from agents.batch.worker import stopped
from agents.errors import GreenloopError, Interrupted, ModelError, SandboxBroken, StorageFailed, TotalSpent
from agents.llm_backends.budget import TotalBudget
from agents.records import Usage
from agents.run.cancellation import Cancellation
from agents.settings import Totals

from .made import Kept, entry, planned, verified

Work = Callable[[Task], EntryResult]


class Bench:
    """A batch of `count` entries that `work` does, `jobs` at a time."""

    def __init__(self, directory: Path, count: int, work: Work, jobs: int = 1) -> None:
        entries = [entry(f"s{number}") for number in range(count)]
        self.journal: Journal = planned(directory, *entries)
        self.display = Kept()
        self.cancellation = Cancellation()
        self.total = TotalBudget(Totals(), Usage())
        supplier = Supplier(directory, entries, self.journal, lambda entry: "d1", "consensus")
        executor = Executor(work, jobs, self.cancellation.cancel)
        self.driver = Driver(self.journal, executor, self.check, self.display, supplier)

    def check(self) -> None:
        self.total.check()

    def run(self) -> GreenloopError | None:
        return self.driver.run()

    @property
    def statuses(self) -> list[str]:
        with self.journal:
            return [result.status for result in self.journal.results()]


def fails(error: GreenloopError) -> Work:
    return lambda task: stopped(task, error)


@pytest.mark.parametrize("jobs", [1, 4])
def test_everything_is_done_once_and_never_more_than_allowed_at_a_time(tmp_path: Path, jobs: int) -> None:
    lock, running, most = threading.Lock(), [0], [0]
    together = threading.Barrier(jobs, timeout=20)

    def work(task: Task) -> EntryResult:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        together.wait()
        with lock:
            running[0] -= 1
        return verified(task)

    bench = Bench(tmp_path, 12, work, jobs)
    assert bench.run() is None
    assert sorted(bench.display.begun) == sorted(f"s{number}" for number in range(12))
    assert most[0] == jobs
    assert bench.statuses == ["finished"] * 12


def test_a_lost_worker_costs_its_spec_one_retry(tmp_path: Path) -> None:
    lost: list[str] = []

    def work(task: Task) -> EntryResult:
        if task.entry.id == "s1" and not lost:
            lost.append(task.entry.id)
            raise MemoryError("gone")
        return verified(task)

    bench = Bench(tmp_path, 3, work)
    assert bench.run() is None
    assert bench.display.begun == ["s0", "s1", "s1", "s2"]
    assert [result.tries for result in bench.display.results] == [1, 2, 1]
    assert "its worker was lost (MemoryError: gone)" in bench.display.notes[0]
    assert bench.statuses == ["finished"] * 3


def test_a_spec_that_loses_every_worker_stops_nothing_else(tmp_path: Path) -> None:
    def work(task: Task) -> EntryResult:
        if task.entry.id == "s0":
            raise RuntimeError("a bug")
        return verified(task)

    bench = Bench(tmp_path, 2, work)
    assert bench.run() is None
    first = bench.display.results[0]
    assert (first.status, first.tries, first.final) == ("stopped", 2, False)
    assert first.error is not None
    assert "RuntimeError: a bug" in first.error.message
    assert bench.statuses == ["stopped", "finished"]


@pytest.mark.parametrize("error", [ModelError("network", "No server answers."), SandboxBroken("It ended.")])
def test_after_failures_in_a_row_nothing_more_is_begun(tmp_path: Path, error: GreenloopError) -> None:
    bench = Bench(tmp_path, 9, fails(error))
    stopped_by = bench.run()
    assert stopped_by is not None
    assert (stopped_by.exit_code, stopped_by.kind) == (error.exit_code, error.kind)
    assert str(error) in str(stopped_by)
    assert bench.statuses == ["stopped"] * 3 + ["not started"] * 6


def test_failures_that_are_the_specs_own_or_not_in_a_row_stop_nothing(tmp_path: Path) -> None:
    errors = [ModelError("network", "Away."), ModelError("network", "Away."), ModelError("unusable_reply", "No.")]

    def work(task: Task) -> EntryResult:
        return stopped(task, errors[int(task.entry.id[1:]) % 3])

    bench = Bench(tmp_path, 9, work)
    assert bench.run() is None
    assert bench.statuses == ["stopped"] * 9


def test_when_the_total_is_spent_the_rest_is_not_started(tmp_path: Path) -> None:
    def work(task: Task) -> EntryResult:
        bench.total.charge(Usage(completion_tokens=10))
        return verified(task)

    bench = Bench(tmp_path, 5, work)
    bench.total = TotalBudget(Totals(total_tokens=20), Usage())
    assert isinstance(bench.run(), TotalSpent)
    assert bench.statuses == ["finished"] * 2 + ["not started"] * 3


def test_a_run_that_meets_the_total_ends_the_batch_with_exit_code_5(tmp_path: Path) -> None:
    bench = Bench(tmp_path, 3, fails(TotalSpent("tokens", 5, 5)))
    stopped_by = bench.run()
    assert stopped_by is not None
    assert (stopped_by.exit_code, stopped_by.kind) == (5, "total_spent")
    assert bench.statuses == ["stopped", "not started", "not started"]


def test_a_full_disk_ends_the_batch(tmp_path: Path) -> None:
    bench = Bench(tmp_path, 3, fails(StorageFailed("The run can't be kept (No space left on device).")))
    stopped_by = bench.run()
    assert stopped_by is not None
    assert (stopped_by.exit_code, stopped_by.kind) == (1, "storage")
    assert bench.statuses == ["stopped", "not started", "not started"]


def test_the_first_interrupt_lets_what_runs_end_and_begins_nothing(tmp_path: Path) -> None:
    def work(task: Task) -> EntryResult:
        bench.driver.stop("soon")
        return verified(task)

    bench = Bench(tmp_path, 3, work)
    assert isinstance(bench.run(), Interrupted)
    assert bench.statuses == ["finished", "not started", "not started"]
    assert not bench.cancellation.cancelled


@pytest.mark.parametrize("words", [("soon", "soon"), ("now",)])
def test_the_second_interrupt_or_a_termination_stops_what_runs(tmp_path: Path, words: tuple[str, ...]) -> None:
    ended = threading.Event()

    def work(task: Task) -> EntryResult:
        with bench.cancellation.on_cancel(ended.set):
            for word in words:
                bench.driver.stop("soon" if word == "soon" else "now")
            assert ended.wait(10)
        return replace(task.unfinished(), status="interrupted", exit_code=130)

    bench = Bench(tmp_path, 3, work)
    assert isinstance(bench.run(), Interrupted)
    assert bench.statuses == ["interrupted", "not started", "not started"]


def test_the_next_sitting_does_what_is_missing(tmp_path: Path) -> None:
    first = Bench(tmp_path, 4, lambda task: verified(task))
    first.total = TotalBudget(Totals(total_tokens=1), Usage(completion_tokens=1))
    assert isinstance(first.run(), TotalSpent)
    first.journal.end(verified(first.journal.begin("s2")))
    first.journal.__exit__()
    second = Bench(tmp_path, 4, lambda task: verified(task))
    assert second.run() is None
    assert second.display.begun == ["s0", "s1", "s3"]
    assert second.statuses == ["finished"] * 4


def test_when_the_journal_takes_no_more_what_runs_is_ended_and_nothing_is_begun(tmp_path: Path) -> None:
    ended = threading.Event()

    def work(task: Task) -> EntryResult:
        if task.entry.id != "s0":
            return verified(task)
        with bench.cancellation.on_cancel(ended.set):
            assert ended.wait(20)
        return stopped(task, Interrupted("."))

    bench = Bench(tmp_path, 60, work, jobs=2)
    pages = bench.journal._database.execute("PRAGMA page_count").fetchone()[0]
    bench.journal._database.execute(f"PRAGMA max_page_count = {pages}")
    assert isinstance(bench.run(), StorageFailed)
    assert ended.is_set()
    assert len(bench.display.begun) < 60
    bench.journal.__exit__()
