"""A dictionary is a hint: its strings need less evidence, others are found as before, and no level is exceeded."""

from __future__ import annotations

import re
from math import exp, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plausibly
from plausibly import DomainError, ParameterError, Scheme, SeededRandom, Strings
from plausibly.core.tails import Noise
from plausibly.search.decoding import decode
from plausibly.search.dictionary import Dictionary, dictionary_of, distinct, places_in
from plausibly.search.evidence import Evidence, numbers
from plausibly.search.prior import character_model
from plausibly.search.scoring import cells_of, combined, followed, read, support
from plausibly.search.significance import log_weights, significant
from search.simulation import evidence_of, random_strings
from search.test_significance import every_string

pytestmark = pytest.mark.full

quickly = settings(max_examples=15, deadline=None, derandomize=True)
SHAPES = [(3, 6, (2, (4, 6))), (4, 4, (2, (3, 4))), (3, 5, (2, (4, 5))), (5, 3, (1, (2, 3))), (4, 3, (3, ()))]


def dictionary(rows: np.ndarray) -> Dictionary:
    return Dictionary(rows[distinct(rows)].astype(np.uint16))


def rows_of(strings: np.ndarray) -> list[tuple[int, ...]]:
    return [tuple(string) for string in strings.tolist()]


def small(shape: Any, seed: int, *, noise: float, skew: float, size: int) -> tuple[Evidence, Dictionary, np.ndarray]:
    """Evidence over so few strings that all can be listed, and some of these as a dictionary."""
    symbols, length, layout = shape
    rng = np.random.default_rng(seed)
    strings = random_strings(rng, 12, length, symbols)
    counts = np.maximum(1, (3_000 / np.arange(1, len(strings) + 1) ** skew).astype(np.int64))
    evidence = evidence_of(strings, counts, symbols, noise=noise, seed=seed, layout=layout)
    everything = every_string(symbols, length)
    return evidence, dictionary(everything[rng.choice(len(everything), min(size, len(everything)))]), everything


def slow_weights(evidence: Evidence, known: list[tuple[int, ...]], k: int) -> dict[tuple[int, ...], float]:
    """The weights of a dictionary's strings, node by node."""
    found, start = {}, evidence.start
    lengths = [start, *(level.length for level in evidence.levels)]

    def ended(prefix: tuple[int, ...]) -> bool:
        return prefix[-1] == 0 or len(prefix) == evidence.length

    def begun(prefix: tuple[int, ...]) -> int:
        return sum(string[: len(prefix)] == prefix for string in known)

    def go_down(prefix: tuple[int, ...], weight: float, count: np.ndarray, variance: np.ndarray) -> None:
        if ended(prefix):
            found[prefix + (0,) * (evidence.length - len(prefix))] = weight
            return
        i = lengths.index(len(prefix))
        level = evidence.levels[i]
        noise = evidence.noise(level.pooled)
        children = sorted({string[: level.length] for string in known if string[: len(prefix)] == prefix})
        prior = {child: begun(child) / begun(prefix) for child in children}
        rest = 1 - sum(prior[child] for child in children if ended(child))
        shares, own = {}, {}
        for child in children:
            cells = cells_of(evidence, i, np.array([child], dtype=np.uint16))
            own[child] = combined(read(level, cells), evidence.noise(level.variance))
            if not ended(child):
                odds = log(prior[child] / rest) + support(own[child], noise, count, variance)[0]
                shares[child] = exp(min(0.0, odds))
        for child in children:
            part = prior[child] if ended(child) else rest * shares[child] / max(1.0, sum(shares.values()))
            pooled, pooled_variance = followed(own[child], noise, count, variance)
            go_down(child, weight * part, np.maximum(pooled, 0.0), pooled_variance)

    roots = sorted({string[:start] for string in known})
    noise = evidence.noise(evidence.first_variance)
    count = {
        root: max(float(evidence.first[numbers(np.array([root]), 0, start, evidence.symbols)[0]]), 0.0)
        for root in roots
    }
    going = [root for root in roots if not ended(root)]
    odds = {root: count[root] ** 2 / (2 * noise) + log(begun(root) / len(known)) for root in going}
    best = sorted([odds[root] for root in going] + [-np.inf] * (len(roots) - len(going)), reverse=True)
    lead = max(0.0, best[min(3 * k, len(best)) - 1])
    shares = {root: exp(min(0.0, odds[root] - lead)) for root in going}
    rest = sum(map(begun, going)) / len(known)
    for root in roots:
        part = rest * shares[root] / max(1.0, sum(shares.values())) if root in going else 1 / len(known)
        go_down(root, part, np.array([count[root]]), np.array([noise]))
    return found


