"""Chunks of work on a thread pool: kernels and AES run without the interpreter lock, so threads are enough."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from .errors import ParameterError
from .wording import shown

T = TypeVar("T")

_pool: ThreadPoolExecutor | None = None


def thread_count() -> int:
    """Number of parallel threads for bulk work: PLAUSIBLY_THREADS, else the cores that this process may use."""
    wanted = os.environ.get("PLAUSIBLY_THREADS", "")
    if not wanted:
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity else os.cpu_count() or 1
    if not (wanted.isascii() and wanted.isdigit() and len(wanted) <= 4) or int(wanted) < 1:
        raise ParameterError(f"PLAUSIBLY_THREADS: expected a positive integer below 10000, got {shown(wanted)}")
    return int(wanted)


def in_chunks(count: int, chunk: int, work: Callable[[int, int], T]) -> Iterator[T]:
    """The results of work(first, last), run in parallel on consecutive ranges that cover [0, count), in order.

    Only a few results are alive at a time, so memory does not grow with ``count``.
    """
    ranges = [(first, min(first + chunk, count)) for first in range(0, count, chunk)]
    threads = min(thread_count(), len(ranges))
    if threads <= 1:
        yield from (work(first, last) for first, last in ranges)
        return
    pool = _shared_pool()
    pending: deque[Future[T]] = deque()
    try:
        for first, last in ranges:
            pending.append(pool.submit(work, first, last))
            if len(pending) > threads:
                yield _first(pending)
        while pending:
            yield _first(pending)
    finally:
        _end(pending)


def in_order(tasks: Iterable[Callable[[], T]], *, threads: int | None = None) -> Iterator[T]:
    """The results of tasks that run in parallel, in order; only a few are alive at a time.

    An error in making the tasks is raised after the results of all tasks before it, as if each had run at once.
    ``threads`` is for tasks that wait more than they compute; by default there are as many as for other bulk work.
    """
    if threads is None:
        yield from _in_order(tasks, _shared_pool(), thread_count())
    elif threads == 1:
        yield from _in_order(tasks, None, 1)
    else:
        with ThreadPoolExecutor(threads, thread_name_prefix="plausibly-waiting") as pool:
            yield from _in_order(tasks, pool, threads)


def _in_order(tasks: Iterable[Callable[[], T]], pool: ThreadPoolExecutor | None, threads: int) -> Iterator[T]:
    if pool is None or threads <= 1:
        yield from (task() for task in tasks)
        return
    rest = iter(tasks)
    pending: deque[Future[T]] = deque()
    failure: Exception | None = None
    try:
        while failure is None:
            try:
                pending.append(pool.submit(next(rest)))
            except StopIteration:
                break
            except Exception as error:
                failure = error
            if len(pending) > threads:
                yield _first(pending)
        while pending:
            yield _first(pending)
        if failure is not None:
            raise failure
    finally:
        _end(pending)


def _end(pending: deque[Future[T]]) -> None:
    # Also reached when a task raises or the wait is interrupted: no task of the call may keep running.
    for future in pending:
        future.cancel()
    for future in pending:
        if not future.cancelled():
            future.exception()


def _first(pending: deque[Future[T]]) -> T:
    result = pending[0].result()  # stays in the queue while waiting
    pending.popleft()
    return result


def _shared_pool() -> ThreadPoolExecutor:
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(thread_count(), thread_name_prefix="plausibly")
    return _pool


def _forget_pool() -> None:
    # A forked child has the object but none of its threads.
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
