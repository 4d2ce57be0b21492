"""The steps of a search, and estimates that carry them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from ..core.estimates import Estimates, Floats


@dataclass(frozen=True, eq=False, repr=False)
class Step:
    """One step of a search: the candidates that were examined, and those that were kept."""

    label: str
    length: int
    """Position after the candidates' last character."""
    users: int
    candidates: int
    kept: npt.NDArray[Any]
    """Kept candidates, best first."""
    values: Floats
    """Estimated counts of the kept candidates."""
    first: int = 0
    """Position of the candidates' first character, counted from 0."""

    def part_of(self, item: Any) -> Any:
        """Part of a string that this step of the trace examines."""
        return item[self.first : self.length]

    @property
    def cut_off(self) -> float:
        """Smallest estimate among the candidates that this step of the trace kept."""
        return float(self.values.min()) if len(self.values) else float("inf")

    def fate_of(self, part: Any) -> str:
        """Whether this step of the trace kept a candidate, in words."""
        if part in (kept := self.kept.tolist()):
            place = kept.index(part)
            return f"number {place + 1:,} of {len(kept):,} kept, estimated {self.values[place]:,.0f}"
        # A search that does not rank by estimates alone has no estimate that would have been enough.
        ranked = kept and bool((self.values[1:] <= self.values[:-1]).all())
        return f"not among the {len(kept):,} kept" + f", the smallest with {self.cut_off:,.0f}" * bool(ranked)

    def __repr__(self) -> str:
        numbers = f"{self.users:,} users, {self.candidates:,} candidates, {len(self.kept):,} kept"
        return f"<{self.label}: {numbers}{f', down to {self.cut_off:,.0f}' * bool(len(self.kept))}>"


@dataclass(frozen=True, eq=False, repr=False)
class Traced(Estimates):
    """Estimates for the strings that a search found, with their p-values and the steps of the search."""

    p_values: Floats | None = None
    trace: tuple[Step, ...] = ()
    judged: Mapping[Any, float] = field(default_factory=dict)
