"""Do the widths of blocks agree? Each is compared with all narrower ones, whose reports come from other users."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..core.laws import Floats
from .system import DENSE, Questions, System

_ASKED = 32
"""Number of places at which the widths are compared, at most."""


class _Compared(NamedTuple):
    # The same questions to one width alone, and to all narrower ones.
    alone: Questions
    narrower: Questions


def disagreements(system: System, scores: Sequence[Floats], counts: Floats, n: int) -> dict[str, Floats]:
    """Differences between each width and all narrower ones at evenly spaced places, in standard errors.

    ``scores`` are those of each width alone. The score of an item, less the mean of all items, is a question about the
    counts, which the narrower widths answer, too. A user reports through one width only, so the covariance of both
    answers is less than 0 by the product of their expectations.
    """
    found = []
    for number, (alone, narrower) in enumerate(_all_compared(system), 1):
        apart = alone.values(scores[number], n) - narrower.values(np.sum(scores[:number], axis=0), n)
        both = (alone.weights * (alone.weights - narrower.level[:, None])) @ counts
        variance = alone.variance(counts, n) + narrower.variance(counts, n) + 2 * both
        found.append(apart / np.sqrt(np.maximum(variance, np.finfo(np.float64).tiny)))
    return {"widths of blocks": np.concatenate(found)} if found else {}


def _all_compared(system: System) -> Sequence[_Compared] | Iterator[_Compared]:
    # The questions are the same for all reports. Those about many items would take too much memory.
    return _kept(system) if system.size <= DENSE else _compared(system)


@lru_cache(maxsize=4)
def _kept(system: System) -> Sequence[_Compared]:
    return list(_compared(system))


def _compared(system: System) -> Iterator[_Compared]:
    places = np.unique(np.linspace(0, system.length - 1, min(_ASKED, system.length)).round().astype(np.int64))
    solved = np.zeros((len(places), system.size))
    solved[:, : system.length] = -1 / system.length
    solved[np.arange(len(places)), places] += 1
    for number in range(1, len(system.widths)):
        alone = System(system.widths[number : number + 1], system.length, system.other)
        asked = alone.solved_by(alone.kernel(solved), solved, np.zeros(len(places)))
        narrower = type(system)(system.widths[:number], system.length, system.other)
        yield _Compared(asked, narrower.ask(asked.weights))
