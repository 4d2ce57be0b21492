"""Post-processing steps that set some estimates to 0 and keep or scale the others."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# Relative tolerance: values that sum to n up to rounding count as summing to n.
_ROUNDING = 1e-9


def base(values: Floats, variance: Floats | None = None) -> tuple[Floats, Floats | None]:
    """The estimates as they are, without clipping: unbiased, with their variance.

    Paper, section 6 (1). The other steps trade bias for less noise; use this one for single items, intervals and
    rankings.
    """
    return values.copy(), None if variance is None else variance.copy()


def base_pos(values: Floats) -> Floats:
    """Negative estimates are clipped to 0, the others stay.

    Paper, section 6 (2). No estimate is further from the truth than with ``base``, but the sum is too large.
    """
    return np.maximum(values, 0.0)


def base_cut(values: Floats, total: Floats) -> Floats:
    """The largest estimates until their sum exceeds n, the others clipped to 0.

    Paper, section 6 (5): the item that crosses n is kept; if the sum never exceeds n, nothing is cut, not even negative
    values. Among equal estimates, the first in the domain are kept. What Wang et al. (2020) call Base-Cut is
    ``significance-cut``.
    """
    ordered = -np.sort(-values, axis=-1)
    exceeded = np.cumsum(ordered, axis=-1) > total
    first = np.argmax(exceeded, axis=-1, keepdims=True) + 1
    count = np.where(exceeded.any(axis=-1, keepdims=True), first, values.shape[-1])
    return np.where(_largest(values, ordered, count), values, 0.0)


def norm_cut(values: Floats, total: Floats) -> Floats:
    """The largest positive estimates whose sum stays within n, the others clipped to 0.

    Wang et al. (2020): clip at 0, then drop the smallest until the sum is at most n; if it is below n from the start,
    no positive estimate is dropped. Among equal estimates, the last in the domain are dropped first. The authors'
    program instead keeps the item that crosses n and scales the sum to n.
    """
    positive = np.maximum(values, 0.0)
    ordered = -np.sort(-positive, axis=-1)
    within = np.cumsum(ordered, axis=-1) <= total * (1 + _ROUNDING)
    count = np.count_nonzero(within, axis=-1, keepdims=True)
    return np.where(_largest(positive, ordered, count), positive, 0.0)


def norm_mul(values: Floats, total: Floats) -> Floats:
    """Negative estimates are clipped to 0, the others scaled so that the sum is n.

    Wang et al. (2020). If no estimate is positive, every item gets the same share.
    """
    positive = np.maximum(values, 0.0)
    largest = positive.max(axis=-1, keepdims=True)
    # Divided by the largest first: a sum of very large or very small values would overflow or vanish.
    scaled: Floats = np.divide(positive, largest, out=np.ones_like(positive), where=largest > 0)
    scaled *= total / scaled.sum(axis=-1, keepdims=True)
    return scaled


def _largest(values: Floats, ordered: Floats, count: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    # Mask of the `count` largest values, ties in the order of the domain. Without argsort, which takes ten times as
    # long as a sort.
    edge = np.take_along_axis(ordered, np.maximum(count - 1, 0), axis=-1)
    above: npt.NDArray[np.bool_] = values > edge
    equal = values == edge
    wanted = count - np.count_nonzero(above, axis=-1, keepdims=True)
    above |= equal & (np.cumsum(equal, axis=-1) <= wanted)
    return above
