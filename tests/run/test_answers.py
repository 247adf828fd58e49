"""A run that is gone on with under answers: values, exceptions, wrong tests, calls that the spec leaves open."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agents.errors import UsageError
from agents.records import RunResult
from agents.run.run import RunRequest, run_spec
from agents.settings import Settings
from agents.spec import read_spec
from agents.spec.answers import answered
from agents.storage.run_directory import RunDirectory

from ..support.provider import Provider, Writes, serving

KEY = {"OPENAI_API_KEY": "k"}
SPEC = "Implement class MinStack. push(x) adds x; pop() takes the last off and returns it; min() the smallest.\n"
CODE = """\
class MinStack:
    def __init__(self):
        self.items = []

    def push(self, x):
        self.items.append(x)

    def pop(self):
        return self.items.pop()

    def min(self):
        return min(self.items{default})  # {number}
"""
TESTS = """\
from user_code import MinStack


def test_one():
    s = MinStack()
    s.push(1)
    assert s.min() == 1


def test_smallest():
    s = MinStack()
    s.push(2)
    s.push(1)
    assert s.min() == 1


def test_after_pop():
    s = MinStack()
    s.push(2)
    s.push(1)
    assert s.pop() == 1
    assert s.min() == 2


def test_pop():
    s = MinStack()
    s.push(-1)
    assert s.pop() == -1


def test_empty():
    stack = MinStack()
    lowest = stack.min()
    assert lowest is None


def test_all():
    s = MinStack()
    for x in (3, 1, 2):
        s.push(x)
        assert s.min() == 3
"""
ANSWERS = {
    "an exception": ("s = MinStack(); s.min() raises ValueError", "a trusted test expects raises ValueError"),
    "a wrong test": ("wrong: test_empty", "you answered that it is wrong"),
    "a statement": ("wrong: s = MinStack(); s.min() is None", "you answered that it is wrong"),
    "an open call": ("any: s = MinStack(); s.min()", "the spec says nothing about `s = MinStack(); s.min()`"),
}


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    def code(number: int) -> str:
        return CODE.format(number=number, default=", default=0" if number % 2 else "")

    with serving() as server:
        server.script(Writes(code, TESTS))
        yield server


def settings(provider: Provider, folder: Path) -> Settings:
    return Settings(
        model="openai/gpt-4o", api_base=provider.api_base, mutation=False, work_dir=folder, max_rounds=3
    )


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory, provider: Provider) -> RunResult:
    spec = read_spec(SPEC, origin="argument")
    return run_spec(RunRequest(spec, settings(provider, tmp_path_factory.mktemp("work")), KEY), lambda _: None)


def gone_on(result: RunResult, provider: Provider, lines: str) -> RunResult:
    """Go on with a run under these answers alone."""
    run = RunDirectory(Path(result.run_dir or ""))
    spec = read_spec(SPEC, origin="argument")
    spec = answered(spec, lines, "The answers", under_way=True, tests=run.tests_of_ledger())
    return run_spec(RunRequest(spec, settings(provider, run.path.parents[1]), KEY), lambda _: None, run)


def standing(result: RunResult) -> dict[str, tuple[str, str]]:
    return {entry.test.id: (entry.standing, entry.reason) for entry in result.ledger}


def test_the_tests_that_the_code_fails_are_open(ended: RunResult) -> None:
    open_ones = {name for name, (stands, _) in standing(ended).items() if stands == "contested"}
    assert open_ones == {"test_empty", "test_all"}, ended.why
    questions = Path(ended.run_dir or "", "questions.txt").read_text()
    assert "# stack = MinStack(); stack.min() is None\n" in questions
    assert "# any: stack = MinStack(); stack.min()\n" in questions
    assert "# wrong: test_all\n" in questions


@pytest.mark.parametrize(("line", "reason"), ANSWERS.values(), ids=ANSWERS.keys())
def test_an_answer_rules_out_what_it_contradicts_and_asks_no_model(
    ended: RunResult, provider: Provider, line: str, reason: str
) -> None:
    asked = len(provider.requests)
    result = gone_on(ended, provider, line)
    stands, why = standing(result)["test_empty"]
    assert stands == "ruled out"
    assert reason in why
    assert "test_empty" not in {dispute.test_id for dispute in result.disputes}
    assert len(provider.requests) == asked or "raises" in line  # fewer drafts are left, and one more is asked for
    assert "test_empty" not in (result.tests or "")


def test_drafts_that_differ_where_the_spec_does_not_care_agree(ended: RunResult, provider: Provider) -> None:
    result = gone_on(ended, provider, "any: s = MinStack(); s.min()\nwrong: test_all\n")
    assert result.grade == "consensus", result.why
    assert result.disputes == ()


def test_own_tests_that_can_not_be_run_are_named_before_anything_is_asked(
    tmp_path: Path, provider: Provider
) -> None:
    own = "from calc import MinStack\n\n\ndef test_own():\n    assert MinStack()\n"
    spec = read_spec(SPEC, origin="argument", tests=own)
    asked = len(provider.requests)
    with pytest.raises(UsageError, match=r"Your test test_own can't be run: it imports calc\.MinStack, neither"):
        run_spec(RunRequest(spec, settings(provider, tmp_path), KEY), lambda _: None)
    assert len(provider.requests) == asked
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_was_stopped_names_itself_with_the_way_on(tmp_path: Path, provider: Provider) -> None:
    spec = read_spec(SPEC, origin="argument")
    limited = replace(settings(provider, tmp_path), max_tokens=1)
    notes: list[str] = []
    result = run_spec(RunRequest(spec, limited, KEY), lambda event: notes.append(getattr(event, "text", "")))
    said = [*notes, result.error.message if result.error else ""]
    assert any(f"go on with --resume {result.run_dir}" in each for each in said), said
    assert not any(each.endswith("--resume.") for each in said)
