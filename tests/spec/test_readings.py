"""How specs that others wrote are read: no change makes it worse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agents.spec import read_spec
from docs.measure.readings import FILES, readings

TRAPS = [json.loads(line) for line in FILES[4].read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("file", "least"),
    [
        (FILES[0], (140, 108, 277)),
        (FILES[1], (212, 97, 0)),
        (FILES[2], (79, 225, 0)),
        (FILES[3], (37, 95, 0)),
        (FILES[4], (57, 12, 0)),
    ],
)
def test_specs_of_others_are_read_as_well_as_before(file: Path, least: tuple[int, ...]) -> None:
    assert all(found >= wanted for found, wanted in zip(map(sum, readings(file)), least, strict=True))


@pytest.mark.parametrize("trap", TRAPS, ids=[str(number) for number in range(len(TRAPS))])
def test_no_example_is_read_that_the_reference_fails(trap: dict[str, str]) -> None:
    defined: dict[str, Any] = {"pytest": pytest}
    exec(trap["reference"], defined)
    for example in read_spec(trap["text"], origin="trap").examples:
        exec(example.code, dict(defined))
