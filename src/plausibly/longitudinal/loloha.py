"""LOLOHA: a lasting hash of the value, a memo of each hash, and a fresh answer from the memo every time."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..core.arguments import whole_number
from ..core.costs import PLACE, REPORT, transform_seconds
from ..core.laws import Cells, Codes, Estimator, Floats, MemoLaw, Scores, pure
from ..core.levers import Reach
from ..core.linear_hashing import TOLERANCE, refuse_unless_scattered, sums_by_rows, supports, window_weights
from ..core.memoised import Entries, Memoised, MemoWords, Positions, largest_threshold
from ..core.probability import WORD, keep_threshold
from ..core.records import fields_of, refuse_beyond, unsigned
from ..core.scheme import Encoded, Reports
from ..core.support import Everything, Support

_MOST_HASH_BITS = 8


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LOLOHA(Memoised):
    """Longitudinal local hashing (Arcolezi, Pinzón, Palamidessi and Gambs 2023), with exact and tight thresholds.

    A user keeps one public linear hash h of t = ``hash_bits`` bits, g = 2^t, and a memo M of each hash value: itself
    with probability p1, else a uniform other one. A report is h and M[h(x)] with probability p2, else another value.
    Privacy: a first report epsilon, P(g-1)/(1-P) <= e^epsilon, P = p1*p2 + (1-p1)(1-p2)/(g-1), p2 the largest multiple
    of 2^-64; the published p2 delivers less. All reports of values in one cell together memo_epsilon,
    p1(g-1)/(1-p1) <= e^memo_epsilon; of values in k cells k times that. Whether and when a cell changed is not
    protected.
    Variance: that of a pure protocol with p = P, q = 1/g. Days of a user share the hash and the memo (``memo_law``).
    Default: the smallest t whose variance is within 5 % of the lowest; fewer cells protect longer histories.
    Cost: t row numbers and one byte a report, O(t) client, O(n*2^t + d log d) decode.
    Derivation: docs/adr/0041-memos.md.

    >>> import plausibly
    >>> scheme = plausibly.make("LOLOHA", epsilon=1, memo_epsilon=2, domain_size=16)
    >>> scheme.g, round(scheme.variance(n=1), 3), round(float(scheme.memo_law.per_report), 3)
    (4, 3.692, 0.881)
    """

    name = "LOLOHA"
    max_increment = 2**_MOST_HASH_BITS

    hash_bits: int | None = None

    def validate(self) -> None:
        super().validate()
        if self.hash_bits is not None:
            object.__setattr__(self, "hash_bits", whole_number("hash_bits", self.hash_bits, 1, _MOST_HASH_BITS))

    @cached_property
    def t(self) -> int:
        """Number of bits of the lasting hash."""
        return self.hash_bits or _fewest_bits(self.epsilon, self.memo_epsilon)

    @property
    def g(self) -> int:
        """Number of values of the lasting hash, which are the cells of the memo."""
        return 1 << self.t

    @property
    def cells(self) -> int:
        return self.g

    @property
    def order_bits(self) -> int:
        """log2 of the order of the Hadamard matrix whose rows are the lasting hash."""
        return (self.size - 1).bit_length()

    @property
    def parameters(self) -> dict[str, Any]:
        return {"memo_epsilon": str(self.memo_epsilon), "hash_bits": self.t}

    @property
    def memo_keep(self) -> int:
        """p1 * 2^64: threshold for the own hash value in the memo."""
        return _thresholds(self.epsilon, self.memo_epsilon, self.t)[0]

    @property
    def keep(self) -> int:
        """p2 * 2^64: threshold for the entry of the memo in an answer."""
        return _thresholds(self.epsilon, self.memo_epsilon, self.t)[1]

    @property
    def derived(self) -> dict[str, Any]:
        return {"memo_keep": str(self.memo_keep), "keep": str(self.keep)}

    @property
    def report_dtype(self) -> np.dtype[np.void]:
        return np.dtype([("rows", unsigned(1 << self.order_bits), (self.t,)), ("hash", "u1")])

    @property
    def report_bits(self) -> int:
        return self.t * self.order_bits + self.t

    @property
    def word_parts(self) -> tuple[int, int, int]:
        return self.t, 2, 2

    @property
    def cell_shape(self) -> tuple[int, ...]:
        return (1 << self.order_bits,)

    def locate(self, values: Encoded, words: MemoWords, out: Reports) -> npt.NDArray[np.uint64]:
        rows = words & np.uint64((1 << self.order_bits) - 1)
        out["rows"] = rows
        signs = np.bitwise_count(rows & values[:, None]).astype(np.uint64) & np.uint64(1)
        cells: npt.NDArray[np.uint64] = (signs << np.arange(self.t, dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
        return cells

    def memoise(self, cells: npt.NDArray[np.uint64], words: MemoWords) -> tuple[Entries, Positions]:
        entries = np.empty(len(cells), dtype=np.uint8)
        redo = kernels.direct_response(cells, np.ascontiguousarray(words), self.memo_keep, self.g, entries)
        return entries.astype(np.uint64), redo

    def answer(self, entries: Entries, words: MemoWords, out: Reports) -> Positions:
        return kernels.direct_response(entries, np.ascontiguousarray(words), self.keep, self.g, out["hash"])

    def check(self, reports: Reports) -> None:
        order = 1 << self.order_bits
        refuse_beyond(reports["rows"], order, f"rows below {order}")
        refuse_beyond(reports["hash"], self.g, f"a hash below {self.g}")

    def fold(self, cells: Cells, reports: Reports) -> None:
        rows, hashes = fields_of(reports)
        cells += kernels.gray_scatter(rows, hashes, self.order_bits, window_weights(self.t, 1))

    def check_cells(self, cells: Cells, n: int) -> None:
        refuse_unless_scattered(cells, n, hash_bits=self.t)

    @property
    def p(self) -> Fraction:
        """Probability P that a report supports its user's item: by hash, memo and answer together."""
        p1, p2 = Fraction(self.memo_keep, WORD), Fraction(self.keep, WORD)
        return _own(p1, p2, self.g)

    def estimator(self) -> Estimator:
        return pure(self.p, Fraction(1, self.g), self._supports, joint=True)

    def _supports(self, cells: Cells, n: int, codes: Codes | None) -> Scores:
        return supports(cells, n, codes, size=self.size, hash_bits=self.t)

    @cached_property
    def memo_law(self) -> MemoLaw:
        # An item is supported on both days with p2^2 if its hash is the entry, else with ((1-p2)/(g-1))^2. It is the
        # entry with probability p1 for a holder, and 1/g for another user, whose entry is uniform seen from the item.
        g, p1, p2 = self.g, Fraction(self.memo_keep, WORD), Fraction(self.keep, WORD)
        right, wrong = p2**2, ((1 - p2) / (g - 1)) ** 2
        gap = self.p - Fraction(1, g)
        other = (right / g + wrong * (g - 1) / g - Fraction(1, g * g)) / gap**2
        own = (p1 * right + (1 - p1) * wrong - self.p**2) / gap**2
        return MemoLaw(self.client.subject, other, own - other)

    @property
    def same_entry(self) -> float:
        # Two values have the same hash with probability 1/g.
        g, p1 = self.g, self.memo_keep / WORD
        r = (1 - p1) / (g - 1)
        return 1 / g + (1 - 1 / g) * (2 * p1 * r + (g - 2) * r**2)

    def seconds(self, n: int, asked: int) -> float:
        return n * REPORT + n * self.g * PLACE + transform_seconds(self.cell_shape)

    def support(self) -> Support:
        return Everything()  # rows of zeros

    def leverage(self, weights: Floats) -> Reach:
        sums = sums_by_rows(weights, self.t, self.order_bits)
        return super().leverage(weights) if sums is None else self.reach_of_supported(sums, weights)

    def likelihood(self, report: np.void, item: int) -> Fraction:
        hashed = sum(((int(row) & item).bit_count() & 1) << j for j, row in enumerate(report["rows"]))
        return self.p if int(report["hash"]) == hashed else (1 - self.p) / (self.g - 1)


