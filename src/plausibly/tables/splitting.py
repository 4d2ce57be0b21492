"""SPL: the values of all attributes, each with its part of epsilon."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .attributed import Attributed


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SPL(Attributed):
    """Split epsilon evenly over the attributes, and report all of them.

    Source: the baseline of Wang et al. (ICDE 2019) and Arcolezi et al. (CIKM 2021); through the oracles of ``CLIQUE``.
    Privacy: the losses of all attributes add up to that of the record.
    Variance: that of an oracle with eps/m, for m attributes; one-way tables only, and far noisier than those of SMP.
    Cost: a report of each attribute.

    >>> import plausibly
    >>> scheme = SPL(epsilon=1, domain=plausibly.Table({"theme": ["dark", "light"], "plan": ["free", "paid"]}))
    >>> scheme.simulate({("dark", "paid"): 9000}, plausibly.SeededRandom(1)).table("plan")["paid"]
    <paid: 9,029 [8,509, 9,550]>
    """

    name = "SPL"

    @property
    def part_epsilon(self) -> Fraction:
        return self.epsilon / len(self.records.names)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        return (tuple(range(len(self.sets))),)

    def shrunk(self, size: int) -> SPL:
        return SPL(epsilon=self.epsilon, domain=self.small_table(size))
