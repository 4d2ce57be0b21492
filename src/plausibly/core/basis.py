"""Facts about the reports behind estimates that arithmetic needs: are two estimates independent, and by which law."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .errors import StateError
from .laws import Floats, MemoLaw, VarianceLaw


@dataclass(frozen=True, eq=False)
class Basis:
    """The reports behind estimates, the public hash functions that decode them, and the law of the estimates.

    ``reports`` identifies the tallies. ``hash_seeds`` are the seeds of hash functions that all users share: two
    collections with the same seed share the errors of collisions. ``law`` is None if no law is known for all items.
    ``memos`` names the memos of users: two collections with the same one may be two days of the same users, and share
    the errors of their memos. ``memo`` is the law of these errors; None if no law is known.
    """

    reports: frozenset[object] = frozenset()
    hash_seeds: frozenset[int] = frozenset()
    law: VarianceLaw | None = None
    memos: frozenset[str] = frozenset()
    memo: MemoLaw | None = None

    @property
    def changed(self) -> Basis:
        """The basis of estimates that were changed by a step, to which the law does not apply."""
        return replace(self, law=None, memo=None)

    def __or__(self, other: Basis) -> Basis:
        """The basis of sums of two estimates: their law holds if it is the same one for the reports of both."""
        law = self.law if self.law == other.law and self.law is not None and not self.law.hashed else None
        reports, memos = self.reports | other.reports, self.memos | other.memos
        return Basis(reports, self.hash_seeds | other.hash_seeds, law, memos)

    def expect_apart(self, other: Basis) -> None:
        """Raise if both bases have reports in common, so that their errors are not independent."""
        if self.reports & other.reports:
            raise StateError(
                "expected estimates from different reports, got two from the same tally; their errors are not "
                "independent, and no law has the variance of the result"
            )

    def shared_error(
        self, other: Basis, variance: Floats, values: Floats | float = 0.0, n: int = 0, *, adds: bool = False
    ) -> Floats:
        """The part of the variance of estimates on this basis that estimates on the other basis may share.

        Without a law, it may be all. ``values`` and ``n`` are the counts and the number of reports, for the law.
        ``adds``: the estimates are added up. Errors of memos have the same sign on all days: they then count, and in
        differences they would only make the variance smaller.
        """
        if adds and self.memos & other.memos:
            return variance if self.memo is None else np.minimum(variance, self.memo.at(n, np.clip(values, 0, n)))
        if not self.hash_seeds & other.hash_seeds:
            return np.zeros_like(variance)
        if self.law is None:
            return variance
        return self.law.shared(variance, n, np.clip(values, 0, n))
