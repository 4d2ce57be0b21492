"""A search log supplied by the user, reduced to the number of clicks on each address; all other columns are discarded.

The format is that of the AOL log used in the paper: tab-separated rows of AnonID, Query, QueryTime, ItemRank and
ClickURL. A row without the last two columns is a query without a click.
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
"""Environment variable with the path of the log; worker processes inherit it."""
_COLUMNS = 5
_UNCLICKED = 3
_HEADER = b"AnonID"
_LONGEST = 1 << 16
"""Maximum length of a line in bytes; longer lines count as malformed."""
_PLACES = 5


@dataclass(frozen=True, eq=False)
class Log:
    """The clicked addresses of a search log, most frequent first, with the number of malformed rows."""

    addresses: tuple[str, ...]
    counts: npt.NDArray[np.int64]
    malformed: int
    places: tuple[str, ...]
    """File and line number of the first malformed rows."""

    @property
    def n(self) -> int:
        """Number of clicks in the search log."""
        return int(self.counts.sum())

    @property
    def d(self) -> int:
        """Number of distinct addresses in the search log."""
        return len(self.counts)

    @property
    def seed(self) -> int:
        """A 31-bit digest of the search log, used as the data seed: different logs get different keys."""
        digest = hashlib.sha256(self.counts.astype("<i8").tobytes())
        digest.update("\n".join(self.addresses).encode())
        return int.from_bytes(digest.digest()[:4], "big") >> 1


def use(path: Path) -> Log:
    """Read the search log at this path and use it for the data named ``aol``, in this process and its children."""
    found = _log(path.resolve())
    os.environ[VARIABLE] = str(path.resolve())
    return found


def log() -> Log:
    """The search log selected with ``aol.use``."""
    if VARIABLE not in os.environ:
        raise ParameterError(f"data aol: expected the path of your search log in the environment variable {VARIABLE}")
    return _log(Path(os.environ[VARIABLE]))


@lru_cache(maxsize=1)
def _log(path: Path) -> Log:
    clicks: Counter[str] = Counter()
    malformed = 0
    places: list[str] = []
    for file in log_files(path):
        for line, address in enumerate(_addresses(file), 1):
            if address:
                clicks[address] += 1
            elif address is None:
                malformed += 1
                if len(places) < _PLACES:
                    places.append(f"{file.name}, line {line}")
    if not clicks:
        raise ParameterError(f"{path}: expected tab-separated rows of a search log with clicked addresses, found none")
    # Ties are broken alphabetically, so that the order of the files does not matter.
    ranked = sorted(clicks.items(), key=lambda item: (-item[1], item[0]))
    addresses, counts = zip(*ranked, strict=True)
    return Log(addresses, np.array(counts, dtype=np.int64), malformed, tuple(places))


def log_files(path: Path) -> list[Path]:
    """The files of a search log: the path itself, or a folder's .txt, .tsv and .gz files, each without its .gz copy."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise ParameterError(f"{path}: expected a file or a folder, found neither")
    inside = sorted(each for each in path.iterdir() if each.suffix in (".txt", ".tsv", ".gz") and each.is_file())
    plain = {each.name for each in inside}
    return [each for each in inside if each.suffix != ".gz" or each.stem not in plain]


def stripped(url: str) -> str:
    """A search log's address without scheme, leading ``www.`` and trailing slashes; case and domain are kept.

    >>> stripped("http://www.example.com/"), stripped("https://example.org/Path")
    ('example.com', 'example.org/Path')
    """
    return url.strip().rpartition("://")[2].removeprefix("www.").rstrip("/")


def _addresses(file: Path) -> Iterator[str | None]:
    # For each row: its address, "" for a row without a click, None for a malformed row.
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
        why = getattr(error, "strerror", None) or "not compressed with gzip, or damaged"
        raise ParameterError(f"{file}: cannot be read ({why})") from None


def _address(line: bytes) -> str | None:
    columns = line.split(b"\t")
    if not line or columns[0] == _HEADER or len(columns) == _UNCLICKED:
        return ""
    if len(columns) != _COLUMNS:
        return None
    url = columns[-1].decode("utf-8", "replace")
    return stripped(url) or (None if url.strip() else "")
