"""HH and HAAR: the laws of trees of blocks and of halves, by enumeration and against dense matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from plausibly import Integers, Ordered, cells
from plausibly.certify.argument import argument_applies
from plausibly.core.enumeration import mixture, output_law, public_law
from plausibly.core.grouped import Grouped
from plausibly.core.laws import Floats
from plausibly.core.linear import KnowsLinear, Linear
from plausibly.ordered import HAAR, HH, SLIDE
from plausibly.ordered.nested import Aligned, Nested
from plausibly.ordered.system import System, Width

SMALL: dict[str, Callable[[], Grouped]] = {
    "HH of two": lambda: HH(epsilon=1, domain=Integers(5), branching=2, weights=(3, 1, 2)),
    "HH of three": lambda: HH(epsilon=3, domain=Ordered(1, 6, other=True), branching=3),
    "HAAR": lambda: HAAR(epsilon=1, domain=Integers(6), weights=(1, 2, 2)),
    "HAAR with other": lambda: HAAR(epsilon=2, domain=Ordered(0, 3, other=True)),
    "SLIDE": lambda: SLIDE(epsilon=1, domain=Ordered(1, 6, other=True), widths=(1, 2, 3)),
}


def answers_of(scheme: Grouped, records: bytes) -> Linear:
    tally = scheme.accumulator()
    tally.absorb(np.frombuffer(records, dtype=scheme.report_dtype))
    decoder = scheme.estimator()
    assert isinstance(decoder, KnowsLinear)
    return decoder.linear(tally.evidence, tally.n)


def enumerated(scheme: Grouped, questions: Floats, item: int) -> tuple[Floats, Floats]:
    """Mean and variance of the answers from the report of one user, over all coins."""
    publics = public_law(scheme.randomizer, 10**5)
    assert publics is not None
    laws = [output_law(scheme.randomizer, item, public) for public in publics]
    law = mixture(laws, list(publics.values()))
    chances = np.array([weight / law.denominator for weight in law.weights.values()])
    answers = np.array([answers_of(scheme, record).weighted(questions)[0] for record in law.weights])
    mean = chances @ answers
    return mean, chances @ answers**2 - mean**2


@pytest.mark.parametrize("few", [64, pytest.param(0, marks=pytest.mark.full)], ids=["subsets", "products"])
@pytest.mark.parametrize("name", SMALL)
def test_laws_hold_over_all_coins(name: str, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "FEW", few)
    scheme = SMALL[name]()
    size = scheme.size
    questions = np.concatenate([np.eye(size), np.tri(size), np.arange(size)[None] ** 2.0])
    decoder = scheme.estimator()
    assert decoder.law is not None
    for item in (0, size // 2, size - 1):
        mean, variance = enumerated(scheme, questions, item)
        np.testing.assert_allclose(mean, questions[:, item], atol=1e-9)
        law = [float(decoder.law.of_one(item, other)) for other in range(size)]
        np.testing.assert_allclose(variance[:size], law, rtol=1e-9, atol=1e-9)
        counts = np.eye(size)[item]
        at_once = laws_of(scheme, questions, counts)
        np.testing.assert_allclose(variance, at_once, rtol=1e-9, atol=1e-9)


def laws_of(scheme: Grouped, questions: Floats, counts: Floats) -> Floats:
    """Variances of the answers in a crowd of one, by the law of linear questions."""
    if isinstance(scheme, HAAR):
        return scheme.halves.variance(questions, counts, 1)
    assert isinstance(scheme, HH | SLIDE)
    return scheme.system.ask(questions).variance(counts, 1)


@pytest.mark.parametrize("name", SMALL)
def test_the_proof_covers_the_client(name: str) -> None:
    scheme = SMALL[name]()
    assert argument_applies(scheme.randomizer, scheme.size)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("HAAR", {"width": 1}),
        ("HAAR", {"width": 0}),
        ("HAAR", {"order": 2}),
        ("HAAR", {"order": 8}),
        ("HAAR", {"items": 9}),
        ("HH of two", {"step": 0}),
        ("HH of two", {"base": 99}),
    ],
    ids=str,
)
def test_a_part_outside_the_conditions_is_not_covered(name: str, change: dict[str, int]) -> None:
    scheme = SMALL[name]()
    client: Any = scheme.randomizer
    assert argument_applies(client, scheme.size)
    vars(client.groups[0][0]).update(change)
    assert not argument_applies(client, scheme.size)


def tree(length: int, branching: int, seed: int) -> tuple[Width, ...]:
    """The levels of a tree with any shares and noise."""
    widths = [1]
    while widths[-1] * branching < length:
        widths.append(widths[-1] * branching)
    numbers = np.random.default_rng(seed).uniform(1.0, 2.0, (3, len(widths)))
    numbers[0] /= numbers[0].sum()
    return tuple(
        Width(Aligned(length, width), float(share), float(noise), float(own))
        for width, share, noise, own in zip(widths, *numbers, strict=True)
    )


@pytest.mark.parametrize(("length", "branching"), [(8, 2), (37, 2), (64, 4), (50, 3), (5, 5), (9, 8)])
def test_a_tree_is_solved_as_its_matrix_is(length: int, branching: int) -> None:
    nested = Nested(tree(length, branching, 1), length, False)
    dense = System(nested.widths, length, False)
    rng = np.random.default_rng(2)
    rows, counts = rng.normal(size=(3, length)), rng.uniform(0, 9, length)
    np.testing.assert_allclose(nested.solve(rows), dense.solve(rows), atol=1e-9)
    for paths, weights in ((nested.items, np.eye(length)), (nested.prefixes, np.tri(length))):
        questions = dense.ask(weights)
        np.testing.assert_allclose(paths.level, questions.level, atol=1e-9)
        np.testing.assert_allclose(paths.variance(counts, 77), questions.variance(counts, 77), atol=1e-9)
    own = [float(dense.ask(np.eye(1, length, x)).variance(np.eye(length)[x], 1)[0]) for x in range(length)]
    np.testing.assert_allclose(nested.own_variances(), own, atol=1e-9)


@pytest.mark.parametrize("size", [2, 3, 11, 16])
def test_halves_along_a_path_are_those_of_all_weights(size: int) -> None:
    halves, rng = HAAR(epsilon=1, domain=Integers(size)).halves, np.random.default_rng(3)
    counts, weights = rng.uniform(0, 9, size), rng.normal(size=(4, size))
    for prefixes, questions in ((False, np.eye(size)), (True, np.tri(size))):
        dense = halves.variance(questions, counts, 50)
        np.testing.assert_allclose(halves.along(prefixes, counts, 50), dense, atol=1e-9)
    own = [float(halves.variance(np.eye(1, size, x), np.eye(size)[x], 1)[0]) for x in range(size)]
    np.testing.assert_allclose(halves.own_variances(), own, atol=1e-9)
    # The counts answer every question as its coefficients do.
    coefficients, level = halves.transformed(weights)
    differences = [rng.normal(size=each.shape[1]) for each in coefficients]
    answers = 50 * level + sum(each @ own for each, own in zip(coefficients, differences, strict=True))
    np.testing.assert_allclose(weights @ halves.counts(differences, 50), answers)


@pytest.mark.parametrize("name", [name for name in SMALL if name != "SLIDE"])
def test_no_report_adds_more_than_stated(name: str) -> None:
    scheme = SMALL[name]()
    stated = scheme.contribution()
    assert stated is not None
    publics = public_law(scheme.randomizer, 10**5)
    assert publics is not None
    records = {record for public in publics for record in output_law(scheme.randomizer, 0, public).weights}
    added = np.array([answers_of(scheme, record).weighted(np.eye(scheme.size))[0] for record in records])
    assert (added.min(), added.max()) == pytest.approx((float(stated[0]), float(stated[1])))
