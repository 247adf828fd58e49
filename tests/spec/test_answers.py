"""Answers to open questions: read like the spec's own examples, or refused in one helpful sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.errors import UsageError
from agents.records import Spec, Test
from agents.roles.prompt import messages, with_all_examples
from agents.spec import read_spec, with_answers
from agents.spec.answers import answered as answered_by
from agents.spec.answers import why_ruled_out
from agents.suite import example_tests

SPEC = read_spec('Implement slugify(text: str) -> str. slugify("A b") == "a-b"', origin="argument")


def answered(directory: Path, text: str, spec: Spec = SPEC, *, under_way: bool = False) -> Spec:
    path = directory / "answers.txt"
    path.write_text(text, encoding="utf-8")
    return with_answers(spec, path, under_way=under_way)


def codes(spec: Spec) -> list[str]:
    return [example.code for example in spec.examples]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('slugify("é") == "e"', 'assert slugify("é") == "e"'),
        ("slugify('x') -> 'x'", "assert slugify('x') == 'x'"),
        ("slugify(None) raises TypeError", "with pytest.raises(TypeError):\n    slugify(None)"),
        ("# a comment\n\n  - slugify('x') is None\r\n", "assert slugify('x') is None"),
        ("assert not slugify('')", "assert not slugify('')"),
        ("examples:\n  - slugify('x') == 'x'\n", "assert slugify('x') == 'x'"),
        ("# of mine\n---\nexamples: slugify('x') == 'x'\n", "assert slugify('x') == 'x'"),
    ],
)
def test_an_answer_becomes_a_trusted_example_after_those_of_the_spec(tmp_path: Path, text: str, code: str) -> None:
    spec = answered(tmp_path, text)
    assert codes(spec) == ['assert slugify("A b") == "a-b"', code]
    assert spec.examples[1].answer
    assert not spec.examples[0].answer
    assert [test.origin for test in example_tests(spec)] == ["spec", "spec"]


def test_an_entry_point_named_like_a_builtin_is_the_specs(tmp_path: Path) -> None:
    spec = answered(
        tmp_path, "sum(10, 15) == 6", read_spec("Implement sum(a: int, b: int) -> int.", origin="argument")
    )
    assert codes(spec) == ["assert sum(10, 15) == 6"]


def test_several_answers_keep_their_order_and_come_once(tmp_path: Path) -> None:
    text = "slugify('b') == 'b'\nslugify('a') == 'a'\nslugify('b')  ==  'b'\nslugify('A b') == 'a-b'\n"
    assert codes(answered(tmp_path, text))[1:] == ["assert slugify('b') == 'b'", "assert slugify('a') == 'a'"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("slugify('a')", r"answers\.txt, line 1: .* states no result; write it as"),
        (
            "\n# c\nslugify('a' ==",
            r"txt, line 3: .* is not Python .*; write it as `slugify\(\.\.\.\) == value`",
        ),
        ("slugfy('a') == 'a'", "line 1: the spec does not define `slugfy`; write `slugify`"),
        ("shorten('a') == 'a'", "line 1: the spec does not define `shorten`; answer with a call of `slugify`"),
        ("slugify('a') == a", "line 1: the spec does not define `a`"),
        ("1 == 1", "line 1: `1 == 1` calls nothing that the spec defines"),
        ("slugify == 1", "line 1: `slugify == 1` calls nothing"),
        ("slugify('a') == 'a'\nslugify('a') == 'b'", "line 2: .* contradicts line 1; keep one"),
        ("slugify('a') == 'a'\nslugify('a') raises ValueError", "line 2: .* contradicts line 1"),
        ("slugify('A b') == 'x'", r"line 1: .* contradicts the spec's `slugify\(\"A b\"\) == \"a-b\"`; leave"),
        ("# slugify('a') == 'a'\n", "holds no answer; uncomment one"),
        ("examples:\n", "holds no answer"),
        ("examples:\n  - slugify('b') == 'b'\n  - slugify('a')\n", "line 3: .* states no result"),
        ("examples: 3\n", "line 1: `examples` must be a list"),
        ("examples:\n  [slugify\n", "line 3: the file is not YAML"),
        ("examples:\n  - slugify('b') == 'b'\nid: x\n", "line 3: `id` is not known here"),
    ],
)
def test_what_is_no_answer_is_one_sentence_with_the_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as error:
        answered(tmp_path, text)
    assert str(error.value).startswith(str(tmp_path / "answers.txt"))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["slugify('a') == '\ud800'", "wrong: \ud800", "slugify('a') == '\0'"])
def test_an_answer_that_is_no_text_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="The answers is not text"):
        answered_by(SPEC, text, "The answers", under_way=False)


def test_a_missing_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.txt does not exist; check the path"):
        with_answers(SPEC, tmp_path / "none.txt", under_way=False)


def test_a_spec_of_several_functions_may_be_answered_about_each(tmp_path: Path) -> None:
    spec = read_spec("Implement encode(text: str) -> str and decode(text: str) -> str.", origin="argument")
    assert codes(answered(tmp_path, "decode(encode('a')) == 'a'", spec)) == ["assert decode(encode('a')) == 'a'"]


def test_a_new_run_is_told_its_answers_and_a_run_under_way_is_not(tmp_path: Path) -> None:
    """Earlier questions are asked in the same words: only then do the recorded replies answer them."""
    before = messages(SPEC, "code_writer")
    assert "slugify('é')" in messages(answered(tmp_path, "slugify('é') == 'e'"), "code_writer")[1].content
    late = answered(tmp_path, "slugify('é') == 'e'", under_way=True)
    assert messages(late, "code_writer") == before
    assert "slugify('é')" in messages(with_all_examples(late), "code_writer")[1].content


def test_a_later_answer_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    first = answered(tmp_path, "slugify('a') == 'a'\nslugify('b') == 'b'")
    second = answered(tmp_path, "slugify('a') == 'x'", first, under_way=True)
    assert codes(second)[1:] == ["assert slugify('b') == 'b'", "assert slugify('a') == 'x'"]


def test_a_later_answer_about_a_call_takes_the_place_of_one_that_says_less(tmp_path: Path) -> None:
    first = answered(tmp_path, "slugify('a') == 0.15\nslugify('b') == 'b'")
    second = answered(tmp_path, "slugify('a') == pytest.approx(0.15)", first, under_way=True)
    assert codes(second)[1:] == ["assert slugify('b') == 'b'", "assert slugify('a') == pytest.approx(0.15)"]


def test_an_answer_given_twice_stays_as_it_was(tmp_path: Path) -> None:
    first = answered(tmp_path, "slugify('a') == 'a'")
    assert answered(tmp_path, "slugify('a') == 'a'", first, under_way=True) == first


def test_an_answer_may_run_the_program(tmp_path: Path) -> None:
    spec = read_spec("Write a program that adds its arguments.", origin="argument")
    run = "subprocess.run([sys.executable, 'user_code.py', '1'], capture_output=True, text=True)"
    path = tmp_path / "answers.txt"
    path.write_text(f"done = {run}; done.stdout == '1\\n'\n", encoding="utf-8")
    (example,) = with_answers(spec, path, under_way=True).examples
    assert example.code.endswith("assert done.stdout == '1\\n'")


GENERATED = (
    Test("test_empty", "def test_empty():\n    s = MinStack()\n    assert s.min() is None\n", "generated"),
    Test(
        "test_one",
        "def test_one():\n    stack = MinStack()\n    stack.push(1)\n    assert stack.min() == 1\n",
        "generated",
    ),
    Test("test_spec_example_1", "def test_spec_example_1():\n    assert MinStack().size() == 0\n", "spec"),
)
STACK = read_spec(
    "Implement class MinStack with push(x), pop(), min() and size().\n\nassert MinStack().size() == 0",
    origin="argument",
)


def rulings(directory: Path, *lines: str, spec: Spec = STACK) -> Spec:
    path = directory / "answers.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    return with_answers(spec, path, under_way=True, tests=GENERATED)


@pytest.mark.parametrize(
    ("line", "ruled_out"),
    [
        ("wrong: test_empty", ["test_empty"]),
        ("wrong: s = MinStack(); s.min() is None", ["test_empty"]),
        ("Wrong : `s = MinStack(); s.min() is None`", ["test_empty"]),
        ("wrong: x = MinStack(); x.push(1); x.min() == 1", ["test_one"]),
        ("any: s = MinStack(); s.min()", ["test_empty"]),
        ("any: m = MinStack(); m.push(1)", ["test_one"]),
        ("any: m = MinStack(); m.push(2)", []),
        ("m = MinStack(); m.min() raises IndexError", []),
    ],
)
def test_an_answer_rules_out_the_generated_tests_that_it_is_about(
    tmp_path: Path, line: str, ruled_out: list[str]
) -> None:
    spec = rulings(tmp_path, line)
    assert [test.id for test in GENERATED if why_ruled_out(test, spec)] == ruled_out
    assert spec != STACK
    assert rulings(tmp_path, line, spec=spec) == spec


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["wrong: test_emty"], r"line 1: the run has no generated test `test_emty`; take one of: test_empty"),
        (["wrong: test_spec_example_1"], "no generated test `test_spec_example_1`"),
        (["wrong: s = MinStack(); s.min() == 5"], "no generated test of the run states"),
        (["any: MinStack().size() == 0"], r"contradicts the spec's `MinStack\(\).size\(\) == 0`"),
        (["any: 1 + 1"], "calls nothing that the spec defines"),
        (["any: MinStack("], "is not Python"),
        (["any: x = 1"], r"ends in no call; write `any: "),
        (["any: MinStack().min()", "MinStack().min() == 1"], "line 2: .* contradicts line 1"),
        (["wrong: test_one", "s = MinStack(); s.push(1); s.min() == 1"], "line 2: .* contradicts line 1"),
    ],
)
def test_a_ruling_that_can_not_be_meant_is_one_sentence(tmp_path: Path, lines: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        rulings(tmp_path, *lines)


def test_a_test_has_a_name_in_a_run_alone(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="`test_one` is the name of no test here"):
        answered(tmp_path, "wrong: test_one", STACK)


def test_a_later_ruling_takes_the_place_of_an_answer_and_the_other_way_round(tmp_path: Path) -> None:
    value = rulings(tmp_path, "s = MinStack(); s.push(1); s.min() == 1")
    ruled_out = rulings(tmp_path, "wrong: test_one", spec=value)
    assert codes(ruled_out) == codes(STACK)
    unspecified = rulings(tmp_path, "any: s = MinStack(); s.min()", spec=ruled_out)
    assert unspecified.wrong_tests == ruled_out.wrong_tests
    again = rulings(tmp_path, "s = MinStack(); s.min() raises ValueError", spec=unspecified)
    assert again.unspecified == ()
