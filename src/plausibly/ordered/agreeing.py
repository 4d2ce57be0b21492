"""Do the widths of blocks agree? Each is compared with all narrower ones, whose reports come from other users."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.laws import Floats
from .system import System

_ASKED = 32
"""Number of places at which the widths are compared, at most."""


def disagreements(system: System, scores: Sequence[Floats], counts: Floats, n: int) -> dict[str, Floats]:
    """Differences between each width and all narrower ones at evenly spaced places, in standard errors.

    ``scores`` are those of each width alone. The score of an item, less the mean of all items, is a question about the
    counts, which the narrower widths answer, too. A user reports through one width only, so the covariance of both
    answers is less than 0 by the product of their expectations.
    """
    places = np.unique(np.linspace(0, system.length - 1, min(_ASKED, system.length)).round().astype(np.int64))
    solved = np.zeros((len(places), system.size))
    solved[:, : system.length] = -1 / system.length
    solved[np.arange(len(places)), places] += 1
    found = []
    for number in range(1, len(system.widths)):
        alone = System(system.widths[number : number + 1], system.length, system.other)
        asked = alone.solved_by(alone.kernel(solved), solved, np.zeros(len(places)))
        narrower = type(system)(system.widths[:number], system.length, system.other)
        again = narrower.ask(asked.weights)
        apart = asked.values(scores[number], n) - again.values(np.sum(scores[:number], axis=0), n)
        both = (asked.weights * (asked.weights - again.level[:, None])) @ counts
        variance = asked.variance(counts, n) + again.variance(counts, n) + 2 * both
        found.append(apart / np.sqrt(np.maximum(variance, np.finfo(np.float64).tiny)))
    return {"widths of blocks": np.concatenate(found)} if found else {}
