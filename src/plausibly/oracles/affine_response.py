"""AGR: affine-geometry response, as accurate as subset selection, in one or two bits more than an item has."""

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
from ..core.costs import REPORT, transform_seconds
from ..core.domain import Domain
from ..core.errors import ParameterError
from ..core.galois import field_tables
from ..core.laws import Cells, Codes, Estimator, Floats, Scores, pure, support_of_both
from ..core.levers import Reach
from ..core.linear_hashing import (
    MAX_HASH_BITS,
    MOST_RECORDS,
    TOLERANCE,
    best_window,
    characters_of,
    supported_sums,
    supports,
)
from ..core.probability import WORD, EpsilonLike, exp_enclosure, keep_threshold
from ..core.randomness import Draws, Layout
from ..core.records import exact_sum, fields_of, refuse_beyond, refuse_cells, unsigned
from ..core.scheme import EXAMPLE_DOMAINS, Encoded, OracleMaker, Reports, Scheme
from ..core.support import AtMost, Support
from ..device import field_multiply, projective_point

_LARGEST_STATE_BITS = 28
"""log2 of the number of cells in the largest state that a plan considers."""
_PLANNED_REPORTS = 10**6
"""Number of reports for which the default shape has the cheapest decoder."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AGR(Scheme):
    """Affine-geometry response: items are points of an affine space over GF(g), g = 2^t, and a report is about a line.

    A public projective point a, one of L = (g^m - 1)/(g - 1), hashes item x to h = a_1*x_1 + ... + a_m*x_m. A report is
    y = h xor e (for w > 1, y = s*h xor e with a public random stretch s), with e uniform below w with probability p and
    uniform in [w, g) otherwise. It supports w*g^(m-1) of the g^m points.
    Privacy: p(g-w)/((1-p)w) <= e^eps with p = floor(2^64 * w*e^eps/(w*e^eps + g - w))/2^64, for every line.
    Variance: that of a pure protocol with q = (w*g^(m-1) - p)/(g^m - 1) exactly, like subset selection on g^m points.
    Default: the shape within 5 % of the least possible variance that has the cheapest decoder.
    Cost: about log2 d + 1 bits a report, O(m) client, O(n*w + g^m) decode; the state is L x g counts.
    Derivation: docs/adr/0008-linear-hashing.md.

    >>> import plausibly
    >>> scheme = plausibly.make("AGR", epsilon=5, domain_size=100_000)
    >>> scheme.t, scheme.m, scheme.w, scheme.report_dtype.itemsize
    (9, 2, 3, 6)
    """

    name = "AGR"
    advice = (
        "AGR is newer: local hashing with linear hash functions, which one Hadamard transform decodes. "
        "It is as accurate as local hashing and as fast as the Hadamard schemes."
    )
    max_increment = 2**MAX_HASH_BITS  # of the decoder's sums of cells, not of a single cell

    hash_bits: int | None = None
    dimension: int | None = None
    window: int | None = None

    def validate(self) -> None:
        super().validate()
        if self.hash_bits is None:
            if self.dimension is not None or self.window is not None:
                raise ParameterError("dimension, window: expected together with hash_bits, got no hash_bits")
            return
        hash_bits = whole_number("hash_bits", self.hash_bits, 1, MAX_HASH_BITS)
        object.__setattr__(self, "hash_bits", hash_bits)
        if self.dimension is not None:
            least = -(-self.item_bits // hash_bits)
            object.__setattr__(self, "dimension", whole_number("dimension", self.dimension, least, 48 // hash_bits))
        if self.window is not None:
            object.__setattr__(self, "window", whole_number("window", self.window, 1, 2**hash_bits - 1))

    @property
    def item_bits(self) -> int:
        """Number of bits in an item encoded as a point of the affine space."""
        return (self.size - 1).bit_length()

    @cached_property
    def _shape(self) -> tuple[int, int, int]:
        # t, m, w: the shape with the cheapest decoder among those within the tolerance, else the most accurate one.
        best: tuple[bool, Fraction | int, tuple[int, int, int]] | None = None
        for t in range(1, MAX_HASH_BITS + 1) if self.hash_bits is None else [self.hash_bits]:
            m = self.dimension or max(2, -(-self.item_bits // t))
            w = self.window or best_window(self.epsilon, t)
            excess = _excess(self.epsilon, t, m, w)
            accurate = excess <= TOLERANCE
            rank = (not accurate, _PLANNED_REPORTS * w + 3 * 2 ** (t * m) if accurate else excess, (t, m, w))
            best = rank if best is None else min(best, rank)
        assert best is not None
        return best[2]

    @property
    def t(self) -> int:
        """Number of bits in a hash: log2 of the order of the field of the affine space."""
        return self._shape[0]

    @property
    def m(self) -> int:
        """Dimension of the affine space."""
        return self._shape[1]

    @property
    def w(self) -> int:
        """Number of hash values that support an item in affine response."""
        return self._shape[2]

    @property
    def g(self) -> int:
        """Number of hash values: the order of the field of the affine space."""
        return 1 << self.t

    @property
    def lines(self) -> int:
        """Number of projective points, L, the directions of lines in the affine space."""
        return ((1 << self.t * self.m) - 1) // (self.g - 1)

    @property
    def parameters(self) -> dict[str, Any]:
        return {"hash_bits": self.t, "dimension": self.m, "window": self.w}

    @cached_property
    def keep(self) -> int:
        """Keep probability p of affine response, times 2^64."""
        return keep_threshold(self.epsilon, self.w, self.g - self.w)

    @property
    def derived(self) -> dict[str, Any]:
        return {"keep": str(self.keep)}

    @property
    def report_dtype(self) -> np.dtype[np.void]:
        stretch = [("stretch", unsigned(self.g))] if self.w > 1 else []
        return np.dtype([("line", unsigned(self.lines)), *stretch, ("hash", unsigned(self.g))])

    @property
    def report_bits(self) -> int:
        stretches = self.g - 1 if self.w > 1 else 1
        return (self.lines * stretches * self.g - 1).bit_length()

    @property
    def layout(self) -> Layout:
        return Layout(dense=4 + (self.w > 1))

    @property
    def cell_shape(self) -> tuple[int, ...]:
        return (self.lines, self.g)

    def respond(self, values: Encoded, draws: Draws, out: Reports) -> npt.NDArray[np.int64]:
        return kernels.affine_response(values, draws.words, self.t, self.m, self.keep, self.w, fields_of(out))

    def check(self, reports: Reports) -> None:
        refuse_beyond(reports["line"], self.lines, f"a line below {self.lines}")
        refuse_beyond(reports["hash"], self.g, f"a value below {self.g}")
        if self.w > 1:
            refuse_beyond(reports["stretch"], self.g, f"a stretch from 1 to {self.g - 1}", least=1)

    def fold(self, cells: Cells, reports: Reports) -> None:
        if self.w > 1:
            kernels.stretched_histogram(fields_of(reports), self.w, *field_tables(self.t), cells)
        else:
            kernels.histogram(fields_of(reports), cells)

    def check_cells(self, cells: Cells, n: int) -> None:
        super().check_cells(cells, n)
        # A report on a line counts for w different values of that line.
        reports, rest = np.divmod(cells.sum(axis=1), self.w)
        refuse_cells(bool(rest.any()) or exact_sum(reports) != n or bool((cells.max(axis=1) > reports).any()))

    def estimator(self) -> Estimator:
        p, points = Fraction(self.keep, WORD), 1 << self.t * self.m
        support = self.w * points // self.g
        return pure(p, (support - p) / (points - 1), self._scores, both=support_of_both(p, support, points))

    def _scores(self, cells: Cells, n: int, codes: Codes | None) -> Scores:
        # Together, the lines have every character of the space exactly once, except the trivial one.
        rows = cells.copy()
        kernels.walsh_hadamard(rows)
        coefficients = kernels.affine_gather(rows, self.t, self.m, self.item_bits)
        return supports(coefficients, n, codes, size=self.size, hash_bits=self.t, window=self.w)

    @classmethod
    def examples(cls, through: OracleMaker | None = None, *, epsilon: EpsilonLike = 1) -> dict[str, Scheme]:
        # A window wider than 1: no default on a small domain has one.
        windowed = cls(epsilon=epsilon, domain=EXAMPLE_DOMAINS["integers"], hash_bits=3, window=3)  # type: ignore[arg-type]
        return super().examples(through, epsilon=epsilon) | {"windowed": windowed}

    @classmethod
    def variants(cls, epsilon: Fraction, domain: Domain, memory: int) -> Iterator[Mapping[str, Any]]:
        item_bits = ((domain.size or 1) - 1).bit_length()
        for t in range(1, MAX_HASH_BITS + 1):
            w, least = best_window(epsilon, t), -(-item_bits // t)
            for m in {max(2, least), least}:
                # A window of 1 needs no stretch, which saves a field in the report.
                windows = (w, 1, w - 1, w + 1) if m == 1 else (w, 1)
                if t * m <= _LARGEST_STATE_BITS:
                    yield from ({"hash_bits": t, "dimension": m, "window": x} for x in windows)

    def seconds(self, n: int, asked: int) -> float:
        return n * REPORT + n * self.w * REPORT + transform_seconds(self.cell_shape)

    def blanket(self) -> Blanket:
        # Like subset selection on all points of the geometry.
        points, support = self.g**self.m, self.w * self.g ** (self.m - 1)
        both = Fraction(support * (support - 1), points * (points - 1))
        return support_blanket(Fraction(self.keep, WORD), Fraction(support, points), both)

    def support(self) -> Support:
        most, whole = self.w << self.t * (self.m - 1), self.size == self.g**self.m
        return AtMost(min(self.size, most), self.size, whole)

    def leverage(self, weights: Floats) -> Reach:
        # Exact: the best of all lines, stretches and hashes, unless these are too many.
        stretches = self.g - 1 if self.w > 1 else 1
        if self.lines * stretches * self.g > MOST_RECORDS:
            return super().leverage(weights)
        places = self._characters[:, _adjoint(self.t, range(1, stretches + 1))].reshape(-1, self.g)
        sums = supported_sums(weights, places, order_bits=self.item_bits, window=self.w)
        return self.reach_of_supported(sums, weights)

    @property
    def _characters(self) -> npt.NDArray[np.int64]:
        # [line, s]: the row of the Hadamard matrix of the items. The decoder's gathering of the numbers of all pairs
        # of a line and s > 0 gives each row, of the whole space, the number of its pair.
        numbers = np.arange(self.lines * self.g).reshape(self.lines, self.g)
        pairs = kernels.affine_gather(numbers, self.t, self.m, self.t * self.m)
        places = np.zeros(self.lines * self.g, dtype=np.int64)
        places[pairs[1:]] = np.arange(1, len(pairs))
        found: npt.NDArray[np.int64] = places.reshape(self.lines, self.g) & (1 << self.item_bits) - 1
        return found

    def likelihood(self, report: np.void, item: int) -> Fraction:
        p, hashed = Fraction(self.keep, WORD), 0
        for i, coordinate in enumerate(projective_point(int(report["line"]), self.t)):
            hashed ^= field_multiply(coordinate, item >> self.t * i & self.g - 1, self.t)
        if self.w > 1:
            hashed = field_multiply(int(report["stretch"]), hashed, self.t)
        return p / self.w if hashed ^ int(report["hash"]) < self.w else (1 - p) / (self.g - self.w)


def _adjoint(bits: int, factors: range) -> npt.NDArray[np.int64]:
    # [a, s], for factors a: the r for which r & x and s & ax have ones of the same parity, for each x of the field.
    products = np.array([[field_multiply(a, 1 << j, bits) for j in range(bits)] for a in factors])
    places = np.arange(bits)
    return characters_of(((products[:, np.newaxis] >> places[:, np.newaxis] & 1) << places).sum(axis=2))


def _excess(epsilon: Fraction, t: int, m: int, w: int) -> Fraction:
    # Variance per non-holder over 4E/(E-1)^2, minus 1, up to 2^-90.
    e, g, points = exp_enclosure(epsilon, 96)[0], 1 << t, 1 << t * m
    p = e * w / (e * w + g - w)
    q = (Fraction(w * points, g) - p) / (points - 1)
    return q * (1 - q) / (p - q) ** 2 * (e - 1) ** 2 / (4 * e) - 1
