"""How often a grade was right with a model on the benchmark; told with every result.

`track_record.json` is made from the published results by `python docs/generate.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

from ..records import Grade, TrackRecord


def track_record(models: Sequence[str], grade: Grade) -> TrackRecord:
    """Return the record of `grade` where all roles run on one measured model, on any server; else an empty one."""
    plain = (re.sub(r"[^a-z0-9.]+", "-", model.lower()) for model in models)
    families = {EMBEDDED_FAMILY if model == "embedded" or EMBEDDED_FAMILY in model else "" for model in plain}
    measured = _measured().get(families.pop()) if len(families) == 1 else None
    found = measured["grades"].get(grade) if measured else None
    name = " and ".join(dict.fromkeys(models))
    if measured is None or found is None:
        return TrackRecord(name, grade)
    return TrackRecord(name, grade, **found, benchmarks=tuple(measured["benchmarks"]))


EMBEDDED_FAMILY = "qwen2.5-coder-1.5b"
"""The measured model: `embedded`, or a model with this in its name on any server."""


@cache
def _measured() -> dict[str, Any]:
    """Return by family the benchmarks, and for each grade the fields of its TrackRecord."""
    text = resources.files(__package__).joinpath("track_record.json").read_text(encoding="utf-8")
    measured: dict[str, Any] = json.loads(text)
    return measured
