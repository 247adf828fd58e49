"""Open questions: one line each for a person, and a file that is read back once a line is uncommented."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.records import Dispute
from agents.spec import read_spec, with_answers
from agents.storage.questions import answer_lines, how_to_answer, is_answered, question_line, questions_text

SPEC = read_spec("Implement f(x) -> object.", origin="argument")
VALUES = Dispute("test_1", "f('éa')", ("'ea'", "''"))
SOURCES = {
    "raises": ("with pytest.raises(ValueError):\n        f(-1)", "f(-1) raises ValueError"),
    "a condition": ("assert f(1)[0] > 2", "assert f(1)[0] > 2"),
    "a value with a name": ("x = [1]\n    assert f(x) == 1", "assert f([1]) == 1"),
}


def from_source(body: str) -> Dispute:
    return Dispute("test_1", f"def test_1():\n    {body}", ("AssertionError",))


def test_the_line_names_the_call_and_the_rival_answers() -> None:
    assert question_line(VALUES) == "f('éa') returns 'ea' or ''?"
    assert question_line(Dispute("test_1", "f(1)", ("2",))) == "f(1) returns 2 or something else?"


def test_how_to_answer_is_told_by_a_line_that_can_be_pasted() -> None:
    assert "such as  f('éa') == ''  in a file for --answers FILE" in how_to_answer([VALUES])


@pytest.mark.parametrize(("body", "line"), SOURCES.values(), ids=SOURCES.keys())
def test_a_test_that_states_no_plain_value_is_asked_about_by_what_it_checks(body: str, line: str) -> None:
    dispute = from_source(body)
    assert question_line(dispute) == f"is this right: {line.removeprefix('assert ')}?"
    assert answer_lines(dispute)[0] == line


@pytest.mark.parametrize("body", ["y = f(1)\n    assert f(y) == y", "for x in [1]:\n        assert f(x) == x"])
def test_a_test_that_fits_no_line_is_still_one_line_of_a_question(body: str) -> None:
    dispute = from_source(body)
    assert answer_lines(dispute) == ()
    assert "\n" not in question_line(dispute)
    assert "--tests FILE" in how_to_answer([dispute])


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        ("None", "f(1) is None"),
        ("True", "f(1) is True"),
        ("Decimal('1')", "f(1) == Decimal('1')"),
        ("<Point object>", None),
        ("nan", None),
        ("raises ValueError", "f(1) raises ValueError"),
        ("raises an exception", None),
        ("another value", None),
        (repr("a" * 140 + "..." + "a" * 140), None),
    ],
)
def test_only_a_value_that_can_be_written_is_offered(answer: str, line: str | None) -> None:
    assert answer_lines(Dispute("test_1", "f(1)", (answer,))) == ((line,) if line else ())


@pytest.mark.parametrize(
    "dispute",
    [
        VALUES,
        Dispute("p", "f([1, 2])", ("None", "True", "1.5", "{1: 'x'}", "raises ValueError")),
        *(from_source(b) for b, _ in SOURCES.values()),
    ],
)
def test_each_answer_of_the_file_is_read_once_it_is_uncommented(tmp_path: Path, dispute: Dispute) -> None:
    text = questions_text([dispute, VALUES], tmp_path)
    assert not is_answered(text)
    path = tmp_path / "answers.txt"
    offered = answer_lines(dispute)
    assert offered
    for line in offered:
        assert f"# {line}\n" in text
        path.write_text(text.replace(f"# {line}\n", f"{line}\n", 1), encoding="utf-8")
        assert is_answered(path.read_text(encoding="utf-8"))
        assert len(with_answers(SPEC, path, under_way=True).examples) == 1


def test_a_question_about_an_object_is_answered_on_one_line(tmp_path: Path) -> None:
    spec = read_spec("Implement class Stack with `pop`.", origin="argument")
    dispute = Dispute("test_1", "s = Stack(2); s.push(1); s.pop()", ("1", "2", "raises IndexError"))
    assert question_line(dispute) == "s = Stack(2); s.push(1); s.pop() returns 1 or 2 or raises IndexError?"
    for number, line in enumerate(answer_lines(dispute)):
        path = tmp_path / f"{number}.txt"
        path.write_text(line + "\n", encoding="utf-8")
        (example,) = with_answers(spec, path, under_way=True).examples
        assert example.code.startswith("s = Stack(2)\ns.push(1)\n")
