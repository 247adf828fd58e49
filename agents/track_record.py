"""How often a grade was right: what the benchmark found for a model, told with every result.

`track_record.json` is made from the published results by `python docs/generate.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources

from .records import Grade
from .run_record import TrackRecord


def track_record(models: Sequence[str], grade: Grade | None) -> TrackRecord | None:
    """The record of `grade` where all roles run on one model that was measured, whoever serves it; else None."""
    families = {_family(model) for model in models}
    measured = _measured().get(families.pop() or "") if len(families) == 1 else None
    found = measured.get(grade) if measured and grade else None
    return TrackRecord(models[0], grade, *found) if found and grade else None


def _family(model_id: str) -> str | None:
    """The measured model that an id means: `embedded`, or its own name at any server."""
    words = re.sub(r"[^a-z0-9.]+", "-", model_id.lower())
    return EMBEDDED_FAMILY if model_id == "embedded" or EMBEDDED_FAMILY in words else None


EMBEDDED_FAMILY = "qwen2.5-coder-1.5b"


@cache
def _measured() -> dict[str, dict[Grade, tuple[int, int]]]:
    text = resources.files(__package__).joinpath("track_record.json").read_text(encoding="utf-8")
    return {
        family: {grade: (right, results) for grade, (right, results) in grades.items()}
        for family, grades in json.loads(text).items()
    }
