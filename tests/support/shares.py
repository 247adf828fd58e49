"""Which cases of a kind each run of CI takes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def half_of(cases: Iterable[str]) -> list[Any]:
    """Every second case as a thorough parameter; the others are slow, since each costs a whole command."""
    marks = (pytest.mark.thorough, pytest.mark.slow)
    return [pytest.param(case, marks=marks[number % 2], id=case) for number, case in enumerate(cases)]
