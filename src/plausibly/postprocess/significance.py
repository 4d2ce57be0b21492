"""The post-processing step that keeps only significant estimates."""

from __future__ import annotations

from numbers import Real
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from ..core.errors import ParameterError
from ..core.wording import shown

Floats = npt.NDArray[np.float64]


def significance_cut(values: Floats, variance: Floats, *, alpha: float = 0.05) -> Floats:
    """Significant estimates, above σΦ⁻¹(1 − α/d), stay, the others become 0.

    With probability about 1 − alpha, no item without holders is kept (Bonferroni over the d given items, so cut before
    you select the top items). σ is each item's own standard error. Wang et al. (2020) call this Base-Cut.
    """
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or not 0 < alpha < 1:
        raise ParameterError(f"alpha: expected a number strictly between 0 and 1, got {shown(alpha)}")
    # Minus the lower quantile, because 1 − α/d would lose digits; at least 0, even for one item with alpha > 1/2.
    quantile = max(-NormalDist().inv_cdf(float(alpha) / values.shape[-1]), 0.0)
    return np.where(values > quantile * np.sqrt(variance), values, 0.0)
