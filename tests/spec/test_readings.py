"""How specs that others wrote are read: no change makes it worse."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.measure.readings import FILES, readings


@pytest.mark.parametrize(
    ("file", "least"),
    [
        (FILES[0], (140, 107, 257)),
        (FILES[1], (212, 97, 0)),
        (FILES[2], (77, 210, 0)),
        (FILES[3], (37, 95, 0)),
    ],
)
def test_specs_of_others_are_read_as_well_as_before(file: Path, least: tuple[int, ...]) -> None:
    assert all(found >= wanted for found, wanted in zip(map(sum, readings(file)), least, strict=True))
