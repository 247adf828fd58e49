"""greenloop as an MCP server."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..errors import UsageError
from ..settings import Settings
from .options import McpSettings


def mcp(*, roots: tuple[Path, ...] = (), own: McpSettings = McpSettings()) -> int:
    """Serve verify, generate, heal and audit to agents over MCP, on standard input and output.

    Models, sandbox and limits are those that the server is started with; a `.env` file is not read. Without
    --work-dir its runs are kept in the user's data directory.

    Parameters
    ----------
    roots
        Folders of repositories that `audit` may read, with all below; without one there is no `audit`.
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
    for root in roots:
        if not root.is_dir():
            raise UsageError(f"{root} is no folder; name one that holds repositories.")
    server(settings, [root.resolve() for root in roots]).run()
    return 0
