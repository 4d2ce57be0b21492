"""HM: the Hadamard mechanism, a few sampled signs of the item's Hadamard transform."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .. import kernels
from ..core.arguments import whole_number
from ..core.blanket import Blanket, support_blanket
from ..core.costs import PLACE, REPORT, transform_seconds
from ..core.domain import Domain
from ..core.errors import ParameterError
from ..core.laws import Cells, Codes, Estimator, Floats, Scores, VarianceLaw, pure
from ..core.levers import Reach
from ..core.linear_hashing import (
    hashed,
    refuse_beyond_total,
    refuse_unless_scattered,
    sums_by_rows,
    supports,
    window_weights,
)
from ..core.probability import WORD, exp_enclosure, keep_threshold
from ..core.randomness import Draws, Layout
from ..core.records import fields_of, refuse_beyond, refuse_cells, unsigned
from ..core.scheme import Encoded, Reports, Scheme
from ..core.signs import TakesSigns
from ..core.support import Everything, Support
from ..core.supported import Supported, TwoLevels
from ..core.walsh import walsh
from ..core.wording import nearest, shown

_MOST_COEFFICIENTS = 8
_FULL, _PAPER = 0, 1


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class HM(Scheme, TakesSigns, TwoLevels):
    """The Hadamard mechanism with t = ``coefficients`` sampled signs, g = 2^t (paper, section 3.4).

    Privacy: p(g-1)/(1-p) <= e^eps with p = floor(2^64 * e^eps/(e^eps + g - 1))/2^64, for every choice of rows.
    Decoder "full" (the default) uses all g-1 products of the reported signs, which makes it local hashing with a
    hash that is exactly pairwise uniform: the variance is OLH's at q = 1/g. Decoder "paper" averages the t signs:
    n/(t*rho^2) + f*((t-1)/(t*rho) - 1), rho = (p*g - 1)/(g - 1).
    Items may have a sign, which multiplies every coefficient (a Count-Sketch with ``signs="coefficients"``): products
    of an even number of signs then cancel it, and "full" uses the g/2 others.
    Cost: t row numbers and one byte a report, O(t) client, O(n*2^t + d log d) decode.

    >>> import plausibly
    >>> scheme = plausibly.make("HM", epsilon=3, domain_size=1000)
    >>> scheme.t, round(scheme.variance(n=1), 3)
    (4, 0.225)
    """

    name = "HM"
    max_increment = 2**_MOST_COEFFICIENTS  # one more than a report adds to a cell: the decoder adds n to the sum

    coefficients: int | None = None

    def validate(self) -> None:
        super().validate()
        if self.coefficients is not None:
            number = whole_number("coefficients", self.coefficients, 1, _MOST_COEFFICIENTS)
            object.__setattr__(self, "coefficients", number)

    @cached_property
    def t(self) -> int:
        """Number of signs that the Hadamard mechanism samples.

        By default the one with the lowest variance, at most log2 d and at most 8.
        """
        if self.coefficients is not None:
            return self.coefficients
        most = min(_MOST_COEFFICIENTS, self.size.bit_length() - 1)
        e = exp_enclosure(self.epsilon, 96)[0]
        return min(range(1, most + 1), key=lambda t: (e + 2**t - 1) ** 2 / (2**t - 1))

    @property
    def g(self) -> int:
        """Number of sign patterns in the Hadamard mechanism."""
        return 1 << self.t

    @property
    def order_bits(self) -> int:
        """log2 of the order of the Hadamard matrix of the mechanism."""
        return (self.size - 1).bit_length()

    @property
    def parameters(self) -> dict[str, Any]:
        return {"coefficients": self.t}

    @cached_property
    def keep(self) -> int:
        """Keep probability p of the Hadamard mechanism, times 2^64."""
        return keep_threshold(self.epsilon, 1, self.g - 1)

    @property
    def derived(self) -> dict[str, Any]:
        return {"keep": str(self.keep)}

    @property
    def report_dtype(self) -> np.dtype[np.void]:
        return np.dtype([("rows", unsigned(1 << self.order_bits), (self.t,)), ("signs", "u1")])

    @property
    def report_bits(self) -> int:
        return self.t * self.order_bits + self.t

    @property
    def layout(self) -> Layout:
        return Layout(dense=self.t + 2)

    @property
    def cell_shape(self) -> tuple[int, ...]:
        # Sums of signs by row of the matrix: all products for the full decoder, only the t signs for the paper's.
        return (2, 1 << self.order_bits)

    def respond(self, values: Encoded, draws: Draws, out: Reports) -> npt.NDArray[np.int64]:
        return kernels.parity_response(values, draws.words, self.order_bits, self.keep, fields_of(out))

    def check(self, reports: Reports) -> None:
        order = 1 << self.order_bits
        refuse_beyond(reports["rows"], order, f"rows below {order}")
        refuse_beyond(reports["signs"], self.g, f"a sign pattern below {self.g}")

    def fold(self, cells: Cells, reports: Reports) -> None:
        rows, signs = fields_of(reports)
        cells[_FULL] += kernels.gray_scatter(rows, signs, self.order_bits, window_weights(self.t, 1))
        kernels.sign_sums(rows, signs, cells[_PAPER])

    def check_cells(self, cells: Cells, n: int) -> None:
        full, paper = cells[_FULL], cells[_PAPER]
        supported = refuse_unless_scattered(full, n, hash_bits=self.t)
        # The t signs of a report are among its g-1 products, so the signs and the other products add up separately.
        refuse_beyond_total(paper, n * self.t)
        refuse_beyond_total(full - paper, n * (self.g - 1 - self.t))
        # A report that supports an item agrees with it in all t signs; any other report agrees in at most t-1.
        agreeing = supports(paper, n * self.t, None, size=len(paper), hash_bits=0)
        refuse_cells(bool((agreeing & 1).any()))
        agreeing >>= 1
        refuse_cells(bool(((agreeing < supported * self.t) | (agreeing > supported + n * (self.t - 1))).any()))

    def estimator(self, decoder: Literal["full", "paper"] = "full") -> Estimator:
        _expect_decoder(decoder)
        if decoder == "paper":
            return self._average_of_signs()
        return pure(Fraction(self.keep, WORD), Fraction(1, self.g), self._supports, joint=True)

    def _average_of_signs(self) -> Estimator:
        law = VarianceLaw(1 / (self.t * self._rho**2), (self.t - 1) / (self.t * self._rho) - 1)
        return Estimator(1 / (self.t * self._rho), Fraction(0), law, self._sign_sums)

    @property
    def _rho(self) -> Fraction:
        # The expectation of a reported sign, or of a product of reported signs, times the true one.
        return (Fraction(self.keep, WORD) * self.g - 1) / (self.g - 1)

    def _supports(self, cells: Cells, n: int, codes: Codes | None) -> Scores:
        return supports(cells[_FULL], n, codes, size=self.size, hash_bits=self.t)

    def _sign_sums(self, cells: Cells, n: int, codes: Codes | None) -> Scores:
        # For n = 0 and hash_bits = 0 the shared decoder returns the transform itself.
        return supports(cells[_PAPER], 0, codes, size=self.size, hash_bits=0)

    # --- items with signs: products of an odd number of signs keep that of the item -------------------------------

    def fold_signs(self, cells: Cells, reports: Reports) -> None:
        rows, signs = fields_of(reports)
        cells[_FULL] += kernels.gray_scatter(rows, signs, self.order_bits, self._odd)
        kernels.sign_sums(rows, signs, cells[_PAPER])

    def check_signs(self, cells: Cells, n: int) -> None:
        odd, paper = cells[_FULL], cells[_PAPER]
        refuse_beyond_total(paper, n * self.t)
        refuse_beyond_total(odd - paper, n * (self.g // 2 - self.t))
        # In each report, either all t signs agree with an item, or none does, or the net is 0 and some agree.
        doubled, sums = (supports(part, 0, None, size=len(part), hash_bits=0) for part in (odd, paper))
        refuse_cells(bool((doubled % (self.g // 2) != 0).any() or ((sums + n * self.t) % 2 != 0).any()))
        net = doubled // (self.g // 2)
        undecided = n - np.abs(net)
        refuse_cells(
            bool((undecided < 0).any() or (np.abs(sums - self.t * net) > undecided * max(0, self.t - 2)).any())
        )

    def net_estimator(self, decoder: Literal["full", "paper"] = "full") -> Estimator:
        _expect_decoder(decoder)
        if decoder == "paper":
            return self._average_of_signs()
        # A report counts +1 if all its signs agree with the item and -1 if none does; other users do either by chance.
        p, rho = Fraction(self.keep, WORD), self._rho
        other = Fraction(2, self.g) / rho**2
        own = (p + (1 - p) / (self.g - 1)) / rho**2 - 1
        return Estimator(1 / rho, Fraction(0), VarianceLaw(other, own - other), self._net_counts)

    def _net_counts(self, cells: Cells, n: int, codes: Codes | None) -> Scores:
        return supports(cells[_FULL], 0, codes, size=self.size, hash_bits=self.t - 1)

    @cached_property
    def _odd(self) -> npt.NDArray[np.int64]:
        return np.array([s.bit_count() % 2 for s in range(self.g)], dtype=np.int64)

    @classmethod
    def variants(cls, epsilon: Fraction, domain: Domain, memory: int) -> Iterator[Mapping[str, Any]]:
        most = min(_MOST_COEFFICIENTS, ((domain.size or 1) - 1).bit_length())
        yield from ({"coefficients": t} for t in range(1, most + 1))

    @classmethod
    def variants_for_cells(cls, epsilon: Fraction, cells: int) -> Iterator[Mapping[str, Any]]:
        yield from ()  # TLH has the same variance, and a matrix takes fewer bytes than t rows

    def seconds(self, n: int, asked: int) -> float:
        return n * REPORT + n * self.g * PLACE + transform_seconds(self.cell_shape)

    def blanket(self) -> Blanket:
        # Signs of different items in a random row are independent, also those of three items.
        share = Fraction(1, self.g)
        three = share**3 if self.size > 2 else None
        return support_blanket(Fraction(self.keep, WORD), share, share**2, three=three)

    def signed_blanket(self) -> Blanket:
        # An item and its negative have no sign in common.
        return support_blanket(Fraction(self.keep, WORD), Fraction(1, self.g), Fraction(0))

    def support(self) -> Support:
        return Everything()  # rows of zeros

    def supported(self, reports: Reports) -> Supported:
        rows = reports["rows"].astype(np.int64)
        return hashed(rows, reports["signs"], size=self.size, order=1 << self.order_bits)

    def leverage(self, weights: Floats) -> Reach:
        sums = sums_by_rows(weights, self.t, self.order_bits)
        return self.reach_of_supported(Reach(*self.sums_within(weights)) if sums is None else sums, weights)

    def sums_within(self, weights: Floats) -> tuple[Floats, Floats]:
        """Bounds of the sum of the weights of the items that one record supports; exact for one coefficient.

        Rows that are independent, k of them, leave the items with k given signs. The sum of their weights is the mean
        of 2^k signed places of the weights' transform, of which the first is the sum of all weights. Not every choice
        of signs is possible: those of products follow from the others.
        """
        total = weights.sum(axis=-1)
        places = np.sort(np.abs(walsh(weights, self.order_bits)[..., 1:]), axis=-1)
        # Rows of zeros leave all items, or none.
        low, high = np.minimum(total, 0.0), np.maximum(total, 0.0)
        for k in range(1, min(self.t, self.order_bits) + 1):
            most = places[..., -((1 << k) - 1) :].sum(axis=-1)
            low, high = np.minimum(low, (total - most) / 2**k), np.maximum(high, (total + most) / 2**k)
        return np.maximum(low, weights.clip(max=0.0).sum(axis=-1)), np.minimum(high, weights.clip(0.0).sum(axis=-1))

    def likelihood(self, report: np.void, item: int) -> Fraction:
        p = Fraction(self.keep, WORD)
        order = 1 << self.order_bits  # a negative item has this bit, too, and reverses every sign
        signs = sum((((int(row) | order) & item).bit_count() & 1) << j for j, row in enumerate(report["rows"]))
        return p if int(report["signs"]) == signs else (1 - p) / (self.g - 1)


def _expect_decoder(decoder: object) -> None:
    if decoder not in ("full", "paper"):
        raise ParameterError(f"decoder: unknown {shown(decoder)}; {nearest(decoder, ['full', 'paper'])}")
