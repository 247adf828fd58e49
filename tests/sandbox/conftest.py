from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.errors import SandboxUnavailable
from agents.sandbox import Sandbox, open_sandbox
from agents.sandbox.native import Native

BACKENDS = ("bubblewrap", "native", "native without namespaces", "none")


def open_or_skip(name: str) -> Sandbox:
    """The backend by that name; skips the test, with the reason, where this machine does not have it."""
    try:
        if name == "native without namespaces":
            return Native(namespaces=False)
        return open_sandbox(name)  # type: ignore[arg-type]
    except SandboxUnavailable as error:
        pytest.skip(f"{name}: {error}")


@pytest.fixture(params=BACKENDS)
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Every backend that this machine has, `none` included: what holds for all."""
    opened = open_or_skip(request.param)
    yield opened
    opened.close()
