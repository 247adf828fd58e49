"""Property tests out of replies as models write them."""

from __future__ import annotations

import pytest

from agents.errors import ReplyError
from agents.reply import read_properties
from agents.spec import read_spec
from agents.verifier import examine

SPEC = read_spec("Implement quicksort(arr: list[int]) -> list[int].", origin="argument")
WHOLE = """```python
from hypothesis import given, settings, strategies as st
from user_code import quicksort

def slow(arr):
    return sorted(arr)

@settings(max_examples=1)
@given(st.lists(st.integers()))
def test_sorts(arr):
    assert quicksort(arr) == slow(arr)

@given(arr=st.lists(st.integers()))
def test_keeps(arr):
    result = quicksort(arr)
    assert len(result) == len(arr)

def test_plain():
    assert quicksort([2, 1]) == [1, 2]
```"""


def test_the_properties_of_a_reply_are_read_and_other_tests_are_left_out() -> None:
    tests = read_properties(WHOLE, SPEC, truncated=False, limit=5)
    assert [test.id for test in tests] == ["test_sorts", "test_keeps"]
    assert {test.origin for test in tests} == {"generated"}
    assert "def slow" in tests[0].preamble
    assert all(examine(test) is None for test in tests)


def test_at_most_as_many_as_were_asked_for_are_kept() -> None:
    assert len(read_properties(WHOLE, SPEC, truncated=False, limit=1)) == 1


def test_each_carries_settings_that_make_it_the_same_everywhere() -> None:
    for test in read_properties(WHOLE, SPEC, truncated=False, limit=5):
        assert test.source.count("@settings(") == 1
        assert "@settings(max_examples=50, derandomize=True, deadline=None" in test.source
        assert "from hypothesis import HealthCheck, settings" in test.preamble


def test_imports_of_hypothesis_that_were_forgotten_are_supplied() -> None:
    body = "    assume(arr)\n    assert quicksort(arr)[0] == min(arr)\n"
    text = f"```python\n@given(st.lists(st.integers()))\ndef test_a(arr):\n{body}```"
    (test,) = read_properties(text, SPEC, truncated=False, limit=3)
    assert "from hypothesis import assume, given, strategies as st" in test.preamble
    assert "from user_code import quicksort" in test.preamble
    assert examine(test) is None


@pytest.mark.parametrize(
    "text", ["no code", "```python\ndef test_a():\n    assert quicksort([]) == []\n```", "```python\nx = 1\n```"]
)
def test_a_reply_without_a_property_is_asked_for_again(text: str) -> None:
    with pytest.raises(ReplyError):
        read_properties(text, SPEC, truncated=False, limit=3)
