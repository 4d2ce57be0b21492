"""Do the widths of blocks agree? Each is compared with all narrower ones, whose reports come from other users."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..core.bounds import either_side, variance_at_most
from ..core.laws import Floats
from .system import DENSE, FewQuestions, Questions, System

_ASKED = 32
"""Number of places at which the widths are compared, at most."""
_ASKED_OF_MANY = 16
"""Number of these places in systems that are solved for each question by itself, which takes time."""


class ByWidth(Protocol):
    """The members of a decoder that the comparison of its widths uses."""

    def __hash__(self) -> int: ...

    @property
    def system(self) -> Any: ...

    def ends_of(self, number: int, solved: Floats) -> tuple[Floats, Floats]:
        """Least and most that one report of a width adds to the answers of questions with these solutions."""
        ...


class _Compared(NamedTuple):
    # The same questions to one width alone, and to all narrower ones. ``variances`` [question, item] are those of the
    # difference in a crowd of one user; ``spent`` are the questions whose answers are the variances in this crowd.
    alone: Questions
    narrower: Questions
    variances: Floats
    low: Floats
    high: Floats
    spent: Questions
    spread: Floats
    below: Floats


def disagreements(decoder: ByWidth, scores: Sequence[Floats], n: int) -> dict[str, Floats]:
    """Chances of the differences between each width and all narrower ones, at evenly spaced places.

    ``scores`` are those of each width alone. The score of an item, less the mean of all items, is a question about the
    counts, which the narrower widths answer, too. A report adds a number to the difference of both answers. Its mean is
    0 whatever the item of its user, and its variance depends on that item only: no crowd has a larger variance than n
    users of the worst item. The crowd's own is a linear question about the counts, which the reports answer.
    """
    every, total, found = _all_compared(decoder), np.sum(scores, axis=0), []
    for number, own in enumerate(every, 1):
        apart = own.alone.values(scores[number], n) - own.narrower.values(np.sum(scores[:number], axis=0), n)
        largest = n * own.variances.max(axis=1)
        tests = len(apart) * (len(decoder.system.widths) - 1)
        variance = variance_at_most(own.spent.values(total, n), largest, n * own.spread, own.below, tests)
        found.append(either_side(apart, variance, own.low, own.high))
    return {"widths of blocks": np.concatenate(found)} if found else {}


def _all_compared(decoder: ByWidth) -> Sequence[_Compared] | Iterator[_Compared]:
    # The questions are the same for all reports. Those about many items would take too much memory.
    return _kept(decoder) if decoder.system.size <= DENSE else _compared(decoder)


@lru_cache(maxsize=4)
def _kept(decoder: ByWidth) -> Sequence[_Compared]:
    return list(_compared(decoder))


def _compared(decoder: ByWidth) -> Iterator[_Compared]:
    system = decoder.system
    asked = min(_ASKED if system.size <= DENSE else _ASKED_OF_MANY, system.length)
    places = np.unique(np.linspace(0, system.length - 1, asked).round().astype(np.int64))
    solved = np.zeros((len(places), system.size))
    solved[:, : system.length] = -1 / system.length
    solved[np.arange(len(places)), places] += 1
    for number in range(1, len(system.widths)):
        single = System(system.widths[number : number + 1], system.length, system.other)
        alone = single.solved_by(single.kernel(solved), solved, np.zeros(len(places)))
        narrower = type(system)(system.widths[:number], system.length, system.other).ask(alone.weights)
        # A user reports through one width only, so the covariance of both answers is less than 0 by the product of
        # their expectations.
        both = 2 * alone.weights * (alone.weights - narrower.level[:, None])
        variances = _of_one(alone) + _of_one(narrower) + both
        spent = _to_six_digits(system).ask(variances)
        yield _Compared(
            alone,
            narrower,
            variances,
            *_ends(decoder, number, alone, narrower),
            spent,
            np.maximum(_of_one(spent).max(axis=1), 0.0),  # rounding: the same variance for all items
            # The mean of what a report adds to the answer is its user's variance.
            variances.max(axis=1) - _least(decoder, spent),
        )


def _to_six_digits(system: Any) -> Any:
    # A bound of a variance needs no more digits, and large systems of SLIDE are then solved in half the time.
    if type(system) is System and system.size > DENSE:
        return FewQuestions(system.widths, system.length, system.other)
    return system


def _of_one(questions: Questions) -> Floats:
    # [question, item]: variance of the answers in a crowd of one user.
    return questions.fixed[:, None] + questions.held - (questions.weights - questions.level[:, None]) ** 2


def _ends(decoder: ByWidth, number: int, alone: Questions, narrower: Questions) -> tuple[Floats, Floats]:
    # Least and most that a report adds to the difference; one of a wider width adds the levels alone.
    low, high = decoder.ends_of(number, alone.solved)
    for width in range(number):
        least, most = decoder.ends_of(width, narrower.solved)
        low, high = np.minimum(low, -most), np.maximum(high, -least)
    low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
    level = alone.level - narrower.level
    return low + level, high + level


def _least(decoder: ByWidth, questions: Questions) -> Floats:
    ends = [decoder.ends_of(number, questions.solved)[0] for number in range(len(decoder.system.widths))]
    return np.asarray(np.min(ends, axis=0) + questions.level)
