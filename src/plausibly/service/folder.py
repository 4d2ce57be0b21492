"""The folder of a collector: the names of its files, and the lock that keeps a second collector out."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import StateError
from ..core.operating_system import NOT_INHERITED, NOT_THROUGH_LINKS, hold, sync_folder

_PRIVATE, _OWN = 0o700, 0o600
_DELETED = re.compile(r"\.([0-9a-f]{64})\.deleted")
_REPORTS = re.compile(r"([1-9][0-9]*)\.parquet")


@dataclass(frozen=True)
class Folder:
    """The folder of a collector. Its report files and tallies are ordinary ones, which every other command reads."""

    path: Path

    @property
    def inbox(self) -> Path:
        """The database of the collector's folder, with everything that is not yet in a report file."""
        return self.path / "inbox.db"

    @property
    def tokens(self) -> Path:
        """The file in the collector's folder with the digests of all tokens."""
        return self.path / "tokens.json"

    def of(self, collection: str) -> Path:
        """The folder of a collection."""
        return self.path / collection

    def tally(self, collection: str) -> Path:
        """The tally of the reports of a collection that are in files of its folder."""
        return self.of(collection) / "collected.tally"

    def reports(self, collection: str) -> Path:
        """The folder with the report files of a collection."""
        return self.of(collection) / "reports"

    def report_file(self, collection: str, number: int) -> Path:
        """The report file in the folder that ends with a pending row of this number."""
        return self.reports(collection) / f"{number}.parquet"

    def report_files(self, collection: str) -> dict[int, Path]:
        """The report files in a collection's folder by number, in order."""
        if not self.reports(collection).is_dir():
            return {}
        found = {int(match[1]): path for path, match in self._matching(self.reports(collection), _REPORTS)}
        return dict(sorted(found.items()))

    def prepare(self, collection: str) -> None:
        """Make the folders of a collection."""
        self.reports(collection).mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        for made in (self.of(collection), self.path):
            sync_folder(made)

    def set_aside(self, collection: str) -> None:
        """Rename the folder of a collection that is about to be deleted, so that a restart finishes the deletion."""
        if self.of(collection).exists():
            self.of(collection).rename(self.path / f".{collection}.deleted")
            sync_folder(self.path)

    def put_back(self, collection: str) -> None:
        """Undo `set_aside`: the collection could not be deleted."""
        aside = self.path / f".{collection}.deleted"
        if aside.exists():
            aside.rename(self.of(collection))
            sync_folder(self.path)

    def deleted(self) -> list[str]:
        """The collections whose folders were set aside and not yet removed."""
        return [match[1] for _, match in self._matching(self.path, _DELETED)]

    def remove(self, collection: str) -> None:
        """Remove the folder of a collection that was set aside."""
        shutil.rmtree(self.path / f".{collection}.deleted", ignore_errors=True)
        sync_folder(self.path)

    def make(self) -> None:
        """Make the collector's folder if it does not exist, readable by its owner alone."""
        try:
            self.path.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
            sync_folder(self.path.parent)
        except OSError as error:
            raise StateError(f"{self.path}: {error.strerror}") from None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the collector's folder; raise if another process has it. Released however the process ends."""
        self.make()
        try:
            flags = os.O_CREAT | os.O_RDWR | NOT_THROUGH_LINKS | NOT_INHERITED
            descriptor = os.open(self.path / "lock", flags, _OWN)
        except OSError as error:
            raise StateError(f"{self.path}: {error.strerror}") from None
        try:
            try:
                hold(descriptor)
            except BlockingIOError:
                raise StateError(
                    f"{self.path}: another process is using this folder; stop that collector, or administer it "
                    "while it runs: plausibly collections … --to http://127.0.0.1:8080"
                ) from None
            yield
        finally:
            os.close(descriptor)

    @staticmethod
    def _matching(folder: Path, pattern: re.Pattern[str]) -> Iterator[tuple[Path, re.Match[str]]]:
        for path in folder.iterdir():
            match = pattern.fullmatch(path.name)
            if match is not None:
                yield path, match
