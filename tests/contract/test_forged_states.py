"""States that nobody reported: what no reports can make is refused, and what passes moves no count beyond its bound.

Two statements are checked for every scheme. No state of honest reports is refused. A state of n reports that passes
has no estimate further out than n times what one report can add, the number that ``plausibly show`` states.
"""

from __future__ import annotations

import itertools
import struct
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import plausibly
from cases import in_turn
from contract.entries import SCHEMES, each_of, every_scheme, is_linear, items_of, reports_of, tally_of
from plausibly import Accumulator, Keys, Scheme, SeededRandom, StateError
from plausibly.core.records import RefusedReportsError, exact_sum

HEADER = struct.Struct("<4s16sq")
Cells = npt.NDArray[np.int64]


def sealed(scheme: Scheme, count: int, payload: bytes) -> bytes:
    """A state blob whose header and checksum are right, whatever it claims."""
    body = HEADER.pack(b"PLA\x01", bytes.fromhex(scheme.fingerprint())[:16], count) + payload
    return body + struct.pack("<I", zlib.crc32(body))


def passes(scheme: Scheme, cells: Any, n: int) -> bool:
    """Whether the scheme believes that n reports have made these cells."""
    try:
        scheme.check_cells(np.asarray(cells, dtype=np.int64).reshape(scheme.cell_shape), n)
    except StateError:
        return False
    return True


def beyond_bound(tally: Accumulator) -> bool:
    """Whether an estimate is further out than its reports can move it, rounding of floats aside."""
    if not is_linear(tally.scheme):
        return False  # a regression has no bound
    values = tally.estimate(items_of(tally.scheme)).values
    return bool((np.abs(values) > len(tally) * tally.scheme.influence() * (1 + 1e-9)).any())


# --- all states of small settings ----------------------------------------------------------------------------------


def every_report(scheme: Scheme) -> Any:
    """Each record that the scheme accepts, of a scheme whose records are two bytes below 32, or three below 16."""
    size = scheme.report_dtype.itemsize
    contents = itertools.product(range(32 if size < 3 else 16), repeat=size)
    records = np.array(list(contents), dtype=np.uint8).view(scheme.report_dtype)[:, 0]
    while True:
        try:
            scheme.check(records)
        except RefusedReportsError as error:
            records = records[~error.wrong]
        else:
            return records


@cache
def reachable(scheme: Scheme, n: int) -> set[tuple[int, ...]]:
    """Every state of n reports."""
    if n == 0:
        return {(0,) * int(np.prod(scheme.cell_shape))}
    single = set()
    for report in np.split(records := every_report(scheme), len(records)):
        cells = np.zeros(scheme.cell_shape, dtype=np.int64)
        scheme.fold(cells, report)
        single.add(tuple(cells.reshape(-1).tolist()))
    return {tuple(map(sum, zip(one, rest, strict=True))) for one in single for rest in reachable(scheme, n - 1)}


@cache
def passing(scheme: Scheme, n: int) -> set[tuple[int, ...]]:
    """Every state that passes as one of n reports, of all whose cells are at most one beyond those of such states."""
    reached = reachable(scheme, n)
    least, most = min(map(min, reached)) - 1, max(map(max, reached)) + 1
    places = int(np.prod(scheme.cell_shape))
    return {cells for cells in itertools.product(range(least, most + 1), repeat=places) if passes(scheme, cells, n)}


def small(name: str, size: int, **parameters: Any) -> Scheme:
    return plausibly.make(name, epsilon=1, domain_size=size, **parameters)


