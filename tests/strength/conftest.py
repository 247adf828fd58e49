from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.sandbox import open_sandbox
from agents.verifier.cached_verifier import CachedVerifier


@pytest.fixture(scope="module")
def verifier() -> Iterator[CachedVerifier]:
    """A rig of plain processes: the sandbox has tests of its own."""
    sandbox = open_sandbox("none")
    opened = CachedVerifier(sandbox)
    yield opened
    opened.close()
    sandbox.close()
