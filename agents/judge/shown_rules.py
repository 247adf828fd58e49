"""Rules that say how a result differs from what goes in (left out, in which order): a test shows one by a result
that does."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import starmap
from typing import Any

_CONTAINERS = (list, tuple, set, frozenset, dict)
_LEFT_OUT = re.compile(
    r"(?!.*\b(?:not?|nor|never)\b|.*n't\b).*\b(?:left out|leaves? out|dropp(?:ed|ing)|drops?|remov(?:ed|es)"
    r"|skipp?(?:ed|s)|omit(?:s|ted)|excluded?|filtered|discard(?:ed|s))\b",
    re.IGNORECASE | re.DOTALL,
)
_SORTED = re.compile(
    r"(?!.*\b(?:not|already|any order|given|input)\b).*\b(?:(?:ascending|descending|alphabetical|numerical) order"
    r"|sorted (?:by|from|alphabetically|ascending|descending)"
    r"|(?:smallest|largest|longest|shortest|highest|lowest|newest|oldest|biggest) first)\b",
    re.IGNORECASE | re.DOTALL,
)
_AS_GIVEN = re.compile(
    r".*\b(?:(?:in the )?order (?:of (?:the first|their|first|appearance|insertion)|in which|they)"
    r"|(?:keep|kept|preserv)\w* (?:in )?(?:the |their )?(?:original |relative )?order"
    r"|order (?:is|stays|remains) (?:kept|preserved|the same))\b",
    re.IGNORECASE | re.DOTALL,
)


def shows(rule: str, stated: Sequence[tuple[Sequence[object], object]]) -> bool:
    """Return True unless `rule` says of a result what none of the calls in `stated` shows, by the values that they
    pass on and their results; what can't be told is shown."""
    wanted = [shown for words, shown in _RULES if words.match(rule)]
    return not stated or all(any(starmap(shown, stated)) for shown in wanted)


def _loses(given: Sequence[object], result: object) -> bool:
    """Return True if a part of what is `given` is not in the result: a key of dicts, an item of lists, a character
    of texts."""
    alike: list[Any] = [each for each in given if isinstance(each, type(result))]
    if not alike:
        return True
    if isinstance(result, dict):
        return any(key not in result for each in alike for key in each)
    if isinstance(result, str):
        return bool(Counter("".join(map(str.casefold, alike))) - Counter(result.casefold()))
    parts = (given, within(result))
    gone, kept = (Counter(each for each in part if not isinstance(each, _CONTAINERS)) for part in parts)
    return not isinstance(result, _CONTAINERS) or bool(gone - kept)


def _reorders(given: Sequence[object], result: object) -> bool:
    """Return True if items come out in another order than they go in."""
    if not isinstance(result, list | tuple):
        return True
    before = [item for each in given if isinstance(each, list | tuple | dict) for item in each if item in result]
    return not before or [each for each in result if each in before] != before


def _is_unsorted(_: Sequence[object], result: Any) -> bool:
    """Return True if no sorting gives this order."""
    if not isinstance(result, list | tuple):
        return True
    try:
        ascending = sorted(result)
    except TypeError:
        return True
    return list(result) not in (ascending, ascending[::-1])


_RULES = ((_LEFT_OUT, _loses), (_SORTED, _reorders), (_AS_GIVEN, _is_unsorted))


def within(value: object) -> Iterator[object]:
    """Yield the items of a container, and those in them."""
    items = (*value, *value.values()) if isinstance(value, dict) else value
    for item in items if isinstance(items, _CONTAINERS) else ():
        yield item
        yield from within(item)
