"""The step that keeps only what noise alone would hardly produce."""

from __future__ import annotations

from numbers import Real
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from ..core.errors import ParameterError
from ..core.wording import shown

Floats = npt.NDArray[np.float64]


def significance_cut(values: Floats, variance: Floats, *, alpha: float = 0.05) -> Floats:
    """Estimates above σΦ⁻¹(1 − α/d) stay, the others become 0.

    With probability about 1 − alpha no item that nobody holds is kept (Bonferroni over the d items at hand; so cut
    first, and take the top afterwards). σ is each item's own. Wang et al. (2020) call this Base-Cut.
    """
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or not 0 < alpha < 1:
        raise ParameterError(f"alpha: expected a number strictly between 0 and 1, got {shown(alpha)}")
    # The upper quantile as minus the lower one: 1 − α/d would lose digits. One item at alpha > 1/2 is still positive.
    quantile = max(-NormalDist().inv_cdf(float(alpha) / values.shape[-1]), 0.0)
    return np.where(values > quantile * np.sqrt(variance), values, 0.0)
