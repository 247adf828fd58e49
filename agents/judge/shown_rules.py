"""Rules of a spec on leaving out, order, rounding and ties, and the calls that show them: those whose result
differs from the input as the rule says, or whose input has a tie."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import starmap
from typing import Any

from ..spec.bounds import in_digits

_CONTAINERS = (list, tuple, set, frozenset, dict)
_MOST_RANKED = 200
_LEFT_OUT = re.compile(
    r"(?is)(?!.*\b(?:not?|nor|never)\b|.*n't\b).*\b(?:left out|leaves? out|dropp(?:ed|ing)|drops?|remov(?:ed|es)"
    r"|skipp?(?:ed|s)|omit(?:s|ted)|excluded?|filtered|discard(?:ed|s))\b"
)
_SORTED = re.compile(
    r"(?is)(?!.*\b(?:not|already|any order|given|input)\b).*\b"
    r"(?:(?:ascending|descending|alphabetical|numerical) order"
    r"|sorted (?:by|from|alphabetically|ascending|descending)"
    r"|(?:smallest|largest|longest|shortest|highest|lowest|newest|oldest|biggest) first)\b"
)
_AS_GIVEN = re.compile(
    r"(?is).*\b(?:(?:in the )?order (?:of (?:the first|their|first|appearance|insertion)|in which|they)"
    r"|(?:keep|kept|preserv)\w* (?:in )?(?:the |their )?(?:original |relative )?order"
    r"|order (?:is|stays|remains) (?:kept|preserved|the same))\b"
)
_TIED = re.compile(
    r"(?is).*\b(?:ties?|tied|equally"
    r"|(?:several|two|three|some|many|\w+s)(?: (?!their|its|his|her|an?|the|equal)\w+)? share\b"
    r"|(?:with|have|has|having|of|share) (?:the same|equal|an equal)"
    r" (?:\w+ )?(?:number|count|score|length|frequency|amount|total|price|priority|points?|rank|value|size)s?)\b"
)
_IN_ORDER = re.compile(r"(?i)\b(?:first(?! in the alphabet)|earlie(?:r|st)|order|stay|keep|kept|given|original)\b")
"""Words of a rule by which tied items keep their order."""
_ROUNDED = re.compile(
    r"(?is).*\bround(?:ed|s)?\b[^.;]{0,20}? (?P<places>\d|one|two|three|four) (?:decimal|digit|place)"
)
Stated = Sequence[tuple[Sequence[object], object]]
"""Calls: the values of their arguments and the result of each."""


def shows(rule: str, own: Stated, counting: Stated) -> bool:
    """Return False if `rule` is about leaving out or order and no call in `own` shows it, or about ties or
    rounding and no call in `counting` does. Return True where this can't be told."""
    wanted = [shown for words, shown in _RULES if words.match(rule)]
    rounded = _ROUNDED.match(rule)
    tied = _TIED.match(rule)
    told = [_has_tie(*each, as_given=bool(_IN_ORDER.search(rule))) for each in counting] if tied else []
    if rounded:
        told += [_has_decimals(result, rounded["places"]) for _, result in counting]
    if False in told and True not in told:
        return False
    return not own or all(any(starmap(shown, own)) for shown in wanted)


def _leaves_out(given: Sequence[object], result: object) -> bool:
    """Return True if a key, an item or a character of `given` is not in the result, or they can't be compared."""
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
    """Return True if the result has items of `given` in another order, or they can't be compared."""
    if not isinstance(result, list | tuple):
        return True
    before = [item for each in given if isinstance(each, list | tuple | dict) for item in each if item in result]
    return not before or [each for each in result if each in before] != before


def _is_unsorted(_: Sequence[object], result: Any) -> bool:
    """Return True if sorting the result gives another order, or it can't be sorted."""
    try:
        return not isinstance(result, list | tuple) or list(result) != sorted(result)
    except TypeError:
        return True


def _has_tie(given: Sequence[object], result: object, *, as_given: bool) -> bool | None:
    """Return True if parts of `given` tie and the result shows how the tie is resolved: another tied part comes
    first than in `given`, or any where ties stay `as_given`. A result with none of them is enough if it is a
    container, or the tie is at the highest or lowest rank. Return None if nothing can be ranked."""
    inner = [part for value in given for part in within(value)]
    ranked = [ranks for value in given if value not in inner for ranks in _ranks(value)]
    out = [result, *within(result)]
    for parts, ranks in ranked:
        for rank in {each for each in ranks if ranks.count(each) > 1}:
            tied = [[part, *within(part)] for part, other in zip(parts, ranks, strict=True) if other == rank]
            places = [min((out.index(each) for each in part if each in out), default=len(out)) for part in tied]
            named, moved = min(places) < len(out), as_given or min(places) < places[0]
            other = result not in inner and rank in (min(ranks), max(ranks))
            if moved if named else other or isinstance(result, _CONTAINERS):
                return True
    return False if ranked else None


def _ranks(value: Any) -> Iterator[tuple[list[Any], list[Any]]]:
    """Yield the parts of a value with the numbers that may rank them: how often each occurs if one does so twice,
    else their values, the lengths of texts, or each column of rows."""
    words = value.split() if isinstance(value, str) else []
    keys = words if len(words) > 1 else [*value] if isinstance(value, dict | str) else value
    items = [*value.values()] if isinstance(value, dict) else keys
    if not isinstance(items, list | tuple) or len(items) > _MOST_RANKED or len({*map(type, items)}) > 1:
        return
    once = [item for index, item in enumerate(items) if item not in items[:index]]
    rows = [[*each.values()] if isinstance(each, dict) else each for each in items]
    if len(once) < len(items) and not isinstance(value, dict):
        columns: Iterable[Any] = [[items.count(item) for item in once]]
        keys = once
    elif all(isinstance(row, list | tuple) for row in rows):
        columns = zip(*rows, strict=False)
    else:
        columns = [[len(each) if isinstance(each, str) else each for each in items]]
    yield from ((keys, [*each]) for each in columns if all(isinstance(rank, int | float) for rank in each))


def _has_decimals(result: object, places: str) -> bool | None:
    """Return True if a float in a result has at least `places` decimals; None without a float."""
    count = int(in_digits(places.lower()))
    numbers = [each for each in (result, *within(result)) if isinstance(each, float)]
    return any(round(each, count - 1) != each for each in numbers) if numbers else None


_RULES = ((_LEFT_OUT, _leaves_out), (_SORTED, _reorders), (_AS_GIVEN, _is_unsorted))


def within(value: object) -> Iterator[object]:
    """Yield the items of a container, and those in them."""
    items = (*value, *value.values()) if isinstance(value, dict) else value
    for item in items if isinstance(items, _CONTAINERS) else ():
        yield item
        yield from within(item)
