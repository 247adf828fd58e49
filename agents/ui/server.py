"""Serves the page on 127.0.0.1: who may ask, what is answered, and what a request may start.

Who asks is known by a token that only the printed address has: it becomes a cookie that no script reads. A request
with another Host (DNS rebinding), a change from another Origin, without JSON or of more than 256 KB is refused.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import GreenloopError, UsageError
from ..jobs import Jobs
from ..records.approvals import ANSWERS, Decision
from .views import calls_document, listing, run_document

MOST_BYTES = 256 * 1024
REPORT_FILE = "report.html"
COOKIE = "greenloop"
POLL_SECONDS = 0.3
MOST_LINES = 500
"""Of a log, sent at once; the rest follows with the next look."""
Json = dict[str, Any]


class Guard:
    """Refuses what does not come from the page itself."""

    def __init__(self, app: ASGIApp, *, token: str, port: int) -> None:
        self._app = app
        self._token = token
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 403, 413 or 415, or pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        status, reason = self._refusal(request)
        if status:
            await JSONResponse({"error": reason}, status)(scope, receive, send)
        else:
            await self._app(scope, _bounded(receive), send)

    def _refusal(self, request: Request) -> tuple[int, str]:
        host = request.headers.get("host", "")
        if host not in self._hosts:
            return 403, "This page is served for 127.0.0.1 alone."
        given = request.cookies.get(COOKIE, "")
        if request.url.path == "/" and request.method == "GET":
            given = request.query_params.get("token", given)
        if not hmac.compare_digest(given.encode(), self._token.encode()):
            return 403, "Open the address that `greenloop ui` printed: it holds the key to this page."
        if request.method == "GET":
            return 0, ""
        if request.headers.get("origin") != f"http://{host}":
            return 403, "Only the page itself may change anything."
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return 415, "Only JSON is taken."
        length = request.headers.get("content-length", "")
        if not length.isdigit() or int(length) > MOST_BYTES:
            return 413, f"More than {MOST_BYTES // 1024} KB can't be taken."
        return 0, ""


def _bounded(receive: Receive) -> Receive:
    """Cut off a body that is longer than it was announced to be."""
    taken = 0

    async def bounded() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > MOST_BYTES:
            return {"type": "http.disconnect"}
        return message

    return bounded


class Page:
    """The routes of the page."""

    def __init__(self, jobs: Jobs, token: str) -> None:
        self._jobs = jobs
        self._token = token

    def app(self, port: int) -> Starlette:
        """The application that answers on `port`."""
        routes = [
            Route("/", self.index),
            Route("/api/runs", self.runs, methods=["GET"]),
            Route("/api/runs", self.change(self.start), methods=["POST"]),
            Route("/report", self.report),
            Route("/api/runs/{name}", self.run),
            Route("/api/runs/{name}/calls", self.calls),
            Route("/api/runs/{name}/events", self.events),
        ]
        for name in ("stop", "resume", "answer", "fork", "debug", "decide"):
            routes.append(Route(f"/api/runs/{{name}}/{name}", self.change(getattr(self, name)), methods=["POST"]))
        return Starlette(routes=routes, middleware=[Middleware(Guard, token=self._token, port=port)])

    async def index(self, request: Request) -> Response:
        """The page itself; the token of its address goes into a cookie."""
        if "token" in request.query_params:
            answer: Response = RedirectResponse("/", 303)
            answer.set_cookie(COOKIE, self._token, httponly=True, samesite="strict", path="/")
        else:
            text, policy = _page()
            headers = {"Content-Security-Policy": policy, "Referrer-Policy": "no-referrer"}
            answer = HTMLResponse(text, headers=headers)
        answer.headers["Cache-Control"] = "no-store"
        return answer

    async def runs(self, request: Request) -> Response:
        """The runs, and what the server was started with."""
        settings = self._jobs.settings
        rows = await run_in_threadpool(listing, self._jobs)
        report = (settings.work_dir / REPORT_FILE).is_file()
        model = settings.model or "chosen when a run begins"
        return JSONResponse({"runs": rows, "model": model, "report": report})

    async def report(self, request: Request) -> Response:
        """The report of the batch that the work directory belongs to; it has a policy of its own."""
        path = self._jobs.settings.work_dir / REPORT_FILE
        return FileResponse(path) if path.is_file() else JSONResponse({"error": "There is no batch here."}, 404)

    async def run(self, request: Request) -> Response:
        """One run."""
        return await _answered(lambda: run_document(self._jobs, request.path_params["name"]))

    async def calls(self, request: Request) -> Response:
        """The prompts and replies of a run."""
        return await _answered(lambda: calls_document(self._jobs, request.path_params["name"]))

    async def events(self, request: Request) -> Response:
        """The lines of a run's events.jsonl as server-sent events, from Last-Event-ID on."""
        try:
            run = await run_in_threadpool(self._jobs.directory, request.path_params["name"])
        except GreenloopError as error:
            return JSONResponse({"error": str(error)}, 404)
        last = request.headers.get("last-event-id", request.query_params.get("from", "0"))
        number = int(last) if last.isdigit() else 0
        return StreamingResponse(_followed(run.events, number, request), media_type="text/event-stream")

    @staticmethod
    def change(act: Callable[[str, Json], Json]) -> Callable[[Request], Awaitable[Response]]:
        """A route that does `act` with the run's name and the JSON body, in a thread."""

        async def changed(request: Request) -> Response:
            try:
                body = await request.json()
            except (ValueError, RecursionError):
                body = None
            if not isinstance(body, dict):
                return JSONResponse({"error": "A JSON object is wanted."}, 400)
            return await _answered(lambda: act(request.path_params.get("name", ""), body))

        return changed

    def start(self, _: str, body: Json) -> Json:
        """Begin a run of a spec."""
        spec, examples, tests = (_text(body, field) for field in ("spec", "examples", "tests"))
        effort = body.get("effort", "medium")
        if effort not in ("low", "medium", "high"):
            raise UsageError("The effort is low, medium or high.")
        changes: Json = {"effort": effort}
        for field in ("max_tokens", "max_seconds"):
            value = body.get(field)
            if value is not None:
                if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
                    raise UsageError(f"{field} is a number above 0.")
                changes[field] = value
        if body.get("approve") is True:
            changes["approve"] = "replacement"
        text = f"{spec.rstrip()}\n\n{examples.strip()}\n" if examples.strip() else spec
        return {"run": self._jobs.generate(text, tests if tests.strip() else None, **changes).run}

    def stop(self, name: str, _: Json) -> Json:
        """Stop a run of this server."""
        job = self._jobs.find(name)
        if job is None or job.future.done():
            raise UsageError("This page did not begin that run, or it has ended; stop it where it was begun.")
        job.cancellation.cancel()
        return {"run": name}

    def resume(self, name: str, _: Json) -> Json:
        """Go on with a run."""
        return {"run": self._jobs.resume(name).run}

    def answer(self, name: str, body: Json) -> Json:
        """Answer open questions, and go on with the run."""
        return {"run": self._jobs.answer(name, _text(body, "lines")).run}

    def fork(self, name: str, body: Json) -> Json:
        """Begin a fork of a run at a round."""
        number = body.get("round")
        if isinstance(number, bool) or not isinstance(number, int):
            raise UsageError("Name the round to fork after.")
        return {"run": self._jobs.fork(name, number).run}

    def debug(self, name: str, _: Json) -> Json:
        """Let the debugger look at a run that failed."""
        return {"run": self._jobs.fork(name, None, debug=True).run}

    def decide(self, name: str, body: Json) -> Json:
        """Decide on what waits for approval."""
        job, answer = self._jobs.find(name), body.get("answer")
        if job is None:
            raise UsageError("This page did not begin that run.")
        if answer not in ANSWERS["replacement"]:
            raise UsageError("That is no answer.")
        job.decide(_text(body, "digest"), Decision(answer, _text(body, "text")))
        return {"run": name}


