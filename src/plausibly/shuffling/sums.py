"""Expected excess of a sum of many independent numbers over zero, enclosed between two bounds.

For θ > 0, (s)_+ is the integral of e^(zs)/z² over the line z = θ + it, divided by 2π, and (1 - e^-s)_+ that of
e^(zs)/(z(z+1)). So the expectation over a sum S of n copies of X is the integral of M(z)^n times the same kernel, where
M is the moment generating function of X: no grid of values, no convolution, and the same work for every n. At the θ
where the integrand is largest in the middle, all numbers are in proportion to the answer, however small that is.

Both bounds are proved in docs/adr/0042-shuffling.md:
- S gets a little Gaussian noise, which makes the integrand vanish far out. That raises (S)_+ by Jensen's inequality,
  and (1 - e^-S)_+ because it is the loss of one more release. The lower bound subtracts what it can raise.
- The integral is a sum over a lattice. By Poisson's formula its error is a sum of positive terms.
- The rest of the lattice and the rounding of floating point are bounded and added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Complexes = npt.NDArray[np.complex128]

FINE = 1e-3
"""Noise in standard deviations of the sum: its variance grows by a millionth."""
COARSE = 1e-2
_PERIOD = 32.0
"""Distance of the copies in Poisson's formula, in standard deviations of the tilted sum."""
_REACH = 8.5
"""Where the lattice ends, in standard deviations of the factor that the noise contributes."""
_ROUNDING = 2.0**-52


class Enclosure(NamedTuple):
    """A lower and an upper bound of a number."""

    low: float
    high: float


