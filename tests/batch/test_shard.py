"""Shards: disjoint, together all, whatever the order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.batch.shards import Shard, parse_shard
from agents.errors import UsageError


@given(st.sets(st.text(max_size=30), max_size=50), st.integers(1, 12))
def test_each_id_is_in_exactly_one_shard(ids: set[str], count: int) -> None:
    shards = [Shard(index, count) for index in range(1, count + 1)]
    assert all(sum(shard.in_shard(one) for shard in shards) == 1 for one in ids)


def test_the_share_of_an_id_is_the_same_on_every_machine_and_in_every_version() -> None:
    assert [index for index in range(1, 6) if Shard(index, 5).in_shard("slugify-0123456789ab")] == [1]


def test_shards_are_about_equal() -> None:
    ids = [f"spec-{number}" for number in range(4000)]
    for index in range(1, 5):
        assert 850 < sum(Shard(index, 4).in_shard(one) for one in ids) < 1150


@pytest.mark.parametrize(("text", "index", "count"), [("2/5", 2, 5), ("1/1", 1, 1), (" 10 / 12 ", 10, 12)])
def test_a_shard_is_read(text: str, index: int, count: int) -> None:
    assert parse_shard(text) == Shard(index, count)


@pytest.mark.parametrize(
    "text", ["", "2", "0/5", "6/5", "-1/5", "1/0", "a/b", "1/2/3", "1.0/2", "²/3", "9" * 5000 + "/1", "1/-2"]
)
def test_what_is_no_shard_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(UsageError, match="is no shard; write i/n") as error:
        parse_shard(text)
    assert len(str(error.value)) < 120
