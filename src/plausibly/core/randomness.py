"""Sources of random words: a secure one, a seeded one, and the addressed streams that both open.

Every word of every report of a bulk call has an address (call, report, draw), so chunk size, thread count, C or
NumPy, one call or many cannot change a record (docs/adr/0004-addressed-streams.md). Nothing here keeps a position:
a buffer that cannot run out cannot wrap around and reuse noise.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR, ECB

from .. import kernels
from .arguments import whole_number
from .errors import ParameterError
from .words import Words, kind_of

_BLOCK = 16
_ZEROS = memoryview(bytes(1 << 18))
_WORD = np.dtype("<u8")
MAX_REPORTS = 1 << 48
_MAX_ATTEMPTS = 128
_MOST_CALLS = 1 << 32


@dataclass(frozen=True)
class Layout:
    """Layout of the words of one report in the head lane: ``dense`` 8-byte words, then ``split`` one-byte tops."""

    dense: int
    split: int = 0

    @property
    def words(self) -> int:
        return self.dense + self.split

    @property
    def head_bytes(self) -> int:
        return 8 * self.dense + self.split


class FreshKey(bytearray):
    """A key that overwrites itself when its last reference is gone.

    Tied to the last reference and not to the end of a call: if the key were zeroed while a thread or a copy of its
    stream still used it, anyone could compute the words.
    """

    def __del__(self) -> None:
        self[:] = bytes(len(self))


@dataclass(frozen=True)
class Stream:
    """The random words of one bulk call, each found by its address."""

    key: bytes | FreshKey = field(repr=False)
    call: int = 0

    def __hash__(self) -> int:
        # Not of the key itself: that would make an immutable copy that cannot be overwritten.
        return hash(self.call)

    def head(self, first_byte: int, count: int) -> npt.NDArray[np.uint8]:
        """Random bytes [first_byte, first_byte + count) of the head lane of a stream."""
        block, skip = divmod(first_byte, _BLOCK)
        counter = (self.call << 96) | block
        encryptor = Cipher(AES(self.key), CTR(counter.to_bytes(_BLOCK, "big"))).encryptor()
        # Encrypted zeros are the keystream. The same few zeros serve again and again, so they stay in cache;
        # update_into wants up to 15 bytes of slack.
        size = skip + count
        buffer = np.empty(size + _BLOCK, dtype=np.uint8)
        target = buffer.data
        for start in range(0, size, len(_ZEROS)):
            encryptor.update_into(_ZEROS[: size - start], target[start:])
        return buffer[skip:size]

    def heads(self, layout: Layout, first_report: int, count: int) -> npt.NDArray[np.uint8]:
        """The random head bytes of ``count`` reports, one row each."""
        size = layout.head_bytes
        return self.head(first_report * size, count * size).reshape(count, size)

    def words(self, layout: Layout, first_report: int, count: int) -> npt.NDArray[np.uint64]:
        """The random words of ``count`` reports whose layout is dense throughout, one row each."""
        return self.draws_of(layout, first_report, count).words

    def draws_of(self, layout: Layout, first_report: int, count: int) -> Draws:
        """All random draws of ``count`` reports."""
        return Draws(self, first_report, self.heads(layout, first_report, count))

    def tail(
        self, reports: npt.NDArray[np.int64], draws: npt.NDArray[np.int64], attempt: int = 0
    ) -> npt.NDArray[np.uint64]:
        """The random tail words at the addresses (attempt, report, draw), one per pair."""
        # counter = call(32) lane(1) attempt(7) report(48) draw(40), big-endian: the low half holds the low
        # 24 bits of the report and the draw.
        report = reports.astype(np.uint64)
        constant = (self.call << 32) | (1 << 31) | (attempt << 24)
        counters = np.empty((len(report), 2), dtype=">u8")
        counters[:, 0] = report >> np.uint64(24) | np.uint64(constant)
        counters[:, 1] = (report & np.uint64(0xFFFFFF)) << np.uint64(40) | draws.astype(np.uint64)
        encryptor = Cipher(AES(self.key), ECB()).encryptor()
        blocks = np.empty(counters.nbytes + _BLOCK - 1, dtype=np.uint8)
        encryptor.update_into(counters.data.cast("B") if len(report) else b"", blocks.data)
        return blocks[: counters.nbytes].view("<u8")[::2].astype(np.uint64)

    def tail_words(self, reports: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.uint64]:
        """The first ``count`` random tail words of each of the given reports, which need not be consecutive."""
        draws = np.tile(np.arange(count, dtype=np.int64), len(reports))
        return self.tail(np.repeat(reports, count), draws).reshape(len(reports), count)

    def tail_source(self, report: int, count: int) -> TapeSource:
        """The random words of ``tail_words`` of one report as a source for scalar code, including repeats."""
        words = self.tail_words(np.array([report], dtype=np.int64), count)
        return TapeSource(words[0].tolist(), repeats=_Repeats(self, report))

    def source(self, layout: Layout, report: int) -> TapeSource:
        """The random words of one report as a source for scalar code, including repeats."""
        return TapeSource(self.tape(layout, report), repeats=_Repeats(self, report))

    def tape(self, layout: Layout, report: int) -> list[int]:
        """The whole random words of one report, 64 bits each, in the order in which they are drawn."""
        row = self.heads(layout, report, 1)[0]
        dense = row[: 8 * layout.dense].tobytes()
        words = [int.from_bytes(dense[i : i + 8], "little") for i in range(0, len(dense), 8)]
        if layout.split:
            draws = np.arange(layout.dense, layout.words, dtype=np.int64)
            low = self.tail(np.full(layout.split, report, dtype=np.int64), draws) >> np.uint64(8)
            top = row[8 * layout.dense :].astype(np.uint64) << np.uint64(56)
            words += (top | low).tolist()
        return words


@dataclass(frozen=True)
class Draws:
    """The random words of consecutive reports of a call, starting with report ``first``, or of some of them.

    The bytes of a part of the reports are gathered when they are asked for, once and only those.
    """

    stream: Stream
    first: int
    source: npt.NDArray[np.uint8]
    """The head bytes of all reports, one row each."""
    drawn: int = 0
    """Number of words already used of each report."""
    chosen: npt.NDArray[np.int64] | None = None
    """Indices of the reports, relative to the first; None for all."""
    columns: tuple[slice, ...] | None = None
    """Columns of the head bytes; None for all."""

    @cached_property
    def heads(self) -> npt.NDArray[np.uint8]:
        """The head bytes, one row for each report."""
        if self.chosen is None and self.columns is None:
            return self.source
        parts = [self._gathered(column) for column in self._columns]
        return parts[0] if len(parts) == 1 else np.hstack(parts)

    @property
    def _columns(self) -> tuple[slice, ...]:
        return (slice(0, self.source.shape[1]),) if self.columns is None else self.columns

    def _gathered(self, column: slice) -> npt.NDArray[np.uint8]:
        rows = self.source[:, column]
        return np.ascontiguousarray(rows) if self.chosen is None else kernels.take_rows(rows, self.chosen)

    @property
    def words(self) -> npt.NDArray[np.uint64]:
        """The random words of reports whose layout is dense throughout, one row each."""
        words: npt.NDArray[np.uint64] = self.heads.view(_WORD)
        return words if words.flags.aligned else words.copy()

    def tails(self, reports: npt.NDArray[np.int64], draws: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
        """The random tail words of the given draws of the given reports, which are counted from the first one here."""
        numbers = reports if self.chosen is None else self.chosen[reports]
        return self.stream.tail(self.first + numbers, draws + self.drawn)

    def part(self, chosen: npt.NDArray[np.int64], columns: tuple[slice, ...], drawn: int) -> Draws:
        """The random draws of some of all reports for one of their parts: the given columns of their head bytes.

        ``drawn`` is the offset of the part's draw numbers within those of the report.
        """
        return Draws(self.stream, self.first, self.source, drawn, chosen, columns)

    def choose(self, count: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64], Draws]:
        """A random choice among ``count`` by each report's first word; reports with a rejected word; the other words.

        A combinator chooses a part, which then finds its words as if it were alone.
        """
        column, *others = self._columns
        word = self.source[:, column.start : column.start + 8].view("<u8")[:, 0]
        numbers, refused = kernels.uniform_choice(word, self.chosen, count)
        left = slice(column.start + 8, column.stop)
        columns = (left, *others) if left.start < left.stop else tuple(others)
        rest = replace(self, drawn=self.drawn + 1, columns=columns or (left,))
        return numbers, refused, rest


@dataclass(frozen=True)
class _Repeats:
    stream: Stream
    report: int

    def __call__(self, draw: int, attempt: int) -> int:
        if attempt >= _MAX_ATTEMPTS:
            # Each repeat has probability below one half, so this is one call in 2^128.
            raise ParameterError("below(m) was refused 128 times: the random source is broken")
        one = np.array([self.report], dtype=np.int64)
        return int(self.stream.tail(one, np.array([draw], dtype=np.int64), attempt)[0])


class TapeSource:
    """A source over a given list of words, with the two primitives only.

    Without ``repeats``, ``below`` replaces a rejected word by the next word of the tape, as on a device.
    """

    def __init__(self, words: Sequence[int], repeats: _Repeats | None = None) -> None:
        self._words = words
        self._repeats = repeats
        self._next = 0

    def bernoulli(self, threshold: int) -> bool:
        """A random truth value: True with probability threshold / 2^64."""
        return self._take() < threshold

    def below(self, size: int) -> int:
        """From this source of random words, an integer exactly uniform in [0, size)."""
        limit = 2**64 - 2**64 % size
        draw, attempt, word = self._next, 0, self._take()
        while word >= limit:
            attempt += 1
            word = self._repeats(draw, attempt) if self._repeats else self._take()
        return word % size

    def _take(self) -> int:
        if self._next >= len(self._words):
            raise ParameterError(f"the tape of {len(self._words)} words has run out")
        self._next += 1
        return self._words[self._next - 1]

    @property
    def used(self) -> int:
        """Number of random words drawn so far from this source of randomness."""
        return self._next


class SecureRandom:
    """Cryptographic randomness: AES-256-CTR under a fresh key of the operating system for every call.

    What this means for ε: the bound P(r | x) <= e^eps * P(r | y) is exact for ideal, independent and uniform words.
    The words of a call are 256 random bits stretched by AES, so for real reports the bound is computational: telling
    them from ideal ones, by any test at all, means breaking AES-256 in counter mode or ``os.urandom``.

    There is no state that could repeat after a fork, in a thread, or in a copy of this object. A virtual machine that
    is resumed twice from one snapshot can repeat words (docs/adr/0004-addressed-streams.md). The key overwrites itself
    when the call is over; the words made from it and the values are only freed.
    """

    def stream(self) -> Stream:
        """A new stream of secure random words that cannot be opened again."""
        return Stream(FreshKey(os.urandom(32)))


class SeededRandom:
    """Reproducible randomness for simulations and tests. Never use it for real users' values.

    The same seed gives the same reports, so anyone who knows the seed can read every value off its report.
    """

    def __init__(self, seed: int, *, call: int = 0) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
            raise ParameterError(Words("seed: expected an integer, got ", kind_of(seed)))
        if int(seed).bit_length() > 4096:
            raise ParameterError("seed: expected an integer of at most 4096 bits, got a longer one")
        self.seed = int(seed)
        self._key = hashlib.sha256(b"plausibly seeded stream\0" + str(self.seed).encode()).digest()
        self._call = whole_number("call", call, 0, _MOST_CALLS)  # the last number means that none are left
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(SeededRandom, call=self._call), (self.seed,)  # a lock does not pickle

    def __repr__(self) -> str:
        return f"SeededRandom({self.seed}, call={self._call})"

    def stream(self) -> Stream:
        """The stream of seeded random words with the next call number."""
        with self._lock:
            call = self._call
            self._call += 1
        return self.replay(call)

    def replay(self, call: int) -> Stream:
        """The stream of seeded random words with a given call number, without advancing."""
        return Stream(self._key, whole_number("call", call, 0, _MOST_CALLS - 1))


RandomLike = SecureRandom | SeededRandom


def seeded(rng: RandomLike | None) -> bool:
    """Whether this source of randomness is seeded, so that reports made with it are a simulation."""
    return isinstance(rng, SeededRandom)


def open_stream(rng: RandomLike | None) -> Stream:
    """The stream of random words for one bulk call: secure unless a seeded source is handed in on purpose."""
    if rng is None:
        return SecureRandom().stream()
    if not isinstance(rng, SecureRandom | SeededRandom):
        raise ParameterError(
            Words("rng: expected plausibly.SecureRandom or plausibly.SeededRandom, got ", kind_of(rng))
        )
    return rng.stream()
