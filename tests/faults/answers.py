"""Planted faults of answers about an order: ranges, the distribution function, quantiles, means, and lost groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import plausibly
from faults.detectors import Detector
from faults.planting import Edit
from plausibly import Ordered, SeededRandom
from plausibly.core import group_numbers

COUNTS = [300, 0, 120, 80, 200, 0, 50, 250, 400]
_Z = 1.959963984540054


def _by_definition() -> Iterator[str]:
    scheme = plausibly.make("OUE", epsilon=1, domain=Ordered(10, 17, other=True))
    made = scheme.simulate(COUNTS, SeededRandom(3)).estimate()
    assert isinstance(made, plausibly.OrderedEstimates)
    assert made.linear is not None
    inside, n = made.n - made.values[-1], made.n
    raw, variance = np.cumsum(made.values[:-1]), made.linear.weighted(np.eye(9)[-1:])[1]
    found = made.ranges([(12, 15)])
    weights = np.zeros((1, 9))
    weights[0, 2:6] = 1.0
    if not np.allclose(found.variance, made.linear.weighted(weights)[1]):
        yield "the variance of a range is another"
    low, high = made.postprocess("monotone").ranges([(11, 11), (10, 17)]).interval()
    if low.min() < 0 or high.max() > n:
        yield "the interval of a processed count leaves [0, n]"
    if not np.allclose(made.postprocess("monotone").cdf().interval()[1], np.clip(made.cdf().interval()[1], 0, n)):
        yield "the interval of a processed count is not that of the unbiased one"
    errors, ends = made.cdf().standard_error, made.quantiles([0.5]).interval()
    room, target = _Z * (errors + 0.5 * variance**0.5), 0.5 * inside
    allowed = [
        x for x in range(8) if (x == 7 or raw[x] + room[x] >= target) and (x == 0 or raw[x - 1] - room[x - 1] <= target)
    ]
    if (ends[0][0], ends[1][0]) != (10 + min(allowed), 10 + max(allowed)):
        yield "the interval of a quantile is another"
    centred = np.append(np.arange(-3.5, 4.0), 0.0)
    ratio = float(centred @ made.values) / inside
    centred[-1] = ratio
    if not np.allclose(made.mean().variance, made.linear.weighted(centred[None])[1] / inside**2):
        yield "the variance of a mean beside others is another"
    other = scheme.simulate(COUNTS, SeededRandom(4)).estimate()
    if not np.allclose((made + other).cdf().values, made.cdf().values + other.cdf().values):
        yield "two crowds together have the sums of one"
    band = made.cdf(simultaneous=True).interval()
    if not (band[1] - band[0] >= 0.9 * (np.clip(raw + 2.73 * errors, 0, n) - np.clip(raw - 2.73 * errors, 0, n)))[3]:
        yield "the band is too narrow"


by_definition = Detector("answers about an order by their definition", _by_definition)


def _lost() -> Iterator[str]:
    if not group_numbers.misfits([0, 500, 500], [1, 1, 1]):
        yield "a lost group is not noticed"
    if group_numbers.misfits([330, 340, 330], [1, 1, 1]):
        yield "a complete collection raises an alarm"


lost = Detector("lost groups", _lost)

PLANS: list[tuple[Any, ...]] = []


def plan(name: str, what: str, edit: Edit, detector: Detector, finding: str) -> None:
    """Plan a fault of the answers about an order."""
    PLANS.append((f"answers-{name}", what, (edit,), detector, finding))


_ANSWERS, _MADE = "core.ordered_answers:", "core.ordered_estimates:OrderedEstimates."
plan(
    "range-without-its-end",
    "the variance of a range is that of one item less",
    Edit(f"{_MADE}_sums_by_law", "(items <= part[:, 1:])", "(items < part[:, 1:])"),
    by_definition,
    "the variance of a range is another",
)
plan(
    "processed-not-clipped",
    "the intervals of processed counts contain impossible counts",
    Edit(f"{_ANSWERS}Sums.interval", "if self.processed", "if not self.processed"),
    by_definition,
    "the interval of a processed count leaves [0, n]",
)
plan(
    "processed-centre",
    "intervals are centred on processed counts: too short on one side",
    Edit(f"{_ANSWERS}Sums.interval", "normal_interval(self.centres", "normal_interval(self.values"),
    by_definition,
    "the interval of a processed count is not that of the unbiased one",
)
plan(
    "quantile-without-doubt",
    "the interval of a quantile forgets that the number of users in the order is estimated",
    Edit(f"{_ANSWERS}Prefixes.hull", "self.errors + share * self.doubt", "0.3 * self.errors"),
    by_definition,
    "the interval of a quantile is another",
)
plan(
    "mean-of-known-users",
    "the mean takes the estimated number of users for the true one",
    Edit(f"{_MADE}_mean_by_law", "weights[0, len(points) :] = ratio", "weights[0, len(points) :] = 0.0"),
    by_definition,
    "the variance of a mean beside others is another",
)
plan(
    "one-crowd-of-two",
    "two crowds together are answered from one of them",
    Edit(f"{_MADE}__add__", "Added((self.linear, other.linear))", "Added((self.linear,))"),
    by_definition,
    "two crowds together have the sums of one",
)
plan(
    "band-of-one-point",
    "the band contains each point of the function, but not the whole function",
    Edit(
        f"{_ANSWERS}Distribution.interval", "interval(level, simultaneous=True)", "interval(level, simultaneous=False)"
    ),
    by_definition,
    "the band is too narrow",
)
plan(
    "lost-groups-never",
    "no loss is large enough",
    Edit("core.group_numbers:misfits", "> limit", "> 1000 * limit"),
    lost,
    "a lost group is not noticed",
)
plan(
    "lost-groups-always",
    "every collection is suspected",
    Edit("core.group_numbers:misfits", "> limit", "> 0.0001 * limit"),
    lost,
    "a complete collection raises an alarm",
)
