"""The sizes of waves: few tasks at first, so that there is something to save soon, then more while waves are short."""

from __future__ import annotations

FAN = 4
"""Number of replies that are merged at once, and factor by which waves grow."""
_FIRST, _EACH = 2, 8
"""Number of tasks for each core in the first wave, and for each part of a wave with more tasks than cores."""
_SHORT = 5.0
"""Duration in seconds below which the next wave is larger."""


class Waves:
    """The tasks of a collection, cut into waves for a cluster. With ``size``, all waves have this many tasks."""

    def __init__(self, tasks: int, cores: int, size: int | None = None) -> None:
        self._tasks, self._cores, self._fixed = tasks, cores, size is not None
        self._first, self._size = 0, _FIRST * cores if size is None else size

    def __bool__(self) -> bool:
        """Whether there are tasks left."""
        return self._first < self._tasks

    def next_wave(self) -> range:
        """The numbers of the tasks in the next wave."""
        numbers = range(self._first, min(self._tasks, self._first + self._size))
        self._first = numbers.stop
        return numbers

    def parts(self, wave: range) -> int:
        """Number of parts of a wave, in each of which one core runs several tasks."""
        return min(len(wave), max(self._cores, len(wave) // _EACH))

    def took(self, seconds: float) -> None:
        """Make the next wave larger if the last one took little time."""
        if not self._fixed and seconds < _SHORT:
            self._size *= FAN