def _text(body: Json, field: str) -> str:
    value = body.get(field, "")
    if not isinstance(value, str):
        raise UsageError(f"{field} is a text.")
    return value


async def _answered(work: Callable[[], Json]) -> Response:
    try:
        return JSONResponse(await run_in_threadpool(work))
    except UsageError as error:
        return JSONResponse({"error": str(error)}, 400)
    except GreenloopError as error:
        return JSONResponse({"error": str(error)}, 500)


def serve(jobs: Jobs, listening: socket.socket, token: str) -> None:
    """Answer on a socket until Ctrl-C or SIGTERM."""
    app = Page(jobs, token).app(listening.getsockname()[1])
    config = uvicorn.Config(app, log_level="error", lifespan="off", timeout_graceful_shutdown=2)
    uvicorn.Server(config).run(sockets=[listening])


async def _followed(path: Path, number: int, request: Request) -> AsyncIterator[str]:
    """Yield the lines after `number`, as they are written, until the run ends or the reader is gone."""
    place, seen = 0, 0
    yield ": begun\n\n"
    while not await request.is_disconnected():
        lines, place = await run_in_threadpool(_lines_from, path, place)
        ended = False
        for line in lines:
            seen += 1
            if seen > number:
                yield f"id: {seen}\ndata: {line}\n\n"
            ended = '"event": "ended"' in line
        if ended and not lines[MOST_LINES - 1 :]:
            yield "event: end\ndata: {}\n\n"
            return
        if not lines:
            await asyncio.sleep(POLL_SECONDS)


def _lines_from(path: Path, place: int) -> tuple[list[str], int]:
    """Whole lines of a file from a byte on, and the byte after them."""
    try:
        with path.open("rb") as file:
            file.seek(place)
            lines = []
            for _ in range(MOST_LINES):
                line = file.readline()
                if not line.endswith(b"\n"):
                    break
                place += len(line)
                lines.append(json.dumps(json.loads(line)))
            return lines, place
    except (OSError, ValueError):
        return [], place


@cache
def _page() -> tuple[str, str]:
    """The page and its content security policy: its own script, style and server alone."""
    from jinja2 import Environment, StrictUndefined

    style = _part("batch.reports", "page.css") + "\n" + _part("ui", "page.css")
    script = _part("batch.reports", "drawing.js") + "\n" + _part("ui", "page.js")
    environment = Environment(undefined=StrictUndefined, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    text = environment.from_string(_part("ui", "page.html.j2")).render(style=style, script=script)
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return text, policy


def _part(package: str, name: str) -> str:
    root = __package__.rpartition(".")[0]
    return resources.files(f"{root}.{package}").joinpath(name).read_text(encoding="utf-8").strip()


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
