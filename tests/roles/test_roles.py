"""The roles on replies as the embedded model gives them."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import pytest

from agents.errors import ReplyError
from agents.records import Candidate, ClauseCheck, Example, Outcome, Reply, Request
from agents.roles.ask import SMALL_MODEL
from agents.roles.code_writer import CodeWriter
from agents.roles.critic import LONGEST_DETAIL, Critic, describe
from agents.roles.test_writer import TestWriter
from agents.spec import read_spec
from agents.syntax.source import program

from ..support.boards import value_test

SPEC = read_spec('Implement slugify(text: str) -> str. slugify("A b") == "a-b"', origin="argument")
MODULE = "```python\ndef slugify(text: str) -> str:\n    return text.lower()\n```"
OTHER = "```python\ndef slugify(text: str) -> str:\n    return text.lower().strip()\n```"
TESTS = "```python\nfrom user_code import slugify\n\ndef test_one():\n    assert slugify('B') == 'b'\n```"


class Model:
    """Answers from a list, the last for ever, and keeps what it was asked."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.asked: list[Request] = []

    def __call__(self, request: Request) -> Reply:
        self.asked.append(request)
        return Reply(self.texts.pop(0) if len(self.texts) > 1 else self.texts[0], "stop")


def writer(model: Model) -> CodeWriter:
    return CodeWriter(model, SMALL_MODEL, temperature=0.8, seed=3)


def blind_writer(model: Model) -> TestWriter:
    return TestWriter(model, SMALL_MODEL, seed=3)


def candidate(code: str = "def slugify(text: str) -> str:\n    return text\n") -> Candidate:
    return Candidate("draft0-x", code, "draft", 1)


def test_the_first_draft_is_cold_and_the_others_are_warm_with_seeds_of_their_own() -> None:
    model = Model(MODULE)
    drafts = [writer(model).draft(SPEC, number, 1) for number in range(3)]
    assert [request.temperature for request in model.asked] == [0.0, 0.8, 0.8]
    assert len({request.seed for request in model.asked}) == 3
    assert {draft.origin for draft in drafts} == {"draft"}
    assert writer(model).draft(SPEC, 3, 2).origin == "redraft"


def test_all_roles_share_the_beginning_of_their_prompts_up_to_the_task() -> None:
    model = Model(MODULE)
    writer(model).draft(SPEC, 0, 1)
    blind_writer(Model(TESTS)).draft(SPEC, 8)
    tests = Model(TESTS)
    blind_writer(tests).draft(SPEC, 8)
    repairs = Model(OTHER)
    Critic(repairs, SMALL_MODEL, seed=0).replace(SPEC, candidate(), [], 2, frozenset())
    asked = [m.asked[0].messages for m in (model, tests, repairs)]
    assert len({messages[0] for messages in asked}) == 1
    assert len({messages[1].content.partition("# Task")[0] for messages in asked}) == 1


def test_the_test_writer_is_never_shown_a_candidate() -> None:
    model = Model(TESTS)
    blind_writer(model).draft(SPEC, 8)
    assert "return text" not in str(model.asked[0].messages)


def test_properties_are_asked_for_by_number_and_blind_to_the_code() -> None:
    property_test = "@given(st.text())\ndef test_a(text):\n    assert slugify(text) == slugify(text).lower()\n"
    model = Model(f"```python\n{property_test}```")
    (test,) = blind_writer(model).properties(SPEC, 3)
    asked = model.asked[0]
    assert (test.id, test.origin, asked.purpose) == ("test_a", "generated", "properties")
    assert "at most 3 short test functions" in asked.messages[1].content
    assert "return text" not in str(asked.messages)


def test_a_redraft_is_told_of_answers_that_a_first_draft_was_not() -> None:
    late = replace(
        SPEC, examples=(*SPEC.examples, Example("assert slugify('é') == 'e'", "é", answer=True, told=False))
    )
    model = Model(MODULE)
    writer(model).draft(late, 0, 1)
    writer(model).draft(late, 1, 2)
    assert ["'é'" in request.messages[1].content for request in model.asked] == [False, True]


def test_tests_written_from_the_code_are_shown_the_code_and_nothing_of_the_spec() -> None:
    model = Model(TESTS)
    tests = blind_writer(model).draft_from_code(replace(SPEC, text="Secret wish."), candidate().code, 8)
    (asked,) = model.asked
    shown = "\n".join(message.content for message in asked.messages)
    assert [test.origin for test in tests] == ["generated"]
    assert "return text\n" in shown
    assert "Secret wish" not in shown
    assert (asked.temperature, asked.max_tokens) == (0.0, SMALL_MODEL.tests)


