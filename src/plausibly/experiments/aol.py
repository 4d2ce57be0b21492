"""A search log of one's own: how often each address was clicked. Nothing else in it is kept, shown or written.

The format is that of the log the paper used: rows of AnonID, Query, QueryTime, ItemRank and ClickURL, separated by
tabs. A row without the last two is a query that led to no click.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import numpy.typing as npt

from ..core.errors import ParameterError

VARIABLE = "PLAUSIBLY_AOL"
"""The environment variable with the path; started processes inherit it."""
_COLUMNS = 5
_UNCLICKED = 3
_HEADER = b"AnonID"
_LONGEST = 1 << 16
"""Maximum length of a line in bytes; a longer line is malformed."""
_PLACES = 5


@dataclass(frozen=True, eq=False)
class Log:
    """The clicked addresses, the most frequent first, and the number of malformed rows."""

    addresses: tuple[str, ...]
    counts: npt.NDArray[np.int64]
    malformed: int
    places: tuple[str, ...]
    """File and line of the first malformed rows."""

    @property
    def n(self) -> int:
        """The number of clicks."""
        return int(self.counts.sum())

    @property
    def d(self) -> int:
        """The number of different addresses."""
        return len(self.counts)

    @property
    def seed(self) -> int:
        """31 bits that identify the log, so that measurements on different logs have different keys."""
        digest = hashlib.sha256(self.counts.astype("<i8").tobytes())
        digest.update("\n".join(self.addresses).encode())
        return int.from_bytes(digest.digest()[:4], "big") >> 1


def use(path: Path) -> Log:
    """Read the log at this path and use it as the data ``aol``, here and in processes started later."""
    found = _log(path.resolve())
    os.environ[VARIABLE] = str(path.resolve())
    return found


def log() -> Log:
    """The log in use."""
    if VARIABLE not in os.environ:
        raise ParameterError(f"data: aol needs a log of your own; give its path in {VARIABLE}")
    return _log(Path(os.environ[VARIABLE]))


@lru_cache(maxsize=1)
def _log(path: Path) -> Log:
    clicks: Counter[str] = Counter()
    malformed = 0
    places: list[str] = []
    for file in files(path):
        for line, address in enumerate(_addresses(file), 1):
            if address:
                clicks[address] += 1
            elif address is None:
                malformed += 1
                if len(places) < _PLACES:
                    places.append(f"{file.name}, line {line}")
    if not clicks:
        raise ParameterError(f"{path}: expected tab-separated rows of a search log with clicked addresses, found none")
    # Of equally frequent addresses in the order of the alphabet: files may come in any order.
    ranked = sorted(clicks.items(), key=lambda item: (-item[1], item[0]))
    addresses, counts = zip(*ranked, strict=True)
    return Log(addresses, np.array(counts, dtype=np.int64), malformed, tuple(places))


def files(path: Path) -> list[Path]:
    """The file itself, or the .txt, .tsv and .gz files of a folder, without compressed duplicates."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise ParameterError(f"{path}: expected a file or a folder, found neither")
    inside = sorted(each for each in path.iterdir() if each.suffix in (".txt", ".tsv", ".gz") and each.is_file())
    plain = {each.name for each in inside}
    return [each for each in inside if each.suffix != ".gz" or each.stem not in plain]


def stripped(url: str) -> str:
    """The address without scheme, leading ``www.`` and trailing slash; case and endings are kept.

    >>> stripped("http://www.example.com/"), stripped("https://example.org/Path")
    ('example.com', 'example.org/Path')
    """
    return url.strip().rpartition("://")[2].removeprefix("www.").rstrip("/")


def _addresses(file: Path) -> Iterator[str | None]:
    # For each row its address, nothing for one without a click, and None for one that cannot be read.
    try:
        with cast("BinaryIO", gzip.open(file) if file.suffix == ".gz" else file.open("rb")) as rows:
            while line := rows.readline(_LONGEST):
                if whole := line.endswith(b"\n") or len(line) < _LONGEST:
                    yield _address(line.rstrip(b"\r\n"))
                    continue
                while not whole:
                    rest = rows.readline(_LONGEST)
                    whole = rest.endswith(b"\n") or len(rest) < _LONGEST
                yield None
    except (OSError, EOFError, zlib.error) as error:
        raise ParameterError(f"{file}: cannot be read ({type(error).__name__})") from None


def _address(line: bytes) -> str | None:
    columns = line.split(b"\t")
    if not line or columns[0] == _HEADER or len(columns) == _UNCLICKED:
        return ""
    if len(columns) != _COLUMNS:
        return None
    url = columns[-1].decode("utf-8", "replace")
    return stripped(url) or (None if url.strip() else "")
