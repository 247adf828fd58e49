"""`--approve`: what a person is shown, what each answer does, and that nothing else counts as consent."""

from __future__ import annotations

import json
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agents import Cancellation, Decision, Proposal, Settings, UsageError, generate
from agents.records import RunResult
from agents.records.approvals import Answer
from agents.settings import ApprovePoints

from ..support.commands import greenloop
from ..support.provider import Answer as ProviderAnswer
from ..support.provider import Handler, Provider, Streams, serving
from ..support.pseudo_terminal import on_terminal

SPEC = "Implement double(x: int) -> int: twice the number. double(2) == 4"
WRONG = "def double(x: int) -> int:\n    return x + 1\n"
MENDED = "def double(x: int) -> int:\n    return x * 2  # mended\n"
TESTS = """\
from user_code import double


def test_zero():
    assert double(0) == 0


def test_three():
    assert double(3) == 6
"""
OPTIONS = ("--effort", "low", "--model", "openai/gpt-4o", "--no-mutation")


def fenced(code: str) -> Streams:
    return Streams([f"```python\n{code}```\n"])


def answering(replacement: Callable[[Handler], str]) -> ProviderAnswer:
    """Answer with wrong drafts, the tests, and what `replacement` makes of a request for one."""

    def answer(handler: Handler) -> None:
        asked = handler.body["messages"][-1]["content"]
        if "Write the complete corrected" in asked:
            fenced(replacement(handler))(handler)
        else:
            fenced(TESTS if "Write pytest tests" in asked else WRONG)(handler)

    return answer


def mended(handler: Handler) -> str:
    """A right replacement, and another one after a note."""
    noted = "# What the user says" in handler.body["messages"][-1]["content"]
    return MENDED.replace("x * 2  # mended", "2 * x  # noted") if noted else MENDED


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serving() as server:
        server.script(answering(mended))
        yield server


def asked_of(provider: Provider) -> list[str]:
    return [request["messages"][-1]["content"] for request in provider.requests]


class Person:
    """Answers in order, then yes; `shown` are the proposals."""

    def __init__(self, *answers: Decision | Answer) -> None:
        self._answers = [each if isinstance(each, Decision) else Decision(each) for each in answers]
        self.shown: list[Proposal] = []

    def __call__(self, proposal: Proposal) -> Decision:
        self.shown.append(proposal)
        return self._answers.pop(0) if self._answers else Decision("yes")


def run(
    folder: Path,
    provider: Provider,
    person: Callable[[Proposal], Decision] | None,
    points: ApprovePoints = "replacement",
    cancellation: Cancellation | None = None,
    **more: Any,
) -> RunResult:
    settings = Settings(
        model="openai/gpt-4o", api_base=provider.api_base, effort="low", mutation=False, approve=points, **more
    )
    return generate(
        SPEC,
        settings=settings,
        environ={"OPENAI_API_KEY": "k"},
        work_dir=folder,
        approve=person,
        cancellation=cancellation,
    )


def candidates(result: RunResult) -> list[dict[str, str]]:
    assert result.run_dir is not None
    rounds = sorted(Path(result.run_dir, "rounds").glob("*/round.json"))
    found = {each["id"]: each for path in rounds for each in json.loads(path.read_text())["board"]["candidates"]}
    return list(found.values())


def test_an_approved_replacement_runs_and_what_is_shown_is_what_it_changes(
    tmp_path: Path, provider: Provider
) -> None:
    person = Person("yes")
    result = run(tmp_path, provider, person)
    assert result.code == MENDED.strip() + "\n"
    (shown,) = person.shown
    assert "+    return x * 2  # mended" in shown.diff
    assert any("double(2)" in fact for fact in shown.facts)
    assert shown.usage.calls == 5
    assert [each["origin"] for each in candidates(result)].count("repair") == 1
    assert any("approved" in note for note in result.notes)


def test_what_is_no_decision_is_a_usage_error(tmp_path: Path, provider: Provider) -> None:
    with pytest.raises(UsageError, match="approve returns can't be of type NoneType; give a Decision"):
        run(tmp_path, provider, lambda _: None, "all")  # type: ignore[arg-type, return-value]


