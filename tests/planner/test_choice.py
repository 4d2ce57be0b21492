"""No other scheme of the catalogue within the same limits beats what is recommended by more than 10 % in MSE."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
import pytest

import plausibly
from cases import in_turn
from planner.situations import SITUATIONS, Situation, crowd, eighths
from plausibly import Above, Integers, Keys, Limits, ParameterError, Plan, Scheme, Within, make, oracles
from plausibly.core.domain import Domain
from plausibly.planner.skew import meeting

WIDTHS = (3, 15, 16, 64, 100, 255, 256, 1000, 1024, 4096, 2**16, 2**20)
ROWS = (1, 2, 3, 16, 64, 100, 256, 1000, 2**14)


def parameters(name: str, size: int | None, *, few: bool) -> Iterator[dict[str, Any]]:
    """Every choice of parameters that might be better than the default."""
    yield {}
    if few:
        return
    if name == "OLH":
        yield from ({"hash_range": g} for g in (2, 3, 4, 5, 8, 12, 20, 50, 100, 256))
    if name == "FLH":
        yield from (
            {"hashes": k, "hash_range": g} for k in (16, 100, 256, 3000, 2**16, 2**20) for g in (None, 2, 4, 16)
        )
    if name == "HM":
        yield from ({"coefficients": t} for t in range(1, 9))
    if name == "HR":
        yield from ({"variant": variant} for variant in ("pure", "block"))
    if name == "SS" and size:
        yield from (
            {"subset_size": w} for w in {1, 2, 3, 5, *(max(1, size * k // 16) for k in range(1, 9))} if w < size
        )
    if name == "TLH":
        yield from (
            {"hash_bits": t, "window": w} for t in range(1, 11) for w in (1, 2, 3, 5, 9, 2**t // 3) if 0 < w < 2**t
        )
    if name == "AGR" and size:
        for t in range(1, 11):
            least = -(-(size - 1).bit_length() // t)
            windows = {w for w in (1, 2, 3, 4, 7, 2**t // 5, 2**t // 4, 2**t // 3) if 0 < w < 2**t}
            yield from (
                {"hash_bits": t, "dimension": m, "window": w}
                for m in (least, least + 1)
                if t * m <= 20
                for w in windows
            )


def rivals(domain: Domain, epsilon: Fraction) -> Iterator[Scheme]:
    """The oracles of the catalogue, and the sketches over all of them."""
    for name in vars(oracles):
        if name in plausibly.CATALOG:
            for given in parameters(name, domain.size, few=False):
                yield from made(name, epsilon=epsilon, domain=domain, **given)
    for width in WIDTHS:
        cells = [
            oracle
            for name in vars(oracles)
            if name in plausibly.CATALOG
            for given in parameters(name, width, few=True)
            for oracle in made(name, epsilon=epsilon, domain=Integers(width), **given)
        ]
        for name in ("CM", "CS"):
            for rows in ROWS:
                for oracle in cells:
                    yield from made(name, oracle=oracle, rows=rows, domain=domain)


def made(name: str, **given: Any) -> Iterator[Scheme]:
    try:
        yield make(name, **given)
    except ParameterError:
        return


def within(scheme: Scheme, n: int, limits: Limits) -> bool:
    if limits.report_bytes is not None and scheme.report_dtype.itemsize > limits.report_bytes:
        return False
    shape = scheme.cell_shape
    state = n * scheme.report_dtype.itemsize if shape is None else 8 * prod(shape) * (scheme.channels or 1)
    return state <= limits.most_memory


def squared_error(scheme: Scheme, plan: Plan, situation: Situation) -> float:
    """By the scheme's own law: the mean over a crowd of known counts, or of the item that the target is about."""
    n, target = plan.users, plan.target
    size = scheme.domain.size

    def of(frequency: float) -> float:
        f = frequency * n
        rest = n - f
        share = meeting(plan.skew, size or 10**6)
        return float(scheme.variance(n, f=f, f2=f * f + rest + rest * max(rest - 1, 0) * share))

    if isinstance(target, Within):
        return of(float(target.frequency))
    if isinstance(target, Above):
        return max(of(0.0), of(float(target.share)))
    if size is None:
        return of(0.0)
    counts = crowd(size, n, situation.skew)
    return float(np.mean(scheme.variance(n, f=counts, f2=float((counts**2).sum()))))


@eighths
def test_nothing_in_the_catalogue_is_more_than_ten_percent_better(part: int) -> None:
    for situation in SITUATIONS[part::8]:
        plan = situation.plan()
        own = squared_error(plan.scheme, plan, situation)
        for rival in rivals(plan.domain, plan.epsilon):
            if within(rival, plan.users, plan.limits):
                assert own <= 1.10 * squared_error(rival, plan, situation), (str(situation), plan.scheme, rival)


@pytest.mark.full
@in_turn("situation", SITUATIONS)
def test_limits_are_kept_and_the_scheme_is_real(situation: Situation) -> None:
    plan = situation.plan()
    assert within(plan.scheme, plan.users, plan.limits)
    assert plan.epsilon <= plan.limits.most_epsilon
    assert plausibly.from_json(plan.scheme.to_json()) == plan.scheme
    assert plan.scheme.epsilon == plan.epsilon
    assert plan.best.costs.report_bytes == plan.scheme.report_dtype.itemsize
    assert all(choice.reason for choice in plan.runners_up)
    names = [choice.scheme.name for choice in (plan.best, *plan.runners_up)]
    assert len(names) == len(set(names))


@pytest.mark.full
@in_turn(
    ("size", "epsilon", "name"),
    [(2, 1, "DE"), (29, 3, "DE"), (16, 1, "SS"), (1000, 1, "TLH"), (100_000, 3, "AGR"), (100_000, 6, "AGR")],
)
def test_the_decision_table(size: int, epsilon: int, name: str) -> None:
    assert plausibly.plan(size, 10**6, epsilon=epsilon).scheme.name == name


def test_texts_are_asked_about_without_keeping_reports_and_strings_are_searched() -> None:
    assert plausibly.plan(Keys(), 10**6, epsilon=3).scheme.name == "CM"
    words = plausibly.Strings("abcdefghijklmnopqrstuvwxyz", 6)
    plan = plausibly.plan(words, 10**6, epsilon=3, hash_seed=5)
    assert plan.scheme == plausibly.TRELLIS(3, domain=words, users=10**6, hash_seed=5)


def test_labels_are_planned_for_like_numbers_and_keep_their_names() -> None:
    labels = [f"label {i}" for i in range(40)]
    plan = plausibly.plan(labels, 5000, epsilon=2)
    assert plan.domain == plausibly.Labels(tuple(labels))
    assert plan.best.error == plausibly.plan(40, 5000, epsilon=2).best.error
    other = plausibly.plan(plausibly.Labels(tuple(labels), other=True), 5000, epsilon=2)
    assert other.domain.size == 41


def test_a_fresh_hash_seed_is_drawn_unless_one_is_given() -> None:
    seeds = {plausibly.plan(Keys(), 10**6, epsilon=3).scheme.hash_seed for _ in range(3)}
    assert len(seeds) == 3
    assert plausibly.plan(Keys(), 10**6, epsilon=3, hash_seed=7).scheme.hash_seed == 7
