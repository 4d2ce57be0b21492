"""A test whether two attributes are independent, from an estimated table: it accounts for the noise of the reports."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, lgamma, log

import numpy as np

from .errors import StateError
from .table_law import Floats, TableLaw
from .wording import plural

MOST_CONTRASTS = 2048
"""Largest number of degrees of freedom: the covariances of this many contrasts take a second."""


@dataclass(frozen=True)
class Independence:
    """The result of a test of independence: a statistic that has a chi-square law if the attributes are independent."""

    statistic: float
    degrees: int
    p_value: float
    names: tuple[str, str]

    @property
    def related(self) -> bool:
        """Whether independent attributes would rarely give such a statistic: in less than 5 % of all surveys."""
        return self.p_value < 0.05

    @property
    def chance(self) -> str:
        """The p-value of the test of independence in words."""
        return "p < 0.0001" if self.p_value < 1e-4 else f"p = {self.p_value:.2g}"

    @property
    def text(self) -> str:
        """The result of the test of independence as a sentence."""
        related = "are related" if self.related else "may be independent"
        return (
            f"{self.names[0]} and {self.names[1]} {related}: {self.chance} (chi-square {self.statistic:.1f} with "
            f"{plural(self.degrees, 'degree')} of freedom; the noise of the reports is accounted for)"
        )

    def __repr__(self) -> str:
        return f"<{self.text}>"


def independence_of(counts: Floats, law: TableLaw, n: int, names: tuple[str, str]) -> Independence:
    """Test an estimated table of two attributes for independence in the population that the users are drawn from.

    A contrast of rows and a contrast of columns give one linear combination of the differences between the counts and
    those expected from the margins. All of them together have a covariance with three parts: the noise of the reports,
    by the law of the table, the random choice of the users, and the product of the noises of both margins. All are
    taken at the counts expected under independence.
    """
    if n < 1:
        raise StateError("a test of independence needs reports, got none")
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    degrees = (len(rows) - 1) * (len(columns) - 1)
    if degrees > MOST_CONTRASTS:
        few = f"expected a table with at most {MOST_CONTRASTS:,} degrees of freedom, got {degrees:,}"
        raise StateError(f"independence: {few}; collect with fewer items or wider bins")
    share, other = _shares(rows), _shares(columns)
    beyond = counts - np.outer(rows, columns) / n
    left, right = _contrasts(len(rows)), _contrasts(len(columns))
    found = (left @ beyond @ right.T).reshape(-1)
    # Small changes of the margins change the expected counts: seen from the margins, both contrasts are centred.
    seen, seen_right = left - (left @ share)[:, None], right - (right @ other)[:, None]
    questions = np.einsum("ia,jb->ijab", seen, seen_right).reshape(degrees, *counts.shape)
    expected = n * np.outer(share, other)
    noise = law.covariance(questions, expected, n)
    flat = questions.reshape(degrees, -1)
    covariance = noise + (flat * expected.reshape(-1)) @ flat.T
    # The expected counts are products of margins. In small crowds, the product of their noises is no small change.
    every = np.ones(counts.shape)
    down, across = (law.covariance(each * every, expected, n) for each in (left[:, :, None], right[:, None, :]))
    covariance += np.kron(down, across) / n**2
    statistic = float(found @ np.linalg.solve(covariance, found))
    return Independence(statistic, degrees, chi_square_tail(statistic, degrees), names)


def _shares(counts: Floats) -> Floats:
    # Estimated counts may be negative; shares are not.
    held = np.clip(counts, 0.0, None)
    return np.asarray(held / held.sum())


def _contrasts(size: int) -> Floats:
    # Orthonormal rows that add up to 0 (Helmert).
    rows = np.tril(np.ones((size, size)), -1)[1:] - np.diag(np.arange(size, dtype=np.float64))[1:]
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def chi_square_tail(statistic: float, degrees: int) -> float:
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
