from __future__ import annotations

import ast
import random
import re
from collections import Counter, OrderedDict, defaultdict, deque
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.judge.near_values import edges, mutated
from agents.judge.probes import (
    argument_values,
    calls_with,
    near_calls,
    probed_call,
    probes,
    related_calls,
    reshaped_calls,
    varied_calls,
)
from agents.records import Test
from agents.verifier.inside.proxy.plain_source import is_plain, value_of, written

from ..support.boards import value_test

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(), inner).flatmap(
            lambda items: st.sampled_from([items, defaultdict(set, items), OrderedDict(items), Counter([*items])])
        )
        | st.lists(inner).flatmap(lambda items: st.sampled_from([deque(items), deque(items, maxlen=3)]))
    ),
    max_leaves=8,
)
STRING = value_test("test_1", "f('Hello World')", "'hello-world'")
GRID = value_test("test_2", "f([[1, 2], [3, 0]])", "True")


@given(PLAIN, st.integers())
def test_a_mutation_keeps_the_type(value: object, seed: int) -> None:
    assert type(mutated(value, random.Random(seed))) is type(value)


@given(PLAIN)
def test_the_source_of_a_plain_value_is_read_as_that_value(value: object) -> None:
    source = written(value)
    assert written(value_of(source)) == source if len(source) <= 4000 else not is_plain(source)


def test_a_container_whose_factory_has_no_name_has_no_source_and_one_of_a_range_is_not_read() -> None:
    assert not is_plain(written(defaultdict(partial(list, [1]))))
    for kind in ("deque", "Counter", "set", "frozenset", "OrderedDict"):
        assert not is_plain(f"{kind}(range(3))"), kind
    assert is_plain("deque([range(3)])")


@given(st.integers(1, 40))
def test_there_are_no_more_probes_than_asked_for_and_none_twice(count: int) -> None:
    calls = [probed_call(probe) for probe in probes([STRING, GRID], count)]
    assert 0 < len(calls) <= count + count // 3 + 2
    assert len(set(calls)) == len(calls)


def test_the_same_tests_give_the_same_probes() -> None:
    assert probes([STRING], 10) == probes([STRING], 10)


def test_probes_ask_what_no_test_asks() -> None:
    assert "f('Hello World')" not in [probed_call(probe) for probe in probes([STRING], 30)]


def test_probes_of_a_string_reach_beyond_ascii() -> None:
    assert any("é" in probed_call(probe) or "ß" in probed_call(probe) for probe in probes([STRING], 24))


def test_probes_of_a_grid_keep_its_rows_but_for_a_few_at_an_edge() -> None:
    calls = [probed_call(probe).removeprefix("f(").removesuffix(")") for probe in probes([GRID], 20)]
    shapes = [[len(row) for row in ast.literal_eval(grid)] for grid in calls]
    assert [shape for shape in shapes if shape != [2, 2]] == [[], [2], [2, 2, 2, 2]]


def test_probes_give_nothing_to_all_arguments_at_once() -> None:
    two = value_test("test_1", "f('ab', [1], n=3)", "True")
    assert "f('', [], n=3)" in [probed_call(probe) for probe in probes([two], 24)]


def argument(source: str) -> Any:
    return ast.literal_eval(source.removeprefix("f(").removesuffix(")"))


def call_of(source: str) -> ast.Call:
    (statement,) = ast.parse(source).body
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Call)
    return statement.value


def test_where_shapes_may_change_keys_and_rows_come_and_go() -> None:
    prices = [argument(each) for each in near_calls([(call_of("f({'tea': 3, 'cake': 4})"), "")], 24, words=())]
    assert {len(each) for each in prices} == {0, 1, 2, 3}
    assert any(len(each) == 2 and set(each) != {"tea", "cake"} for each in prices)
    grids = [argument(each) for each in near_calls([(call_of("f([[1, 2], [3, 0]])"), "")], 24, words=())]
    assert {len(each) for each in grids} == {1, 2, 3}
    assert all(len(row) == 2 for grid in grids for row in grid)


def test_collections_and_signs_have_edges_of_their_own() -> None:
    calls = [(call_of("f(defaultdict(list, {1: [2]}), deque([3], maxlen=2), '9:00 +05:30 1-2')"), "")]
    assert list(varied_calls(calls, edges, 99)) == [
        "f(defaultdict(list, {}), deque([3], maxlen=2), '9:00 +05:30 1-2')",
        "f(defaultdict(list, {1: [2]}), deque([], maxlen=2), '9:00 +05:30 1-2')",
        "f(defaultdict(list, {1: [2]}), deque([3, 3], maxlen=2), '9:00 +05:30 1-2')",
        "f(defaultdict(list, {1: [2]}), deque([0], maxlen=2), '9:00 +05:30 1-2')",
        "f(defaultdict(list, {1: [2]}), deque([3], maxlen=2), '')",
        "f(defaultdict(list, {1: [2]}), deque([3], maxlen=2), '9')",
        "f(defaultdict(list, {1: [2]}), deque([3], maxlen=2), '9:00 -05:30 1-2')",
        "f(defaultdict(list, {1: [2]}), deque([3], maxlen=2), '9-:00 +05:30 1-2')",
        "f(defaultdict(list, {1: [2]}), deque([3], maxlen=2), '9:9:00 +05:30 1-2')",
    ]
    assert list(varied_calls([(call_of("f(None)"), "")], edges, 9)) == ["f(1)"]


