"""SUE and OUE: unary encoding, with one independently perturbed bit per item."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..core.probability import WORD, keep_threshold
from ..core.unary import Unary


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SUE(Unary):
    """Symmetric unary encoding, the core of RAPPOR: p + q = 1 (paper, section 3.2).

    Privacy: p(1-q)/(q(1-p)) <= e^eps with p = floor(2^64 * e^(eps/2)/(e^(eps/2) + 1))/2^64.
    Variance: n*e^(eps/2)/(e^(eps/2) - 1)^2, independent of the item's count.
    Cost: ceil(d/8) bytes a report, O(d) client, O(n*d) fold.

    >>> import plausibly
    >>> scheme = plausibly.make("SUE", epsilon=1, domain_size=100)
    >>> scheme.report_bits, round(scheme.variance(n=1), 2)
    (100, 3.92)
    """

    name = "SUE"

    @cached_property
    def keep(self) -> int:
        return keep_threshold(self.epsilon / 2, 1, 1)

    @property
    def flip(self) -> int:
        return WORD - self.keep


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OUE(Unary):
    """Optimised unary encoding: p = 1/2, q = 1/(e^eps + 1) (paper, section 3.2).

    Privacy: p(1-q)/(q(1-p)) <= e^eps with q = ceil(2^64/(e^eps + 1))/2^64.
    Variance: n*4e^eps/(e^eps - 1)^2 + f, the lowest possible on large domains for items without holders.
    Cost: ceil(d/8) bytes a report, O(d) client, O(n*d) fold.

    >>> import plausibly
    >>> scheme = plausibly.make("OUE", epsilon=1, domain_size=100)
    >>> scheme.report_dtype.itemsize, round(scheme.variance(n=1), 2)
    (13, 3.68)
    """

    name = "OUE"

    @property
    def keep(self) -> int:
        return WORD // 2

    @cached_property
    def flip(self) -> int:
        # ceil(N/(L+1)) = N - floor(N*L/(L+1)): a smaller q would exceed epsilon.
        return WORD - keep_threshold(self.epsilon, 1, 1)