def test_a_refused_replacement_never_runs_and_is_not_asked_for_again(tmp_path: Path, provider: Provider) -> None:
    result = run(tmp_path, provider, Person("no"))
    assert [each["origin"] for each in candidates(result)].count("repair") == 0
    assert sum("Write the complete corrected" in asked for asked in asked_of(provider)) == 1
    assert result.grade == "failed"
    assert result.code is not None
    assert "mended" not in result.code


@pytest.mark.thorough
def test_edited_code_is_the_users_and_has_no_vote(tmp_path: Path, provider: Provider) -> None:
    own = "def double(x: int) -> int:\n    return x + x\n"
    person = Person(Decision("edit", "def double(x:\n"), Decision("edit", own))
    result = run(tmp_path, provider, person)
    assert "not Python" in person.shown[1].problem
    assert person.shown[1].text == "def double(x:\n"
    (edited,) = [each for each in candidates(result) if each["origin"] == "user"]
    assert edited["code"] == own
    assert result.code == own
    assert result.grade != "consensus"


@pytest.mark.thorough
def test_a_note_is_in_the_critics_next_prompt(tmp_path: Path, provider: Provider) -> None:
    person = Person(Decision("note", "Multiply, do not add."), "yes")
    result = run(tmp_path, provider, person)
    asked = [each for each in asked_of(provider) if "Write the complete corrected" in each]
    assert ["Multiply, do not add." in each for each in asked] == [False, True]
    assert result.code is not None
    assert "noted" in result.code


@pytest.mark.thorough
def test_all_asks_of_drafts_and_tests_before_they_run(tmp_path: Path, provider: Provider) -> None:
    person = Person("no", "no", "no", Decision("edit", MENDED))
    result = run(tmp_path, provider, person, "all")
    points = [each.point for each in person.shown]
    assert points[:4] == ["draft"] * 4
    assert "tests" in points
    assert [each["origin"] for each in candidates(result)] == ["user"]
    tests = next(each for each in person.shown if each.point == "tests")
    assert "test_three" in tests.text


@pytest.mark.thorough
def test_a_round_is_shown_with_its_next_step_and_may_be_the_last(tmp_path: Path, provider: Provider) -> None:
    person = Person("no")
    result = run(tmp_path, provider, person, "round")
    assert person.shown[0].point == "round"
    assert any("Next: ask for a replacement" in fact for fact in person.shown[0].facts)
    assert not any("Write the complete corrected" in asked for asked in asked_of(provider))
    assert result.error is None


@pytest.mark.thorough
def test_after_always_nothing_more_is_asked(tmp_path: Path, provider: Provider) -> None:
    person = Person("always")
    result = run(tmp_path, provider, person, "all")
    assert len(person.shown) == 1
    assert result.code is not None
    assert "mended" in result.code


@pytest.mark.thorough
def test_stopped_and_unanswered_runs_ask_again_and_decided_things_are_not_asked(
    tmp_path: Path, provider: Provider
) -> None:
    stopped = run(tmp_path, provider, Person("yes", "stop"), "round")
    assert stopped.exit_code == 130
    assert stopped.run_dir is not None
    kept = json.loads(Path(stopped.run_dir, "approvals.json").read_text())
    assert [each["answer"] for each in kept.values()] == ["yes", "stop"]

    def silent(proposal: Proposal) -> Decision:
        time.sleep(30)
        return Decision("yes")

    began = time.monotonic()
    unanswered = run(tmp_path / "other", provider, silent, approve_seconds=0.5)
    assert time.monotonic() - began < 25
    assert unanswered.exit_code == 130
    assert unanswered.run_dir is not None
    kept = json.loads(Path(unanswered.run_dir, "approvals.json").read_text())
    assert [each["answer"] for each in kept.values()] == ["unanswered"]


@pytest.mark.thorough
def test_waiting_is_not_charged_to_the_runs_seconds(tmp_path: Path, provider: Provider) -> None:
    def slow(proposal: Proposal) -> Decision:
        time.sleep(6)
        return Decision("yes")

    result = run(tmp_path, provider, slow, max_seconds=30.0)
    assert result.code is not None
    assert "mended" in result.code
    shorter = run(tmp_path / "other", provider, slow, max_seconds=5.9)
    assert not any("seconds" in note for note in shorter.notes), shorter.notes


