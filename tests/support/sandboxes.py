"""Which backends this machine has, for the tests."""

from __future__ import annotations

from typing import Literal

import pytest

from agents.errors import SandboxUnavailable
from agents.sandbox import Sandbox, open_sandbox
from agents.sandbox.backends.native import Native
from agents.sandbox.backends.warm import WarmSandbox

BackendName = Literal[
    "bubblewrap", "native", "native without namespaces", "warm bubblewrap", "warm native", "none"
]
ISOLATING: tuple[BackendName, ...] = (
    "bubblewrap",
    "native",
    "native without namespaces",
    "warm bubblewrap",
    "warm native",
)
ALL: tuple[BackendName, ...] = (*ISOLATING, "none")


def open_or_skip(name: BackendName) -> Sandbox:
    """The backend by that name; skips the test, with the reason, where this machine does not have it."""
    try:
        return open_backend(name)
    except SandboxUnavailable as error:
        pytest.skip(f"{name}: {error}")


def open_backend(name: str) -> Sandbox:
    """The backend by that name; raises SandboxUnavailable."""
    if name == "native without namespaces":
        return Native(namespaces=False)
    sandbox = open_sandbox(name.removeprefix("warm "))  # type: ignore[arg-type]
    return WarmSandbox(sandbox) if name.startswith("warm ") else sandbox
