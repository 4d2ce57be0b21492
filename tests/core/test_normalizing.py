"""Domains that normalize: spellings of one item, labels and alphabets, JSON, words; docs/adr/0026."""

from __future__ import annotations

import json

import numpy as np
import pytest

import plausibly
from plausibly import DomainError, Keys, ParameterError, SeededRandom, Strings
from plausibly.core.domain import Domain, Integers, Labels, domain_from_dict, steps_of
from plausibly.device import DeviceError, load

ALL = "nfc,lower,strip"
SPELLINGS = ["café", "Café", " CAFE\u0301\u3000", "\ufeffcafe\u0301"]
DOMAINS: list[Domain] = [
    Labels(("dog", "café"), True, ALL),
    Labels(("dog", "café"), normalize=["lower"]),
    Keys(5, ALL),
    Strings("abcdefé ", 6, other=True, normalize=ALL),
]


@pytest.mark.parametrize(
    ("typed", "steps"),
    [
        (ALL, ("nfc", "lower", "strip")),
        ("strip, lower,nfc", ("nfc", "lower", "strip")),
        (["strip", "nfc"], ("nfc", "strip")),
        ((), ()),
    ],
)
def test_the_order_is_fixed_whatever_order_was_typed(typed: object, steps: tuple[str, ...]) -> None:
    assert steps_of(typed) == steps
    assert Keys(normalize=typed).normalize == steps


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        ("lowr", "unknown step 'lowr'; did you mean 'lower'"),
        ("nfc,,lower", "unknown step ''"),
        ("", "unknown step ''"),
        ("NFC", "unknown step 'NFC'"),
        ("nfc,nfc", "each step once"),
        ("nfc,truncate", "strings are cut at their length anyway"),
        (3, "expected steps such as nfc,lower,strip"),
        ([1], "expected steps such as nfc,lower,strip"),
        ({"nfc"}, "expected steps such as nfc,lower,strip"),
        (None, "expected steps such as nfc,lower,strip"),
    ],
)
def test_other_steps_are_refused(typed: object, why: str) -> None:
    with pytest.raises(ParameterError, match=f"^normalize: .*{why}"):
        steps_of(typed)


def test_spellings_are_one_item() -> None:
    for domain in DOMAINS[0], DOMAINS[2], DOMAINS[3]:
        codes = domain.encode(SPELLINGS)
        assert (codes == codes[0]).all()
        assert set(domain.named(SPELLINGS)) == {"café"}
        assert np.array_equal(domain.encode(np.array(SPELLINGS)), codes)
    assert Labels(("dog", "café"), True, ALL).encode(["Dog ", "DOG", "cat", "OTHER"]).tolist() == [0, 0, 2, 2]


@pytest.mark.parametrize("domain", DOMAINS)
def test_clients_encode_as_the_library_does(domain: Domain) -> None:
    name, own = (
        ("PEM", {"oracle": plausibly.make("OLH", epsilon=1, domain=Keys())}) if domain.searchable else ("OLH", {})
    )
    private = {} if domain.searchable else {"epsilon": 1}
    scheme = plausibly.make(name, domain=domain, **own, **private)
    client = load(scheme.to_json(), total=False)
    texts = [*SPELLINGS[:2], "DOG", "dog", "Café"]
    if domain.other or domain.size is None:
        texts += [*SPELLINGS, "İe", "face a bed", "face  \u2003 bed", " ", "", "Σς", "a\u0897\u0323 "]
    assert [client.encode(text) for text in texts] == [domain.number(code) for code in domain.encode(texts)]


def test_labels_are_normalized_and_must_stay_distinct() -> None:
    assert Labels(("Dog", " cat"), normalize="lower,strip").labels == ("dog", "cat")
    with pytest.raises(ParameterError, match="some become equal"):
        Labels(("dog", "Dog"), normalize="lower")
    with pytest.raises(ParameterError, match="more than once"):
        Labels(("dog", "dog"), normalize="lower")
    with pytest.raises(ParameterError, match="'other' is the name"):
        Labels(("dog", "Other"), True, "lower")


