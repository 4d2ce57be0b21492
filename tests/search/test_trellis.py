"""TRELLIS: finds strings of all lengths and alphabets, says which are significant, and counts given ones."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

import plausibly
import trusting
from cases import in_turn
from plausibly import HeavyHitters, ParameterError, Scheme, SeededRandom, Strings
from plausibly.core.history import search_by
from plausibly.search import user_shares
from plausibly.search.folded_parts import block_size

LETTERS = Strings("abcd", 6)
COMMON = {"abcdab": 12_000, "ab": 10_000, "ddcc": 9_000, "dabb": 7_000, "c": 6_500, "": 6_000}
"""Of full length and shorter, one not longer than the first prefixes, and the empty one."""


def trellis(domain: Strings = LETTERS, **given: Any) -> Scheme:
    """A search with small tables: prefixes of two symbols, and longer ones folded."""
    start, step = given.setdefault("start", 2), given.setdefault("step", min(2, domain.length))
    cohorts, epsilon = given.setdefault("cohorts", 2), given.pop("epsilon", 3)
    symbols, length = domain.symbols, domain.length
    folds = cohorts * len(range(start, length, step))

    def oracle(items: int) -> Scheme:
        return plausibly.make("TLH", epsilon=epsilon, domain_size=max(2, items))

    block = block_size(symbols, step)
    tables = {"letters": symbols, "pairs": symbols**2, "first": symbols**start, "folded": 64 * block}
    given = {table: oracle(items) for table, items in tables.items()} | {"deep": oracle(16 * block)} | given
    given.setdefault("weights", [1] * (2 * length - 1) + [12] + [8] * folds)
    return plausibly.make("TRELLIS", domain=domain, **given)


@pytest.fixture(scope="module")
def tally() -> Any:
    """Of a crowd in which every common string is 20 standard deviations above nothing."""
    return trellis().simulate(COMMON, SeededRandom(1))


def test_common_strings_of_every_length_are_found_with_their_counts(tally: Any) -> None:
    found = tally.search(k=6)
    assert isinstance(found, HeavyHitters)
    assert sorted(found.items.tolist()) == sorted(COMMON)
    truth = np.array([COMMON[text] for text in found.items])
    # False alarm: five standard deviations for 6 counts, below 4e-6 over fresh seeds.
    assert (np.abs(found.values - truth) < 5 * np.sqrt(found.variance)).all()
    assert (found.n, found.complete, found.history) == (sum(COMMON.values()), False, (search_by("TRELLIS"),))


@pytest.mark.parametrize(
    ("domain", "common"),
    [
        (Strings("äé\N{GRINNING FACE}中\u0301", 3), ["\N{GRINNING FACE}中", "é\u0301ä", "中"]),
        (Strings(bytes([0, 255, 7]), 3), [b"\0\0\0", b"\xff\0", b"\0", b""]),
        pytest.param(
            Strings("".join(chr(0x4E00 + i) for i in range(300)), 3),
            ["\u4e00" * 3, "\u4f2b\u4e01", "\u4eff"],
            marks=pytest.mark.full,
        ),
        (Strings("ab", 3, other=True), ["a\N{REPLACEMENT CHARACTER}", "bbb"]),
        (Strings("a", 3), ["aaa", "a", ""]),
        (Strings("ab", 1), ["a", ""]),
        (Strings("a", 1), ["a", ""]),
    ],
    ids=["characters", "bytes", "many", "other", "one letter", "one place", "one letter in one place"],
)
def test_any_alphabet_is_searched(domain: Strings, common: list[Any]) -> None:
    scheme = trellis(domain, start=1, step=1)
    crowd = {text: 9_000 - 1_000 * i for i, text in enumerate(common)}
    assert sorted(scheme.simulate(crowd, SeededRandom(1)).search(k=len(common)).items) == sorted(common)
    assert len(scheme.accumulator().search()) == 0


def test_long_strings_are_found_cut() -> None:
    found = trellis().simulate({"abcdabcdabcd": 9_000, "dd": 6_000}, SeededRandom(1)).search(k=2)
    assert sorted(found.items) == ["abcdab", "dd"]


def test_nothing_is_folded_where_the_first_prefix_is_the_whole_string() -> None:
    scheme = trellis(Strings("abc", 2))
    assert len(scheme.parts) == 4
    tally = scheme.simulate({"ab": 6_000, "c": 4_000}, SeededRandom(1))
    assert tally.search(k=2).items.tolist() == ["ab", "c"]
    assert tally.search(k=2).trace[-1].label == "whole strings"


def test_oracles_may_have_more_items_than_they_are_asked_about() -> None:
    wide = {name: plausibly.make("TLH", epsilon=3, domain_size=100) for name in ("letters", "pairs", "first")}
    found = trellis(**wide).simulate(COMMON, SeededRandom(1)).search(k=6)
    assert sorted(found.items) == sorted(COMMON)


@pytest.mark.full
def test_only_what_is_significant_comes_back_at_a_level(tally: Any) -> None:
    everything, significant = tally.search(k=40), tally.search(k=40, level=0.05)
    assert sorted(significant.items) == sorted(COMMON)
    assert (significant.p_values <= 0.05).all()
    chosen = everything.p_values <= 0.05
    assert everything.items[chosen].tolist() == significant.items.tolist()
    assert ((everything.p_values >= 0) & (everything.p_values <= 1)).all()
    assert len(everything) == 40
    assert set(tally.search(k=2, level=0.05).items) <= set(COMMON)


@pytest.mark.full
def test_what_nobody_holds_is_seldom_significant() -> None:
    # 40 crowds in which strings of five letters are all as common, at 5 %: more than 9 alarms have a chance below 1e-4.
    texts = ["".join("abcd"[i >> 2 * j & 3] for j in range(5)) for i in range(1024)]
    alarms = 0
    for seed in range(40):
        found = trellis(hash_seed=seed).simulate(dict.fromkeys(texts, 5), SeededRandom(seed)).search(level=0.05)
        alarms += bool(set(found.items) - set(texts))
    assert alarms <= 9


@pytest.mark.parametrize("users", [0, *(pytest.param(n, marks=pytest.mark.full) for n in (1, 2, 3, 5, 20))])
def test_hardly_any_users_are_no_trouble(users: int) -> None:
    scheme = trellis()
    tally: Any = scheme.accumulator()
    tally.add(scheme.privatize(["abcdab", "ab", ""][:users] * (1 + users // 3), rng=SeededRandom(1)))
    with np.errstate(all="raise"):
        found = tally.search(k=50)
        assert len(tally.search(k=50, level=0.01)) <= len(found)
        tally.estimate(["ab"]).interval()
    if not users:
        assert (len(found), found.n, len(found.p_values), len(found.to_frame())) == (0, 0, 0, 0)
        assert "0 items from 0 reports" in repr(found)


@pytest.mark.full
def test_what_is_estimated_at_nothing_is_not_found(tally: Any) -> None:
    found = tally.search(k=1000)
    assert len(found) < 1000
    assert (found.values > 0).all()


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"k": 0}, "k: expected"),
        ({"k": 1001}, "k: expected 1 to 1000"),
        ({"k": 1.5}, "k: expected"),
        ({"k": True}, "k: expected"),
        ({"k": None}, "k: expected"),
        ({"level": 0}, "level: expected"),
        ({"level": 1}, "level: expected"),
        ({"level": "0.05"}, "level: expected"),
        ({"level": float("nan")}, "level: expected"),
        ({"treshold": 5}, "unknown option 'treshold'"),
    ],
    ids=str,
)
def test_choices_that_make_no_sense_are_refused(tally: Any, choices: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(message)):
        tally.search(**choices)


def test_the_trace_tells_how_many_were_asked_looked_at_and_kept(tally: Any) -> None:
    found = tally.search(k=6)
    assert [step.label for step in found.trace] == ["first 2 characters", "first 4 characters", "first 6 characters"]
    first = len(tally.parts) - 5
    cohorts = [tally.parts[first : first + 1], tally.parts[first + 1 : first + 3], tally.parts[first + 3 :]]
    assert [step.users for step in found.trace] == [sum(map(len, parts)) for parts in cohorts]
    for step in found.trace:
        assert len(step.kept) == len(step.values) <= step.candidates
        assert step.label in repr(step)


def test_found_and_lost_strings_are_explained(tally: Any) -> None:
    found = tally.search(k=6)
    lines = found.explain("abcdab").splitlines()
    assert lines[0] == "abcdab: found"
    assert len(lines) == 1 + len(found.trace) + 1
    assert lines[-2].startswith("  first 6 characters, abcdab: number 1 of ")
    assert "  at the end: number" in lines[-1]
    assert " of 6 returned, estimated " in lines[-1]
    assert found.explain("abcdabcd") == found.explain("abcdab"), "it was cut when it was reported"
    assert found.explain("").startswith("(empty): found")
    assert found.explain("bbbb").startswith("bbbb: not found")


@pytest.mark.full
def test_the_tree_shows_every_step_and_what_was_found(tally: Any) -> None:
    mpl.use("Agg")
    from matplotlib import pyplot

    try:
        axes = tally.search(k=6).plot_tree(others=2)
        assert {text or "(empty)" for text in COMMON} <= {text.get_text() for text in axes.texts}
        axes.get_figure().canvas.draw()
        trellis().accumulator().search().plot_tree().get_figure().canvas.draw()
    finally:
        pyplot.close("all")


def test_a_search_finds_the_same_in_a_restored_and_in_a_merged_tally() -> None:
    scheme = trellis()
    whole: Any = scheme.accumulator()
    parts = [scheme.accumulator() for _ in range(3)]
    for i, part in enumerate(parts):
        reports = scheme.privatize(list(COMMON) * 400, SeededRandom(i))
        part.add(reports)
        whole.add(reports)
    merged: Any = plausibly.Accumulator.from_bytes(scheme, parts[0].to_bytes())
    for part in parts[1:]:
        merged.merge(part)
    assert merged.to_bytes() == whole.to_bytes()
    found, again = merged.search(k=20), whole.search(k=20)
    assert found.items.tolist() == again.items.tolist()
    np.testing.assert_array_equal(found.values, again.values)
    np.testing.assert_array_equal(found.p_values, again.p_values)
    assert merged.to_bytes() == whole.to_bytes(), "a search changes nothing"


@pytest.mark.full
@pytest.mark.parametrize(
    ("seeds", "oracle", "options"),
    [
        (60, "TLH", {}),
        (600, "TLH", {}),
        (200, "HR", {"variant": "pure"}),
        (200, "HR", {"variant": "block"}),
        (200, "FLH", {"hashes": 100}),
    ],
)
def test_counts_of_given_strings_are_unbiased_and_have_the_stated_variance(
    seeds: int, oracle: str, options: dict[str, Any]
) -> None:
    # Hash functions and coins of their own for each seed, and so few cells that a string shares one with several of 40
    # others. The means of errors and of their squares over the seeds lie within 4.5 of their standard errors, for 5
    # strings each: false alarm below 1e-4 in each run.
    texts, counts = ["abcdab", "ab", "ddcc", "", "bbbb"], np.array([90, 60, 30, 20, 0])
    others = {"".join("abcd"[i >> 2 * j & 3] for j in range(3)) + "d": 50 for i in range(40)}
    crowd = dict(zip(texts, counts.tolist(), strict=True)) | others
    n, f2 = sum(crowd.values()), sum(count**2 for count in crowd.values())
    planned, stated, errors = None, [], []
    for seed in range(seeds):
        own = {"hash_seed": seed} if oracle == "FLH" else {}
        cells = plausibly.make(oracle, epsilon=3, domain_size=64, **options, **own)
        scheme = trellis(hash_seed=seed, folded=cells, deep=cells)
        planned = scheme.variance(n, counts, f2=f2)
        estimates = scheme.simulate(crowd, SeededRandom(seed)).estimate(texts)
        stated.append(estimates.variance)
        errors.append(estimates.values - counts)
    assert (np.abs(np.mean(errors, axis=0)) < 4.5 * np.std(errors, axis=0) / np.sqrt(seeds)).all()
    squares, variance = np.square(errors), np.mean(stated, axis=0)
    # They estimate f and F2 themselves, and on average do it well; rather too high, with as few cells as here.
    off, error = squares.mean(axis=0) / variance - 1, squares.std(axis=0) / np.sqrt(seeds) / variance
    assert (off < 4.5 * error).all()
    assert (off > -(0.15 if oracle == "FLH" else 0.1) - 4.5 * error).all()
    # The law that planning uses is that of the longest strings; shorter ones are seen by more groups.
    assert (variance < 1.1 * planned).all()
    assert (variance[[1, 3]] < 0.6 * planned[[1, 3]]).all()


def test_the_preset_shares_its_users_out_as_planned() -> None:
    domain = Strings("abcdefghijklmnopqrstuvwxyz", 12)
    scheme: Any = plausibly.TRELLIS(3, domain=domain, users=1_000_000)
    start, step, ends = user_shares.level_lengths(domain.symbols, domain.length)
    assert (scheme.levels, scheme.step) == ((start, *ends), step)
    shares = user_shares.shares(10**6, domain.symbols, 12, letter_variance=float(scheme.letters.variance(1)))
    groups = [12, 11, 1, *[scheme.cohorts] * len(ends)]
    bounds = np.cumsum([0, *groups])
    found = [sum(scheme.share(i) for i in range(*ends)) for ends in pairwise(bounds)]
    # Weights are rounded to whole tickets.
    wanted = [shares.letters, shares.pairs, shares.first, *shares.levels]
    np.testing.assert_allclose([float(share) for share in found], wanted, atol=1e-4)
    assert sum(found) == Fraction(1)
    assert abs(sum(scheme.weights) - user_shares.TICKETS) <= len(scheme.weights)
    assert scheme.epsilon == 3
    assert plausibly.from_json(scheme.to_json()) == scheme


@pytest.mark.parametrize("domain", [Strings("ab", 3), Strings("a", 1), Strings(bytes(range(256)), 2)], ids=str)
def test_the_preset_takes_any_strings(domain: Strings) -> None:
    scheme: Any = plausibly.TRELLIS(2, domain=domain, users=10_000)
    assert scheme.levels[-1] == domain.length
    trusting.load(scheme.to_json()).privatize(domain.alphabet[:1])


@in_turn(
    ("given", "message"),
    [
        ({"folded": plausibly.make("TLH", epsilon=3, domain_size=96)}, "folded: expected a power of two"),
        ({"deep": plausibly.make("TLH", epsilon=3, domain_size=16)}, "expected a power of two of at least 32 cells"),
        ({"folded": plausibly.make("TLH", epsilon=3, domain=plausibly.Keys())}, "folded: expected a scheme with"),
        ({"letters": plausibly.make("FLH", epsilon=3, domain=plausibly.Keys())}, "letters: expected a scheme with"),
        ({"letters": plausibly.make("DE", epsilon=3, domain_size=4)}, "letters: expected"),
        ({"pairs": plausibly.make("DE", epsilon=3, domain_size=24)}, "pairs: expected"),
        ({"first": 5}, "first: expected a scheme"),
        ({"folded": None, "deep": None}, "folded: expected"),
        ({"weights": [1, 2, 3]}, "weights: expected 16 positive integers"),
        ({"weights": [0] * 16}, "weights: expected"),
        ({"cohorts": 0, "weights": [1] * 12}, "cohorts: expected 1 to 16"),
        ({"hash_seed": -1}, "hash_seed: expected"),
        ({"start": 7}, "start: expected"),
    ],
)
def test_parts_that_do_not_fit_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        trellis(**given)
