"""Accumulators: merge laws, bytes and back, refusals that change nothing, and counters that cannot overflow."""

from __future__ import annotations

import contextlib
import copy
import pickle
import struct
import zlib
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import plausibly
from cases import in_turn
from contract.entries import (
    SCHEMES,
    build,
    deterministic,
    each_of,
    every_linear_scheme,
    every_listed_scheme,
    every_name,
    every_scheme,
    flips,
    is_linear,
    items_of,
    other_than,
    reports_of,
    sized,
    tally_of,
)
from drawn import thinned
from plausibly import Accumulator, ReportError, Scheme, SeededRandom, StateError
from plausibly.core import accumulator as module
from plausibly.core.grouped import Grouped
from plausibly.ordered.blocks import Blocks

HEADER = struct.Struct("<4s16sq")


def sealed(scheme: Scheme, count: int, payload: bytes) -> bytes:
    """A state blob whose header and checksum are right, whatever it claims."""
    body = HEADER.pack(b"PLA\x01", bytes.fromhex(scheme.fingerprint())[:16], count) + payload
    return body + struct.pack("<I", zlib.crc32(body))


def keeps_reports(tally: Accumulator) -> bool:
    """Whether the reports are kept as they came, be it in a part of the state."""
    return isinstance(tally, module.LogAccumulator) or any(map(keeps_reports, getattr(tally, "parts", ())))


def merged(scheme: Scheme, *parts: Accumulator) -> Accumulator:
    whole = scheme.accumulator()
    for part in parts:
        whole.merge(part)
    return whole


# --- merge laws ----------------------------------------------------------------------------------------------------

sizes = st.lists(st.integers(0, 9), min_size=3, max_size=3)


@pytest.mark.full
@every_scheme
@deterministic
@given(sizes=sizes)
def test_merging_does_not_depend_on_the_order(scheme: Scheme, sizes: list[int]) -> None:
    a, b, c = (tally_of(scheme, reports_of(scheme, size, seed)) for seed, size in enumerate(sizes))
    assert merged(scheme, a, b, c).to_bytes() == merged(scheme, c, b, a).to_bytes()
    assert merged(scheme, a, b).to_bytes() == merged(scheme, b, a).to_bytes()


@pytest.mark.full
@every_scheme
@deterministic
@given(sizes=sizes)
def test_merging_does_not_depend_on_the_grouping(scheme: Scheme, sizes: list[int]) -> None:
    a, b, c = (tally_of(scheme, reports_of(scheme, size, seed)) for seed, size in enumerate(sizes))
    left = merged(scheme, merged(scheme, a, b), c)
    right = merged(scheme, a, merged(scheme, b, c))
    assert left.to_bytes() == right.to_bytes()
    assert len(left) == sum(sizes)


@every_scheme
@deterministic
@given(size=st.integers(0, 9))
def test_an_empty_accumulator_is_neutral(scheme: Scheme, size: int) -> None:
    tally = tally_of(scheme, reports_of(scheme, size))
    before = tally.to_bytes()
    assert merged(scheme, scheme.accumulator(), tally).to_bytes() == before
    tally.merge(scheme.accumulator())
    assert tally.to_bytes() == before


@pytest.mark.full
@every_scheme
@deterministic
@given(data=st.data())
def test_reports_may_be_split_in_any_way(scheme: Scheme, data: Any) -> None:
    reports = reports_of(scheme, 24)
    order = data.draw(st.permutations(range(24)))
    part_of = data.draw(st.lists(st.integers(0, 3), min_size=24, max_size=24))
    parts = [scheme.accumulator() for _ in range(4)]
    for i in order:
        parts[part_of[i]].add(reports[i : i + 1])
    assert merged(scheme, *parts).to_bytes() == tally_of(scheme, reports).to_bytes()


