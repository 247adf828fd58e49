"""greenloop as an MCP server."""

from __future__ import annotations

import os
import platform
from dataclasses import replace
from pathlib import Path

from ..errors import UsageError
from ..settings import Settings


def mcp(*, settings: Settings = Settings()) -> int:
    """Serve verify, generate and heal to agents over MCP, on standard input and output.

    Models, sandbox and limits are those that the server is started with; a `.env` file is not read. Without
    --work-dir its runs are kept in the user's data directory.
    """
    if settings.approve != "never":
        raise UsageError("--approve needs a person at a terminal; leave it out.")
    try:
        from ..mcp.server import server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "anyio", "pydantic"):
            raise
        raise UsageError("The MCP server needs the package mcp: pip install 'greenloop[mcp]'.") from error
    if settings.work_dir == Settings().work_dir:
        settings = replace(settings, work_dir=data_directory())
    server(settings).run()
    return 0


def data_directory() -> Path:
    """Where greenloop keeps a user's own runs."""
    if platform.system() == "Windows":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local") / "greenloop"
    if platform.system() == "Darwin":
        return Path.home() / "Library/Application Support/greenloop"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "greenloop"
