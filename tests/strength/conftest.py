from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.sandbox import open_sandbox
from agents.verifier.cached_verifier import Rig


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    """A rig of plain processes: the sandbox has tests of its own."""
    sandbox = open_sandbox("none")
    opened = Rig(sandbox)
    yield opened
    opened.close()
    sandbox.close()