@every_scheme
def test_merging_leaves_the_other_accumulator_as_it_was_and_apart(scheme: Scheme) -> None:
    a, b = tally_of(scheme, reports_of(scheme, 5)), tally_of(scheme, reports_of(scheme, 7))
    before = b.to_bytes()
    a.merge(b)
    a.add(reports_of(scheme, 3))
    assert b.to_bytes() == before
    after = a.to_bytes()
    b.add(reports_of(scheme, 4))
    assert a.to_bytes() == after


@every_scheme
def test_an_accumulator_can_be_merged_with_itself(scheme: Scheme) -> None:
    reports = reports_of(scheme, 5)
    tally = tally_of(scheme, reports)
    tally.merge(tally)
    assert tally.to_bytes() == tally_of(scheme, reports, reports).to_bytes()


@every_scheme
def test_merging_refuses_another_epsilon_and_changes_nothing(scheme: Scheme) -> None:
    other = other_than(scheme)
    tally, foreign = tally_of(scheme, reports_of(scheme, 5)), tally_of(other, reports_of(other, 5))
    before = tally.to_bytes(), foreign.to_bytes()
    with pytest.raises(StateError, match=r"merge: expected the same scheme, got another: epsilon is .*, not"):
        tally.merge(foreign)
    assert (tally.to_bytes(), foreign.to_bytes()) == before


@every_scheme
@in_turn("other", [None, 5, b"bytes", "text"])
def test_merging_refuses_what_is_no_accumulator(scheme: Scheme, other: object) -> None:
    with pytest.raises(StateError, match="merge: expected an Accumulator"):
        scheme.accumulator().merge(other)  # type: ignore[arg-type]


@every_scheme
def test_merging_accepts_an_equal_scheme_that_is_another_object(scheme: Scheme) -> None:
    again = plausibly.from_json(scheme.to_json())
    tally = tally_of(scheme, reports_of(scheme, 5))
    tally.merge(tally_of(again, reports_of(again, 6, seed=2)))
    assert len(tally) == 11


# --- bytes and back --------------------------------------------------------------------------------------------------


@every_scheme
@in_turn("count", [0, 1, 60])
def test_a_state_comes_back_as_it_went(scheme: Scheme, count: int) -> None:
    tally = tally_of(scheme, reports_of(scheme, count))
    again = Accumulator.from_bytes(scheme, tally.to_bytes())
    assert again.to_bytes() == tally.to_bytes()
    assert len(again) == count
    if is_linear(scheme):
        np.testing.assert_array_equal(again.scores(items_of(scheme)), tally.scores(items_of(scheme)))
    again.add(reports_of(scheme, 2))
    assert len(again) == count + 2


@every_scheme
def test_pickled_and_copied_states_are_equal_and_independent(scheme: Scheme) -> None:
    tally = tally_of(scheme, reports_of(scheme, 9))
    before = tally.to_bytes()
    for again in (pickle.loads(pickle.dumps(tally)), copy.deepcopy(tally), copy.copy(tally)):
        assert again.to_bytes() == before
        again.add(reports_of(scheme, 1))
        assert tally.to_bytes() == before


@every_scheme
def test_a_state_cut_at_any_length_is_refused(scheme: Scheme) -> None:
    blob = tally_of(scheme, reports_of(scheme, 3)).to_bytes()
    for length in range(len(blob)):
        with pytest.raises(StateError):
            Accumulator.from_bytes(scheme, blob[:length])


@every_scheme
def test_every_single_flipped_bit_of_a_state_is_refused(scheme: Scheme) -> None:
    for damaged in thinned(flips(tally_of(scheme, reports_of(scheme, 3)).to_bytes())):
        with pytest.raises(StateError):
            Accumulator.from_bytes(scheme, damaged)


@every_scheme
def test_left_over_bytes_of_a_state_are_refused(scheme: Scheme) -> None:
    blob = tally_of(scheme, reports_of(scheme, 3)).to_bytes()
    with pytest.raises(StateError):
        Accumulator.from_bytes(scheme, blob + b"\0")
    with pytest.raises(StateError, match=r"expected .* bytes"):
        Accumulator.from_bytes(scheme, sealed(scheme, 3, blob[HEADER.size : -4] + bytes(8)))


