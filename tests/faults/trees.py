"""Planted faults of HH and HAAR: the client, the bulk path, consistency, and the laws of their sums."""

from __future__ import annotations

from typing import Any

from faults.detectors import Detector, audit
from faults.planting import Edit

HH = audit("HH", epsilon=1, domain_size=5, branching=2, weights=(3, 1, 2))
HAAR = audit("HAAR", epsilon=1, domain_size=6, weights=(1, 2, 2))

BULK = "the bulk path and the client differ"
BIAS = "the estimate is biased"
VARIANCE = "the variance is not the stated one"

PLANS: list[tuple[Any, ...]] = []


def plan(id: str, breaks: str, step: Edit, by: Detector, sees: str) -> None:
    PLANS.append((id, breaks, (step,), by, sees))


plan(
    "half-without-its-sign",
    "the client of HAAR does not tell the halves of a block apart",
    Edit("device:Half.item", "% 2 * self.order", "% 2 * 0"),
    HAAR,
    BULK,
)
plan(
    "halves-swapped-in-bulk",
    "the bulk path of HAAR takes the left half for the right one",
    Edit("ordered.signed:Half.items", "% np.uint64(2)", "% np.uint64(2) ^ np.uint64(1)"),
    HAAR,
    BULK,
)
plan(
    "tree-by-published-shares",
    "counts of levels are combined as if all had the same number of users",
    Edit("ordered.nested:Nested._levels", "width.weight * width.share", "width.weight / len(self.widths)"),
    HH,
    BIAS,
)
plan(
    "tree-without-a-level",
    "the equations of a tree forget its last level",
    Edit("ordered.nested:Nested.solve", "self._levels[1:]", "self._levels[1:-1]"),
    HH,
    BIAS,
)
plan(
    "tree-noise-beside-the-path-forgotten",
    "the variance leaves out the blocks beside the path to the root",
    Edit("ordered.nested:Paths._noise", "taken**2 * (beside - asked)[block]", "0.0"),
    HH,
    VARIANCE,
)
plan(
    "tree-noise-within-a-block-not-shrunk",
    "the variance of a block adds those of its parts as they were before it was made consistent",
    Edit("ordered.nested:Paths._noise", "inner / level.shrunk**2", "inner / level.shrunk"),
    HH,
    VARIANCE,
)
plan(
    "tree-covariance-with-the-own-block",
    "the holder's term leaves out the covariance with other blocks",
    Edit("core.laws:VarianceLaw.contrast", " - 2 * self.covariance[1]", ""),
    HH,
    VARIANCE,
)
plan(
    "halves-not-scaled-up",
    "the differences of a level are those of its own users",
    Edit("ordered.haar:Differences.differences", "[:blocks] / share", "[:blocks]"),
    HAAR,
    BIAS,
)
plan(
    "half-of-an-incomplete-block",
    "a block without a right half is halved all the same, by the noise of a difference",
    Edit("ordered.halves:Halves.counts", "if size % 2:", "if False:"),
    HAAR,
    VARIANCE,
)
plan(
    "halves-without-the-known-number-of-users",
    "the variance leaves out that the number of users is known",
    Edit("ordered.halves:Halves.along", "(1 - level) ** 2", "1.0"),
    HAAR,
    VARIANCE,
)
