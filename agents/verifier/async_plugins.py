"""Finds the pytest plugins that run `async def` tests; plain pytest runs none."""

from __future__ import annotations

from ..sandbox.interpreter import Interpreter, this_interpreter

_PLUGINS = {"mark.anyio": "anyio.pytest_plugin", "mark.asyncio": "pytest_asyncio.plugin"}
"""Module by the mark that asks for it."""


def async_plugins(tests: str, interpreter: Interpreter | None = None) -> list[str]:
    """Return the plugin modules that `tests` need and `interpreter` (default: this one) has."""
    interpreter = interpreter or this_interpreter()
    return [
        module for mark, module in _PLUGINS.items() if mark in tests and interpreter.finds(module.split(".")[0])
    ]
