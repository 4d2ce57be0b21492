"""Steps that set some estimates to zero and leave or scale the others."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# Values that sum to n up to rounding sum to n.
_ROUNDING = 1e-9


def base(values: Floats, variance: Floats | None = None) -> tuple[Floats, Floats | None]:
    """The estimates as they are: unbiased, with their variance.

    Paper, section 6 (1). The other steps trade bias for less noise; single items, intervals and rankings want this.
    """
    return values.copy(), None if variance is None else variance.copy()


def base_pos(values: Floats) -> Floats:
    """Negative estimates become 0, the others stay.

    Paper, section 6 (2). Never further from the truth than ``base``, for any item; the sum is too large.
    """
    return np.maximum(values, 0.0)


def base_cut(values: Floats, total: Floats) -> Floats:
    """The largest estimates until their sum exceeds n, the others 0.

    Paper, section 6 (5): the item that crosses n is kept, and if none does nothing is cut, not even negative values.
    Of equal estimates the first in the domain are kept. Wang et al. (2020) call ``significance-cut`` Base-Cut.
    """
    ordered = -np.sort(-values, axis=-1)
    exceeded = np.cumsum(ordered, axis=-1) > total
    first = np.argmax(exceeded, axis=-1, keepdims=True) + 1
    count = np.where(exceeded.any(axis=-1, keepdims=True), first, values.shape[-1])
    return np.where(_largest(values, ordered, count), values, 0.0)


def norm_cut(values: Floats, total: Floats) -> Floats:
    """The largest positive estimates whose sum stays within n, the others 0.

    Wang et al. (2020): clip at 0, then drop the smallest until the sum is at most n; with less than n nothing positive
    is dropped. Of equal estimates the last in the domain go first. The authors' program keeps the item that crosses n
    and scales to n instead.
    """
    positive = np.maximum(values, 0.0)
    ordered = -np.sort(-positive, axis=-1)
    within = np.cumsum(ordered, axis=-1) <= total * (1 + _ROUNDING)
    count = np.count_nonzero(within, axis=-1, keepdims=True)
    return np.where(_largest(positive, ordered, count), positive, 0.0)


def norm_mul(values: Floats, total: Floats) -> Floats:
    """Negative estimates become 0, the others are scaled so that the sum is n.

    Wang et al. (2020). Where no estimate is positive every item gets the same share.
    """
    positive = np.maximum(values, 0.0)
    largest = positive.max(axis=-1, keepdims=True)
    # By the largest first: a sum of very large or very small values would overflow or vanish.
    scaled: Floats = np.divide(positive, largest, out=np.ones_like(positive), where=largest > 0)
    scaled *= total / scaled.sum(axis=-1, keepdims=True)
    return scaled


def _largest(values: Floats, ordered: Floats, count: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
    # Which values are the first `count` in decreasing order, ties in the order of the domain: no argsort, which would
    # take ten times as long as the sort.
    edge = np.take_along_axis(ordered, np.maximum(count - 1, 0), axis=-1)
    above: npt.NDArray[np.bool_] = values > edge
    equal = values == edge
    wanted = count - np.count_nonzero(above, axis=-1, keepdims=True)
    above |= equal & (np.cumsum(equal, axis=-1) <= wanted)
    return above
