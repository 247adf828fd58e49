"""Open questions: one line each for a person, and a file that is read back once a line is uncommented."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.records import Dispute, RunResult, Test
from agents.spec import read_spec, with_answers
from agents.spec.answers import answered
from agents.storage.questions import (
    answer_lines,
    how_to_answer,
    is_answered,
    question_line,
    questions_text,
    stated_lines,
)
from agents.terminal.next_steps import question_lines

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
    raising = question_line(Dispute("test_1", "f([])", ("raises ValueError",)))
    assert raising == "f([]) raises ValueError or something else?"
    changed = Dispute("test_1", "given = [2, 1]; f(given); given", ("[2, 1]", "[1, 2]"))
    assert question_line(changed) == "after given = [2, 1]; f(given), given is [2, 1] or [1, 2]?"
    assert stated_lines(changed)[1] == "given = [2, 1]; f(given); given == [1, 2]"
    (answer,) = answered(SPEC, stated_lines(changed)[1], "", under_way=True).examples
    assert answer.code.endswith("assert given == [1, 2]")


def test_a_long_answer_is_cut_in_the_question_and_whole_in_the_line_that_states_it() -> None:
    many = repr(list(range(100)))
    dispute = Dispute("test_1", "f(1)", (many, "[]"))
    assert question_line(dispute) == f"f(1) returns {many[:100]}… or []?"
    assert stated_lines(dispute)[0] == f"f(1) == {many}"


def test_five_questions_are_shown_after_a_run_and_the_others_counted() -> None:
    asked = tuple(Dispute(f"test_{number}", f"f({number})", ("1", "2")) for number in range(7))
    shown = question_lines(RunResult(schema_version=1, exit_code=1, disputes=asked, run_dir="runs/a"))
    assert [line.split(" returns")[0] for line in shown[:5]] == [f"Open: f({number})" for number in range(5)]
    assert shown[5] == "Open: 2 more questions in runs/a/questions.txt"
    assert len(question_lines(RunResult(schema_version=1, exit_code=1, disputes=asked))) == 8


def test_how_to_answer_is_told_by_a_line_that_can_be_pasted() -> None:
    assert "such as  f('éa') == ''  in a file for --answers FILE" in how_to_answer([VALUES])


@pytest.mark.parametrize(("body", "line"), SOURCES.values(), ids=SOURCES.keys())
def test_a_test_that_states_no_plain_value_is_asked_about_by_what_it_checks(body: str, line: str) -> None:
    dispute = from_source(body)
    assert question_line(dispute) == f"is this right: {line.removeprefix('assert ')}?"
    assert stated_lines(dispute)[0] == line


BODIES = {
    "steps": ("s = f(1)\n    s.push(1)\n    assert s.min() == 1", "s = f(1); s.push(1); assert s.min() == 1"),
    "steps that raise": (
        "s = f(1)\n    s.pop()\n    with pytest.raises(IndexError):\n        s.pop()",
        "s = f(1); s.pop(); s.pop() raises IndexError",
    ),
    "several checks": (
        "s = f(1)\n    assert s.a == 1\n    assert s.b == 2",
        "s = f(1); assert s.a == 1; assert s.b == 2",
    ),
    "a name of a result": ("expected = [1]\n    y = f(1)\n    assert y == expected", "assert f(1) == [1]"),
    "a loop": ("for x in [1]:\n        assert f(x) == x", "wrong: test_1"),
    "a text of two lines": ("assert f(1) == '''a\nb'''", "assert f(1) == 'a\\nb'"),
}


@pytest.mark.parametrize(("body", "line"), BODIES.values(), ids=BODIES.keys())
def test_every_question_has_lines_that_can_be_uncommented(tmp_path: Path, body: str, line: str) -> None:
    dispute = from_source(body)
    tests = [Test("test_1", dispute.question, "generated")]
    lines = answer_lines(dispute, SPEC, tests)
    assert lines[0] == line
    assert lines[-1] == "wrong: test_1"
    assert "\n" not in question_line(dispute)
    for number, each in enumerate(lines):
        path = tmp_path / f"{number}.txt"
        path.write_text(each)
        assert with_answers(SPEC, path, under_way=True, tests=tests) != SPEC
    assert lines[0] in how_to_answer([dispute])


def test_only_lines_that_the_run_takes_are_offered() -> None:
    spec = read_spec("Implement f(x) -> object. f(1) == 2", origin="argument")
    assert answer_lines(Dispute("test_probe_1", "f(1)", ("2", "3")), spec, ()) == ("f(1) == 2",)


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
    assert stated_lines(Dispute("test_1", "f(1)", (answer,))) == ((line,) if line else ())


@pytest.mark.parametrize(
    "dispute",
    [
        VALUES,
        Dispute("p", "f([1, 2])", ("None", "True", "1.5", "{1: 'x'}", "raises ValueError")),
        *(from_source(b) for b, _ in SOURCES.values()),
    ],
)
def test_each_answer_of_the_file_is_read_once_it_is_uncommented(tmp_path: Path, dispute: Dispute) -> None:
    text = questions_text([dispute, VALUES], tmp_path, SPEC, ())
    assert not is_answered(text)
    path = tmp_path / "answers.txt"
    offered = stated_lines(dispute)
    assert offered
    for line in offered:
        assert f"# {line}\n" in text
        path.write_text(text.replace(f"# {line}\n", f"{line}\n", 1), encoding="utf-8")
        assert is_answered(path.read_text(encoding="utf-8"))
        assert len(with_answers(SPEC, path, under_way=True).examples) == 1


def test_the_name_of_a_run_is_no_answer(tmp_path: Path) -> None:
    run = tmp_path / "a b\nf(1) == 3\n"
    text = questions_text([VALUES], run, SPEC, ())
    assert not is_answered(text)
    assert f"# --resume '{tmp_path}/a b f(1) == 3 ' --answers" in text


def test_a_question_about_an_object_is_answered_on_one_line(tmp_path: Path) -> None:
    spec = read_spec("Implement class Stack with `pop`.", origin="argument")
    dispute = Dispute("test_1", "s = Stack(2); s.push(1); s.pop()", ("1", "2", "raises IndexError"))
    assert question_line(dispute) == "s = Stack(2); s.push(1); s.pop() returns 1 or 2 or raises IndexError?"
    for number, line in enumerate(stated_lines(dispute)):
        path = tmp_path / f"{number}.txt"
        path.write_text(line + "\n", encoding="utf-8")
        (example,) = with_answers(spec, path, under_way=True).examples
        assert example.code.startswith("s = Stack(2)\ns.push(1)\n")
