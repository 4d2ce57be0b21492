"""Significance among many candidates at once: Bonferroni's correction."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..core.errors import ParameterError
from ..core.words import Setting, Words

Floats = npt.NDArray[np.float64]


def significance_level(given: object) -> float:
    """The given significance level for multiple testing, checked."""
    if isinstance(given, bool) or not isinstance(given, int | float | np.number) or not 0 < float(given) < 1:
        raise ParameterError(Words(Setting("level"), ": expected a number strictly between 0 and 1"))
    return float(given)


def adjusted(chances: Floats) -> Floats:
    """p-values adjusted for multiple testing, given for each candidate the chance that noise alone reaches it."""
    return np.minimum(1.0, len(chances) * chances)
