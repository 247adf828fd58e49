from __future__ import annotations

import ast
import random

from hypothesis import given
from hypothesis import strategies as st

from agents.judge.probes import mutated, probed_call, probes
from agents.records import Test

from ..support.boards import value_test

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
STRING = value_test("test_1", "f('Hello World')", "'hello-world'")
GRID = value_test("test_2", "f([[1, 2], [3, 0]])", "True")


@given(PLAIN, st.integers())
def test_a_mutation_keeps_the_type(value: object, seed: int) -> None:
    assert type(mutated(value, random.Random(seed))) is type(value)


@given(st.integers(1, 40))
def test_there_are_no_more_probes_than_asked_for_and_none_twice(count: int) -> None:
    calls = [probed_call(probe) for probe in probes([STRING, GRID], count)]
    assert 0 < len(calls) <= count
    assert len(set(calls)) == len(calls)


def test_the_same_tests_give_the_same_probes() -> None:
    assert probes([STRING], 10) == probes([STRING], 10)


def test_probes_ask_what_no_test_asks() -> None:
    assert "f('Hello World')" not in [probed_call(probe) for probe in probes([STRING], 30)]


def test_probes_of_a_string_reach_beyond_ascii() -> None:
    assert any("é" in probed_call(probe) or "ß" in probed_call(probe) for probe in probes([STRING], 24))


def test_probes_of_a_grid_keep_its_shape() -> None:
    for probe in probes([GRID], 20):
        (grid,) = ast.literal_eval(probed_call(probe).removeprefix("f(").removesuffix(")") + ",")
        assert [len(row) for row in grid] == [2, 2]


def test_a_probe_is_a_test_that_states_no_plain_value() -> None:
    (probe,) = probes([STRING], 1)
    assert isinstance(ast.parse(probe.source).body[0], ast.FunctionDef)
    assert probe.source.rstrip().endswith("== ...")


def test_tests_without_literal_arguments_give_no_probes() -> None:
    assert probes([Test("test_x", "def test_x():\n    assert f(open) == 1\n", "generated")], 5) == ()
    assert probes([value_test("test_x", "f()", "1")], 5) == ()
