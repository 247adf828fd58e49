"""Serves the page on 127.0.0.1: who may ask, what is answered, and what a request may start.

Who asks is known by the key of a session, in a header (`session.py`). A request with another Host (DNS rebinding),
a change from another Origin, without JSON or of more than 256 KB is refused. Every answer has a policy: what does
not bring one of its own may do nothing.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..batch.reports.details import compared
from ..batch.reports.page import part, policy, report_policy, template
from ..errors import GreenloopError, UsageError
from ..files import contained, lines_of, open_regular, read_regular
from ..jobs import Job, Jobs
from ..records.approvals import ANSWERS, Decision
from ..storage.json_form import cleaned
from .session import Sessions, report_key
from .views import calls_document, listing, run_document

MOST_BYTES = 256 * 1024
REPORT_FILE = "report.html"
POLICY = {
    "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
"""Of every answer; one that is to be shown has a content security policy of its own."""
POLL_SECONDS = 0.3
MOST_LINES = 500
"""Of a log, sent at once; the rest follows with the next look."""
Json = dict[str, Any]
Act = Callable[[str, Json], Job]
"""Takes the name of a run and a JSON body."""


class Guard:
    """Refuses what does not come from the page itself, and puts every answer under a policy."""

    def __init__(self, app: ASGIApp, *, sessions: Sessions, port: int) -> None:
        self._app = app
        self._sessions = sessions
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 403, 413 or 415, or pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def under_policy(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in POLICY.items():
                    headers.setdefault(name, value)
            await send(message)

        status, reason = self._refusal(Request(scope))
        if status:
            await JSONResponse({"error": reason}, status)(scope, receive, under_policy)
        else:
            await self._app(scope, receive, under_policy)

    def _refusal(self, request: Request) -> tuple[int, str]:
        host = request.headers.get("host", "")
        if host not in self._hosts:
            return 403, "This page is served for 127.0.0.1 alone."
        if not self._may(request):
            return 403, "Open the address that `greenloop ui` shows in its terminal; it opens this page once."
        if request.method == "GET":
            return 0, ""
        if request.headers.get("origin") != f"http://{host}":
            return 403, "Only the page itself may change anything."
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return 415, "Only JSON is taken."
        # No more of a body is read than was announced, unless it comes in chunks.
        length = request.headers.get("content-length", "")
        if "transfer-encoding" in request.headers or not length.isdigit() or int(length) > MOST_BYTES:
            return 413, f"More than {MOST_BYTES // 1024} KB can't be taken."
        return 0, ""

    def _may(self, request: Request) -> bool:
        """Return True for the key of a session; the empty page and the exchange of an address need none."""
        match request.method, request.url.path:
            case ("GET", "/") | ("POST", "/api/session"):
                return True
            case "GET", "/report":
                return self._sessions.knows(request.query_params.get("key", ""), report=True)
        return self._sessions.knows(key_of(request))


def key_of(request: Request) -> str:
    """Return the key that a request brings."""
    return request.headers.get("authorization", "").removeprefix("Bearer ")


@dataclass(frozen=True, slots=True)
class Page:
    """The routes of the page; `tell` is called with news for the terminal."""

    jobs: Jobs
    sessions: Sessions
    tell: Callable[[str], None]

    def app(self, port: int) -> Starlette:
        """The application that answers on `port`."""
        routes = [
            Route("/", self.index),
            Route("/api/session", self.session, methods=["POST"]),
            Route("/api/runs", self.runs, methods=["GET"]),
            Route("/api/runs", self.change(self.start), methods=["POST"]),
            Route("/report", self.report),
            Route("/api/runs/{name}", self.look(partial(run_document, self.jobs))),
            Route("/api/runs/{name}/calls", self.look(partial(calls_document, self.jobs))),
            Route("/api/runs/{name}/diff/{other}", self.look(self.diff)),
            Route("/api/runs/{name}/events", self.events),
        ]
        acts: dict[str, Act] = {
            "stop": self.stop,
            "resume": lambda name, _: self.jobs.resume(name),
            "answer": lambda name, body: self.jobs.answer(name, _text(body, "lines")),
            "fork": self.fork,
            "debug": lambda name, _: self.jobs.fork(name, None, debug=True),
            "decide": self.decide,
        }
        for name, act in acts.items():
            routes.append(Route(f"/api/runs/{{name}}/{name}", self.change(act), methods=["POST"]))
        return Starlette(routes=routes, middleware=[Middleware(Guard, sessions=self.sessions, port=port)])

    async def index(self, request: Request) -> Response:
        """The page itself, without anything of a run."""
        text, policy = _page()
        return HTMLResponse(text, headers={"Content-Security-Policy": policy})

    async def session(self, request: Request) -> Response:
        """Exchange the code of an address for the key of a session."""
        code = (await _json_object(request) or {}).get("code")
        key, refused, told = self.sessions.begin(code if isinstance(code, str) else "")
        said = BackgroundTask(self.tell, told) if told else None
        return JSONResponse({"key": key} if key else {"error": refused}, 200 if key else 403, background=said)

    async def runs(self, request: Request) -> Response:
        """The runs, and what the server was started with."""
        settings = self.jobs.settings
        rows = await run_in_threadpool(listing, self.jobs)
        there = (settings.work_dir / REPORT_FILE).is_file()
        report = f"/report?key={report_key(key_of(request))}" if there else ""
        model = settings.model or "chosen when a run begins"
        return JSONResponse({"runs": rows, "model": model, "report": report})

    async def report(self, request: Request) -> Response:
        """The report of the batch that the work directory belongs to: of its scripts, those that greenloop writes.
        Sandboxed, it has an origin of its own, and no way to the page's key or to the server."""
        root = self.jobs.settings.work_dir
        try:
            text = await run_in_threadpool(read_regular, root / REPORT_FILE, contained(root))
        except (OSError, UsageError) as error:
            return JSONResponse({"error": f"There is no report of a batch to be read here ({error})."}, 404)
        return HTMLResponse(text, headers={"Content-Security-Policy": f"sandbox allow-scripts; {report_policy()}"})

    @staticmethod
    def look(document: Callable[..., Json]) -> Callable[[Request], Awaitable[Response]]:
        """A route that answers with the document on the runs that it names, made in a thread."""

        async def looked(request: Request) -> Response:
            return await _answered(lambda: document(**request.path_params))

        return looked

    def diff(self, name: str, other: str) -> Json:
        """The change from the code of one run to that of another, as a unified diff."""
        runs = [self.jobs.directory(each) for each in (name, other)]
        return {"diff": compared(*((run.path.name, run.code() or "") for run in runs))}

    async def events(self, request: Request) -> Response:
        """The lines of a run's events.jsonl, as they are written."""
        try:
            run = await run_in_threadpool(self.jobs.directory, request.path_params["name"])
        except GreenloopError as error:
            return JSONResponse({"error": str(error)}, 404)
        return StreamingResponse(self._followed(run.events, request), media_type="application/x-ndjson")

    async def _followed(self, path: Path, request: Request) -> AsyncIterator[str]:
        """Yield the lines of a file, until the run or the session ends or the reader is gone."""
        place, ended = 0, False
        while self.sessions.knows(key_of(request)) and not await request.is_disconnected():
            lines, place = await run_in_threadpool(_lines_from, path, place)
            for line in lines:
                yield line + "\n"
                ended = '"event": "ended"' in line
            if ended and len(lines) < MOST_LINES:
                return
            if not lines:
                await asyncio.sleep(POLL_SECONDS)

    @staticmethod
    def change(act: Act) -> Callable[[Request], Awaitable[Response]]:
        """A route that does `act` in a thread, and names the run that it is done on."""

        async def changed(request: Request) -> Response:
            if (body := await _json_object(request)) is None:
                return JSONResponse({"error": "A JSON object is wanted."}, 400)
            return await _answered(lambda: {"run": act(request.path_params.get("name", ""), body).run})

        return changed

    def start(self, _: str, body: Json) -> Job:
        """Begin a run of a spec."""
        spec, examples, tests = (_text(body, field) for field in ("spec", "examples", "tests"))
        given = {name: body.get(name) for name in ("effort", "max_tokens", "max_seconds")}
        given["approve"] = "replacement" if body.get("approve") is True else None
        changes = {name: value for name, value in given.items() if value is not None}
        return self.jobs.generate(spec, examples, tests, **changes)

    def stop(self, name: str, _: Json) -> Job:
        """Stop a run of this server."""
        job = self.jobs.find(name)
        if job is None or job.future.done():
            raise UsageError("This page did not begin that run, or it has ended; stop it where it was begun.")
        job.cancellation.cancel()
        return job

    def fork(self, name: str, body: Json) -> Job:
        """Begin a fork of a run at a round."""
        number = body.get("round")
        if isinstance(number, bool) or not isinstance(number, int):
            raise UsageError("Name the round to fork after.")
        return self.jobs.fork(name, number)

    def decide(self, name: str, body: Json) -> Job:
        """Decide on what waits for approval."""
        job, answer = self.jobs.find(name), body.get("answer")
        if job is None:
            raise UsageError("This page did not begin that run.")
        if answer not in ANSWERS["replacement"]:
            raise UsageError("That is no answer.")
        job.decide(_text(body, "digest"), Decision(answer, _text(body, "text")))
        return job


