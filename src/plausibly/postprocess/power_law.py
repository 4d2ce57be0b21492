"""The post-processing step for data in which a few items are common and most are rare."""

from __future__ import annotations

from functools import cache
from math import expm1, log, sqrt

import numpy as np
import numpy.typing as npt

from .simplex import norm_sub

Floats = npt.NDArray[np.float64]

_FAR = 12.0
"""Number of standard deviations from 0 beyond which a count is certainly not small."""
_STEP = 1 / 8
_NODES = 1025


def power_ns(values: Floats, total: Floats, variance: Floats) -> Floats:
    """Posterior means of counts that follow a fitted power law, then norm-sub.

    Wang et al. (2020): a count x has the prior density x^−s on [lowest, n], and its estimate is normal around x. Here s
    is chosen so that the prior has the mean n/d (the authors match the noisy mean of the estimates). They use
    lowest = 1, which fits no power law if n/d < 1; here it is at most a tenth of n/d, and scales with each item's σ if
    these differ.
    """
    means = np.empty_like(values)
    for row in np.ndindex(values.shape[:-1]):
        means[row] = _posterior_means(values[row], float(total[row][0]), variance[row])
    return norm_sub(means, total)


def _posterior_means(values: Floats, n: float, variance: Floats) -> Floats:
    typical = sqrt(float(variance.mean()))
    if n == 0 or typical == 0:
        return np.maximum(values, 0.0)
    mean = n / len(values)
    lowest = min(1.0, mean / 10)
    exponent = _fitted_exponent(mean / lowest, log(n / lowest))
    noise = np.sqrt(variance)
    noise = np.where(noise > 0, noise, 1e-9 * typical)
    z = values / noise
    near = np.clip(z, -_FAR, _FAR)
    means = np.where(z <= _FAR, _interpolated(near, exponent, lowest / typical, n / typical), _far(z, exponent))
    result: Floats = np.clip(means * noise, 0.0, n)
    return result


def _fitted_exponent(mean: float, span: float) -> float:
    # The s in [0, 3] whose density x^−s on [1, e^span] has this mean or the nearest possible one, by bisection: the
    # mean falls with s.
    low, high = 0.0, 3.0
    for _ in range(50):
        middle = (low + high) / 2
        if _integral(2 - middle, span) > mean * _integral(1 - middle, span):
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _integral(power: float, span: float) -> float:
    # The integral of x^(power − 1) from 1 to e^span.
    return span if abs(power) < 1e-12 else expm1(power * span) / power


def _interpolated(z: Floats, exponent: float, lowest: float, highest: float) -> Floats:
    # The posterior mean in standard deviations is a smooth function of z, and its slope is the posterior variance. A
    # table of both with cubic interpolation costs about the same for ten items as for a million.
    log_x = np.linspace(log(lowest), log(min(highest, 2 * _FAR)), _NODES)
    x = np.exp(log_x)
    grid = np.arange(-_FAR, _FAR + 1.5 * _STEP, _STEP)
    log_density = (1 - exponent) * log_x - (grid[:, np.newaxis] - x) ** 2 / 2
    weights = np.exp(log_density - log_density.max(axis=1, keepdims=True)) * _simpson()
    whole, first, second = (weights @ np.stack([np.ones(_NODES), x, x**2], axis=1)).T
    mean = first / whole
    slope = (second / whole - mean**2) * _STEP
    place = (z + _FAR) / _STEP
    i = place.astype(np.int64)
    t = place - i
    # Cubic Hermite interpolation, with the coefficients of each interval computed once.
    rise = np.diff(mean)
    quadratic = 3 * rise - 2 * slope[:-1] - slope[1:]
    cubic = slope[:-1] + slope[1:] - 2 * rise
    result: Floats = mean[i] + t * (slope[i] + t * (quadratic[i] + t * cubic[i]))
    return result


def _far(z: Floats, exponent: float) -> Floats:
    # Laplace's approximation with its first correction: mode − s·v²/mode³, where v is the variance at the mode.
    z = np.maximum(z, _FAR)
    mode = z * (1 + np.sqrt(1 - 4 * exponent / z / z)) / 2
    curvature = exponent / mode / mode
    result: Floats = mode - curvature / (1 - curvature) ** 2 / mode
    return result


@cache
def _simpson() -> Floats:
    weights = np.full(_NODES, 2.0)
    weights[1::2] = 4.0
    weights[[0, -1]] = 1.0
    return weights
