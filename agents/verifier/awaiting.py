"""Waits in an event loop for what a thread does; cancelled, it stays until the thread is done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T], cancel: Callable[[], object]) -> T:
    """Do `work` in a thread of its own. Cancelled, it calls `cancel` and waits until `work` has ended."""
    executor = ThreadPoolExecutor(1, thread_name_prefix="greenloop")
    future = executor.submit(work)
    executor.shutdown(wait=False)
    return await result_of(future, cancel)


async def result_of(work: Future[T], cancel: Callable[[], object]) -> T:
    """Wait for `work`. Cancelled, it calls `cancel` and waits until `work` has ended, cancelled again or not."""
    wrapped = asyncio.wrap_future(work)
    try:
        return await asyncio.shield(wrapped)
    except asyncio.CancelledError:
        work.cancel()
        cancel()
        while not wrapped.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait([wrapped])
        if not wrapped.cancelled():
            wrapped.exception()  # asyncio logs one that nobody has looked at
        raise
