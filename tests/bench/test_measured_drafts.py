"""Drafts alone: what is measured of them, on a model whose answers are written here."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.bench.hidden_tests import HiddenTests
from agents.bench.results import Hidden, Journal
from agents.bench.runner import Means
from agents.bench.tasks import read_tasks
from agents.errors import UsageError
from agents.sandbox import Sandbox
from agents.settings import Settings
from docs.measure.drafts import (
    Draft,
    Drafting,
    DraftReport,
    TaskDrafts,
    chosen,
    draft_difference,
    draft_figures,
    read_report,
    write_drafts,
)

from ..support.written_model import HALVED, INITIALS, RIGHT, WRONG, WrittenModel, WrittenModels, data_file
from .test_hidden_tests import needs_evalplus

RIGHT_ONE, WRONG_ONE = Hidden(base=True, plus=True), Hidden(base=False, plus=False)


def draft(number: int, *, right: bool, examples: int = 1, behaviour: str = "a") -> Draft:
    return Draft(number, f"code {number}", 10, RIGHT_ONE if right else WRONG_ONE, examples, (behaviour,))


@pytest.mark.thorough
@needs_evalplus
def test_each_draft_is_judged_and_drafts_are_compared_on_hidden_inputs(tmp_path: Path, sandbox: Sandbox) -> None:
    other = RIGHT["halved"].replace("x // 2 if", "x / 2 if")
    model = WrittenModel(draft={"halved": [RIGHT["halved"], WRONG["halved"], other], "initials": ["no code"]})
    tasks = read_tasks(data_file(tmp_path, HALVED, INITIALS))
    hidden, journal = HiddenTests(tasks, sandbox), Journal(tmp_path / "out", {})
    told: list[str] = []
    drafting = Drafting(
        tasks, hidden, False, 3, Means(Settings(), WrittenModels(model), sandbox, hidden.judge, journal)
    )
    halved, initials = drafting.run(1, told.append)
    assert [each.hidden.plus for each in halved.drafts] == [True, False, True]
    assert [each.examples for each in halved.drafts] == [1, 0, 1]
    assert len({each.behaviour for each in halved.drafts}) == 3, "a float is another value"
    assert {each.solution for each in initials.drafts} == {""}
    assert [line for line in told if "drafted" in line] == told[:2], "nothing is judged while a model decodes"
    asked = len(model.asked)
    assert drafting.run(1, told.append) == [halved, initials]
    assert len(model.asked) == asked, "and it is never asked again"


def test_the_choice_is_the_first_of_the_most_frequent_behaviour_that_passes_most_examples() -> None:
    drafts = [
        draft(0, right=False, behaviour="a"),
        draft(1, right=True, behaviour="b"),
        draft(2, right=True, behaviour="b"),
        draft(3, right=False, examples=0, behaviour="c"),
        draft(4, right=False, examples=0, behaviour="c"),
        draft(5, right=False, examples=0, behaviour="c"),
    ]
    assert chosen(drafts).number == 1
    assert chosen(drafts[:2]).number == 0


def test_the_figures_count_drafts_tasks_and_choices() -> None:
    found = [
        TaskDrafts("one", 0, (draft(0, right=True), draft(1, right=False), draft(2, right=True))),
        TaskDrafts("two", 0, (draft(0, right=False), draft(1, right=False), draft(2, right=False))),
    ]
    figures = draft_figures(found)
    assert (figures.first.count, figures.first.total) == (1, 2)
    assert (figures.warm.count, figures.warm.total) == (1, 4)
    assert (figures.any_right.count, figures.any_right.total) == (1, 2)
    assert list(figures.pluralities) == [3]


def test_two_measurements_are_compared_draft_by_draft(tmp_path: Path) -> None:
    one = DraftReport("one", (TaskDrafts("t", 0, (draft(0, right=True), draft(1, right=True))),))
    other = DraftReport("other", (TaskDrafts("t", 0, (draft(0, right=True), draft(1, right=False))),))
    difference = draft_difference(one.tasks, other.tasks)
    assert difference is not None
    assert (difference.pairs, difference.gained, difference.lost) == (2, 1, 0)
    _, written = write_drafts("one", one.tasks, tmp_path, against=other)
    assert read_report(tmp_path) == one
    assert "against other, draft by draft" in written[1].read_text("utf-8")


def test_another_directory_to_compare_with_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"drafts\.json can't be read; --against takes"):
        read_report(tmp_path)
