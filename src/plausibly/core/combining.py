"""Several estimates of the same numbers in one, weighted by inverse variance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from typing import Literal, overload

import numpy as np

from .basis import Basis
from .derived import Shares, Whose, aligned_with
from .errors import ParameterError, StateError
from .estimates import Estimates, collisions_of
from .history import decoding
from .laws import Floats, of_sample, of_sum
from .wording import shown


@overload
def combine(
    estimates: Sequence[Estimates], *, of: Literal["crowd"] = "crowd", weights: Sequence[float] | None = None
) -> Estimates: ...


@overload
def combine(
    estimates: Sequence[Estimates], *, of: Literal["population"], weights: Sequence[float] | None = None
) -> Shares: ...


def combine(
    estimates: Sequence[Estimates], *, of: Whose = "crowd", weights: Sequence[float] | None = None
) -> Estimates | Shares:
    """One estimate from several of the same items, such as collections with different ε, with the smallest variance.

    ``of="crowd"``: the same users reported several times, each time with fresh noise. The result has their counts.
    ``of="population"``: different users reported, and each crowd is a random sample of one population. The result has
    the shares in that population, and its variance includes that of the samples. (Counts of different crowds together
    are ``a + b``, without weights.)

    The weights are inverse variances of items that nobody has. They follow from the schemes and the numbers of users,
    not from the reports, so that the result is unbiased. ``weights`` replaces them: one number for each estimate.
    """
    given = list(estimates)
    if len(given) < 2 or not all(isinstance(each, Estimates) for each in given):
        raise ParameterError("combine: expected a list of at least two Estimates, got something else")
    first = given[0]
    rest = [aligned_with(first, each) for each in given[1:]]
    for place, each in enumerate(rest):
        for other in rest[:place]:
            each.basis.expect_apart(other.basis)
    parts = [first, *rest]
    population = _of_samples(of, parts)
    if weights is None:
        weights = [(part.n**2 if population else 1) / _noise(part) for part in parts]
    own = _normalized(weights, len(parts))
    return _of_population(parts, own) if population else _of_crowd(parts, own)


def _of_samples(of: Whose, parts: Sequence[Estimates]) -> bool:
    # Whether shares of a population are asked for, rather than counts of one crowd.
    if of not in ("crowd", "population"):
        raise ParameterError(f'of: expected "crowd" or "population", got {shown(of)}')
    sizes = sorted({part.n for part in parts})
    if sizes[0] == 0:
        raise StateError("combine: expected reports behind every estimate, got none")
    if of == "crowd" and len(sizes) > 1:
        raise StateError(
            f"combine: expected the same users in every collection, got {sizes[0]:,} reports and {sizes[-1]:,}; "
            'for samples of one population combine(..., of="population"), for counts of all users a + b'
        )
    return of == "population"


def _noise(part: Estimates) -> float:
    # The variance of an item that nobody has, without public hash functions: known before the first report.
    if part.basis.law is None:
        raise StateError(
            "combine: expected estimates with a known law, to weight them without looking at the reports; give weights="
        )
    return float(part.basis.law.of_coins.at(part.n, 0))


def _normalized(weights: Sequence[float], count: int) -> Floats:
    own = np.asarray(weights, dtype=np.float64)
    if own.shape != (count,) or not np.isfinite(own).all() or (own < 0).any() or not own.sum() > 0:
        raise ParameterError(f"weights: expected {count} numbers that are not negative, got something else")
    return np.asarray(own / own.sum())


def _of_crowd(parts: Sequence[Estimates], weights: Floats) -> Estimates:
    values = np.asarray(sum(weight * part.values for weight, part in zip(weights, parts, strict=True)))
    step = decoding(f"combined from {len(parts)} collections")
    return replace(
        parts[0],
        values=values,
        variance=_variance(parts, weights),
        complete=all(part.complete for part in parts),
        history=(*(each for part in parts for each in part.history), step),
        ends=_ends(parts, weights),
        collisions=collisions_of(parts, weights.tolist()),
        basis=_basis(parts),
    )


def _ends(parts: Sequence[Estimates], weights: Floats) -> tuple[float, float] | None:
    # The least and the most that all reports of one user add.
    ends = [part.ends for part in parts if part.ends is not None]
    if len(ends) < len(parts):
        return None
    return float(weights @ [low for low, _ in ends]), float(weights @ [high for _, high in ends])


def _of_population(parts: Sequence[Estimates], weights: Floats) -> Shares:
    scaled = weights / np.array([part.n for part in parts])
    values = np.asarray(sum(scale * part.values for scale, part in zip(scaled, parts, strict=True)))
    variance = _variance(parts, scaled)
    if variance is not None:
        for weight, part in zip(weights, parts, strict=True):
            variance = variance + weight**2 * of_sample(values, part.n)
    name = "shares of the population"
    return Shares(parts[0].items, values, variance, name, "share", percent=True, basis=_basis(parts))


def _variance(parts: Sequence[Estimates], weights: Floats) -> Floats | None:
    variances, shared = [], []
    for weight, part in zip(weights, parts, strict=True):
        if part.variance is None:
            return None
        others = reduce(or_, (other.basis for other in parts if other is not part))
        variances.append(weight**2 * part.variance)
        shared.append(weight**2 * part.shared_with(others, adds=True))
    return of_sum(variances, shared)


def _basis(parts: Sequence[Estimates]) -> Basis:
    return reduce(or_, (part.basis for part in parts)).changed
