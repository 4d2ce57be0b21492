"""SMP: a public, random attribute, and its value."""

from __future__ import annotations

from dataclasses import dataclass

from .attributed import Attributed


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SMP(Attributed):
    """Sample one attribute of the record at random, and report its value with the whole epsilon.

    Source: Nguyên et al. (2016) and Wang et al. (ICDE 2019) for several attributes; through the oracles of ``CLIQUE``.
    Privacy: that of the oracle for the whole record, because the attribute is drawn without looking at it.
    Variance: that of an oracle with 1/m of the users, for m attributes; one-way tables only. CLIQUE with one attribute
    in each clique is the same.
    Cost: that of the oracle of the largest attribute.

    >>> import plausibly
    >>> scheme = SMP(epsilon=1, domain=plausibly.Table({"theme": ["dark", "light"], "plan": ["free", "paid"]}))
    >>> scheme.simulate({("dark", "paid"): 9000}, plausibly.SeededRandom(1)).table("plan")["paid"]
    <paid: 9,134 [8,756, 9,513]>
    """

    name = "SMP"

    def shrunk(self, size: int) -> SMP:
        return SMP(epsilon=self.epsilon, domain=self.small_table(size))