def _own(p1: Fraction, p2: Fraction, g: int) -> Fraction:
    return p1 * p2 + (1 - p1) * (1 - p2) / (g - 1)


@lru_cache(maxsize=256)
def _thresholds(epsilon: Fraction, memo_epsilon: Fraction, hash_bits: int) -> tuple[int, int]:
    g = 1 << hash_bits
    memo_keep = keep_threshold(memo_epsilon, 1, g - 1)

    def ratio(keep: int) -> Fraction:
        own = _own(Fraction(memo_keep, WORD), Fraction(keep, WORD), g)
        return own * (g - 1) / (1 - own)

    return memo_keep, largest_threshold(ratio, epsilon, WORD // g)


@lru_cache(maxsize=256)
def _fewest_bits(epsilon: Fraction, memo_epsilon: Fraction) -> int:
    def noise(hash_bits: int) -> Fraction:
        memo_keep, keep = _thresholds(epsilon, memo_epsilon, hash_bits)
        q = Fraction(1, 1 << hash_bits)
        return q * (1 - q) / (_own(Fraction(memo_keep, WORD), Fraction(keep, WORD), 1 << hash_bits) - q) ** 2

    noises = {bits: noise(bits) for bits in range(1, _MOST_HASH_BITS + 1)}
    return next(bits for bits, own in noises.items() if own <= (1 + TOLERANCE) * min(noises.values()))
