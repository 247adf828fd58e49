"""Mutations of values: of the same type, and where `words` is None also with the same keys and shape of a grid."""

from __future__ import annotations

import random
import re
from collections import deque
from collections.abc import Iterator, Sequence, ValuesView
from contextlib import suppress
from copy import copy
from typing import Any

from ..verifier.inside.proxy.plain import Malformed, read, writer
from ..verifier.inside.proxy.plain_source import COLLECTIONS, content_of
from ..verifier.inside.test_process.other_answers import of_value

_NUMBER = re.compile("[0-9]{1,9}")
_SIGN = re.compile(r"(?<!\w)[+-](?=[0-9])")
_SEPARATOR = re.compile(r"[\s/,;:]")
_PART = re.compile(rf"[^\s/,;:]*{_SEPARATOR.pattern}")
_STRING_PARTS = ("é", " ", "  ", "-", "_", "!", "1", "A", "ß", ".", "\t")


def edges(value: object, values: Sequence[object]) -> Iterator[object]:
    """Yield edge cases of a value's type (empty, one item, twice as long, 0, 1, for a float 0.1 % less and more),
    for a list also with its last item so, then those of `values` that have its type."""
    if isinstance(value, COLLECTIONS):
        yield from (_with_content(value, each) for each in edges(content_of(value), ()))
        return
    match value:
        case None:
            yield 1
        case bool():
            yield not value
        case int():
            yield from (0, 1)
        case float():
            yield from (0.0, 1.0, value * 0.999, value * 1.001)
        case str() if is_mark(value) and len(values) != 1:
            yield another_mark(value)
        case str():
            yield from ("", value[:1])
            if _SIGN.search(value):
                yield _SIGN.sub(lambda found: "-" if found[0] == "+" else "+", value)
            yield f"{value[:1]}-{value[1:]}"
            if part := _PART.match(value):
                yield part[0] + value
        case tuple():
            yield from (value[:0], value[:1])
        case list():
            yield from (value[:0], value[:1], 2 * value)
            lasts = (each for each in value[-1:] if isinstance(each, str | int | float))
            yield from ([*value[:-1], next(edges(each, ()))] for each in lasts)
        case dict():
            yield from ({}, dict(list(value.items())[:1]))
        case set():
            yield set()
        case _:
            yield from of_value(value)
    yield from (each for each in values if type(each) is type(value) and may_be_equal(each, value))


def may_be_equal(one: Any, other: Any) -> bool:
    """Return False for two containers that have no type of items in common, such as a matrix and a row."""
    items = [each.values() if isinstance(each, dict) else each for each in (one, other)]
    kinds = [{*map(type, each)} for each in items if isinstance(each, list | tuple | set | ValuesView)]
    return len(kinds) < 2 or not all(kinds) or bool(kinds[0] & kinds[1])


def is_mark(value: object) -> bool:
    """Return True for one character of punctuation or space, such as `,`: likely a separator."""
    return isinstance(value, str) and len(value) == 1 and not value.isalnum()


def another_mark(mark: object) -> str:
    """Return another separator than `mark`."""
    return ";" if mark == "," else ","


def mutated(value: object, chance: random.Random, *, words: Sequence[str] | None = None) -> object:
    """Return a mutated `value` of the same type; `value` itself where there is no mutation."""
    if isinstance(value, COLLECTIONS):
        return _with_content(value, mutated(content_of(value), chance, words=words))
    match value:
        case bool():
            return not value
        case int():
            return chance.choice([0, 1, -1, value + 1, value - 1, -value, 2 * value, value * 10 + 7])
        case float():
            return chance.choice([0.0, -value, value + 0.5, value / 2, value * 3])
        case str():
            return _mutated_text(value, chance, words)
        case list():
            return _mutated_items(value, chance, words)
        case tuple():
            return tuple(mutated(item, chance, words=words) if chance.random() < 0.5 else item for item in value)
        case dict():
            changed = chance.choice([*value, None])
            if words is not None and changed is not None and chance.random() < 0.5:
                return _other_keys(value, changed, chance)
            near = mutated(value.get(changed), chance, words=words)
            return {key: near if key == changed else item for key, item in value.items()}
        case set():
            return set(_mutated_items(sorted(value, key=repr), chance, words))
    return value if words is None else _mutated_part(value, chance, words)


