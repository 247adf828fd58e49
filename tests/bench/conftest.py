from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.errors import SandboxUnavailable
from agents.sandbox import Sandbox, open_sandbox


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    try:
        opened = open_sandbox()
    except SandboxUnavailable as unavailable:
        pytest.skip(f"no sandbox here: {unavailable}")
    yield opened
    opened.close()
