"""Evidence for and against a claim: numbers with their errors, compared with bounds at a stated level.

A claim is confirmed or refuted only if chance alone would do the same at most once in a hundred times; otherwise it
cannot be told. A claim that makes several comparisons is confirmed if each of them holds at this level, and refuted if
one of them fails at this level divided by their number (Bonferroni). Either error therefore has a probability of at
most 1 % for the claim as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, lgamma, log, log1p, sqrt
from statistics import fmean

LEVEL = 0.01
"""Largest probability of confirming a false claim, and of refuting a true one."""
_TIE = 1e-9
"""Smaller distances from a bound are rounding errors."""


@dataclass(frozen=True)
class Contrast:
    """A contrast of measurements: a ratio or a difference, with its standard error.

    It is a sum of terms (of logarithms, if it is a ratio), each the mean over the repeats of one setting. Settings are
    measured with different seeds, so the errors of their terms are independent. Lines that read the same reports in
    different ways share a setting, and are compared repeat by repeat.

    >>> ratio = Contrast({"OLH": (0.11, 0.09, 0.10), "HR": (-0.21, -0.19, -0.20)}, is_ratio=True)
    >>> str(ratio)
    '0.905 ± 0.007'
    """

    terms: Mapping[str, tuple[float, ...]]
    """Values of each term in the repeats, by setting."""
    is_ratio: bool = False

    @property
    def value(self) -> float:
        """The ratio or difference itself; a ratio is a geometric mean over the repeats."""
        return exp(self._centre) if self.is_ratio else self._centre

    @property
    def error(self) -> float:
        """The standard error; infinite if a setting was measured only once."""
        return self._deviation * (self.value if self.is_ratio else 1.0)

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the standard error (Welch and Satterthwaite)."""
        parts = [(_squared_error(own), len(own) - 1) for own in self.terms.values() if len(own) > 1]
        whole = sum(part for part, _ in parts)
        return whole**2 / sum(part**2 / free for part, free in parts) if whole > 0 else inf

    @property
    def _centre(self) -> float:
        return sum(fmean(own) for own in self.terms.values())

    @property
    def _deviation(self) -> float:
        if not self.terms or any(len(own) < 2 for own in self.terms.values()):
            return inf
        return sqrt(sum(_squared_error(own) for own in self.terms.values()))

    def above(self, bound: float) -> Evidence:
        """Evidence that the contrast is above the bound."""
        distance = self._centre - (log(bound) if self.is_ratio else bound)
        if abs(distance) < _TIE or self._deviation == inf:
            return Evidence(0.5, 0.5)
        t = distance / self._deviation if self._deviation > 0 else inf * distance
        return Evidence(chance_above(t, self.freedom), chance_above(-t, self.freedom))

    def below(self, bound: float) -> Evidence:
        """Evidence that the contrast is below the bound."""
        return self.above(bound).negated()

    def within(self, low: float, high: float) -> Evidence:
        """Evidence that the contrast is between two bounds."""
        return all_of([self.above(low), self.below(high)])

    def __add__(self, other: Contrast) -> Contrast:
        """Sum of differences, or product of ratios."""
        terms = dict(self.terms)
        for setting, own in other.terms.items():
            found = terms.get(setting)
            terms[setting] = own if found is None else tuple(a + b for a, b in zip(found, own, strict=False))
        return Contrast(terms, self.is_ratio)

    def __sub__(self, other: Contrast) -> Contrast:
        """Difference of differences, or ratio of ratios."""
        return self + other.times(-1.0)

    def times(self, factor: float) -> Contrast:
        """The difference multiplied by a factor; a ratio, raised to this power."""
        return Contrast({key: tuple(factor * value for value in own) for key, own in self.terms.items()}, self.is_ratio)

    def __str__(self) -> str:
        """The value and its standard error, rounded to the first digit of the error, or to two if it begins with 1."""
        if self.error in (0, inf):
            return number(self.value)
        unit, name = (1e6, " million") if abs(self.value) >= 1e6 else (1.0, "")
        value, error = self.value / unit, self.error / unit
        digits, exponent = f"{error:.1e}".split("e")
        places = max(0, (digits[0] == "1") - int(exponent))
        text = f"{value:,.{places}f} ± {error:,.{places}f}{name}"
        return text.replace("-", "−")


