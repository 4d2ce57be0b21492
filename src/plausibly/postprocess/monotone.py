"""The post-processing step for items in order: a distribution function rises."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..core.isotonic import rising

Floats = npt.NDArray[np.float64]


def monotone(values: Floats, total: Floats) -> Floats:
    """Counts whose running sums rise: those nearest to the estimated distribution function.

    The isotonic regression of the running sums, clipped to [0, n]; the last sum is n. Its differences are the counts,
    none of which is negative. Ranges, the distribution function and quantiles keep their intervals.
    """
    rows = values.reshape(-1, values.shape[-1])
    totals = np.broadcast_to(total, (*values.shape[:-1], 1)).reshape(-1)
    found = [np.diff(rising(np.cumsum(row), n), prepend=0.0) for row, n in zip(rows, totals.tolist(), strict=True)]
    return np.stack(found).reshape(values.shape)
