"""Runs untrusted Python, or refuses. The only package of greenloop that starts processes."""

from __future__ import annotations

from ..clean_text import clean
from .choice import open_sandbox, open_warm
from .interface import Ended, Job, Running, Sandbox, SandboxLimits, SandboxName

__all__ = [
    "Ended",
    "Job",
    "Running",
    "Sandbox",
    "SandboxLimits",
    "SandboxName",
    "clean",
    "open_sandbox",
    "open_warm",
]
