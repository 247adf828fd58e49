"""Verifies a candidate against tests, with a verdict that the candidate cannot forge."""

from __future__ import annotations

from .static.gate import examine
from .verifier import Verifier
from .workers import Workers

__all__ = ["Verifier", "Workers", "examine"]
