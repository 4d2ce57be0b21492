"""Unary encoding with any two probabilities: one independently perturbed bit per item."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lgamma, log, log1p
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import kernels
from .bitmaps import bitmap_dtype, bitmap_seconds, fold_bitmaps, refuse_spare_bits
from .blanket import Blanket, support_blanket
from .laws import Cells, Codes, Estimator, Scores, pure
from .probability import WORD
from .randomness import Draws, Layout
from .scheme import Encoded, Reports, Scheme
from .support import AnySet, Support
from .supported import Bitmaps, Supported, TwoLevels


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class UnaryBits(Scheme):
    """A bitmap of independent bits: the true item's bit is set with probability p, every other bit with q."""

    @property
    @abstractmethod
    def pair(self) -> tuple[Fraction, Fraction]:
        """Probabilities p and q of unary bits: that of the user's item, and every other one."""

    @property
    def report_dtype(self) -> np.dtype[np.void]:
        return bitmap_dtype(self.size)

    @property
    def report_bits(self) -> int:
        return self.size

    @property
    def cell_shape(self) -> tuple[int, ...]:
        return (self.size,)

    def check(self, reports: Reports) -> None:
        refuse_spare_bits(reports, self.size)

    def fold(self, cells: Cells, reports: Reports) -> None:
        fold_bitmaps(cells, reports)

    def estimator(self) -> Estimator:
        return pure(*self.pair, self._scores, joint=True)

    def _scores(self, cells: Cells, n: int, codes: Codes | None) -> Scores:
        return cells if codes is None else cells[codes]

    @classmethod
    def variants_for_cells(cls, epsilon: Fraction, cells: int) -> Iterator[Mapping[str, Any]]:
        yield from ()  # linear hashing is as accurate, in a few bytes instead of one bit per cell

    def seconds(self, n: int, asked: int) -> float:
        return bitmap_seconds(n, self.report_dtype.itemsize)

    def support(self) -> Support:
        return AnySet()

    def likelihood(self, report: np.void, item: int) -> Fraction:
        bits = np.unpackbits(report["bits"], count=self.size, bitorder="little")
        ones = int(bits.sum())
        p, q = self.pair
        mine = int(bits[item])
        own = p if mine else 1 - p
        return own * q ** (ones - mine) * (1 - q) ** (self.size - 1 - ones + mine)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Unary(UnaryBits, TwoLevels):
    """Unary bits with two thresholds: the true item's bit has ``keep``/2^64, every other bit ``flip``/2^64."""

    @property
    @abstractmethod
    def keep(self) -> int:
        """p * 2^64: threshold of the true item's bit in unary encoding."""

    @property
    @abstractmethod
    def flip(self) -> int:
        """q * 2^64: threshold of every other bit, in unary encoding with any two thresholds."""

    @property
    def pair(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.keep, WORD), Fraction(self.flip, WORD)

    @property
    def parameters(self) -> dict[str, Any]:
        return {}

    @property
    def derived(self) -> dict[str, Any]:
        return {"keep": str(self.keep), "flip": str(self.flip)}

    @property
    def layout(self) -> Layout:
        return Layout(dense=0, split=self.size)

    def blanket(self) -> Blanket:
        # Every bit is that of another item: bits are independent.
        p, q = self.pair
        return support_blanket(p, q, q * q, three=q**3 if self.size > 2 else None)

    def respond(self, values: Encoded, draws: Draws, out: Reports) -> npt.NDArray[np.int64]:
        reports, bits = kernels.unary_response(values, draws.heads, self.keep, self.flip, out["bits"])
        # One bit in 256 is not decided by the top byte of its word: look up the other 56 bits.
        tails = draws.tails(reports, bits)
        kernels.settle_ties(out["bits"], values, reports, bits, tails, self.keep, self.flip)
        return np.zeros(0, dtype=np.int64)

    def supported(self, reports: Reports) -> Supported:
        return Bitmaps(reports["bits"], self.size)

    def supports_each(self, reports: Reports, codes: Codes) -> npt.NDArray[np.bool_]:
        """[report, item]: the bits of the encoded items in unary reports."""
        bytes_of, bits = reports["bits"][:, codes >> np.uint64(3)], (codes & np.uint64(7)).astype(np.uint8)
        return (bytes_of >> bits & 1).astype(np.bool_)

    def ones(self, reports: Reports) -> npt.NDArray[np.int64]:
        """Number of ones in each unary report."""
        return np.asarray(np.bitwise_count(reports["bits"]).sum(axis=1, dtype=np.int64))

    def law_of_ones(self) -> npt.NDArray[np.float64]:
        """Probability of each number of ones in an honest unary report, which is the same for all items."""
        others, q = self.size - 1, self.flip / WORD
        places = np.arange(others + 1)
        logs = [lgamma(others + 1) - lgamma(k + 1) - lgamma(others - k + 1) for k in range(others + 1)]
        law = np.exp(np.array(logs) + places * log(q) + (others - places) * log1p(-q))
        return np.convolve(law, [1 - self.keep / WORD, self.keep / WORD])
