from __future__ import annotations

from collections.abc import Iterator

import pytest

from ..support.provider import Provider, serving


@pytest.fixture
def provider() -> Iterator[Provider]:
    """An OpenAI-compatible provider on loopback."""
    with serving() as running:
        yield running
