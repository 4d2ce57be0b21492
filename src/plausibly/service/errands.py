"""Errands: the work of requests that takes its time, on threads that a request does not have to wait for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

_MOST = 40
"""The most threads."""

_Result = TypeVar("_Result")


class Errands:
    """Threads for the requests of a collector. A request that is cut off leaves its errand behind.

    A thread cannot be ended, and folding a million reports can take longer than a collector has to stop.
    """

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_MOST, thread_name_prefix="errand")
        self._under_way: set[Future[Any]] = set()

    def begin(self, work: Callable[[], _Result]) -> Future[_Result]:
        """Begin an errand."""
        future = self._threads.submit(work)
        self._under_way.add(future)
        future.add_done_callback(self._under_way.discard)
        return future

    async def run(self, work: Callable[..., _Result], *given: Any) -> _Result:
        """The result of an errand. If the waiting task is cancelled, it ends at once, and the errand goes on."""
        return await asyncio.wrap_future(self.begin(lambda: work(*given)))

    def stop(self, seconds: float | None = None) -> bool:
        """Begin no more errands, and wait for those under way; whether all ended in this time."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        return not wait(list(self._under_way), seconds).not_done
