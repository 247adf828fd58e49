"""What others on the machine get of the page: another user, another port, another tab, a planted report."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agents.batch.reports import write_reports
from agents.ui.session import report_key

from ..batch.reports.batches import one_of_each, report
from ..support.chromium import browser, needs_chromium
from ..support.commands import command, environment
from ..support.held import wait_until
from ..support.provider import Provider
from .test_page import EXAMPLE, SPEC, Server, opened, provider, served

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Route

__all__ = ["browser", "provider"]
STAND_IN = """\
import json, os, pathlib, sys, urllib.parse, urllib.request
line = pathlib.Path("/proc/self/cmdline").read_bytes().decode()
page = pathlib.Path(urllib.parse.unquote(urllib.parse.urlsplit(sys.argv[1]).path))
mode = [oct(path.stat().st_mode & 0o777) for path in (page, page.parent)]
address = page.read_text().partition("url=")[2].partition('"')[0]
with urllib.request.urlopen(address.partition("#")[0]) as answer:  # it is opened once the server answers
    status = answer.status
pathlib.Path(sys.argv[0] + ".json").write_text(json.dumps([line, mode, address, status]))
"""


@contextmanager
def listening() -> Iterator[tuple[int, list[dict[str, str]]]]:
    """Another server on 127.0.0.1, of somebody else's, that keeps the headers it is sent."""
    heard: list[dict[str, str]] = []

    class Keeps(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing."""

    # In threads: a browser keeps connections open on which it asks nothing, and they would be waited for.
    server = ThreadingHTTPServer(("127.0.0.1", 0), Keeps)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port, heard
    finally:
        server.shutdown()
        server.server_close()


def test_an_address_opens_the_page_once_and_a_second_use_ends_the_session(
    tmp_path: Path, provider: Provider
) -> None:
    with served(tmp_path, provider) as server:
        other = Server(server.process, server.address)
        assert other.begin() == 200
        server.new_address()
        assert other.ask("GET", "/api/runs")[0] == server.ask("GET", "/api/runs")[0] == 200
        status, answer = server.ask(
            "POST", "/api/session", json.dumps({"code": other.address.rpartition("=")[2]}).encode()
        )
        assert status == 403
        assert "used before" in answer["error"]
        assert "terminal" in answer["error"]
        told = server.said()
        assert "used twice" in told
        assert other.ask("GET", "/api/runs")[0] == 403, "the session of whoever was first has ended"
        assert server.ask("GET", "/api/runs")[0] == 200, "another session goes on"
        assert other.begin() == 403, "a third use"
        again = Server(server.process, told.rpartition(" ")[2].strip())
        assert again.begin() == 200
        codes: tuple[object, ...] = ("", "x", None, 7, [], "\ud800")
        for code in codes:
            assert server.ask("POST", "/api/session", json.dumps({"code": code}).encode())[0] == 403


def test_every_answer_has_a_policy(tmp_path: Path, provider: Provider) -> None:
    import http.client

    (tmp_path / "work_dir").mkdir()
    (tmp_path / "work_dir/report.html").write_text("<script>1</script>")
    with served(tmp_path, provider) as server:
        report = server.ask("GET", "/api/runs")[1]["report"]
        for path in ("/", "/api/runs", "/nothing", "/report", report, "/api/runs/x"):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
            connection.request("GET", path, headers={"Authorization": f"Bearer {server.key}"})
            answer = connection.getresponse()
            connection.close()
            policy = answer.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert path == "/" or "sandbox" in policy, path
            assert "allow-same-origin" not in policy
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
            assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
            assert answer.headers["Cache-Control"] == "no-store"
            assert answer.headers["Set-Cookie"] is None


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_no_command_line_holds_what_opens_the_page(tmp_path: Path, provider: Provider) -> None:
    script = tmp_path / "stand_in.py"
    script.write_text(STAND_IN)
    browser = f"{shlex.quote(sys.executable)} {shlex.quote(str(script))} %s"
    options = ("--model", "openai/gpt-4o", "--api-base", provider.api_base)
    process = subprocess.Popen(
        command("ui", *options),
        cwd=tmp_path,
        env=environment(tmp_path, {"OPENAI_API_KEY": "k", "BROWSER": browser}),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        server = Server(process, "")
        server.new_address()
        seen = Path(f"{script}.json")
        assert wait_until(seen.is_file, 30)
        assert wait_until(lambda: bool(seen.read_text()), 10)
        line, mode, address, status = json.loads(seen.read_text())
        code = address.rpartition("=")[2]
        assert len(code) > 30
        assert code not in line, "another user reads this"
        assert code not in Path(f"/proc/{process.pid}/cmdline").read_text()
        assert mode == ["0o600", "0o700"]
        assert status == 200
        assert server.address == address
        assert server.begin() == 200, "and the code opens the page"
    finally:
        process.terminate()
        process.wait(15)
        process.stdout.close()
    assert not list((tmp_path / "work_dir").glob("page-*"))


@needs_chromium
def test_another_port_gets_nothing_and_a_page_beside_it_takes_nothing_away(
    browser: BrowserContext, tmp_path: Path, provider: Provider
) -> None:
    with served(tmp_path, provider) as server, opened(browser, server) as seen:
        page = seen.page
        page.get_by_text("Nothing has run yet").wait_for()
        assert page.url == f"http://127.0.0.1:{server.port}/", "the code is not left in the address"
        with listening() as (port, heard):
            other = browser.new_page()
            other.goto(f"http://127.0.0.1:{port}/")
            assert heard
            assert not {"cookie", "authorization"} & set(heard[0])
            assert server.key not in json.dumps(heard)
            # The control: what the page would set as a cookie goes to every port.
            browser.add_cookies(
                [{"name": "greenloop", "value": "token", "url": f"http://127.0.0.1:{server.port}"}]
            )
            other.goto(f"http://127.0.0.1:{port}/again")
            assert heard[-1]["cookie"] == "greenloop=token"
            assert other.evaluate("localStorage.length") == 0
            browser.clear_cookies()
            other.close()
        (tmp_path / "beside").mkdir()
        with served(tmp_path / "beside", provider) as beside:
            tab = browser.new_page()
            tab.goto(beside.address)
            tab.get_by_text("Nothing has run yet").wait_for()
            tab.close()
        page.reload()
        page.get_by_text("Nothing has run yet").wait_for()
        tab = browser.new_page()
        tab.goto(f"http://127.0.0.1:{server.port}/#new")
        tab.locator("#spec").wait_for()
        tab.goto(f"http://127.0.0.1:{server.port}/#runs")
        tab.get_by_text("Nothing has run yet").wait_for()
        tab.close()


@needs_chromium
def test_the_page_says_that_its_address_was_used(
    browser: BrowserContext, tmp_path: Path, provider: Provider
) -> None:
    with served(tmp_path, provider) as server:
        used = server.address
        assert server.begin() == 200
        page = browser.new_page()
        page.goto(used)
        page.get_by_text("used before").wait_for()
        page.close()
        assert server.ask("GET", "/api/runs")[0] == 403


PLANTED = """<!doctype html><p id="seen">planted</p><script>
document.getElementById("seen").textContent = "ran";
const key = (() => { try { return localStorage.getItem("greenloop"); } catch (error) { return "none"; } })();
fetch("/api/runs", { method: "POST", body: JSON.stringify({ spec: "SPEC" }),
  headers: { "Content-Type": "application/json", Authorization: `Bearer ${key}` } });
</script><img src=x onerror="document.getElementById('seen').textContent = 'ran'">
<meta http-equiv="refresh" content="0; url=javascript:alert(1)">
"""


@needs_chromium
def test_a_planted_report_begins_no_run(browser: BrowserContext, tmp_path: Path, provider: Provider) -> None:
    (tmp_path / "work_dir").mkdir()
    (tmp_path / "work_dir/report.html").write_text(PLANTED.replace("SPEC", f"{SPEC} {EXAMPLE}"))
    with served(tmp_path, provider) as server:
        page = browser.new_page()
        page.goto(server.address)
        page.get_by_role("link", name="its report").click()
        page.get_by_text("planted").wait_for()
        page.wait_for_timeout(1000)
        assert page.locator("#seen").inner_text() == "planted"
        assert page.evaluate("origin") == "null"
        assert server.ask("GET", "/api/runs")[1]["runs"] == []

        def without_policy(route: Route) -> None:
            route.fulfill(body=route.fetch().body(), content_type="text/html")

        page.route("**/report*", without_policy)
        page.reload()
        page.get_by_text("ran").wait_for()
        assert wait_until(lambda: len(server.ask("GET", "/api/runs")[1]["runs"]) == 1, 10), "the control"
        page.unroute("**/report*")
        page.go_back()
        page.get_by_role("link", name="its report").wait_for()
        page.close()


@needs_chromium
def test_a_report_of_ours_is_drawn_under_its_policy(
    browser: BrowserContext, tmp_path: Path, provider: Provider
) -> None:
    write_reports(tmp_path / "work_dir", report(*one_of_each()))
    with served(tmp_path, provider) as server, opened(browser, server) as seen:
        seen.page.get_by_role("link", name="its report").click()
        seen.page.locator("#rows .id").first.wait_for()
        seen.page.get_by_label("Search").fill("LIST.jsonl")
        assert seen.page.locator("#rows .id").all_text_contents() == ["bad"]


def test_a_work_directory_that_is_a_link_out_gets_no_page_and_shows_no_report(
    tmp_path: Path, provider: Provider
) -> None:
    (elsewhere := tmp_path / "elsewhere").mkdir()
    (elsewhere / "report.html").write_text("another's")
    (folder := tmp_path / "folder").mkdir()
    (folder / "work_dir").symlink_to(elsewhere)
    ended = subprocess.run(
        command("ui", "--model", "openai/gpt-4o"),
        cwd=folder, env=environment(tmp_path, {"BROWSER": "true"}), capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert ended.returncode == 2
    assert "link out of" in ended.stderr
    assert [each.name for each in elsewhere.iterdir()] == ["report.html"]
    (folder / "work_dir").unlink()
    with served(folder, provider) as server:
        shutil.rmtree(folder / "work_dir")
        (folder / "work_dir").symlink_to(elsewhere)
        assert "link out of" in server.ask("GET", f"/report?key={report_key(server.key)}")[1]["error"]


def test_a_report_that_is_a_link_or_a_fifo_is_refused(tmp_path: Path, provider: Provider) -> None:
    (tmp_path / "work_dir").mkdir()
    (tmp_path / "secret").write_text("a key")
    report = tmp_path / "work_dir/report.html"
    report.symlink_to(tmp_path / "secret")
    assert report.read_text() == "a key", "the control: opened plainly, the link is followed"
    with served(tmp_path, provider) as server:
        address = server.ask("GET", "/api/runs")[1]["report"]
        status, answer = server.ask("GET", address)
        assert status == 404
        assert "link out of" in answer["error"]
        report.unlink()
        os.mkfifo(report)
        assert stat.S_ISFIFO(report.stat().st_mode)
        assert server.ask("GET", address)[0] == 404
