"""One comparison for all oracles: the library's estimates against the slow twin's, exactly where integers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

import naive
import plausibly
from drawn import thinned

GRID = thinned([(epsilon, size) for epsilon in ("0.5", "1", "3", "5") for size in (2, 3, 7, 16, 65)])
"""Privacy levels and domain sizes: the smallest, odd ones, a power of two, one more than a power of two."""

REPORTS = 40


def exp(epsilon: str | Fraction) -> Decimal:
    """e^epsilon to 60 digits."""
    with localcontext() as context:
        context.prec = 60
        exact = Fraction(epsilon)
        return (Decimal(exact.numerator) / Decimal(exact.denominator)).exp()


def crowd(size: int, count: int = REPORTS) -> list[int]:
    """Encoded items of a crowd in which small items are common and every item may occur."""
    return [(i * i + i // 3) % size if i % 3 else 0 for i in range(count)]


def assert_equals_twin(
    scheme: plausibly.Scheme, items: Sequence[Any], *, asked: Sequence[Any] | None = None, **options: Any
) -> None:
    """The scores are the twin's integers; values and variances are its fractions, rounded to floats."""
    reports = scheme.privatize(items, rng=plausibly.SeededRandom(2026))
    tally = scheme.accumulator()
    tally.add(reports)
    codes = range(scheme.size) if asked is None else [int(code) for code in scheme.domain.encode(asked)]
    twin = naive.answer(json.loads(scheme.to_json()), naive.fields(reports), codes, **options)
    estimates = tally.estimate(asked, **options)
    assert tally.scores(asked, **options).tolist() == twin.scores
    assert estimates.n == len(items)
    assert_close(estimates.values, twin.values)
    assert_close(estimates.variance, twin.variance)


def assert_close(floats: Any, fractions: Sequence[Fraction]) -> None:
    """Equal up to the rounding of a few floating-point operations on numbers of the size of the largest one."""
    largest = max([1.0, *(abs(float(x)) for x in fractions)])
    np.testing.assert_allclose(floats, [float(x) for x in fractions], rtol=1e-12, atol=1e-12 * largest)
