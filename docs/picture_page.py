"""Draws docs/page-*.png: the page of runs, one of them at work, as Chromium shows it.

`python docs/picture_page.py`; the embedded model's recorded replies come over HTTP, piece by piece. It needs the
playwright package and a Chromium on the PATH.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.support.commands import QUICKSORT, REPLAYS, SLUGIFY
from tests.support.playback import playing

ROOT = Path(__file__).resolve().parents[1]
MILLISECONDS = 120_000


def draw(address: str) -> None:
    """Begin two runs, and keep what is to be seen."""
    from playwright.sync_api import sync_playwright

    flags = ["--disable-gpu", "--disable-background-networking", "--hide-scrollbars"]
    if os.geteuid() == 0:
        flags.append("--no-sandbox")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        page = browser.new_page(viewport={"width": 1000, "height": 640}, color_scheme="light")
        page.set_default_timeout(MILLISECONDS)
        page.goto(address)
        for spec in (QUICKSORT, SLUGIFY):
            page.get_by_role("link", name="New run").click()
            page.locator("#spec").fill(spec)
            page.locator("#begin").click()
            page.locator(".live pre code", has_text=re.compile(r"\w")).first.wait_for()
            page.screenshot(path=ROOT / "docs" / "page-live.png")
            page.get_by_role("button", name="Stop").wait_for(state="detached")
        page.get_by_role("link", name="Runs").click()
        boxes = page.get_by_role("checkbox")
        boxes.nth(1).wait_for()
        page.screenshot(path=ROOT / "docs" / "page-runs.png")
        boxes.nth(0).check()
        boxes.nth(1).check()
        page.get_by_role("button", name="Compare the two").click()
        page.get_by_text("Their code differs.").wait_for()
        page.screenshot(path=ROOT / "docs" / "page-compare.png")
        browser.close()


def main() -> None:
    """Serve in an empty folder, draw, end the server."""
    with tempfile.TemporaryDirectory() as folder, playing(REPLAYS, pause=0.8) as provider:
        model = ("--model", "openai/embedded-1.5b", "--api-base", provider.api_base)
        command = [sys.executable, str(ROOT / "main.py"), "ui", "--no-browser", *model]
        keys = {**os.environ, "OPENAI_API_KEY": "none"}
        server = subprocess.Popen(command, cwd=folder, env=keys, stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        try:
            draw(server.stdout.readline().removeprefix("The page: ").strip())
        finally:
            server.send_signal(signal.SIGINT)
            server.wait()


if __name__ == "__main__":
    main()
