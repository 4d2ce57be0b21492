"""Misfortunes that happen to tasks on workers, each of which leaves a note that it did.

They are in a module of their own, because the workers import it.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

Work = Callable[[Any], Any]


@dataclass(frozen=True)
class Misfortune:
    """The work of a task, to which something happens after it is done and before it is returned."""

    work: Work
    folder: Path

    def __call__(self, task: Any) -> Any:
        """The state of the task, if nothing happens to it."""
        state = self.work(task)
        self.strike(len(list(self.folder.iterdir())))
        return state

    def strike(self, before: int) -> None:
        """What happens, the number of earlier times given."""

    def note(self, name: str) -> bool:
        """Whether this process is the first to leave a note of this name, with its number."""
        try:
            with (self.folder / name).open("x") as file:
                file.write(str(os.getpid()))
        except FileExistsError:
            return False
        return True


class Killed(Misfortune):
    """The first worker that has folded a task is killed."""

    def strike(self, before: int) -> None:
        if self.note("killed"):
            os.kill(os.getpid(), signal.SIGKILL)


class KilledGateway(Misfortune):
    """The first worker that has written a file of reports is killed; the file is kept among the notes."""

    def __call__(self, task: Any) -> Any:
        attempts = self.work(task)
        if self.note("killed"):
            shutil.copy(Path(cast(Any, self.work).folder, attempts[0].file), self.folder / "lost.parquet")
            os.kill(os.getpid(), signal.SIGKILL)
        return attempts


class AlwaysKilled(Misfortune):
    """Every worker is killed that has folded a task of the second wave, as long as there is no note "enough"."""

    def __call__(self, task: Any) -> Any:
        state = self.work(task)
        if task[0].first and not (self.folder / "enough").exists():
            self.note(f"killed {os.getpid()}")
            os.kill(os.getpid(), signal.SIGKILL)
        return state


class FailsTwice(Misfortune):
    """Two tasks fail once, or one twice."""

    def strike(self, before: int) -> None:
        if any(self.note(f"failed {number}") for number in (1, 2)):
            raise RuntimeError("a disk that works again soon")


class AlwaysFails(Misfortune):
    """Every attempt fails."""

    def strike(self, before: int) -> None:
        self.note(f"failed {before} {os.getpid()}")
        raise RuntimeError("a disk that is broken")


class Absent(Misfortune):
    """The worker is on a machine that does not have the files."""

    def __call__(self, task: Any) -> Any:
        self.note("absent")
        return self.work(tuple(replace(segment, source=f"{segment.source}.absent") for segment in task))


class ExecutorKilled(Misfortune):
    """The first executor of Spark with a worker that has folded a task is killed: the Java process above it."""

    def strike(self, before: int) -> None:
        executor = os.getpid()
        while not Path(f"/proc/{executor}/comm").read_text().startswith("java"):
            executor = int(Path(f"/proc/{executor}/stat").read_text().rpartition(")")[2].split()[1])
        if self.note("killed"):
            (self.folder / "executor").write_text(str(executor))
            os.kill(executor, signal.SIGKILL)


class DoneTwice(Misfortune):
    """The first task is not over before another attempt has done the same work, for at most a minute."""

    def __call__(self, task: Any) -> Any:
        state = self.work(task)
        if getattr(task[0], "first", task[0]) == 0:  # of a file, or of the partitions of a table
            self.keep(state)
            self.note(f"done {os.getpid()}")
            for _ in range(600):
                if len(list(self.folder.glob("done *"))) == 2:
                    break
                time.sleep(0.1)
        return state

    def keep(self, state: Any) -> None:
        """What is kept among the notes of an attempt: nothing."""


class GatewayDoneTwice(DoneTwice):
    """The same for a gateway: the file of each attempt is kept among the notes."""

    def keep(self, state: Any) -> None:
        shutil.copy(Path(cast(Any, self.work).folder, state[0].file), self.folder / f"{os.getpid()}.parquet")


class Slow(Misfortune):
    """Every task takes a while, and says so."""

    def strike(self, before: int) -> None:
        self.note(f"done {before} {os.getpid()}")
        time.sleep(0.05)


@dataclass(frozen=True)
class Unlucky:
    """An engine to whose tasks something happens."""

    engine: Any
    kind: type[Misfortune]
    folder: Path

    def reduce(self, work: Work, merge: Any, tasks: Any) -> Iterator[Any]:
        yield from self.engine.reduce(self.kind(work, self.folder), merge, tasks)


def process_is_gone(number: int) -> bool:
    """Whether there is no process of this number any more, after at most ten seconds in which its parent may notice."""
    for _ in range(200):
        if not Path(f"/proc/{number}").exists():
            return True
        time.sleep(0.05)
    return False


def listening(number: int) -> set[str]:
    """The addresses, in hexadecimal, at which a process and its children listen."""
    inodes: set[str] = set()
    for process in descendants(number):
        for descriptor in Path(f"/proc/{process}/fd").iterdir():
            with _gone():
                name = os.readlink(descriptor)
                if name.startswith("socket:["):
                    inodes.add(name[8:-1])
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{number}/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state, *rest = line.split()
            if state == "0A" and rest[5] in inodes:
                found.add(local.partition(":")[0])
    return found


def descendants(number: int) -> list[int]:
    """A process and its children, at any depth."""
    found = [number]
    for process in found:  # grows
        with _gone():
            for thread in Path(f"/proc/{process}/task").iterdir():
                found += map(int, (thread / "children").read_text().split())
    return found


def _gone() -> suppress:
    return suppress(FileNotFoundError, ProcessLookupError)


def pa_table(pets: list[Any]) -> Any:
    """A table of pyarrow with one column."""
    import pyarrow

    return pyarrow.table({"pet": pets})
