"""Interactive searches: fresh users say how the published prefixes go on, round after round."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import plausibly
import trusting
from plausibly import DomainError, HeavyHitters, ParameterError, Scheme, SeededRandom, StateError, Strings
from plausibly.core.history import decoding
from plausibly.search.rounds import ROUND, Rounds

LETTERS = Strings("abcd", 6)
COMMON = {"abcdab": 6_000, "ab": 5_000, "ddcc": 4_000, "dabb": 3_000, "c": 2_500, "": 2_000}
NAMED = list(COMMON)


def oracle(items: int) -> Scheme:
    return plausibly.make("TLH", epsilon=3, domain_size=items)


def run(search: Rounds, crowd: dict[Any, int]) -> HeavyHitters:
    """What a whole search finds, each round with a crowd like this."""
    more, seed = True, 0
    while more:
        more, seed = search.close(search.scheme.simulate(crowd, SeededRandom(seed))), seed + 1
    assert seed == search.rounds == search.number
    return search.result(k=len(crowd))


def one_round(prefixes: Any = ("ab", "dd", "c"), domain: Strings = LETTERS, **given: Any) -> ROUND:
    """A round from two characters to four, over an oracle with an item too many."""
    stem, reach = given.setdefault("stem", 2), given.setdefault("reach", 4)
    items = len(prefixes) * domain.symbols ** max(reach - stem, 1) + 2
    made = plausibly.make("ROUND", domain=domain, prefixes=prefixes, **{"oracle": oracle(items), **given})
    assert isinstance(made, ROUND)
    return made


# --- the whole search -------------------------------------------------------------------------------------------


def test_common_strings_of_every_length_are_found_with_their_counts() -> None:
    found = run(Rounds(LETTERS, oracle, start=2, step=2, keep=30), COMMON)
    # Counts differ by 500 at least; a count's standard deviation is below 80.
    assert found.items.tolist() == NAMED
    # False alarm: five standard deviations for 6 counts, below 4e-6 over fresh seeds.
    assert (np.abs(found.values - list(COMMON.values())) < 5 * np.sqrt(found.variance)).all()
    assert (found.n, found.complete, found.history) == (sum(COMMON.values()), False, (decoding("interactive search"),))
    assert (found.p_values < 1e-9).all()


@pytest.mark.parametrize(
    ("domain", "common"),
    [
        (Strings("äé\N{GRINNING FACE}中\u0301", 3), ["\N{GRINNING FACE}中", "é\u0301ä", "中"]),
        (Strings(bytes([0, 255, 7]), 3), [b"\0\0\0", b"\xff\0", b"\0", b""]),
        (Strings("".join(chr(0x4E00 + i) for i in range(300)), 2), ["\u4e00" * 2, "\u4f2b\u4e01", "\u4eff"]),
        (Strings("ab", 3, other=True), ["a\N{REPLACEMENT CHARACTER}", "bbb"]),
        (Strings("a", 3), ["aaa", "a", ""]),
        (Strings("ab", 1), ["a", ""]),
        (Strings("a", 1), ["a", ""]),
    ],
    ids=["characters", "bytes", "many", "other", "one letter", "one place", "one letter in one place"],
)
def test_any_alphabet_is_searched(domain: Strings, common: list[Any]) -> None:
    crowd = {text: 7_000 - 1_000 * i for i, text in enumerate(common)}
    assert run(Rounds(domain, oracle, start=1, step=1, keep=20), crowd).items.tolist() == common


@pytest.mark.full
def test_the_preset_finds_them_as_well() -> None:
    search = plausibly.ROUNDS(3, domain=Strings("ehlost", 8), keep=1 << 18)
    assert run(search, {"hello": 9_000, "lost": 6_000, "": 4_000}).items.tolist() == ["hello", "lost", ""]
    assert [step.length for step in search.result().trace] == [7, 8]


@pytest.mark.parametrize("domain", [Strings("a", 1), Strings("ab", 3), Strings(bytes(range(256)), 9)], ids=str)
def test_the_preset_takes_any_strings(domain: Strings) -> None:
    search = plausibly.ROUNDS(2, domain=domain)
    assert search.scheme.epsilon == 2
    trusting.load(search.scheme.to_json()).privatize(domain.alphabet[:1])


def test_the_rounds_are_told_and_explained() -> None:
    search = Rounds(LETTERS, oracle, start=2, step=2, keep=3)
    assert (search.rounds, search.number, search.scheme.prefixes) == (3, 1, ("",))
    found = run(search, COMMON)
    assert [step.label for step in found.trace] == ["characters 1 to 2", "characters 3 to 4", "characters 5 to 6"]
    assert [step.users for step in found.trace] == [sum(COMMON.values())] * 3
    assert [len(step.kept) for step in found.trace[:2]] == [3, 3]
    assert found.explain("abcdab").startswith("abcdab: found\n  characters 1 to 2, ab: number 1 of 3 kept")
    assert "characters 1 to 2, (empty): not among the 3 kept" in found.explain("")
    assert "(empty)" not in found.items


def test_only_what_is_significant_comes_back_at_a_level() -> None:
    search = Rounds(LETTERS, oracle, start=3, step=3)
    run(search, COMMON)
    everything, significant = search.result(k=100), search.result(k=100, level=0.05)
    assert significant.items.tolist() == NAMED
    assert everything.items[everything.p_values <= 0.05].tolist() == NAMED
    assert len(everything) > len(NAMED)
    assert (everything.values > 0).all()
    assert search.result(k=None, threshold=3_500).items.tolist() == NAMED[:3]
    assert search.result(k=2).items.tolist() == NAMED[:2]


def test_a_round_without_users_leaves_prefixes_to_go_on_with() -> None:
    search = Rounds(LETTERS, oracle, start=2, step=2, keep=4)
    while search.close(search.scheme.accumulator()):
        assert len(search.scheme.prefixes) == 4
    found = search.result()
    assert (len(found), found.n) == (0, 0)
    assert len(search.result(level=0.5)) == 0
    assert len(found.to_frame()) == 0


def test_more_may_be_kept_than_there_is() -> None:
    search = Rounds(Strings("a", 2), oracle, start=1, step=1, keep=2_000)
    search.close(search.scheme.simulate({"a": 100}, SeededRandom(1)))
    assert search.scheme.prefixes == ("", "a")


def test_the_tally_of_another_round_is_refused() -> None:
    search = Rounds(LETTERS, oracle, start=2, step=2)
    first = search.scheme.simulate(COMMON, SeededRandom(1))
    for wrong in (one_round().accumulator(), oracle(5).accumulator(), None, "tally"):
        with pytest.raises(StateError, match="expected the accumulator of the present round's scheme"):
            search.close(wrong)  # type: ignore[arg-type]
    assert search.number == 1
    assert search.close(first)
    with pytest.raises(StateError, match="the present round's scheme"):
        search.close(first)
    assert search.number == 2


def test_there_is_no_result_before_the_last_round_and_no_round_after_it() -> None:
    search = Rounds(LETTERS, oracle, start=3, step=3)
    for number in (1, 2):
        with pytest.raises(StateError, match=f"round {number} of 2 is still open"):
            search.result()
        last = search.scheme.simulate(COMMON, SeededRandom(number))
        search.close(last)
    with pytest.raises(StateError, match="the last round is over"):
        search.close(last)
    assert search.result(k=1).items.tolist() == NAMED[:1]


@pytest.mark.parametrize("given", [{"start": 0}, {"start": 7}, {"step": 0}, {"keep": 0}, {"keep": 1.5}], ids=str)
def test_a_search_that_makes_no_sense_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=f"{next(iter(given))}: expected"):
        Rounds(LETTERS, oracle, **{"start": 2, "step": 2, **given})


# --- one round --------------------------------------------------------------------------------------------------


def test_published_prefixes_have_one_form() -> None:
    scheme = one_round(("dd", "ab", "c", "ab"))
    assert scheme.prefixes == ("ab", "c", "dd")
    assert scheme.fingerprint() == one_round(["c", "dd", "ab"], oracle=scheme.oracle).fingerprint()
    assert plausibly.from_json(scheme.to_json()) == scheme
    # All characters outside the alphabet are one.
    others = one_round(("xa", "ya", "a"), Strings("ab", 4, other=True))
    assert others.prefixes == ("a", "\N{REPLACEMENT CHARACTER}a")


def test_bytes_are_published_in_hexadecimal() -> None:
    domain = Strings(bytes([0, 255, 7]), 4)
    scheme = one_round([b"\xff\0", b"\0", b""], domain)
    assert scheme.prefixes == (b"", b"\0", b"\xff\0")
    assert json.loads(scheme.to_json())["prefixes"] == ["", "00", "ff00"]
    assert plausibly.from_json(scheme.to_json()) == scheme
    found = scheme.simulate({b"\xff\0\7\7": 5_000, b"\0": 3_000, b"\7": 9_000}, SeededRandom(1)).search(k=2)
    assert found.items.tolist() == [b"\xff\0\7\7", b"\0"]


def test_strings_that_begin_with_no_published_prefix_are_not_counted() -> None:
    scheme = one_round()
    tally: Any = scheme.simulate({"abcd": 4_000, "ddc": 3_000, "cab": 9_000, "bbbb": 9_000}, SeededRandom(1))
    # "c" stands for the string that ends there: "cab" does not begin with it.
    assert tally.search(k=2).items.tolist() == ["abcd", "ddc"]
    assert all(text[:2] in ("ab", "dd", "c") for text in tally.search(k=1_000).items)
    assert len(tally.search(level=0.01)) == 2
    assert tally.search(k=1).p_values[0] < 1e-9
    none: Any = scheme.simulate({"bbbb": 9_000}, SeededRandom(1))
    assert len(none.search(level=1e-6)) == 0


def test_given_strings_are_counted_by_their_beginnings() -> None:
    tally: Any = one_round().simulate({"abcdab": 4_000, "abcd": 1_000, "dd": 3_000, "b": 2_000}, SeededRandom(1))
    estimates = tally.estimate(["abcd", "abcdab", "dd", "abaa"])
    # False alarm: five standard deviations for 3 counts, below 2e-6 over fresh seeds.
    assert (np.abs(estimates.values - [5_000, 5_000, 3_000, 0]) < 5 * np.sqrt(estimates.variance)).all()
    found = tally.search(k=2)
    np.testing.assert_array_equal(found.values, tally.estimate(found.items).values)
    np.testing.assert_array_equal(found.variance, tally.estimate(found.items).variance)


@pytest.mark.parametrize("text", ["bbbb", "ca", "", "a"])
def test_strings_without_a_published_prefix_cannot_be_counted(text: str) -> None:
    with pytest.raises(DomainError, match="expected strings that begin with a published prefix") as caught:
        one_round().accumulator().estimate(["abcd", text])
    assert "bbbb" not in str(caught.value)


def test_a_round_finds_the_same_in_a_restored_and_in_a_merged_tally() -> None:
    scheme = one_round()
    parts = [scheme.simulate({"abcd": 500, "dd": 300, "b": 100}, SeededRandom(i)) for i in range(2)]
    merged: Any = plausibly.Accumulator.from_bytes(scheme, parts[0].to_bytes())
    merged.merge(parts[1])
    parts[1].merge(parts[0])
    again: Any = parts[1]
    assert merged.to_bytes() == again.to_bytes()
    assert merged.search(k=20).items.tolist() == again.search(k=20).items.tolist()


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"k": 0}, "k: expected"),
        ({"k": True}, "k: expected"),
        ({"k": None}, "expected k or threshold"),
        ({"threshold": "10"}, "threshold: expected a count"),
        ({"level": 0}, "level: expected"),
        ({"level": True}, "level: expected"),
        ({"keep": 5}, "unknown option 'keep'"),
    ],
    ids=str,
)
def test_choices_that_make_no_sense_are_refused(choices: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(message)):
        one_round().accumulator().search(**choices)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: one_round(()), "prefixes: expected a list of 1 to"),
        (lambda: one_round("ab"), "prefixes: expected a list"),
        (lambda: one_round(("abc",)), "prefixes: expected str of at most 2 characters"),
        (lambda: one_round((b"ab",)), "prefixes: expected str"),
        (lambda: one_round(("xy",)), "prefixes: expected characters of the alphabet only"),
        (lambda: one_round(("zz",), Strings(b"ab", 4)), "prefixes: expected bytes, or their hexadecimal digits"),
        (lambda: one_round(stem=6), "stem: expected 0 to 5"),
        (lambda: one_round(reach=2), "reach: expected 3 to 6"),
        (lambda: one_round(oracle=oracle(75)), "a domain_size of at least 76"),
        (
            lambda: one_round(oracle=plausibly.make("FLH", epsilon=1, domain=plausibly.Keys())),
            "a domain_size of at least 76",
        ),
        (lambda: one_round(oracle=5), "oracle: expected a scheme"),
    ],
)
def test_rounds_that_make_no_sense_are_refused(build: Callable[[], Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        build()
