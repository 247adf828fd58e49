"""The page in a real browser, on a server in a process of its own, and what the server refuses."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from agents.storage.run_directory import runs_in

from ..run.test_approvals import MENDED, TESTS, answering, fenced
from ..support.chromium import browser, needs_chromium
from ..support.commands import ROOT, command, environment, greenloop, processes_with
from ..support.held import wait_until
from ..support.provider import Handler, Provider, serving

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

pytest.importorskip("uvicorn", reason="uvicorn is not installed (extra ui)")

__all__ = ["browser"]
SPEC = "Implement double(x: int) -> int: twice the number."
EXAMPLE = "double(2) == 4"


@dataclass
class Server:
    """A server, and how to ask it without a browser."""

    process: subprocess.Popen[str]
    address: str
    key: str = ""

    @property
    def port(self) -> int:
        return int(re.findall(r":(\d+)/", self.address)[0])

    def begin(self) -> int:
        """Use the address, as the page does; return the status."""
        body = json.dumps({"code": self.address.rpartition("=")[2]}).encode()
        status, answer = self.ask("POST", "/api/session", body)
        self.key = answer.get("key", self.key)
        return status

    def said(self) -> str:
        """The next line of the terminal."""
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def new_address(self) -> str:
        """Read the terminal up to an address."""
        while not (found := re.findall(r"http://\S+", self.said())):
            continue
        self.address = found[0]
        return self.address

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        own = {
            "Authorization": f"Bearer {self.key}",
            "Origin": f"http://127.0.0.1:{self.port}",
            "Content-Type": "application/json",
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, body, {**own, **(headers or {})})
            answer = connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text.startswith((b"{", b"[")) else text
        finally:
            connection.close()


@contextmanager
def served(
    folder: Path, provider: Provider, *options: str, plain: tuple[str, ...] | None = None
) -> Iterator[Server]:
    """A server on `provider`; `plain` are its options in place of the provider's address."""
    where = ("--api-base", provider.api_base) if plain is None else plain
    arguments = ("--model", "openai/gpt-4o", *where, "--no-mutation", *options)
    process = subprocess.Popen(
        command("ui", "--no-browser", *arguments),
        cwd=folder,
        env=environment(folder, {"OPENAI_API_KEY": "sk-never-to-be-seen"}),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        server = Server(process, "")
        server.new_address()
        assert server.begin() == 200
        server.new_address()
        yield server
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait(15)
        process.stdout.close()
    assert wait_until(lambda: not processes_with(str(folder)), 10)


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serving() as found:
        found.script(answering(lambda _: MENDED))
        yield found


@dataclass
class Seen:
    """What a page did beside being shown."""

    page: Page
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def opened(context: BrowserContext, server: Server) -> Iterator[Seen]:
    page = context.new_page()
    seen = Seen(page)
    page.on("console", lambda message: seen.errors.append(message.text))
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on("request", lambda request: seen.requests.append(request.url))
    page.on("dialog", lambda dialog: seen.errors.append(dialog.message))
    try:
        page.goto(server.address)
        yield seen
    finally:
        page.close()
    assert seen.errors == []
    assert all(url.startswith((f"http://127.0.0.1:{server.port}/", "data:")) for url in seen.requests), (
        seen.requests
    )


def begin(page: Page, spec: str = SPEC, example: str = EXAMPLE) -> None:
    page.get_by_role("link", name="New run").click()
    page.locator("#spec").fill(spec)
    page.locator("#examples").fill(example)


@needs_chromium
def test_a_run_is_begun_watched_and_compared(browser: BrowserContext, tmp_path: Path, provider: Provider) -> None:
    with served(tmp_path, provider) as server, opened(browser, server) as seen:
        page = seen.page
        begin(page)
        page.locator("#begin").click()
        page.locator(".live", has_text="openai/gpt-4o, ").wait_for()
        page.get_by_role("heading", name="The spec").wait_for()
        page.get_by_role("button", name="Fork").wait_for()  # the run has ended
        page.locator("pre", has_text="return x * 2").first.wait_for()
        assert "# mended" in page.content()
        page.get_by_text("Prompts and replies").click()
        page.get_by_text("code_writer: draft 1").click()
        assert SPEC in page.locator("details[open] details[open] pre").first.inner_text()
        page.get_by_role("button", name="Fork").click()
        page.locator("dd", has_text="after round").wait_for()
        page.get_by_role("button", name="Fork").wait_for()  # the fork has ended
        page.get_by_role("link", name="Runs").click()
        boxes = page.get_by_role("checkbox")
        boxes.nth(1).wait_for()
        boxes.nth(0).check()
        boxes.nth(1).check()
        page.get_by_role("button", name="Compare the two").click()
        page.get_by_text("the same code").wait_for()
        (first, *_) = (tmp_path / "work_dir/runs").glob("*/user_code.py")
        first.write_text(first.read_text().replace("x * 2", "2 * x"))
        page.reload()
        change = page.locator(".diff")
        change.wait_for()
        assert "return x * 2" in change.inner_text()
        assert "return 2 * x" in change.inner_text()
        page.set_viewport_size({"width": 360, "height": 700})
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.get_by_role("link", name="Runs").click()
        labels = "[...document.querySelectorAll('.runs td')].map(c => getComputedStyle(c, '::before').content)"
        page.locator(".runs").wait_for()
        assert {'"Grade "', '"Tokens "', '"Seconds "'} <= set(page.evaluate(labels))
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert "sk-never-to-be-seen" not in page.content()


AXE = os.environ.get("AXE_CORE", str(ROOT / "node_modules/axe-core/axe.min.js"))


@pytest.mark.thorough
@needs_chromium
@pytest.mark.skipif(not Path(AXE).is_file(), reason="axe-core is not installed (npm install --no-save axe-core)")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(
    browser: BrowserContext, tmp_path: Path, provider: Provider, scheme: Literal["light", "dark"]
) -> None:
    with served(tmp_path, provider) as server, opened(browser, server) as seen:
        page = seen.page
        page.emulate_media(color_scheme=scheme)
        begin(page)
        page.get_by_text("Tests and limits").click()
        found = [_serious(page)]
        page.locator("#begin").click()
        page.get_by_role("heading", name="Rounds").wait_for()
        found.append(_serious(page))
        page.get_by_role("link", name="Runs").click()
        page.get_by_role("checkbox").wait_for()
        found.append(_serious(page))
        assert found == [[], [], []]


def _serious(page: Page) -> list[Any]:
    page.evaluate(Path(AXE).read_text(encoding="utf-8"))
    violations = page.evaluate("axe.run().then((found) => found.violations)")
    return [
        (each["id"], [node["html"][:200] for node in each["nodes"]])
        for each in violations
        if each["impact"] in ("serious", "critical")
    ]


@pytest.mark.thorough
@needs_chromium
def test_the_page_is_used_by_keyboard_alone(browser: BrowserContext, tmp_path: Path, provider: Provider) -> None:
    with served(tmp_path, provider) as server, opened(browser, server) as seen:
        page = seen.page
        page.get_by_role("link", name="New run").focus()
        page.keyboard.press("Enter")
        page.locator("#spec").focus()
        page.keyboard.type(f"{SPEC} {EXAMPLE}")
        for _ in range(10):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.id") == "begin":
                break
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Code").wait_for()


@pytest.mark.thorough
@needs_chromium
def test_a_run_is_stopped_reloaded_and_resumed(
    browser: BrowserContext, tmp_path: Path, provider: Provider
) -> None:
    goes_on = threading.Event()

    def slow(handler: Handler) -> None:
        goes_on.wait(60)
        answering(lambda _: MENDED)(handler)

    provider.script(slow)
    with served(tmp_path, provider) as server, opened(browser, server) as seen:
        page = seen.page
        begin(page)
        page.locator("#begin").click()
        page.get_by_text("code writer is asked", exact=False).wait_for()
        page.reload()
        page.get_by_text("code writer is asked", exact=False).wait_for()
        page.get_by_role("button", name="Stop").click()
        page.get_by_role("button", name="Resume").wait_for()
        goes_on.set()
        page.get_by_role("button", name="Resume").click()
        page.locator("pre", has_text="return x * 2").first.wait_for()


@pytest.mark.thorough
@needs_chromium
def test_a_replacement_waits_for_a_yes(browser: BrowserContext, tmp_path: Path, provider: Provider) -> None:
    with served(tmp_path, provider) as server, opened(browser, server) as seen:
        page = seen.page
        begin(page)
        page.get_by_text("Tests and limits").click()
        page.locator("#approve").check()
        page.locator("#begin").click()
        page.get_by_role("button", name="Use it", exact=True).wait_for()
        assert "+    return x * 2" in page.locator(".proposal").inner_text()
        page.reload()
        page.get_by_role("button", name="Use it", exact=True).click()
        page.locator(".plain", has_text="in doubt").wait_for()
        assert "return x * 2  # mended" in page.locator("pre").first.inner_text()
        assert page.get_by_role("button", name="Use it", exact=True).count() == 0


@pytest.mark.thorough
@needs_chromium
def test_a_heal_shows_its_diff_and_why_it_is_believed(
    browser: BrowserContext, tmp_path: Path, provider: Provider
) -> None:
    provider.script(lambda handler: fenced("print(sum([1, 2]))\n")(handler))
    (tmp_path / "broken.py").write_text("print(summ([1, 2]))\n")
    options = ("--model", "openai/gpt-4o", "--api-base", provider.api_base, "--expect", "3")
    ended = greenloop(tmp_path, "heal", "broken.py", *options, extra={"OPENAI_API_KEY": "k"})
    (record,) = (tmp_path / "work_dir/runs").glob("*/run.json")
    result = json.loads(record.read_text())["result"]
    assert result["diff"], ended.stdout + ended.stderr
    with served(tmp_path, provider) as server, opened(browser, server) as seen:
        page = seen.page
        page.get_by_role("link", name="heal broken.py").click()
        page.get_by_role("heading", name="The patch").wait_for()
        assert "+print(sum([1, 2]))" in page.locator(".diff").inner_text()
        assert "NameError" in page.locator("main").inner_text()
        assert result["why"] in page.locator("main").inner_text()


@pytest.mark.thorough
@needs_chromium
def test_a_question_is_answered(browser: BrowserContext, tmp_path: Path, provider: Provider) -> None:
    def differing(handler: Handler) -> None:
        asked = handler.body["messages"][-1]["content"]
        if "Write pytest tests" in asked:
            fenced(TESTS.replace("== 6", "== 7"))(handler)
        else:
            number = handler.body.get("seed", 0) % 2
            fenced(f"def double(x: int) -> int:\n    return x * 2 if x < {5 if number else 50} else x\n")(handler)

    provider.script(differing)
    with served(tmp_path, provider, "--effort", "low") as server, opened(browser, server) as seen:
        page = seen.page
        begin(page)
        page.locator("#begin").click()
        page.get_by_role("button", name="Answer and go on").wait_for()
        page.locator(".samples button").first.click()
        right = page.locator("#lines").input_value()
        assert "==" in right
        page.get_by_role("button", name="The test is wrong").first.click()
        assert "\nwrong: test_" in page.locator("#lines").input_value()
        assert page.get_by_role("button", name="The spec doesn't care").count()
        page.locator("#lines").fill(right)
        page.get_by_role("button", name="Answer and go on").click()
        page.get_by_role("heading", name="Facts").wait_for()
        (run,) = runs_in(tmp_path / "work_dir")

        def answered() -> bool:
            record = run.read()
            return record.status == "finished" and any(each.answer for each in record.spec.examples)

        assert wait_until(answered, 30)


@pytest.mark.thorough
@needs_chromium
def test_what_specs_and_replies_hold_is_shown_as_text(
    browser: BrowserContext, tmp_path: Path, provider: Provider
) -> None:
    mark = "<script>alert(1)</script></script><img src=x onerror=alert(2)><a href='javascript:alert(3)'>x</a>"
    hostile = f'def double(x: int) -> int:\n    """{mark}"""\n    return x * 2\n'
    provider.script(answering(lambda _: hostile))
    with served(tmp_path, provider) as server, opened(browser, server) as seen:
        page = seen.page
        begin(page, spec=f"{SPEC} {mark}")
        page.locator("#begin").click()
        page.get_by_role("heading", name="Facts").wait_for()
        page.locator("pre", has_text="return x * 2").first.wait_for()
        assert mark in page.locator("pre").first.inner_text()
        assert page.locator("main img, main script, main a[href^=javascript]").count() == 0


def test_requests_that_do_not_come_from_the_page_are_refused(tmp_path: Path, provider: Provider) -> None:
    body = json.dumps({"spec": SPEC}).encode()
    with served(tmp_path, provider) as server:
        for status, method, path, headers in (
            (403, "GET", "/api/runs", {"Host": "evil.example"}),
            (403, "GET", "/api/runs", {"Host": f"evil.example:{server.port}"}),
            (403, "GET", "/", {"Host": "evil.example"}),
            (403, "GET", "/api/runs", {"Authorization": ""}),
            (403, "GET", "/api/runs", {"Authorization": "Bearer "}),
            (403, "GET", "/api/runs", {"Authorization": "Bearer wrong"}),
            (403, "GET", "/api/runs/x/events", {"Authorization": ""}),
            (403, "POST", "/api/runs", {"Authorization": ""}),
            (403, "POST", "/api/session", {"Origin": "http://evil.example"}),
            (403, "POST", "/api/runs", {"Origin": "http://evil.example"}),
            (403, "POST", "/api/runs", {"Origin": ""}),
            (415, "POST", "/api/runs", {"Content-Type": "text/plain"}),
        ):
            found, answer = server.ask(method, path, body if method == "POST" else None, headers)
            assert (found, "error" in answer) == (status, True), (path, headers)
        assert server.ask("POST", "/api/runs", b" " * 1_000_000)[0] == 413
        assert server.ask("POST", "/api/runs", b"[1]")[0] == 400
        assert server.ask("POST", "/api/runs", b"{")[0] == 400
        for extra in ({"effort": "utmost"}, {"max_tokens": -1}, {"spec": 7}, {"spec": ""}):
            assert server.ask("POST", "/api/runs", json.dumps({"spec": SPEC, **extra}).encode())[0] == 400
        (tmp_path / "run.json").write_text("{}")
        for name in ("..%2F..", "%2e%2e", "nothing", "..%2f..%2frun.json"):
            assert server.ask("GET", f"/api/runs/{name}")[0] in (400, 404)
            assert server.ask("POST", f"/api/runs/{name}/resume", b"{}")[0] in (400, 404)
        assert server.ask("GET", "/api/runs")[1] == {"runs": [], "model": "openai/gpt-4o", "report": ""}
        assert server.ask("GET", "/report")[0] == 403
        (tmp_path / "work_dir").mkdir(exist_ok=True)
        report = tmp_path / "work_dir/report.html"
        report.write_text("<p>a batch</p>")
        address = server.ask("GET", "/api/runs")[1]["report"]
        assert server.ask("GET", address, headers={"Authorization": ""}) == (200, b"<p>a batch</p>")
        assert server.ask("GET", "/report?key=wrong")[0] == 403
        assert server.ask("GET", f"/report?key={server.key}")[0] == 403
        report.unlink()
        assert server.ask("GET", address)[0] == 404
        assert provider.requests == []
        with pytest.raises(OSError, match="refused"):
            http.client.HTTPConnection(_other_address(), server.port, timeout=3).connect()


def test_strange_replies_of_a_run_are_left_out_and_hide_no_other(tmp_path: Path, provider: Provider) -> None:
    greenloop(tmp_path, SPEC, "--model", f"recorded:{tmp_path}/none")
    (run,) = (tmp_path / "work_dir/runs").glob("2*")
    folder = run / "replies" / "m"
    folder.mkdir(parents=True)
    request = {"role": "code_writer", "purpose": "draft", "messages": [{"role": "user", "content": "Write it."}]}
    for name, document in {
        "good": json.dumps({"request": request, "reply": {"text": "Written."}}),
        "deep": "[" * 100_000,
        "number": json.dumps({"request": request, "reply": {"text": 5}}),
        "none": json.dumps({"request": {**request, "messages": [{"role": "user", "content": None}]}, "reply": {}}),
    }.items():
        (folder / f"{name}.json").write_text(document)
    (folder / "link.json").symlink_to("nowhere")
    with served(tmp_path, provider) as server:
        status, answer = server.ask("GET", f"/api/runs/{run.name}/calls")
    assert (status, [call["reply"] for call in answer["calls"]]) == (200, ["Written."])


def test_a_log_as_long_as_what_is_sent_at_once_ends_with_its_run(tmp_path: Path, provider: Provider) -> None:
    from agents.ui.server import MOST_LINES

    greenloop(tmp_path, SPEC, "--model", f"recorded:{tmp_path}/none")
    (run,) = (tmp_path / "work_dir/runs").glob("2*")
    lines = ['{"event": "note"}'] * (MOST_LINES - 1) + ['{"event": "ended"}']
    (run / "events.jsonl").write_text("".join(f"{line}\n" for line in lines))
    with served(tmp_path, provider) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        own = {"Authorization": f"Bearer {server.key}"}
        connection.request("GET", f"/api/runs/{run.name}/events", headers=own)
        assert connection.getresponse().read().decode().splitlines() == lines
        connection.close()


def _other_address() -> str:
    """An address of this machine that is loopback too, and not 127.0.0.1."""
    return "127.0.0.2"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "value"), [("sandbox", "none"), ("api_base", "http://127.0.0.1:9/v1"), ("weights", "/etc/passwd")]
)
def test_a_run_brings_no_sandbox_and_no_address_along(
    tmp_path: Path, provider: Provider, name: str, value: str
) -> None:
    options = ("--model", "openai/gpt-4o", "--api-base", provider.api_base, "--no-mutation", "--effort", "low")
    greenloop(tmp_path, f"{SPEC} {EXAMPLE}", *options, extra={"OPENAI_API_KEY": "k"})
    (path,) = (tmp_path / "work_dir/runs").glob("*/run.json")
    record = json.loads(path.read_text())
    record["settings"][name] = value
    path.write_text(json.dumps(record))
    asked = len(provider.requests)
    own = () if name == "api_base" else ("--api-base", provider.api_base)
    with served(tmp_path, provider, plain=own) as server:
        for act, body in (("resume", {}), ("fork", {"round": 0}), ("answer", {"lines": "double(1) == 2"})):
            status, answer = server.ask("POST", f"/api/runs/{path.parent.name}/{act}", json.dumps(body).encode())
            assert status == 400
            assert "start the server with it" in answer["error"]
        assert len(server.ask("GET", "/api/runs")[1]["runs"]) == 1
    assert len(provider.requests) == asked


@pytest.mark.thorough
def test_a_run_of_a_killed_server_is_interrupted_and_can_be_resumed(tmp_path: Path, provider: Provider) -> None:
    ends = threading.Event()

    def silent(handler: Handler) -> None:
        ends.wait(60)
        handler.cut()

    provider.script(silent)
    with served(tmp_path, provider) as server:
        _, begun = server.ask("POST", "/api/runs", json.dumps({"spec": f"{SPEC} {EXAMPLE}"}).encode())
        assert wait_until(lambda: bool(provider.requests), 30)
        assert server.ask("GET", "/api/runs")[1]["runs"][0]["state"] == "running"
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait()
        ends.set()
    provider.script(answering(lambda _: MENDED))
    with served(tmp_path, provider) as server:
        (row,) = server.ask("GET", "/api/runs")[1]["runs"]
        assert (row["name"], row["state"]) == (begun["run"], "interrupted")
        assert server.ask("POST", f"/api/runs/{row['name']}/resume", b"{}")[0] == 200
        assert wait_until(lambda: server.ask("GET", "/api/runs")[1]["runs"][0]["state"] == "finished", 30)
        assert server.ask("GET", f"/api/runs/{row['name']}")[1]["code"] == MENDED
