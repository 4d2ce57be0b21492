"""The written proof of docs/adr/0015: about the code that ships, claimed for nothing else, true wherever it is run."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

import naive_client
import plausibly
from contract.entries import ORACLES, ORDERED, SKETCHES, required
from plausibly import Integers, Keys, Scheme, Strings, audit, device, make
from plausibly.certify import argument
from plausibly.core.enumeration import DrawsError, Probe, output_law, worst_ratio
from plausibly.core.probability import WORD
from plausibly.core.randomness import Layout, SeededRandom, TapeSource
from plausibly.oracles import DE

SOURCE = inspect.getsource(device)


def argued(scheme: Scheme) -> bool:
    return argument.argument_applies(scheme.randomizer, scheme.domain.code_count)


# --- it is about the code that ships ----------------------------------------------------------------------------


def test_the_proof_is_about_the_client_that_ships() -> None:
    assert argument.digest() == argument.PROVED, (
        "what runs between a value and its record has changed: read docs/adr/0015 against the new code, "
        f"correct it, then write {argument.digest()} into plausibly/certify/argument.py"
    )


@pytest.mark.full
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return value if kept else lie + (lie >= value)", "return value if kept else lie + (lie > value)"),
        ("words = 2\n", "words = 3\n"),
        ("_M32 = 0xFFFFFFFF", "_M32 = 0x7FFFFFFF"),
        ("seed = staticmethod(bloom_seed)", "seed = staticmethod(row_seed)"),
        ("return self._word() < threshold", "return self._word() <= threshold"),
        ("0x43, 0x83", "0x49, 0x83"),
        ("place = (self.text.cut", "place = -(self.text.cut"),
        ("tag = self.tag.of(value) if self.tag else 0", "tag = self.tag.of(value)"),
        ("class FastLocalHashing(LocalHashing):", "class FastLocalHashing(BinaryHashing):"),
        ("from fractions import Fraction", "from guesses import Fraction"),
        ("\ndef _bloom(", "\nDirect.perturb = Direct.public\n\n\ndef _bloom("),
        ("    words = 2\n", "    words = 2\n\n    def __getattribute__(self, name: str) -> int:\n        return 1\n\n"),
    ],
)
def test_any_change_of_what_handles_a_value_changes_the_digest(old: str, new: str) -> None:
    assert SOURCE.count(old) >= 1
    assert argument.digest_of(SOURCE.replace(old, new)) != argument.digest_of(SOURCE)


def test_a_change_elsewhere_does_not_change_the_digest() -> None:
    assert argument.digest_of(SOURCE + "\n\ndef unrelated() -> int:\n    return 1\n") == argument.digest()


# --- it is claimed for nothing else -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*ORACLES, *SKETCHES, *ORDERED])
def test_every_shipped_client_is_covered(name: str) -> None:
    given: dict[str, Any] = {"epsilon": 1}
    if name in SKETCHES:
        given = {"oracle": make("OLH", epsilon=1, domain_size=8)} | dict.fromkeys(required(name) - {"oracle"}, 3)
    assert argued(make(name, domain_size=50, **given))


def test_searches_are_covered_with_all_their_parts() -> None:
    assert argued(plausibly.TRELLIS(3, domain=Strings("abc", 4), users=1000))
    oracle = make("FLH", epsilon=1, domain=Keys())
    assert argued(make("SFP", domain=Strings("abc", 4), oracle=oracle, word_oracle=oracle))
    assert argued(make("SFP", domain=Strings("abc", 4), oracle=oracle, word_oracle=oracle, split="users"))
    assert argued(make("SFP", domain=Strings("abc", 4), oracle=oracle, word_oracle=None, split="none"))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Own(DE):
    """Direct encoding with a client of its own."""

    @property
    def randomizer(self) -> Any:
        return Client(device.Document(self.to_dict()))


class Client(device.Direct):
    """The same client, by another name."""


def test_a_client_that_a_scheme_brings_along_is_claimed_only_where_it_was_run() -> None:
    small = audit(Own(epsilon=Fraction(1), domain=Integers(4)))
    assert (small.argued, small.complete, small.proved) == (False, True, True)
    assert str(small).splitlines()[0] == (
        "DE(epsilon=1, domain_size=4) holds: the client was run on every item with every coin"
    )
    large = audit(Own(epsilon=Fraction(1), domain=Integers(10**6)), draws=50_000)
    assert (large.argued, large.complete, large.proved, large.holds) == (False, False, False, True)
    assert str(large).splitlines()[0] == (
        "DE(epsilon=1, domain_size=1000000): nothing wrong found on all 15 items of a smaller copy of the scheme; "
        "the rest is NOT covered"
    )
    assert large.to_dict()["verdict"] == "nothing wrong found"
    assert large.to_dict()["argument"] is None


def test_a_replaced_function_or_constant_is_not_covered(monkeypatch: pytest.MonkeyPatch) -> None:
    scheme = make("OLH", epsilon=1, domain_size=4)
    assert argued(scheme)
    with monkeypatch.context() as patch:
        patch.setattr(device, "_respond", lambda value, size, keep, source: value)
        assert not argued(scheme)
    with monkeypatch.context() as patch:
        patch.setattr(device, "_M32", 0xFFFF)
        assert not argued(scheme)
    with monkeypatch.context() as patch:
        patch.setattr(scheme.randomizer, "perturb", scheme.randomizer.perturb)
        assert not argued(scheme)
    with monkeypatch.context() as patch:
        patch.setattr(argument, "PROVED", "another")
        assert not argued(scheme)
    assert argued(scheme)


def test_an_added_name_is_not_covered(monkeypatch: pytest.MonkeyPatch) -> None:
    scheme = make("DE", epsilon=1, domain_size=4)
    for owner, name in [(device, "range"), (device.Direct, "__getattribute__"), (device.WordSource, "__len__")]:
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, getattr(owner, name, range), raising=False)
            assert not argued(scheme), name
    with monkeypatch.context() as patch:
        patch.setattr(device.Strings.__init__, "__kwdefaults__", {"in_bytes": True})
        assert not argued(scheme)
    assert argued(scheme)


def test_a_registered_client_leaves_the_others_covered_and_a_replaced_one_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scheme = make("DE", epsilon=1, domain_size=4)
    monkeypatch.setitem(device.RANDOMIZERS, "MORE", Client)
    monkeypatch.setitem(device.DOMAINS, "more", device.Integers)
    assert argued(scheme)
    with monkeypatch.context() as patch:
        patch.setitem(device.DOMAINS, "integers", device.Labels)
        assert not argued(scheme)
    monkeypatch.setitem(device.RANDOMIZERS, "DE", Client)
    assert not argued(scheme)


def test_the_fields_of_a_client_have_the_exact_types_of_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = make("DE", epsilon=1, domain_size=99)
    schemes: dict[str, tuple[Scheme, Any]] = {
        "size": (direct := make("DE", epsilon=1, domain_size=4), direct.randomizer),
        "keep": (direct, direct.randomizer),
        "groups": (
            search := make("ROUND", domain=Strings("abcd", 4), oracle=oracle, prefixes=["ab", "cd"], stem=2, reach=4),
            search.randomizer,
        ),
        "numbers": (search, search.randomizer.groups[0][0]),  # type: ignore[attr-defined]
    }
    for field, (scheme, owner) in schemes.items():
        honest = getattr(owner, field)
        other = type(f"Sly{type(honest).__name__}", (type(honest),), {})
        assert argued(scheme)
        with monkeypatch.context() as patch:
            patch.setattr(owner, field, other(honest))
            assert not argued(scheme), field
    fields = type("SlyFields", (dict,), {})
    with monkeypatch.context() as patch:
        patch.setattr(direct.randomizer, "__dict__", fields(vars(direct.randomizer)))
        assert not argued(direct)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("DE", {"size": 4}),
        ("OUE", {"size": 4}),
        ("DE", {"keep": WORD}),
        ("OUE", {"flip": 0}),
        ("SS", {"subset_size": 5}),
        ("SS", {"record_bytes": 0}),
        ("HR", {"order": 3}),
        ("HR", {"blocks": 0}),
        ("TLH", {"window": 0}),
        ("AGR", {"window": 2**12}),
        ("HM", {"size": 8}),
        ("OLH", {"size": 1}),
    ],
    ids=str,
)
def test_a_client_outside_the_conditions_is_not_covered(name: str, change: dict[str, int]) -> None:
    scheme = make(name, epsilon=1, domain_size=5)
    assert argued(scheme)
    vars(scheme.randomizer).update(change)
    assert not argued(scheme)


def test_an_oracle_too_small_for_what_a_search_asks_is_not_covered() -> None:
    scheme = make("PEM", domain=Strings("ab", 2), oracle=make("DE", epsilon=1, domain_size=9), start=1, step=1)
    assert argued(scheme)
    scheme.randomizer.groups[0][0].randomizer.size = 2  # type: ignore[attr-defined]
    assert not argued(scheme)


def test_a_part_that_fails_on_some_strings_is_not_covered(monkeypatch: pytest.MonkeyPatch) -> None:
    oracle = make("DE", epsilon=1, domain_size=99)
    scheme = make("ROUND", domain=Strings("abcd", 4), oracle=oracle, prefixes=["ab", "cd"], stem=2, reach=4)
    part: Any = scheme.randomizer.groups[0][0]  # type: ignore[attr-defined]
    for field, wrong in {"numbers": {7: 10**6}, "more": 26, "first": 5, "hash_seed": 1}.items():
        assert argued(scheme)
        with monkeypatch.context() as patch:
            patch.setattr(part, field, wrong)
            assert not argued(scheme), field


# --- it is true wherever it is run ------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "size"),
    [("DE", 350), ("HR", 255), ("OLH", 4000), ("FLH", 2000), ("HM", 3000), ("TLH", 4000), ("AGR", 4000)],
)
def test_every_item_of_a_whole_domain_has_the_stated_ratio(name: str, size: int) -> None:
    certificate = audit(make(name, epsilon=1, domain_size=size))
    assert certificate.proved
    assert certificate.attained
    assert certificate.enumerated is certificate.scheme
    assert certificate.items == certificate.compared_items == size


class Coins:
    """Pseudorandom coins that note thresholds and outcomes."""

    def __init__(self, words: list[int]) -> None:
        self.words = iter(words)
        self.seen: list[tuple[int, bool]] = []
        self.numbers: list[int] = []

    def bernoulli(self, threshold: int) -> bool:
        self.seen.append((threshold, next(self.words) < threshold))
        return self.seen[-1][1]

    def below(self, size: int) -> int:
        self.numbers.append(next(self.words) % size)
        return self.numbers[-1]


def words_of(count: int, report: int) -> list[int]:
    return SeededRandom(3).replay(0).tape(Layout(dense=count), report)


@pytest.mark.full
@pytest.mark.parametrize("name", ["SUE", "OUE"])
def test_each_bit_is_one_coin_and_only_the_item_s_own_is_kept_for_every_item(name: str) -> None:
    client: Any = make(name, epsilon=1, domain_size=1000).randomizer
    for item in range(1000):
        coins = Coins(words_of(1000, item))
        record = int.from_bytes(client.perturb(item, (), coins), "little")
        assert [threshold for threshold, _ in coins.seen] == [
            client.keep if i == item else client.flip for i in range(1000)
        ]
        assert record == sum(bit << i for i, (_, bit) in enumerate(coins.seen))


def test_subsets_are_the_same_picks_of_the_others_for_every_item() -> None:
    client: Any = make("SS", epsilon=1, domain_size=150).randomizer
    for kept in (True, False):
        for item in range(150):
            # The same coins for all items, after the one that decides.
            coins = Coins([0 if kept else WORD - 1, *words_of(client.subset_size, 0)])
            record = int.from_bytes(client.perturb(item, (), coins), "little")
            deck = list(range(149))
            for i, number in enumerate(coins.numbers):
                deck[i], deck[i + number] = deck[i + number], deck[i]
            picks = deck[: client.subset_size - kept]
            others = [x for x in range(150) if x != item]
            assert record == sum(1 << x for x in [others[pick] for pick in picks] + [item] * kept)


@pytest.mark.parametrize("name", ["DE", "BLH", "OLH", "FLH", "HM", "HR", "TLH", "AGR"])
@pytest.mark.parametrize("domain", [Integers(2**30), Keys(3)], ids=repr)
def test_random_items_of_the_largest_domains_make_the_defined_records(name: str, domain: Any) -> None:
    if not isinstance(domain, plausibly.CATALOG[name].accepts):
        return
    scheme = make(name, epsilon=1, domain=domain)
    written = json.loads(scheme.to_json())
    encode, client = device.load(scheme.to_json()).encode, scheme.randomizer
    for report in range(60):
        item, *tape = words_of(client.words + 6, report)
        value = item % 2**30
        source = TapeSource(tape)
        record = client.perturb(encode(value), client.public(source), source)
        assert record == naive_client.record(written, value, naive_client.Tape(tape))


@pytest.mark.parametrize("name", ["BLH", "OLH", "FLH", "HM", "TLH", "AGR"])
def test_random_items_of_the_largest_domains_have_the_stated_ratio(name: str) -> None:
    client = make(name, epsilon=1, domain_size=2**32).randomizer
    worst: Fraction | float = Fraction(0)
    for report in range(4):
        words = words_of(64, report)
        public = client.public(TapeSource(words))
        found = worst_ratio([output_law(client, word % 2**32, public) for word in words[32:]])
        assert found <= client.worst_ratio()
        worst = max(worst, found)
    assert worst == client.worst_ratio()


# --- audits end -------------------------------------------------------------------------------------------------


class Endless:
    """A client that never stops drawing."""

    words = 2

    def public(self, source: Any) -> tuple[int, ...]:
        return ()

    def perturb(self, value: int, public: tuple[int, ...], source: Any) -> bytes:
        while True:
            source.bernoulli(WORD // 2)

    def worst_ratio(self) -> Fraction:
        return Fraction(1)


def test_a_client_that_never_stops_drawing_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    scheme = make("DE", epsilon=1, domain_size=4)
    monkeypatch.setitem(vars(scheme), "randomizer", Endless())
    certificate = audit(scheme)
    assert certificate.findings[0] == "the client draws more or fewer words than it says"
    assert not certificate.proved
    assert str(certificate).splitlines()[0] == "DE(epsilon=1, domain_size=4) DOES NOT HOLD"


class Counting:
    """The client of a scheme, which counts its draws."""

    def __init__(self, client: Any) -> None:
        self.client, self.drawn, self.words = client, 0, client.words

    def public(self, source: Any) -> tuple[int, ...]:
        public: tuple[int, ...] = self.client.public(source)
        return public

    def perturb(self, value: int, public: tuple[int, ...], source: Any) -> bytes:
        self.drawn += self.words
        record: bytes = self.client.perturb(value, public, source)
        return record

    def worst_ratio(self) -> Fraction:
        worst: Fraction = self.client.worst_ratio()
        return worst


@pytest.mark.parametrize(
    ("name", "size", "draws"),
    [("DE", 200, 50_000), ("OLH", 1000, 50_000), ("OLH", 10**6, 20_000), ("OUE", 120, 20_000), ("SS", 100, 30_000)],
)
def test_the_draws_stay_near_the_budget(name: str, size: int, draws: int, monkeypatch: pytest.MonkeyPatch) -> None:
    scheme = make(name, epsilon=1, domain_size=size)
    counting = Counting(scheme.randomizer)
    monkeypatch.setitem(vars(scheme), "randomizer", counting)
    assert audit(scheme, draws=draws).holds
    # The laws, the tapes in bulk and one by one, and a few probes.
    assert 0 < counting.drawn < 3 * draws + 100_000


@pytest.mark.full
@pytest.mark.parametrize("name", ["OUE", "SUE", "SS"])
@pytest.mark.parametrize("size", [10**6, 2**32])
def test_reports_too_large_to_be_made_are_never_made(name: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    scheme = make(name, epsilon=1, domain_size=size)
    counting = Counting(scheme.randomizer)
    monkeypatch.setitem(vars(scheme), "randomizer", counting)
    certificate = audit(scheme, draws=100_000)
    assert certificate.holds
    assert counting.drawn == 0
    assert certificate.compared is not scheme
    assert "of a smaller copy of the scheme" in str(certificate).splitlines()[3]


def test_probes_stop_where_they_are_told_to() -> None:
    probe = Probe(3)
    for _ in range(3):
        probe.bernoulli(5)
    with pytest.raises(DrawsError):
        probe.below(2)


def test_a_scheme_that_was_copied_and_pickled_is_still_covered() -> None:
    # Both leave a note in the classes of the client.
    scheme = make("OLH", epsilon=1, domain_size=4)
    assert argued(scheme)
    copy.deepcopy(scheme.randomizer)
    pickle.loads(pickle.dumps(scheme.randomizer))
    assert "__slotnames__" in vars(device.LocalHashing)
    assert argued(scheme)