def test_an_alphabet_has_only_characters_that_can_occur() -> None:
    with pytest.raises(ParameterError, match="got 2 characters that lower changes"):
        Strings("aBC", 3, normalize=ALL)
    with pytest.raises(ParameterError, match="got 1 character that nfc changes"):
        Strings("a\u212b", 3, normalize="nfc")
    with pytest.raises(ParameterError, match="alphabet of text, got bytes"):
        Strings(b"ab", 3, normalize="lower")
    assert Strings("ab ", 3, normalize="strip").symbols == 4


def test_integers_have_nothing_to_normalize() -> None:
    with pytest.raises(ParameterError, match="expected a domain of texts, got a list of 5 items"):
        Integers(5).normalizing("lower")
    with pytest.raises(ParameterError, match=r"normalize: goes with a domain of labels only"):
        plausibly.make("DE", epsilon=1, domain_size=5, normalize="lower")


def test_a_cut_comes_last_and_leaves_no_space_at_the_end() -> None:
    strings = Strings("abcdefgh ", 5, normalize="lower,strip")
    assert strings.named(["  Abcd efgh", "abcdefgh", "a b c d", "ab   \t"]).tolist() == ["abcd", "abcde", "a b c", "ab"]
    # Without strip it stays, as it always did.
    assert Strings("abcdefgh ", 5).named(["abcd efgh"]).tolist() == ["abcd "]
    whole = Strings("abcde ", 5, long="refuse", normalize="strip")
    assert whole.named([" abcde "]).tolist() == ["abcde"]
    with pytest.raises(DomainError, match="item 1: expected at most 5"):
        whole.encode(["abc", "abcd e"])


def test_normalized_names_are_items_of_their_own_name() -> None:
    texts = ["  Abcd efgh", "H\u0331a", "a\u0301bc \u0301", "İİ  ", "Σ" * 9]
    for domain in DOMAINS[2], DOMAINS[3]:
        once = domain.named(texts)
        assert domain.named(once).tolist() == once.tolist()


def test_keys_leave_bytes_and_numbers_as_they_are() -> None:
    keys = Keys(3, "lower,strip")
    assert keys.encode([" A", b" A", 5]).tolist() == Keys(3).encode(["a", b" A", 5]).tolist()


def test_half_of_a_pair_is_refused_by_position() -> None:
    with pytest.raises(DomainError, match=r"^item 1: expected keys"):
        Keys(normalize=ALL).encode(["a", "\ud800"])
    assert Strings("ab", 3, other=True, normalize=ALL).encode(["\ud800A "]).tolist() == [[3, 1, 0]]


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_domain_that_normalizes_travels_as_json(domain: Domain) -> None:
    fields = json.loads(json.dumps(domain.to_dict()))
    assert fields["normalize"] == list(domain.normalize)
    assert domain_from_dict(fields) == domain
    assert "normalize" in repr(domain)
    assert domain != domain.normalizing("strip")


def test_json_repr_and_fingerprint_are_as_before_where_nothing_is_normalized() -> None:
    assert Labels(("a", "b"), True).to_dict() == {"type": "labels", "labels": ["a", "b"], "other": True}
    assert repr(Labels(("a", "b"), True)) == "Labels(labels=('a', 'b'), other=True)"
    assert (Keys().to_dict(), repr(Keys(7))) == ({"type": "keys", "hash_seed": 0}, "Keys(hash_seed=7)")
    assert repr(Strings("ab", 3)) == "Strings(alphabet='ab', length=3, long='truncate', other=False)"
    assert sorted(Strings("ab", 3).to_dict()) == ["alphabet", "length", "long", "other", "type"]
    plain, lower = (plausibly.make("DE", epsilon=1, domain=["a", "b"], normalize=steps) for steps in (None, "lower"))
    assert plain.fingerprint() != lower.fingerprint()


