"""`healing_tool` for LangChain and LangGraph (`pip install "greenloop[langchain]"`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import UsageError
from ..repairing.repair import repair


def healing_tool(
    name_or_callable: str | Callable[..., Any] | None = None,
    *,
    description: str | None = None,
    args_schema: Any = None,
    return_direct: bool = False,
    infer_schema: bool = True,
    parse_docstring: bool = False,
    **repair_arguments: Any,
) -> Any:
    """Decorate a function as `langchain_core.tools.tool` does, and heal its failing calls (see `repair`).

    The last result is `.func.last_repair` (`.coroutine.last_repair` of an async one). Raises UsageError if
    LangChain is not installed.
    """
    try:
        from langchain_core.tools import tool
    except ImportError as error:
        raise UsageError('LangChain is not installed: pip install "greenloop[langchain]"') from error
    healed = repair(**repair_arguments)
    as_tool: dict[str, Any] = {
        "description": description,
        "args_schema": args_schema,
        "return_direct": return_direct,
        "infer_schema": infer_schema,
        "parse_docstring": parse_docstring,
    }
    if callable(name_or_callable):
        return tool(healed(name_or_callable), **as_tool)
    names = () if name_or_callable is None else (name_or_callable,)
    return lambda function: tool(*names, **as_tool)(healed(function))
