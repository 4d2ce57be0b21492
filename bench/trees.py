"""Processor time and memory of a whole process tree, from Linux's /proc."""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path

_PROC = Path("/proc")
_PARENT, _USED, _BEGUN = 1, slice(11, 13), 19
"""Places in ``/proc/N/stat`` after the name: the parent, the time of the process, and when it began."""
_EVERY = 0.5
"""Seconds between two looks at the processes."""


def _stats() -> dict[int, list[str]]:
    # One pass over all processes: the lists of children in /proc are incomplete while a child ends.
    found = {}
    for folder in _PROC.iterdir():
        if folder.name.isdecimal():
            try:
                stat = (folder / "stat").read_text()
            except OSError:
                continue  # it has ended
            found[int(folder.name)] = stat.rpartition(")")[2].split()
    return found


def tree(stats: dict[int, list[str]]) -> list[int]:
    """The numbers of this process and its descendants."""
    children: dict[int, list[int]] = {}
    for process, stat in stats.items():
        children.setdefault(int(stat[_PARENT]), []).append(process)
    found = [os.getpid()]
    for process in found:  # grows
        found += children.get(process, [])
    return found


class Meter:
    """Processor time of this process and all its descendants, those that have ended included.

    Some parents ignore the end of their children, as Spark's do, and the time of such a child is counted nowhere. So a
    thread looks at all processes twice a second, and remembers the last time of each.
    """

    def __init__(self) -> None:
        self._ticks: dict[tuple[int, str], int] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._look_again, daemon=True)

    def __enter__(self) -> Meter:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def seconds(self) -> float:
        """Processor seconds until now."""
        with self._lock:
            self._look()
            return sum(self._ticks.values()) / os.sysconf("SC_CLK_TCK")

    def _look(self) -> None:
        stats = _stats()
        for process in tree(stats):
            stat = stats[process]
            self._ticks[process, stat[_BEGUN]] = sum(map(int, stat[_USED]))

    def _look_again(self) -> None:
        while not self._stopped.wait(_EVERY):
            with self._lock:
                self._look()


def peak_of(name: str) -> float:
    """Largest peak of resident memory among this process's descendants of that name, in MB."""
    peaks = [0.0]
    for process in tree(_stats()):
        try:
            status = (_PROC / str(process) / "status").read_text()
        except OSError:
            continue
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        if found and status.startswith(f"Name:\t{name}\n"):
            peaks.append(int(found[1]) / 1024)
    return max(peaks)
