"""Values cross from one side to the other and come back as they were."""

from __future__ import annotations

import math
import socket
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.verifier.inside.proxy.plain import Malformed, Unshareable, read

from ..support.pair import Pair


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    pair = Pair()
    yield pair
    pair.close()


@pytest.fixture(scope="module")
def store(pair: Pair) -> Any:
    """A store on the other side."""
    return pair.made("Store")


TEXTS = st.text(st.characters(), max_size=20).filter(
    lambda text: "/pytest-of-" not in text
)  # may be a directory of tests
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXTS,
    st.binary(max_size=20), st.complex_numbers(allow_nan=False), st.decimals(allow_nan=False), st.fractions(),
    st.dates(), st.datetimes(), st.timedeltas(), st.times(), st.uuids(), st.just(...),
)  # fmt: skip
HASHABLE = st.recursive(
    SCALARS, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=6
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.tuples(inner), st.dictionaries(HASHABLE, inner, max_size=3),
        st.sets(HASHABLE, max_size=3), st.lists(inner, max_size=3).map(deque),
    ),
    max_leaves=12,
)  # fmt: skip


def alike(left: Any, right: Any) -> bool:
    """Equal, and of equal types all the way down."""
    if type(left) is not type(right) or left != right:
        return False
    if isinstance(left, list | tuple | deque):
        return all(map(alike, left, right))
    if isinstance(left, dict):
        return all(alike(*pair) for pair in zip(left.items(), right.items(), strict=True))
    return not isinstance(left, float) or math.copysign(1, left) == math.copysign(1, right)


@settings(max_examples=150, deadline=None)
@given(value=VALUES)
def test_a_value_comes_back_equal_and_of_the_same_type(value: Any, store: Any) -> None:
    assert alike(store.echo(value), value)


@pytest.mark.parametrize(
    "value",
    [
        OrderedDict(a=1), Counter("aab"), defaultdict(list, a=[1]), bytearray(b"ab"), range(3, 9, 2),
        slice(1, None), "\ud83d\ude00", "\U0001f600", datetime(2024, 1, 2, tzinfo=timezone(timedelta(hours=2))),
        date(2024, 2, 29),
        Decimal("NaN"), Fraction(1, 3), "/pytest-of-x", 10**4000, -0.0, float("inf"), "\ud800", int, ValueError,
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_values_of_the_standard_library_keep_their_type(value: Any, store: Any) -> None:
    back = store.echo(value)
    assert type(back) is type(value)
    assert repr(back) == repr(value)


def test_a_container_is_the_same_one_when_it_comes_back(store: Any) -> None:
    value = [[1], {"a": [2]}]
    back = store.echo((value, value[0]))
    assert back[0] is value
    assert back[1] is value[0]


def test_a_nan_is_found_again_by_identity(store: Any) -> None:
    value = float("nan")
    assert store.echo([value, None, value]) == [value, None, value]
    assert math.isnan(store.echo(math.nan))


def test_a_tuple_that_comes_twice_is_one_tuple(store: Any) -> None:
    one = (1, "a")
    first, second, (third,) = store.echo([one, one, (one,)])
    assert first is second is third


def test_a_container_that_nothing_else_holds_is_forgotten_and_others_stay_shared(pair: Pair, store: Any) -> None:
    kept: list[int] = []
    store.keep(kept)
    store.echo([1, 2])
    shared = pair.caller.crossing.shared
    shared.let_go()
    assert shared.number_of(kept) is not None
    kept.append(1)
    assert store.kept == [1]
    held = [entry.value for entry in shared.entries.values()]
    assert [1, 2] not in held


def test_a_container_that_the_other_side_keeps_stays_shared(store: Any) -> None:
    value: list[int] = []
    store.keep(value)
    store.append(1)
    assert value == [1]
    value.append(2)
    assert store.kept == [1, 2]
    assert store.kept is value


def test_a_container_that_holds_itself_crosses(store: Any) -> None:
    value: list[Any] = [1]
    value.append(value)
    store.keep(value)
    assert store.kept[1][1] is value


def test_a_function_is_called_back_with_its_own_parameters(store: Any) -> None:
    def join(first: str, /, second: str = "b", *rest: str, sep: str = "-") -> str:
        return sep.join([first, second, *rest])

    assert store.call(join, "a") == "a-b"
    assert store.call(join, "a", "c", "d") == "a-c-d"


def test_what_is_set_on_a_function_crosses_whenever_it_is_passed(store: Any) -> None:
    def convert() -> None:
        """Carry an attribute."""

    convert.pattern = "a"  # type: ignore[attr-defined]
    store.keep(convert)
    assert store.attribute("pattern") == "a"
    convert.pattern = "b"  # type: ignore[attr-defined]
    store.keep(convert)
    assert store.attribute("pattern") == "b"


def test_an_exception_of_a_callback_returns_as_itself(store: Any) -> None:
    def fail() -> None:
        raise LookupError("gone", 3)

    with pytest.raises(LookupError) as caught:
        store.call(fail)
    assert caught.value.args == ("gone", 3)


def test_the_message_of_an_error_of_the_system_stays(store: Any) -> None:
    def fail() -> None:
        raise FileNotFoundError("no such thing")

    with pytest.raises(FileNotFoundError, match=r"^no such thing$"):
        store.call(fail)


def test_what_may_not_be_handed_over_is_said(store: Any) -> None:
    with socket.socket() as value, pytest.raises(Unshareable):
        store.echo(value)


@given(
    tag=st.text(max_size=3), parts=st.lists(st.one_of(st.none(), st.integers(), st.text(max_size=4)), max_size=4)
)
def test_a_tree_that_nobody_writes_is_malformed_or_a_value(tag: str, parts: list[Any]) -> None:
    try:
        read(tag, parts)
    except Malformed:
        return