EXACT = {
    "DE": small("DE", 3),
    "SUE": small("SUE", 3),
    "OUE": small("OUE", 3),
    "SS": small("SS", 4, subset_size=2),
    "FLH": small("FLH", 5, hashes=2, hash_range=2),
    "HR": small("HR", 3, variant="pure"),
    "TLH, one bit": small("TLH", 4, hash_bits=1),
    "TLH, one bit that counts": small("TLH", 4, hash_bits=2, window=2),
    "HM, one sign": small("HM", 2, coefficients=1),
    "AGR, window 1": small("AGR", 4, hash_bits=1, dimension=2),
    "AGR, window 2": small("AGR", 4, hash_bits=2, dimension=1, window=2),
    "AGR, window g-1": small("AGR", 4, hash_bits=2, dimension=1, window=3),
}
NECESSARY = {
    "TLH, two bits": (small("TLH", 4, hash_bits=2, window=1), [(12, 12), (61, 61)]),
    "TLH, three bits": (small("TLH", 4, hash_bits=3, window=3), [(16, 16), (81, 81)]),
    "HM, two signs": (small("HM", 2, coefficients=2), [(9, 9), (36, 36)]),
}
SMALL = EXACT | {label: scheme for label, (scheme, _) in NECESSARY.items()}


@in_turn("name", ["SW", "MEAN"])
def test_places_and_bits_are_exactly_those_that_reports_can_make(name: str) -> None:
    scheme = small(name, 2)
    for n in (0, 1, 2, 3):
        assert passing(scheme, n) == reachable(scheme, n)


@pytest.mark.full
@in_turn("label", EXACT)
def test_of_two_reports_exactly_the_states_that_they_can_make_pass(label: str) -> None:
    for n in (0, 1, 2):
        assert passing(EXACT[label], n) == reachable(EXACT[label], n)


@pytest.mark.full
@in_turn("label", [label for label, scheme in EXACT.items() if np.prod(scheme.cell_shape) <= 4])
def test_of_three_reports_exactly_the_states_that_they_can_make_pass(label: str) -> None:
    assert passing(EXACT[label], 3) == reachable(EXACT[label], 3)


@pytest.mark.full
@in_turn("label", NECESSARY)
def test_how_many_states_pass_that_no_reports_make_is_known_for_small_settings(label: str) -> None:
    scheme, counts = NECESSARY[label]
    for n, (made, believed) in enumerate(counts, start=1):
        states = passing(scheme, n)
        assert reachable(scheme, n) <= states
        assert (len(reachable(scheme, n)), len(states)) == (made, believed)


def keeps_within_the_bound(scheme: Scheme, n: int) -> None:
    for cells in passing(scheme, n):
        state = np.array(cells, dtype=np.int64).reshape(scheme.cell_shape)
        values, _ = scheme.estimator().estimate(state, n, None)
        assert np.abs(values).max() <= n * scheme.influence() * (1 + 1e-9)


@pytest.mark.full
@in_turn("label", SMALL)
def test_every_state_of_one_report_that_passes_keeps_its_estimates_within_the_bound(label: str) -> None:
    keeps_within_the_bound(SMALL[label], 1)


@pytest.mark.full
@in_turn("label", SMALL)
def test_every_state_of_two_reports_that_passes_keeps_its_estimates_within_the_bound(label: str) -> None:
    keeps_within_the_bound(SMALL[label], 2)


@in_turn("signs", [1, 2])
def test_every_small_state_that_passes_keeps_the_paper_s_decoder_within_what_its_signs_can_add(signs: int) -> None:
    scheme: Any = small("HM", 2, coefficients=signs)
    decoder = scheme.estimator(decoder="paper")
    for cells in passing(scheme, 1):
        values, _ = decoder.estimate(np.array(cells, dtype=np.int64).reshape(scheme.cell_shape), 1, None)
        assert np.abs(values).max() <= signs * float(decoder.scale) * (1 + 1e-9)


@in_turn("cells", [[2**63 - 1] * 4, [-(2**63)] * 3, [2**62, 2**62, -(2**63), 5], [2**32, -1, 0, 7], [0]])
def test_cells_are_added_up_without_wrapping_around(cells: list[int]) -> None:
    assert exact_sum(np.array(cells, dtype=np.int64)) == sum(cells)
    assert exact_sum(np.array([abs(cell) for cell in cells], dtype=np.uint64)) == sum(map(abs, cells))


