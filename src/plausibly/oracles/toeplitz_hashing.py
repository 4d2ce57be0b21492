"""TLH: Toeplitz local hashing, as accurate as OLH at the cost of one Hadamard transform."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..core.arguments import whole_number
from ..core.blanket import Blanket, support_blanket
from ..core.costs import CANDIDATE, PLACE, REPORT, transform_seconds
from ..core.domain import Domain, Keys, Listable
from ..core.errors import ParameterError
from ..core.laws import Cells, Codes, Estimator, Floats, Scores, pure
from ..core.levers import Reach
from ..core.linear_hashing import (
    MAX_HASH_BITS,
    MOST_RECORDS,
    TOLERANCE,
    best_window,
    characters_of,
    excess_variance,
    hashed,
    refuse_unless_scattered,
    supported_sums,
    supports,
    window_weights,
)
from ..core.probability import WORD, EpsilonLike, keep_threshold
from ..core.randomness import Draws, Layout
from ..core.records import fields_of, refuse_beyond, unsigned
from ..core.scheme import EXAMPLE_DOMAINS, Encoded, OracleMaker, Reports, Scheme
from ..core.support import Everything, Support
from ..core.supported import Supported, TwoLevels

_EACH = 8
"""Average number of copies of each possible report from which on it is faster to count equal reports first."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TLH(Scheme, TwoLevels):
    """Toeplitz local hashing: a public random Toeplitz matrix over GF(2) hashes the item to t = ``hash_bits`` bits.

    The report is y = h(x) xor e, g = 2^t, with e uniform below w = ``window`` with probability p and uniform in [w, g)
    otherwise. It supports the items with (h(x) xor y) < w.
    Privacy: p(g-w)/((1-p)w) <= e^eps with p = floor(2^64 * w*e^eps/(w*e^eps + g - w))/2^64, for every matrix.
    Variance: that of a pure protocol with q = w/g exactly, because a random Toeplitz matrix sends every difference of
    two items to a uniform value. Default: the smallest t whose variance is within 5 % of the least possible,
    4e^eps/(e^eps - 1)^2.
    Cost: 2 to 10 bytes a report, O(t) client, O(n*2^t + d log d) decode; on ``Keys()`` O(n*t) per candidate.
    Derivation: docs/adr/0008-linear-hashing.md.

    >>> import plausibly
    >>> scheme = plausibly.make("TLH", epsilon=3, domain_size=100_000)
    >>> scheme.t, scheme.w, scheme.report_bits
    (4, 1, 24)
    """

    name = "TLH"
    advice = (
        "TLH is newer: local hashing with linear hash functions, which one Hadamard transform decodes. "
        "It is as accurate as local hashing and as fast as the Hadamard schemes."
    )
    accepts = (Listable, Keys)
    max_increment = 2**MAX_HASH_BITS

    hash_bits: int | None = None
    window: int | None = None

    def validate(self) -> None:
        super().validate()
        if self.hash_bits is not None:
            object.__setattr__(self, "hash_bits", whole_number("hash_bits", self.hash_bits, 1, MAX_HASH_BITS))
        if self.window is not None:
            if self.hash_bits is None:
                raise ParameterError("window: expected together with hash_bits, got no hash_bits")
            object.__setattr__(self, "window", whole_number("window", self.window, 1, 2**self.hash_bits - 1))

    @cached_property
    def t(self) -> int:
        """Number of bits in a Toeplitz hash."""
        if self.hash_bits is not None:
            return self.hash_bits
        for t in range(1, MAX_HASH_BITS):
            if excess_variance(self.epsilon, t, best_window(self.epsilon, t)) <= TOLERANCE:
                return t
        return MAX_HASH_BITS

    @cached_property
    def w(self) -> int:
        """Number of Toeplitz hash values that support an item."""
        return self.window or best_window(self.epsilon, self.t)

    @property
    def g(self) -> int:
        """Number of values of a Toeplitz hash."""
        return 1 << self.t

    @property
    def item_bits(self) -> int:
        """Number of bits that the Toeplitz matrix hashes: those of an encoded item.

        Of a 64-bit key, as many as keep the matrix within 64 bits.
        """
        return 65 - self.t if self.domain.size is None else (self.size - 1).bit_length()

    @property
    def parameters(self) -> dict[str, Any]:
        return {"hash_bits": self.t, "window": self.w}

    @cached_property
    def keep(self) -> int:
        """Keep probability p of Toeplitz hashing, times 2^64."""
        return keep_threshold(self.epsilon, self.w, self.g - self.w)

    @property
    def derived(self) -> dict[str, Any]:
        return {"keep": str(self.keep), "item_bits": self.item_bits}

    @property
    def _matrices(self) -> int:
        return 1 << self.item_bits + self.t - 1

    @property
    def report_dtype(self) -> np.dtype[np.void]:
        return np.dtype([("matrix", unsigned(self._matrices)), ("hash", unsigned(self.g))])

    @property
    def report_bits(self) -> int:
        return self.item_bits + 2 * self.t - 1

    @property
    def layout(self) -> Layout:
        return Layout(dense=4)

    @property
    def cell_shape(self) -> tuple[int, ...] | None:
        return None if self.domain.size is None else (1 << self.item_bits,)

    def respond(self, values: Encoded, draws: Draws, out: Reports) -> npt.NDArray[np.int64]:
        fields = fields_of(out)
        return kernels.toeplitz_response(values, draws.words, self.t, self.item_bits, self.keep, self.w, fields)

    def check(self, reports: Reports) -> None:
        refuse_beyond(reports["matrix"], self._matrices, f"a matrix below {self._matrices}")
        refuse_beyond(reports["hash"], self.g, f"a hash below {self.g}")

    def fold(self, cells: Cells, reports: Reports) -> None:
        weights = window_weights(self.t, self.w)
        if len(reports) < _EACH * self._matrices * self.g:
            cells += kernels.toeplitz_scatter(reports["matrix"], reports["hash"], self.item_bits, weights)
            return
        # Every possible report occurs several times: after counting, the g places of each are visited only once.
        counts = np.zeros((self._matrices, self.g), dtype=np.int64)
        kernels.histogram(fields_of(reports), counts)
        kernels.walsh_hadamard(counts)
        matrices, places = np.arange(self._matrices), np.zeros((self.g, self._matrices), dtype=np.int64)
        for step in range(1, self.g):
            lowest = step & -step
            row = matrices >> lowest.bit_length() - 1 & (1 << self.item_bits) - 1
            places[step] = places[step ^ lowest] ^ row
            np.add.at(cells, places[step], weights[step] * counts[:, step])

    def check_cells(self, cells: Cells, n: int) -> None:
        refuse_unless_scattered(cells, n, hash_bits=self.t, window=self.w)

    def estimator(self) -> Estimator:
        return pure(Fraction(self.keep, WORD), Fraction(self.w, self.g), self._scores)

    def _scores(self, cells: Cells, n: int, codes: Codes | None) -> Scores:
        if codes is not None and self.cell_shape is None:
            matrices, hashes = fields_of(cells)
            return kernels.toeplitz_support_of(matrices, hashes, codes, self.t, self.item_bits, self.w)
        return supports(cells, n, codes, size=self.size, hash_bits=self.t, window=self.w)

    @classmethod
    def examples(cls, through: OracleMaker | None = None, *, epsilon: EpsilonLike = 1) -> dict[str, Scheme]:
        # A window wider than 1: no default on a small domain has one.
        windowed = cls(epsilon=epsilon, domain=EXAMPLE_DOMAINS["integers"], hash_bits=3, window=3)  # type: ignore[arg-type]
        return super().examples(through, epsilon=epsilon) | {"windowed": windowed}

    @classmethod
    def variants(cls, epsilon: Fraction, domain: Domain, memory: int) -> Iterator[Mapping[str, Any]]:
        yield from ({"hash_bits": t, "window": best_window(epsilon, t)} for t in range(1, MAX_HASH_BITS + 1))

    def seconds(self, n: int, asked: int) -> float:
        if self.cell_shape is None:
            return n * REPORT + n * asked * CANDIDATE
        return n * REPORT + n * self.g * PLACE + transform_seconds(self.cell_shape)

    def blanket(self) -> Blanket:
        # The difference of the hashes of two items is uniform.
        share = Fraction(self.w, self.g)
        return support_blanket(Fraction(self.keep, WORD), share, share**2)

    def support(self) -> Support:
        return Everything()  # a matrix of zeros

    def supported(self, reports: Reports) -> Supported:
        rows = self._rows_of(reports["matrix"].astype(np.int64))
        return hashed(rows, reports["hash"], size=self.size, order=1 << self.item_bits, window=self.w)

    def _rows_of(self, matrices: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return matrices[:, np.newaxis] >> np.arange(self.t) & (1 << self.item_bits) - 1

    def leverage(self, weights: Floats) -> Reach:
        # Exact: the best of all matrices and hashes, unless these are too many.
        if self._matrices * self.g > MOST_RECORDS:
            return super().leverage(weights)
        places = characters_of(self._rows_of(np.arange(self._matrices)))
        sums = supported_sums(weights, places, order_bits=self.item_bits, window=self.w)
        return self.reach_of_supported(sums, weights)

    def likelihood(self, report: np.void, item: int) -> Fraction:
        p, matrix = Fraction(self.keep, WORD), int(report["matrix"])
        reduced = item & (1 << self.item_bits) - 1
        hashed = sum(((matrix >> j & reduced).bit_count() & 1) << j for j in range(self.t))
        return p / self.w if hashed ^ int(report["hash"]) < self.w else (1 - p) / (self.g - self.w)
