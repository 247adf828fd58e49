"""One strategy on one task, on a model whose answers are written here and on the real verifier."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agents.bench.specs import Attempt
from agents.bench.tasks import read_tasks
from agents.errors import ModelError, SandboxUnavailable
from agents.sandbox import open_sandbox
from agents.settings import Settings, Strategy
from agents.verifier.cached_verifier import CachedVerifier

from ..support.written_model import (
    HALVED,
    RIGHT,
    TESTS_OF_WRONG,
    TOKENS,
    WRONG,
    WrittenModel,
    WrittenModels,
    data_file,
    recorded_backends,
    suite,
)

NONE = {"halved": ["I would rather not."]}


@pytest.fixture(scope="module")
def verifier() -> Iterator[CachedVerifier]:
    try:
        sandbox = open_sandbox()
    except SandboxUnavailable as unavailable:
        pytest.skip(f"no sandbox here: {unavailable}")
    made = CachedVerifier(sandbox)
    yield made
    made.close()
    sandbox.close()


class Maker:
    """Makes attempts at one task, whose replies are kept in `directory`."""

    def __init__(self, directory: Path, verifier: CachedVerifier) -> None:
        self._directory = directory
        self._verifier = verifier
        self._task = read_tasks(data_file(directory, HALVED))[0]

    @property
    def replies(self) -> Path:
        return self._directory / "replies"

    def attempt(self, strategy: Strategy, strip: bool = False, tokens: int | None = None) -> Attempt:
        return Attempt(self._task.spec(strip), Settings(strategy=strategy), tokens)

    def made(
        self, strategy: Strategy, model: WrittenModel, *, strip: bool = False, tokens: int | None = None
    ) -> Attempt:
        attempt = self.attempt(strategy, strip, tokens)
        attempt.make(WrittenModels(model), self.replies, self._verifier)
        return attempt

    def replayed(self, strategy: Strategy) -> Attempt:
        attempt = self.attempt(strategy)
        attempt.make(recorded_backends(self.replies), self._directory / "none", self._verifier)
        return attempt


@pytest.fixture
def maker(tmp_path: Path, verifier: CachedVerifier) -> Maker:
    return Maker(tmp_path, verifier)


def test_an_attempt_holds_what_was_made_and_what_it_took(maker: Maker) -> None:
    model = WrittenModel()
    attempt = maker.made("greenloop", model)
    assert (attempt.code, attempt.claimed, attempt.error) == (RIGHT["halved"], True, None)
    assert attempt.rounds[-1].ruling.grade == "verified"
    assert attempt.drafts == len([kind for kind, _, _ in model.asked if kind == "draft"])
    assert attempt.budget.usage.calls == len(model.asked)
    assert attempt.budget.usage.completion_tokens == TOKENS * len(model.asked)
    assert attempt.seconds > 0
    assert not attempt.repaired


@pytest.mark.thorough
@pytest.mark.parametrize("strategy", ["single", "best-of-n", "classic", "greenloop"])
def test_recorded_replies_make_the_same_attempt_and_cost_the_same(maker: Maker, strategy: Strategy) -> None:
    first = maker.made(strategy, WrittenModel())
    again = maker.replayed(strategy)
    assert (again.code, again.claimed, again.drafts) == (first.code, first.claimed, first.drafts)
    assert replace(again.budget.usage, seconds=0) == replace(
        first.budget.usage, seconds=0, replayed=first.budget.usage.calls
    )


def test_equal_questions_of_two_strategies_are_asked_once_and_charged_to_both(maker: Maker) -> None:
    maker.made("best-of-n", WrittenModel())
    silent = WrittenModel(fails={"halved": ModelError("bad_key", "The key is wrong; set another.")})
    single = maker.made("single", silent)
    assert (single.code, silent.asked) == (RIGHT["halved"], [])
    assert single.budget.usage.completion_tokens == TOKENS


@pytest.mark.parametrize(("tokens", "drafts"), [(1, 1), (TOKENS, 1), (TOKENS + 1, 2), (20 * TOKENS - 1, 20)])
def test_drafting_ends_once_as_many_tokens_are_spent(maker: Maker, tokens: int, drafts: int) -> None:
    attempt = maker.made("best-of-n", WrittenModel(), tokens=tokens)
    assert len({candidate.id for candidate in attempt.rounds[0].board.candidates}) == drafts
    assert tokens <= attempt.budget.usage.completion_tokens < tokens + TOKENS
    assert attempt.error is None
    assert attempt.claimed


def test_a_model_that_cannot_do_the_task_is_the_tasks_error(maker: Maker) -> None:
    attempt = maker.made("greenloop", WrittenModel(draft=NONE))
    assert (attempt.code, attempt.claimed, attempt.rounds) == ("", False, [])
    assert "no module" in (attempt.error or "")
    assert attempt.budget.usage.completion_tokens > 0


def test_what_was_made_without_a_readable_test_is_a_result(maker: Maker) -> None:
    attempt = maker.made("classic", WrittenModel(tests_of_code=NONE), strip=True)
    assert (attempt.code, attempt.claimed, attempt.error) == (RIGHT["halved"], False, None)


@pytest.mark.parametrize("kind", ["bad_key", "network", "quota", "runtime"])
def test_a_model_that_cannot_be_reached_is_no_result(maker: Maker, kind: str) -> None:
    with pytest.raises(ModelError) as raised:
        maker.made("greenloop", WrittenModel(fails={"halved": ModelError(kind, "It is away; start it.")}))
    assert raised.value.kind == kind


def test_a_repair_that_is_handed_over_is_known_with_the_first_draft(maker: Maker) -> None:
    of_wrong = {"halved": [suite("halved", TESTS_OF_WRONG["halved"])]}
    wrong = {"halved": [WRONG["halved"]]}
    attempt = maker.made("classic", WrittenModel(tests_of_code=of_wrong, replacement=wrong))
    assert attempt.repaired
    assert (attempt.first_code, attempt.code) == (RIGHT["halved"], WRONG["halved"])


def test_a_draft_that_is_handed_over_is_no_repair(maker: Maker) -> None:
    attempt = maker.made("best-of-n", WrittenModel(draft={"halved": [WRONG["halved"], RIGHT["halved"]]}))
    assert not attempt.repaired
    assert (attempt.first_code, attempt.code) == (WRONG["halved"], RIGHT["halved"])
