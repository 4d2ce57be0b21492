"""Planted faults of SW and MEAN: the client, the bulk path, the decoders, and the law of the mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import naive
import plausibly
from faults.detectors import Detector, audit
from faults.planting import Edit
from plausibly import Ordered, SeededRandom

SW = audit("SW", epsilon=1, domain_size=6)
MEAN = audit("MEAN", epsilon=1, domain_size=6)
BINS = audit("MEAN", epsilon=1, domain=Ordered.bins([0, 1, 2.5, 10, 100]))

EXCEEDS = "a likelihood ratio exceeds e^epsilon"
BULK = "the bulk path and the client differ"
BIAS = "the estimate is biased"
VARIANCE = "the variance is not the stated one"
PUBLISHED = "not the estimates of the published algorithm"
INTERVAL = "the interval of the mean is too short"

PLANS: list[tuple[Any, ...]] = []


def plan(id: str, breaks: str, step: Edit, by: Detector, sees: str) -> None:
    PLANS.append((id, breaks, (step,), by, sees))


def _most_likely() -> Iterator[str]:
    scheme = plausibly.make("SW", epsilon=1, domain=Ordered(0, 14))
    reports = scheme.privatize_encoded(np.arange(900, dtype=np.uint64) ** 2 % np.uint64(11), SeededRandom(5))
    tally = scheme.accumulator()
    tally.add(reports)
    for smooth in (True, False):
        wanted = naive.square_wave(scheme.to_dict(), reports["place"].tolist(), smooth)
        if not np.allclose(tally.estimate(smooth=smooth).values / 900, wanted, rtol=1e-9, atol=1e-12):
            yield PUBLISHED


def _width_of_the_mean() -> Iterator[str]:
    # The stated variance is never below that of users who all have the middle value.
    scheme: Any = plausibly.make("MEAN", epsilon=1, domain=Ordered(0, 10))
    middle = np.where(np.arange(11) == 5, 400, 0)
    if scheme.simulate(middle, SeededRandom(1)).mean().variance < 0.95 * scheme.mean_variance(middle):
        yield INTERVAL


DECODER = Detector("SW against the published algorithm", _most_likely)
WIDTH = Detector("the variance of MEAN", _width_of_the_mean)

plan(
    "wave-lies-into-its-own-window",
    "the client of SW may report a near place as a lie",
    Edit("device:SquareWave.perturb", "far + self.near", "far + self.near - 1"),
    SW,
    BULK,
)
plan(
    "wave-keeps-too-often",
    "SW computes its threshold for one place more",
    Edit("ordered.square_wave:SW.keep", "self.size - 1)", "self.size - 2)"),
    SW,
    EXCEEDS,
)
plan(
    "wave-smoothed-without-its-ends",
    "the first and the last item are smoothed as if they had two neighbours",
    Edit("ordered.most_likely:_smoothed", "= 3.0", "= 4.0"),
    DECODER,
    PUBLISHED,
)
plan(
    "wave-stops-early",
    "the decoder of SW stops at a change a hundred times as large as published",
    Edit("ordered.most_likely:MostLikely._fitted", "< self.least_change", "< 100 * self.least_change"),
    DECODER,
    PUBLISHED,
)
plan(
    "bit-beyond-epsilon",
    "MEAN rounds the step of its thresholds up",
    Edit("ordered.one_bit:MEAN.step", "// self.places[-1]", "// self.places[-1] + 1"),
    MEAN,
    EXCEEDS,
)
plan(
    "bit-of-the-item-instead-of-its-place",
    "the client of MEAN takes bins as evenly spaced",
    Edit("device:OneBit.perturb", "self.places[value]", "value"),
    BINS,
    BULK,
)
plan(
    "bit-without-its-first-threshold",
    "the mean forgets that the first item also sends ones",
    Edit("ordered.mean_of_bits:MeanOfBits.total", " - n * self.first", ""),
    MEAN,
    BIAS,
)
plan(
    "bit-of-a-fair-coin",
    "the variance of a report of MEAN is that of a fair coin, whatever the value",
    Edit("ordered.mean_of_bits:MeanOfBits.variance_of_one", "threshold * (WORD - threshold)", "WORD * WORD // 4"),
    MEAN,
    VARIANCE,
)
plan(
    "mean-of-fewer-reports",
    "the variance of the mean is divided by the number of reports twice",
    Edit("ordered.mean_of_bits:MeanOfBits.mean_and_variance", "/ n * reach", "/ n / n * reach"),
    WIDTH,
    INTERVAL,
)
