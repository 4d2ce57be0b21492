"""Estimate items from the bits of Bloom filters by a non-negative regression on candidates."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from numbers import Real
from statistics import NormalDist
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from ..core.errors import ParameterError, StateError
from ..core.history import History, decoding
from ..core.laws import Cells, Codes, Estimator, Floats, Scores
from ..core.parallel import in_chunks
from ..core.wording import shown
from .hashing import Hashing, hashes_of

Numbers = npt.NDArray[np.int64]

_ITEMS_AT_ONCE = 1 << 14
_NEW_AT_ONCE = 1 << 12
_SLACK = 0.01
"""Tolerance of the solver, in standard errors: the largest deviation from the penalty."""


class Filters(Hashing, Protocol):
    """Bloom filters with the same number of hash functions in each channel."""

    @property
    def channels(self) -> int: ...


@dataclass(frozen=True)
class Regression:
    """Counts of the candidates that best explain which bits are common (RAPPOR, section 4).

    The share of a channel's users who have a bit is regressed on the candidates that have it, weighted by the known
    noise, with a constant for users who hold no candidate. Penalties are in standard errors of the count of a single
    item. First the non-negative LASSO with penalty z = Phi^-1(1 - 1/N) selects among N candidates, so that noise alone
    lets through about one. Then non-negative ridge regression with penalty ``alpha`` estimates the counts of the
    selected candidates; a single item shrinks by the factor 1/(1 + alpha). No penalty is tuned to the data.
    """

    filters: Filters
    bit: Estimator
    """Estimator for the bits of one channel."""
    alpha: float
    law: ClassVar[None] = None

    def __post_init__(self) -> None:
        if isinstance(self.alpha, bool) or not isinstance(self.alpha, Real) or not 0 <= self.alpha < inf:
            raise ParameterError(f"alpha: expected a number of at least 0, got {shown(self.alpha)}")

    @property
    def history(self) -> History:
        return (decoding("non-negative regression"),)

    def scores(self, state: Cells, n: Numbers, codes: Codes | None, /) -> Scores:
        raise StateError("BLOOM decodes by a regression, which has no integer scores; ask for estimates")

    def estimate(self, state: Cells, n: Numbers, codes: Codes | None) -> tuple[Floats, Floats | None]:
        asked = np.arange(self.filters.listed_size or 0, dtype=np.uint64) if codes is None else codes
        # A candidate that is requested twice enters once: a regression cannot tell two equal columns apart.
        candidates, where = np.unique(asked, return_inverse=True)
        values = np.zeros(len(candidates))
        if len(candidates) and n.any():
            self._regress(values, state, n, candidates)
        return values[where], None

    def _regress(self, values: Floats, state: Cells, n: Numbers, candidates: Codes) -> None:
        models = _linear_models()
        shares, weights = self._evidence(state, n)
        # The standard error of the share of a single item. Scaled by it, every coefficient is in standard errors.
        unit = 1 / np.sqrt(self._hashes * weights.sum() / self.filters.width)
        chosen = np.arange(len(candidates))
        if len(candidates) > 2:  # otherwise z is 0, and all are selected
            z = NormalDist().inv_cdf(1 - 1 / len(candidates))
            lasso = models.Lasso(z / weights.sum(), positive=True, tol=1e-6, max_iter=10_000)
            chosen = self._selected(lasso, z, shares, weights, candidates, unit)
        if len(chosen):
            ridge = models.Ridge(self.alpha, positive=True, tol=1e-9, max_iter=10_000)
            ridge.fit(self._design(candidates[chosen], unit), shares, sample_weight=weights)
            values[chosen] = ridge.coef_ * unit * int(n.sum())

    def _selected(
        self, lasso: Any, z: float, shares: Floats, weights: Floats, candidates: Codes, unit: float
    ) -> Numbers:
        # The LASSO on all candidates, solved on few: candidates on which the residuals pull by more than the penalty
        # join until there are none; the LASSO would give all the others a coefficient of 0 anyway.
        active, coefficients = np.zeros(0, dtype=np.int64), np.zeros(0)
        residuals = shares - np.average(shares, weights=weights)
        while True:
            pulls = self._sums((weights * residuals * unit).reshape(-1, self.filters.width), candidates)
            pulls[active] = 0
            strongest = np.argsort(-pulls, kind="stable")[:_NEW_AT_ONCE]
            joining = strongest[pulls[strongest] > z + _SLACK]
            if not len(joining):
                return active[coefficients > 0]
            active = np.concatenate([active, joining])
            design = self._design(candidates[active], unit)
            lasso.fit(design, shares, sample_weight=weights)
            coefficients, residuals = lasso.coef_, shares - lasso.predict(design)

    @property
    def _hashes(self) -> int:
        return len(self.filters.seeds) // self.filters.channels

    def _evidence(self, state: Cells, n: Numbers) -> tuple[Floats, Floats]:
        # For each bit of each channel: the share of users who have it, and 1/variance of that share.
        shares, weights = np.zeros((2, len(state), self.filters.width))
        chance = 1 - (1 - 1 / self.filters.width) ** self._hashes
        for channel in np.flatnonzero(n):
            users = int(n[channel])
            values, variance = self.bit.estimate(state[channel], users, None)
            assert variance is not None  # a bit has a variance law
            shares[channel] = values / users
            # The users of a channel are themselves a sample.
            weights[channel] = users**2 / (variance.mean() + users * chance * (1 - chance))
        return shares.reshape(-1), weights.reshape(-1)

    def _sums(self, table: Floats, candidates: Codes) -> Floats:
        # For each candidate, the sum of the table over its bits.
        def work(first: int, last: int) -> Floats:
            sums = np.zeros(last - first)
            for function in range(len(self.filters.seeds)):
                sums += table[function // self._hashes, self._bits(function, candidates[first:last])]
            return sums

        return np.concatenate([*in_chunks(len(candidates), _ITEMS_AT_ONCE, work)])

    def _design(self, candidates: Codes, unit: float) -> Any:
        from scipy.sparse import csc_array

        functions, width = len(self.filters.seeds), self.filters.width
        rows = np.empty((len(candidates), functions), dtype=np.int32)  # scikit-learn accepts no wider integers
        for function in range(functions):
            rows[:, function] = self._bits(function, candidates)
            rows[:, function] += function // self._hashes * width
        ends = np.arange(0, rows.size + 1, functions, dtype=np.int32)
        shape = self.filters.channels * width, len(candidates)
        design = csc_array((np.ones(rows.size), rows.reshape(-1), ends), shape=shape)
        # A filter is an OR: two functions that hash to the same bit set it once.
        design.sum_duplicates()
        design.data[:] = unit
        return design

    def _bits(self, function: int, candidates: Codes) -> npt.NDArray[np.uint32]:
        return hashes_of(self.filters, function, candidates, self.filters.width)


def _linear_models() -> Any:
    try:
        from sklearn import linear_model
    except ImportError as error:
        raise ImportError("estimates of BLOOM need scikit-learn: pip install scikit-learn") from error
    return linear_model
