"""`healing_tool` of each framework, with the real libraries where they are installed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agents import UsageError
from agents.integrations import claude_agent_sdk, langchain, smolagents

from ..support.proposers import Replies, three

FIX = '    return float(text.lstrip("$₹").replace(",", ""))'


def rupees(price: Any) -> None:
    assert price("₹1,299") == 1299.0


def test_a_tool_of_the_claude_agent_sdk_is_healed() -> None:
    sdk = pytest.importorskip("claude_agent_sdk")
    reply = (
        "async def price(args):\n"
        '    value = float(args["text"].lstrip("$₹").replace(",", ""))\n'
        '    return {"content": [{"type": "text", "text": str(value)}]}'
    )

    def accepts(value: Any) -> bool:
        return bool(value["content"][0]["text"] == "1299.0")

    @claude_agent_sdk.healing_tool(
        "price", "The price in a text", {"text": str}, verify=accepts, proposer=Replies(*three(reply))
    )
    async def price(args: dict[str, str]) -> dict[str, Any]:
        value = float(args["text"].replace("$", ""))
        return {"content": [{"type": "text", "text": str(value)}]}

    assert isinstance(price, sdk.SdkMcpTool)
    assert (price.name, price.description, price.input_schema) == ("price", "The price in a text", {"text": str})
    answer = asyncio.run(price.handler({"text": "₹1,299"}))
    assert answer == {"content": [{"type": "text", "text": "1299.0"}]}
    assert price.handler.last_repair.succeeded


def test_a_tool_of_langchain_is_healed() -> None:
    tools = pytest.importorskip("langchain_core.tools")

    @langchain.healing_tool(  # type: ignore[untyped-decorator]
        tests=[rupees], proposer=Replies(*three(f"def price(text: str) -> float:\n{FIX}"))
    )
    def price(text: str) -> float:
        """The price in a text."""
        return float(text.replace("$", ""))

    assert isinstance(price, tools.BaseTool)
    assert (price.name, price.description, list(price.args)) == ("price", "The price in a text.", ["text"])
    assert price.invoke({"text": "₹1,299"}) == 1299.0
    assert price.func.last_repair.succeeded


def test_an_async_tool_of_langchain_with_a_name_is_healed() -> None:
    tools = pytest.importorskip("langchain_core.tools")

    def accepts(value: Any) -> bool:
        return bool(value == 1299.0)

    @langchain.healing_tool(  # type: ignore[untyped-decorator]
        "cost",
        description="What it costs.",
        return_direct=True,
        verify=accepts,
        proposer=Replies(*three(f"async def price(text: str) -> float:\n{FIX}")),
    )
    async def price(text: str) -> float:
        return float(text.replace("$", ""))

    assert isinstance(price, tools.BaseTool)
    assert (price.name, price.description, price.return_direct) == ("cost", "What it costs.", True)
    assert asyncio.run(price.ainvoke({"text": "₹1,299"})) == 1299.0


def test_a_bare_tool_of_langchain_works() -> None:
    pytest.importorskip("langchain_core.tools")

    @langchain.healing_tool
    def double(number: int) -> int:
        """Twice the number."""
        return 2 * number

    assert double.invoke({"number": 2}) == 4


def test_a_tool_of_smolagents_is_healed() -> None:
    from agents.llm_backends.streaming_model import Tool

    @smolagents.healing_tool(  # type: ignore[untyped-decorator]
        tests=[rupees], proposer=Replies(*three(f"def price(text: str) -> float:\n{FIX}") * 3)
    )
    def price(text: str) -> float:
        """The price in a text.

        Args:
            text: the text.
        """
        return float(text.replace("$", ""))

    assert isinstance(price, Tool)
    assert (price.name, price.output_type, list(price.inputs)) == ("price", "number", ["text"])
    assert price("$3") == 3.0
    assert price("₹1,299") == 1299.0
    assert price.forward.__wrapped__.last_repair.succeeded


@pytest.mark.parametrize(
    ("library", "healing_tool"),
    [
        ("claude_agent_sdk", lambda: claude_agent_sdk.healing_tool("f", "", {})),
        ("langchain_core", langchain.healing_tool),
    ],
)
def test_a_missing_library_is_named_with_the_command(
    library: str, healing_tool: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (library, f"{library}.tools"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(UsageError, match="pip install"):
        healing_tool()
