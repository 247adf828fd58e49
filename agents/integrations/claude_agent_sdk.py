"""`healing_tool` for the Claude Agent SDK (`pip install "greenloop[claude-agent-sdk]"`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..repairing.repair import repair

if TYPE_CHECKING:
    from claude_agent_sdk import SdkMcpTool


def healing_tool(
    name: str,
    description: str,
    input_schema: type | dict[str, Any],
    annotations: Any = None,
    **repair_arguments: Any,
) -> Callable[[Callable[[Any], Awaitable[dict[str, Any]]]], SdkMcpTool[Any]]:
    """Decorate a handler as the SDK's `tool` does, and heal its failing calls (see `repair`). The last result is
    `.handler.last_repair`. Raises UsageError if the SDK is not installed."""
    try:
        from claude_agent_sdk import tool
    except ImportError as error:
        raise UsageError('The SDK is not installed: pip install "greenloop[claude-agent-sdk]"') from error
    as_tool = tool(name, description, input_schema, annotations)
    healed = repair(**repair_arguments)
    return lambda handler: as_tool(healed(handler))
