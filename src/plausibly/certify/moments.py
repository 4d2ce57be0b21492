"""Bias and variance of estimates, as sums over all coins of the client."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from ..core.accumulator import Accumulator
from ..core.enumeration import Law, mixture, output_law, private_paths, public_law
from ..core.laws import Estimator, VarianceLaw, choose_estimator
from ..core.mean_only import MeanOnly
from ..core.scheme import Scheme
from ..core.tables_only import TablesOnly

Numbers = npt.NDArray[Any]

_MOST_PATHS = 4_000
_MOST_ITEMS = 16
_CLOSE = 1e-9


@dataclass(frozen=True)
class Moments:
    """Whether estimates are unbiased and have the stated variance; None if not checked."""

    items: int
    """Size of the checked domain; 0 if nothing was checked."""
    unbiased: bool | None
    variance: bool | None
    exact: bool
    """Whether everything was computed in fractions, instead of partly in floating point to nine digits."""


UNCHECKED = Moments(0, None, None, exact=True)


def moments(scheme: Scheme) -> Moments:
    """Check the moments of estimates, mean and variance, over all coins and with every decoder.

    The mean of one report's estimates must be the user's own contribution, and the variance must be the stated one.
    The domain is the largest affordable one.
    """
    if scheme.unbiased_given or scheme.domain.size is None or scheme.answers.size is None:
        return UNCHECKED
    for size in range(min(scheme.size, _MOST_ITEMS), 1, -1):
        small = scheme if size == scheme.size else scheme.shrunk(size)
        if small.size > size:
            continue  # it cannot be made that small
        client = small.randomizer
        chances = public_law(client, _MOST_PATHS // (private_paths(client) * size))
        if chances:
            break
    else:
        return UNCHECKED
    laws = [
        mixture([output_law(client, x, public) for public in chances], list(chances.values()))
        for x in range(small.size)
    ]
    try:
        found = [_moments_of(small, laws, options) for options in _decoders(small)]
    except ValueError:
        return Moments(small.size, False, False, exact=True)  # The server cannot read a record.
    return Moments(
        small.size,
        _every([one.unbiased for one in found]),
        _every([one.variance for one in found]),
        exact=all(one.exact for one in found),
    )


def _every(verdicts: list[bool | None]) -> bool | None:
    # False if any check failed; None if any was not made.
    if False in verdicts:
        return False
    return True if True in verdicts and None not in verdicts else None


def _decoders(scheme: Scheme) -> Iterator[dict[str, Any]]:
    hints = get_type_hints(scheme.estimator)
    choices = {name: get_args(hint) for name, hint in hints.items() if get_origin(hint) is Literal}
    for values in product(*choices.values()):
        yield dict(zip(choices, values, strict=True))


def _moments_of(scheme: Scheme, laws: list[Law], options: dict[str, Any]) -> Moments:
    decoder = choose_estimator(scheme.estimator, options)
    records = list(dict.fromkeys(record for law in laws for record in law.weights))
    if isinstance(decoder, MeanOnly):
        return _moments_of_mean(scheme, laws, records, decoder)
    if isinstance(decoder, TablesOnly):
        return _moments_of_tables(scheme, laws, records, decoder)
    exact = isinstance(decoder, Estimator)
    tallies = [_tally(scheme, [record]) for record in records]
    crowd = _tally(scheme, records)
    if isinstance(decoder, Estimator):
        # [record, answer]: integers, twenty times faster than fractions.
        scores = np.array([tally.scores(**options) for tally in tallies]).astype(object)
        added = _expected(decoder, scores.sum(axis=0), len(records))
        adds_up = bool((crowd.scores(**options) == scores.sum(axis=0)).all())
        means, variances = _mean_and_variance(laws, records, scores)
        means, variances = _expected(decoder, means, 1), variances * decoder.scale**2
    else:
        estimates = np.array([tally.estimate(**options).values for tally in tallies])
        added, adds_up = estimates.sum(axis=0), True
        means, variances = _mean_and_variance(laws, records, estimates)
    # Reports must add up: then what holds for one user holds for a crowd.
    if not (adds_up and _close(crowd.estimate(**options).values, added)):
        # Integer scores that do not add up are wrong; other decoders need not add up.
        return Moments(len(laws), False if exact else None, None, exact=exact)
    held = _held(scheme, len(laws))
    unbiased: bool | None = _equal(means, held, exact)
    if decoder.law is None:
        # Without a law nothing is promised, unless the decoder is unbiased by its form.
        return Moments(len(laws), unbiased if exact or unbiased else None, None, exact=exact)
    variance = _equal(variances, _stated(scheme, decoder.law, held), exact)
    if scheme.answers is scheme.domain:
        variance &= all(_holds_in_floating_point(decoder.law, x, len(laws)) for x in range(len(laws)))
    return Moments(len(laws), unbiased, variance, exact=exact)


def _moments_of_mean(scheme: Scheme, laws: list[Law], records: list[bytes], decoder: MeanOnly) -> Moments:
    # One report adds the user's own place to the total on average, with the stated variance; totals must add up.
    tallies = [_tally(scheme, [record]) for record in records]
    totals = np.array([decoder.total(tally.evidence, 1) for tally in tallies], dtype=object)
    crowd = _tally(scheme, records)
    adds_up = decoder.total(crowd.evidence, len(records)) == totals.sum()
    means, variances = _mean_and_variance(laws, records, totals)
    places = np.array([decoder.place(x) for x in range(len(laws))], dtype=object)
    stated = np.array([decoder.variance_of_one(x) for x in range(len(laws))])
    return Moments(len(laws), adds_up and _equal(means, places, True), _equal(variances, stated, True), exact=True)


def _moments_of_tables(scheme: Scheme, laws: list[Law], records: list[bytes], decoder: TablesOnly) -> Moments:
    # Every cell of every table counts those users whose records are in it; tables must add up.
    tables = [places for attributes in (1, 2, 3) for places in decoder.known_tables(attributes)]

    def cells(tally: Accumulator) -> Numbers:
        found = [decoder.tabulated(tally.evidence, len(tally), places).counts.reshape(-1) for places in tables]
        return np.concatenate(found)

    numbers = np.array([cells(_tally(scheme, [record])) for record in records])
    adds_up = _close(cells(_tally(scheme, records)), numbers.sum(axis=0))
    means, variances = _mean_and_variance(laws, records, numbers)
    held, stated = [], []
    for x in range(len(laws)):
        digits = [int(digit[0]) for digit in decoder.records.digits(decoder.records.of_number(x))]
        crowds = [_one_hot(decoder.law_at(places).sizes, [digits[j] for j in places]) for places in tables]
        held.append(np.concatenate([crowd.reshape(-1) for crowd in crowds]))
        pairs = zip(tables, crowds, strict=True)
        stated.append(
            np.concatenate([decoder.law_at(places).cell_variances(crowd, 1).reshape(-1) for places, crowd in pairs])
        )
    unbiased = adds_up and _close(means, np.array(held))
    return Moments(len(laws), unbiased, _close(variances, np.array(stated)), exact=False)


def _one_hot(sizes: tuple[int, ...], cell: list[int]) -> Numbers:
    crowd = np.zeros(sizes)
    crowd[tuple(cell)] = 1.0
    return crowd


def _expected(decoder: Estimator, scores: Numbers, n: int) -> Numbers:
    counts: Numbers = (scores - n * decoder.offset) * decoder.scale
    return counts


def _mean_and_variance(laws: list[Law], records: list[bytes], numbers: Numbers) -> tuple[Numbers, Numbers]:
    # [user's item, answer], over the coins of one report.
    means, squares = [], []
    for law in laws:
        weights = np.array([law.weights.get(record, 0) for record in records], dtype=object)
        chance: Any = Fraction(1, law.denominator)
        if numbers.dtype != object:
            weights, chance = (weights / law.denominator).astype(np.float64), 1.0
        means.append((weights @ numbers) * chance)
        squares.append((weights @ (numbers * numbers)) * chance)
    mean = np.array(means)
    return mean, np.array(squares) - mean * mean


def _held(scheme: Scheme, size: int) -> Numbers:
    answers = range(scheme.answers.size or 0)
    return np.array([[int(scheme.counts_towards(x, y)) for y in answers] for x in range(size)], dtype=object)


def _stated(scheme: Scheme, law: VarianceLaw, held: Numbers) -> Numbers:
    if scheme.answers is not scheme.domain:
        return np.array([[law.exact(1, f, f2=1) for f in row] for row in held])
    return np.array([[law.of_one(x, y) for y in range(held.shape[1])] for x in range(len(held))])


def _equal(found: Numbers, expected: Numbers, exact: bool) -> bool:
    return bool((found == expected).all()) if exact else _close(found, expected)


def _close(found: Numbers, expected: Numbers) -> bool:
    return np.allclose(found.astype(np.float64), expected.astype(np.float64), rtol=_CLOSE, atol=1e-6)


def _holds_in_floating_point(law: VarianceLaw, x: int, size: int) -> bool:
    # For every item, in a crowd of one user, who has item x.
    one = np.arange(size) == x
    variances = np.broadcast_to(law.at(1, one, f2=1, **law.context_of(one)), size)
    return all(math.isclose(variances[y], law.of_one(x, y), rel_tol=1e-9) for y in range(size))


def _tally(scheme: Scheme, records: list[bytes]) -> Accumulator:
    tally = scheme.accumulator()
    tally.add(np.frombuffer(b"".join(records), dtype=scheme.report_dtype))
    return tally
