"""Inputs for each program of QuixBugs, within its precondition: the arguments of a call, written as Python.

`linked` and `graph` are defined where the inputs are read (inside/outputs_process.py): a list of nodes from its
values, whose last leads `back` to the one of that index, and the nodes of a graph from its edges.
Where several answers are right (equal weights, a value found twice), inputs are made that have one.
"""

from __future__ import annotations

import string
from collections.abc import Callable
from random import Random
from typing import Any

COUNT = 200
_Edges = list[tuple[int, int]]


def inputs(name: str) -> tuple[str, ...]:
    """Return the inputs of the program `name`. Deterministic."""
    random = Random(name)
    made = (GENERATORS[name](random) for _ in range(COUNT))
    return tuple(each if isinstance(each, str) else repr(each) for each in made)


def _ints(random: Random, most: int = 12, low: int = -50, high: int = 50) -> list[int]:
    return [random.randint(low, high) for _ in range(random.randint(0, most))]


def _unique(random: Random, least: int = 0, most: int = 12) -> list[int]:
    return random.sample(range(-50, 50), random.randint(least, most))


def _word(random: Random, letters: str = "abc", most: int = 6) -> str:
    return "".join(random.choices(letters, k=random.randint(0, most)))


def _bucketsort(random: Random) -> tuple[Any, ...]:
    upper = random.randint(1, 20)
    return _ints(random, 12, 0, upper - 1), upper


def _found_or_not(random: Random, values: list[int]) -> tuple[Any, ...]:
    return sorted(values), random.choice(values) if values and random.random() < 0.7 else random.randint(-60, 60)


def _nested(random: Random, depth: int = 3) -> list[Any]:
    return [
        _nested(random, depth - 1) if depth and random.random() < 0.4 else random.randint(0, 9)
        for _ in range(random.randint(0, 4))
    ]


def _hanoi(random: Random) -> tuple[Any, ...]:
    start, end = random.sample((1, 2, 3), 2)
    return random.randint(0, 7), start, end


def _kheapsort(random: Random) -> tuple[Any, ...]:
    values = sorted(_unique(random, 1))
    places = list(values)
    for _ in range(random.randint(0, 6)):
        place = random.randrange(len(places))
        other = min(len(places) - 1, place + random.randint(0, 3))
        places[place], places[other] = places[other], places[place]
    return places, max(abs(place - values.index(value)) for place, value in enumerate(places))


def _knapsack(random: Random) -> tuple[Any, ...]:
    items = [(random.randint(1, 30), random.randint(1, 50)) for _ in range(random.randint(0, 8))]
    return random.randint(1, 80), items


def _kth(random: Random) -> tuple[Any, ...]:
    values = [random.randint(0, 20) for _ in range(random.randint(1, 12))]
    return values, random.randrange(len(values))


def _next_palindrome(random: Random) -> tuple[Any, ...]:
    half = [random.choice((0, 1, 5, 8, 9, 9)) for _ in range(random.randint(1, 4))]
    half[0] = half[0] or 1
    return ([*half, *reversed(half[: random.choice((len(half), len(half) - 1))])],)


def _next_permutation(random: Random) -> tuple[Any, ...]:
    values = _unique(random, 2, 7)
    return (values if values != sorted(values, reverse=True) else sorted(values),)


def _rpn_eval(random: Random) -> tuple[Any, ...]:
    """No divisor is 0: dividends may be anything, divisors are plain numbers."""

    def expression(depth: int) -> list[Any]:
        if not depth or random.random() < 0.3:
            return [float(random.randint(1, 20))]
        operator = random.choice("+-*/")
        return [*expression(depth - 1), *expression(0 if operator == "/" else depth - 1), operator]

    return (expression(3),)


def _shunting_yard(random: Random) -> tuple[Any, ...]:
    count = random.randint(0, 7)
    tokens: list[Any] = [random.randint(0, 99) for _ in range(count)]
    for place in range(count - 1, 0, -1):
        tokens.insert(place, random.choice("+-*/"))
    return (tokens,)


def _subsequences(random: Random) -> tuple[Any, ...]:
    start = random.randint(-5, 5)
    return start, start + random.randint(-2, 7), random.randint(1, 4)


def _wrap(random: Random) -> tuple[Any, ...]:
    """Words are shorter than a column: a longer one after a space ends in no line, nor does the reference."""
    words = [_word(random, string.ascii_lowercase, 7) or "a" for _ in range(random.randint(1, 20))]
    return " ".join(words), random.randint(9, 30)


# --- graphs and linked lists --------------------------------------------------------------------------------


def _cyclic(random: Random) -> str:
    values = _ints(random)
    back = random.randrange(len(values)) if values and random.random() < 0.5 else None
    return f"(linked({values}, {back}),)"


def _edges(random: Random, count: int, share: float, *, forward: bool = False) -> _Edges:
    """Return a share of the edges between `count` nodes; `forward` ones alone make no cycle."""
    pairs = [(one, other) for one in range(count) for other in range(count) if (one < other or not forward)]
    return [pair for pair in pairs if pair[0] != pair[1] and random.random() < share]


def _search(random: Random) -> str:
    count = random.randint(1, 8)
    edges = _edges(random, count, random.choice((0.1, 0.2, 0.4)))
    ends = f"nodes[{random.randrange(count)}], nodes[{random.randrange(count)}]"
    return f"(lambda nodes: ({ends}))(graph({count}, {edges}))"


