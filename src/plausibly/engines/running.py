"""Engines: where the tasks of a collection run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ..core.parallel import in_chunks

Task = TypeVar("Task")
State = TypeVar("State")

Progress = Callable[[int, int], None]
"""Called with how much is done, and with how much there is in all."""


class Engine(Protocol):
    """Runs tasks, and may merge their states on the way.

    ``work``, ``merge``, tasks and states are plain data and module-level functions: they pickle, and so can be sent
    to other processes and machines. Merging is associative and commutative.
    """

    def reduce(
        self, work: Callable[[Task], State], merge: Callable[[State, State], State], tasks: Sequence[Task]
    ) -> Iterator[State]:
        """States that together are those of all tasks, each of them once, in any order.

        An engine may yield ``work(task)`` for each task, or merge the states of several tasks first. The caller saves
        what it has between two states, so a state should not take minutes. An error of a task ends the iteration.
        """


@dataclass(frozen=True)
class Threads:
    """The engine that runs on all cores of this machine: ``PLAUSIBLY_THREADS`` of them, if that is set."""

    def reduce(
        self, work: Callable[[Task], State], merge: Callable[[State, State], State], tasks: Sequence[Task]
    ) -> Iterator[State]:
        """The state of each task, in the order of the tasks."""
        # The caller merges: each state is wanted at once for saving, and threads would gain nothing from merging first.
        return in_chunks(len(tasks), 1, lambda first, _: work(tasks[first]))
