"""Runs untrusted Python, or refuses. The only package of greenloop that starts processes."""

from __future__ import annotations

from .choice import open_sandbox
from .interface import Ended, Job, Running, Sandbox, SandboxLimits, SandboxName

__all__ = ["Ended", "Job", "Running", "Sandbox", "SandboxLimits", "SandboxName", "open_sandbox"]
