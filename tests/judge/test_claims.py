from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.judge.claims import ValueClaim, as_test, claim_of
from agents.records import Test
from agents.syntax.literals import LONGEST_LITERAL, is_literal, same_value

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def claimed(body: str) -> ValueClaim | None:
    return claim_of(Test("test_x", f"def test_x():\n    {body}\n", "generated"))


@pytest.mark.parametrize(
    ("body", "claim"),
    [
        ("assert f(1) == 2", ValueClaim("f(1)", "2")),
        ("assert f(1) is None", ValueClaim("f(1)", "None")),
        ("assert f('a', [1]) == {'a': -1}", ValueClaim("f('a', [1])", "{'a': -1}")),
        ("assert f(1)", ValueClaim("f(1)", "True")),
        ("assert not f(1)", ValueClaim("f(1)", "False")),
    ],
)
def test_a_plain_assertion_claims_a_value(body: str, claim: ValueClaim) -> None:
    assert claimed(body) == claim


def test_an_f_string_that_python_can_not_write_out_is_a_claim_like_others() -> None:
    assert claimed("assert f(f\"{'\x7f'}{1}\") == 2") is not None
    assert claimed("assert f(1) == f\"{'\x7f'}{1}\"") is None


@pytest.mark.parametrize(
    "body",
    [
        "assert f(1) > 2",
        "assert f(1) == g(2)",
        "x = g()\n    assert x\n    assert f(x) == 2",
        "with pytest.raises(ValueError):\n        f(0)\n    assert f(1) == 2",
        "assert 2 == f(1)",
        "pass",
    ],
)
def test_other_tests_claim_nothing(body: str) -> None:
    assert claimed(body) is None


@pytest.mark.parametrize(
    "source", ["def test_x(n):\n    assert f(n)\n", "@given(st.integers())\ndef test_x():\n    assert f(1) == 2\n"]
)
def test_a_test_of_many_values_claims_none(source: str) -> None:
    assert claim_of(Test("test_x", source, "generated")) is None


@given(VALUES)
def test_a_value_is_the_same_as_itself(value: object) -> None:
    text = repr(value)
    assert same_value(text, f" {text} ") or len(text) > LONGEST_LITERAL


@pytest.mark.parametrize(
    ("one", "other"), [("1", "True"), ("1", "1.0"), ("[1]", "(1,)"), ("[0]", "[False]"), ("'a'", "a")]
)
def test_equal_values_of_other_types_differ(one: str, other: str) -> None:
    assert not same_value(one, other)


def test_order_matters_in_lists_and_not_in_sets() -> None:
    assert same_value("{1, 2}", "{2, 1}")
    assert not same_value("[1, 2]", "[2, 1]")


@pytest.mark.parametrize("text", ["__import__('os')", "f(1)", "", "[" * 5000, "9" * (LONGEST_LITERAL + 1)])
def test_what_is_no_plain_value_is_never_evaluated(text: str) -> None:
    assert not is_literal(text)


def test_a_settled_test_asks_the_same_with_the_value_that_won() -> None:
    test = Test("test_x", "def test_x():\n    assert f(1) == 2\n", "generated", "from user_code import f")
    settled = as_test(ValueClaim("f(1)", "3"), "test_x_settled", "settled", test.preamble)
    assert (settled.id, settled.origin, settled.preamble) == ("test_x_settled", "settled", test.preamble)
    assert claim_of(settled) == ValueClaim("f(1)", "3")


def test_what_is_left_out_is_no_value() -> None:
    assert not is_literal("[0, 1, ...]")
    assert not is_literal("{1: (2, ...)}")
    assert is_literal("...")


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        (
            "def test_x():\n    s = Stack(2)\n    s.push(1)\n    assert s.pop() == 1\n",
            ValueClaim("s.pop()", "1", ("s = Stack(2)", "s.push(1)")),
        ),
        (
            "def test_x():\n    done = run(1)\n    assert done.stdout == 'a'\n",
            ValueClaim("done.stdout", "'a'", ("done = run(1)",)),
        ),
        (
            "def test_x(capsys):\n    show(1)\n    assert capsys.readouterr().out == '1'\n",
            ValueClaim("capsys.readouterr().out", "'1'", ("show(1)",), ("capsys",)),
        ),
        (
            "def test_x():\n    with Log() as log:\n        log.add(1)\n    assert log.items == [1]\n",
            ValueClaim("log.items", "[1]", ("with Log() as log:\n    log.add(1)",)),
        ),
    ],
)
def test_a_session_claims_what_its_last_expression_gives(source: str, claim: ValueClaim) -> None:
    test = Test("test_x", source, "generated", "from user_code import *\n")
    assert claim_of(test) == claim
    other = replace(claim, expected="7")
    assert claim_of(as_test(other, "test_x_settled", "settled", test.preamble)) == other


def test_a_question_is_one_line_where_its_statements_are() -> None:
    assert ValueClaim("s.pop()", "1", ("s = Stack()", "s.push(1)")).question == "s = Stack(); s.push(1); s.pop()"
    assert "\n" in ValueClaim("log.items", "1", ("with Log() as log:\n    log.add(1)",)).question
