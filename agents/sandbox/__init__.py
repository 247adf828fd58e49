"""Runs untrusted Python in isolation, or refuses."""

from __future__ import annotations

from .choice import open_sandbox
from .interface import Ended, Job, Running, Sandbox, SandboxLimits, SandboxName

__all__ = ["Ended", "Job", "Running", "Sandbox", "SandboxLimits", "SandboxName", "open_sandbox"]
