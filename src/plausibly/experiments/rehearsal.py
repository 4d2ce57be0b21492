"""A rehearsal: a collection on known counts, run again and again, and how far its estimates are from the truth.

It needs the true counts, makes every report itself and sends none: it tells what to expect, and protects nobody.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.arguments import whole_number
from ..core.estimates import Estimates
from ..core.laws import VarianceLaw
from ..core.randomness import SeededRandom
from ..core.scheme import Scheme
from ..core.steps import find_step
from ..files.estimates import safe_cell
from ..planner.costs import linear
from ..planner.targets import one_sided, percent, two_sided
from ..search.base import SearchTally
from .datasets import Crowd
from .metrics import score
from .truth import Truth

LEVEL = 0.95
MOST_REPEATS = 10_000
_MATES = 2 * 10**6
"""Pairs of items that are looked at to learn who shares a block with whom."""

Floats = npt.NDArray[np.float64]
Advance = Callable[[int, int | None], None]


@dataclass(frozen=True)
class Item:
    """How one item fared; None where there is no law, no interval, or nothing to be found."""

    item: Any
    count: int
    mean: float
    rmse: float
    predicted: float | None
    """The standard error that the scheme's variance predicts, before any post-processing."""
    coverage: float | None
    """The share of the repeats whose interval had the true count in it."""
    found: float
    """The share of the repeats that had it among the k largest estimates, or among what a search returned."""


@dataclass(frozen=True)
class Found:
    """How well the k most common strings were found by a search, on average."""

    f1: float
    precision: float
    recall: float