@pytest.mark.thorough
def test_cancelling_ends_the_wait(tmp_path: Path, provider: Provider) -> None:
    cancellation = Cancellation()

    def cancels(proposal: Proposal) -> Decision:
        cancellation.cancel()
        time.sleep(20)
        return Decision("yes")

    began = time.monotonic()
    result = run(tmp_path, provider, cancels, cancellation=cancellation)
    assert result.exit_code == 130
    assert time.monotonic() - began < 15


def test_settings_that_name_approvals_need_somebody(tmp_path: Path, provider: Provider) -> None:
    with pytest.raises(UsageError, match="Nobody is here to approve"):
        run(tmp_path, provider, None)
    assert provider.requests == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        (SPEC, "--approve", "replacement"),
        (SPEC, "--approve", "all", "--json"),
        ("batch", "a.md", "--out", "out", "--approve", "round"),
    ],
    ids=["no terminal", "json", "batch"],
)
def test_without_anybody_to_ask_it_is_exit_2_before_any_request(
    tmp_path: Path, provider: Provider, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "a.md").write_text(SPEC)
    ended = greenloop(
        tmp_path, *arguments, *OPTIONS, "--api-base", provider.api_base, extra={"OPENAI_API_KEY": "k"}
    )
    assert ended.returncode == 2, ended.stderr
    assert "--approve" in ended.stderr + ended.stdout
    assert provider.requests == []
    assert not (tmp_path / "work_dir").exists()


def start(folder: Path, provider: Provider, *more: str, extra: dict[str, str] | None = None):  # type: ignore[no-untyped-def]
    arguments = (SPEC, *OPTIONS, "--approve", "replacement", "--api-base", provider.api_base, *more)
    return on_terminal(folder, *arguments, "--questions", "0", extra={"OPENAI_API_KEY": "k", **(extra or {})})


def test_on_a_terminal_only_an_answer_counts(tmp_path: Path, provider: Provider) -> None:
    with start(tmp_path, provider) as keyboard:
        before = keyboard.see("s stop: ")
        assert "+    return x * 2  # mended" in before
        for nothing in ("", "x", "yes please"):
            keyboard.type(nothing)
            keyboard.see("s stop: ")
        keyboard.type("y")
        assert keyboard.end() in (0, 1)
    assert "mended" in (tmp_path / "work_dir/user_code.py").read_text()


@pytest.mark.thorough
@pytest.mark.parametrize("key", [b"\x04", b"\x03"], ids=["the end of the input", "Ctrl-C"])
def test_what_ends_the_question_approves_nothing_and_the_run_is_resumed(
    tmp_path: Path, provider: Provider, key: bytes
) -> None:
    with start(tmp_path, provider) as keyboard:
        keyboard.see("s stop: ")
        keyboard.press(key)
        assert keyboard.end() == 130
    (record,) = (tmp_path / "work_dir/runs").glob("*/run.json")
    run_directory = record.parent
    assert "mended" not in (run_directory / "user_code.py").read_text()
    asked = len(provider.requests)
    again = ("--resume", run_directory.name, "--api-base", provider.api_base, "--questions", "0")
    with on_terminal(tmp_path, *again, extra={"OPENAI_API_KEY": "k"}) as keyboard:
        keyboard.see("s stop: ")
        assert len(provider.requests) == asked
        keyboard.type("n")
        assert keyboard.end() == 1


@pytest.mark.thorough
def test_the_editor_is_the_users(tmp_path: Path, provider: Provider) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/x \\* 2  # mended/x + x/' \"$1\"\n")
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    with start(tmp_path, provider, extra={"EDITOR": str(editor)}) as keyboard:
        keyboard.see("s stop: ")
        keyboard.type("e")
        assert keyboard.end() in (0, 1)
    assert "return x + x" in (tmp_path / "work_dir/user_code.py").read_text()


@pytest.mark.thorough
def test_what_hides_or_reorders_is_shown_as_an_escape(tmp_path: Path, provider: Provider) -> None:
    hidden = MENDED.replace("mended", "\u202e\x1b[31m mended")
    provider.script(
        lambda handler: (
            fenced(hidden)
            if "Write the complete corrected" in handler.body["messages"][-1]["content"]
            else fenced(WRONG)
        )(handler)
    )
    with start(tmp_path, provider) as keyboard:
        before = keyboard.see("s stop: ")
        assert "\\u202e\\x1b[31m mended" in before
        keyboard.type("s")
        assert keyboard.end() == 130