@quickly
@given(
    st.integers(0, 2**16),
    st.sampled_from(SHAPES),
    st.sampled_from([1e-3, 0.2, 30.0]),
    st.sampled_from([0.0, 1.0, 3.0]),
    st.sampled_from([1, 5, 40, 500]),
)
def test_weights_of_all_strings_sum_to_one_at_most(seed: int, shape: Any, noise: float, skew: float, size: int) -> None:
    evidence, known, everything = small(shape, seed, noise=noise, skew=skew, size=size)
    model = character_model(evidence)
    without = np.exp(log_weights(evidence, model, everything, 2))
    weights = np.exp(log_weights(evidence, model, everything, 2, known))
    assert weights.sum() <= 1 + 1e-5
    own = places_in(everything, known.strings) >= 0
    # What is not in the dictionary pays one factor of two; what is there never more.
    np.testing.assert_allclose(weights[~own], without[~own] / 2, rtol=1e-12)
    assert (weights[own] >= without[own] / 2).all()
    slow = slow_weights(evidence, rows_of(known.strings), 2)
    expected = [without[i] / 2 + slow[string] / 2 for i, string in enumerate(rows_of(everything)) if string in slow]
    np.testing.assert_allclose(weights[own], expected, rtol=1e-6)
    # Of some strings as of all.
    some = np.arange(len(everything))[::3]
    np.testing.assert_allclose(np.exp(log_weights(evidence, model, everything[some], 2, known)), weights[some])


def test_the_weight_of_a_known_string_does_not_depend_on_the_groups_that_testify() -> None:
    evidence, known, everything = small((4, 6, (2, (4, 6))), 4, noise=0.2, skew=0.0, size=300)
    model = character_model(evidence)
    whole = evidence.first_whole(everything)
    for level in (1, 2):
        before = log_weights(evidence, model, everything, 3, known)
        tables = evidence.levels[level - 1].tables
        tables[:] = np.random.default_rng(level).normal(0, 1e4, tables.shape)
        after = log_weights(evidence, model, everything, 3, known)
        np.testing.assert_array_equal(after[whole <= level], before[whole <= level])
        longer = (whole > level) & (places_in(everything, known.strings) >= 0)
        assert level == 2 or (after[longer] != before[longer]).any()


def told(evidence: Evidence, strings: np.ndarray) -> tuple[np.ndarray, Noise]:
    """Estimate and noise of each string from the levels that show the whole of it."""
    whole, noise = evidence.first_whole(strings), evidence.noise(evidence.first_variance)
    total = np.where(whole == 0, evidence.first[numbers(strings, 0, evidence.start, evidence.symbols)] / noise, 0.0)
    precision = np.where(whole == 0, 1 / noise, 0.0)
    for i, level in enumerate(evidence.levels, 1):
        shows = whole <= i
        own = combined(read(level, cells_of(evidence, i - 1, strings)), evidence.noise(level.variance))
        total += shows * own / evidence.noise(level.pooled)
        precision += shows / evidence.noise(level.pooled)
    return total / precision, Noise.normal(1 / np.sqrt(precision))


