"""Draws docs/report.png: the report of a batch on the recorded replies, as Chromium shows it.

`python docs/picture_report.py`; it needs the playwright package and a Chromium on the PATH.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
MOST_BYTES = 200_000
SIZE = {"width": 1100, "height": 1180}
SPECS = {
    "quicksort": "Implement quicksort(arr: list[int]) -> list[int] that returns a new sorted list. "
    "Do not use Python's built-in sort.",
    "slugify": "Implement slugify(text: str) -> str that lowercases, ascii-folds, replaces spaces with dashes "
    "and strips punctuation.",
    "sudoku": "Implement is_valid_sudoku(board: list[list[int]]) -> bool, zero = empty.",
}


def run_batch(directory: Path) -> Path:
    """Do the batch on the recorded replies; its report."""
    (directory / "specs").mkdir()
    for name, text in SPECS.items():
        (directory / "specs" / f"{name}.md").write_text(f"{text}\n", encoding="utf-8")
    out = directory / "out"
    command = ["batch", str(directory / "specs"), "--out", str(out), "--model", "recorded:tests/replays"]
    ended = subprocess.run([sys.executable, "main.py", *command], cwd=ROOT)
    if ended.returncode not in (0, 1):
        sys.exit(f"The batch ended with exit code {ended.returncode}.")
    return out / "report.html"


def draw(report: Path, picture: Path) -> None:
    """Open the report and one of its specs, and keep what is to be seen."""
    from playwright.sync_api import sync_playwright

    flags = ["--disable-gpu", "--disable-background-networking", "--hide-scrollbars"]
    if os.geteuid() == 0:
        flags.append("--no-sandbox")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        page = browser.new_page(viewport=SIZE, color_scheme="light")  # type: ignore[arg-type]
        page.goto(report.as_uri())
        page.locator(".name", has_text="slugify").first.click()
        page.locator("h1").click()
        page.screenshot(path=picture)
        browser.close()


def main() -> None:
    """Run, open, draw."""
    picture = ROOT / "docs" / "report.png"
    with tempfile.TemporaryDirectory() as directory:
        draw(run_batch(Path(directory)), picture)
    if picture.stat().st_size > MOST_BYTES:
        sys.exit(f"{picture} has {picture.stat().st_size} bytes, more than {MOST_BYTES}.")


if __name__ == "__main__":
    main()
