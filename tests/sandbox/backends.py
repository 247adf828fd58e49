"""Which backends this machine has, for the tests."""

from __future__ import annotations

from typing import Literal

import pytest

from agents.errors import SandboxUnavailable
from agents.sandbox import Sandbox, open_sandbox
from agents.sandbox.native import Native

BackendName = Literal["bubblewrap", "native", "native without namespaces", "none"]
ISOLATING: tuple[BackendName, ...] = ("bubblewrap", "native", "native without namespaces")
ALL: tuple[BackendName, ...] = (*ISOLATING, "none")


def open_or_skip(name: BackendName) -> Sandbox:
    """The backend by that name; skips the test, with the reason, where this machine does not have it."""
    try:
        return Native(namespaces=False) if name == "native without namespaces" else open_sandbox(name)
    except SandboxUnavailable as error:
        pytest.skip(f"{name}: {error}")