def test_tests_of_the_code_that_cannot_be_read_are_asked_for_again_and_then_refused() -> None:
    model = Model("I would rather not.", TESTS)
    assert blind_writer(model).draft_from_code(SPEC, candidate().code, 8)
    with pytest.raises(ReplyError):
        blind_writer(Model("I would rather not.")).draft_from_code(SPEC, candidate().code, 8)


def test_the_critic_sees_the_file_and_the_facts() -> None:
    model = Model(OTHER)
    test = value_test("test_1", "slugify('A')", "'a'")
    failures = [(test, Outcome("test_1", "failed", "...", "'A'", "'a'"))]
    replacement = Critic(model, SMALL_MODEL, seed=0).replace(SPEC, candidate(), failures, 2, frozenset())
    asked = model.asked[0].messages[1].content
    assert "return text\n" in asked
    assert "It returned 'A', and the test expects 'a'." in asked
    assert (replacement.origin, replacement.parent) == ("repair", "draft0-x")


def test_a_replacement_that_repeats_an_earlier_file_is_asked_for_again_and_then_refused() -> None:
    known = frozenset({program("def slugify(text: str) -> str:  # as before\n\n    return text.lower()\n")})
    model = Model(MODULE, OTHER)
    critic = Critic(model, SMALL_MODEL, seed=0)
    assert "strip" in critic.replace(SPEC, candidate(), [], 2, known).code
    assert "repeats" in model.asked[1].messages[-1].content
    with pytest.raises(ReplyError, match="repeats"):
        Critic(Model(MODULE), SMALL_MODEL, seed=0).replace(SPEC, candidate(), [], 2, known)


def test_a_failure_without_values_is_told_by_its_detail_cut_short() -> None:
    told = describe(value_test("test_1", "f(1)", "2"), Outcome("test_1", "error", "NameError: x\n" * 500))
    assert "NameError" in told
    assert len(told) < LONGEST_DETAIL + 200


def test_a_reply_without_code_is_a_reply_error_after_two_tries() -> None:
    model = Model("I would rather not.")
    with pytest.raises(ReplyError):
        writer(model).draft(SPEC, 0, 1)
    assert len(model.asked) == 2


FORMS = {
    "class": ("Implement class Stack with push and pop.", "x = Stack(...)"),
    "async": ("Implement async def fetch(n: int) -> int.", "asyncio.run(fetch(...))"),
    "async generator": (
        "Implement async def ticks(n: int) -> AsyncIterator[int].",
        "[x async for x in ticks(...)]",
    ),
    "generator": ("Implement count(n: int) -> Iterator[int].", "list(count(...)) == [...]"),
    "printing": ("Implement show(n: int) -> None that prints n.", "capsys"),
    "files": ("Implement size(path: Path) -> int.", "tmp_path"),
    "program": ("Write a program that adds its arguments.", '[sys.executable, "user_code.py", "1"]'),
}


@pytest.mark.parametrize(("text", "form"), FORMS.values(), ids=FORMS)
def test_each_kind_of_spec_has_a_form_of_tests(text: str, form: str) -> None:
    model = Model(TESTS)
    with contextlib.suppress(ReplyError):
        blind_writer(model).draft(read_spec(text, origin="argument"), 4)
    asked = model.asked[0].messages[1].content
    assert form in asked
    assert "Each has one line: an assertion that compares one call on literal values" not in asked


@pytest.mark.parametrize(("text", "form"), [FORMS[kind] for kind in FORMS if kind != "class"])
def test_tests_of_clauses_have_the_form_of_their_kind(text: str, form: str) -> None:
    model = Model(TESTS)
    with contextlib.suppress(ReplyError):
        blind_writer(model).draft_for(read_spec(text, origin="argument"), [ClauseCheck("It ends", 0)])
    asked = model.asked[0].messages[1].content
    assert form in asked
    assert ("user_code import" in asked) is not ("program" in text)


def test_a_program_is_asked_for_as_one_and_may_print() -> None:
    model = Model("```python\nprint(1)\n```")
    spec = read_spec("Write a program that prints its first argument.", origin="argument")
    assert writer(model).draft(spec, 0, 1).code == "print(1)\n"
    system, user = (message.content for message in model.asked[0].messages)
    assert "Never print" not in system
    assert "run as `python user_code.py`" in user
