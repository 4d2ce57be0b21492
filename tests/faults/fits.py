"""Planted faults of fits to the reports: which items a report supports, the steps, the starts, and the intervals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import plausibly
from faults.detectors import Detector
from faults.planting import Edit, Value
from plausibly import SeededRandom, StateError
from plausibly.postprocess import likelihood
from postprocess.literal import more_likely

STEP = "not a step of expectation maximization"
START = "not the published start"
INTERVAL = "a processed estimate has an interval of its own"
QUANTILE = "a processed estimate answers with the law of the unprocessed ones"

PLANS: list[tuple[Any, ...]] = []


def plan(id: str, breaks: str, step: Edit | Value, by: Detector, sees: str) -> None:
    PLANS.append((f"fits-{id}", breaks, (step,), by, sees))


def _by_definition(name: str, words: str = "", **options: Any) -> Detector:
    def run() -> Iterator[str]:
        scheme = plausibly.make(name, epsilon=1, domain_size=11, **options)
        reports = scheme.privatize_encoded(np.arange(90, dtype=np.uint64) % np.uint64(4), SeededRandom(4))
        dense = [[float(scheme.likelihood(report, item)) for item in range(11)] for report in reports]
        tally = scheme.accumulator()
        tally.add(reports)
        near = tally.estimate().postprocess("norm-sub").values / 90
        wanted = more_likely(dense, (0.9 * near + 0.1 / 11).tolist())
        if not np.allclose(likelihood.mle(scheme, reports, steps=1).values / 90, wanted, rtol=1e-9):
            yield STEP
        even = more_likely(dense, [1 / 11] * 11)
        if not np.allclose(likelihood.ibu(scheme, reports, steps=1).values / 90, even, rtol=1e-9):
            yield START

    return Detector(f"fits of {name}{words} by a dense matrix", run)


def _intervals() -> Iterator[str]:
    scheme = plausibly.make("DE", epsilon=1, domain=plausibly.Ordered(0, 7))
    reports = scheme.privatize([1, 2, 3, 3] * 50, SeededRandom(4))
    fitted = likelihood.mle(scheme, reports)
    for ask, finding in ((fitted.interval, INTERVAL), (fitted.quantiles, QUANTILE)):
        try:
            ask()
        except StateError:
            continue
        yield finding


TLH, HM, OLH, OUE = (_by_definition(name) for name in ("TLH", "HM", "OLH", "OUE"))
WINDOW = _by_definition("TLH", " with a window", hash_bits=3, window=3)
INTERVALS = Detector("intervals of fits", _intervals)

plan(
    "window-of-one",
    "the fit takes every window for one value",
    Edit("oracles.toeplitz_hashing:TLH.supported", ", window=self.w", ""),
    WINDOW,
    STEP,
)
plan(
    "characters-of-other-bits",
    "the places of a hash function are combined in another order than the bits of the hash",
    Edit(
        "core.linear_hashing:characters_of",
        "rows[:, bit : bit + 1]",
        "rows[:, rows.shape[1] - bit - 1 : rows.shape[1] - bit]",
    ),
    HM,
    STEP,
)
plan(
    "one-transform",
    "the sums over reports are not transformed back",
    Edit("core.linear_hashing:Hashed.gathered", "    _transform(scattered)\n", ""),
    TLH,
    STEP,
)
plan(
    "supports-another-hash",
    "a report of local hashing supports the items with other hashes",
    Edit("oracles.local_hashing:LocalHashing.supported", "== part", "!= part"),
    OLH,
    STEP,
)
plan(
    "bits-from-the-other-end",
    "the bits of a bitmap are read from the other end of each byte",
    Edit("core.supported:Bitmaps._blocks", '"little"', '"big"'),
    OUE,
    STEP,
)
plan(
    "ratio-without-its-one",
    "reports are taken to be impossible under items that they do not support",
    Edit("postprocess.likelihood:climbing", "weights.sum() + ", ""),
    TLH,
    STEP,
)
plan(
    "zeros-stay",
    "items that norm-sub sets to 0 can never return",
    Value("postprocess.likelihood:_EVEN", 0.0),
    TLH,
    STEP,
)
plan(
    "start-of-halves",
    "the update starts from unequal shares",
    Edit(
        "postprocess.likelihood:ibu",
        "np.full(len(unbiased), 1 / len(unbiased))",
        "np.linspace(0.1, 0.2, len(unbiased))",
    ),
    TLH,
    START,
)
plan(
    "fit-with-a-variance",
    "a fit keeps the variance of the unbiased estimates, and prints intervals around fitted counts",
    Edit("core.estimates:Estimates.fitted", "variance=None, ", ""),
    INTERVALS,
    INTERVAL,
)
plan(
    "fit-with-a-law",
    "quantiles of fitted counts have the intervals of others",
    Edit("core.ordered_estimates:OrderedEstimates.fitted", "linear=None", "order=self.order"),
    INTERVALS,
    QUANTILE,
)
