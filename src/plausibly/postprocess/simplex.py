"""Post-processing steps that shift the estimates to the sum n: projection onto the simplex, and a single pass."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def norm_sub(values: Floats, total: Floats) -> Floats:
    """The nearest counts on the simplex, which are not negative and sum to n: max(f + δ, 0).

    This is the Euclidean projection onto the simplex (Wang et al. 2020; Duchi et al. 2008), the same as ``simplex``.
    The Norm-Sub of the paper's section 6 (3) is one pass of it: ``norm-sub-once``.
    """
    # Relative to the largest value, all values that stay positive are within n of 0: no cancellation, however large.
    below = values - values.max(axis=-1, keepdims=True)
    ordered = -np.sort(-below, axis=-1)
    shifts = (total - np.cumsum(ordered, axis=-1)) / np.arange(1, values.shape[-1] + 1)
    count = np.maximum(np.count_nonzero(ordered + shifts > 0, axis=-1, keepdims=True), 1)
    shift = np.take_along_axis(shifts, count - 1, axis=-1)
    # One Newton step removes the rounding error of the running sum, which grows with the number of items.
    shift = shift + (total - np.maximum(below + shift, 0.0).sum(axis=-1, keepdims=True)) / count
    result: Floats = np.maximum(below + shift, 0.0)
    return result


def simplex(values: Floats, total: Floats) -> Floats:
    """Projection on the probability simplex, times n: the same as norm-sub.

    Paper, section 6 (4). The paper lists both, because its Norm-Sub is a single pass.
    """
    return norm_sub(values, total)


def norm_sub_once(values: Floats, total: Floats) -> Floats:
    """One pass towards the simplex: negative estimates become 0, the others move by one δ to the sum n.

    Paper, section 6 (3), to the letter: δ is computed once, so small estimates may become negative. If no estimate is
    positive, every item gets the same share.
    """
    positive = values > 0
    positive |= ~positive.any(axis=-1, keepdims=True)
    kept = np.where(positive, np.maximum(values, 0.0), 0.0)
    count = np.count_nonzero(positive, axis=-1, keepdims=True)
    shift = (total - kept.sum(axis=-1, keepdims=True)) / count
    return np.where(positive, kept + shift, 0.0)