@every_scheme
def test_a_state_of_another_scheme_is_refused(scheme: Scheme) -> None:
    other = other_than(scheme)
    blob = tally_of(other, reports_of(other, 3)).to_bytes()
    with pytest.raises(StateError, match=r"expected the same scheme, got another: epsilon is .*, not"):
        Accumulator.from_bytes(scheme, blob)


@every_scheme
def test_a_batch_of_reports_is_not_a_state(scheme: Scheme) -> None:
    batch = plausibly.encode_reports(scheme, reports_of(scheme, 3))
    with pytest.raises(StateError, match="not an accumulator"):
        Accumulator.from_bytes(scheme, batch)
    with pytest.raises(ReportError, match="not a batch"):
        plausibly.decode_reports(scheme, scheme.accumulator().to_bytes())


@every_scheme
@in_turn("count", [-1, -(2**63)])
def test_a_negative_number_of_reports_is_refused(scheme: Scheme, count: int) -> None:
    payload = scheme.accumulator().to_bytes()[HEADER.size : -4]
    with pytest.raises(StateError, match="negative"):
        Accumulator.from_bytes(scheme, sealed(scheme, count, payload))


@every_scheme
def test_a_state_larger_than_its_reports_is_refused(scheme: Scheme) -> None:
    tally = tally_of(scheme, reports_of(scheme, 1))
    payload = tally.to_bytes()[HEADER.size : -4]
    with pytest.raises(StateError):
        Accumulator.from_bytes(scheme, sealed(scheme, 0, payload.replace(b"\0", b"\1")))
    forged = [b"\xff" * len(payload)]
    if not keeps_reports(tally):
        forged = [struct.pack("<q", value) * (len(payload) // 8) for value in (2**62, -(2**62))]
    for wrong in forged:
        with pytest.raises(StateError):
            Accumulator.from_bytes(scheme, sealed(scheme, 1, wrong))


def states_of(tally: Accumulator) -> list[Any]:
    """The cells of an accumulator, or those of each part of a grouped one."""
    return [part.state for part in getattr(tally, "parts", [tally])]


@cache
def what_single_reports_make(scheme: Scheme) -> list[set[tuple[int, int]]]:
    """Sum and least cell of the states of a single report, of 200 of them, where it is counted."""
    singles = [states_of(tally_of(scheme, report)) for report in np.split(reports_of(scheme, 200), 200)]
    return [{(int(one.sum()), int(one.min())) for one in same if one.any()} for same in zip(*singles, strict=True)]


@every_listed_scheme
def test_a_state_with_negative_counts_is_refused_where_reports_only_count_up(scheme: Scheme) -> None:
    for i, made in enumerate(what_single_reports_make(scheme)):
        if min(least for _, least in made) < 0:
            continue  # this state holds sums of signs
        tally = tally_of(scheme, reports_of(scheme, 9))
        states_of(tally)[i].reshape(-1)[0] = -1
        with pytest.raises(StateError):
            Accumulator.from_bytes(scheme, tally.to_bytes())


@every_listed_scheme
def test_a_state_with_one_count_too_many_is_refused_where_reports_count_once(scheme: Scheme) -> None:
    for i, made in enumerate(what_single_reports_make(scheme)):
        if len(made) > 1:
            continue  # a report of this scheme counts in as many cells as its coins say
        tally = tally_of(scheme, reports_of(scheme, 9))
        states_of(tally)[i].reshape(-1)[0] += 1
        with pytest.raises(StateError):
            Accumulator.from_bytes(scheme, tally.to_bytes())


@every_scheme
@deterministic
@given(noise=st.binary(max_size=80))
def test_arbitrary_bytes_are_no_state(scheme: Scheme, noise: bytes) -> None:
    good = scheme.accumulator().to_bytes()
    for blob in (noise, good[:4] + noise, good[:20] + noise, good[:28] + noise):
        if blob != good:
            with pytest.raises(StateError):
                Accumulator.from_bytes(scheme, blob)


# --- adding ----------------------------------------------------------------------------------------------------------


@every_scheme
def test_bad_reports_are_refused_whole_and_change_nothing(scheme: Scheme) -> None:
    tally = tally_of(scheme, reports_of(scheme, 5))
    before = tally.to_bytes()
    good = reports_of(scheme, 4)
    spoiled = good.copy()
    spoiled[-1:] = np.frombuffer(b"\xff" * scheme.report_dtype.itemsize, dtype=scheme.report_dtype)
    wrong: list[object] = [
        spoiled,
        np.ma.masked_array(good, mask=False),
        good.reshape(2, 2),
        good.tolist(),
        good.tobytes(),
        good.view(np.uint8),
        np.zeros(3, dtype=[("invented", "<u4")]),
        np.zeros(3),
        np.array(["a"]),
        None,
        7,
        good[0],
    ]
    for reports in wrong:
        with pytest.raises(ReportError, match="expected"):
            tally.add(reports)
        assert tally.to_bytes() == before
        assert len(tally) == 5


@every_scheme
def test_an_error_in_the_middle_of_a_batch_changes_nothing(scheme: Scheme, monkeypatch: pytest.MonkeyPatch) -> None:
    # Schemes that keep their reports have no fold that could break off.
    tally = tally_of(scheme, reports_of(scheme, 5))
    before = tally.to_bytes()
    folding = [part.scheme for part in scheme.parts] if isinstance(scheme, Grouped) else [scheme]
    name = "fold"
    if all(isinstance(one, Blocks) for one in folding):
        folding, name = [one.oracle for one in folding], "scatter"
    # A grouped scheme folds a batch in one go for each part.
    alike = sum(type(one) is type(folding[0]) for one in folding)
    breaks_at = min(3, alike) if isinstance(scheme, Grouped) else 3
    honest, calls = getattr(type(folding[0]), name), []

    def breaks_off(self: Scheme, cells: Any, *given: Any) -> None:
        calls.append(len(given[-1]))
        if len(calls) == breaks_at:
            cells += 1
            raise MemoryError("in the middle")
        honest(self, cells, *given)

    monkeypatch.setattr(module, "_FOLD_CHUNK", 4)
    monkeypatch.setattr(type(folding[0]), name, breaks_off)
    # A task folds at least as many reports as there are cells.
    more = reports_of(scheme, 40 + 3 * getattr(tally, "state", np.zeros((1, 0)))[0].size)
    if keeps_reports(tally):
        tally.add(more)
        assert (calls, len(tally)) == ([], 45)
        return
    with pytest.raises(MemoryError, match="in the middle"):
        tally.add(more)
    monkeypatch.undo()
    assert tally.to_bytes() == before
    assert len(tally) == 5
    tally.add(more)
    assert len(tally) == 5 + len(more)


@every_scheme
def test_an_interrupt_leaves_a_state_with_all_reports_or_none(scheme: Scheme, monkeypatch: pytest.MonkeyPatch) -> None:
    few, more = reports_of(scheme, 5), reports_of(scheme, 40)
    before, after = tally_of(scheme, few).to_bytes(), tally_of(scheme, np.concatenate([few, more])).to_bytes()
    for calls_left in range(12):
        tally, left = tally_of(scheme, few), iter(range(calls_left))

        def interrupted(sized: Any, left: Any = left) -> int:
            if next(left, None) is None:
                raise KeyboardInterrupt
            return sized.__len__()

        # An interrupt is delivered when a call returns; those of len() stand for all.
        monkeypatch.setattr(module, "len", interrupted, raising=False)
        with contextlib.suppress(KeyboardInterrupt):
            tally.add(more)
        monkeypatch.undo()
        assert tally.to_bytes() == (before if len(tally) == 5 else after)


def test_kept_reports_cannot_be_written_to() -> None:
    scheme = plausibly.make("OLH", epsilon=1, domain=plausibly.Keys())
    tally = scheme.accumulator()
    for count in (0, 1, 2):
        tally.add(scheme.privatize(["a"] * count))
        assert not tally.reports.flags.writeable


@every_scheme
def test_folding_in_chunks_is_folding_at_once(scheme: Scheme, monkeypatch: pytest.MonkeyPatch) -> None:
    reports = reports_of(scheme, 40)
    wanted = tally_of(scheme, reports).to_bytes()
    for chunk in (1, 7, 39):
        monkeypatch.setattr(module, "_FOLD_CHUNK", chunk)
        assert tally_of(scheme, reports).to_bytes() == wanted


@every_scheme
def test_adding_does_not_change_the_reports(scheme: Scheme) -> None:
    reports = reports_of(scheme, 10)
    before = reports.tobytes()
    reports.setflags(write=False)
    tally_of(scheme, reports)
    assert reports.tobytes() == before


@every_linear_scheme
def test_scores_are_the_caller_s_own(scheme: Scheme) -> None:
    tally = tally_of(scheme, reports_of(scheme, 10))
    before = tally.to_bytes()
    items = None if scheme.domain.size else items_of(scheme)
    for mine in (tally.scores(items), tally.estimate(items).values, tally.scores(items_of(scheme))):
        mine += 1
    assert tally.to_bytes() == before


@every_scheme
def test_there_is_nothing_that_resets_a_state_or_a_scheme(scheme: Scheme) -> None:
    verbs = ("reset", "clear", "update", "set_")
    for thing in (scheme, scheme.accumulator()):
        assert [name for name in dir(thing) if name.startswith(verbs)] == []


# --- counters ----------------------------------------------------------------------------------------------------


@every_scheme
@in_turn("count", [2**63 - 1, 2**62, 2**56, 2**48])
def test_a_state_that_claims_very_many_reports_is_read_exactly_or_refused(scheme: Scheme, count: int) -> None:
    payload = scheme.accumulator().to_bytes()[HEADER.size : -4]
    try:
        tally = Accumulator.from_bytes(scheme, sealed(scheme, count, payload))
    except StateError:
        return
    assert len(tally) == count
    room = 2**63 - 1 - count * scheme.max_increment
    before = tally.to_bytes()
    if room < 5 * scheme.max_increment:
        with pytest.raises(StateError, match="would overflow"):
            tally.add(reports_of(scheme, 5))
    for _ in range(64):
        before = tally.to_bytes()
        if 2 * len(tally) * scheme.max_increment >= 2**63:
            break
        tally.merge(tally)
    with pytest.raises(StateError, match="would overflow"):
        tally.merge(tally)
    assert tally.to_bytes() == before


@every_name
@in_turn(("epsilon", "size"), [(1, 11), (6, 300)])
def test_a_state_doubled_until_it_is_refused_still_counts_exactly(name: str, epsilon: int, size: int) -> None:
    scheme = build(name, sized(name, size), epsilon)
    if not is_linear(scheme):
        return  # it has no scores that could overflow
    asked = items_of(scheme) if scheme.domain.size is None else None
    # One report that supports its item: then a power of two of them comes nearest to the limit.
    ones = (tally_of(scheme, scheme.privatize(items_of(scheme)[:1], rng=SeededRandom(seed))) for seed in range(64))
    one = next(tally for tally in ones if tally.scores(asked)[0] > 0)
    wanted = one.scores(asked)
    tally = copy.deepcopy(one)
    doublings = 0
    while True:
        before = tally.to_bytes()
        try:
            tally.merge(tally)
        except StateError:
            break
        doublings += 1
    assert doublings > 40, "counters are of 64 bits"
    assert tally.to_bytes() == before
    assert tally.scores(asked).tolist() == [int(score) << doublings for score in wanted]
    np.testing.assert_allclose(tally.estimate(asked).values, one.estimate(asked).values * 2.0**doublings, rtol=1e-9)
    assert np.isfinite(tally.estimate(asked).variance).all()  # type: ignore[arg-type]


@every_scheme
def test_adding_to_a_full_state_is_refused_and_changes_nothing(scheme: Scheme) -> None:
    tally = tally_of(scheme, reports_of(scheme, 1))
    if keeps_reports(tally):
        # A log of 2^63 records cannot be held; a blob that claims one is refused by its length.
        with pytest.raises(StateError):
            Accumulator.from_bytes(scheme, sealed(scheme, 2**63 - 1, b""))
        return
    while True:
        try:
            tally.merge(tally)
        except StateError:
            break
    # Halving what is missing, until not one report more has room.
    small = tally_of(scheme, reports_of(scheme, 1))
    stack = [small]
    for _ in range(62):
        twice = copy.deepcopy(stack[-1])
        try:
            twice.merge(twice)
        except StateError:
            break
        stack.append(twice)
    for part in reversed(stack):
        try:
            tally.merge(part)
        except StateError as error:
            assert "overflow" in str(error)  # noqa: PT017
    before = tally.to_bytes()
    with pytest.raises(StateError, match="would overflow the 64-bit counters"):
        tally.add(reports_of(scheme, 1))
    assert tally.to_bytes() == before


@every_scheme
def test_simulating_more_users_than_can_be_addressed_is_refused(
    scheme: Scheme, monkeypatch: pytest.MonkeyPatch
) -> None:
    def started(*arguments: object) -> None:
        raise AssertionError("the simulation was started")

    monkeypatch.setattr(plausibly.core.scheme, "in_chunks", started)
    # The last two wrap around in 64 bits, one of them to two users.
    for counts in ([2**62, 2**62], [2**63 - 1] * 3, [2**48, 1], [2**64 - 1, 1], [2**63 + 3, 2**63 - 1]):
        with pytest.raises(plausibly.PlausiblyError, match="counts"):
            scheme.simulate(dict(zip(items_of(scheme), counts, strict=False)), rng=SeededRandom(1))


# --- channels --------------------------------------------------------------------------------------------------------

every_shared_out = each_of([label for label, scheme in SCHEMES.items() if scheme.channels is not None])


@every_shared_out
def test_each_channel_holds_what_its_reports_alone_would_make(scheme: Scheme) -> None:
    reports = reports_of(scheme, 200)
    channels = scheme.channel_of(reports)
    tally = tally_of(scheme, reports)
    assert tally.n.tolist() == [int((channels == channel).sum()) for channel in range(scheme.channels)]
    for channel in range(scheme.channels):
        alone = tally_of(scheme, reports[channels == channel])
        np.testing.assert_array_equal(tally.state[channel], alone.state[channel])
        assert not np.delete(alone.state, channel, axis=0).any()
        assert not np.delete(alone.n, channel).any()


@every_shared_out
def test_reports_cannot_be_moved_from_one_channel_to_another(scheme: Scheme) -> None:
    # The total fits, the cells fit the total; only their channels do not.
    tally = tally_of(scheme, reports_of(scheme, 60))
    payload = tally.state.astype("<i8").tobytes()
    for wrong in (
        [61 - scheme.channels, *[1] * (scheme.channels - 1)],
        [-1, 61, *[0] * (scheme.channels - 2)],
        [2**63 - 1, -(2**63 - 1), 60, *[0] * (scheme.channels - 3)],
        [2**62] * 4 + [60] + [0] * (scheme.channels - 5),  # whose sum wraps around to 60
        [0] * scheme.channels,
        [*tally.n[:-1].tolist(), int(tally.n[-1]) + 1],
    ):
        assert len(wrong) == scheme.channels
        forged = np.array(wrong, dtype="<i8").tobytes() + payload
        with pytest.raises(StateError):
            Accumulator.from_bytes(scheme, sealed(scheme, 60, forged))
