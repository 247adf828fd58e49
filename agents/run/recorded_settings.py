"""The settings of a resumed run or batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from ..settings import Settings

OF_THE_CALL = ("work_dir", "json", "quiet", "color", "answers", "frozen", "packages")
"""Settings that a resumed run does not take over; answers and packages that it was given are in its spec."""
PATHS = ("weights", "record", "cache", "python")


def with_recorded(settings: Settings, recorded: Mapping[str, object]) -> Settings:
    """Replace settings at their defaults by the recorded ones: a flag of this call goes first."""
    kept: dict[str, Any] = {}
    defaults = Settings()
    for field in fields(Settings):
        asked, default = getattr(settings, field.name), getattr(defaults, field.name)
        if asked == default and field.name in recorded and field.name not in OF_THE_CALL:
            value = recorded[field.name]
            kept[field.name] = Path(str(value)) if value and field.name in PATHS else value
    return replace(settings, **kept)
