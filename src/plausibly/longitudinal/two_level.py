"""LOSUE and LSUE: unary encodings with a memo and a fresh answer, as published; LSUE is basic RAPPOR."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.laws import MemoLaw
from ..core.memoised import Entries, Memoised, MemoWords, Positions, largest_threshold
from ..core.probability import WORD, keep_threshold
from ..core.scheme import Encoded, Reports
from ..core.unary import UnaryBits

_NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TwoLevelUnary(Memoised, UnaryBits):
    """A memo of one bit per item for every value, and each of its bits flipped anew in every report."""

    @property
    @abstractmethod
    def memo_keep(self) -> int:
        """p1 * 2^64: threshold of the true item's bit in the memo."""

    @property
    @abstractmethod
    def memo_flip(self) -> int:
        """q1 * 2^64: threshold of every other bit in the memo."""

    @cached_property
    def keep(self) -> int:
        """p2 * 2^64: threshold for each bit to be sent as it is in the memo."""
        return _keep(self.epsilon, self.memo_keep, self.memo_flip)

    @property
    def cells(self) -> int:
        return self.size

    @property
    def parameters(self) -> dict[str, Any]:
        return {"memo_epsilon": str(self.memo_epsilon)}

    @property
    def derived(self) -> dict[str, Any]:
        return {"memo_keep": str(self.memo_keep), "memo_flip": str(self.memo_flip), "keep": str(self.keep)}

    @property
    def word_parts(self) -> tuple[int, int, int]:
        return 0, self.size, self.size

    def locate(self, values: Encoded, words: MemoWords, out: Reports) -> npt.NDArray[np.uint64]:
        return values

    def memoise(self, cells: npt.NDArray[np.uint64], words: MemoWords) -> tuple[Entries, Positions]:
        own = np.arange(self.size, dtype=np.uint64) == cells[:, None]
        return words < np.where(own, np.uint64(self.memo_keep), np.uint64(self.memo_flip)), _NONE

    def answer(self, entries: Entries, words: MemoWords, out: Reports) -> Positions:
        bits = words < np.where(entries, np.uint64(self.keep), np.uint64(WORD - self.keep))
        out["bits"] = np.packbits(bits, axis=1, bitorder="little")
        return _NONE

    @property
    def pair(self) -> tuple[Fraction, Fraction]:
        own, other = (_sent(Fraction(on, WORD), self.keep) for on in (self.memo_keep, self.memo_flip))
        return own, other

    @cached_property
    def memo_law(self) -> MemoLaw:
        # Given its bit in the memo, a bit is drawn independently on both days.
        p2 = Fraction(self.keep, WORD)
        own, other = self.pair
        spread = []
        for on, sent in ((Fraction(self.memo_keep, WORD), own), (Fraction(self.memo_flip, WORD), other)):
            spread.append((on * p2**2 + (1 - on) * (1 - p2) ** 2 - sent**2) / (own - other) ** 2)
        return MemoLaw(self.client.subject, spread[1], spread[0] - spread[1])

    @property
    def same_entry(self) -> float:
        # The bits of two entries are independent.
        on, off = self.memo_keep / WORD, self.memo_flip / WORD
        own, other = on * off + (1 - on) * (1 - off), off**2 + (1 - off) ** 2
        return float(own**2 * other ** (self.size - 2))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LOSUE(TwoLevelUnary):
    """L-OSUE: a memo by optimised unary encoding, answers by symmetric flips (Arcolezi, Couchot, Al Bouna, Xiao 2022).

    Memo: p1 = 1/2, q1 = ceil(2^64/(e^memo_epsilon + 1))/2^64. Answer: each bit as in the memo with probability p2, the
    largest multiple of 2^-64 with P(1-Q)/(Q(1-P)) <= e^epsilon, P = p1*p2 + (1-p1)(1-p2), Q = q1*p2 + (1-q1)(1-p2).
    Privacy: a first report epsilon; all reports of one value together memo_epsilon, of k values k times that. The memo
    has an entry for each of the d values, so only small domains have a bounded loss for long histories. Whether and
    when a value changed is not protected: the bits of two entries almost never agree.
    Variance: n*Q(1-Q)/(P-Q)^2 + f*(1-P-Q)/(P-Q); for items without holders the lowest possible, 4e^eps/(e^eps - 1)^2.
    Cost: ceil(d/8) bytes a report, O(d) client, O(n*d) fold.

    >>> import plausibly
    >>> scheme = plausibly.make("LOSUE", epsilon=1, memo_epsilon=2, domain_size=16)
    >>> round(scheme.variance(n=1), 3), round(float(scheme.memo_loss()), 9)
    (3.683, 2.0)
    """

    name = "LOSUE"

    @property
    def memo_keep(self) -> int:
        return WORD // 2

    @cached_property
    def memo_flip(self) -> int:
        # Ceiling: a smaller one would exceed memo_epsilon.
        return WORD - keep_threshold(self.memo_epsilon, 1, 1)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LSUE(TwoLevelUnary):
    """L-SUE, basic RAPPOR with both of its levels: symmetric bits in the memo and in the answers.

    RAPPOR (Erlingsson, Pihur and Korolova 2014) calls them permanent and instantaneous randomized response. Here every
    value has a bit of its own and the second level is symmetric, too (Arcolezi, Couchot, Al Bouna and Xiao 2022).
    Memo: p1 = 1 - q1 = floor(2^64 * e^(memo_epsilon/2)/(e^(memo_epsilon/2) + 1))/2^64. Answers: as LOSUE's.
    Privacy: a first report epsilon; all reports of one value together memo_epsilon, of k values k times that. Whether
    and when a value changed is not protected: the bits of two entries almost never agree.
    Variance: n*Q(1-Q)/(P-Q)^2, independent of the item's count.
    Cost: ceil(d/8) bytes a report, O(d) client, O(n*d) fold.

    >>> import plausibly
    >>> scheme = plausibly.make("LSUE", epsilon=1, memo_epsilon=2, domain_size=16)
    >>> round(scheme.variance(n=1), 3), round(float(scheme.privacy_loss()), 9)
    (3.918, 1.0)
    """

    name = "LSUE"

    @cached_property
    def memo_keep(self) -> int:
        return keep_threshold(self.memo_epsilon / 2, 1, 1)

    @property
    def memo_flip(self) -> int:
        return WORD - self.memo_keep


def _sent(on: Fraction, keep: int) -> Fraction:
    p2 = Fraction(keep, WORD)
    return on * p2 + (1 - on) * (1 - p2)


@lru_cache(maxsize=256)
def _keep(epsilon: Fraction, memo_keep: int, memo_flip: int) -> int:
    def ratio(keep: int) -> Fraction:
        own, other = (_sent(Fraction(on, WORD), keep) for on in (memo_keep, memo_flip))
        return own * (1 - other) / (other * (1 - own))

    return largest_threshold(ratio, epsilon, WORD // 2)
