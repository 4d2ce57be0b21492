"""The write-ahead log of an inbox in SQLite, checked for damage before SQLite opens it and silently drops what follows.

A log has a header and *frames*, each with a page of the database and a checksum that continues the one before. SQLite
reads up to the first frame whose checksum is wrong: after a crash, that is the transaction that was being written. It
takes damage for the same. But a transaction begins only when the one before is on the disk (``synchronous=FULL``), and
frames are written only when the header is. So if a later transaction was begun, no crash has left the wrong frame.
What SQLite has left over from earlier uses of the file, and from transactions that it undid, proves nothing.

The format is that of https://www.sqlite.org/fileformat2.html, section 4.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..core.errors import StateError
from .inbox import DamagedInboxError

Words = NDArray[np.uint32]

_HEADER, _FRAME_HEADER = 32, 24
_SMALLEST_PAGE, _LARGEST_PAGE = 512, 1 << 16
_SECTOR = 512
"""Bytes that a disk writes wholly or not at all."""
_ORDERS = {0x377F0682: "<u4", 0x377F0683: ">u4"}
"""The byte order of the words in checksums, by the first word of the file."""
_VERSION = 3_007_000
_AT_ONCE = 1 << 20
_PAGE, _SIZE, _SALTS, _SUM, _EFFECT = 0, 1, slice(2, 4), slice(4, 6), slice(6, 8)
"""The columns of a row for each frame: what its header has, and what it adds to the checksum of the frame before."""


def log_of(database: Path) -> Path:
    """The write-ahead log of a database."""
    return database.with_name(f"{database.name}-wal")


def expect_undamaged(log: Path) -> None:
    """Raise `DamagedInboxError` for a log that no crash can leave. Nobody may be writing to it."""
    try:
        with log.open("rb") as file:
            header, length = file.read(_HEADER), log.stat().st_size
            if not any(header) or length < _HEADER + _FRAME_HEADER + _SMALLEST_PAGE:
                return  # nothing in it was acknowledged
            words = np.frombuffer(header, dtype=">u4").astype(np.uint32)
            if not any((_checksum(header[:24], order) == words[6:]).all() for order in _ORDERS.values()):
                raise _damaged(log, 0, "its header", 0)
            magic, version, page = (int(word) for word in words[:3])
            known = magic in _ORDERS and version == _VERSION
            if known and _SMALLEST_PAGE <= page <= _LARGEST_PAGE and page.bit_count() == 1:
                _expect_undamaged_frames(log, _rows(file, page, _ORDERS[magic]), page, words)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StateError(f"{log}: {error.strerror}") from None


def _expect_undamaged_frames(log: Path, rows: Words, page: int, header: Words) -> None:
    carried, size = _carried(2 + page // 4), _FRAME_HEADER + page
    sums, before = rows[:, _SUM], np.concatenate([header[None, 6:], rows[:-1, _SUM]])
    continued = before @ carried + rows[:, _EFFECT]
    current = (rows[:, _SALTS] == header[4:6]).all(axis=1)
    # The second is for a frame after one whose stored checksum is wrong, and whose content is right.
    fits, fits_over = (continued == sums).all(axis=1), np.zeros(len(rows), dtype=np.bool_)
    fits_over[1:] = (continued[:-1] @ carried + rows[1:, _EFFECT] == sums[1:]).all(axis=1)
    good = fits & current & (rows[:, _PAGE] != 0)
    if good.all():
        return
    wrong = int(good.argmin())

    # A torn frame can have an old size or old salts beside its new checksum only if a sector ends between them.
    places = (_HEADER + 4 + size * np.arange(len(rows))) % _SECTOR
    whole = places + _FRAME_HEADER - 4 <= _SECTOR
    commits, of_now = rows[:, _SIZE] != 0, current & whole
    proved = fits[1:] & (fits | fits_over | whole)[:-1] & (of_now[:-1] | of_now[1:])
    proved |= fits_over[1:] & of_now[1:]
    # Two commits in a row may be one: SQLite fills sectors with copies where disks may harm what is beside a write.
    begun = commits[:-1] & ~commits[1:] & proved
    if begun[wrong:].any():
        (ends,) = commits[:wrong].nonzero()
        kept = _HEADER + size * (int(ends[-1]) + 1) if len(ends) else 0
        raise _damaged(log, _HEADER + size * wrong, "a frame", kept)


def _rows(file: BinaryIO, page: int, order: str) -> Words:
    size = _FRAME_HEADER + page
    # Salts and checksums are no part of the checksum.
    weights = np.insert(_weights(2 + page // 4), [2] * 4, 0, axis=0)
    blocks = [np.empty((0, 8), dtype=np.uint32)]
    while block := file.read(max(1, _AT_ONCE // size) * size):
        whole = len(block) // size
        frames = np.frombuffer(block, dtype="u1", count=whole * size).reshape(whole, size)
        headers = np.ascontiguousarray(frames[:, :_FRAME_HEADER]).view(">u4").astype(np.uint32)
        effects = frames.view(order).astype(np.uint32, copy=False) @ weights
        blocks.append(np.concatenate([headers, effects], axis=1))
    return np.concatenate(blocks)


def _checksum(content: bytes, order: str) -> Words:
    words = np.frombuffer(content, dtype=order).astype(np.uint32)
    return words @ _weights(len(words))


def _weights(words: int) -> Words:
    # For each pair of words x, y, SQLite adds x + s1 to s0, and then y + s0 to s1, modulo 2^32. So a word that k words
    # follow counts F(k) times in s0 and F(k + 1) times in s1: Fibonacci numbers from F(0) = 0 on.
    numbers = _fibonacci(words)[1:]
    return np.stack([numbers[:-1], numbers[1:]], axis=1)[:words][::-1]


def _carried(words: int) -> Words:
    # How often the s0 and the s1 before these words count in s0 and s1 after them.
    before, here, after = _fibonacci(words)[-3:]
    return np.array([[before, here], [here, after]])


def _fibonacci(last: int) -> Words:
    # From F(-1) to F(last + 1), modulo 2^32.
    numbers = [1, 0]
    while len(numbers) < last + 3:
        numbers.append((numbers[-1] + numbers[-2]) & 0xFFFFFFFF)
    return np.array(numbers, dtype=np.uint32)


def _damaged(log: Path, place: int, part: str, kept: int) -> DamagedInboxError:
    return DamagedInboxError(
        f"{log}: damaged, {part} at byte {place} does not match its checksum, which no crash causes; restore a backup. "
        "To give up the reports after the undamaged part instead, keep a copy of the folder, and cut the log: "
        f"truncate -s {kept} {shlex.quote(str(log))}"
    )