def _squared_error(values: Sequence[float]) -> float:
    # Of their mean.
    centre = fmean(values)
    return sum((value - centre) ** 2 for value in values) / (len(values) - 1) / len(values)


def average(contrasts: Iterable[Contrast]) -> Contrast:
    """The mean of several contrasts of the same kind; of ratios, the geometric mean."""
    given = list(contrasts)
    whole = given[0]
    for one in given[1:]:
        whole += one
    return whole.times(1 / len(given))


@dataclass(frozen=True)
class Evidence:
    """The evidence about a claim: two probabilities, each at most 1 % if the evidence is clear."""

    support: float
    """Largest probability of evidence this strong for the claim if the claim is false."""
    contradiction: float
    """Largest probability of evidence this strong against the claim if the claim is true."""
    comparisons: int = 1

    @property
    def confirmed(self) -> bool:
        """Whether the evidence confirms the claim."""
        return self.support <= LEVEL

    @property
    def refuted(self) -> bool:
        """Whether the evidence refutes the claim."""
        return self.contradiction <= LEVEL and not self.confirmed

    def negated(self) -> Evidence:
        """The evidence about the opposite claim."""
        return Evidence(self.contradiction, self.support, self.comparisons)

    def __str__(self) -> str:
        count = f"{self.comparisons} comparisons, " if self.comparisons > 1 else ""
        if self.confirmed:
            return f"{count}{_probability(self.support)} if the claim were false"
        if self.refuted:
            return f"{count}{_probability(self.contradiction)} if the claim were true"
        support, contradiction = _probability(self.support), _probability(self.contradiction)
        return f"{count}{support} against the claim being false, {contradiction} against it being true"


def all_of(parts: Iterable[Evidence]) -> Evidence:
    """Evidence that all of several claims hold: each must, and one that fails is enough to refute them."""
    given = list(parts)
    against = min(1.0, len(given) * min(part.contradiction for part in given))
    return Evidence(max(part.support for part in given), against, sum(part.comparisons for part in given))


def any_of(parts: Iterable[Evidence]) -> Evidence:
    """Evidence that at least one of several claims holds."""
    return all_of(part.negated() for part in parts).negated()


def chance_above(t: float, freedom: float) -> float:
    """Probability that a variable with Student's t distribution is above t: evidence from a few repeats."""
    if t < 0:
        return 1 - chance_above(-t, freedom)
    if t == inf:
        return 0.0
    # With many repeats the distribution is normal, and the fraction below converges too slowly.
    free = min(freedom, 1e6)
    return 0.5 * _incomplete_beta(free / 2, 0.5, free / (free + t * t))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    # The regularised incomplete beta function by its continued fraction (Lentz's method).
    if x in (0.0, 1.0):
        return x
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, 1 - x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    fraction, c, d = 1.0, 1.0, 0.0
    for step in range(500):
        m = step // 2
        if step == 0:
            term = 1.0
        elif step % 2 == 0:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / (1 + term * d)
        c = 1 + term / c
        fraction *= c * d
        if step and abs(1 - c * d) < 1e-12:
            break
    return front * (fraction - 1)


def number(value: float) -> str:
    """A number in a finding, with three significant digits and thousands separators."""
    size = abs(value)
    if size >= 1e6:
        text = f"{value / 1e9:.3g} billion" if size >= 1e9 else f"{value / 1e6:.3g} million"
    else:
        text = f"{value:,.0f}" if size >= 1000 else f"{value:.3g}"
    return text.replace("-", "−")


def _probability(p: float) -> str:
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.2g}"
