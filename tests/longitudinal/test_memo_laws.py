"""What many reports of one user reveal, and how the estimates of two days depend: by enumeration of all coins."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import log

import numpy as np
import pytest

import plausibly
from cases import in_turn
from plausibly.core.enumeration import public_law
from plausibly.core.memoised import Memoised
from plausibly.core.probability import WORD, within_exp

NAMES = ["LOLOHA", "LOSUE", "LSUE"]
Law = dict[bytes, Fraction]


def made(name: str, size: int = 4, **own: int) -> Memoised:
    scheme = plausibly.make(name, epsilon=1, memo_epsilon=2, domain_size=size, **own)
    assert isinstance(scheme, Memoised)
    return scheme


class Coins:
    """Draws that follow a list of choices and multiply their probabilities; beyond its end, the first choice."""

    def __init__(self, choices: list[int]) -> None:
        self.choices, self.sizes, self.chance = choices, [], Fraction(1)  # type: ignore[var-annotated]

    def _choose(self, size: int) -> int:
        self.sizes.append(size)
        if len(self.sizes) > len(self.choices):
            self.choices.append(0)
        return self.choices[len(self.sizes) - 1]

    def bernoulli(self, threshold: int) -> bool:
        taken = self._choose(2) == 0
        self.chance *= Fraction(threshold if taken else WORD - threshold, WORD)
        return taken

    def below(self, size: int) -> int:
        self.chance *= Fraction(1, size)
        return self._choose(size)


def law(run: Callable[[Coins], bytes]) -> Law:
    """The exact law of a result, over all coins."""
    found: Law = {}
    choices: list[int] = []
    while True:
        coins = Coins(choices)
        result = run(coins)
        found[result] = found.get(result, Fraction(0)) + coins.chance
        while choices and choices[-1] + 1 == coins.sizes[len(choices) - 1]:
            choices.pop()
        if not choices:
            return found
        choices[-1] += 1


class User:
    """The exact laws of one user's lasting entries and answers, given the public choices."""

    def __init__(self, scheme: Memoised, public: tuple[int, ...]) -> None:
        client = scheme.client
        self.cells = [client.cell(x, public) for x in range(scheme.size)]
        self.entries = {c: law(lambda coins, c=c: client.memoise(c, coins)) for c in set(self.cells)}  # type: ignore[misc]
        everything = {entry for own in self.entries.values() for entry in own}
        self.answers = {e: law(lambda coins, e=e: client.answer(e, public, coins)) for e in everything}  # type: ignore[misc]

    def chance(self, history: tuple[int, ...], records: tuple[bytes, ...]) -> Fraction:
        """Probability of these records on these days, for a user with these values."""
        whole = Fraction(1)
        for cell in {self.cells[x] for x in history}:
            own = [record for x, record in zip(history, records, strict=True) if self.cells[x] == cell]
            whole *= sum(
                (chance * self.product(entry, own) for entry, chance in self.entries[cell].items()), Fraction(0)
            )
        return whole

    def product(self, entry: bytes, records: list[bytes]) -> Fraction:
        found = Fraction(1)
        for record in records:
            found *= self.answers[entry][record]
        return found

    def worst(self, one: tuple[int, ...], other: tuple[int, ...]) -> Fraction:
        """The largest ratio of the probabilities of any records under two histories."""
        possible = list(next(iter(self.answers.values())))
        return max(
            self.chance(one, records) / self.chance(other, records) for records in product(possible, repeat=len(one))
        )


def user_of(scheme: Memoised) -> User:
    """A user whose hash keeps the items apart, if there is one."""
    outcomes = public_law(scheme.randomizer, 10_000)
    assert outcomes is not None
    return max((User(scheme, public) for public in outcomes), key=lambda user: len(set(user.cells)))


@pytest.mark.full
@in_turn("name", NAMES)
def test_any_number_of_reports_of_one_value_stays_within_the_epsilon_of_the_memo(name: str) -> None:
    scheme = made(name, 4 if name == "LOLOHA" else 2)
    user = user_of(scheme)
    losses = []
    for days in (1, 2, 3, 4):
        worst = user.worst((0,) * days, (1,) * days)
        assert within_exp(worst, scheme.memo_epsilon)
        losses.append(log(worst))
    assert within_exp(user.worst((0,), (1,)), scheme.epsilon)
    assert losses == sorted(losses)
    # The bound is tight: 200 equal reports come close, and no number exceeds it.
    ratios = []
    for record in next(iter(user.answers.values())):
        ratios.append(user.chance((0,) * 200, (record,) * 200) / user.chance((1,) * 200, (record,) * 200))
    assert all(within_exp(ratio, scheme.memo_epsilon) for ratio in ratios)
    assert log(max(ratios)) == pytest.approx(2, abs=1e-3)