def test_rows_and_a_row_are_never_equal() -> None:
    calls = [(call_of("f(['a', 'b'], [['c', 'd']])"), ""), (call_of("f(['a'], [])"), "")]
    assert {
        each for each in varied_calls(calls, edges, 99) if "[['c', 'd']], [[" in each or "], ['a', 'b'])" in each
    } == set()
    assert "f(['a'], ['a'])" in varied_calls(calls, edges, 99)
    assert not [each for each in related_calls(calls, 99) if each.endswith("'b'], ['a', 'b'])")]


def test_an_empty_list_becomes_what_stands_elsewhere_in_its_argument() -> None:
    made = related_calls([(call_of("f(['a', 'b'], {'left': [], 'right': [{'left': []}]})"), "")], 99)
    assert any("'left': [{'left': []}]" in each for each in made)
    assert not any("'left': ['a', 'b']" in each for each in made)


def test_nested_dictionaries_are_given_a_level_deeper_all_at_once() -> None:
    calls = [(call_of(each), "") for each in ("f({'a': {'x': 1}}, {'b': 2}, 3)", "f({'a': 1})", "f([{'a': {}}])")]
    assert "f({'a': {'a': {'x': 1}}}, {'b': {'b': 2}}, 3)" in reshaped_calls(calls)
    assert not any("{'a': {'a': 1}}" in each or "{'a': {'a': {}}}" in each for each in reshaped_calls(calls))


@pytest.mark.parametrize(
    ("call", "others"),
    [
        ("meets((9, 10), (10, 11))", ["meets((10, 11), (9, 10))"]),
        ("join({'a': 1}, {'b': 2}, {'b': 2})", ["join({'b': 2}, {'a': 1}, {'b': 2})"]),
        (
            "having(Slot, at=1).meets(having(Slot, at=2))",
            ["having(Slot, at=2).meets(having(Slot, at=1))"],
        ),
        ("having(Slot, at=1).meets(having(Slots, at=2))", []),
        ("low([1], 2, (3,))", []),
        ("clamp(2, low=1)", ["clamp(2, 1)"]),
    ],
)
def test_two_containers_or_objects_change_places(call: str, others: list[str]) -> None:
    assert list(reshaped_calls([(call_of(call), "")])) == others


def test_edges_of_types_and_equal_arguments_are_tried() -> None:
    calls = [(call_of("f('ab', 'c', n=3)"), "label"), (call_of("f({1: 2, 3: 4}, [5, 6], True)"), "other")]
    assert list(varied_calls(calls, edges, 99).items()) == [
        *((each, "label") for each in (
            "f('', 'c', n=3)", "f('a', 'c', n=3)", "f('a-b', 'c', n=3)", "f('c', 'c', n=3)", "f('ab', '', n=3)",
            "f('ab', 'c-', n=3)", "f('ab', 'ab', n=3)", "f('ab', 'c', n=0)", "f('ab', 'c', n=1)",
        )),
        *((each, "other") for each in (
            "f({}, [5, 6], True)", "f({1: 2}, [5, 6], True)", "f({1: 2, 3: 4}, [], True)",
            "f({1: 2, 3: 4}, [5], True)", "f({1: 2, 3: 4}, [5, 6, 5, 6], True)", "f({1: 2, 3: 4}, [5, 0], True)",
            "f({1: 2, 3: 4}, [5, 6], False)",
        )),
    ]  # fmt: skip
    assert len(varied_calls(calls, edges, 4)) == 4


def test_values_take_the_place_of_literals_of_their_type() -> None:
    made = calls_with([(call_of("f([1, -2, 'a'])"), "label")], [100, 2.5, "b", True, 400], 2)
    (number, text), labels = map(argument, made), set(made.values())
    assert 100 in map(abs, number[:2])
    assert text == [1, -2, "b"]
    assert labels == {"label"}


def test_what_is_equal_stays_equal_and_a_tree_grows() -> None:
    made = related_calls([(call_of("having(Account, balance=50, fees=1).pay(50)"), "label")], 24)
    form = re.compile(r"having\(Account, balance=(-?\d+), fees=(1|50)\)\.pay\((\1|1|50)\)")
    assert all(map(form.fullmatch, made))
    assert {f"having(Account, balance={n}, fees=1).pay({n})" for n in (49, 51)} <= {*made}
    assert {*made.values()} == {"label"}
    trees = [(call_of("depth({'left': {'left': None}, 'right': None})"), ""), (call_of("depth(None)"), "")]
    assert "depth({'left': {'left': None}, 'right': {'left': {'left': None}, 'right': None}})" in related_calls(
        trees, 24
    )
    assert {"f(['fig', 'fia'])", "f(['fig', 'FIG'])"} <= {
        *related_calls([(call_of("f(['fig', 'kiwi'])"), "")], 24)
    }
    rows = related_calls([(call_of("f([['é', 7], ['zoë', 9]])"), "")], 24)
    assert all(
        isinstance(row, list) and [*map(type, row)] == [str, int] for each in rows for row in argument(each)
    )


