"""JSON Lines: a string or an object a line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import BinaryIO

from ...spec.place import Place
from .item import Item, Items, fault_at, item_of

LONGEST_LINE = 1_000_000
"""Bytes; a spec of the greatest length fits, escaped or not."""


def items(file: BinaryIO, place: Place) -> Items:
    """Yield the items of `file`, one a line; blank lines are none. `place` is the file's."""
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        here = Place(place.name, place.at(number), place.origin, place.folder, first=None)
        if len(line) > LONGEST_LINE:
            while line and not line.endswith(b"\n"):
                line = file.readline(LONGEST_LINE)
            yield fault_at(here, f"the line is longer than {LONGEST_LINE // 1000} KB; shorten the spec.")
        elif found := _item(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line, here):
            yield found


def _item(line: bytes, place: Place) -> Item | None:
    source = line.strip().decode("utf-8", "backslashreplace")
    if not source:
        return None
    try:
        value = json.loads(line.decode("utf-8"), object_pairs_hook=_object)
    except UnicodeDecodeError:
        return fault_at(place, "the line is not UTF-8; save the file as UTF-8.", None, source)
    except (ValueError, RecursionError) as error:
        problem = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        reason = f'the line is not JSON ({problem}); write {{"spec": "..."}}, all on one line.'
        return fault_at(place, reason, None, source)
    return item_of(value, Item(place, source=source))


def _object(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    made: dict[str, object] = {}
    for key, value in pairs:
        if key in made:
            raise ValueError(f"`{key[:40]}` is there twice")
        made[key] = value
    return made
