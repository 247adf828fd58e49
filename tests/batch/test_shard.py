"""Shards: disjoint, together all, whatever the order."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.batch.shards import parse_shard, shard_of
from agents.errors import UsageError


@given(st.text(max_size=30), st.integers(1, 12))
def test_each_id_is_in_one_of_the_shards(key: str, count: int) -> None:
    assert 1 <= shard_of(key, count) <= count


def test_the_share_of_an_id_is_the_same_on_every_machine_and_in_every_version() -> None:
    assert shard_of("slugify-0123456789ab", 5) == 1


def test_shards_are_about_equal() -> None:
    shares = Counter(shard_of(f"spec-{number}", 4) for number in range(4000))
    assert all(850 < shares[index] < 1150 for index in range(1, 5))


@pytest.mark.parametrize(("text", "index", "count"), [("2/5", 2, 5), ("1/1", 1, 1), (" 10 / 12 ", 10, 12)])
def test_a_shard_is_read(text: str, index: int, count: int) -> None:
    assert parse_shard(text) == (index, count)


@pytest.mark.parametrize(
    "text", ["", "2", "0/5", "6/5", "-1/5", "1/0", "a/b", "1/2/3", "1.0/2", "²/3", "9" * 5000 + "/1", "1/-2"]
)
def test_what_is_no_shard_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(UsageError, match="is no shard; write i/n") as error:
        parse_shard(text)
    assert len(str(error.value)) < 120