def test_answers_name_the_normalized_item() -> None:
    listed = plausibly.make("OLH", epsilon=4, domain=["Dog", "cat"], other=True, normalize=ALL)
    tally = listed.simulate({" DOG": 3_000, "dog": 2_000, "Cat": 1_000}, SeededRandom(1))
    asked = tally.estimate(items=["Dog ", "CAT"])
    assert asked.items.tolist() == ["dog", "cat"]
    assert asked.values[0] == pytest.approx(5_000, abs=400)
    keyed = plausibly.make("OLH", epsilon=4, domain=Keys(normalize=ALL))
    tally = keyed.simulate({" DOG": 3_000, "dog": 2_000, "Cat": 1_000}, SeededRandom(1))
    asked = tally.estimate(items=["Dog ", "CAT"])
    assert asked.items.tolist() == ["dog", "cat"]
    assert asked.values[0] == pytest.approx(5_000, abs=400)


def test_a_search_finds_and_counts_the_normalized_string() -> None:
    strings = Strings("abcdefé ", 4, normalize=ALL)
    oracle = plausibly.make("OLH", epsilon=4, domain=Keys())
    scheme = plausibly.make("PEM", oracle=oracle, domain=strings, start=2, step=2)
    tally = scheme.simulate({"FACE\u0301": 4_000, " facé": 3_000, "a b": 3_000}, SeededRandom(1))
    assert sorted(tally.search(k=2).items.tolist()) == ["a b", "facé"]
    assert tally.estimate(items=["FACÉ"]).items.tolist() == ["facé"]


def test_published_prefixes_are_taken_literally() -> None:
    strings = Strings("ab ", 4, normalize="strip")
    oracle = plausibly.make("DE", epsilon=8, domain_size=2 * 4**2 + 1)
    scheme = plausibly.make("ROUND", oracle=oracle, prefixes=["a ", "ab"], stem=2, reach=4, domain=strings)
    assert scheme.prefixes == ("a ", "ab")  # type: ignore[attr-defined]
    assert plausibly.from_json(scheme.to_json()) == scheme
    tally = scheme.simulate({" a b": 3_000, "abab ": 1_000}, SeededRandom(1))
    assert tally.search(k=1).items.tolist() == ["a b"]
    assert load(scheme.to_json(), total=False).fingerprint == scheme.fingerprint()


def test_an_oracle_of_a_search_does_not_normalize() -> None:
    oracle = plausibly.make("OLH", epsilon=1, domain=Keys(normalize="lower"))
    with pytest.raises(ParameterError, match=r"oracle: expected keys without normalize,"):
        plausibly.make("PEM", oracle=oracle, domain=Strings("ab", 3))


def test_the_same_codes_with_and_without_steps() -> None:
    for domain in DOMAINS:
        assert domain.normalizing("nfc").encode(["café"]).tolist() == domain.encode(["café"]).tolist()
    assert Labels(("Dog", "cat")).normalizing("lower").encode(["DOG", "cat"]).tolist() == [0, 1]


def test_a_domain_says_in_words_how_it_normalizes() -> None:
    for domain in DOMAINS:
        assert "lower case" in dict(domain.facts())["normalized"]
    assert all("normalized" not in dict(plain.facts()) for plain in (Keys(), Labels(("a", "b")), Strings("ab", 2)))
    assert DOMAINS[0].argument == 'domain=[...], other=True, normalize="nfc,lower,strip"'
    assert Keys(normalize="lower").argument == "domain=Keys(hash_seed=0, normalize='lower')"


def test_devices_refuse_what_the_steps_do_not_explain() -> None:
    scheme = json.loads(plausibly.make("DE", epsilon=1, domain=["a", "b"], other=True, normalize="lower").to_json())
    scheme["domain"]["labels"][0] = "A"
    with pytest.raises(DeviceError, match="normalized already"):
        load(json.dumps(scheme))
    with pytest.raises(ParameterError, match="normalized already"):
        plausibly.from_json(json.dumps(scheme))
