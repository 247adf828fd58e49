"""Measures what `@repair` adds to a call that works. Prints rows of a Markdown table, microseconds."""

from __future__ import annotations

import os
import statistics
import timeit
from collections.abc import Callable
from typing import Any

from agents import repair
from agents.repairing.options import SWITCH

CALLS = 20_000
ROUNDS = 9


def work(value: Any) -> Any:
    """Do nothing."""
    return value


def microseconds(call: Callable[[], object]) -> float:
    """The median of several rounds."""
    return statistics.median(timeit.repeat(call, number=CALLS, repeat=ROUNDS)) / CALLS * 1e6


def main() -> None:
    """Print a row for each kind of argument, on and off."""
    os.environ.pop(SWITCH, None)
    on = repair(work)
    rows: dict[str, Any] = {
        "a string of 12 characters": "$1,299.00 CA",
        "a list of 10 numbers": list(range(10)),
        "a dict of 5 strings": {f"key{number}": "text" for number in range(5)},
    }
    for name, value in rows.items():
        bare = microseconds(lambda value=value: work(value))  # type: ignore[misc]
        healed = microseconds(lambda value=value: on(value))  # type: ignore[misc]
        os.environ[SWITCH] = "off"
        off = microseconds(lambda value=value: on(value))  # type: ignore[misc]
        del os.environ[SWITCH]
        print(f"| {name} | {healed - bare:.1f} | {off - bare:.2f} |")
    os.environ[SWITCH] = "off"
    print(f"| decorating a function, once | {microseconds(lambda: repair(lambda: 1)):.1f} | |")


if __name__ == "__main__":
    main()
