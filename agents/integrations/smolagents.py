"""`healing_tool` for smolagents."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ..repairing.repair import repair


def healing_tool(function: Callable[..., Any] | None = None, /, **repair_arguments: Any) -> Any:
    """Decorate a function as smolagents' `tool` does, and heal its failing calls (see `repair`). The last result
    is `.forward.__wrapped__.last_repair`."""
    from ..llm_backends.streaming_model import tool

    healed = repair(**repair_arguments)

    def decorated(function: Callable[..., Any]) -> Any:
        with warnings.catch_warnings():  # smolagents warns of other decorators
            warnings.filterwarnings("ignore", "Function '.*' has decorators other than @tool")
            return tool(healed(function))

    return decorated if function is None else decorated(function)
