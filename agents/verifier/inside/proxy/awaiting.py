"""Runs an awaitable of this process to its end for the other one."""

from __future__ import annotations

from typing import Any


class Awaiting:
    """Runs awaitables in one event loop, and in a new one inside of a running one."""

    def __init__(self) -> None:
        self._loop: Any = None

    def run(self, awaitable: Any) -> Any:
        """The result of `awaitable`; raises what it raises."""
        import asyncio  # 60 ms that few tests need

        async def waited() -> Any:
            return await awaitable

        running = asyncio._get_running_loop()
        if running is None and self._loop is None:
            self._loop = asyncio.new_event_loop()
        loop = asyncio.new_event_loop() if running is not None else self._loop
        asyncio._set_running_loop(None)
        try:
            return loop.run_until_complete(waited())
        finally:
            asyncio._set_running_loop(running)
            if loop is not self._loop:
                loop.close()