@pytest.mark.parametrize("seeds", [40, pytest.param(400, marks=pytest.mark.full)])
def test_no_string_that_nobody_holds_is_significant_too_often(seeds: int) -> None:
    """All strings there are are judged, the dictionary has 60 that nobody holds, and the level is 20 %. Five standard
    deviations more alarms than that have a chance below 1e-5."""
    everything, alarms = every_string(5, 4), 0
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        held = rng.permutation(len(everything))[:120]
        evidence = evidence_of(everything[held], np.full(120, 20), 5, noise=1.0, seed=seed, layout=(2, (3, 4)))
        nobody = everything[np.setdiff1d(np.arange(len(everything)), held)]
        known = dictionary(nobody[rng.permutation(len(nobody))[:60]])
        model = character_model(evidence)
        p, threshold = significant(evidence, model, nobody, *told(evidence, nobody), k=3, alpha=0.2, dictionary=known)
        alarms += bool((p <= threshold).any())
    assert alarms <= 0.2 * seeds + 5 * (0.16 * seeds) ** 0.5


@pytest.mark.parametrize(
    ("searches", "most"), [pytest.param(20, 6, marks=pytest.mark.full), pytest.param(60, 10, marks=pytest.mark.slow)]
)
def test_noise_alone_is_seldom_significant(searches: int, most: int) -> None:
    """Searches among users who all hold different strings, with a dictionary that nobody holds: with a family-wise
    error of 5 % each, more than 6 of 20, or 10 of 60, report something with probability below 1e-4 and 2e-4."""
    alarms = 0
    for seed in range(searches):
        strings = random_strings(np.random.default_rng(seed), 3_000, 6, 12, shortest=4)
        evidence = evidence_of(strings, np.full(len(strings), 10), 12, noise=1.0, seed=seed, layout=(3, (5, 6)))
        others = random_strings(np.random.default_rng(1_000 + seed), 1_000, 6, 12)
        ordered = dictionary(strings).strings
        known = dictionary(others[places_in(others, ordered) < 0])
        answer = decode(evidence, 10, known)
        p, threshold = significant(
            evidence, answer.model, answer.strings, answer.own, answer.noise, k=10, alpha=0.05, dictionary=known
        )
        alarms += bool((p <= threshold).any())
    assert alarms <= most


def light(seed: int, users: int) -> tuple[Evidence, np.ndarray, Dictionary, Dictionary]:
    """Evidence of three strings that some hold among 3,000 rare ones; a dictionary of 400 others and two of them; and
    one of the others alone."""
    rng = np.random.default_rng(seed)
    strings = random_strings(rng, 3_000, 8, 12, shortest=4)
    counts = np.full(len(strings), 10)
    planted = rng.choice(len(strings), 3, replace=False)
    counts[planted] = users
    evidence = evidence_of(strings, counts, 12, noise=1.0, seed=seed, layout=(3, (5, 6, 8)))
    others = random_strings(rng, 400, 8, 12)
    wrong = others[(others[:, None] != strings[planted]).any(axis=2).all(axis=1)]
    known = np.concatenate([strings[planted[:2]], others])
    return evidence, strings[planted], dictionary(known), dictionary(wrong)


def hits(evidence: Evidence, planted: np.ndarray, known: Dictionary | None) -> np.ndarray:
    best = rows_of(decode(evidence, 5, known).strings[:5])
    return np.array([string in best for string in rows_of(planted)])


# 800 users are four and a half standard errors if all reported one thing. Measured on 40 other seeds: each of the two
# strings is found with probability .89, without a dictionary .25. Were it .8 and .35, the bounds would fail with a
# chance below 1e-4.
@pytest.mark.parametrize(("seeds", "least"), [(4, 2), pytest.param(40, 50, marks=pytest.mark.slow)])
def test_light_strings_are_found_with_a_dictionary_that_has_them(seeds: int, least: int) -> None:
    found = 0
    for seed in range(1_000, 1_000 + seeds):
        evidence, planted, known, _ = light(seed, 800)
        found += int(hits(evidence, planted[:2], known).sum())
    assert found >= least


@pytest.mark.slow
def test_most_of_these_are_not_found_without() -> None:
    found = 0
    for seed in range(1_000, 1_040):
        evidence, planted, _, _ = light(seed, 800)
        found += int(hits(evidence, planted[:2], None).sum())
    assert found <= 45


