"""Facts about the reports behind estimates that arithmetic needs: are two estimates independent, and by which law."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .errors import StateError
from .laws import Floats, VarianceLaw


@dataclass(frozen=True, eq=False)
class Basis:
    """The reports behind estimates, the public hash functions that decode them, and the law of the estimates.

    ``reports`` identifies the tallies. ``hash_seeds`` are the seeds of hash functions that all users share: two
    collections with the same seed share the errors of collisions. ``law`` is None if no law is known for all items.
    """

    reports: frozenset[object] = frozenset()
    hash_seeds: frozenset[int] = frozenset()
    law: VarianceLaw | None = None

    @property
    def changed(self) -> Basis:
        """The basis of estimates that were changed by a step, to which the law does not apply."""
        return replace(self, law=None)

    def __or__(self, other: Basis) -> Basis:
        """The basis of sums of two estimates: their law holds if it is the same one for the reports of both."""
        law = self.law if self.law == other.law and self.law is not None and not self.law.hashed else None
        return Basis(self.reports | other.reports, self.hash_seeds | other.hash_seeds, law)

    def expect_apart(self, other: Basis) -> None:
        """Raise if both bases have reports in common, so that their errors are not independent."""
        if self.reports & other.reports:
            raise StateError(
                "expected estimates from different reports, got two from the same tally; their errors are not "
                "independent, and no law has the variance of the result"
            )

    def shared_error(self, other: Basis, variance: Floats, values: Floats | float = 0.0, n: int = 0) -> Floats:
        """The part of the variance of estimates on this basis that estimates on the other basis may share.

        Without a law, it may be all. ``values`` and ``n`` are the counts and the number of reports, for the law.
        """
        if not self.hash_seeds & other.hash_seeds:
            return np.zeros_like(variance)
        if self.law is None:
            return variance
        return self.law.shared(variance, n, np.clip(values, 0, n))
