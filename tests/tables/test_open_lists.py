"""Padding and sampling for lists that nobody can write down (docs/adr/0040): private, its bias and variance, exactly.

Every draw and every report is enumerated, with the client's own probabilities in fractions.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations
from typing import Any

import pytest

from plausibly import make
from plausibly.core.probability import within_exp

ITEMS, DUMMY = 3, 3
"""Items 0, 1 and 2, and the dummy."""
LISTS = list(chain.from_iterable(combinations(range(ITEMS), count) for count in range(ITEMS + 1)))


def sampled(answers: tuple[int, ...], length: int) -> list[int]:
    """The item for each number that a device may draw, all equally likely: the recipe of docs/tables.md."""
    return [answers[i] if i < len(answers) else DUMMY for i in range(max(len(answers), length))]


def reported(scheme: Any, answers: tuple[int, ...], length: int) -> list[Fraction]:
    """Probability of each report of direct encoding, from the client's threshold."""
    keep = Fraction(scheme.randomizer.keep, 2**64)
    law = [Fraction(0)] * scheme.size
    for item in (drawn := sampled(answers, length)):
        for report in range(scheme.size):
            law[report] += (keep if report == item else (1 - keep) / (scheme.size - 1)) / len(drawn)
    return law


@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_a_report_is_private_for_the_whole_list(length: int) -> None:
    scheme = make("DE", epsilon=1, domain_size=ITEMS + 1)
    laws = [reported(scheme, answers, length) for answers in LISTS]
    for one in laws:
        assert sum(one) == 1
        for other in laws:
            assert all(within_exp(a / b, Fraction(1)) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_bias_and_variance_are_the_stated_ones(length: int) -> None:
    scheme = make("DE", epsilon=1, domain_size=ITEMS + 1)
    keep = Fraction(scheme.randomizer.keep, 2**64)
    lie = (1 - keep) / ITEMS
    for answers in LISTS:
        law = reported(scheme, answers, length)
        for item in range(ITEMS):
            # The oracle's score of a report, times the length.
            scores = [length * ((report == item) - lie) / (keep - lie) for report in range(ITEMS + 1)]
            mean = sum(chance * score for chance, score in zip(law, scores, strict=True))
            second = sum(chance * score**2 for chance, score in zip(law, scores, strict=True))
            holds, most = item in answers, max(len(answers), length)
            assert mean == (Fraction(length, most) if holds else 0)
            assert -1 < mean - holds <= 0
            chance = Fraction(int(holds), most)
            drawn = length**2 * chance * (1 - chance)
            oracle = length**2 * float(scheme.variance(1, float(chance)))
            assert float(second - mean**2) == pytest.approx(oracle + float(drawn), rel=1e-9)
            if len(answers) <= length:
                assert drawn == holds * (length - 1)
