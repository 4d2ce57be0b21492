"""Engines, which run the tasks of a collection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

from ..core.arguments import whole_number
from ..core.errors import ParameterError, StateError
from ..core.parallel import in_chunks
from ..core.words import Words, kind_of
from .workers import Wave, pack_job, pack_task, run

Task = TypeVar("Task")
State = TypeVar("State")

Progress = Callable[[int, int], None]
"""Called with the amount done, and with the total."""


@runtime_checkable
class Engine(Protocol):
    """A way to run tasks, which may merge their states.

    ``work``, ``merge``, tasks and states are plain data and module-level functions: they pickle, and so can be sent
    to other processes and machines. Merging is associative and commutative.
    """

    def reduce(
        self, work: Callable[[Task], State], merge: Callable[[State, State], State], tasks: Sequence[Task]
    ) -> Iterator[State]:
        """Run the tasks, and yield states that together cover every task exactly once, in any order.

        An engine may yield ``work(task)`` for each task, or merge the states of several tasks first. The caller saves
        its progress between two states, so a state should not take minutes. An error of a task ends the iteration.
        """


def expect_engine(engine: Engine) -> None:
    """Refuse an engine that cannot run tasks, such as the name of an engine or its class."""
    if isinstance(engine, type) or not isinstance(engine, Engine):
        raise ParameterError(Words("engine: expected an engine, which has a method reduce, got ", kind_of(engine)))


@dataclass(frozen=True)
class Threads:
    """The engine that runs on all cores of this machine, or on ``PLAUSIBLY_THREADS`` of them if that is set."""

    def reduce(
        self, work: Callable[[Task], State], merge: Callable[[State, State], State], tasks: Sequence[Task]
    ) -> Iterator[State]:
        """Run the tasks of a collection on the engine's threads, and yield their states in the order of the tasks."""
        # The caller merges: it needs each state at once for saving, and merging here would save no time.
        return in_chunks(len(tasks), 1, lambda first, _: work(tasks[first]))


@dataclass(frozen=True)
class Executors:
    """The engine that runs on any executor: a pool of processes, or that of mpi4py, Dask or Ray.

    ``slots`` is the number of tasks that the executor holds at a time; twice its number of workers keeps all busy.
    The caller starts the executor and shuts it down. A pool of processes must start them with "spawn" or
    "forkserver": forked copies of a process with threads may hang.
    """

    executor: Executor
    slots: int

    def __post_init__(self) -> None:
        whole_number("slots", self.slots, 1, 10**6)

    def reduce(
        self, work: Callable[[Task], State], merge: Callable[[State, State], State], tasks: Sequence[Task]
    ) -> Iterator[State]:
        """Run the tasks of a collection on the engine's executor, and yield their states as they are done."""
        job, wave = pack_job(work, merge), Wave(range(len(tasks)))
        waiting = iter(enumerate(tasks))
        running: set[Future[bytes]] = set()
        try:
            while True:
                while len(running) < self.slots and (task := next(waiting, None)) is not None:
                    running.add(self.executor.submit(run, job, [pack_task(*task)]))
                if not running:
                    break
                done, running = wait(running, return_when=FIRST_COMPLETED)
                while done:
                    yield wave.state(done.pop().result())
            wave.expect_all()
        except (BrokenExecutor, CancelledError) as error:
            raise StateError(
                "a worker ended before its task was done: it was killed, or its memory was not enough; "
                "repeat the call to go on"
            ) from error
        finally:
            for future in running:
                future.cancel()
