"""Cells of a measurement, on a model whose answers are written here and on the real verifier."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from agents.bench.hidden_tests import HiddenTests
from agents.bench.results import Hidden, Journal, TaskResult
from agents.bench.runner import Means
from agents.bench.specs import spec_runner
from agents.bench.tasks import read_tasks
from agents.errors import ModelError
from agents.run.role_models import SharedModels
from agents.sandbox import Sandbox
from agents.settings import STRATEGIES, Settings, Strategy

from ..support.sandboxes import open_or_skip
from ..support.written_model import (
    HALVED,
    INITIALS,
    RIGHT,
    TESTS,
    TESTS_OF_WRONG,
    TOKENS,
    WRONG,
    KnownAnswers,
    WrittenModel,
    WrittenModels,
    data_file,
    recorded_backends,
    suite,
)
from .test_hidden_tests import needs_evalplus

AWAY = ModelError("network", "The model is away; start it.")
ALL_AWAY = dict.fromkeys(RIGHT, AWAY)
OF_WRONG = {name: [suite(name, cases)] for name, cases in TESTS_OF_WRONG.items()}


class Bench:
    """Measures in `directory`, as often as asked."""

    def __init__(self, directory: Path, sandbox: Sandbox) -> None:
        self.directory = directory
        self._sandbox = sandbox
        self.hidden = KnownAnswers()
        self.told: list[TaskResult] = []

    @property
    def replies(self) -> Path:
        return self.directory / "out" / "replies"

    def run(
        self,
        backends: SharedModels,
        *strategies: Strategy,
        hidden: HiddenTests | None = None,
        rows: Sequence[Mapping[str, Any]] = (HALVED,),
        seeds: int = 1,
        out: str = "out",
        again: bool = False,
        strip: bool = False,
    ) -> list[TaskResult]:
        tasks = read_tasks(data_file(self.directory, *rows))
        journal = Journal(self.directory / out, {"what": "a test's"}, again=again)
        judge = (hidden or self.hidden).judge
        means = Means(Settings(), backends, self._sandbox, judge, journal, seeds)
        runner = spec_runner(tasks, strategies, means, strip_examples=strip)
        found = runner.run(1, self.told.append)
        assert len(found) == runner.size
        return found

    def files(self) -> list[Path]:
        return sorted((self.directory / "out" / "cells").rglob("*.json"))


@pytest.fixture
def bench(tmp_path: Path, sandbox: Sandbox) -> Bench:
    return Bench(tmp_path, sandbox)


def silent() -> WrittenModels:
    """Fails at any question."""
    return WrittenModels(WrittenModel(fails=ALL_AWAY))


@dataclass(frozen=True)
class Measured:
    """The files, requests and results of one run of all strategies on one task."""

    directory: Path
    asked: list[tuple[str, str, int]]
    results: list[TaskResult]
    told: list[TaskResult]

    def by(self, *strategies: Strategy) -> list[TaskResult]:
        return [each for each in self.results if each.strategy in strategies]

    def copied(self, bench: Bench) -> None:
        shutil.copytree(self.directory / "out", bench.directory / "out")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory, sandbox: Sandbox) -> Measured:
    bench, model = Bench(tmp_path_factory.mktemp("measured"), sandbox), WrittenModel()
    return Measured(bench.directory, model.asked, bench.run(WrittenModels(model), *STRATEGIES), bench.told)


def timeless(results: list[TaskResult]) -> list[TaskResult]:
    """Drop what depends on the time of asking: seconds, and how many of the calls were replayed."""
    return [replace(each, seconds=0, usage=replace(each.usage, seconds=0, replayed=0)) for each in results]


def test_every_strategy_has_its_result_and_it_is_told(measured: Measured) -> None:
    assert {each.strategy for each in measured.results} == set(STRATEGIES)
    assert {(each.hidden, each.claimed, each.error) for each in measured.results} == {
        (Hidden(True, True), True, None)
    }
    grades = {each.strategy: each.grade for each in measured.results}
    assert grades["greenloop"] == grades["best-of-n"] == "verified"
    assert measured.told == measured.results


def test_strategies_share_the_replies_to_equal_questions(measured: Measured) -> None:
    assert len(set(measured.asked)) == len(measured.asked)
    charged = sum(each.usage.calls for each in measured.results)
    assert charged > len(measured.asked), "and each is charged for them"


@pytest.mark.thorough
def test_each_seed_is_a_result_of_its_own_with_other_drafts(bench: Bench) -> None:
    model = WrittenModel()
    found = bench.run(WrittenModels(model), "single", seeds=2)
    assert [each.seed for each in found] == [0, 1]
    assert len({seed for _, _, seed in model.asked}) == 2


def test_a_second_run_asks_nothing_and_gives_the_same(bench: Bench, measured: Measured) -> None:
    measured.copied(bench)
    assert bench.run(silent(), *STRATEGIES) == measured.results
    assert bench.hidden.judged == []
    assert bench.told == measured.results


def test_recorded_replies_give_the_same_results_elsewhere(bench: Bench, measured: Measured) -> None:
    measured.copied(bench)
    elsewhere = bench.run(recorded_backends(bench.replies), "greenloop", "best-of-n", out="elsewhere")
    assert timeless(elsewhere) == timeless(measured.by("greenloop", "best-of-n"))


def test_again_does_everything_anew_on_the_recorded_replies(bench: Bench, measured: Measured) -> None:
    measured.copied(bench)
    again = bench.run(silent(), "single", "classic", again=True)
    assert timeless(again) == timeless(measured.by("single", "classic"))
    assert len(bench.hidden.judged) == 2


@pytest.mark.thorough
def test_a_strategy_that_is_added_later_is_all_that_is_done(bench: Bench) -> None:
    first = bench.run(WrittenModels(WrittenModel()), "single")
    model = WrittenModel()
    both = bench.run(WrittenModels(model), "single", "classic")
    assert [each for each in both if each.strategy == "single"] == first
    assert [kind for kind, _, _ in model.asked] == ["tests of code"], "its draft is recorded"


@pytest.mark.thorough
def test_a_damaged_result_is_done_again_and_no_other(bench: Bench) -> None:
    first = bench.run(WrittenModels(WrittenModel()), "single", "classic", rows=(HALVED, INITIALS))
    damaged, *others = bench.files()
    whole, untouched = damaged.read_text(), [file.stat().st_mtime_ns for file in others]
    damaged.write_text(whole[: len(whole) // 2])
    again = bench.run(recorded_backends(bench.replies), "single", "classic", rows=(HALVED, INITIALS))
    assert timeless(again) == timeless(first)
    assert [file.stat().st_mtime_ns for file in others] == untouched
    assert len(damaged.read_text()) > len(whole) // 2


@pytest.mark.thorough
def test_what_ended_before_a_run_was_cut_short_is_kept(bench: Bench) -> None:
    cut = WrittenModel(fails={"initials": AWAY})
    with pytest.raises(ModelError, match="away"):
        bench.run(WrittenModels(cut), "single", "classic", rows=(HALVED, INITIALS))
    assert len(bench.files()) == 2
    model = WrittenModel()
    assert len(bench.run(WrittenModels(model), "single", "classic", rows=(HALVED, INITIALS))) == 4
    assert {name for _, name, _ in model.asked} == {"initials"}


@pytest.mark.thorough
def test_best_of_n_drafts_until_it_spent_what_greenloop_did(bench: Bench) -> None:
    cautious = {"halved": [RIGHT["halved"], WRONG["halved"], *[RIGHT["halved"]] * 98]}
    found = bench.run(WrittenModels(WrittenModel(draft=cautious)), "best-of-n", "greenloop")
    spent = {each.strategy: each.usage.completion_tokens for each in found}
    drafts = {each.strategy: each.drafts for each in found}
    assert spent["greenloop"] <= spent["best-of-n"] < spent["greenloop"] + TOKENS
    assert drafts["best-of-n"] > drafts["greenloop"]


def test_best_of_n_matches_a_greenloop_result_of_an_earlier_run(bench: Bench, measured: Measured) -> None:
    measured.copied(bench)
    (best,) = (file for file in bench.files() if "best-of-n" in file.parts)
    best.unlink()
    both = bench.run(WrittenModels(WrittenModel()), "greenloop", "best-of-n")
    (greenloop,) = measured.by("greenloop")
    assert {each.usage.completion_tokens for each in both} == {greenloop.usage.completion_tokens}


def test_best_of_n_alone_drafts_what_the_plan_has(bench: Bench) -> None:
    (alone,) = bench.run(WrittenModels(WrittenModel()), "best-of-n")
    assert alone.usage.completion_tokens == alone.drafts * TOKENS
    assert alone.drafts > 1


@pytest.mark.parametrize(
    ("draft", "tests", "replacement", "right", "lost"),
    [
        pytest.param(RIGHT, OF_WRONG, WRONG, False, True, id="right, repaired to wrong"),
        pytest.param(WRONG, None, RIGHT, True, False, id="wrong, repaired to right", marks=pytest.mark.thorough),
        pytest.param(
            WRONG,
            None,
            {"halved": "def halved(xs):\n    return 'WRONG'\n"},
            False,
            False,
            id="never right",
            marks=pytest.mark.thorough,
        ),
        pytest.param(WRONG, OF_WRONG, RIGHT, False, False, id="wrong, not repaired", marks=pytest.mark.thorough),
        pytest.param(
            RIGHT,
            OF_WRONG,
            {"halved": RIGHT["halved"] + "\n\nX = 1\n"},
            True,
            False,
            id="right throughout",
            marks=pytest.mark.thorough,
        ),
    ],
)
def test_a_right_draft_that_a_repair_spoilt_is_lost_to_repair(
    bench: Bench,
    draft: Mapping[str, str],
    tests: Mapping[str, list[str]] | None,
    replacement: Mapping[str, str],
    right: bool,
    lost: bool,
) -> None:
    model = WrittenModel(
        draft={"halved": [draft["halved"]]},
        tests_of_code=tests or {"halved": [suite("halved", TESTS["halved"])]},
        replacement={"halved": [replacement["halved"]]},
    )
    (found,) = bench.run(WrittenModels(model), "classic")
    assert found.hidden == Hidden(right, right)
    assert found.lost_to_repair is lost


@pytest.mark.thorough
def test_a_wrong_draft_chosen_over_a_right_one_is_not_lost_to_repair(bench: Bench) -> None:
    unlike_the_example = "def halved(xs):\n    return list(xs)\n"  # right, as far as KnownAnswers goes
    like_it = RIGHT["halved"] + "\n\nWRONG = True\n"
    model = WrittenModel(draft={"halved": [unlike_the_example, like_it]})
    (found,) = bench.run(WrittenModels(model), "best-of-n")
    assert (found.solution, found.hidden) == (like_it, Hidden(False, False))
    assert not found.lost_to_repair


@pytest.mark.thorough
def test_false_claims_are_kept_as_they_are(bench: Bench) -> None:
    model = WrittenModel(draft={"halved": [WRONG["halved"]]}, tests_of_code=OF_WRONG)
    (found,) = bench.run(WrittenModels(model), "classic")
    assert (found.claimed, found.hidden, found.grade) == (True, Hidden(False, False), "failed")


@pytest.mark.thorough
def test_without_examples_nothing_is_trusted(bench: Bench) -> None:
    found = bench.run(WrittenModels(WrittenModel()), "single", "greenloop", strip=True)
    by_strategy = {each.strategy: each for each in found}
    assert (by_strategy["single"].claimed, by_strategy["single"].grade) == (False, "contested")
    assert (by_strategy["greenloop"].claimed, by_strategy["greenloop"].grade) == (True, "consensus")


def test_a_task_that_the_model_cannot_do_is_a_result_and_the_others_go_on(bench: Bench) -> None:
    model = WrittenModel(draft={"halved": ["I would rather not."], "initials": [RIGHT["initials"]]})
    found = bench.run(WrittenModels(model), "greenloop", rows=(HALVED, INITIALS))
    assert [(each.solution == "", each.hidden, each.grade) for each in found] == [
        (True, None, None),
        (False, Hidden(True, True), "verified"),
    ]
    assert "no module" in (found[0].error or "")


@needs_evalplus
def test_evalplus_has_the_last_word(bench: Bench, tmp_path: Path) -> None:
    strong = open_or_skip("bubblewrap")
    hidden = HiddenTests(read_tasks(data_file(tmp_path, HALVED, INITIALS)), strong)
    model = WrittenModel(
        draft={"halved": [RIGHT["halved"]], "initials": ["def initials(name):\n    return 'AL'\n"]}
    )
    found = bench.run(WrittenModels(model), "single", rows=(HALVED, INITIALS), hidden=hidden)
    assert [(each.claimed, each.hidden) for each in found] == [
        (True, Hidden(True, True)),
        (True, Hidden(False, False)),
    ]
    strong.close()
