"""Places of reports and tallies: a path on this machine, where files are replaced atomically, or an address in a store.

Stores have neither locks nor renames. A file for a store is written on this machine and uploaded whole.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from ..core.atomic import expect_suffix, replacing
from ..core.errors import ParameterError
from .stores import expect_address, is_address, local_path, size_of_stored, upload

_DIGITS, _LETTERS = 16, 60
"""Maximum number of digits of an address's digest, and of letters of its end, in the name of its working file."""


def exists(place: str | Path) -> bool:
    """Whether there is a file at a place."""
    return size_of_stored(place) is not None if is_address(place) else local_path(place).exists()


def size_of(place: str | Path) -> int:
    """Size in bytes of the file at a place."""
    return size_of_stored(place) or 0 if is_address(place) else local_path(place).stat().st_size


def same_place(one: str | Path, other: str | Path) -> bool:
    """Whether two places are the same: two addresses by their text, two paths by what is there."""
    if is_address(one) or is_address(other):
        return os.fspath(one) == os.fspath(other)
    here, there = local_path(one), local_path(other)
    return here.resolve() == there.resolve() or (here.exists() and there.exists() and here.samefile(there))


def expect_ending(place: str, endings: Sequence[str]) -> None:
    """Refuse a place for a new file unless its name ends in one of these suffixes.

    >>> expect_ending("s3://bucket/day.csv", [".tally"])
    Traceback (most recent call last):
    plausibly.core.errors.ParameterError: s3://bucket/day.csv: expected a name that ends in .tally, got .csv
    """
    if not is_address(place):
        expect_suffix(local_path(place), endings)
        return
    ending = PurePosixPath(place).suffix
    if ending.lower() not in endings:
        expected = " or ".join(endings)
        raise ParameterError(f"{place}: expected a name that ends in {expected}, got {ending or 'no suffix'}")


def working_path(place: str | Path) -> Path:
    """The path beside which work on a place is locked and saved: the place itself, or a file in the user's cache.

    The file in the cache has the digest of the address in its name, so that the next call finds it.
    """
    if not is_address(place):
        return local_path(place)
    expect_address(place)
    folder = cache_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest = hashlib.sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]
    return folder / f"{digest}-{PurePosixPath(place).name[-_LETTERS:]}"


def cache_folder() -> Path:
    """The folder for work on stored files: ``plausibly`` in the user's cache folder (``XDG_CACHE_HOME``)."""
    given = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(given) if given else Path.home() / ".cache") / "plausibly"


@contextmanager
def writing(place: str | Path) -> Iterator[Path]:
    """A temporary path for a file that only its owner can read, which is moved or uploaded to its place at the end.

    If the block raises an error, nothing appears at the place.
    """
    if not is_address(place):
        with replacing(local_path(place), private=True) as unfinished:
            yield unfinished
        return
    owner, folder = os.getpid(), Path(tempfile.mkdtemp(prefix="plausibly-"))
    unfinished = folder / PurePosixPath(place).name
    try:
        yield unfinished
        if os.getpid() == owner:
            upload(unfinished, place)
    finally:
        if os.getpid() == owner:  # a forked copy of this process must not remove the file
            shutil.rmtree(folder)
