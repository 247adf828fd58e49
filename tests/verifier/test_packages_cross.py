"""Values of numpy and pandas cross as data, exactly; what is no honest value of theirs is refused."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.verifier.inside.proxy.plain import Malformed, Unshareable
from agents.verifier.inside.test_process.other_answers import of_package

from ..support.pair import Pair

np: Any = pytest.importorskip("numpy", reason="numpy is not installed")
pd: Any = pytest.importorskip("pandas", reason="pandas is not installed")


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    pair = Pair()
    yield pair
    pair.close()


@pytest.fixture(scope="module")
def store(pair: Pair) -> Any:
    """A store on the other side."""
    return pair.made("Store")


ARRAYS: dict[str, Callable[[], Any]] = {
    "floats": lambda: np.array([1.5, np.nan, -0.0, np.inf]),
    "a NaN with bits of its own": lambda: np.array([0x7FF8DEADBEEF0001], np.uint64).view(np.float64),
    "two dimensions": lambda: np.arange(6).reshape(2, 3),
    "columns first": lambda: np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "every third": lambda: np.arange(10)[::3],
    "no dimension": lambda: np.array(3),
    "nothing": lambda: np.zeros((0, 3)),
    "texts": lambda: np.array(["a", "bcd"]),
    "bytes": lambda: np.array([b"a", b"bc"]),
    "truth": lambda: np.array([True, False]),
    "complex": lambda: np.array([1 + 2j]),
    "moments": lambda: np.array(["2024-01-01", "NaT"], "M8[D]"),
    "durations": lambda: np.array([1, 2], "m8[s]"),
    "fields": lambda: np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
    "objects": lambda: np.array([1, "a", None, (1, 2)], object),
    "big end first": lambda: np.array([1, 2], ">i4"),
    "half precision": lambda: np.array([1, 2], np.float16),
}
FRAMES: dict[str, Callable[[], Any]] = {
    "a frame": lambda: pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": pd.date_range("2024", periods=2)}),
    "nothing": lambda: pd.DataFrame(columns=["a", "b"]),
    "a column twice": lambda: pd.DataFrame([[1, 2]], columns=["a", "a"]),
    "levels": lambda: pd.DataFrame(
        {"a": [1, 2]}, index=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["x", "y"])
    ),
    "a series": lambda: pd.Series([1.5, np.nan], name="x", index=["p", "q"]),
    "integers with a mask": lambda: pd.Series([1, None], dtype="Int64"),
    "truth with a mask": lambda: pd.Series([True, None], dtype="boolean"),
    "texts": lambda: pd.Series(["a", None], dtype="string"),
    "categories": lambda: pd.Series(["a", "b", "a"], dtype="category"),
    "time zones": lambda: pd.Series(pd.date_range("2024", periods=3, tz="Europe/Berlin")),
    "periods": lambda: pd.Series(pd.period_range("2024-01", periods=2, freq="M")),
    "objects": lambda: pd.Series([1, "a", None], dtype=object),
}
SCALARS: dict[str, Callable[[], Any]] = {
    "float64": lambda: np.float64(-0.0), "float32": lambda: np.float32("nan"), "int8": lambda: np.int8(-3),
    "bool": lambda: np.bool_(True), "text": lambda: np.str_("aé"), "moment": lambda: np.datetime64("2024-01-01"),
    "dtype": lambda: np.dtype("f4"), "a class": lambda: np.float64,
    "range": lambda: pd.RangeIndex(3, name="q"), "months": lambda: pd.date_range("2024", periods=3, freq="MS"),
    "timestamp": lambda: pd.Timestamp("2024-01-01 10:00:00.000000001"), "NaT": lambda: pd.NaT, "NA": lambda: pd.NA,
    "zoned": lambda: pd.Timestamp("2024-01-01", tz="America/New_York"), "period": lambda: pd.Period("2024-01"),
    "timedelta": lambda: pd.Timedelta("1D"),
}  # fmt: skip


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_keeps_its_dtype_its_shape_and_every_bit(name: str, pair: Pair) -> None:
    value = ARRAYS[name]()
    copied = pair.caller.operate("deepcopy", value)  # made over there
    assert copied is not value
    assert type(copied) is np.ndarray
    assert (copied.dtype, copied.shape) == (value.dtype, value.shape)
    assert copied.tolist() == value.tolist() if value.dtype.hasobject else copied.tobytes() == value.tobytes()


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_keeps_its_columns_labels_and_dtypes(name: str, pair: Pair) -> None:
    value = FRAMES[name]()
    copied = pair.caller.operate("deepcopy", value)
    assert copied is not value
    compare = pd.testing.assert_frame_equal if isinstance(value, pd.DataFrame) else pd.testing.assert_series_equal
    compare(copied, value)


@pytest.mark.parametrize("name", SCALARS)
def test_a_scalar_keeps_its_type(name: str, store: Any) -> None:
    value = SCALARS[name]()
    back = store.echo(value)
    assert type(back) is type(value)
    assert repr(back) == repr(value)


def test_what_the_code_changes_in_place_the_test_sees(store: Any, pair: Pair) -> None:
    array, frame = np.array([3, 1, 2]), pd.DataFrame({"a": [1, 2]})
    store.keep(array)
    store.attribute("sort")()
    assert array.tolist() == [1, 2, 3]
    array[0] = 9
    assert store.attribute("tolist")() == [9, 2, 3]
    store.keep(frame)
    store.attribute("insert")(1, "b", [5, 6])
    assert frame.columns.tolist() == ["a", "b"]
    assert frame["b"].tolist() == [5, 6]
    assert any("changes in place" in text for kind, text in pair.told if kind == "note")


def test_an_array_that_may_not_be_written_to_stays_so(store: Any) -> None:
    array = np.array([1, 2])
    array.flags.writeable = False
    store.keep(array)
    with pytest.raises(ValueError, match="read-only"):
        store.attribute("sort")()


def test_functions_of_numpy_cross(store: Any) -> None:
    assert store.call(np.mean, np.array([1.0, 2.0])) == 1.5


def test_what_does_not_cross_by_value_is_not_passed(store: Any) -> None:
    class Anything(np.ndarray):  # type: ignore[misc]
        pass

    for value in (
        np.array([object()]), np.array([1]).view(Anything), np.ma.array([1]), pd.DataFrame({"a": [object()]}),
        np.zeros(3, np.longdouble), pd.Series([1]).groupby([0]), np.zeros(3 << 20), np.random.default_rng(3),
    ):  # fmt: skip
        with pytest.raises(Unshareable):
            store.keep(value)


def _container(form: Any, *items: Any, kind: str = "ndarray") -> list[Any]:
    return [["@", 21], [[21, kind, form, *items]], []]


def _bytes(data: bytes) -> list[str]:
    return ["b", base64.b64encode(data).decode()]


BAD_FORMS = [
    ["O8", [1], False], ["|V8", [1], False], ["<f16", [1], False], ["f8,f8", [1], False], ["<f8", [-1], False],
    ["<f8", [10**9], False], ["<f8", [0, 10**9], False], ["<f8", [1.0], False], ["<f8", [True], False],
    ["<f8", [1] * 33, False], ["<U9999999", [1], False], ["<U0", [1], False], ["numpy.float64", [1], False],
    [[["a", "|O"]], [1], False], [[["a", [["b", "<f8"]]]], [1], False], [None, [1], False],
    ["<f8", None, False], 3,
]  # fmt: skip


@pytest.mark.parametrize("form", BAD_FORMS, ids=str)
def test_no_array_of_another_form_is_made(form: Any, pair: Pair) -> None:
    with pytest.raises(Malformed):
        pair.caller.crossing.unpack(_container(json.dumps(form), True, ["t", 1], _bytes(bytes(8))))


BAD_ITEMS = {
    "too few bytes": ("<f8", ["t", 2], _bytes(bytes(8))),
    "too many": ("<f8", ["t", 2], _bytes(bytes(24))),
    "another shape": ("<f8", ["t", 3], _bytes(bytes(24))),
    "no bytes": ("<f8", ["t", 2], "x" * 16),
    "neither true nor false": ("|b1", ["t", 2], _bytes(b"\x02\x01")),
    "no code point": ("<U1", ["t", 2], _bytes(b"\xff" * 8)),
    "no elements": ("|O", ["t", 2], _bytes(bytes(16))),
    "an object among the elements": ("|O", ["t", 2], ["t", 1, ["y", 1]]),
}


@pytest.mark.parametrize("name", BAD_ITEMS)
def test_no_array_is_filled_with_what_it_cannot_hold(name: str, pair: Pair) -> None:
    dtype, shape, data = BAD_ITEMS[name]
    with pytest.raises(Malformed):
        pair.caller.crossing.unpack(_container(json.dumps([dtype, [2], False]), True, shape, data))


WORDS = ['["<f8", [1], false]', "numpy", "values", "range", "masked", "Int64", "category", "levels"]
TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 1 << 40) | st.text(max_size=4)
    | st.just(_bytes(bytes(8))) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=4).map(lambda items: ["t", *items]),
    max_leaves=12,
)  # fmt: skip
NAMES = st.sampled_from(
    ["ndarray", "Series", "DataFrame", "Index", "Timestamp", "Period", "scalar", "dtype", "NaT", "x"]
)


@settings(max_examples=300, deadline=None)
@given(name=NAMES, parts=TREES, items=st.lists(TREES, max_size=4))
def test_no_parts_end_in_anything_but_a_value_or_a_refusal(
    name: str, parts: Any, items: list[Any], pair: Pair
) -> None:
    form = parts if isinstance(parts, str) else None
    bodies: list[list[Any]] = [[["V", name, parts], [], []], _container(form, *items, kind=name)]
    for body in bodies:
        try:
            pair.caller.crossing.unpack(body)
        except Malformed:
            continue


def test_every_value_has_others_of_its_type() -> None:
    for make in (*ARRAYS.values(), *FRAMES.values()):
        value = make()
        found = of_package(value)
        assert {type(other) for other in found} <= {type(value)}
        assert found or not len(value)
        assert all(repr(other) != repr(value) for other in found), value
