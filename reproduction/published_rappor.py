"""RAPPOR as the paper's program computes it: a client that never clears a bit, and a regression with fixed penalties.

Where the published client should clear a set bit with probability f/2, it leaves the bit as it is. A zero in a report
then proves that the user does not have the items of that bit: such a report protects nobody at any ε. For that reason
no client and no scheme is made here, only the sum of the bits that a whole simulated crowd would send.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import exp
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from plausibly import StateError
from plausibly.experiments import Cell, Measured, View, crowd, errors

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

NOT_PRIVATE = "RAPPOR as published, not private"
CLEARED = "RAPPOR, published regression"

_LASSO_FROM = 1000
"""Largest domain that is estimated without first selecting items."""
_LASSO_PENALTY = 0.8

_crowd = lru_cache(maxsize=1)(crowd)


@dataclass(frozen=True, eq=False)
class Filters:
    """Bloom filters of all items in all cohorts, with hash functions drawn at random."""

    design: Any
    """Sparse matrix: 1 where the item of a column has the bit of a row; the rows go cohort by cohort."""
    cohorts: int

    @property
    def cohort_of(self) -> Numbers:
        """The cohort of each row."""
        bits: int = self.design.shape[0]
        return np.arange(bits) // (bits // self.cohorts)


def drawn_filters(items: int, bits: int, hashes: int, cohorts: int, rng: np.random.Generator) -> Filters:
    """Filters of ``items`` items with ``hashes`` independent hash functions in each cohort."""
    from scipy.sparse import csc_array

    functions = np.arange(cohorts * hashes)
    rows = rng.integers(bits, size=(items, len(functions)), dtype=np.int32)
    rows += (functions // hashes * bits).astype(np.int32)
    ends = np.arange(0, rows.size + 1, len(functions), dtype=np.int32)
    design = csc_array((np.ones(rows.size), rows.reshape(-1), ends), shape=(cohorts * bits, items))
    # Two functions that hash to the same bit set it once.
    design.sum_duplicates()
    design.data[:] = 1
    return Filters(design, cohorts)


def estimated_bits(filters: Filters, truth: Numbers, f: float, rng: np.random.Generator, *, clears: bool) -> Floats:
    """Estimated number of users with each bit, from the simulated bits of the whole crowd.

    A bit that is not set is sent as 1 with probability f/2, and a set bit with probability 1 − f/2, or always unless
    the client ``clears``. Both clients are decoded as if they cleared bits: with one that does not, the estimates
    are too high by a factor of (1 − f/2)/(1 − f).
    """
    members = rng.multinomial(truth, np.full(filters.cohorts, 1 / filters.cohorts))
    by_cohort = filters.design @ members
    holders = by_cohort[np.arange(len(by_cohort)), filters.cohort_of].astype(np.int64)
    users = members.sum(axis=0)[filters.cohort_of]
    kept = rng.binomial(holders, 1 - f / 2) if clears else holders
    ones = kept + rng.binomial(users - holders, f / 2)
    return np.asarray((ones - f / 2 * users) / (1 - f))


def selected(filters: Filters, bits: Floats) -> Numbers:
    """The items that the program's first regression keeps: all in a small domain, else those of a LASSO."""
    if filters.design.shape[1] <= _LASSO_FROM:
        return np.arange(filters.design.shape[1])
    lasso = _linear_models().Lasso(_LASSO_PENALTY, positive=True).fit(filters.design, bits)
    return np.flatnonzero(lasso.coef_)


def counts(filters: Filters, bits: Floats, items: Numbers, alpha: float) -> Floats:
    """Counts of all items by the program's second regression, on the selected items.

    The program minimises |y − Xw|²/2N + α|w|²/2 over w ≥ 0, for N bits in all cohorts: a ridge regression with penalty
    N·α. An item that shares no bit with another shrinks by a factor of h/(h + Nα) if it has h bits in all cohorts.
    """
    estimates, design = np.zeros(filters.design.shape[1]), filters.design[:, items]
    if len(items) == 0:
        return estimates
    models = _linear_models()
    if alpha:
        ridge = models.Ridge(len(bits) * alpha, positive=True, fit_intercept=False, tol=1e-9, max_iter=10_000)
        fitted = ridge.fit(design, bits)
    else:  # Nothing but an exact solver finds the minimum among nearly equal columns.
        fitted = models.LinearRegression(positive=True, fit_intercept=False).fit(design.toarray(), bits)
    estimates[items] = fitted.coef_ * filters.cohorts
    return estimates


def flip_rate(epsilon: float, hashes: int) -> float:
    """RAPPOR's f: the share of bits replaced by a fair coin, for filters that differ in at most 2·``hashes`` bits."""
    return 2 / (1 + exp(epsilon / (2 * hashes)))


def _on_one_thread() -> Any:
    # The processes of a run are busy already; waiting for more threads takes ten times as long as the regression.
    from threadpoolctl import threadpool_limits  # comes with scikit-learn

    return threadpool_limits(1)


def _linear_models() -> Any:
    try:
        from sklearn import linear_model
    except ImportError as error:
        raise ImportError("RAPPOR's regression needs scikit-learn: pip install scikit-learn") from error
    return linear_model


# --- as measures, and as schemes that cannot be had --------------------------------------------------------------


def _measure(clears: bool, cell: Cell, views: Sequence[View], number: int) -> Measured:
    truth, rng = _crowd(cell.data, cell.n, cell.d, cell.data_seed), np.random.default_rng(cell.seed("noise", number))
    hashes = cell.parameters["hashes"]
    filters = drawn_filters(cell.d, cell.parameters["bits"], hashes, cell.parameters["cohorts"], rng)
    bits = estimated_bits(filters, truth, flip_rate(cell.epsilon, hashes), rng, clears=clears)
    with _on_one_thread():
        items = selected(filters, bits)
        return {}, {view.key: errors(counts(filters, bits, items, **view.keywords), truth) for view in views}


def _refused(name: str, **_: Any) -> NoReturn:
    raise StateError(
        f"{name}: expected a scheme for collecting data, got one that exists only as a simulation;"
        " to collect with RAPPOR, use plausibly.RAPPOR"
    )


MEASURED: Mapping[str, Callable[[Cell, Sequence[View], int], Measured]] = {
    NOT_PRIVATE: partial(_measure, False),
    CLEARED: partial(_measure, True),
}
"""Measures of the published RAPPOR by the scheme name in cells: with the published client, and with a correct one."""

REFUSED: Mapping[str, Callable[..., NoReturn]] = {name: partial(_refused, name) for name in MEASURED}
"""The same names as schemes: making one raises an error."""
