"""What entries need of each other, without running any."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.batch.records import Entry
from agents.batch.supply import check_needs, group_keys, in_order, module_name
from agents.errors import UsageError
from agents.records import Spec, UserModule


def entry(name: str, *needs: str) -> Entry:
    return Entry(name, f"{name}.md", Spec(name, "Implement f(x: int) -> int."), needs=needs)


@pytest.mark.parametrize(
    ("entry_id", "name"),
    [("bank-account", "bank_account"), ("v1.2", "v1_2"), ("2d", "_2d"), ("class", "class_"), ("shapes", "shapes")],
)
def test_an_id_becomes_the_name_of_a_module(entry_id: str, name: str) -> None:
    assert module_name(entry_id) == name


def test_each_entry_comes_after_those_that_it_needs() -> None:
    entries = [entry("d", "b", "c"), entry("c", "a"), entry("b", "a"), entry("a")]
    order = [each.id for each in in_order(entries)]
    assert order[0] == "a"
    assert order[-1] == "d"


def test_entries_that_need_each_other_share_a_key_and_others_have_their_own() -> None:
    entries = [entry("d", "c"), entry("c"), entry("b", "c"), entry("z")]
    assert group_keys(entries) == {"d": "b", "c": "b", "b": "b", "z": "z"}
    assert group_keys(entries[::-1]) == group_keys(entries)


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([entry("a", "json"), entry("json")], "would be imported as `json`, which is there already"),
        ([entry("a", "user-code"), entry("user-code")], "imported as `user_code`, which is there"),
        ([entry("a", "b-c", "b.c"), entry("b-c"), entry("b.c")], "would both be imported as `b_c`"),
        ([entry("a", "b"), entry("b", "c"), entry("c", "a")], "in a circle"),
    ],
)
def test_what_cannot_be_had_of_each_other_is_refused(entries: list[Entry], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        check_needs(entries)


def test_a_module_and_a_spec_of_one_name_are_refused() -> None:
    one = entry("a", "b")
    assert one.spec is not None
    one = replace(one, spec=replace(one.spec, modules=(UserModule("b", {"b.py": ""}),)))
    with pytest.raises(UsageError, match="a module and the spec `b` are both named"):
        check_needs([one, entry("b")])
