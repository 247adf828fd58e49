"""Plugins by which pytest runs `async def` tests, where this interpreter has them: plain pytest runs none."""

from __future__ import annotations

import importlib.util

_PLUGINS = {"mark.anyio": "anyio.pytest_plugin", "mark.asyncio": "pytest_asyncio.plugin"}
"""By how a test asks for one."""


def async_plugins(tests: str) -> list[str]:
    """Modules of the plugins that the text of tests asks for and that are installed."""
    return [
        module
        for mark, module in _PLUGINS.items()
        if mark in tests and importlib.util.find_spec(module.split(".")[0]) is not None
    ]