def supports_to_cells(scheme: Any, supports: Any, n: int) -> Cells | None:
    """The coefficients whose transform is the number of supporting reports at each point, if they are integers."""
    order = np.arange(len(supports))
    signs = np.array([[1 - 2 * ((int(i) & int(j)).bit_count() & 1) for i in order] for j in order])
    cells = signs @ (scheme.g * np.asarray(supports) - n * scheme.w)
    return None if (cells % len(order)).any() else cells // len(order)


@pytest.mark.full
@in_turn(
    ("bits", "window", "counts"),
    [
        (1, 1, [(16, 16), (129, 129)]),
        (2, 1, [(36, 44), (505, 829)]),
        (3, 1, [(44, 52), (689, 1085)]),
        (3, 3, [(100, 192), (2681, 6049)]),
        (3, 4, [(16, 16), (129, 129)]),
    ],
)
def test_toeplitz_states_on_eight_items_that_pass_are_at_most_thrice_as_many_as_there_are(
    bits: int, window: int, counts: list[tuple[int, int]]
) -> None:
    # What passes without reports are sums over other linear maps than Toeplitz matrices.
    scheme = small("TLH", 8, hash_bits=bits, window=window)
    for n, (made, believed) in enumerate(counts, start=1):
        found = [supports_to_cells(scheme, each, n) for each in itertools.product(range(n + 1), repeat=8)]
        states = {tuple(cells.tolist()) for cells in found if cells is not None and passes(scheme, cells, n)}
        assert reachable(scheme, n) <= states
        assert (len(reachable(scheme, n)), len(states)) == (made, believed)


