"""Reports of the values in a table that is spread over many machines, at a trusted gateway.

A cluster may run a task twice: because its machine was lost, or because another one might be faster. Each attempt draws
its own noise, and two published reports of one value would cost twice the epsilon. So every attempt writes a file of
its own in a hidden folder, and the driver publishes the files of those attempts whose results the cluster accepted.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..core.atomic import expect_folder_name, locked
from ..core.errors import ParameterError, PlausiblyError, StateError
from ..core.operating_system import sync_folder
from ..core.scheme import Scheme
from ..core.words import kind_of
from ..files.privatizing import Privatized, privatize_values
from ..files.stores import is_address, local_path, was_address
from ..files.values import values_of_arrays

_ATTEMPTS, _LOCK = ".attempts", ".reports"
_TOKEN = 8
"""Number of random bytes in the names of attempts and of calls."""

Missing = Literal["refuse", "skip"]


@dataclass(frozen=True)
class Attempt:
    """A report file in the hidden folder: one attempt to privatize a part of the table."""

    part: int
    file: str
    reports: int
    skipped: int


@dataclass(frozen=True)
class Gateway:
    """The work on a worker: privatize one part of a table into a new report file in the folder of this call."""

    folder: str
    scheme: Scheme
    missing: Missing

    def __call__(self, given: tuple[int, Iterable[Any]]) -> list[Attempt]:
        """The attempt to privatize a part: its number, and its values in Arrow arrays."""
        part, arrays = given
        values = values_of_arrays(arrays, f"partition {part}", domain=self.scheme.domain, missing=self.missing)
        file = f"{part}-{os.urandom(_TOKEN).hex()}.parquet"
        if not Path(self.folder).is_dir():
            raise StateError(
                f"{self.folder}: the worker does not have the folder of the reports; choose one that all machines share"
            )
        done = privatize_values(values, self.scheme, Path(self.folder, file))
        return [Attempt(part, file, done.reports, done.skipped)]


@dataclass(frozen=True)
class Discreet:
    """The work of a gateway for clusters that log what they could not compute: no error shows a value.

    Errors that are not ours end the call at once, without another attempt: their messages, and the table in the log of
    the worker, might show one.
    """

    work: Gateway

    def __call__(self, given: tuple[int, Iterable[Any]]) -> list[Attempt]:
        """The attempt of the gateway to privatize a part."""
        try:
            return self.work(given)
        except PlausiblyError:
            raise
        except Exception as error:
            reason = error.strerror if isinstance(error, OSError) else None
            raise StateError(f"partition {given[0]}: {reason or kind_of(error)}; no report was published") from None


def not_computed(engine: str, error: Exception) -> StateError:
    """The refusal when a cluster could not compute the table of a gateway. Its own message may show a value."""
    return StateError(f"{engine} gave up: {kind_of(error)} while it computed the table; no report was published")


@contextmanager
def attempts_in(out: str | Path) -> Iterator[Path]:
    """The hidden folder for the attempts of one call, below the folder of its reports; removed at the end.

    Refuse a folder that has such reports already, and a second call at the same time.
    """
    if is_address(out) or was_address(out):
        raise ParameterError(
            "out: expected a folder that all machines share, got an address in a store; upload its files afterwards"
        )
    out = expect_folder_name(local_path(out))
    if out.exists() and not out.is_dir():
        raise ParameterError(f"{out}: expected a folder, got a file")
    new = [each for each in (out, *out.parents) if not each.exists()]
    out.mkdir(parents=True, exist_ok=True)
    attempts = out / _ATTEMPTS
    folder = attempts / os.urandom(_TOKEN).hex()
    try:
        with locked(out / _LOCK):
            _refuse_earlier(out, attempts)
            try:
                # Attempts of killed calls are never published.
                shutil.rmtree(attempts, ignore_errors=True)
                folder.mkdir(parents=True, mode=0o700)
                yield folder.absolute()
            finally:
                shutil.rmtree(attempts, ignore_errors=True)
    finally:
        with suppress(OSError):  # they have reports
            for each in new:
                each.rmdir()


def _refuse_earlier(out: Path, attempts: Path) -> None:
    taken = next(out.glob(_published("*")), None)
    if taken is not None and attempts.exists():
        raise StateError(
            f"{out}: has some of the reports of a call that was interrupted; remove this folder before you call again, "
            "since two reports of one value tell more about it than one"
        )
    if taken is not None:
        raise StateError(f"{taken}: exists already, and reports are never overwritten; choose another folder")


def publish(folder: Path, winners: Sequence[Attempt]) -> Privatized:
    """Move the winners out of the hidden folder: one attempt for each part of the table that has values."""
    if len({winner.part for winner in winners}) < len(winners):
        raise StateError("the cluster returned two attempts for one part of the table; no report was published")
    found = [winner for winner in winners if winner.reports]
    if not found:
        missing = sum(each.skipped for each in winners)
        why = f"every value is missing ({missing:,})" if missing else "the table is empty"
        raise ParameterError(f"expected values, got none; {why}")
    for winner in found:
        if not (folder / winner.file).is_file():
            raise StateError(
                f"{folder}: does not have the reports that a worker wrote; choose a folder that all machines share"
            )
    out, size = folder.parent.parent, 0
    for winner in found:
        size += (folder / winner.file).stat().st_size
        os.rename(folder / winner.file, out / _published(f"{winner.part:05}"))
    sync_folder(out)
    return Privatized(sum(each.reports for each in found), sum(each.skipped for each in winners), size, False)


def _published(part: str) -> str:
    return f"part-{part}.parquet"
