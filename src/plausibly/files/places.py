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
from ..core.errors import ParameterError, StateError
from .stores import AS_TEXT, canonical, expect_address, is_address, local_path, size_of_stored, upload, was_address

_DIGITS, _LETTERS, _BYTES = 16, 60, 120
"""Maximum number of digits of an address's digest, and of letters and bytes of its end, in its working file's name."""


def exists(place: str | Path) -> bool:
    """Whether there is a file at a place."""
    return size_of_stored(place) is not None if is_address(place) else local_path(place).exists()


def size_of(place: str | Path) -> int:
    """Size in bytes of the file at a place."""
    return size_of_stored(place) or 0 if is_address(place) else local_path(place).stat().st_size


def same_place(one: str | Path, other: str | Path) -> bool:
    """Whether two places are the same: two addresses by their spelling, two paths by what is there."""
    if is_address(one) and is_address(other):
        return canonical(one) == canonical(other)
    if is_address(one) or is_address(other):
        return False
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
        if was_address(place):
            raise ParameterError(f"{place}: {AS_TEXT}")
        return local_path(place)
    _, _, path = expect_address(place)
    if not path or path.endswith("/"):
        raise ParameterError(f"{place}: expected the name of a file, got a bucket or a folder")
    folder = cache_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        reason = f"{error.strerror}; a tally in a store needs a local folder for its lock and its saved state"
        raise StateError(f"{folder}: {reason}, so name one that you can write to in XDG_CACHE_HOME") from None
    digest = hashlib.sha256(canonical(place).encode()).hexdigest()[:_DIGITS]
    # Disks limit the bytes of a name, of which a letter may have four.
    end = PurePosixPath(path).name[-_LETTERS:].encode()[-_BYTES:].decode(errors="ignore")
    return folder / f"{digest}-{end}"


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
    unfinished = folder / "unfinished"  # names in a store may be longer than a disk allows
    try:
        yield unfinished
        if os.getpid() == owner:
            upload(unfinished, place)
    except OSError as error:
        # The error of a full disk names no file, and the temporary name means nothing to the user.
        if error.errno is not None and error.filename in (None, str(unfinished)):
            error.filename = tempfile.gettempdir()
        raise
    finally:
        if os.getpid() == owner:  # a forked copy of this process must not remove the file
            shutil.rmtree(folder)