@dataclass(frozen=True, eq=False, repr=False)
class Rehearsal:
    """What came of the repeats: for the most common items one by one, and for all together."""

    scheme: Scheme
    truth: Truth
    repeats: int
    seed: int
    postprocess: str | None
    top: tuple[Item, ...]
    rmse: float
    """Over all items and repeats."""
    predicted_rmse: float | None
    largest: float
    """The largest error of any item in any repeat."""
    coverage: float | None
    top_found: float
    """How many of the true top k were among the k largest estimates, on average."""
    told_from_zero: int | None
    """The smallest count whose interval is above zero in 95 % of the collections; None without a law, or if none is."""
    search: Found | None
    estimates: Floats
    """Of the top items: a row for each repeat."""

    @property
    def fixed_hashes(self) -> bool:
        """Whether hash functions that all users share make an item's error alike in all repeats."""
        law = _law(self.scheme)
        return law is not None and bool(law.collision or law.per_pair or law.per_fellow)

    def facts(self) -> list[tuple[str, str]]:
        """What holds for all items together, as names and sentences."""
        n, items, k = self.truth.n, len(self.truth.counts), len(self.top)
        found = [("RMSE", f"{self.rmse:,.1f} users ({percent(self.rmse / n)}) over all {items:,} items")]
        if self.predicted_rmse is None:
            found.append(("predicted", f"nothing: the variance of {self.scheme.name} has no closed form"))
        else:
            before = ", before post-processing" if self.postprocess else ""
            found.append(("predicted", f"{self.predicted_rmse:,.1f} users{before}"))
        found.append(("largest error", f"{self.largest:,.0f} users, of any item in any repeat"))
        if self.coverage is not None:
            found.append(("95 % intervals", f"hold the true count in {100 * self.coverage:.1f} % of all cases"))
        elif self.postprocess is not None:
            found.append(("95 % intervals", f"none after {self.postprocess}"))
        if self.search is not None:
            scores = f"F1 {self.search.f1:.2f}, precision {self.search.precision:.2f}, recall {self.search.recall:.2f}"
            found.append((f"search for {k}", scores))
        found.append((f"the true top {k}", f"{self.top_found:.1f} of them found on average"))
        if self.told_from_zero is not None:
            share = f"{self.told_from_zero:,} users hold ({percent(self.told_from_zero / n)})"
            found.append(("told from zero", f"what {share}, in 95 % of collections"))
        elif self.predicted_rmse is not None:
            found.append(("told from zero", "nothing: there are too few users, or ε is too small"))
        if self.truth.others:
            found.append(("other", f"{self.truth.others:,} users hold what the scheme does not list"))
        if self.fixed_hashes:
            told = "are the scheme's own in all repeats: what they add to an item's error is the same each time"
            found.append(("hash functions", f"{told}; the prediction is the mean over all hash_seed"))
        found.append(("", "A simulation: it knew the true counts, sent nothing, and protects nobody."))
        return found

    def to_dict(self) -> dict[str, Any]:
        """All of it, JSON-ready."""
        return {
            "scheme": self.scheme.name,
            "fingerprint": self.scheme.fingerprint(),
            "epsilon": str(self.scheme.epsilon),
            "data": self.truth.name,
            "users": self.truth.n,
            "items": len(self.truth.counts),
            "counted_as_other": self.truth.others,
            "repeats": self.repeats,
            "seed": self.seed,
            "postprocess": self.postprocess,
            "rmse": self.rmse,
            "predicted_rmse": self.predicted_rmse,
            "largest_error": self.largest,
            "coverage": self.coverage,
            "top_found": self.top_found,
            "told_from_zero": self.told_from_zero,
            "search": None if self.search is None else asdict(self.search),
            "top": [asdict(each) | {"item": _plain(each.item)} for each in self.top],
        }

    def to_csv(self) -> str:
        """The items one by one, as CSV text."""
        lines = [asdict(each) | {"item": safe_cell(_plain(each.item))} for each in self.top]
        text = io.StringIO()
        table = csv.DictWriter(text, list(lines[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(lines)
        return text.getvalue()


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
    """Runs the collection so many times; the same seed gives the same numbers."""
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
    """Sums over the repeats: with a million items their estimates would not all be kept."""

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
            # Of equally common items any is right.
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


def predicted_variance(scheme: Scheme, truth: Truth) -> Floats | None:
    """What the law of the scheme says of the estimate of each item; None where there is no law."""
    law = _law(scheme)
    if law is None:
        return None
    found = law.at(truth.n, truth.counts, f2=truth.f2, mates=_mates(scheme, truth, law))
    variances: Floats = np.maximum(np.broadcast_to(found, truth.counts.shape), 0.0)
    return variances


def _mates(scheme: Scheme, truth: Truth, law: VarianceLaw) -> Floats | None:
    # How many users count into the block of each item: items in one block are told by the first of the block.
    if not law.per_mate:
        return None
    firsts: list[int] = []
    block = np.empty(len(truth.counts), dtype=np.int64)
    looked = 0
    for x in range(len(block)):
        place = next((i for i, first in enumerate(firsts) if scheme.share_a_block(first, x)), len(firsts))
        looked += place + 1
        if looked > _MATES:
            return None  # then the law takes an even crowd
        if place == len(firsts):
            firsts.append(x)
        block[x] = place
    users: Floats = np.bincount(block, truth.counts).astype(np.float64)
    mates: Floats = users[block]
    return mates


def told_from_zero(scheme: Scheme, truth: Truth) -> int | None:
    """The smallest count that is reliably told from zero: its 95 % interval is above zero in 95 % of collections."""
    law, n = _law(scheme), truth.n
    if law is None:
        return None

    def enough(f: int) -> bool:
        # Others stay as they are, as nearly as n allows.
        deviation = sqrt(max(float(law.at(n, f, f2=max(truth.f2, f * f + n - f))), 0.0))
        return f >= (two_sided(LEVEL) + one_sided(LEVEL)) * deviation

    if not enough(n):
        return None
    low, high = 0, n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _law(scheme: Scheme) -> VarianceLaw | None:
    return scheme.estimator().law if linear(scheme) else None


def _score(found: list[Any], truth: Truth, k: int) -> Found:
    order = truth.top(len(truth.counts))
    names = np.array([_plain(item) for item in truth.items[order].tolist()])
    scored = score([_plain(item) for item in found], Crowd(truth.name, names, truth.counts[order]), k)
    return Found(scored.f1, scored.precision, scored.recall)


def _mean(scores: list[Found]) -> Found:
    means = {name: float(np.mean([getattr(each, name) for each in scores])) for name in ("f1", "precision", "recall")}
    return Found(**means)


def _plain(item: Any) -> Any:
    if isinstance(item, bytes):
        return item.decode("utf-8", "backslashreplace")
    return int(item) if isinstance(item, np.integer) else item
