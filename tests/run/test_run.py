from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from agents.errors import Interrupted, SandboxBroken
from agents.events import Event, Ruled
from agents.llm_backends.budget import Budget
from agents.records import Board, Candidate, Test
from agents.run.recorder import RunRecorder
from agents.run.run import generate, measure_suite
from agents.sandbox import Sandbox, open_sandbox
from agents.settings import Settings
from agents.storage import run_directory as runs
from agents.verifier.cached_verifier import CachedVerifier

from ..storage.test_run_directory import record
from ..support.boards import value_test
from ..support.commands import QUICKSORT, REPLAYS, greenloop, replayed

DOUBLE = "def f(x):\n    return x * 2\n"


class Broken:
    """A verifier whose sandbox fails in the middle."""

    @property
    def sandbox(self) -> Sandbox:
        return open_sandbox("none")

    @property
    def files_beside(self) -> Mapping[str, bytes]:
        return {}

    def board(self, candidates: Sequence[Candidate], tests: Sequence[Test]) -> Board:
        raise SandboxBroken("The sandbox ended; try again.")

    def hasty_board(self, candidates: Sequence[Candidate], tests: Sequence[Test], call_seconds: float) -> Board:
        raise AssertionError("there is nothing to compare with")


def recorder(directory: Path) -> RunRecorder:
    return RunRecorder(runs.create(directory, record()), record(), Settings(), Budget(), lambda event: None)


@pytest.mark.parametrize("in_a_batch", [True, False])
def test_a_run_that_stops_names_the_command_that_goes_on_with_it(tmp_path: Path, in_a_batch: bool) -> None:
    def stop() -> None:
        raise Interrupted("Stopped; go on with --resume.")

    run, budget = runs.create(tmp_path, record()), Budget(shared_budget=Budget() if in_a_batch else None)
    stopped = RunRecorder(run, record(), Settings(), budget, lambda event: None).finish(stop)
    way = "the same command" if in_a_batch else f"--resume {run.word}"
    assert stopped.error is not None
    assert stopped.error.message == f"Interrupted; go on with {way}."


def test_a_run_that_the_callers_handler_ends_is_stopped_and_can_be_gone_on_with(tmp_path: Path) -> None:
    def handler(event: Event) -> None:
        if isinstance(event, Ruled):
            raise ValueError("I/O operation on closed file")

    settings = Settings(model=f"recorded:{REPLAYS}", work_dir=tmp_path / "work_dir", mutation=False)
    with pytest.raises(ValueError, match="closed file"):
        generate(QUICKSORT, settings=settings, on_event=handler)
    kept = runs.find(tmp_path / "work_dir", "latest").read()
    assert (kept.status, kept.error and kept.error.message.split(";")[0]) == (
        "stopped",
        "It ended by ValueError('I/O operation on closed file')",
    )
    again = ("--resume", "latest", "--model", f"recorded:{REPLAYS}", "--no-mutation")
    assert greenloop(tmp_path, *again).returncode == 0


def test_a_result_says_what_its_tests_are_worth_and_show_says_what_they_miss(tmp_path: Path) -> None:
    ended, document = replayed(tmp_path, QUICKSORT, "--mutation")
    assert ended.returncode == 0, ended.stderr
    strength = document["strength"]
    assert strength["mutants"] - strength["killed"] == len(strength["survivors"])
    assert 0 < strength["killed"] <= strength["planned"]
    assert strength["line_coverage"] == 1.0
    assert 0 < strength["noticed"] <= strength["changed"]
    shown = greenloop(tmp_path, "show", "latest").stdout
    assert f"Suite: 100 % of lines, 100 % of branches, {strength['killed']} of" in shown
    for survivor in strength["survivors"]:
        assert f"Not caught, line {survivor['line']}: `{survivor['before']}`" in " ".join(shown.split())


def test_without_mutation_nothing_is_measured(tmp_path: Path) -> None:
    _, document = replayed(tmp_path, QUICKSORT, "--no-mutation")
    assert document["strength"] is None
    assert "Suite:" not in greenloop(tmp_path, "show", "latest").stdout


@pytest.mark.parametrize(
    ("runner", "said"),
    [(Broken(), "sandbox ended"), (CachedVerifier(open_sandbox("none")), "do not pass on the code itself")],
)
def test_a_measurement_that_fails_is_a_note(tmp_path: Path, runner: CachedVerifier, said: str) -> None:
    kept = recorder(tmp_path)
    result = kept.finish(lambda: measure_suite(DOUBLE, [value_test("test_1", "f(1)", "3")], kept, runner))
    (note,) = result.notes
    assert said in note
    assert note.startswith("The strength of the tests was not measured: ")
    assert result.strength is None
