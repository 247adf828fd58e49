"""What a run is expected to do, on outputs that somebody else wrote."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from agents.errors import UsageError
from agents.healing.expectations import read_calls, read_expectations
from agents.records.heal import Answer, HealRequest


def test_a_pattern_that_takes_forever_ends_within_its_limit() -> None:
    expected = read_expectations(HealRequest(path="s.py", expect="/(a+)+$/"))
    began = time.monotonic()
    (item,) = expected.failing(0, "a" * 40 + "!", {})
    assert time.monotonic() - began < 30
    assert "takes more than" in item.detail
    assert "repeats" in item.detail
    assert expected.failing(0, "b\naaa\n", {}) == (), "the same pattern, where it is quick"
    # The control: in this process it does not come back, and no thread can end it.
    program = "import re; re.search('(a+)+$', 'a' * 40 + '!')"
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run([sys.executable, "-c", program], timeout=3, check=False)


def test_a_number_that_python_does_not_read_is_refused() -> None:
    with pytest.raises(UsageError, match="is not understood"):
        read_expectations(HealRequest(path="s.py", expect_file=(f"a.csv:rows>={'9' * 5000}",)))


@pytest.mark.parametrize(
    ("call", "returned", "holds"),
    [
        ("f(2) == [0, 1]", "['yields', 0, 1]", True),
        ("f(2) == ['yields', 0, 1]", "['yields', 0, 1]", True),
        ("f(0) == []", "['yields']", True),
        ("f(2) == [0]", "['yields', 0, 1]", False),
    ],
)
def test_the_items_of_a_generator_are_expected_as_a_list(call: str, returned: str, holds: bool) -> None:
    (expected,) = read_calls([call], {"s.py": "def f(x):\n    yield x\n"})
    assert (expected.failing(Answer(returned)) is None) is holds


@pytest.mark.parametrize(
    ("expected", "raised", "holds"),
    [
        ("raises ValueError", "ValueError", True),
        ("raises json.JSONDecodeError", "JSONDecodeError", True),
        ("raises json.JSONDecodeError", "Error", False),
        ("raises ValueError", "UnicodeError", False),
        ("== None", None, False),
    ],
)
def test_an_exception_may_be_named_with_its_module(expected: str, raised: str | None, holds: bool) -> None:
    (call,) = read_calls([f"f(2) {expected}"], {"s.py": "def f(x): pass\n"})
    assert (call.failing(Answer(None, raised)) is None) is holds


def test_a_call_may_be_expected_of_what_is_no_python() -> None:
    (expected,) = read_calls(["f(2) == 1"], {"a.py": "def f(x)\n    return 1\n"})
    assert (expected.call.path, expected.call.function) == ("a.py", "f")
    with pytest.raises(UsageError, match=r"calls nothing that a\.py defines"):
        read_calls(["g(2) == 1"], {"a.py": "def f(x)\n    return 1\n"})


@pytest.mark.parametrize(
    ("source", "made"),
    [
        ("Cart([1]).total", ["Cart([1])"]),
        ("(Cart([1]) + Cart([2])).total", ["Cart([1])", "Cart([2])"]),
        ("len(Cart([1]).items)", ["len(Cart([1]).items)", "Cart([1])"]),
        ("(Cart([]).total, Cart([1]).total)", ["Cart([])", "Cart([1])"]),
    ],
)
def test_what_calls_give_may_be_expected_of_an_attribute_an_operator_or_several(
    source: str, made: list[str]
) -> None:
    (expected,) = read_calls([f"{source} == 3"], {"s.py": "class Cart:\n    pass\n"})
    assert [each.source for each in expected.made] == list(dict.fromkeys([source, *made]))


@pytest.mark.parametrize("text", ["f(1) < 3", "f(1) == g(2)", "g(2) == f(1)", "1 < f(2) < 3", "3 in f(1)"])
def test_calls_may_be_compared_with_other_objects_and_in_other_ways(text: str) -> None:
    (expected,) = read_calls([text], {"s.py": "def f(x): pass\n"})
    assert (expected.call.source, expected.expected) == (text, "True")


@pytest.mark.parametrize("text", ["f == 3", "f(1)", "g(1) == 3", "1 == 1", "f(1) == f(2) raises ValueError"])
def test_what_compares_no_calls_of_the_code_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"is not understood|calls nothing that s\.py defines"):
        read_calls([text], {"s.py": "def f(x): pass\n"})
