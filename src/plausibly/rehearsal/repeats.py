"""A rehearsal: repeat a collection on known counts, and compare the estimates with the truth.

It needs the true counts, makes every report itself and sends none: it shows the accuracy to expect, and protects
nobody's data.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.arguments import whole_number
from ..core.estimates import Estimates
from ..core.randomness import SeededRandom
from ..core.scheme import Scheme
from ..core.steps import find_step
from ..experiments.search_scores import score
from ..experiments.string_crowds import Crowd
from ..search.base import SearchTally
from .expected_errors import LEVEL, predicted_variance, told_from_zero
from .result import Found, Item, Rehearsal, plain
from .truth import Truth

MOST_REPEATS = 10_000

Floats = npt.NDArray[np.float64]
Advance = Callable[[int, int | None], None]


def rehearse(
    scheme: Scheme,
    truth: Truth,
    *,
    repeats: int = 20,
    seed: int = 1,
    top: int = 10,
    postprocess: str | None = None,
    advance: Advance = lambda done, total: None,
) -> Rehearsal:
    """Run all repeats of a rehearsal; the same seed gives the same numbers."""
    repeats = whole_number("repeats", repeats, 1, MOST_REPEATS)
    top = whole_number("top", top, 1, 10_000)
    if postprocess is not None:
        find_step(postprocess)
    rng, asked = SeededRandom(seed), truth.items if not truth.complete else None
    counts: Any = (
        truth.counts if truth.complete else dict(zip(truth.items.tolist(), truth.counts.tolist(), strict=True))
    )
    best = truth.top(top)
    sums = _Sums(truth, best)
    scores: list[Found] = []
    for repeat in range(repeats):
        advance(repeat, repeats)
        tally = scheme.simulate(counts, rng)
        estimates = tally.estimate() if asked is None else tally.estimate(asked)
        if postprocess is not None:
            estimates = estimates.postprocess(postprocess)
        found = None
        if isinstance(tally, SearchTally):
            found = tally.search(k=top).items.tolist()
            scores.append(_score(found, truth, top))
        sums.add(estimates, found)
    advance(repeats, repeats)
    predicted = predicted_variance(scheme, truth)
    return Rehearsal(
        scheme=scheme,
        truth=truth,
        repeats=repeats,
        seed=seed,
        postprocess=postprocess,
        top=tuple(sums.items(predicted)),
        rmse=sqrt(float(sums.squares.mean()) / repeats),
        predicted_rmse=None if predicted is None else sqrt(float(predicted.mean())),
        largest=sums.largest,
        coverage=None if sums.covered is None else float(sums.covered.mean()) / repeats,
        top_found=sums.hits / repeats,
        told_from_zero=told_from_zero(scheme, truth),
        search=_mean(scores) if scores else None,
        estimates=np.stack(sums.kept),
    )


class _Sums:
    """Sums over the repeats, since the estimates of a million items would not fit into memory."""

    def __init__(self, truth: Truth, best: npt.NDArray[np.intp]) -> None:
        self.truth, self.best = truth, best
        self.least = int(truth.counts[best[-1]])
        size = len(truth.counts)
        self.total, self.squares = np.zeros(size), np.zeros(size)
        self.covered: Floats | None = np.zeros(size)
        self.found = np.zeros(len(best))
        self.largest, self.hits = 0.0, 0.0
        self.kept: list[Floats] = []

    def add(self, estimates: Estimates, found: list[Any] | None) -> None:
        counts, best = self.truth.counts, self.best
        errors = estimates.values - counts
        self.total += estimates.values
        self.squares += errors**2
        self.largest = max(self.largest, float(np.abs(errors).max()))
        if estimates.variance is None or self.covered is None:
            self.covered = None
        else:
            low, high = estimates.interval(LEVEL)
            self.covered += (low <= counts) & (counts <= high)
        self.kept.append(estimates.values[best])
        if found is None:
            largest = np.argsort(-estimates.values, kind="stable")[: len(best)]
            # Any of several equally common items is correct.
            self.hits += min(len(best), int((counts[largest] >= self.least).sum()))
            self.found += np.isin(best, largest)
        else:
            known = set(found)
            held = np.array([item in known for item in self.truth.items[best].tolist()])
            right = sum(self.truth.counts[i] >= self.least for i in _places(self.truth, known))
            self.hits += min(len(best), int(right))
            self.found += held

    def items(self, predicted: Floats | None) -> list[Item]:
        repeats = len(self.kept)
        return [
            Item(
                item=self.truth.items[i],
                count=int(self.truth.counts[i]),
                mean=float(self.total[i]) / repeats,
                rmse=sqrt(float(self.squares[i]) / repeats),
                predicted=None if predicted is None else sqrt(float(predicted[i])),
                coverage=None if self.covered is None else float(self.covered[i]) / repeats,
                found=float(self.found[place]) / repeats,
            )
            for place, i in enumerate(self.best.tolist())
        ]


def _places(truth: Truth, known: set[Any]) -> list[int]:
    return [i for i, item in enumerate(truth.items.tolist()) if item in known]


def _score(found: list[Any], truth: Truth, k: int) -> Found:
    order = truth.top(len(truth.counts))
    names = np.array([plain(item) for item in truth.items[order].tolist()])
    scored = score([plain(item) for item in found], Crowd(truth.name, names, truth.counts[order]), k)
    return Found(scored.f1, scored.precision, scored.recall)


def _mean(scores: list[Found]) -> Found:
    means = {name: float(np.mean([getattr(each, name) for each in scores])) for name in ("f1", "precision", "recall")}
    return Found(**means)
