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
from ..core.laws import Estimator, choose_estimator
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
    return size, all(mean for mean, _ in verdicts), all(variance for _, variance in verdicts)


def _decoders(scheme: Scheme) -> Iterator[dict[str, Any]]:
    hints = get_type_hints(scheme.estimator)
    choices = {name: get_args(hint) for name, hint in hints.items() if get_origin(hint) is Literal}
    for values in product(*choices.values()):
        yield dict(zip(choices, values, strict=True))


def _moments_of(scheme: Scheme, laws: list[Law], options: dict[str, Any]) -> tuple[bool, bool]:
    estimator = choose_estimator(scheme.estimator, options)
    assert isinstance(estimator, Estimator)  # what is unbiased over its own coins is linear
    records = list(dict.fromkeys(record for law in laws for record in law.weights))
    scores = np.array([_tally(scheme, [record]).scores(**options) for record in records]).astype(object)
    # Reports must add up: then what holds for one user holds for a crowd.
    crowd, totals = _tally(scheme, records), scores.sum(axis=0)
    values = [float(estimator.scale * (total - len(records) * estimator.offset)) for total in totals]
    unbiased = bool((crowd.scores(**options) == totals).all())
    unbiased &= np.allclose(crowd.estimate(**options).values, values, rtol=1e-9, atol=1e-6)
    variance_exact = True
    for x, law in enumerate(laws):
        weights = np.array([law.weights.get(record, 0) for record in records], dtype=object)
        for y, score in enumerate(scores.T):
            mean = Fraction(weights @ score, law.denominator)
            square = Fraction(weights @ (score * score), law.denominator)
            given = {"f": int(x == y), "mates": int(scheme.share_a_block(x, y))}
            stated = estimator.law.exact(1, **given)
            unbiased &= estimator.scale * (mean - estimator.offset) == given["f"]
            variance_exact &= estimator.scale**2 * (square - mean**2) == stated
            variance_exact &= math.isclose(estimator.law.at(1, **given), stated, rel_tol=1e-9)
    return unbiased, variance_exact


def _tally(scheme: Scheme, records: list[bytes]) -> Accumulator:
    tally = scheme.accumulator()
    tally.add(np.frombuffer(b"".join(records), dtype=scheme.report_dtype))
    return tally