def _with_content(value: Any, content: Any) -> object:
    """Return a copy of `value`, of a type in COLLECTIONS, that holds `content`."""
    made = copy(value)
    made.clear()
    (made.extend if isinstance(made, deque) else made.update)(content)
    return made


def _mutated_part(value: object, chance: random.Random, words: Sequence[str]) -> object:
    """Return a standard-library value with one part of its serialized form changed, or another of its type."""
    others = of_value(value)
    if others and (write := writer(type(value))) is not None:
        tag, *parts = write(value)
        at = chance.randrange(len(parts))
        parts[at] = mutated(parts[at], chance, words=words)
        with suppress(Malformed):
            others += 2 * [read(tag, parts)]
    return chance.choice(others or [value])


def _other_keys(items: dict[object, object], key: object, chance: random.Random) -> dict[object, object]:
    """Return `items` without `key`, empty, or with a mutated key instead of it or beside it."""
    others = {each: item for each, item in items.items() if each != key}
    new = {mutated(key, chance): items[key]}
    return chance.choice([others, {}, {**others, **new}, {**items, **new}])


def _mutated_text(text: str, chance: random.Random, words: Sequence[str] | None) -> str:
    if (numbers := list(_NUMBER.finditer(text)) if words is not None else []) and chance.random() < 0.5:
        found = chance.choice(numbers)
        number = abs(int(found[0]) + chance.choice([1, -1, 2, 10]))
        return f"{text[: found.start()]}{number:0{len(found[0])}}{text[found.end() :]}"
    if words and chance.random() < 0.5:
        return _with_word(text, words, chance)
    if words is not None and (separators := _SEPARATOR.findall(text)) and chance.random() < 0.4:
        separator: str = chance.choice(separators)
        parts: list[object] = [*text.split(separator)]
        at, other = chance.sample(range(len(parts)), 2)
        return separator.join(map(str, chance.choice([_swapped(parts, at, other), *_shapes(parts, at)])))
    at = chance.randint(0, len(text))
    part = chance.choice(_STRING_PARTS)
    return chance.choice(
        [text[:at] + part + text[at:], text[:at] + text[at + 1 :], text.swapcase(), text[::-1], text + text, part]
    )


def _with_word(text: str, words: Sequence[str], chance: random.Random) -> str:
    """Return `text` with one of `words` in it, at an end or in another one's place, or two of them joined."""
    one, two = chance.choices(words, k=2)
    old = chance.choice([each for each in words if each in text] + [""])
    at = chance.choice([found.start() for found in re.finditer(re.escape(old), text)])
    replaced, within = text[:at] + one + text[at + len(old) :], text[:at] + one + text[at:]
    return chance.choice([replaced, within, one + text, text + one, one + two])


def _mutated_items(items: list[object], chance: random.Random, words: Sequence[str] | None) -> list[object]:
    if not items:
        return items
    at, other = chance.randrange(len(items)), chance.randrange(len(items))
    lengths = {len(item) if isinstance(item, list) else 0 for item in items}
    if len(items) > 1 and len(lengths) == 1 and min(lengths) > 1:  # a grid: rows of one length
        if words is not None and chance.random() < 0.5:
            return chance.choice(_shapes(items, at)[1:])  # the first has no rows
        return [_cell_changed(row, items, chance) if index == at else row for index, row in enumerate(items)]
    changed = [mutated(item, chance, words=words) if index == at else item for index, item in enumerate(items)]
    return chance.choice([_swapped(items, at, other), changed, changed, *_shapes(items, at)])


def _swapped(items: list[object], at: int, other: int) -> list[object]:
    swapped = list(items)
    swapped[at], swapped[other] = swapped[other], swapped[at]
    return swapped


def _shapes(items: list[object], at: int) -> list[list[object]]:
    return [[], items[at : at + 1], items[::-1], [*items, items[at]], items[:at] + items[at + 1 :]]


def _cell_changed(row: object, rows: list[object], chance: random.Random) -> object:
    """Return the row with one cell set to a value of its type from anywhere in the grid."""
    assert isinstance(row, list)
    at = chance.randrange(len(row))
    cells = [cell for each in rows if isinstance(each, list) for cell in each if type(cell) is type(row[at])]
    return [chance.choice(cells) if index == at else cell for index, cell in enumerate(row)]
