"""Counts of given strings: unbiased, with the variance that the law states, over all coins of a report."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import plausibly
from contract.entries import KEYED_SEARCHES, required
from plausibly import SeededRandom, Strings
from plausibly.core.enumeration import output_law, public_outcomes
from plausibly.core.laws import VarianceLaw, thinned
from plausibly.oracles.hadamard_response import BlockLaw

TEXTS = Strings("ab", 2)


def moments(scheme: Any, item: int, code: Any) -> tuple[Fraction, Fraction]:
    """Mean and variance of the estimate of one string from one user who holds the item of that number."""
    part, share = scheme.parts[scheme.whole], scheme.share(scheme.whole)
    estimator = part.scheme.estimator()
    mean = square = Fraction(0)
    for public in public_outcomes(scheme.randomizer, 1_000) or []:
        group = public[0]
        weight = Fraction(scheme.group_weights[group], sum(scheme.group_weights))
        law = output_law(scheme.randomizer, item, public)
        for record, chance in law.weights.items():
            value = Fraction(0)  # of those who report something else
            if scheme.whole in scheme.groups[group]:
                tally = scheme.accumulator()
                tally.add(np.frombuffer(record, dtype=scheme.report_dtype))
                (score,) = tally.scores([code]).tolist()
                value = estimator.scale * (score - estimator.offset) / share
            mean += weight * Fraction(chance, law.denominator) * value
            square += weight * Fraction(chance, law.denominator) * value**2
    return mean, square - mean**2


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "oracle"),
    [
        ("PEM", "DE"),
        ("BITSTOGRAM", "DE"),
        ("PEM", "SS"),
        ("TH, users", "DE"),
        *(pytest.param(name, "DE", marks=pytest.mark.full) for name in ("TH", "SFP", "SFP, users")),
        pytest.param("BITSTOGRAM", "SS", marks=pytest.mark.full),
    ],
)
def test_one_report_is_unbiased_and_has_the_stated_variance(name: str, oracle: str) -> None:
    part = plausibly.make(oracle, epsilon=1, domain_size=9)
    name, _, split = name.partition(", ")
    small: dict[str, Any] = {"start": 1, "step": 1} if name in ("PEM", "TH") else {"hash_bits": 0}
    if name in ("PEM", "BITSTOGRAM"):
        small["weights"] = (2, 3) if name == "PEM" else (1, 2, 4)
    if name == "SFP":
        small["fragment"] = 1
    if split:
        small["split"] = split
    scheme = plausibly.make(name, domain=TEXTS, **dict.fromkeys(required(name), part), **small)
    law = scheme.estimator().law
    for holder in ("", "ab"):
        item = TEXTS.number(TEXTS.encode([holder])[0])
        for asked in ("", "a", "ab"):
            held = int(asked == holder)
            assert moments(scheme, item, asked) == (held, law.exact(1, held))


def test_a_thinned_law_is_the_law_of_many_thinned_crowds() -> None:
    # Mean over which users report, of the law given them, plus the variance of how many holders do: as rationals.
    law = BlockLaw(Fraction(3, 7), Fraction(-1, 5), per_mate=Fraction(2, 3), mate_share=Fraction(1, 4))
    share, n, f = Fraction(2, 5), 4, 2
    mean = Fraction(0)
    for holders in range(f + 1):
        for others in range(n - f + 1):
            chance = binomial(f, holders, share) * binomial(n - f, others, share)
            mean += chance * law.exact(holders + others, holders)
    total = (mean + f * share * (1 - share)) / share**2
    assert thinned(law.averaged, share).exact(n, f) == total


def binomial(n: int, k: int, p: Fraction) -> Fraction:
    from math import comb

    return comb(n, k) * p**k * (1 - p) ** (n - k)


def test_pairs_of_users_add_the_same_whoever_reports() -> None:
    law = VarianceLaw(
        Fraction(1), Fraction(0), collision=Fraction(1, 9), per_pair=Fraction(1, 8), per_fellow=Fraction(1, 7)
    )
    thin = thinned(law, Fraction(1, 3))
    assert (thin.collision, thin.per_pair, thin.per_fellow) == (law.collision, law.per_pair, law.per_fellow)
    assert thin.per_report == 3


@pytest.mark.parametrize("name", KEYED_SEARCHES)
def test_planning_knows_what_the_estimates_will_state(name: str) -> None:
    part = plausibly.make("OLH", epsilon=2, domain=plausibly.Keys())
    scheme = plausibly.make(name, domain=Strings("abcd", 4), **dict.fromkeys(required(name), part))
    tally = scheme.simulate({"ab": 20_000}, SeededRandom(1))
    stated = tally.estimate(["zzzz"[:0], "ab"]).variance
    # The users of a part are as many as expected to within a few per cent.
    np.testing.assert_allclose(stated, scheme.variance(20_000, np.array([0, 20_000])), rtol=0.1)
