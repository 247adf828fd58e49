"""Measurements of greenloop, each a program to run in a checkout: `python -m docs.measure.NAME`."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
"""The checkout."""
BENCHMARKS = ROOT.parent / "shared" / "benchmarks"
