from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.rig import Rig
from agents.sandbox import open_sandbox


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    """A rig of plain processes: the sandbox has tests of its own."""
    sandbox = open_sandbox("none")
    opened = Rig(sandbox)
    yield opened
    opened.close()
    sandbox.close()
