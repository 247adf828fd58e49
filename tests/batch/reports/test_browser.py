"""The page in a real browser, clicked through as a user would: nothing goes wrong, and nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agents.batch.reports import write_reports

from ...support.chromium import browser, needs_chromium
from .batches import hostile, keep_run, one_of_each, report, result

__all__ = ["browser"]

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Locator, Page

pytestmark = needs_chromium


@dataclass
class Opened:
    """A page that was opened, and what it did beside being read."""

    page: Page
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def names(self) -> list[str]:
        """The ids in the table, in its order."""
        return [str(text) for text in self.page.locator("#rows .id").all_text_contents()]

    def open(self, name: str) -> Locator:
        """Open the spec whose id begins with `name`; what is told of it."""
        self.page.locator(".name", has_text=name).first.click()
        return self.page.locator(".panel")


@pytest.fixture
def opened(browser: BrowserContext, tmp_path: Path) -> Iterator[Opened]:
    """The report of a batch with one spec of each ending, one with rounds, and one that is hostile."""
    keep_run(tmp_path, "rounds")
    results = [*one_of_each(), result("rounds", run="runs/rounds", seconds=99.0), hostile(tmp_path)]
    write_reports(tmp_path, report(*results))
    page = browser.new_page()
    found = Opened(page)
    page.on("console", lambda message: found.errors.append(message.text))
    page.on("pageerror", lambda error: found.errors.append(str(error)))
    page.on("request", lambda request: found.requests.append(request.url))
    address = (tmp_path / "report.html").as_uri()
    page.goto(address)
    yield found
    page.close()
    assert found.errors == []
    assert [each for each in found.requests if each not in (address, "data:,")] == []


def test_a_spec_is_found_by_filter_and_search(opened: Opened) -> None:
    assert len(opened.names()) == 10
    opened.page.locator("#grade").select_option("=contested")
    assert [name[:7] for name in opened.names()] == ["hostile", "open"]
    opened.page.locator("#grade").select_option("below")
    assert len(opened.names()) == 7
    opened.page.get_by_label("Search").fill("LIST.jsonl")
    assert opened.names() == ["bad"]
    assert opened.page.locator("#count").text_content() == "1 of 10 specs"


def test_a_click_on_a_heading_sorts_and_another_turns_the_order(opened: Opened) -> None:
    seconds = opened.page.get_by_role("button", name="Seconds")
    seconds.click()
    assert opened.names()[0] == "rounds"
    seconds.click()
    assert opened.names()[-1] == "rounds"
    opened.page.get_by_role("columnheader", name="Grade").get_by_role("button").click()
    assert opened.names()[0] == "best"
    assert opened.names()[-1] == "late"


def test_a_spec_opens_and_its_rounds_are_stepped_through(opened: Opened) -> None:
    panel = opened.open("rounds")
    assert "Round 2" in panel.locator(".round").inner_text()
    assert "# mended" in panel.locator(".diff-in").last.inner_text()
    panel.get_by_role("button", name="Previous").click()
    assert "Round 1" in panel.locator(".round").inner_text()
    assert panel.get_by_role("button", name="Previous").is_disabled()
    panel.get_by_role("button", name="Next").click()
    assert "Why 2." in panel.locator(".round").inner_text()
    assert "votes 2:1" in panel.locator(".tests").inner_text()


def test_the_keyboard_alone_opens_and_closes_a_spec(opened: Opened) -> None:
    opened.page.locator(".name", has_text="open").focus()
    opened.page.keyboard.press("Enter")
    assert "double('a') returns 'aa' or 'a a'?" in opened.page.locator(".panel").inner_text()
    opened.page.keyboard.press("Enter")
    assert opened.page.locator(".panel").count() == 0


def test_hostile_texts_are_shown_and_do_nothing(opened: Opened) -> None:
    panel = opened.open("hostile")
    assert "</script><script>" in panel.inner_text()
    assert "\\u202e" in panel.inner_text()
    assert opened.page.title() == "greenloop batch"
    assert opened.page.locator("img, iframe, object").count() == 0


def test_it_fits_a_phone(opened: Opened) -> None:
    opened.page.set_viewport_size({"width": 360, "height": 740})
    opened.open("rounds")
    opened.open("hostile")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_script_that_is_not_the_pages_own_is_refused(browser: BrowserContext, tmp_path: Path) -> None:
    write_reports(tmp_path, report(*one_of_each()))
    path = tmp_path / "report.html"
    path.write_text(path.read_text().replace("</body>", "<script>document.title = 'forged'</script></body>"))
    page = browser.new_page()
    page.goto(path.as_uri())
    assert page.title() == "greenloop batch"
    page.close()