@in_turn("name", NAMES)
def test_values_in_two_cells_and_two_keys_cost_the_epsilon_of_the_memo_twice(name: str) -> None:
    scheme = made(name, 4)
    user = user_of(scheme)
    if name == "LOLOHA":
        # The same pattern of changes, all four values in cells of their own.
        assert len(set(user.cells)) == 4
        worst = user.worst((0, 0, 1, 1), (2, 2, 3, 3))
        assert within_exp(worst, 2 * scheme.memo_epsilon)
        assert not within_exp(worst, scheme.memo_epsilon)
    # A new key is a new, independent memo of the same value: entries add up, ratio by ratio.
    ratios = [user.entries[user.cells[0]][e] / user.entries[user.cells[1]][e] for e in user.entries[user.cells[0]]]
    assert within_exp(max(ratios) ** 2, 2 * scheme.memo_epsilon)
    assert not within_exp(max(ratios) ** 2, 2 * scheme.memo_epsilon - Fraction(1, 10**9))


def test_histories_with_different_patterns_of_changes_are_not_protected() -> None:
    scheme = made("LOLOHA", 4)
    user = user_of(scheme)
    losses = []
    for days in (2, 10, 50, 250):
        one, other = sorted(next(iter(user.answers.values())))[:2]
        records = [one] * days + [other] * days
        changed = user.chance((0,) * days + (1,) * days, tuple(records))
        losses.append(log(changed / user.chance((0,) * 2 * days, tuple(records))))
    # Far beyond 2 cells at 2, and it grows with the number of days.
    assert losses == sorted(losses)
    assert losses[-1] > 100


# --- the law of two days ------------------------------------------------------------------------------------------


def second_moment(scheme: Memoised, held: tuple[int, int], item: int) -> tuple[Fraction, Fraction, Fraction]:
    """Of a user who has these values on two days: E[S1 S2], E[S1], E[S2] of the support of an item, over all coins."""
    outcomes = public_law(scheme.randomizer, 10_000)
    assert outcomes is not None
    both = first = second = Fraction(0)
    for public, weight in outcomes.items():
        user = User(scheme, public)
        supports = {record: _supports(scheme, record, item) for record in next(iter(user.answers.values()))}
        given = {
            entry: sum((chance for record, chance in own.items() if supports[record]), Fraction(0))
            for entry, own in user.answers.items()
        }
        cells = [user.cells[x] for x in held]
        means = [sum((user.entries[c][e] * given[e] for e in user.entries[c]), Fraction(0)) for c in cells]
        same = sum((user.entries[cells[0]][e] * given[e] ** 2 for e in user.entries[cells[0]]), Fraction(0))
        both += weight * (same if cells[0] == cells[1] else means[0] * means[1])
        first, second = first + weight * means[0], second + weight * means[1]
    return both, first, second


def _supports(scheme: Memoised, record: bytes, item: int) -> bool:
    tally = scheme.accumulator()
    tally.add(np.frombuffer(record, dtype=scheme.report_dtype))
    return bool(tally.scores()[item])


@pytest.mark.full
@in_turn(("name", "own"), [("LOLOHA", {"hash_bits": 1}), ("LOLOHA", {"hash_bits": 2}), ("LOSUE", {}), ("LSUE", {})])
def test_the_covariance_of_two_days_is_that_of_all_coins(name: str, own: dict[str, int]) -> None:
    scheme = made(name, 3, **own)
    scale = scheme.estimator().scale ** 2  # type: ignore[attr-defined]

    def covariance(held: tuple[int, int], item: int) -> Fraction:
        both, first, second = second_moment(scheme, held, item)
        return scale * (both - first * second)

    stated = scheme.memo_law
    assert covariance((0, 0), 0) == stated.per_report + stated.per_holder
    assert covariance((1, 1), 1) == stated.per_report + stated.per_holder
    assert covariance((0, 0), 2) == covariance((2, 2), 1) == stated.per_report
    # Those who changed add something that is not negative, and less.
    for held, item in (((0, 1), 2), ((0, 1), 0), ((0, 1), 1), ((1, 2), 0)):
        assert 0 <= covariance(held, item) < stated.per_report


# --- what a change shows ------------------------------------------------------------------------------------------


@in_turn(("name", "own"), [("LOLOHA", {"hash_bits": 1}), ("LOLOHA", {"hash_bits": 2}), ("LOSUE", {}), ("LSUE", {})])
def test_a_change_shows_unless_both_values_have_the_same_entry(name: str, own: dict[str, int]) -> None:
    scheme = made(name, 3, **own)
    outcomes = public_law(scheme.randomizer, 10_000)
    assert outcomes is not None
    for x, y in ((0, 1), (1, 2)):
        same = Fraction(0)
        for public, weight in outcomes.items():
            user = User(scheme, public)
            one, other = (user.entries[user.cells[value]] for value in (x, y))
            together = sum((one[entry] * other[entry] for entry in one), Fraction(0))
            same += weight * (1 if user.cells[x] == user.cells[y] else together)
        assert scheme.same_entry == pytest.approx(float(same), rel=1e-12)
        assert scheme.change_shows == pytest.approx(float(1 - same) + 0.05 * float(same), rel=1e-12)


def test_the_caution_states_the_probability_of_the_scheme_itself() -> None:
    assert "one change is detected with probability 0.65, at 5 % false alarms" in made("LOLOHA", 16).caution
    assert "one change is detected with probability 0.99, at 5 % false alarms" in made("LOSUE", 16).caution
    assert "one change is detected almost certainly, at 5 % false alarms" in made("LSUE", 16).caution
    assert not plausibly.make("DE", epsilon=1, domain_size=4).caution
