"""The tasks that are sent to an engine: each must come back whole, and every row group once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from ..core.errors import StateError
from ..files.tallies import Collected, ranges_without
from .folding import merge
from .running import Engine, Progress
from .survey import Survey, Task


class Sent:
    """The row groups that a state lacks, as tasks for an engine. ``most`` limits the number of reports in a task."""

    def __init__(self, found: Survey, state: Collected, progress: Progress | None, most: int | None = None) -> None:
        missing = found.missing(state)
        self._found, self.tasks = found, found.tasks(missing, most)
        self._progress = progress or (lambda done, total: None)
        self.done = len(state)
        self.total = self.done + found.count(missing)
        self._identities = {each.name: identity for identity, each in found.files.items()}
        self._places: dict[str, list[tuple[int, int, int]]] = {}
        for number, task in enumerate(self.tasks):
            for each in task:
                self._places.setdefault(each.identity, []).append((each.first, each.last, number))

    def parts(self, engine: Engine, work: Callable[[Task], Collected]) -> Iterator[Collected]:
        """The states that the engine returns for the tasks that were sent, each of them checked."""
        for part in engine.reduce(work, merge, self.tasks):
            yield self.checked(part)
            self._progress(self.done, self.total)

    def checked(self, part: Collected) -> Collected:
        """A state that the engine returned for some of the tasks. Refuse one that cannot be right."""
        self._found.expect_counted(part)
        self._expect_whole(part)
        self.done += len(part) + sum(each.reports or 0 for each in part.skipped)
        return part

    def complete(self, state: Collected) -> Collected:
        """The state with all row groups that were sent, and those skipped in the order of the files. Refuse others."""
        self._found.expect_complete(state)
        if self.done < self.total:  # the number of reports in an unreadable file is unknown
            self._progress(self.total, self.total)
        skipped = self._found.in_order(state.skipped)
        return state if skipped == state.skipped else replace(state, skipped=skipped)

    def _expect_whole(self, part: Collected) -> None:
        # Refuse a state with some row groups of a task but not all. Those listed as skipped count as present.
        skipped = {(each.file, each.group) for each in part.skipped}
        for number in sorted(set(self._begun(part))):
            for each in self.tasks[number]:
                name = self._found.files[each.identity].name
                if (name, None) in skipped:
                    continue
                absent = ranges_without(((each.first, each.last),), part.files.get(each.identity, ()))
                for group in (group for first, last in absent for group in range(first, last)):
                    if (name, group) not in skipped:
                        raise StateError(f"{name}, row group {group}: the engine returned only a part of its task")

    def _begun(self, part: Collected) -> Iterator[int]:
        # The tasks of the row groups in the state, and of those that it lists as skipped.
        alone = [
            (self._identities.get(each.file, ""), ((each.group, each.group + 1),))
            for each in part.skipped
            if each.group is not None
        ]
        for identity, ranges in (*part.files.items(), *alone):
            for first, last, number in self._places.get(identity, ()):
                if ranges_without(((first, last),), ranges) != ((first, last),):
                    yield number