@dataclass(frozen=True)
class Sum:
    """A sum of ``copies`` independent numbers: X = ``values[i]`` with probability ``masses[i]``, else 0.

    ``threshold`` is subtracted from the sum.
    """

    values: Floats
    masses: Floats
    rest: float
    """Probability that X is 0, besides atoms at 0."""
    copies: int
    threshold: float = 0.0

    def excess(self, noise: float = FINE) -> Enclosure:
        """Bounds of the expectation of (S)_+ of the sum."""
        if self._never_positive:
            return Enclosure(0.0, 0.0)
        line = self._line(0, noise)
        # The noise raises (s)_+ by at most η²φ(s/η)/η, whose expectation is the same integral without its kernel.
        raised = line.eta**2 * line.bound(line.factor, line.rest / line.end)
        low = line.value - line.error - raised - self._copied(line)
        return Enclosure(max(0.0, low * line.size), (line.value + line.error) * line.size)

    def loss(self, noise: float = FINE) -> float:
        """Upper bound of the expectation of (1 - e^-S)_+ of the sum."""
        if self._never_positive:
            return 0.0
        line = self._line(1, noise)
        return (line.value + line.error) * line.size

    @property
    def _never_positive(self) -> bool:
        return self.copies * max(0.0, float(self.values.max())) <= self.threshold

    def _line(self, order: int, noise: float) -> _Line:
        # order: 0 for the kernel 1/z², 1 for 1/(z(z+1)).
        theta = self._saddle(order)
        log_mean, tilted, spread = self._tilted(theta)
        deviation = math.sqrt(self.copies * spread + theta**-2 + (theta + order) ** -2)
        eta, step = noise * deviation, 2 * math.pi / (_PERIOD * deviation)
        t = step * np.arange(math.ceil(_REACH / (eta * step)) + 1, dtype=np.float64)
        z = theta + 1j * t
        square = z * (z + order)
        turned = self._turned(tilted, step, len(t))
        real, imaginary = turned.real, turned.imag
        with np.errstate(divide="ignore"):  # where the characteristic function is 0, its power is 0
            logarithm = 0.5 * np.log1p(2 * real + real * real + imaginary * imaginary)
        phase = self.copies * np.arctan2(imaginary, 1 + real) - self.threshold * t
        noisy = eta**2 / 2 * (square - square[0])
        factor = np.exp(self.copies * logarithm + noisy.real) * np.exp(1j * (phase + noisy.imag))
        factor[1:] *= 2  # both directions
        scale = self.copies * log_mean - theta * self.threshold + eta**2 / 2 * square[0].real
        return _Line(factor, square, step, float(t[-1]), eta, theta, deviation, scale, self.copies, len(tilted))

    def _turned(self, tilted: Floats, step: float, points: int) -> Complexes:
        # The characteristic function of the tilted X less 1, which is accurate also where it is close to 0. As
        # ab - 1 = (a - 1)(b - 1) + (a - 1) + (b - 1), long and short steps make a product of two small matrices.
        short = math.isqrt(points) + 1
        within = _turn(self.values, step * np.arange(short, dtype=np.float64))
        far = _turn(self.values, short * step * np.arange(-(-points // short), dtype=np.float64))
        weighed = far * tilted
        turned: Complexes = (weighed @ within.T + weighed.sum(axis=1)[:, None] + within @ tilted).ravel()[:points]
        return turned

    def _tilted(self, theta: float) -> tuple[float, Floats, float]:
        # log M(θ), the masses of X under the tilted law, and its variance.
        exponents = theta * self.values
        top = max(0.0, float(exponents.max()))
        weights = self.masses * np.exp(exponents - top)
        total = float(weights.sum()) + self.rest * math.exp(-top)
        tilted = weights / total
        mean = float(tilted @ self.values)
        spread = float(tilted @ (self.values - mean) ** 2) + max(0.0, 1.0 - float(tilted.sum())) * mean * mean
        return top + math.log(total), tilted, spread

    def _slope(self, theta: float, order: int) -> float:
        # Derivative of the logarithm of the integrand, which is convex in θ.
        _, tilted, _ = self._tilted(theta)
        return self.copies * float(tilted @ self.values) - self.threshold - 1 / theta - 1 / (theta + order)

    def _saddle(self, order: int) -> float:
        low = high = 1 / max(1e-300, float(np.abs(self.values).max()) * math.sqrt(self.copies))
        while self._slope(low, order) > 0:
            low /= 4
        while self._slope(high, order) < 0:
            high *= 4
        for _ in range(12):  # any θ proves both bounds; one near the saddle point keeps them close
            middle = math.sqrt(low * high)
            low, high = (low, middle) if self._slope(middle, order) > 0 else (middle, high)
        return low

    def _copied(self, line: _Line) -> float:
        # Upper bound of what Poisson's formula adds, relative to the size: copies at one side are at most (S)_+ and
        # their distance; those at the other at most what (s)_+ <= e^(θ's)/(eθ') allows, for a steeper θ'.
        period, theta = _PERIOD * line.deviation, line.theta
        steeper = theta + 6 / line.deviation
        grown = self.copies * (self._tilted(steeper)[0] - self._tilted(theta)[0])
        grown += line.eta**2 / 2 * (steeper**2 - theta**2) - (steeper - theta) * (self.threshold + period)
        near = math.exp(-theta * period) * line.value + math.exp(min(700.0, -theta * period - line.scale)) * period
        return 2 * near + math.exp(min(700.0, grown)) / steeper


def _turn(values: Floats, t: Floats) -> Complexes:
    # [time, value]: e^(itv) - 1, accurate also where it is close to 0.
    half = t[:, None] * (values / 2)
    sine = np.sin(half)
    turn = np.empty(half.shape, np.complex128)
    turn.real, turn.imag = -2 * sine * sine, 2 * sine * np.cos(half)
    return turn


@dataclass(frozen=True)
class _Line:
    """The integrand at the points of a lattice, relative to its size in the middle."""

    factor: Complexes
    """The integrand without its kernel."""
    square: Complexes
    """The inverse of the kernel."""
    step: float
    end: float
    eta: float
    theta: float
    deviation: float
    scale: float
    copies: int
    atoms: int

    @property
    def size(self) -> float:
        """The size of the integrand in the middle, which all other numbers of the line are relative to."""
        return math.exp(self.scale)

    @property
    def value(self) -> float:
        """The sum over the lattice."""
        return self.step / (2 * math.pi) * float((self.factor / self.square).sum().real)

    @property
    def rest(self) -> float:
        """Upper bound of the integral of the noise's factor beyond the lattice, times the length of the lattice."""
        return math.exp(-((self.eta * self.end) ** 2) / 2) / (math.pi * self.eta**2)

    @property
    def error(self) -> float:
        """Upper bound of the rest of the lattice and of the rounding."""
        terms = self.factor / self.square
        return self.rest / self.end**3 + self._rounding(terms)

    def bound(self, terms: Complexes, rest: float) -> float:
        """Upper bound of the integral of other terms on the same lattice."""
        return self.step / (2 * math.pi) * float(terms.sum().real) + self._rounding(terms) + rest

    def _rounding(self, terms: Complexes) -> float:
        # A factor is a power of a rounded number, which is a sum over atoms; the sum over the lattice has many terms.
        relative = ((16 + 4 * self.atoms) * self.copies + 2048) * _ROUNDING
        return relative * self.step / (2 * math.pi) * float(np.abs(terms).sum())
