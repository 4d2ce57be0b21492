"""A test whether two attributes are independent, from an estimated table: it accounts for the noise of the reports."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp, lgamma, log, sqrt

import numpy as np

from .errors import StateError
from .sized_table import SizedTable
from .table_law import Floats, TableLaw
from .wording import plural

MOST_CONTRASTS = 2048
"""Largest number of degrees of freedom: the covariances of this many contrasts take a second."""


_RARE = 0.05
"""Probability of a false alarm up to which attributes are said to be related."""
_USUALLY = 0.8416
"""Standard errors by which a normal variable is below its mean in one of five cases at most."""


@dataclass(frozen=True)
class Independence:
    """The result of a test of independence: a statistic, and how rarely independent attributes exceed it."""

    statistic: float
    degrees: int
    p_value: float
    names: tuple[str, str]
    reports: int
    needed: int
    """Number of reports that it takes to notice the strongest relation, in which one answer tells the other."""
    cautions: tuple[str, ...] = ()

    @property
    def related(self) -> bool:
        """Whether independent attributes would rarely give such a statistic: in at most 5 % of all surveys.

        Never so if reports were lost or added: what is then found may come from that.
        """
        return self.p_value < _RARE and not self.cautions

    @property
    def unclear(self) -> str:
        """Why the test of independence cannot tell; empty if it can."""
        if self.cautions:
            return "the reports do not fit the scheme"
        if self.related or self.reports >= self.needed:
            return ""
        held = f"{plural(self.reports, 'report')} {'is' if self.reports == 1 else 'are'} too few"
        return f"{held} to notice even the strongest relation, which takes about {_rounded(self.needed):,}"

    @property
    def chance(self) -> str:
        """The p-value of the test of independence in words."""
        return "p < 0.0001" if self.p_value < 1e-4 else f"p = {self.p_value:.2g}"

    @property
    def text(self) -> str:
        """The result of the test of independence as a sentence."""
        tested = (
            f"chi-square {self.statistic:.1f} with {plural(self.degrees, 'degree')} of freedom; the noise of the "
            "reports is accounted for"
        )
        if self.unclear:
            names = f"{self.names[0]} and {self.names[1]}"
            return f"Cannot tell whether {names} are related: {self.unclear} ({self.chance}, {tested})"
        related = "are related" if self.related else "may be independent"
        return f"{self.names[0]} and {self.names[1]} {related}: {self.chance} ({tested})"

    def __repr__(self) -> str:
        return "\n  ".join([f"<{self.text}>", *self.cautions])


def independence_of(
    found: SizedTable | None, law: TableLaw, n: int, names: tuple[str, str], cautions: tuple[str, ...] = ()
) -> Independence:
    """Test an estimated table of two attributes for independence in the population that the users are drawn from.

    A contrast of rows and a contrast of columns give one linear combination of the differences between the counts and
    those expected from the margins. All of them together have a covariance with three parts: the noise of the reports,
    by the law of the table, the random choice of the users, and the product of the noises of both margins. All are
    taken at the counts expected under independence, and given how many users reported each set of attributes: few
    reports of a set are far from their expected number. The statistic is compared with the multiple of a chi-square
    variable that has its mean and its variance, to which rarely supported cells add their fourth moments.

    ``law`` is that of the table for all users. ``found`` is None if nobody reported both attributes: then p is 1.
    """
    if n < 1:
        raise StateError("a test of independence needs reports, got none")
    degrees = (law.sizes[0] - 1) * (law.sizes[1] - 1)
    if degrees > MOST_CONTRASTS:
        few = f"expected a table with at most {MOST_CONTRASTS:,} degrees of freedom, got {degrees:,}"
        raise StateError(f"independence: {few}; collect with fewer items or wider bins")
    given = names, n, reports_needed(law), cautions
    if found is None or degrees < 1:
        return Independence(0.0, degrees, 1.0, *given)
    counts = found.counts
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    share, other = _shares(rows), _shares(columns)
    left, right = _contrasts(len(rows)), _contrasts(len(columns))
    # Small changes of the margins change the expected counts: seen from the margins, both contrasts are centred.
    seen, seen_right = left - (left @ share)[:, None], right - (right @ other)[:, None]
    questions = np.einsum("ia,jb->ijab", seen, seen_right).reshape(degrees, *counts.shape)
    expected = n * np.outer(share, other)
    flat = questions.reshape(degrees, -1)
    noise = found.law.covariance(questions, expected, n)
    covariance = noise + (flat * expected.reshape(-1)) @ flat.T
    # The expected counts are products of margins. In small crowds, the product of their noises is no small change.
    every = np.ones(counts.shape)
    down, across = (found.law.covariance(each * every, expected, n) for each in (left[:, :, None], right[:, None, :]))
    covariance += np.kron(_bounded_noise(down / n**2), _bounded_noise(across / n**2)) * n**2
    # Contrasts of the expected counts are products of contrasts of the margins.
    unrelated = n * np.outer(_bounded(left @ rows / n), _bounded(right @ columns / n))
    beyond = (left @ counts @ right.T - unrelated).reshape(-1)
    inverse = np.linalg.inv(covariance)
    statistic = float(beyond @ inverse @ beyond)
    excess = sum(each.excess(questions, inverse, expected / n) for each in found.reporters)
    heavier = 1 + excess / (2 * degrees)
    return Independence(statistic, degrees, chi_square_tail(statistic / heavier, degrees / heavier), *given)


def reports_needed(law: TableLaw) -> int:
    """Number of reports from which on a test of independence notices the strongest relation in four of five surveys.

    The relation is that of attributes whose values are equally common, one of which tells the other. By the law of many
    reports: if there are few, their fourth moments make it one of two surveys.
    """
    rows, columns = law.sizes
    degrees, both = (rows - 1) * (columns - 1), (0, 1)
    if degrees < 1:
        return 0
    # Rows and columns are cut out of one line from 0 to 1; a cell has what its row and its column share.
    ends = (np.arange(size + 1) / size for size in law.sizes)
    (low, high), (left, right) = ((end[:-1], end[1:]) for end in ends)
    shared = np.minimum.outer(high, right) - np.maximum.outer(low, left)
    strength = float((np.clip(shared, 0.0, None) ** 2).sum()) - 1 / (rows * columns)
    variance = law.noise[both] + law.own.get((both, both), 0.0) / (rows * columns)
    enough, few = 1.0, 0.0
    while not _noticed(enough, degrees):
        enough, few = 2 * enough, enough
    for _ in range(50):
        middle = (few + enough) / 2
        few, enough = (few, middle) if _noticed(middle, degrees) else (middle, enough)
    return ceil(enough * variance / strength)


def _noticed(noncentrality: float, degrees: int) -> bool:
    # Mean and variance of a noncentral chi-square variable, which is roughly normal.
    low = degrees + noncentrality - _USUALLY * sqrt(2 * (degrees + 2 * noncentrality))
    return low > 0 and chi_square_tail(low, degrees) <= _RARE


def _rounded(number: int) -> int:
    # Two digits, rounded up.
    step: int = 10 ** max(0, len(str(number)) - 2)
    return -(-number // step) * step


def _bounded(contrasts: Floats) -> Floats:
    # Shares that add up to 1 have contrasts of at most this length: longer ones are mostly noise.
    length = float(np.linalg.norm(contrasts))
    return contrasts * min(1.0, sqrt(_longest(len(contrasts))) / length) if length else contrasts


def _bounded_noise(covariance: Floats) -> Floats:
    # Cutting contrasts off at their largest length brings them no further from the truth.
    return covariance * min(1.0, _longest(len(covariance)) / float(np.trace(covariance)))


def _longest(contrasts: int) -> float:
    # The squared length of the contrasts of a share of 1.
    return 1 - 1 / (contrasts + 1)


def _shares(counts: Floats) -> Floats:
    # Estimated counts may be negative; shares are not.
    held = np.clip(counts, 0.0, None)
    return np.asarray(held / held.sum())


def _contrasts(size: int) -> Floats:
    # Orthonormal rows that add up to 0 (Helmert).
    rows = np.tril(np.ones((size, size)), -1)[1:] - np.diag(np.arange(size, dtype=np.float64))[1:]
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def chi_square_tail(statistic: float, degrees: float) -> float:
    """Probability that a chi-square variable exceeds the statistic, for tests of independence.

    >>> round(chi_square_tail(3.841459, 1), 6), round(chi_square_tail(124.342113, 100), 6)
    (0.05, 0.05)
    """
    a, x = degrees / 2, statistic / 2
    if x <= 0:
        return 1.0
    front = exp(a * log(x) - x - lgamma(a))
    if x < a + 1:
        # The series of the lower incomplete gamma function.
        term = total = 1 / a
        k = a
        while term > total * 1e-16:
            k += 1
            term *= x / k
            total += term
        return max(0.0, 1 - front * total)
    # Legendre's continued fraction of the upper one, by Lentz's method.
    b = x + 1 - a
    c, d = 1e300, 1 / b
    total = d
    for i in range(1, 100_000):
        step = -i * (i - a)
        b += 2
        d = 1 / (step * d + b)
        c = b + step / c
        total *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return min(1.0, front * total)
