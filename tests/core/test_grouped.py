"""Groups: who reports what, in which order words are drawn, records of one size, and states that change whole."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import plausibly
import trusting
from contract.test_sampler import assert_follows
from plausibly import Keys, ParameterError, ReportError, SeededRandom, StateError, Strings
from plausibly.device import WordSource
from search.planted import COMMON, search_for

STRINGS = Strings("ab", 3)


def mixed(name: str, oracle: Any, word_oracle: Any, **given: Any) -> Any:
    return plausibly.make(name, oracle=oracle, word_oracle=word_oracle, domain=STRINGS, **given)


def keyed(name: str, **given: Any) -> Any:
    return plausibly.make(name, epsilon=2, domain=Keys(), **given)


def listed(name: str, size: int = 64) -> Any:
    return plausibly.make(name, epsilon=2, domain_size=size)


SKETCH = plausibly.make("CM", oracle=listed("OLH", 16), rows=3, domain=Keys())
PAIRS = [
    (keyed("OLH"), keyed("FLH", hashes=5)),  # public words on both sides
    (keyed("TLH"), listed("DE")),
    (SKETCH, keyed("BLH")),
    (listed("HM"), SKETCH),
    (listed("OUE"), listed("SUE")),  # one-byte words
    (listed("SS"), listed("HR")),
]


@pytest.mark.parametrize("name", ["TH", "SFP", "BITSTOGRAM", "TH, users", "SFP, users"])
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair[0].name} and {pair[1].name}")
def test_a_bulk_report_is_the_client_s_on_the_exported_tape(name: str, pair: tuple[Any, Any]) -> None:
    name, _, split = name.partition(", ")
    given: dict[str, Any] = {"start": 1, "step": 1} if name == "TH" else {"hash_bits": 1}
    try:
        scheme = mixed(name, *pair, **given, **({"split": split} if split else {}))
    except ParameterError as error:
        assert "unary" in str(error)  # noqa: PT017  a group without one-byte words besides one with them
        return
    items = ["", "a", "bb", "aba"] * 15
    rng = SeededRandom(4)
    reports, client = scheme.privatize(items, rng=rng), trusting.load(scheme.to_json())
    assert {int(group) for group in reports["group"]} == set(range(len(scheme.groups)))
    for i, item in enumerate(items):
        tape = rng.replay(0).tape(scheme.layout, i)
        words = b"".join(word.to_bytes(8, "little") for word in tape)
        assert client.privatize(item, WordSource(len(tape), lambda count, words=words: words[:count])) == (
            reports[i].tobytes()
        )


def test_a_group_is_drawn_first_then_all_that_is_public_then_all_that_is_private() -> None:
    scheme = mixed("TH", keyed("OLH"), keyed("FLH", hashes=5), start=1, step=1)

    class Noting:
        def __init__(self) -> None:
            self.drawn: list[Any] = []

        def bernoulli(self, threshold: int) -> bool:
            self.drawn.append("coin")
            return True

        def below(self, size: int) -> int:
            self.drawn.append(size)
            return 0

    source = Noting()
    public = scheme.randomizer.public(source)
    assert source.drawn == [2, 2**64, 5]
    scheme.randomizer.perturb(0, public, source)
    g = scheme.oracle.to_dict()["hash_range"]
    assert source.drawn[3:] == ["coin", g - 1, "coin", g - 1]


@pytest.mark.parametrize("weights", [(1, 1), (1, 3), (2**32 - 1, 1)], ids=str)
def test_groups_have_their_weights(weights: tuple[int, int]) -> None:
    # Chi-square at a false-alarm rate of 1e-6; the seed is fixed.
    scheme = search_for("PEM", weights=weights)
    groups = scheme.privatize(["ab"] * 4_000, SeededRandom(2))["group"]
    if min(weights) * 1_000 < max(weights):
        assert (groups == 0).all()
        return
    expected = {i: 4_000 * weight / sum(weights) for i, weight in enumerate(weights)}
    assert_follows(Counter(groups.tolist()), expected)


def test_what_follows_a_short_record_is_zeros_and_anything_else_is_refused() -> None:
    scheme = mixed("BITSTOGRAM", keyed("FLH", hashes=5), keyed("OLH"), hash_bits=1)
    reports = scheme.privatize(["ab"] * 200, SeededRandom(1))
    short = np.flatnonzero(reports["group"] < 3)
    size = scheme.oracle.report_dtype.itemsize
    assert size < scheme.report_dtype["body"].shape[0]
    assert not reports["body"][short][:, size:].any()
    tally = scheme.accumulator()
    tally.add(reports)
    before = tally.to_bytes()
    spoiled = reports.copy()
    spoiled["body"][short[7], -1] = 1
    with pytest.raises(ReportError, match=rf"report {short[7]}: expected zeros after the record"):
        tally.add(spoiled)
    assert tally.to_bytes() == before


def test_a_bad_record_of_a_part_is_named_by_its_place_in_the_batch() -> None:
    scheme = search_for("PEM")
    reports = scheme.privatize(["ab"] * 50, SeededRandom(1))
    place = int(np.flatnonzero(reports["group"] == 1)[3])
    reports["body"][place] = 255
    with pytest.raises(ReportError, match=rf"report {place}: expected .*\(1 in all\)"):
        scheme.accumulator().add(reports)
    reports["group"][20] = 2
    with pytest.raises(ReportError, match="report 20: expected a group below 2"):
        scheme.accumulator().add(reports)


def test_each_part_has_its_own_reports_and_the_state_is_theirs() -> None:
    scheme = search_for("SFP")
    tally: Any = scheme.accumulator()
    tally.add(scheme.privatize(["ab"] * 300, SeededRandom(1)))
    assert [len(part) for part in tally.parts] == [*tally.n.tolist(), 300]
    payload = tally.n.astype("<i8").tobytes() + b"".join(part.to_payload() for part in tally.parts)
    assert tally.to_bytes()[28:-4] == payload


def test_a_state_whose_groups_do_not_add_up_is_refused() -> None:
    from contract.test_state import sealed

    scheme = search_for("PEM")
    tally: Any = scheme.accumulator()
    tally.add(scheme.privatize(["ab"] * 60, SeededRandom(1)))
    payload = tally.to_bytes()[28:-4]
    for wrong in ([60, 0], [0, 60], [-1, 61], [2**62, 60 - 2**62], [59, 0]):
        with pytest.raises(StateError):
            plausibly.Accumulator.from_bytes(
                scheme, sealed(scheme, 60, np.array(wrong, dtype="<i8").tobytes() + payload[16:])
            )
    with pytest.raises(StateError, match="at least 16 bytes"):
        plausibly.Accumulator.from_bytes(scheme, sealed(scheme, 0, b"\0" * 8))


def test_merging_leaves_no_half_when_a_part_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    scheme = search_for("SFP")
    one, two = (scheme.simulate(COMMON, SeededRandom(seed)) for seed in (1, 2))
    before, kind, calls = one.to_bytes(), type(one.parts[0]), []
    honest = kind.unite

    def fails(self: Any, other: Any) -> None:
        calls.append(self)
        if len(calls) == 3:
            raise MemoryError
        honest(self, other)

    for act in (lambda: one.merge(two), lambda: one.add(scheme.privatize(["ab"] * 90, SeededRandom(3)))):
        calls.clear()
        monkeypatch.setattr(kind, "unite", fails)
        with pytest.raises(MemoryError):
            act()
        monkeypatch.undo()
        assert one.to_bytes() == before
    one.merge(two)
    assert len(one) == 2 * sum(COMMON.values())


def test_one_byte_words_go_only_with_their_kind() -> None:
    with pytest.raises(ParameterError, match=r"^oracle: unary encoding goes only with unary encoding"):
        mixed("TH", listed("OUE"), keyed("OLH"), start=1, step=1)


def test_parts_of_a_group_add_up_and_groups_take_the_largest() -> None:
    small, large = plausibly.make("OLH", epsilon=1, domain=Keys()), plausibly.make("OLH", epsilon=2, domain=Keys())
    assert mixed("TH", small, large).epsilon == mixed("SFP", large, small).epsilon == 3
    assert mixed("BITSTOGRAM", small, large).epsilon == mixed("BITSTOGRAM", large, small).epsilon == 2
    loss = mixed("TH", small, large).privacy_loss()
    assert 2.99 < loss <= 3


@pytest.mark.parametrize(
    ("member", "wrong", "message"),
    [
        ("group_weights", (0, 1), "weights: expected 1 to"),
        ("group_weights", (-1, 2), "weights: expected 1 to"),
        ("group_weights", (2**63, 2**63), "weights: expected 1 to"),
        ("group_weights", (1,), "weights: expected 2 positive integers"),
        ("groups", ((0,), (99,)), "groups: expected numbers of parts"),
        ("groups", ((0,), (-1,)), "groups: expected numbers of parts"),
    ],
)
def test_impossible_groups_are_refused(
    member: str, wrong: object, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = plausibly.CATALOG["TH"]
    monkeypatch.setattr(kind, "groups", ((0, 1), (0, 1)))
    monkeypatch.setattr(kind, "group_weights", (1, 1))
    monkeypatch.setattr(kind, member, wrong)
    with pytest.raises(ParameterError, match=message):
        mixed("TH", keyed("OLH"), keyed("OLH"))
