"""Tests planted among the user's, with outcomes known beforehand: where a run reports others, it is forged."""

from __future__ import annotations

import secrets
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Canaries:
    """`files` (name -> source), one to run before and one after the tests; `outcomes` by node id."""

    before: str
    after: str
    files: dict[str, bytes]
    outcomes: dict[str, str]


def plant() -> Canaries:
    """Fresh canaries under names that nobody can know: in each file one passes and two fail."""
    files: dict[str, bytes] = {}
    outcomes: dict[str, str] = {}
    names = [f"test_{secrets.token_hex(6)}.py" for _ in range(2)]
    for name in names:
        left, right, third = (f"test_{secrets.token_hex(6)}" for _ in range(3))
        number = secrets.randbelow(1000)
        files[name] = (
            f"def {left}():\n    assert {number} + 1 == {number + 1}\n"
            f"def {right}():\n    assert {number} + 1 == {number}\n"
            f"def {third}():\n    raise LookupError\n"
        ).encode()
        outcomes.update({f"{name}::{left}": "passed", f"{name}::{right}": "failed", f"{name}::{third}": "failed"})
    return Canaries(names[0], names[1], files, outcomes)
