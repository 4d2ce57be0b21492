"""The steps of a search, and estimates that come with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from ..core.estimates import Estimates, Floats


@dataclass(frozen=True, eq=False, repr=False)
class Step:
    """One step of a search: which candidates were looked at, and which were kept."""

    label: str
    length: int
    """Where the candidates end: after so many characters of a string."""
    users: int
    candidates: int
    kept: npt.NDArray[Any]
    """The candidates that stayed, the best first."""
    values: Floats
    """Their estimated counts."""
    first: int = 0
    """Where they begin."""

    def part_of(self, item: Any) -> Any:
        """What this step looks at of a string."""
        return item[self.first : self.length]

    @property
    def cut_off(self) -> float:
        """The least estimate that was kept."""
        return float(self.values.min()) if len(self.values) else float("inf")

    def fate_of(self, part: Any) -> str:
        """Whether this candidate was kept, in words."""
        if part in (kept := self.kept.tolist()):
            place = kept.index(part)
            return f"number {place + 1:,} of {len(kept):,} kept, estimated {self.values[place]:,.0f}"
        # A search that knows more than the estimates has no least one that would have been enough.
        ranked = kept and bool((self.values[1:] <= self.values[:-1]).all())
        return f"not among the {len(kept):,} kept" + f", the last of which has {self.cut_off:,.0f}" * bool(ranked)

    def __repr__(self) -> str:
        numbers = f"{self.users:,} users, {self.candidates:,} candidates, {len(self.kept):,} kept"
        return f"<{self.label}: {numbers}{f', down to {self.cut_off:,.0f}' * bool(len(self.kept))}>"


@dataclass(frozen=True, eq=False, repr=False)
class Traced(Estimates):
    """Estimates of what a search found, with the p-values it gives them and the steps that led to them."""

    p_values: Floats | None = None
    trace: tuple[Step, ...] = ()