def neighbours(cells: tuple[int, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The states with one cell changed by one, and those with one moved from a cell to another."""
    for i in range(len(cells)):
        for change in (1, -1):
            yield "changed", (*cells[:i], cells[i] + change, *cells[i + 1 :])
        for j in range(len(cells)):
            moved = list(cells)
            moved[i] += 1
            moved[j] -= 1
            if i != j:
                yield "moved", tuple(moved)


MORE = {
    "TLH, two bits, eight items": small("TLH", 8, hash_bits=2, window=1),
    "TLH, three bits, eight items": small("TLH", 8, hash_bits=3, window=3),
    "HM, two signs, four items": small("HM", 4, coefficients=2),
    "AGR, window 3": small("AGR", 8, hash_bits=3, dimension=1, window=3),
    "AGR, window 4": small("AGR", 8, hash_bits=3, dimension=1, window=4),
    "AGR, window 2, five lines": small("AGR", 16, hash_bits=2, dimension=2, window=2),
}


@pytest.mark.full
@in_turn("label", SMALL | MORE)
def test_nearly_every_impossible_neighbour_of_a_state_is_refused(label: str) -> None:
    """Neighbours of the states of two reports that no two reports make, and how many of them are refused.

    |                                          | one cell changed by 1 | 1 moved to another cell |
    |------------------------------------------|-----------------------|-------------------------|
    | HM, two signs, four items                | all                   | 99.9 %                  |
    | AGR, window 4: half of the eight values  | all                   | 46 %                    |
    | every other setting                      | all                   | all                     |
    """
    scheme = (SMALL | MORE)[label]
    made = reachable(scheme, 2)
    refused: dict[str, list[bool]] = {"changed": [True], "moved": [True]}
    for cells in Random(1).sample(sorted(made), min(200, len(made))):
        for kind, near in neighbours(cells):
            if near not in made:
                refused[kind].append(not passes(scheme, near, 2))
    least = {"HM, two signs, four items": 0.999, "AGR, window 4": 0.46}.get(label, 1.0)
    assert np.mean(refused["changed"]) == 1.0
    assert np.mean(refused["moved"]) >= least


def test_parities_of_binary_hashing_tell_a_changed_count() -> None:
    # A hash is one bit of x mod 64 and one of x div 64: 130 items are two whole rows and two items more.
    scheme = small("BLH", 130)
    cells = tally_of(scheme, scheme.privatize(np.arange(1000) % 130, rng=SeededRandom(1))).state[0]
    assert passes(scheme, cells, 1000)
    for place in range(130):
        changed = cells.copy()
        changed[place] += 1
        assert not passes(scheme, changed, 1000)


# --- honest states, also odd ones ----------------------------------------------------------------------------------


@in_turn(("hash_bits", "window"), [(t, w) for t in range(1, 5) for w in range(1, 2**t)])
def test_no_honest_state_is_refused_whatever_the_window(hash_bits: int, window: int) -> None:
    rng = np.random.default_rng(hash_bits * 100 + window)
    for name, more in (("TLH", {}), ("AGR", {"dimension": 2})):
        scheme = small(name, 2 ** min(2 * hash_bits, 7) - 1, hash_bits=hash_bits, window=window, **more)
        tally = scheme.accumulator()
        for n in (1, 2, 3, 400):
            items = rng.integers(scheme.size, size=n) // rng.integers(1, 5)
            tally.add(scheme.privatize(items, rng=SeededRandom(n)))
            assert len(Accumulator.from_bytes(scheme, tally.to_bytes())) == len(tally)


@in_turn("coefficients", range(1, 9))
def test_no_honest_state_is_refused_whatever_the_number_of_signs(coefficients: int) -> None:
    for size in (2, 5, 300):
        scheme = small("HM", size, coefficients=coefficients)
        tally = scheme.accumulator()
        for n in (1, 2, 3, 400):
            tally.add(scheme.privatize(np.arange(n) % size, rng=SeededRandom(n)))
            assert len(Accumulator.from_bytes(scheme, tally.to_bytes())) == len(tally)


@every_scheme
def test_a_state_merged_with_itself_many_times_comes_back(scheme: Scheme) -> None:
    tally = tally_of(scheme, reports_of(scheme, 30))
    doublings = 8 if any(map(keeps_reports, (tally, *getattr(tally, "parts", ())))) else 40
    for _ in range(doublings):
        tally.merge(tally)
    assert Accumulator.from_bytes(scheme, tally.to_bytes()).to_bytes() == tally.to_bytes()


def keeps_reports(tally: Accumulator) -> bool:
    return isinstance(tally, plausibly.core.accumulator.LogAccumulator)


# --- forgeries of a purpose ----------------------------------------------------------------------------------------


def pushes(scheme: Scheme, item: int, n: int) -> Cells:
    """By how much each cell moves the score of an item, up to a common factor."""
    still = np.zeros(scheme.cell_shape, dtype=np.int64)
    estimator: Any = scheme.estimator()
    code = np.array([item], dtype=np.uint64)
    far, start = 2**20, int(estimator.scores(still, n, code)[0])
    found = np.zeros(still.size, dtype=np.int64)
    for place in range(still.size):
        moved = still.copy()
        moved.reshape(-1)[place] = far
        found[place] = int(estimator.scores(moved, n, code)[0]) - start
    return found.reshape(still.shape)


def forgeries(scheme: Scheme, item: int, n: int) -> Iterator[Cells]:
    """States that push the count of an item as far as anybody might, up and down, from nothing and from a report."""
    signs = np.sign(pushes(scheme, item, n))
    best, others = np.flatnonzero(signs.reshape(-1) > 0), np.flatnonzero(signs.reshape(-1) <= 0)
    reports = reports_of(scheme, n)
    honest = np.zeros(scheme.cell_shape, dtype=np.int64)
    scheme.fold(honest, reports)
    for start in (np.zeros_like(honest), honest):
        for size in itertools.chain(range(1, 20), (2**k for k in range(5, 62, 3))):
            for direction in (1, -1):
                yield start + direction * size * signs
                yield start + direction * size * np.abs(signs)
                for few in (1, 2, 3, 4):
                    moved = start.copy().reshape(-1)
                    moved[best[:few]] += direction * size
                    yield moved.reshape(start.shape)
                    moved[others[:few]] -= direction * size
                    yield moved.reshape(start.shape)


def furthest_forgery(scheme: Scheme, item: int, n: int) -> float:
    """How far a forged state of n reports moves the count of an item, in what n reports can."""
    code = np.array([item], dtype=np.uint64)
    found = [0.0]
    for cells in forgeries(scheme, item, n):
        if passes(scheme, cells, n):
            values, _ = scheme.estimator().estimate(cells, n, code)
            found.append(abs(float(values[0])) / (n * scheme.influence()))
    return max(found)


FORGED = [
    label
    for label, scheme in SCHEMES.items()
    if scheme.cell_shape is not None
    and scheme.channels is None
    and scheme.domain.size is not None
    and is_linear(scheme)
]
every_forged = each_of(FORGED)


@pytest.mark.full
@every_forged
def test_a_forger_moves_no_count_further_than_so_many_reports_could(scheme: Scheme) -> None:
    for n, item in ((1, 0), (1, 5), (3, 2)):
        assert furthest_forgery(scheme, item, n) <= 1 + 1e-9


@in_turn("name", ["TLH", "HM"])
def test_the_forger_would_succeed_where_cells_are_checked_one_by_one(name: str, monkeypatch: Any) -> None:
    def one_by_one(self: Any, cells: Cells, n: int) -> None:
        if np.abs(cells).max() > n * (self.g - 1):
            raise StateError("too large")

    scheme = small(name, 1000)
    assert furthest_forgery(scheme, 5, 1) <= 1 + 1e-9
    monkeypatch.setattr(type(scheme), "check_cells", one_by_one)
    assert furthest_forgery(scheme, 5, 1) > 1000


def test_a_report_of_affine_response_counts_for_different_values_of_one_line() -> None:
    scheme: Any = small("AGR", 16, hash_bits=2, dimension=2, window=2)
    cells = np.zeros(scheme.cell_shape, dtype=np.int64)
    cells[0, 0], cells[1, 0] = 1, 1
    assert not passes(scheme, cells, 1)
    cells[0, 0], cells[1, 0] = 2, 0
    assert not passes(scheme, cells, 1)
    cells[0, :2], cells[1, 0] = 1, 0
    assert passes(scheme, cells, 1)


@in_turn("name", ["BLH", "OLH", "TLH"])
def test_kept_reports_out_of_order_are_refused(name: str) -> None:
    scheme = plausibly.make(name, epsilon=1, domain=Keys())
    reports = scheme.privatize(["a"] * 200, rng=SeededRandom(1))
    size = scheme.report_dtype.itemsize
    rows = sorted(report.tobytes() for report in reports)
    assert any(row[0] > 127 for row in rows)  # the order is that of unsigned bytes
    assert len(Accumulator.from_bytes(scheme, sealed(scheme, 200, b"".join(rows)))) == 200
    for first in range(0, 199, 7):
        swapped = [*rows[:first], rows[first + 1], rows[first], *rows[first + 2 :]]
        assert swapped != rows
        with pytest.raises(StateError, match="ascending order"):
            Accumulator.from_bytes(scheme, sealed(scheme, 200, b"".join(swapped)))
    twice = [rows[0], *rows]
    assert len(Accumulator.from_bytes(scheme, sealed(scheme, 201, b"".join(twice)))) == 201
    zeros = [bytes(size), bytes(size - 1) + b"\1", b"\1" + bytes(size - 1)]
    assert len(Accumulator.from_bytes(scheme, sealed(scheme, 3, b"".join(zeros)))) == 3
    with pytest.raises(StateError, match="ascending order"):
        Accumulator.from_bytes(scheme, sealed(scheme, 3, b"".join([zeros[1], zeros[0], zeros[2]])))


# --- mutated states ------------------------------------------------------------------------------------------------

Mutation = Callable[[Random, int, bytearray], int]
"""Changes a payload where it lies; returns the number of reports to claim."""


def _at(rng: Random, payload: bytearray) -> int:
    return 8 * rng.randrange(len(payload) // 8)


def _number(payload: bytearray, place: int) -> int:
    return int(struct.unpack_from("<q", payload, place)[0])


def _put(payload: bytearray, place: int, number: int) -> None:
    struct.pack_into("<q", payload, place, max(-(2**63), min(number, 2**63 - 1)))


def add_a_little(rng: Random, n: int, payload: bytearray) -> int:
    for _ in range(rng.randint(1, 3)):
        place = _at(rng, payload)
        _put(payload, place, _number(payload, place) + rng.choice([-8, -4, -2, -1, 1, 2, 4, 8]))
    return n


def move(rng: Random, n: int, payload: bytearray) -> int:
    amount = rng.choice([1, 1, 2, 4, 8, 2**40])
    for change in (amount, -amount):
        place = _at(rng, payload)
        _put(payload, place, _number(payload, place) + change)
    return n


def swap(rng: Random, n: int, payload: bytearray) -> int:
    one, two = _at(rng, payload), _at(rng, payload)
    first, second = _number(payload, one), _number(payload, two)
    _put(payload, one, second)
    _put(payload, two, first)
    return n


def negate(rng: Random, n: int, payload: bytearray) -> int:
    place = _at(rng, payload)
    _put(payload, place, -_number(payload, place))
    return n


def put_an_extreme(rng: Random, n: int, payload: bytearray) -> int:
    _put(payload, _at(rng, payload), rng.choice([2**63 - 1, -(2**63), 2**62, 2**32, n, -n, 4 * n]))
    return n


def multiply(rng: Random, n: int, payload: bytearray) -> int:
    factor = rng.choice([2, 3, 1000, -1])
    for place in range(0, len(payload) - 7, 8):
        _put(payload, place, factor * _number(payload, place))
    return n * factor if factor > 0 and rng.random() < 0.5 else n


def claim_another_number(rng: Random, n: int, payload: bytearray) -> int:
    return rng.choice([0, n - 1, n + 1, n + 2, 2 * n, 2**40, 2**62])


def flip_a_bit(rng: Random, n: int, payload: bytearray) -> int:
    bit = rng.randrange(8 * len(payload))
    payload[bit >> 3] ^= 1 << (bit & 7)
    return n


def cut_or_lengthen(rng: Random, n: int, payload: bytearray) -> int:
    if rng.random() < 0.5:
        del payload[rng.randrange(len(payload)) :]
    else:
        payload += rng.randbytes(rng.choice([1, 8, 64]))
    return n


def scramble(rng: Random, n: int, payload: bytearray) -> int:
    first = rng.randrange(len(payload))
    last = min(len(payload), first + rng.randint(1, 16))
    payload[first:last] = rng.randbytes(last - first)
    return n


MUTATIONS: tuple[Mutation, ...] = (
    add_a_little,
    move,
    swap,
    negate,
    put_an_extreme,
    multiply,
    claim_another_number,
    flip_a_bit,
    cut_or_lengthen,
    scramble,
)


def mutate(scheme: Scheme, count: int, seed: int) -> int:
    """The number of mutated states that pass; none says more than its reports could."""
    rng, passed = Random(seed), 0
    blobs = {n: tally_of(scheme, reports_of(scheme, n)).to_bytes()[HEADER.size : -4] for n in (1, 2, 9)}
    for number in range(count):
        n = rng.choice(sorted(blobs))
        payload = bytearray(blobs[n])
        claimed = MUTATIONS[number % len(MUTATIONS)](rng, n, payload)
        if len(payload) >= 8 and rng.random() < 0.3:
            claimed = rng.choice(MUTATIONS)(rng, claimed, payload)
        try:
            tally = Accumulator.from_bytes(scheme, sealed(scheme, min(claimed, 2**63 - 1), bytes(payload)))
        except StateError:
            continue
        passed += 1
        assert not beyond_bound(tally)
    return passed


@every_scheme
def test_a_mutated_state_is_refused_or_within_its_bound(scheme: Scheme) -> None:
    mutate(scheme, 60, seed=1)


@pytest.mark.slow
@every_scheme
def test_a_hundred_thousand_mutated_states_are_refused_or_within_their_bounds(scheme: Scheme) -> None:
    assert mutate(scheme, -(-100_000 // len(SCHEMES)), seed=2) > 0
