"""The tasks that were sent to an engine: each must come back whole, and every row group once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..core.errors import StateError
from ..files.tallies import Collected, ranges_without
from .survey import Survey, Task


class Sent:
    """The tasks of a collection that an engine runs."""

    def __init__(self, found: Survey, tasks: Sequence[Task]) -> None:
        self._found, self._tasks = found, tasks
        self._identities = {each.name: identity for identity, each in found.files.items()}
        self._places: dict[str, list[tuple[int, int, int]]] = {}
        for number, task in enumerate(tasks):
            for each in task:
                self._places.setdefault(each.identity, []).append((each.first, each.last, number))

    def expect_whole(self, part: Collected) -> None:
        """Refuse a state with some of the row groups of a task that was sent but not all; skipped ones count."""
        skipped = {(each.file, each.group) for each in part.skipped}
        for number in sorted(set(self._begun(part))):
            for each in self._tasks[number]:
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
