"""Attacks with fake reports: the published formulas, what fakes support, and the best of the tried hash functions."""

from __future__ import annotations

from math import exp, expm1
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cases import case
from plausibly import make
from reproduction.attacks import PROTOCOLS, Direct, Hashed, Unary, fake_reports

ITEMS = 16
TARGETS = np.array([3, 9, 14])


def protocol(name: str, epsilon: float = 1, items: int = ITEMS) -> Any:
    return PROTOCOLS[name](make(name, epsilon=epsilon, domain_size=items))


@pytest.mark.parametrize("epsilon", [0.5, 1, 3])
def test_gains_are_those_of_the_published_table(epsilon: float) -> None:
    # Overall gains of the table, for d items, r targets with a share f of the users, and a share β of fakes.
    d, r, f, beta = 100, 7, 0.02, 0.05
    direct, unary = Direct(SimpleNamespace(size=d, epsilon=epsilon)), Unary(SimpleNamespace(size=d, epsilon=epsilon))
    hashed = Hashed(SimpleNamespace(size=d, epsilon=epsilon, g=exp(epsilon) + 1))  # whole or not
    most = beta * (2 * r - f) + 2 * beta * r / expm1(epsilon)
    table = {
        "random items": (beta * (1 - f),) * 3,
        "random reports": (beta * (r / d - f), beta * (r - f), -beta * f),
        "maximal gain": (beta * (1 - f) + beta * (d - r) / expm1(epsilon), most, most),
    }
    for attack, gains in table.items():
        found = [attacked.gain(attack, r, beta, f) for attacked in (direct, unary, hashed)]
        assert found == pytest.approx(gains), attack
    roots = ((d - 2 + exp(epsilon)) ** 0.5, 2 * exp(epsilon / 2), 2 * exp(epsilon / 2))
    for attacked, root in zip((direct, unary, hashed), roots, strict=True):
        assert attacked.deviation(r, 400) == pytest.approx(r * root / expm1(epsilon) / 400**0.5)


def test_probabilities_and_supports_are_those_of_the_schemes() -> None:
    # 6,000 honest reports of one item: both shares within five standard errors.
    for name in PROTOCOLS:
        with case(name):
            attacked = protocol(name)
            reports = fake_reports(attacked, "random items", np.array([5]), 6000, seed=1)
            shares = attacked.supports(reports).mean(axis=0)
            assert shares[5] == pytest.approx(attacked.p, abs=5 * 0.5 / 6000**0.5)
            assert np.delete(shares, 5) == pytest.approx(attacked.q, abs=5 * 0.5 / 6000**0.5)
            tally = attacked.scheme.accumulator()
            tally.add(reports)
            assert attacked.supports(reports).sum(axis=0).tolist() == tally.scores().tolist()
            drawn = fake_reports(attacked, "random reports", TARGETS, 6000, seed=2)
            attacked.scheme.accumulator().add(drawn)  # they are records
            means = attacked.supports(drawn).mean(axis=0)
            assert means == pytest.approx(attacked.random_support, abs=5 * 0.5 / 6000**0.5)


def test_a_fake_of_the_maximal_gain_supports_as_many_targets_as_it_can() -> None:
    direct, unary = protocol("DE"), protocol("OUE")
    assert (direct.supports(fake_reports(direct, "maximal gain", TARGETS, 90, 1))[:, TARGETS].sum(axis=1) == 1).all()
    for attack, ones in (("bare", {3}), ("maximal gain", {int(0.5 + 15 / (exp(1) + 1))})):
        found = unary.supports(fake_reports(unary, attack, TARGETS, 90, 1))
        assert found[:, TARGETS].all()
        assert set(found.sum(axis=1).tolist()) == ones
    others = np.delete(unary.supports(fake_reports(unary, "maximal gain", TARGETS, 4000, 1)), TARGETS, axis=1)
    assert others.mean(axis=0) == pytest.approx(others.mean(), abs=5 * 0.3 / 4000**0.5)


def test_spread_fakes_have_the_numbers_of_ones_of_honest_reports() -> None:
    unary = protocol("OUE", items=64)
    ones = unary.supports(fake_reports(unary, "spread", TARGETS, 20_000, 1)).sum(axis=1)
    law = unary.scheme.law_of_ones()
    law[3] += law[:3].sum()  # no fewer than the targets
    law[:3] = 0
    np.testing.assert_allclose(np.bincount(ones, minlength=len(law)) / 20_000, law, atol=5 * 0.35 / 20_000**0.5)


def test_each_fake_on_local_hashing_takes_the_best_of_its_functions() -> None:
    hashed, functions = protocol("OLH"), 20
    reports = hashed.maximal_gain(TARGETS, 30, np.random.default_rng(4), functions)
    seeds = np.random.default_rng(4).integers(2**64, size=(30, functions), dtype=np.uint64)
    for seed, value, own in zip(reports["seed"], reports["hash"], seeds, strict=True):
        tried = np.zeros((functions, hashed.scheme.g), dtype=hashed.scheme.report_dtype)
        tried["seed"], tried["hash"] = own[:, None], np.arange(hashed.scheme.g)
        met = hashed.scheme.supports_each(tried.reshape(-1), TARGETS.astype(np.uint64)).sum(axis=1)
        chosen = np.zeros(1, dtype=hashed.scheme.report_dtype)
        chosen["seed"], chosen["hash"] = seed, value
        assert seed in own
        assert hashed.supports(chosen)[0, TARGETS].sum() == met.max()


def test_more_fakes_than_are_hashed_at_once_are_those_that_were_asked_for() -> None:
    reports = protocol("OLH").maximal_gain(TARGETS, 150, np.random.default_rng(1), 1000)
    assert len(reports) == len(np.unique(reports["seed"])) == 150


def test_other_attacks_are_refused() -> None:
    assert len(fake_reports(protocol("OLH"), "none", TARGETS, 0, 1)) == 0
    for name, attack in (("OLH", "bare"), ("DE", "spread"), ("OUE", "maximum")):
        with pytest.raises(ValueError, match=f"expected one that {name} has, got '{attack}'"):
            fake_reports(protocol(name), attack, TARGETS, 5, 1)
