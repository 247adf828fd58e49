"""greenloop as a page in the browser."""

from __future__ import annotations

import secrets
import socket
import webbrowser
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from ..errors import UsageError
from ..settings import Settings
from ..terminal.console import Console


def ui(
    *,
    port: Annotated[int, Parameter(validator=Number(gte=0, lt=65536))] = 0,
    browser: bool = True,
    settings: Settings = Settings(),
) -> int:
    """Show the runs in a browser: start, watch, answer, approve, compare. It listens on 127.0.0.1 alone.

    Parameters
    ----------
    port
        The port; 0: any that is free.
    browser
        Open the page in the browser.
    """
    if settings.sandbox == "none":
        raise UsageError("The page runs nothing without a sandbox; leave out --sandbox none.")
    if settings.approve != "never":
        raise UsageError("On the page each run says whether it waits for approvals; leave out --approve.")
    try:
        from ..ui.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "anyio", "h11"):
            raise
        raise UsageError("The page needs starlette and uvicorn: pip install 'greenloop[ui]'.") from error
    from contextlib import closing

    from ..jobs import Jobs

    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(("127.0.0.1", port))
        except OSError as error:
            raise UsageError(f"Port {port} can't be had ({error.strerror}); give another with --port.") from error
        number = listening.getsockname()[1]
        token = secrets.token_urlsafe(32)
        address = f"http://127.0.0.1:{number}/?token={token}"
        Console(quiet=settings.quiet, color=settings.color).lines([f"The page: {address}", "Ctrl-C ends it."])
        if browser:
            webbrowser.open(address)
        with closing(Jobs(settings)) as jobs:
            serve(jobs, listening, token)
    return 0
