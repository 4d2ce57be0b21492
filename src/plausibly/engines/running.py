"""Engines, which run the tasks of a collection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ..core.parallel import in_chunks

Task = TypeVar("Task")
State = TypeVar("State")

Progress = Callable[[int, int], None]
"""Called with the amount done, and with the total."""


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


@dataclass(frozen=True)
class Threads:
    """The engine that runs on all cores of this machine, or on ``PLAUSIBLY_THREADS`` of them if that is set."""

    def reduce(
        self, work: Callable[[Task], State], merge: Callable[[State, State], State], tasks: Sequence[Task]
    ) -> Iterator[State]:
        """Run the tasks of a collection on the engine's threads, and yield their states in the order of the tasks."""
        # The caller merges: it needs each state at once for saving, and merging here would save no time.
        return in_chunks(len(tasks), 1, lambda first, _: work(tasks[first]))
