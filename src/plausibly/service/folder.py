"""The folder of a collector: the names of its files, and the lock that keeps a second collector out."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..core.atomic import locked, replacing
from ..core.errors import StateError
from ..core.operating_system import NOT_INHERITED, NOT_THROUGH_LINKS, hold, sync_folder

_PRIVATE, _OWN = 0o700, 0o600
_DELETED = re.compile(r"\.([0-9a-f]{64})\.([1-9][0-9]*)\.deleted")
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
    def database(self) -> Path:
        """The file in the folder that names the database with its inbox, if that is not a file of the folder."""
        return self.path / "database"

    @property
    def tokens(self) -> Path:
        """The file in the collector's folder with the digests of all tokens."""
        return self.path / "tokens.json"

    @property
    def session_key(self) -> Path:
        """The file in the collector's folder with the key of the dashboard's sessions, made with the first of them."""
        return self.path / "sessions.key"

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

    def set_aside(self, collection: str, number: int) -> None:
        """Rename the folder of a collection that is about to be deleted, so that a restart finishes the deletion.

        ``number`` is that of its account: a collection may be made again, and gets another one.
        """
        if self.of(collection).exists():
            self.of(collection).rename(self._aside(collection, number))
            sync_folder(self.path)

    def deleted(self) -> list[tuple[str, int]]:
        """The collections whose folders were set aside and not yet removed, with the numbers of their accounts."""
        return [(match[1], int(match[2])) for _, match in self._matching(self.path, _DELETED)]

    def remove(self, collection: str, number: int) -> None:
        """Remove the folder of a collection that was set aside."""
        shutil.rmtree(self._aside(collection, number), ignore_errors=True)
        sync_folder(self.path)

    def _aside(self, collection: str, number: int) -> Path:
        return self.path / f".{collection}.{number}.deleted"

    def make(self) -> None:
        """Make the collector's folder if it does not exist, readable by its owner alone."""
        try:
            self.path.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
            sync_folder(self.path.parent)
        except OSError as error:
            raise StateError(f"{self.path}: {error.strerror}") from None

    def belong(self, database: str, *, new: bool) -> None:
        """Make this the folder of a database's collectors; raise if it belongs to something else, or another does.

        ``new`` says that no report file can exist yet, so that any empty folder will do.
        """
        if self.inbox.exists():
            raise StateError(f"{self.inbox}: this folder has an inbox of its own; use another folder for the database")
        self.make()
        if new and not self.database.exists():
            with replacing(self.database, private=True) as unfinished:
                unfinished.write_text(f"{database}\n", encoding="utf-8")
        if not self.database.exists() or self.database.read_text(encoding="utf-8").strip() != database:
            raise StateError(
                f"{self.path}: expected the folder with the report files of this database; all its collectors share one"
            )

    @contextmanager
    def alone(self, collection: str) -> Iterator[None]:
        """Hold the files of a collection in a folder that several collectors share; raise if another holds them."""
        with ExitStack() as stack:
            try:
                stack.enter_context(locked(self.path / f".{collection}"))
            except StateError:
                raise StateError(f"{self.of(collection)}: another collector is still using it; try again") from None
            yield

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
