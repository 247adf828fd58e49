"""Calls a function of `user_code` on inputs; run inside a sandbox. It is never told what is expected.

Standard input is JSON with `entry_point` and `inputs`, the arguments of a call each, as Python. Each call's result
is a line of JSON on standard output; what the code prints goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys
from itertools import islice, pairwise
from pathlib import Path
from types import GeneratorType
from typing import Any

_MOST = 10_000
"""Values that are taken from a generator, and nodes from a list."""


class Node:
    """A node as QuixBugs has it."""

    def __init__(self, value: object) -> None:
        self.value = value
        self.successor: Node | None = None
        self.successors: list[Node] = []
        self.predecessors: list[Node] = []
        self.incoming_nodes: list[Node] = []
        self.outgoing_nodes: list[Node] = []


def linked(values: list[Any], back: int | None = None) -> Node | None:
    """Link a node for each value, and return the first; the last one leads back to that of the index `back`."""
    nodes = [Node(value) for value in values]
    for node, successor in pairwise(nodes):
        node.successor = successor
    if back is not None:
        nodes[-1].successor = nodes[back]
    return nodes[0] if nodes else None


def graph(count: int, edges: list[tuple[int, int]]) -> list[Node]:
    """Make `count` nodes and the edges between them."""
    nodes = [Node(number) for number in range(count)]
    for one, other in edges:
        nodes[one].successors.append(nodes[other])
        nodes[other].predecessors.append(nodes[one])
    for node in nodes:
        node.outgoing_nodes, node.incoming_nodes = node.successors, node.predecessors
    return nodes


def plain(value: object) -> Any:
    """Write a value as JSON has it, so that equal values are written alike."""
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value
    if kind in (list, tuple):
        return [kind.__name__, *map(plain, value)]  # type: ignore[call-overload]
    if kind in (set, frozenset):
        return ["set", *sorted(map(plain, value), key=json.dumps)]  # type: ignore[call-overload]
    if isinstance(value, dict):
        return ["dict", *sorted(([plain(key), plain(held)] for key, held in value.items()), key=json.dumps)]
    if isinstance(value, GeneratorType):
        return ["list", *map(plain, islice(value, _MOST))]
    if isinstance(value, Node):
        return ["nodes", *map(plain, _values(value))]
    return ["other", kind.__name__]


def _values(node: Node | None) -> list[Any]:
    values: list[Any] = []
    while node is not None and len(values) < _MOST:
        values.append(node.value)
        node = node.successor
    return values


def main() -> None:
    """Answer each input with a line."""
    results = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    order = json.load(sys.stdin)
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    import user_code  # type: ignore[import-not-found]

    function = getattr(user_code, order["entry_point"])
    for text in order["inputs"]:
        arguments = eval(text, {"linked": linked, "graph": graph})
        try:
            line = json.dumps(["value", _told(function(*arguments))])
        except Exception as error:
            line = json.dumps(["raises", type(error).__name__])
        results.write(line + "\n")
        results.flush()


def _told(value: object) -> Any:
    """Tell nodes in a list by their values, a node by those of the list that it begins."""
    if type(value) is list and value and all(isinstance(each, Node) for each in value):
        return ["list", *(plain(each.value) for each in value)]
    return plain(value)


if __name__ == "__main__":
    main()
