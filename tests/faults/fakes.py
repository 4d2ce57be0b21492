"""Planted faults of fake reports: the leverage of one report, intervals despite fakes, and the diagnosis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import plausibly
from attacked import alarms
from faults.detectors import Detector
from faults.planting import Edit
from plausibly import Ordered, SeededRandom

LEVERAGE = "a record adds more to a question than its bound, or never reaches it"
SEEN = "maximal gain is not seen"
QUIET = "honest reports raise alarms"


def _leverage() -> Iterator[str]:
    weights = np.array([[1.0, 1, 1, 0, 0, 0], [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5], [1, -1, 1, -1, 1, -1]])
    for name in ("HR", "HAAR", "SLIDE", "OUE", "HM", "TLH", "AGR"):
        scheme: Any = plausibly.make(name, epsilon=1, domain=Ordered(0, 5))
        answers = []
        for record in np.unique(scheme.privatize(list(range(6)) * 500, rng=SeededRandom(5))):
            tally = scheme.accumulator()
            tally.add(np.array([record], dtype=scheme.report_dtype))
            answers.append(weights @ tally.estimate().values)
        reach = scheme.leverage(weights)
        if not (np.allclose(reach.low, np.min(answers, axis=0)) and np.allclose(reach.high, np.max(answers, axis=0))):
            yield LEVERAGE


def _diagnosis() -> Iterator[str]:
    if not alarms("OUE", "spread", 0.01, 1)[1]:
        yield SEEN
    scheme: Any = plausibly.make("SLIDE", epsilon=1, domain=Ordered(0, 99))
    if sum(bool(scheme.simulate([200] * 100, SeededRandom(seed)).diagnose().alarms) for seed in range(6)) > 1:
        yield QUIET


leverage = Detector("the leverage of one report", _leverage)
diagnosis = Detector("the diagnosis of reports", _diagnosis)
PLANS: list[tuple[str, str, tuple[Edit, ...], Detector, str]] = [
    (
        "leverage-without-offset",
        "the expected support is left out of the leverage of a record",
        (Edit("core.scheme:Scheme.reach_of_supported", "float(decoder.offset) * weights", "0 * weights"),),
        leverage,
        LEVERAGE,
    ),
    (
        "leverage-of-one-half",
        "the signs of a level do not add up over its blocks",
        (Edit("ordered.halves:Halves.leverage", "np.abs(walsh(own, bits))", "np.abs(own)"),),
        leverage,
        LEVERAGE,
    ),
    (
        "leverage-of-characters",
        "the characters of a linear hash function are taken for its values",
        (
            Edit(
                "core.linear_hashing:supported_sums",
                "walsh(characters[places] * factors, bits)",
                "characters[places] * factors",
                at="oracles.toeplitz_hashing:supported_sums",
            ),
        ),
        leverage,
        LEVERAGE,
    ),
    (
        "leverage-of-fewer-bits",
        "the lines of the geometry forget the last bit of an item",
        (
            Edit(
                "oracles.affine_response:AGR._characters",
                "(1 << self.item_bits) - 1",
                "(1 << self.item_bits - 1) - 1",
            ),
        ),
        leverage,
        LEVERAGE,
    ),
    (
        "leverage-of-full-rank-only",
        "rows of the Hadamard mechanism that depend on each other are forgotten",
        (
            Edit(
                "core.linear_hashing:sums_by_rows",
                "range(1, min(number, order_bits) + 1)",
                "range(min(number, order_bits), min(number, order_bits) + 1)",
                at="oracles.hadamard_mechanism:sums_by_rows",
            ),
        ),
        leverage,
        LEVERAGE,
    ),
    (
        "leverage-without-level",
        "the level of a question is left out of the leverage of SLIDE",
        (Edit("ordered.sliding:Sliding.leverage", ".added(questions.level)", ".added(0.0)"),),
        leverage,
        LEVERAGE,
    ),
    (
        "pairs-with-themselves",
        "the variance of pairs is ten thousand times too large",
        (Edit("core.diagnosis:_chance_of_pairs", "4 * float(", "40_000 * float("),),
        diagnosis,
        SEEN,
    ),
    (
        "widths-without-noise",
        "the difference of two widths has a tenth of its variance",
        (
            Edit(
                "ordered.agreeing:disagreements",
                "either_side(apart, variance",
                "either_side(apart, 0.1 * variance",
                at="ordered.sliding:disagreements",
            ),
        ),
        diagnosis,
        QUIET,
    ),
]