@pytest.mark.slow
def test_a_dictionary_of_other_strings_costs_hardly_anything() -> None:
    """Of 120 strings, most of which are found without, 3 in a hundred may be lost to some of 400 that are not common:
    more than 12 have a chance below 1e-4."""
    lost = found = 0
    for seed in range(1_000, 1_040):
        evidence, planted, _, wrong = light(seed, 1_200)
        before = hits(evidence, planted, None)
        found += int(before.sum())
        lost += int((before & ~hits(evidence, planted, wrong)).sum())
    assert found >= 80
    assert lost <= 12


def test_heavy_strings_outside_the_dictionary_are_found_as_before() -> None:
    strings = random_strings(np.random.default_rng(0), 1_000, 6, 12)
    counts = np.full(len(strings), 50)
    counts[:4] = 20_000
    evidence = evidence_of(strings, counts, 12, noise=0.2, seed=0, layout=(3, (5, 6)))
    # Strings that begin like the heavy ones, and end otherwise.
    endings = random_strings(np.random.default_rng(1), 200, 3, 12)
    others = np.concatenate([np.hstack([np.tile(heavy[:3], (len(endings), 1)), endings]) for heavy in strings[:4]])
    others = others[others[:, 2] > 0]
    known = dictionary(others[places_in(others, dictionary(strings).strings) < 0])
    answer, before = decode(evidence, 4, known), decode(evidence, 4)
    assert set(rows_of(answer.strings[:4])) == set(rows_of(before.strings[:4])) == set(rows_of(strings[:4]))
    assert len(set(rows_of(answer.strings))) == len(answer.strings)
    # The beam does not know that there is a dictionary.
    for mine, its in zip(answer.trace, before.trace, strict=True):
        np.testing.assert_array_equal(mine.prefixes, its.prefixes)
        np.testing.assert_array_equal(mine.counts, its.counts)


def test_prefixes_of_a_dictionary_are_those_of_its_strings() -> None:
    known = dictionary(random_strings(np.random.default_rng(3), 300, 6, 4))
    strings = rows_of(known.strings)
    assert strings == sorted(set(strings))
    for before, length in [(0, 2), (2, 4), (4, 6), (2, 3), (6, 6)]:
        first, sizes, parents = known.prefixes(before, length)
        long = [string for string in strings if before == 0 or string[before - 1]]
        prefixes = sorted({string[:length] for string in long})
        assert [strings[i][:length] for i in first] == prefixes
        assert sizes.tolist() == [sum(string[:length] == prefix for string in long) for prefix in prefixes]
        above = sorted({string[:before] for string in long})
        assert [above[i] for i in parents] == [prefix[:before] for prefix in prefixes]


# --- through the door -------------------------------------------------------------------------------------------------

DOMAIN = Strings("abcdefgh", 6)
CROWD = {"abcdab": 3_000, "ab": 2_500, "": 1_500, "ddcc": 1_200} | {
    a + b + c + "h": 12 for a in "abcdefgh" for b in "abcdefgh" for c in "abcdefgh"
}
KNOWN = ["ddcc", "ab", "ffeegg", "", "abcdabba", "c", "hagabc", "ddcb"]


@pytest.fixture(scope="module")
def scheme() -> Scheme:
    def oracle(items: int) -> Scheme:
        return plausibly.make("TLH", epsilon=2, domain_size=items)

    tables = {"letters": oracle(9), "pairs": oracle(81), "first": oracle(81), "folded": oracle(2**13)}
    return plausibly.make("TRELLIS", domain=DOMAIN, **tables, start=2, step=2, weights=[1] * 11 + [12] + [8] * 4)


@pytest.fixture(scope="module")
def tally(scheme: Scheme) -> Any:
    return scheme.simulate(CROWD, SeededRandom(1))


def same(mine: Any, its: Any) -> bool:
    assert mine.items.tolist() == its.items.tolist()
    for name in ("values", "variance", "p_values"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(its, name))
    return True


@pytest.mark.parametrize("nothing", [None, [], np.array([], dtype="<U6")], ids=str)
def test_without_strings_there_is_no_dictionary(tally: Any, nothing: Any) -> None:
    found = tally.search(k=20, dictionary=nothing)
    assert same(found, tally.search(k=20))
    assert found.dictionary == frozenset()


