"""Run the memo of a client on all of its coins: the law of every entry, hence of all reports from it together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..core.enumeration import Extremes, Public, output_law
from ..core.memoised import Memoised
from ..core.probability import log_upper_bound, within_exp
from ..core.scheme import Scheme
from ..device import Memoised as MemoisedClient
from ..device import Source
from .client import most_draws
from .numbers import exact_text, rounded_up

Expect = Callable[[bool, str], None]


@dataclass(frozen=True)
class MemoRun:
    """The entries of a memo: for all reports from one entry, whatever their number, the ratio is at most this one."""

    cells: int
    """Number of cells whose entries were run on all coins."""
    worst_ratio: Fraction | float
    """Largest likelihood ratio of one entry under two cells."""
    epsilon: Fraction | float
    """Delivered epsilon of an entry: an upper bound of the log of that ratio and of the one that the client states."""
    attained: bool

    def to_dict(self) -> dict[str, Any]:
        """The memo's part of a certificate as JSON values."""
        return {
            "cells": self.cells,
            "worst_ratio": exact_text(self.worst_ratio),
            "epsilon_delivered": exact_text(self.epsilon),
            "epsilon_rounded_up": rounded_up(self.epsilon),
            "attained": self.attained,
        }

    def __str__(self) -> str:
        attained = ", attained" if self.attained else ""
        every = f"{self.cells} cells run on all coins"
        return f"epsilon <= {rounded_up(self.epsilon)}{attained}, for all reports of one cell together; {every}"


class _Entries:
    """The client of a memo: its record is the entry of a cell, and nothing follows."""

    def __init__(self, client: MemoisedClient) -> None:
        self._client = client
        self.words, self.public_words, self.record_bytes = client.memo_words, 0, client.record_bytes
        self.worst_ratio = client.memo_ratio

    def public(self, source: Source) -> Public:
        return ()

    def perturb(self, value: int, public: Public, source: Source) -> bytes:
        return self._client.memoise(value, source)


def run_memo(enumerated: Scheme, scheme: Scheme, expect: Expect) -> MemoRun | None:
    """Run the memo of the enumerated client; None for a scheme without one. ``scheme`` is the certified one."""
    if not (isinstance(enumerated, Memoised) and isinstance(scheme, Memoised)):
        return None
    entries, extremes = _Entries(enumerated.client), Extremes()
    for cell in range(enumerated.cells):
        extremes.add(output_law(entries, cell, (), most_draws(entries)))
    worst, stated, whole = extremes.worst_ratio(), entries.worst_ratio(), scheme.client.memo_ratio()
    expect(
        isinstance(worst, Fraction) and within_exp(worst, scheme.memo_epsilon),
        "a likelihood ratio of an entry of the memo exceeds e^memo_epsilon",
    )
    expect(worst <= stated, "a likelihood ratio of an entry of the memo exceeds the worst one that the client states")
    expect(within_exp(whole, scheme.memo_epsilon), "the thresholds of the memo exceed e^memo_epsilon")
    found = log_upper_bound(max(worst, whole), scheme.memo_epsilon) if isinstance(worst, Fraction) else worst
    return MemoRun(enumerated.cells, worst, found, worst == stated)
