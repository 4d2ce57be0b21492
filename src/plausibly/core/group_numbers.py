"""Whether the numbers of reports of public groups fit the shares by which users were drawn into them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, log

FALSE_ALARM = 1e-6
"""Largest probability that a complete collection is said not to fit."""
_NAMED = 3


@dataclass(frozen=True)
class Misfit:
    """A group with far fewer or far more reports than its share of all reports."""

    group: int
    reports: int
    expected: float


def misfits(numbers: Sequence[int], weights: Sequence[int], rate: float = FALSE_ALARM) -> list[Misfit]:
    """The groups whose numbers of reports do not fit their weights; of a complete collection, none but at this rate.

    A group has a binomial number of the n reports. By Chernoff's bound, the probability that its share is a or further
    from the expected w is at most exp(-n*KL(a, w)) on either side, for any n; the rate is divided among all groups and
    sides. (A chi-square of all groups is no bound where few reports are expected, and names no group.)
    """
    n, total = sum(numbers), sum(weights)
    limit = log(2 * len(weights) / rate)
    found = []
    for group, (own, weight) in enumerate(zip(numbers, weights, strict=True)):
        if n and n * _divergence(own / n, weight / total) > limit:
            found.append(Misfit(group, own, n * weight / total))
    return found


def largest_excess(numbers: Sequence[int], weights: Sequence[int]) -> float:
    """At most the chance that the numbers of reports of any group of a complete collection fit as badly as these."""
    n, total = sum(numbers), sum(weights)
    worst = max(_divergence(own / n, weight / total) for own, weight in zip(numbers, weights, strict=True))
    return min(1.0, 2 * len(weights) * exp(-n * worst))


def misfit_text(found: Sequence[Misfit], names: Sequence[str], n: int) -> str:
    """Groups that do not fit their shares, in one sentence for people; empty if there are none."""
    if not found:
        return ""
    # If some have too few, the others exceed their shares only because these are missing.
    lacking = [each for each in found if each.reports < each.expected] or list(found)
    worst = sorted(lacking, key=lambda each: each.reports - each.expected)[:_NAMED]
    told = "; ".join(f"“{names[each.group]}” has {each.reports:,}, expected {each.expected:,.0f}" for each in worst)
    more = f"; and {len(lacking) - len(worst):,} more" if len(lacking) > len(worst) else ""
    return (
        f"Reports were lost or added, and the estimates are biased: of {n:,} reports, group {told}{more}. "
        f"(Probability of a false alarm: at most one in {1 / FALSE_ALARM:,.0f}.)"
    )


def _divergence(share: float, expected: float) -> float:
    # Kullback and Leibler's, of two coins.
    return _term(share, expected) + _term(1 - share, 1 - expected)


def _term(share: float, expected: float) -> float:
    if share <= 0:
        return 0.0
    return share * log(share / expected) if expected > 0 else inf
