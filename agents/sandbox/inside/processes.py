"""A process and its descendants, from /proc."""

from __future__ import annotations

# Importing pathlib would delay every job.
# ruff: noqa: PTH123, PTH208
import os


def children(pid: int) -> list[int]:
    """Return the children of every thread of `pid`; empty when it is gone."""
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            try:
                with open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                    found += map(int, file.read().split())
            except OSError:
                continue  # the thread has ended
    except OSError:
        return found
    return found


def tree(pid: int) -> list[int]:
    """Return `pid` and its descendants, as far as /proc shows them now."""
    found, pending = [], [pid]
    while pending:
        current = pending.pop()
        found.append(current)
        pending += children(current)
    return found
