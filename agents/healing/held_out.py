"""Failing items that no prompt has, and how much they say beyond those that one has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..records.heal import Item, Symptom
from ..repository.inside.calls import MOST_CALLS
from .case import Case
from .expectations import EXPECT_CALL

SHOWN_ITEMS = 3
"""Failing items in a prompt at the most; of several the others are held out, at least one."""
AGREEING = 2
"""Independent patches that have to do the same where nothing says what is right."""
VERIFYING = 3
"""Independent patches that have to do the same for `verified`, where no failing item was held out."""


def shown_in_prompt(symptom: Symptom) -> Symptom:
    """A symptom without the items that are held out of the prompt: one of two, all beyond the third, and expected
    calls where anything else fails, so that an answer to a question changes no prompt."""
    others = [item for item in symptom.items if item.name != EXPECT_CALL]
    items = others or symptom.items
    return replace(symptom, items=tuple(items[: min(SHOWN_ITEMS, max(1, len(items) - 1))]))


def held_out(symptom: Symptom, *, holds_out: bool) -> tuple[Item, ...]:
    """The failing items that no prompt has, nor an item there that says the same."""
    shown = shown_in_prompt(symptom).items
    same = {_meaning(item) for item in shown}
    held = [item for item in symptom.items if item not in shown and _meaning(item) not in same]
    return tuple(item for item in held if holds_out or item.name == EXPECT_CALL)


def _meaning(item: Item) -> str:
    return item.source.partition("(")[2] if item.source and "[" not in item.name else item.name


def voices_needed(case: Case, shown: Sequence[Item], held: Sequence[Item], changed: Mapping[str, str]) -> int:
    """Return how many patches that do the same `held` verifies, by its calls on `changed` files: one where it
    makes a call that neither `shown` nor the case itself makes, two where that can't be told."""
    if not held:
        return VERIFYING
    known = {*case.made_by((), changed)[0], *case.made_by(shown, changed)[0]}
    made, left_out = case.made_by(held, changed)
    of_one = Counter((each.path, each.function) for each in known)
    new = [each for each in made if each not in known]
    if any(of_one[each.path, each.function] < MOST_CALLS for each in new):
        return 1
    return AGREEING if new or left_out or not made else VERIFYING
