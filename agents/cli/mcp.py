"""greenloop as an MCP server."""

from __future__ import annotations

from dataclasses import replace

from ..errors import UsageError
from ..settings import Settings
from .options import McpSettings


def mcp(*, own: McpSettings = McpSettings()) -> int:
    """Serve verify, generate and heal to agents over MCP, on standard input and output.

    Models, sandbox and limits are those that the server is started with; a `.env` file is not read. Without
    --work-dir its runs are kept in the user's data directory.
    """
    try:
        from ..mcp.server import server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "anyio", "pydantic"):
            raise
        raise UsageError("The MCP server needs the package mcp: pip install 'greenloop[mcp]'.") from error
    settings = Settings.of(own)
    if settings.work_dir == Settings().work_dir:
        from platformdirs import user_data_path

        settings = replace(settings, work_dir=user_data_path("greenloop", appauthor=False))
    server(settings).run()
    return 0
