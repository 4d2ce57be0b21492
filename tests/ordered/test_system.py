"""The windows and the equations of SLIDE against dense matrices, and interpolated variances against solved ones."""

from __future__ import annotations

import numpy as np
import pytest

from plausibly import Integers, Ordered
from plausibly.core.laws import Floats
from plausibly.ordered import SLIDE, system
from plausibly.ordered.families import Family, Kind
from plausibly.ordered.system import System
from plausibly.ordered.windows import Windows, step_of

SHAPES = [(10, 1), (10, 3), (10, 5), (17, 4), (7, 3), (1_100, 516), pytest.param(2_000, 1_000, marks=pytest.mark.full)]


def matrix(windows: Windows) -> Floats:
    """One row for each offset and block: whether the block contains each item."""
    items = np.arange(windows.length)
    rows = [
        (items + offset * windows.step) // windows.width == block
        for offset in range(windows.offsets)
        for block in range(windows.blocks)
    ]
    return np.array(rows, dtype=np.float64)


@pytest.mark.parametrize(("length", "width"), SHAPES)
def test_sums_over_windows_are_those_of_blocks(length: int, width: int) -> None:
    windows, rng = Windows(length, width), np.random.default_rng(1)
    assert windows.step == step_of(width)
    dense, values = matrix(windows), rng.normal(size=(3, length))
    table = (values @ dense.T).reshape(3, windows.offsets, windows.blocks)
    sums = windows.sums(values)
    np.testing.assert_allclose(windows.at_offsets(sums), table, atol=1e-9)
    np.testing.assert_allclose([windows.of_blocks(each) for each in table], sums, atol=1e-9)
    np.testing.assert_allclose(windows.spread(sums), values @ dense.T @ dense, atol=1e-8)
    # Every item is in one block of every offset, and no block is beyond the last one.
    assert (dense.sum(axis=0) == windows.offsets).all()


def dense_kernel(own: System) -> Floats:
    """K, element by element."""
    kernel = np.zeros((own.size, own.size))
    for width in own.widths:
        blocks = matrix(width.windows)
        kernel[: own.length, : own.length] += width.weight * width.per_offset * blocks.T @ blocks
        if own.other:
            kernel[-1, -1] += width.weight * width.share
    return kernel


def system_of(length: int, *, epsilon: float = 1.0, other: bool = False) -> System:
    return SLIDE(epsilon=epsilon, domain=Ordered(1, length, other=other)).system


@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("length", [8, 37, pytest.param(120, marks=pytest.mark.full)])
def test_the_system_is_that_of_its_matrix(length: int, other: bool) -> None:
    own, rng = system_of(length, other=other), np.random.default_rng(2)
    kernel, weights = dense_kernel(own), rng.normal(size=(4, own.size))
    np.testing.assert_allclose(own.kernel(weights), weights @ kernel, atol=1e-9)
    questions = own.ask(weights)
    np.testing.assert_allclose(questions.solved @ kernel + questions.level[:, None], weights, atol=1e-9)
    np.testing.assert_allclose(questions.solved.sum(axis=1), 0, atol=1e-9)
    scores = rng.normal(size=own.size)
    counts = own.counts(scores, 50)
    assert counts.sum() == pytest.approx(50)
    np.testing.assert_allclose(questions.values(scores, 50), weights @ counts, atol=1e-8)


@pytest.mark.parametrize("other", [False, True])
def test_gradients_find_what_the_inverse_finds(other: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    own, rows = system_of(150, other=other), np.random.default_rng(3).normal(size=(5, 150 + other))
    solved = own.solve(rows)
    monkeypatch.setattr(system, "DENSE", 100)
    np.testing.assert_allclose(own.solve(rows), solved, rtol=1e-8, atol=1e-9 * np.abs(solved).max())


@pytest.mark.full
def test_more_than_a_thousand_items_are_solved_to_the_tolerance() -> None:
    own, rows = system_of(3_000), np.random.default_rng(4).normal(size=(2, 3_000))
    np.testing.assert_allclose(own.kernel(own.solve(rows)), rows, atol=1e-9)


def crowds(length: int) -> dict[str, Floats]:
    """Shapes of data: flat, five spikes, one giant, and an exponential with an empty tail."""
    rng = np.random.default_rng(5)
    shapes = {
        "flat": np.ones(length),
        "spiky": np.bincount(rng.integers(0, length, 5), minlength=length).astype(np.float64),
        "giant": np.eye(1, length, length // 3)[0],
        "exponential": np.exp(-np.arange(length) / (length / 50)),
    }
    return {name: 1e6 * shape / shape.sum() for name, shape in shapes.items()}


def places(length: int) -> Floats:
    """Places at random, and near both ends."""
    near = np.array([0, 1, 2, 3, 5, 9, 30, 100])
    random = np.random.default_rng(6).integers(0, length - 1, 20)
    return np.unique(np.concatenate([near, random, length - 2 - near]))


def expect_close(length: int, epsilon: float, kind: Kind) -> None:
    own = SLIDE(epsilon=epsilon, domain=Integers(length)).system
    family, asked = Family(own, kind), places(length)
    assert len(family.places) < length / 10, "most places are interpolated"
    questions = own.ask(family.weights(asked))
    for name, counts in crowds(length).items():
        stated = family.variance(counts, 10**6)[asked]
        exact = questions.variance(counts, 10**6)
        worst = float(np.abs(stated / exact - 1).max())
        assert worst <= 0.01, f"{name}: {worst:.2%}"


@pytest.mark.full
@pytest.mark.parametrize("kind", ["items", "prefixes"])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0, 5.0])
def test_interpolated_variances_are_within_one_percent(epsilon: float, kind: Kind) -> None:
    expect_close(4_096, epsilon, kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["items", "prefixes"])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0, 5.0])
def test_interpolated_variances_of_many_items_are_within_one_percent(epsilon: float, kind: Kind) -> None:
    expect_close(65_536, epsilon, kind)


@pytest.mark.parametrize("kind", ["items", "prefixes"])
def test_few_items_are_not_interpolated(kind: Kind) -> None:
    own = system_of(50, other=True)
    counts = np.random.default_rng(7).uniform(0, 9, 51)
    family = Family(own, kind)
    exact = own.ask(family.weights(np.arange(50))).variance(counts, 200)
    np.testing.assert_allclose(family.variance(counts, 200), exact)
