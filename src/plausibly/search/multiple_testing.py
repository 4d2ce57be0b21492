"""Significance among many candidates at once: Bonferroni's correction."""

from __future__ import annotations

from statistics import NormalDist

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


def least_score(level: float | None, candidates: int) -> float:
    """Least significant standard score in multiple testing of candidates; −inf if the level is None."""
    if level is None:
        return -np.inf
    return NormalDist().inv_cdf(1 - significance_level(level) / candidates)


def adjusted(scores: Floats, candidates: int) -> Floats:
    """p-values adjusted for multiple testing: chance that noise alone lifts any candidate to each score."""
    chances = [min(1.0, candidates * NormalDist().cdf(-score)) for score in scores.tolist()]
    return np.array(chances, dtype=np.float64)
