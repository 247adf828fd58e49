from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.sandbox import Sandbox

from ..support.sandboxes import WITH_CONTAINERS, open_or_skip


@pytest.fixture(params=WITH_CONTAINERS, scope="module")
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Every backend that this machine has, `none` included: what holds for all."""
    opened = open_or_skip(request.param)
    yield opened
    opened.close()
