"""Ids of entries: unique on every system, and free of the order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.batch.identifiers import LONGEST_ID, IdClaim, assign_ids, contested_ids, fold_id, unsafe_reason

CLAIMS = st.builds(
    IdClaim,
    st.sampled_from(["a", "A", "b", "bad-1", "é", "e\u0301", "x" * 80]) | st.text("abA-", min_size=1, max_size=3),
    st.sampled_from(["1", "2", "3"]),
    st.booleans(),
)


def peaceful(claims: list[IdClaim]) -> list[IdClaim]:
    """`claims` without given ids that others give as well, which are errors before ids are settled."""
    contested = contested_ids(claims)
    return [claim for claim in claims if not (claim.given and fold_id(claim.id) in contested)]


@given(st.lists(CLAIMS, max_size=12))
def test_two_claims_share_an_id_only_if_they_are_the_same(claims: list[IdClaim]) -> None:
    claims = peaceful(claims)
    owners: dict[str, set[tuple[str, bool]]] = {}
    for identifier, claim in zip(assign_ids(claims), claims, strict=True):
        owners.setdefault(fold_id(identifier), set()).add((claim.content, claim.given))
        assert len(identifier) <= LONGEST_ID
    assert all(len(contents) == 1 for contents in owners.values())


@given(
    st.lists(CLAIMS, max_size=12)
    .map(peaceful)
    .flatmap(lambda claims: st.tuples(st.just(claims), st.permutations(claims)))
)
def test_ids_do_not_depend_on_the_order(both: tuple[list[IdClaim], list[IdClaim]]) -> None:
    one, other = both
    assert set(zip(one, assign_ids(one), strict=True)) == set(zip(other, assign_ids(other), strict=True))


@given(st.lists(CLAIMS, max_size=12).map(peaceful))
def test_a_given_id_stays(claims: list[IdClaim]) -> None:
    for identifier, claim in zip(assign_ids(claims), claims, strict=True):
        assert identifier == claim.id or not claim.given


def test_a_derived_id_depends_on_no_entry_of_another_id() -> None:
    claim = IdClaim("sort-1", "content")
    assert (
        assign_ids([claim]) == assign_ids([claim, IdClaim("other", "x"), IdClaim("other", "y")])[:1] == ["sort-1"]
    )


def test_given_ids_that_differ_in_case_or_composition_alone_are_rivals() -> None:
    assert contested_ids([IdClaim("Sort", "1", True), IdClaim("sort", "2", True)]).keys() == {"sort"}
    assert contested_ids([IdClaim("\u00e9a", "1", True), IdClaim("e\u0301a", "2", True)])
    assert not contested_ids([IdClaim("sort", "1", True), IdClaim("sort", "1", True), IdClaim("sort", "2")])


@pytest.mark.parametrize("name", ["con", "NUL", "Com1", "lpt9", "aux.txt", "PRN.a.b", "abc.", "a..", "é" * 120])
def test_names_that_are_no_folder_everywhere_are_unsafe(name: str) -> None:
    assert unsafe_reason(name)


@pytest.mark.parametrize("name", ["console", "a.con", "nul-1", "com10", "v1.0", "é" * 80])
def test_other_names_are_safe(name: str) -> None:
    assert not unsafe_reason(name)