def _text(body: Json, field: str) -> str:
    value = body.get(field, "")
    if not isinstance(value, str):
        raise UsageError(f"{field} is a text.")
    return value


async def _answered(work: Callable[[], Json]) -> Response:
    try:
        return JSONResponse(await run_in_threadpool(work))
    except GreenloopError as error:
        return JSONResponse({"error": str(error)}, 400 if isinstance(error, UsageError) else 500)


def serve(page: Page, listening: socket.socket, ready: Callable[[], object]) -> None:
    """Answer on a socket until Ctrl-C or SIGTERM, and call `ready` once requests can come."""
    app = page.app(listening.getsockname()[1])
    config = uvicorn.Config(app, log_level="error", lifespan="off", timeout_graceful_shutdown=2)
    listening.listen(config.backlog)
    # It may take its time, as a browser that is waited for does.
    threading.Thread(target=ready, daemon=True).start()
    uvicorn.Server(config).run(sockets=[listening])


async def _json_object(request: Request) -> Json | None:
    try:
        body = await request.json()
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _lines_from(path: Path, place: int) -> tuple[list[str], int]:
    """Whole lines of a file from a byte on, and the byte after them."""
    try:
        with os.fdopen(open_regular(path, path.parent), "rb") as file:
            file.seek(place)
            lines = []
            for line in itertools.islice(lines_of(file), MOST_LINES):
                if not line.endswith(b"\n"):
                    break
                place += len(line)
                lines.append(json.dumps(cleaned(json.loads(line))))
            return lines, place
    except (OSError, ValueError, RecursionError, UsageError):
        return [], place


@cache
def _page() -> tuple[str, str]:
    """The page and its content security policy: its own script, style and server alone."""
    style = f"{part('page.css')}\n{part('page.css', __package__)}"
    script = f"{part('drawing.js')}\n{part('page.js', __package__)}"
    text = template(part("page.html.j2", __package__)).render(style=style, script=script)
    return text, f"{policy(style, script)}; connect-src 'self'; frame-ancestors 'none'"
