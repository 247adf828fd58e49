"""Chromium, headless and offline, for tests of pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((found for name in NAMES if (found := shutil.which(name))), None)
FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SECONDS = 60_000
"""Milliseconds that a step may take on a busy machine."""
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium on this machine (apt-get install chromium)"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """Headless, with an empty profile; without Chromium's own sandbox where that can't be had, as root."""
    flags = [*FLAGS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    profile = tmp_path_factory.mktemp("profile")
    with playwright.sync_playwright() as driver:
        context = driver.chromium.launch_persistent_context(
            profile, executable_path=CHROMIUM, args=flags, timeout=3 * SECONDS
        )
        context.set_default_timeout(SECONDS)
        yield context
        context.close()
