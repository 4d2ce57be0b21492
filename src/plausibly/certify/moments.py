"""Bias and variance of estimates, exactly: sums over all coins of the client."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from ..core.accumulator import Accumulator
from ..core.enumeration import Law, mixture, output_law, private_paths, public_outcomes
from ..core.laws import Estimator, VarianceLaw, choose_estimator
from ..core.scheme import Scheme

_MOST_PATHS = 4_000
_MOST_ITEMS = 16


def moments(scheme: Scheme) -> tuple[int, bool | None, bool | None]:
    """Whether estimates are unbiased and have the stated variance, exactly, and on a domain of how many items.

    On the largest domain that can be afforded, with every decoder: is the mean of one report's estimates the holder's
    item, and their variance the stated one?
    """
    if scheme.unbiased_given or scheme.domain.size is None:
        return 0, None, None
    for size in range(min(scheme.size, _MOST_ITEMS), 1, -1):
        small = scheme if size == scheme.size else scheme.shrunk(size)
        client = small.randomizer
        publics = public_outcomes(client, _MOST_PATHS // (private_paths(client) * size))
        if publics:
            break
    else:
        return 0, None, None
    laws = [mixture([output_law(client, x, public) for public in publics]) for x in range(size)]
    try:
        verdicts = [_moments_of(small, laws, options) for options in _decoders(small)]
    except ValueError:
        verdicts = [(False, False)]  # The server cannot read a record.
    variances = [variance for _, variance in verdicts if variance is not None]
    return size, all(mean for mean, _ in verdicts), all(variances) if variances else None


def _decoders(scheme: Scheme) -> Iterator[dict[str, Any]]:
    hints = get_type_hints(scheme.estimator)
    choices = {name: get_args(hint) for name, hint in hints.items() if get_origin(hint) is Literal}
    for values in product(*choices.values()):
        yield dict(zip(choices, values, strict=True))


def _moments_of(scheme: Scheme, laws: list[Law], options: dict[str, Any]) -> tuple[bool, bool | None]:
    estimator = choose_estimator(scheme.estimator, options)
    assert isinstance(estimator, Estimator)  # what is unbiased over its own coins is linear
    records = list(dict.fromkeys(record for law in laws for record in law.weights))
    scores = np.array([_tally(scheme, [record]).scores(**options) for record in records]).astype(object)
    # Reports must add up: then what holds for one user holds for a crowd.
    crowd, totals = _tally(scheme, records), scores.sum(axis=0)
    values = [float(estimator.scale * (total - len(records) * estimator.offset)) for total in totals]
    unbiased = bool((crowd.scores(**options) == totals).all())
    unbiased &= np.allclose(crowd.estimate(**options).values, values, rtol=1e-9, atol=1e-6)
    variance_exact, stated = True, estimator.law
    for x, law in enumerate(laws):
        weights = np.array([law.weights.get(record, 0) for record in records], dtype=object)
        for y, score in enumerate(scores.T):
            mean = Fraction(weights @ score, law.denominator)
            square = Fraction(weights @ (score * score), law.denominator)
            unbiased &= estimator.scale * (mean - estimator.offset) == int(x == y)
            variance_exact &= stated is None or estimator.scale**2 * (square - mean**2) == stated.of_one(x, y)
        variance_exact &= stated is None or _holds_in_floating_point(stated, x, len(laws))
    return unbiased, None if stated is None else variance_exact


def _holds_in_floating_point(law: VarianceLaw, x: int, size: int) -> bool:
    # For every item, in the crowd of one user who holds item x.
    one = np.arange(size) == x
    variances = np.broadcast_to(law.at(1, one, f2=1, **law.context_of(one)), size)
    return all(math.isclose(variances[y], law.of_one(x, y), rel_tol=1e-9) for y in range(size))


def _tally(scheme: Scheme, records: list[bytes]) -> Accumulator:
    tally = scheme.accumulator()
    tally.add(np.frombuffer(b"".join(records), dtype=scheme.report_dtype))
    return tally
