"""The sensitivity of tests to changed answers, as the test process measured it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..records import TestStrength
from ..syntax.clean_text import clean
from .prepared_suite import belonging

_MOST_TEXT = 300
_UNMEASURED = (
    "there was no time to measure how much it notices, or no room for what it asks: give the run more time, or "
    "the code smaller values"
)


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Counts of one pytest item: `noticed` of `tried` changes of values, `weak` of type alone; `asked` answers;
    `left` replays that diverged; `unmeasured`: out of time; `caught`: a failed assertion was caught."""

    noticed: int
    tried: int
    weak: int
    asked: int
    left: int
    unmeasured: bool
    caught: bool
    missed: str


def read_sensitivity(record: Mapping[str, Any]) -> Sensitivity:
    """Read a record of the test process. Raises KeyError, TypeError, ValueError."""
    counts = [record[name] for name in ("noticed", "tried", "weak", "asked", "left")]
    if any(type(count) is not int or count < 0 for count in counts) or record["noticed"] > record["tried"]:
        raise ValueError("counts of changes do not fit together")
    noticed, tried, weak, asked, left = counts
    missed = clean(str(record["missed"][0]))[:_MOST_TEXT] if record["missed"] else ""
    return Sensitivity(
        noticed, tried, weak, asked, left, record["unmeasured"] is True, record["caught"] is True, missed
    )


def lacks_time(found: Mapping[str, Sensitivity]) -> bool:
    """Return True if a test that noticed nothing was not fully measured, so that another run may help."""
    noticing = {belonging(name) for name, noticed in found.items() if noticed.noticed}
    return any(noticed.unmeasured and belonging(name) not in noticing for name, noticed in found.items())


def strength_of(test_id: str, items: Iterable[Sensitivity]) -> tuple[TestStrength | None, str]:
    """Sum up the items of one test; the text says why its pass shows nothing (empty if it shows something)."""
    found = list(items)
    if not found:
        return None, _UNMEASURED
    missed = next((item.missed for item in found if item.missed), "")
    strength = TestStrength(
        test_id, sum(item.noticed for item in found), sum(item.tried for item in found), missed
    )
    if any(item.caught for item in found):
        return strength, "an assertion of it failed and was caught"
    if strength.noticed:
        return strength, ""
    would = f": {missed} would pass it" if missed else ""
    if not any(item.asked or item.unmeasured for item in found):
        return strength, "it asks the code for nothing"
    if any(item.unmeasured for item in found):
        return strength, f"{_UNMEASURED}{would}"
    if any(item.weak for item in found):
        return strength, f"it notices only values of another type, and exceptions{would}"
    if strength.tried:
        return strength, f"it notices no wrong answer{would}"
    if any(item.left for item in found):
        return strength, "it does something else when it is run again"
    return strength, "of what it asks for no other answer shows whether it notices one"
