"""The most likely counts behind reports, by expectation maximization: it needs the reports, not only the estimates."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from ..core.arguments import whole_number
from ..core.errors import ParameterError
from ..core.estimates import Estimates
from ..core.history import Applied
from ..core.laws import Floats
from ..core.scheme import Scheme, expect_scheme
from ..core.supported import TwoLevels

_EVEN = 0.1
"""Share of the start of ``mle`` that all items divide evenly: a step multiplies shares, so that 0 would stay 0."""
_MOST_STEPS = 10**6


def mle(scheme: Scheme, reports: object, *, steps: int = 200) -> Estimates:
    """Counts of all items of the domain that make the reports likely: closer to the most likely ones with every step.

    Expectation maximization. It starts from norm-sub, which is most likely if the noise is normal, with a tenth of the
    users spread evenly over all items. Stopping early keeps rare items from fitting the noise.
    The counts are not negative and sum to n. They have no variance: the honest interval of a count is that of the
    unbiased estimate, clipped to [0, n].

    >>> import plausibly
    >>> from plausibly.postprocess import mle
    >>> scheme = plausibly.make("TLH", epsilon=1, domain_size=4)
    >>> reports = scheme.privatize([0] * 700 + [1] * 300, rng=plausibly.SeededRandom(2))
    >>> mle(scheme, reports).history[0].name
    'mle'
    """
    unbiased = _unbiased(scheme, reports)
    near = unbiased.postprocess("norm-sub").values / max(1, unbiased.n)
    start = (1 - _EVEN) * near + _EVEN / len(near)
    return unbiased.fitted(_after(scheme, reports, start, steps), _step("mle", steps, usual=200))


def ibu(scheme: Scheme, reports: object, *, steps: int = 100) -> Estimates:
    """Counts of all items by the iterative Bayesian update: the same steps from equal shares, for comparison.

    Agrawal and Aggarwal, PODS 2001; ElSalamouny and Palamidessi, EuroS&P 2020. With a small epsilon and many items,
    a hundred steps end far from the most likely counts.
    """
    unbiased = _unbiased(scheme, reports)
    start = np.full(len(unbiased), 1 / len(unbiased))
    return unbiased.fitted(_after(scheme, reports, start, steps), _step("ibu", steps, usual=100))


def _unbiased(scheme: Scheme, reports: object) -> Estimates:
    # Checks the scheme and the reports as well.
    expect_scheme(scheme)
    if not isinstance(scheme, TwoLevels):
        raise ParameterError(
            "scheme: expected an oracle whose reports have two levels of likelihood, such as TLH, HM, OLH, DE, SS or "
            f"OUE, got {scheme.name}"
        )
    if scheme.domain.size is None:
        raise ParameterError(f"scheme: expected a domain that can be listed, got {scheme.domain.title}")
    tally = scheme.accumulator()
    tally.add(reports)
    return tally.estimate()


def _step(name: str, steps: int, *, usual: int) -> Applied:
    return Applied(name, () if steps == usual else (("steps", steps),))


def _after(scheme: Scheme, reports: object, start: Floats, steps: int) -> Floats:
    # The counts after these steps; those of no reports are 0.
    steps, n = whole_number("steps", steps, 1, _MOST_STEPS), len(scheme.expect_records(reports))
    shares = next(islice(climbing(scheme, reports, start), steps - 1, None)) if n else start
    return shares * n


def climbing(scheme: Scheme, reports: object, shares: Floats) -> Iterator[Floats]:
    """Shares of all items after each step of expectation maximization; no step lowers the likelihood of the reports.

    The likelihood of a report is 1 under the items that it does not support, and ``ratio`` under those that it does,
    up to a factor that does not depend on the item.
    """
    assert isinstance(scheme, TwoLevels)
    supported, ratio = scheme.supported(scheme.expect_records(reports)), float(scheme.randomizer.worst_ratio())
    n = supported.counts.sum()
    while True:
        weights = supported.counts / (1 + (ratio - 1) * supported.masses(shares))
        shares = shares * (weights.sum() + (ratio - 1) * supported.gathered(weights)) / n
        yield shares
