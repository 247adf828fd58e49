"""The commands `ui`, a page in the browser, and `mcp`, a server for agents."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import webbrowser
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from ..errors import Interrupted, UsageError
from ..settings import McpSettings, Settings, UiSettings
from ..terminal.console import Console
from .ending import handled, interrupt


def ui(
    *,
    port: Annotated[int, Parameter(validator=Number(gte=0, lt=65536))] = 0,
    browser: Annotated[bool, Parameter(negative="--no-browser")] = True,
    own: UiSettings = UiSettings(),
) -> int:
    """Show the runs in a browser: start, watch, answer, approve, compare. It listens on 127.0.0.1 alone.

    Args:
        port: The port; 0: any that is free.
        browser: Open the page in the browser.
    """
    settings = Settings.of(own)
    if settings.sandbox == "none":
        raise UsageError("The page runs nothing without a sandbox; leave out --sandbox none.")
    try:
        from ..ui.server import Page, serve
        from ..ui.session import Sessions, redirect_file
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "anyio", "h11"):
            raise
        raise UsageError("The page needs starlette and uvicorn: pip install 'greenloop[ui]'.") from error
    from ..jobs import Jobs
    from ..storage.run_directory import make_work_dir

    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening, handled({"SIGTERM": interrupt}):
        if sys.platform != "win32":  # there it would allow another program the same port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(("127.0.0.1", port))
        except OSError as error:
            raise UsageError(f"Port {port} can't be had ({error.strerror}); give another with --port.") from error
        sessions = Sessions(f"http://127.0.0.1:{listening.getsockname()[1]}/")
        address = sessions.new_address()
        console = Console()
        make_work_dir(settings.work_dir)
        page = redirect_file(address, settings.work_dir) if browser else None

        def ready() -> None:
            console.lines([f"The page: {address}", "It opens once, in one browser. Ctrl-C ends it."])
            if page is not None:
                webbrowser.open(page.absolute().as_uri())

        try:
            with closing(Jobs(settings)) as jobs:
                serve(Page(jobs, sessions, lambda told: console.lines([told])), listening, ready)
        finally:
            if page is not None:
                shutil.rmtree(page.parent, ignore_errors=True)
    return 0


def mcp(*, roots: tuple[Path, ...] = (), own: McpSettings = McpSettings()) -> int:
    """Serve verify, generate, heal and audit to agents over MCP, on standard input and output.

    Models, sandbox and limits are those that the server is started with; a `.env` file is not read.

    Args:
        roots: Folders of repositories that `audit` may read, with all below; without one there is no `audit`.
    """
    try:
        from ..mcp.server import server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "anyio", "pydantic"):
            raise
        raise UsageError("The MCP server needs the package mcp: pip install 'greenloop[mcp]'.") from error
    from ..storage.run_directory import make_work_dir

    if own.work_dir is None:
        from platformdirs import user_data_path

        own = replace(own, work_dir=user_data_path("greenloop", appauthor=False))
    else:
        make_work_dir(own.work_dir)
    for root in roots:
        if not root.is_dir():
            raise UsageError(f"{root} is no folder; name one that holds repositories.")
    # A thread that waits for a client's next line can't be ended otherwise. What runs can be gone on with.
    with handled({"SIGINT": lambda: os._exit(Interrupted.exit_code)}):
        try:
            server(Settings.of(own), [root.resolve() for root in roots]).run()
        except* BrokenPipeError:  # nobody reads the answers any more
            pass
    return 0
