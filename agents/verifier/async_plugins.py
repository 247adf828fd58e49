"""Plugins by which pytest runs `async def` tests, where this interpreter has them: plain pytest runs none."""

from __future__ import annotations

from ..sandbox.interpreter import Interpreter, this_interpreter

_PLUGINS = {"mark.anyio": "anyio.pytest_plugin", "mark.asyncio": "pytest_asyncio.plugin"}
"""By how a test asks for one."""


def async_plugins(tests: str, interpreter: Interpreter | None = None) -> list[str]:
    """Modules of the plugins that `tests` ask for and `interpreter` has (None: the one that runs this)."""
    interpreter = interpreter or this_interpreter()
    return [
        module for mark, module in _PLUGINS.items() if mark in tests and interpreter.finds(module.split(".")[0])
    ]