def test_values_of_the_standard_library_change_as_their_types_allow() -> None:
    call = "f(datetime.date(2024, 1, 31), Decimal('0.125'), range(0, 3))"
    made = [*near_calls([(call_of(call), "")], 48, words=()), *varied_calls([(call_of(call), "")], edges, 24)]
    given = [argument_values(call_of(each)) for each in made]
    days, amounts, ranges = ({repr(values[at]) for values in given} for at in range(3))
    assert {"datetime.date(2024, 3, 31)", "datetime.date(2024, 1, 30)"} <= days
    assert {"Decimal('-0.125')", "Decimal('1.125')"} <= amounts
    assert {"range(0, 4)", "range(0, 0)"} <= ranges


def test_texts_are_spelled_by_words() -> None:
    made = near_calls([(call_of("f('3 - 2')"), "")], 48, words=["-", "*", "IV"])
    assert {"f('3 * 2')", "f('-*')"} <= {*made}
    assert any("IV" in each and "3" in each for each in made)
    paths = {*near_calls([(call_of("f('a/../b')"), "")], 96, words=["/"])}
    assert {"f('/a/../b')", "f('b/../a')", "f('a/../b/a')"} <= paths, "its parts change, too"


def test_numbers_in_texts_change_and_the_cells_of_rows_keep_their_types() -> None:
    days = {argument(each) for each in near_calls([(call_of("f('2024-01-30')"), "")], 24, words=())}
    assert len([each for each in days if re.fullmatch(r"\d{4}-\d\d-\d\d", each)]) > 5
    rows = near_calls([(call_of("f([['mia', 7], ['zoe', 9], ['ben', 8]])"), "")], 24, words=())
    assert all([*map(type, row)] == [str, int] for each in rows for row in argument(each))


def test_a_probe_is_a_test_that_states_no_plain_value() -> None:
    (probe, *_) = probes([STRING], 1)
    assert isinstance(ast.parse(probe.source).body[0], ast.FunctionDef)
    assert probe.source.rstrip().endswith("== ...")


def test_tests_without_literal_arguments_give_no_probes() -> None:
    assert probes([Test("test_x", "def test_x():\n    assert f(open) == 1\n", "generated")], 5) == ()
    assert probes([value_test("test_x", "f()", "1")], 5) == ()


def session(body: str, fixture: str = "") -> Test:
    return Test("test_x", f"def test_x({fixture}):\n    {body}\n", "generated", "from user_code import *\n")


def test_a_session_is_probed_with_one_literal_changed() -> None:
    found = probes([session("s = Stack(2)\n    s.push(5)\n    assert s.pop() == 5")], 8)
    questions = [probed_call(probe) for probe in found]
    assert len(set(questions)) == len(found) == 8
    assert all(re.fullmatch(r"s = Stack\((2|.+)\); s.push\(.+\); s.pop\(\)", question) for question in questions)
    assert all(("Stack(2)" in question) != ("push(5)" in question) for question in questions)


def test_how_a_file_is_opened_is_never_changed() -> None:
    steps = "path = tmp_path / 'a'\n    path.write_text('x', encoding='utf-8')\n    assert f(path) == 1"
    found = probes([session(steps, "tmp_path")], 8)
    assert found
    assert all("encoding='utf-8'" in probed_call(probe) for probe in found)


def test_a_program_is_probed_with_other_arguments_and_input() -> None:
    run = "subprocess.run([sys.executable, 'user_code.py', '1'], input='2', capture_output=True, text=True)"
    found = probes([session(f"done = {run}\n    assert done.stdout == '3'")], 8)
    assert found
    for probe in found:
        question = probed_call(probe)
        assert "sys.executable, 'user_code.py'," in question
        assert "capture_output=True, text=True" in question
        assert ("'user_code.py', '1']" in question) != ("input='2'" in question)


def test_what_is_awaited_and_what_is_printed_is_probed() -> None:
    assert all("asyncio.run(f(" in probed_call(p) for p in probes([session("assert asyncio.run(f(1)) == 2")], 4))
    (first, *_) = probes([session("show([1])\n    assert capsys.readouterr().out == '1'", "capsys")], 4)
    assert first.source.startswith("def test_probe_1(capsys):")


def test_plain_calls_are_probed_alone_where_there_are_any() -> None:
    found = probes([session("x = 1\n    assert f(x, 3) == 2"), session("assert f(1, 2) == 2")], 8)
    assert all(";" not in probed_call(probe) for probe in found)
