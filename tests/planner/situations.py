"""The decision table: what people may ask the planner, in small enough numbers to be simulated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import plausibly
from plausibly import Above, Keys, Limits, Plan, Within
from plausibly.planner.skew import OPEN_ITEMS


@dataclass(frozen=True)
class Situation:
    """The arguments of one call."""

    domain: Any
    users: int
    epsilon: Any = None
    more: dict[str, Any] = field(default_factory=dict)

    def plan(self, hash_seed: int = 0) -> Plan:
        return plausibly.plan(self.domain, self.users, epsilon=self.epsilon, hash_seed=hash_seed, **self.more)

    @property
    def skew(self) -> Any:
        return self.more.get("skew", 1.1)

    def __str__(self) -> str:
        return f"{self.domain!r}, {self.users}, {self.epsilon}, {self.more}"


def _listed() -> list[Situation]:
    users = {2: 300, 3: 300, 5: 500, 12: 500, 30: 1000, 100: 2000, 300: 3000, 1000: 5000, 5000: 20_000}
    return [Situation(d, n, epsilon) for d, n in users.items() for epsilon in ("0.5", 1, 2, 4)]


def _limited() -> list[Situation]:
    found = []
    for epsilon in (1, 3):
        for d, limits in (
            (200, Limits(report_bytes=1)),
            (200, Limits(report_bytes=2)),
            (1000, Limits(report_bytes=2)),
            (3000, Limits(report_bytes=2, memory=100_000)),
            (3000, Limits(memory=20_000)),
            (3000, Limits(memory="4 kB")),
            (3000, Limits(report_bytes=3, memory="10 kB")),
        ):
            found.append(Situation(d, 5000, epsilon, {"limits": limits}))
    return found


def _open() -> list[Situation]:
    found = [Situation(Keys(), 5000, epsilon) for epsilon in (1, 2, 4)]
    for epsilon in (1, 3):
        found.append(Situation(Keys(), 5000, epsilon, {"limits": Limits(memory="100 kB", candidates=200)}))
        found.append(Situation(Keys(), 5000, epsilon, {"limits": Limits(memory="30 kB", report_bytes=2)}))
    return found


def _assumed() -> list[Situation]:
    lean = Limits(memory=20_000)
    return [Situation(3000, 5000, 2, {"limits": lean, "skew": skew}) for skew in (0, 0.5, 1, 1.5, "worst")]


def _targets() -> list[Situation]:
    return [
        Situation(12, 2000, more={"target": Within("4 %")}),
        Situation(12, 2000, more={"target": Within("4 %", frequency="30 %")}),
        Situation(300, 3000, more={"target": Within("5 %", every=True)}),
        Situation(300, 3000, more={"target": Above("10 %")}),
        Situation(1000, 5000, more={"target": Above("5 %", confidence="90 %")}),
        Situation(Keys(), 5000, more={"target": Within("3 %")}),
        Situation(1000, 5000, more={"target": Within("3 %"), "limits": Limits(report_bytes=2)}),
    ]


eighths = pytest.mark.parametrize(
    "part", [pytest.param(part, marks=pytest.mark.slow if part else pytest.mark.full) for part in range(8)]
)
"""All situations, ``SITUATIONS[part::8]`` each time; every change has to pass the first of them."""

SITUATIONS = [*_listed(), *_limited(), *_open(), *_assumed(), *_targets()]
assert len(SITUATIONS) >= 60


def crowd(items: int, n: int, skew: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """n users by a power law, as evenly as whole users can be; for the worst case all hold one item."""
    if skew == "worst":
        return np.array([n, *[0] * (items - 1)])
    shares = np.arange(1, items + 1, dtype=np.float64) ** -float(skew)
    ends = np.rint(np.cumsum(shares) / shares.sum() * n).astype(np.int64)
    return np.diff(ends, prepend=0)


def drawn(n: int, skew: Any, seed: int) -> dict[int, int]:
    """n users who draw from so many items as the planner takes an open domain to have."""
    shares = np.arange(1, OPEN_ITEMS + 1, dtype=np.float64) ** -float(skew)
    ends = np.cumsum(shares) / shares.sum()
    items, counts = np.unique(np.searchsorted(ends, np.random.default_rng(seed).random(n)), return_counts=True)
    return dict(zip(items.tolist(), counts.tolist(), strict=True))
