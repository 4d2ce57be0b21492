"""SW: the square wave mechanism, which reports a value near the true one; for smooth distributions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.arguments import whole_number
from ..core.blanket import Blanket, support_blanket
from ..core.domain import InOrder, Integers
from ..core.errors import ParameterError
from ..core.laws import Cells, Decoder
from ..core.probability import WORD, decide, exp_enclosure, keep_threshold
from ..core.randomness import Draws, Layout
from ..core.records import exact_sum, refuse_beyond, refuse_cells, unsigned
from ..core.scheme import Encoded, Reports, Scheme
from ..core.words import Words, kind_of
from .most_likely import CHANGE, MostLikely


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SW(Scheme):
    """Square wave: report a place near the true one with high probability, else any other (Li et al., SIGMOD 2020).

    The discrete form: a value x of d items is reported as one of d + 2b places. The 2b+1 places from x to x + 2b are
    more likely than the others by a factor of e^eps, and equally likely among themselves; b is ``reach``.
    Privacy: p/(2b+1) against (1-p)/(d-1), with p = floor(2^64*(2b+1)*e^eps/((2b+1)*e^eps + d - 1))/2^64.
    Estimates: the most likely distribution, found by expectation maximization. By default it is smoothed after each
    step (EMS): good for smooth distributions and few reports, biased for good where the truth has spikes;
    ``estimate(smooth=False)`` does not smooth (EM).
    Variance: unknown, so there is no interval.
    Cost: up to 4 bytes a report, O(1) client, O(d) for each step of the decoder.

    >>> import plausibly
    >>> scheme = SW(epsilon=1, domain=plausibly.Ordered(0, 99))
    >>> scheme.reach
    25
    """

    name = "SW"
    accepts = (InOrder,)

    reach: int | None = None

    def validate(self) -> None:
        super().validate()
        if self.domain.other:
            raise ParameterError("domain: SW reports places in the order only, got one with an item for other values")
        reach = _best_reach(self.epsilon, self.size) if self.reach is None else self.reach
        object.__setattr__(self, "reach", whole_number("reach", reach, 0, self.size))

    @property
    def width(self) -> int:
        """Number of places near a value of the square wave."""
        return 2 * (self.reach or 0) + 1

    @property
    def places(self) -> int:
        """Number of places that the square wave may report."""
        return self.size + self.width - 1

    @property
    def parameters(self) -> dict[str, Any]:
        return {"reach": self.reach}

    @cached_property
    def keep(self) -> int:
        """Probability that the square wave reports a place near the value, times 2^64."""
        return keep_threshold(self.epsilon, self.width, self.size - 1)

    @property
    def derived(self) -> dict[str, Any]:
        return {"keep": str(self.keep)}

    @property
    def report_dtype(self) -> np.dtype[np.void]:
        return np.dtype([("place", unsigned(self.places))])

    @property
    def report_bits(self) -> int:
        return (self.places - 1).bit_length()

    @property
    def layout(self) -> Layout:
        return Layout(dense=3)

    @property
    def cell_shape(self) -> tuple[int, ...]:
        return (self.places,)

    def respond(self, values: Encoded, draws: Draws, out: Reports) -> npt.NDArray[np.int64]:
        words = draws.words
        near, refused_near = _below(words[:, 1], self.width)
        far, refused_far = _below(words[:, 2], self.size - 1)
        far += np.where(far < values, 0, self.width).astype(np.uint64)
        out["place"] = np.where(words[:, 0] < np.uint64(self.keep), values + near, far)
        return np.flatnonzero(refused_near | refused_far)

    def check(self, reports: Reports) -> None:
        refuse_beyond(reports["place"], self.places, f"a place below {self.places}")

    def fold(self, cells: Cells, reports: Reports) -> None:
        cells += np.bincount(reports["place"], minlength=len(cells))

    def check_cells(self, cells: Cells, n: int) -> None:
        super().check_cells(cells, n)
        refuse_cells(exact_sum(cells) != n)

    def estimator(self, smooth: bool = True) -> Decoder:
        if not isinstance(smooth, bool):
            raise ParameterError(Words("smooth: expected true or false, got ", kind_of(smooth)))
        odds = 1.0 if smooth else float(exp_enclosure(self.epsilon, 64)[0])
        near, far = self.keep / self.width / WORD, (WORD - self.keep) / (self.size - 1) / WORD
        return MostLikely(self.size, self.width, near, far, CHANGE * odds, smooth)

    def shrunk(self, size: int) -> SW:
        return replace(self, domain=Integers(size), reach=None)

    def blanket(self) -> Blanket:
        # The first and the last item share the fewest places.
        both = Fraction(max(0, self.width - self.size + 1), self.places)
        return support_blanket(Fraction(self.keep, WORD), Fraction(self.width, self.places), both)

    def likelihood(self, report: np.void, item: int) -> Fraction:
        p = Fraction(self.keep, WORD)
        near = item <= int(report["place"]) < item + self.width
        return p / self.width if near else (1 - p) / (self.size - 1)


def _below(words: npt.NDArray[np.uint64], size: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    # Uniform numbers below the size, and the words that the scalar code rejects.
    return words % np.uint64(size), words > np.uint64(WORD - 1 - WORD % size)


def _best_reach(epsilon: Fraction, size: int) -> int:
    # floor(b*d), b = (eps*e - e + 1)/(2e(e - 1 - eps)) with e = e^eps, the optimum of Li et al. (2020), equation 8.
    # Both differences are about eps^2/2: bounds of e must be closer than that.
    bits = 96 + 2 * epsilon.denominator.bit_length()
    return decide(epsilon, lambda e: floor(size * (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon))), bits)
