"""How `@repair` looks for a patch: on the user's own model, a named one, or one of this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from .calls import CallCase
from .repair_options import RepairEvent, RepairOptions

if TYPE_CHECKING:
    from .heal import HealResult
    from .repairs import Stop


def find_patch(
    case: CallCase, options: RepairOptions, emit: Callable[[RepairEvent], None], stop: Stop
) -> HealResult:
    """Look for a patch."""
    raise NotImplementedError


def holds(case: CallCase, files: Mapping[str, str]) -> bool:
    """Run a patch."""
    return case.observe(files).symptom is None
