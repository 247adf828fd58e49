"""Awaits the work of a thread; on cancellation it waits until the thread has ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T], cancel: Callable[[], object]) -> T:
    """Do `work` in a new thread. On cancellation call `cancel` and wait until `work` has ended."""
    executor = ThreadPoolExecutor(1, thread_name_prefix="greenloop")
    future = executor.submit(work)
    executor.shutdown(wait=False)
    return await result_of(future, cancel)


async def result_of(work: Future[T], cancel: Callable[[], object]) -> T:
    """Await `work`. On cancellation, even a repeated one, call `cancel` and wait until `work` has ended."""
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
