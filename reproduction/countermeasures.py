"""Countermeasures against fake reports by Cao, Jia and Gong (2021, see ``attacks``), as we understand them.

*Normalization* subtracts the least frequency from all, and divides by their sum. *Itemset mining* looks for items that
reports support together more often than honest ones do, and drops the reports that support the largest such set. The
threshold for z items with a share f of the users is the number of honest reports that supports all of them, plus what
Chebyshev's inequality allows for at a false-alarm rate η: one of the items is a user's own with probability f, so a
report supports all z of them with probability p·q^(z−1), else q^z. *Conditional probabilities* drop reports that are
more probably fake than honest by Bayes's rule, given how many targets they support. The server is told everything here:
the targets, the share of fakes, and how many targets fakes support; a real one knows less.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, comb
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

FALSE_ALARMS = 0.01
"""The rate η for a single set of items."""
LEAST_SUPPORT = 0.01
"""Sets that fewer reports support are not mined: with fewer, honest reports alone have too many sets."""


def normalized(frequencies: Floats) -> Floats:
    """The frequencies less the smallest of them, divided by their sum."""
    above = frequencies - frequencies.min()
    return np.asarray(above / above.sum())


@dataclass(frozen=True)
class Honest:
    """What honest reports support: probabilities p and q, and the share of users of each item."""

    p: float
    q: float
    shares: Floats

    def threshold(self, size: int, share: Any, users: int, rate: float = FALSE_ALARMS) -> Any:
        """Number of reports that honest ones reach at most at this rate for a set of ``size`` items.

        ``share`` is the share of users whose item is in the set, or an array of such shares.
        """
        held = np.clip(share, 0.0, 1.0)
        own, other = self.p * self.q ** (size - 1), self.q**size
        mean = users * (held * own + (1 - held) * other)
        variance = users * (held * own * (1 - own) + (1 - held) * other * (1 - other))
        return mean + np.sqrt(variance / rate)

    def of_targets(self, targets: int, share: float) -> Floats:
        """Probability of each number of supported targets, of which this share of the users has one."""

        def binomial(n: int) -> Floats:
            return np.array([comb(n, k) * self.q**k * (1 - self.q) ** (n - k) for k in range(n + 1)])

        own = np.convolve([1 - self.p, self.p], binomial(targets - 1))
        return np.asarray(share * own + (1 - share) * binomial(targets))


def abnormal_sets(supported: Mask, honest: Honest, least: float = LEAST_SUPPORT) -> list[tuple[int, ...]]:
    """The largest sets of two items or more that are abnormal: supported by at least the threshold of reports.

    Every set that at least this share of the reports supports is examined, as frequent itemset mining does.
    """
    users, found = len(supported), dict[int, list[tuple[int, ...]]]()
    rows, items = supported.astype(np.float32), np.arange(supported.shape[1])
    for prefix, others, counts in _frequent((), items, rows, ceil(least * users)):
        size, held = len(prefix) + 1, honest.shares[list(prefix)].sum() + honest.shares[others]
        for item in others[counts >= honest.threshold(size, held, users)].tolist():
            found.setdefault(size, []).append((*prefix, item))
    return found[max(found)] if found else []


def _frequent(prefix: tuple[int, ...], items: Any, rows: Any, least: int) -> Iterator[tuple[tuple[int, ...], Any, Any]]:
    # Depth first: rows are the reports that support the prefix, reduced to the items that may follow. Their products
    # count all pairs of these items, hence all sets with two more items at once.
    pairs = rows.T @ rows
    often = np.triu(pairs >= least, 1)
    for place in np.flatnonzero(often.any(axis=1)).tolist():
        longer, follow = (*prefix, int(items[place])), np.flatnonzero(often[place])
        yield longer, items[follow], pairs[place, follow]
        if len(follow) > 1:
            later = rows[:, place + 1 :][rows[:, place] > 0]
            yield from _frequent(longer, items[follow], later[:, follow - place - 1], least)


def supporting(supported: Mask, sets: list[tuple[int, ...]]) -> Mask:
    """Which reports support all items of any of the sets."""
    any_of = np.zeros(len(supported), dtype=np.bool_)
    for one in sets:
        any_of |= supported[:, list(one)].all(axis=1)
    return any_of


def probably_fake(honest: Floats, fake: Floats, share: float) -> Mask:
    """For each number of supported targets, whether fakes are more probable than honest reports by Bayes's rule.

    ``honest`` and ``fake`` are the probabilities of these numbers, ``share`` that of the fakes among all reports.
    """
    return np.asarray(share * fake > (1 - share) * honest)
