"""Measurements of greenloop itself."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from ..console import Console


def verifier(*, rounds: Annotated[int, Parameter(validator=Number(gte=1))] = 9) -> int:
    """Measure what a verification costs against pytest as a cold subprocess, and print the table.

    Parameters
    ----------
    rounds
        How often each way is run; medians are printed.
    """
    from ..bench.verifier_speed import measure

    timings, missing = measure(rounds)
    rows = [
        f"| {timing.way} | {timing.median * 1000:.0f} | {timing.fastest * 1000:.0f} | {timing.ratio:.2f} |"
        for timing in timings
    ]
    head = ["| ten tests | median ms | fastest ms | ratio |", "|---|---|---|---|"]
    Console().lines([*head, *rows, *(f"Not measured: {reason}" for reason in missing)])
    return 0
