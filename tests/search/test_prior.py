"""The model of characters is a distribution, whatever the noise, and finds what the data have."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn import drawn
from plausibly.search.evidence import Evidence, digits
from plausibly.search.prior import FLOOR, CharacterModel, character_model, isotonic

quickly = drawn(40)


def only_letters(letters: np.ndarray, variance: float, pairs: np.ndarray | None, pairs_variance: float) -> Evidence:
    length, symbols = letters.shape
    return Evidence(
        symbols=symbols,
        length=length,
        n=1000,
        start=1,
        letters=letters,
        letters_variance=np.full(length, variance),
        pairs=pairs,
        pairs_variance=None if pairs is None else np.full(length - 1, pairs_variance),
        first=np.zeros(symbols, dtype=np.float32),
        first_variance=1.0,
        first_users=1,
        levels=(),
        places=lambda level, prefixes: (np.zeros((1, 0), np.int64), np.zeros((1, 0), np.int64)),
    )


def noisy_model(seed: int, symbols: int, length: int, noise: float, *, pairs: bool) -> CharacterModel:
    rng = np.random.default_rng(seed)
    letters = rng.dirichlet(np.full(symbols, 0.3), length) + rng.normal(0, noise, (length, symbols))
    joint = rng.normal(symbols**-2.0, noise, (length - 1, symbols, symbols)) if pairs else None
    return character_model(only_letters(letters, noise**2 + 1e-12, joint, noise**2 + 1e-12))


@quickly
@given(
    st.integers(0, 2**32), st.integers(2, 6), st.integers(2, 5), st.sampled_from([0.0, 0.01, 0.3, 30.0]), st.booleans()
)
def test_all_strings_together_have_probability_one(
    seed: int, symbols: int, length: int, noise: float, pairs: bool
) -> None:
    model = noisy_model(seed, symbols, length, noise, pairs=pairs)
    total = np.exp(model.prefixes(length).astype(np.float64)).sum()
    assert total == pytest.approx(1.0, abs=1e-5)


@quickly
@given(st.integers(0, 2**32), st.integers(2, 5), st.booleans())
def test_extensions_multiply_the_symbols_and_nothing_follows_the_pad(seed: int, symbols: int, pairs: bool) -> None:
    model = noisy_model(seed, symbols, 4, 0.05, pairs=pairs)
    first, second = model.next_symbol(2), model.next_symbol(3)
    both = model.extensions(2, 2)
    for row in range(len(both)):
        for number, (a, b) in enumerate(digits(np.arange(symbols**2), 2, symbols).tolist()):
            after = 0.0 if b == 0 else -np.inf
            if a:
                after = second[min(a, len(second)) - 1, b]
            assert both[row, number] == pytest.approx(first[row, a] + after)


def test_no_symbol_is_ever_impossible() -> None:
    model = noisy_model(3, 6, 5, 5.0, pairs=True)
    assert min(model.next_symbol(j).min() for j in range(5)) >= np.log(FLOOR / 6)


def test_without_noise_the_shares_are_found_again() -> None:
    # Two letters and the pad; half the strings have ended after one symbol, the others are a or b, 3 to 1.
    letters = np.array([[0.0, 0.75, 0.25], [0.5, 0.375, 0.125]])
    model = character_model(only_letters(letters, 1e-12, None, 0.0))
    mixed = (1 - FLOOR) * np.array([0.5, 0.375, 0.125]) + FLOOR / 3
    np.testing.assert_allclose(np.exp(model.next_symbol(1)[0]), mixed, atol=2e-3)


def test_pairs_and_endings_are_learned() -> None:
    # "ab" repeated, ending after b only: a is followed by b, never by the end.
    rng = np.random.default_rng(0)
    length = rng.choice([2, 4], 100_000)
    strings = np.where(np.arange(6) < length[:, None], np.arange(6) % 2 + 1, 0)
    letters = np.array([np.bincount(strings[:, j], minlength=3) for j in range(6)]) / len(strings)
    pairs = np.array([np.bincount(3 * strings[:, j] + strings[:, j + 1], minlength=9) for j in range(5)]) / len(strings)
    model = character_model(only_letters(letters, 1e-6, pairs.reshape(5, 3, 3), 1e-6))
    alone = character_model(only_letters(letters, 1e-6, None, 0.0))
    after_a, after_b = np.exp(model.next_symbol(2))
    assert after_b[0] > 2 * after_a[0]
    assert len(alone.next_symbol(2)) == 1


@quickly
@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(0.1, 10)), min_size=1, max_size=30))
def test_isotonic_is_the_nearest_non_decreasing_sequence(values: list[tuple[float, float]]) -> None:
    y, w = (np.array(column) for column in zip(*values, strict=True))
    fit = isotonic(y, w)
    assert (np.diff(fit) >= 0).all()
    # Optimal: on each level the residuals cancel, and no level can be split with profit.
    for value in np.unique(fit):
        block = np.flatnonzero(fit == value)
        residual = np.cumsum(w[block] * (y[block] - value))
        assert residual[-1] == pytest.approx(0, abs=1e-8)
        assert (residual[:-1] >= -1e-8).all()
