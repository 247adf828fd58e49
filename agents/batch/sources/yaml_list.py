"""A YAML list: a text or a mapping an item."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO

from ...spec.place import Place
from ...spec.yaml_source import YamlFault, built, composed, key_lines
from .item import BODIES, Item, Items, fault_at, fault_of, item_of

if TYPE_CHECKING:
    import yaml

LONGEST_LIST = 20_000_000
"""Bytes: YAML is read whole, and takes some hundred bytes of memory for one of its own."""


def items(file: BinaryIO, place: Place) -> Items:
    """Yield the items of the one list in `file`; a file that is not YAML is one fault. `place` is the file's."""
    import yaml

    data = file.read(LONGEST_LIST + 1)
    if len(data) > LONGEST_LIST:
        yield fault_of(place.name, f"is longer than {LONGEST_LIST // 1_000_000} MB; write it as JSON Lines.")
        return
    try:
        source = data.decode("utf-8-sig")
        node = composed(source)
    except UnicodeDecodeError as error:
        yield fault_at(place, "the file is not UTF-8; save it as UTF-8.", data[: error.start].count(b"\n") + 1)
    except YamlFault as fault:
        reason = f"the file is not YAML ({fault}); mend the line, or quote its text."
        yield fault_at(place, reason, (fault.line or 0) + 1)
    else:
        if isinstance(node, yaml.SequenceNode) and node.value:
            yield from (_item(child, source, place) for child in node.value)
            return
        no_list = "the file holds no list of specs; begin each spec with `- `."
        found = fault_at(place, no_list, node.start_mark.line + 1 if node else 1)
        yield replace(found, absent=node is None or not node.value)


def _item(node: yaml.Node, source: str, place: Place) -> Item:
    import yaml

    line = node.start_mark.line + 1
    here = replace(place, whole=place.at(line))
    written = source[node.start_mark.index : node.end_mark.index]
    lines = {key: number + 1 for key, number in key_lines(node).items()}
    text = node
    try:
        if isinstance(node, yaml.MappingNode):
            _check_keys(node)
            text = next((value for key, value in node.value if key.value in BODIES), node)
        value = built(node)
    except YamlFault as fault:
        where = place.at((fault.line or node.start_mark.line) + 1)
        reason = f"{where}: the item can't be read ({fault}); quote its values."
        return Item(here, source=written, fault=reason)
    # The lines of a text are the file's in a literal block, else all are the item's first.
    first = text.start_mark.line + 2 if getattr(text, "style", None) == "|" else None
    return item_of(value, Item(here, text_place=replace(here, first=first), lines=lines, source=written))


def _check_keys(node: yaml.MappingNode) -> None:
    seen: set[str] = set()
    for key, _ in node.value:
        if isinstance(key.value, str) and key.value in seen:
            raise YamlFault(f"`{key.value[:40]}` is there twice", key.start_mark.line)
        seen.add(str(key.value))


def begins_list(text: str) -> bool:
    """Return True if a text's first line of content begins an item of a list."""
    return re.match(r"(?:[ \t]*\n)*(?:---[ \t]*\n(?:[ \t]*\n)*)?-(?:[ \t]|\n)", text) is not None