def _ordering(random: Random) -> str:
    count = random.randint(0, 8)
    order = random.sample(range(count), count)
    edges = _edges(random, count, 0.3, forward=True)
    return f"(lambda nodes: ([nodes[place] for place in {order}],))(graph({count}, {edges}))"


def _spanning(random: Random) -> tuple[Any, ...]:
    """Return a connected graph whose weights all differ: it has one spanning tree of the least weight."""
    count = random.randint(2, 8)
    edges = {(random.randrange(node), node) for node in range(1, count)}
    edges |= set(_edges(random, count, 0.4, forward=True))
    ordered = random.sample(sorted(edges), len(edges))
    return (dict(zip(ordered, random.sample(range(1, 1000), len(ordered)), strict=True)),)


def _weighted(random: Random, count: int) -> dict[tuple[int, int], int]:
    """Weights, some negative, whose sum along no cycle is: a way costs at least the difference of heights."""
    heights = [random.randint(-10, 10) for _ in range(count)]
    edges = _edges(random, count, 0.4)
    return {(one, other): random.randint(0, 20) + heights[other] - heights[one] for one, other in edges}


def _all_lengths(random: Random) -> tuple[Any, ...]:
    count = random.randint(1, 7)
    return count, _weighted(random, count)


def _lengths_from(random: Random) -> tuple[Any, ...]:
    weights: dict[tuple[int, int], int] = {}
    while not weights:
        weights = _weighted(random, random.randint(2, 7))
    # The reference knows a node by the edges that lead to it: edges from nodes without any are out.
    source = random.choice(sorted(weights))[0]
    known = {source}
    while more := {other for one, other in weights if one in known} - known:
        known |= more
    return source, {pair: weight for pair, weight in weights.items() if pair[0] in known}


def _length(random: Random) -> str:
    """Return a start, nodes beside each other, one where their ways meet, and a tree behind it.

    The reference does not keep its heap in order when a way becomes shorter; only that one's does here, and it
    changes nothing. Lengths differ, as nodes of equal distance would be compared.
    """
    beside = random.randint(1, 4)
    count = beside + 2 + random.randint(0, 3)
    edges = [(0, node) for node in range(1, beside + 1)]
    edges += [(node, beside + 1) for node in range(1, beside + 1) if random.random() < 0.8]
    edges += [(random.randrange(beside + 1, node), node) for node in range(beside + 2, count)]
    lengths = dict(zip(edges, random.sample(range(1, 10**6), len(edges)), strict=True))
    start, goal = 0 if random.random() < 0.8 else random.randrange(count), random.randrange(count)
    keyed = f"{{(nodes[one], nodes[other]): length for (one, other), length in {lengths}.items()}}"
    return f"(lambda nodes: ({keyed}, nodes[{start}], nodes[{goal}]))(graph({count}, {edges}))"


GENERATORS: dict[str, Callable[[Random], str | tuple[Any, ...]]] = {
    "bitcount": lambda random: (random.randint(0, 10**6),),
    "breadth_first_search": _search,
    "bucketsort": _bucketsort,
    "depth_first_search": _search,
    "detect_cycle": _cyclic,
    "find_first_in_sorted": lambda random: _found_or_not(random, _ints(random, 12, -5, 5)),
    "find_in_sorted": lambda random: _found_or_not(random, _unique(random)),
    "flatten": lambda random: (_nested(random),),
    "gcd": lambda random: (random.randint(0, 500), random.randint(0, 500)),
    "get_factors": lambda random: (random.randint(1, 2000),),
    "hanoi": _hanoi,
    "is_valid_parenthesization": lambda random: (_word(random, "()", 8),),
    "kheapsort": _kheapsort,
    "knapsack": _knapsack,
    "kth": _kth,
    "lcs_length": lambda random: (_word(random), _word(random)),
    "levenshtein": lambda random: (_word(random), _word(random)),
    "lis": lambda random: (_unique(random),),
    "longest_common_subsequence": lambda random: (_word(random), _word(random)),
    "max_sublist_sum": lambda random: (_ints(random),),
    "mergesort": lambda random: (_ints(random),),
    "minimum_spanning_tree": _spanning,
    "next_palindrome": _next_palindrome,
    "next_permutation": _next_permutation,
    "pascal": lambda random: (random.randint(1, 15),),
    "possible_change": lambda random: (random.sample(range(1, 20), random.randint(0, 4)), random.randint(-5, 40)),
    "powerset": lambda random: (_unique(random, 0, 6),),
    "quicksort": lambda random: (_ints(random, 12, -5, 5),),
    "reverse_linked_list": lambda random: f"(linked({_ints(random)}),)",
    "rpn_eval": _rpn_eval,
    "shortest_path_length": _length,
    "shortest_path_lengths": _all_lengths,
    "shortest_paths": _lengths_from,
    "shunting_yard": _shunting_yard,
    "sieve": lambda random: (random.randint(1, 200),),
    "sqrt": lambda random: (round(random.uniform(1, 500), 2), random.choice((0.5, 0.1, 0.01, 0.001))),
    "subsequences": _subsequences,
    "to_base": lambda random: (random.randint(1, 10**6), random.randint(2, 36)),
    "topological_ordering": _ordering,
    "wrap": _wrap,
}
"""Makers of one input, as Python or as the tuple itself, by the names of all programs."""
