"""How often a grade was right with a model on the benchmark, on specs of as many clauses; told with every result.

`track_record.json` is made from docs/benchmark/grades.json by `python docs/generate.py`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources
from typing import Any

from ..records import Grade, Ruling, TrackRecord

EMBEDDED_FAMILY = "qwen2.5-coder-1.5b"
"""The measured model: `embedded`, or a model with this in its name on any server."""
MANY_CLAUSES = 4
MANY_DRAFTS = 3


def track_record(models: Sequence[str], ruling: Ruling) -> TrackRecord:
    """Return the record of rulings like `ruling` where all roles run on one measured model, on any server; else
    an empty one."""
    plain = (re.sub(r"[^a-z0-9.]+", "-", model.lower()) for model in models)
    families = {EMBEDDED_FAMILY if model == "embedded" or EMBEDDED_FAMILY in model else "" for model in plain}
    measured = _measured().get(families.pop(), {}) if len(families) == 1 else {}
    kind = kind_of(ruling.grade, len(ruling.clauses), ruling.alike)
    name = " and ".join(dict.fromkeys(models))
    found = dict(measured.get(f"{ruling.grade} {kind}", {}))
    return TrackRecord(name, ruling.grade, kind, benchmarks=tuple(found.pop("benchmarks", ())), **found)


def kind_of(grade: Grade, clauses: int, alike: int) -> str:
    """Name the results that a result is counted with: by the spec's clauses, and for `contested` by the number of
    drafts that behave alike. Results on specs of many clauses are right far less often (docs/benchmark.md)."""
    specs = f"on specs of {'at least' if clauses >= MANY_CLAUSES else 'fewer than'} {MANY_CLAUSES} clauses"
    if grade != "contested":
        return specs
    return f"{specs}, {'at least' if alike >= MANY_DRAFTS else 'fewer than'} {MANY_DRAFTS} drafts alike"


def counted(right: Sequence[bool]) -> dict[str, Any]:
    """Return the fields of a TrackRecord of these results: how many were right, and the exact 95 % interval.

    C. J. Clopper and E. S. Pearson, The Use of Confidence or Fiducial Limits, Biometrika 26 (1934) 404-413.
    """
    count, trials, tail = sum(right), len(right), 0.025

    def at_most(most: int, share: float) -> float:
        return sum(math.comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in range(most + 1))

    low = _root(lambda share: 1 - at_most(count - 1, share) - tail) if count else 0.0
    high = _root(lambda share: tail - at_most(count, share)) if count < trials else 1.0
    return {"right": count, "results": trials, "low": round(low, 4), "high": round(high, 4)}


def _root(rising: Callable[[float], float]) -> float:
    """Find where a rising function on 0 to 1 passes 0."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return low


@cache
def _measured() -> dict[str, Any]:
    """Return by family the fields of the TrackRecord of each grade and kind."""
    text = resources.files(__package__).joinpath("track_record.json").read_text(encoding="utf-8")
    measured: dict[str, Any] = json.loads(text)
    return measured
