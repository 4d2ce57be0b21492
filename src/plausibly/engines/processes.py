"""The engine of worker processes on this machine."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from threading import Thread

from ..core.parallel import thread_count
from .running import Executors, State, Task


@dataclass(frozen=True)
class Processes:
    """The engine that runs in new processes on all cores of this machine, or on ``PLAUSIBLY_THREADS`` of them.

    `Threads` does the same with less effort, because the kernels run without the interpreter lock. Choose processes if
    the files come from an opener of your own that computes much in Python.
    """

    def reduce(
        self, work: Callable[[Task], State], merge: Callable[[State, State], State], tasks: Sequence[Task]
    ) -> Iterator[State]:
        """Run the tasks of a collection in the engine's processes, which end with the iteration."""
        workers = min(thread_count(), len(tasks))
        if not workers:
            return
        # A copy of a process that has threads may hang, so every worker starts afresh.
        pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_begin)
        try:
            with _interrupts_deferred():
                for _ in range(workers):
                    pool.submit(os.getpid)  # starts a worker
            yield from Executors(pool, 2 * workers).reduce(work, merge, tasks)
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_deferred() -> Iterator[None]:
    # Ctrl-C reaches every process of a terminal, and the first one ends the others. Processes that start here inherit
    # the mask, so that an interrupt does not hit them while they import.
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    # If the first process is killed, the workers end themselves: nobody would send them another task.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
