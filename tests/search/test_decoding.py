"""Planted strings are found: short and long, alone and below one prefix, in every layout."""

import numpy as np
import pytest

from plausibly import kernels
from plausibly.kernels import reference
from plausibly.search.decoding import decode
from search.simulation import evidence_of, random_strings


def found(strings: np.ndarray) -> list[tuple[int, ...]]:
    return [tuple(string) for string in strings.tolist()]


def planted(length: int, symbols: int, seed: int, *, heavy: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """A few strings of many users among two thousand of few."""
    rng = np.random.default_rng(seed)
    strings = random_strings(rng, 2_000 + heavy, length, symbols)
    counts = np.full(len(strings), 100)
    counts[:heavy] = 20_000 - 1_000 * np.arange(heavy)
    return strings, counts


# Each heavy string has more than 15 standard errors at every level: fixed seeds, nothing left to chance.
@pytest.mark.full
@pytest.mark.parametrize(
    ("symbols", "length"), [(40, 2), (40, 4), (40, 5), (40, 6), (40, 13), (6, 15), (257, 5), (3, 20), (3_000, 3)]
)
def test_planted_strings_are_found(symbols: int, length: int) -> None:
    strings, counts = planted(length, symbols, 3)
    evidence = evidence_of(strings, counts, symbols, noise=0.2, seed=5)
    answer = decode(evidence, 6)
    assert set(found(answer.strings[:6])) == set(found(strings[:6]))
    order = np.array([found(strings).index(string) for string in found(answer.strings[:6])])
    assert (np.abs(answer.own[:6] - counts[order]) < 5 * answer.noise.errors[:6]).all()
    assert (answer.scores[:6] > 3).all()
    assert len(answer.strings) <= 24
    assert [step.length for step in answer.trace] == [evidence.start, *(level.length for level in evidence.levels)]


@pytest.mark.full
def test_strings_below_one_prefix_are_all_found() -> None:
    rng = np.random.default_rng(0)
    strings = random_strings(rng, 1_000, 9, 40)
    strings[:5] = [5, 4, 3, 2, 1, 6, 0, 0, 0]
    strings[1, 6], strings[2, 5], strings[3, 5:] = 7, 9, [8, 8, 8, 8]
    strings[4, 4:] = 0
    counts = np.full(len(strings), 50)
    counts[:5] = [60_000, 20_000, 15_000, 12_000, 9_000]
    answer = decode(evidence_of(strings, counts, 40, noise=0.2, seed=1), 5)
    assert set(found(answer.strings[:5])) == set(found(strings[:5]))


@pytest.mark.full
def test_no_string_holds_a_symbol_after_the_pad() -> None:
    strings, counts = planted(9, 40, 1)
    answer = decode(evidence_of(strings, counts, 40, noise=5.0, seed=2), 10)
    ended = np.cumsum(answer.strings == 0, axis=1) > 0
    assert (answer.strings[ended] == 0).all()
    assert len(set(found(answer.strings))) == len(answer.strings)


@pytest.mark.full
def test_groups_without_users_say_nothing() -> None:
    strings = np.array([[1, 2, 0, 0, 0, 0]], dtype=np.uint16)
    answer = decode(evidence_of(strings, np.array([1]), 40, noise=0.2, seed=0), 3)
    assert np.isfinite(answer.values).all()


@pytest.mark.full
def test_kernel_and_twin_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    strings, counts = planted(8, 40, 2)
    evidence = evidence_of(strings, counts, 40, noise=2.0, seed=3)
    ours = decode(evidence, 4)
    monkeypatch.setattr(kernels, "promising_children", reference.promising_children)
    twin = decode(evidence, 4)
    assert found(ours.strings) == found(twin.strings)
    assert [stage.limit for stage in ours.trace] == [stage.limit for stage in twin.trace]
    assert all(np.array_equal(mine.prefixes, its.prefixes) for mine, its in zip(ours.trace, twin.trace, strict=True))