@pytest.mark.full
def test_order_repetition_and_container_make_no_difference(tally: Any) -> None:
    found = tally.search(k=20, dictionary=KNOWN)
    assert not np.array_equal(found.p_values, tally.search(k=20).p_values)
    cut = [text[:6] for text in KNOWN]
    for other in (KNOWN[::-1], cut + KNOWN[2:] + KNOWN, np.array(KNOWN)):
        assert same(tally.search(k=20, dictionary=other), found)
    assert len(set(found.items)) == len(found)


def test_known_strings_are_significant_sooner(tally: Any) -> None:
    without, found = tally.search(k=40), tally.search(k=40, dictionary=KNOWN)
    before, after = (dict(zip(one.items, one.p_values, strict=True)) for one in (without, found))
    common = [text for text in before if text in after and 0 < after[text] < 1]
    assert {"ddcc", "ab"} <= set(common)
    for text in common:
        # Otherwise by a factor of two later, at most.
        np.testing.assert_array_less(after[text], before[text] * (1 if text in {"ddcc", "ab"} else 2.000001))


def test_the_result_tells_what_came_from_the_dictionary(tally: Any) -> None:
    found = tally.search(k=4, dictionary=KNOWN)
    assert found.dictionary == frozenset(text[:6] for text in KNOWN)
    lines = found.explain("ddcc").splitlines()
    assert lines[:2] == ["ddcc: found", "  in the dictionary: considered even if a step does not keep it"]
    assert "dictionary" not in found.explain("abcdac")
    assert "in the dictionary" in found.explain("abcdabba")
    assert "dictionary" not in tally.search(k=4).explain("ddcc")


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ("abba", ParameterError, "dictionary: expected a list of strings, got one str"),
        (b"abba", ParameterError, "dictionary: expected a list of strings, got one bytes"),
        ({"abba": 5}, ParameterError, "dictionary: expected a list of strings, got one dict"),
        (7, ParameterError, "dictionary: expected a list of strings, got one int"),
        (["ab", "xyz"], DomainError, "dictionary: item 1: expected characters of the alphabet only"),
        (["ab", 7, None], DomainError, "dictionary: item 1 and 1 more: expected texts (str), got int"),
        (np.array([["ab"]]), DomainError, "dictionary: items: expected one dimension"),
    ],
    ids=str,
)
def test_what_is_no_list_of_strings_is_refused(tally: Any, given: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        tally.search(dictionary=given)


def test_a_misspelt_dictionary_is_named(tally: Any) -> None:
    with pytest.raises(ParameterError, match=r"unknown option 'dictionnary'; did you mean 'dictionary'"):
        tally.search(dictionnary=KNOWN)


@pytest.mark.parametrize("users", [0, 3])
def test_hardly_any_users_are_no_trouble(scheme: Scheme, users: int) -> None:
    tally: Any = scheme.accumulator()
    tally.add(scheme.privatize(["abcdab", "ab", ""][:users], rng=SeededRandom(1)))
    with np.errstate(all="raise"):
        found = tally.search(k=50, dictionary=KNOWN)
    assert len(found) == 0 if not users else (found.values > 0).all()


def test_bytes_other_characters_and_a_single_level_work() -> None:
    domains: list[tuple[Strings, list[Any]]] = [
        (Strings(bytes([0, 255, 7]), 3), [b"\0\0\0", b"\xff\0", b""]),
        (Strings("ab", 3, other=True), ["a\N{REPLACEMENT CHARACTER}", "bbb"]),
        (Strings("".join(chr(0x4E00 + i) for i in range(300)), 2), ["\u4e00" * 2, "\u4f2b\u4e01", "\u4eff"]),
    ]
    for domain, texts in domains:
        tally: Any = plausibly.TRELLIS(3, domain=domain, users=9_000).simulate(
            dict.fromkeys(texts, 3_000), SeededRandom(1)
        )
        found = tally.search(k=len(texts), dictionary=texts)
        assert sorted(found.items) == sorted(texts)
        assert found.dictionary == frozenset(texts)
    assert rows_of(dictionary_of(["ba", "", "b", "ab"], Strings("ab", 3)).strings) == [
        *((0, 0, 0), (1, 2, 0), (2, 0, 0), (2, 1, 0)),
    ]
