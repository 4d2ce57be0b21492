"""MEAN: one bit, whose probability is linear in the value; for the mean alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ..core.blanket import Atom, Blanket
from ..core.domain import InOrder, Integers
from ..core.errors import ParameterError
from ..core.laws import Cells
from ..core.probability import WORD, keep_threshold
from ..core.randomness import Draws, Layout
from ..core.records import exact_sum, refuse_beyond, refuse_cells
from ..core.scheme import Encoded, Reports, Scheme
from .mean_of_bits import MeanOfBits

MOST_PLACES = 2**40
"""Number of steps between the first and the last item at most: bins whose middles need more are rounded to these."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MEAN(Scheme):
    """One bit of the value: 1 with a probability that grows linearly with it (Duchi, Jordan, Wainwright, JASA 2018).

    Also known as 1BitMean (Ding, Kulkarni, Yekhanin, NIPS 2017). Item x has the place k(x), a whole number:
    x itself, or that of its bin's middle. The bit is 1 with probability T(x)/2^64, T(x) = T0 + s*k(x), where
    T0 = 2^64 - floor(2^64*e^eps/(e^eps + 1)) and s = floor((2^64 - 2*T0)/K), K the last place.
    Privacy: all T lie between T0 and 2^64 - T0, whose ratio is at most e^eps.
    Estimates: ``tally.mean()``, unbiased: a report counts as the place (2^64*bit - T0)/s. There are no counts of items.
    Variance: that of one report is (2^64/s)^2 * p(1-p), p = T(x)/2^64. Reports do not tell how it is spread over users;
    intervals have the largest possible one, n*p(1-p) at the mean probability p, which is also that of users who are a
    random sample.
    Cost: 1 byte a report, 2 counters, O(1) client.

    >>> import plausibly
    >>> scheme = MEAN(epsilon=1, domain=plausibly.Ordered(0, 120, unit="years"))
    >>> tally = scheme.simulate({30: 6000, 40: 4000}, plausibly.SeededRandom(1))
    >>> tally.mean()
    <mean: 34.1 [31.6, 36.6]>
    """

    name = "MEAN"
    accepts = (InOrder,)

    def validate(self) -> None:
        super().validate()
        if self.domain.other:
            raise ParameterError("domain: MEAN needs values in the order only, got an item for other values")
        if self.step < 1:
            raise ParameterError("epsilon: expected more, or fewer items: 64-bit probabilities cannot tell them apart")

    @property
    def parameters(self) -> dict[str, Any]:
        return {}

    @cached_property
    def places(self) -> Sequence[int]:
        """The place of each item, from 0 to the last one, linear in the value that the mean is about."""
        order = cast(InOrder, self.domain)
        return order.scale.middle_places(MOST_PLACES) or range(self.size)

    @cached_property
    def first(self) -> int:
        """Probability that the bit of the first item is 1, times 2^64; the mean is computed from it."""
        return WORD - keep_threshold(self.epsilon, 1, 1)

    @cached_property
    def step(self) -> int:
        """Increase of the bit's probability from one place to the next, times 2^64; the mean is computed from it."""
        # Floor: a larger step would exceed epsilon at the last item.
        return (WORD - 2 * self.first) // self.places[-1]

    @property
    def derived(self) -> dict[str, Any]:
        listed = {} if isinstance(self.places, range) else {"places": list(self.places)}
        return {"first": str(self.first), "step": str(self.step), **listed}

    @property
    def report_dtype(self) -> np.dtype[np.void]:
        return np.dtype([("bit", np.uint8)])

    @property
    def report_bits(self) -> int:
        return 1

    @property
    def layout(self) -> Layout:
        return Layout(dense=1)

    @property
    def cell_shape(self) -> tuple[int, ...]:
        return (2,)

    def respond(self, values: Encoded, draws: Draws, out: Reports) -> npt.NDArray[np.int64]:
        places = values if isinstance(self.places, range) else self._listed[values]
        thresholds = np.uint64(self.first) + np.uint64(self.step) * places
        out["bit"] = draws.words[:, 0] < thresholds
        return np.zeros(0, dtype=np.int64)

    @cached_property
    def _listed(self) -> npt.NDArray[np.uint64]:
        return np.array(self.places, dtype=np.uint64)

    def check(self, reports: Reports) -> None:
        refuse_beyond(reports["bit"], 2, "a bit, 0 or 1")

    def fold(self, cells: Cells, reports: Reports) -> None:
        cells += np.bincount(reports["bit"], minlength=2)

    def check_cells(self, cells: Cells, n: int) -> None:
        super().check_cells(cells, n)
        refuse_cells(exact_sum(cells) != n)

    def estimator(self) -> MeanOfBits:
        ends = cast(InOrder, self.domain).scale.first_and_last()
        return MeanOfBits(self.first, self.step, self.places, ends)

    def mean_variance(self, counts: npt.NDArray[Any]) -> float:
        """Variance of the mean in a crowd with these counts of all items, by the exact law, on the domain's scale."""
        decoder, users = self.estimator(), int(np.sum(counts))
        held = np.flatnonzero(counts).tolist()
        total = sum((int(counts[item]) * decoder.variance_of_one(item) for item in held), Fraction(0))
        return float(total / users**2) * decoder.unit * decoder.unit

    def shrunk(self, size: int) -> MEAN:
        return replace(self, domain=Integers(size))

    def blanket(self) -> Blanket:
        # The ratio of two items is a convex function of their places, so that the first and the last differ most.
        first, last = (Fraction(self.first + self.step * self.places[end], WORD) for end in (0, -1))
        return Blanket((Atom(first, last / first, Fraction(1)), Atom(1 - last, Fraction(1), (1 - first) / (1 - last))))

    def likelihood(self, report: np.void, item: int) -> Fraction:
        p = Fraction(self.first + self.step * self.places[item], WORD)
        return p if report["bit"] else 1 - p
