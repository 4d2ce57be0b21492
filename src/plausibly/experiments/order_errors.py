"""Errors of estimated distributions of ordered values: of ranges, of the distribution function and of quantiles.

All of them are shares of the users. The mean over all ranges needs no list of ranges: a range is the difference of two
prefixes, and the squares of all differences follow from the sum of the prefixes and of their squares.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.bound import Workload
from ..core.isotonic import rising
from ..core.laws import choose_estimator
from ..core.linear import predicted_of, range_variance
from ..core.scheme import Scheme

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

DECILES = np.arange(1, 10) / 10

_ranges = lru_cache(maxsize=8)(Workload.of_ranges)


def order_errors(values: Floats, truth: Counts) -> dict[str, float]:
    """Measured errors of estimated counts of items in order, as shares of the users.

    ``range_mse`` is the mean squared error over all ranges, ``cdf_error`` the mean and ``cdf_worst`` the largest error
    of the distribution function, ``quantile_error`` the mean error of the nine deciles: the distance between the share
    that is asked for and the shares that the found item has.
    """
    n = int(truth.sum())
    right, found = np.cumsum(truth) / n, np.cumsum(values) / n
    off = found - right
    return {
        "range_mse": range_variance(float(off @ off), float(off.sum()) ** 2, len(off)),
        "cdf_error": float(np.abs(off).mean()),
        "cdf_worst": float(np.abs(off).max()),
        "quantile_error": _quantile_error(found, right),
    }


def range_theory(scheme: Scheme, truth: Counts, options: dict[str, Any]) -> float | None:
    """The squared error of ranges that theory predicts: their mean variance by the scheme's law; None without one."""
    n = int(truth.sum())
    law = predicted_of(choose_estimator(scheme.estimator, options), truth.astype(np.float64), n)
    return None if law is None else law.range_variance(len(truth)) / n**2


def range_optimum(d: int, n: int, epsilon: float) -> dict[str, float]:
    """The least possible mean squared error over all ranges of unbiased estimates, for users who are spread evenly."""
    return {"range_mse_optimum": _ranges(d).bound(epsilon) / n}


def _quantile_error(found: Floats, right: Floats) -> float:
    # An item is a right quantile for all shares between those of the users below it and of the users up to it.
    items = np.searchsorted(rising(found, 1.0), DECILES).clip(0, len(right) - 1)
    below, up_to = np.append(0.0, right)[items], right[items]
    return float(np.maximum(np.maximum(below - DECILES, DECILES - up_to), 0.0).mean())
