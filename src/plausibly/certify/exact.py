"""The exact audit: of the client on its coins, the bulk path on its words, and the estimates by their laws."""

from __future__ import annotations

import math
from fractions import Fraction

from ..core.arguments import whole_number
from ..core.enumeration import DrawsError, count_public_outcomes
from ..core.probability import log_upper_bound, within_exp
from ..core.scheme import Scheme, expect_scheme
from ..device import DeviceError
from .argument import argument_applies
from .certificate import Certificate
from .client import Run, run_client
from .memo import run_memo
from .moments import UNCHECKED, moments
from .tapes import Comparison, compare_tapes

DRAWS = 2**20
"""Default budget of draws: enough to compare every item of a unary scheme of 1,000 items."""
_MOST_DRAWS = 2**48


def audit(scheme: Scheme, *, draws: int = DRAWS) -> Certificate:
    """The exact certificate of a scheme: the output distribution of the released client, decided in integers.

    It checks, for all pairs of the items run and each public outcome run: no record is more than e^epsilon times as
    likely under one item as under another, neither draws nor record size depend on the item or on a coin, and the
    likelihood that the scheme states is the true one. The conversion of words to coins, and the bulk path, are compared
    on tapes full of words at which the result of a draw changes.

    ``draws`` bounds the coins that the client may draw, about 1,000,000 per second, for the laws and again for the
    tapes. If the budget allows, every item is run under every public outcome; else every item under some of them; else
    some items; else the client on a smaller domain. ``Certificate.covers`` says which. The rest is claimed only if the
    client is the one that docs/adr/0015 proves private and the worst ratio that it states for the whole domain is at
    most e^epsilon.
    """
    expect_scheme(scheme)
    draws = whole_number("draws", draws, 10_000, _MOST_DRAWS)
    findings: list[str] = []

    def expect(holds: bool, otherwise: str) -> None:
        if not holds and otherwise not in findings:
            findings.append(otherwise)

    try:
        run, compared = run_client(scheme, draws, expect), compare_tapes(scheme, draws, expect)
        found, memo = moments(scheme), run_memo(run.enumerated, scheme, expect)
    except (DrawsError, DeviceError) as error:
        refused = "the client refuses an item of the domain"
        expect(
            False, refused if isinstance(error, DeviceError) else "the client draws more or fewer words than it says"
        )
        run, compared = Run(scheme, math.inf, items=0, paths=0, outcomes=0, public_complete=False), Comparison(None)
        found, memo = UNCHECKED, None
    stated, whole = run.enumerated.randomizer.worst_ratio(), scheme.randomizer.worst_ratio()
    worst = run.worst
    expect(worst != math.inf and within_exp(Fraction(worst), scheme.epsilon), "a likelihood ratio exceeds e^epsilon")
    expect(worst <= stated, "a likelihood ratio exceeds the worst one that the client states")
    expect(within_exp(whole, scheme.epsilon), "the thresholds exceed e^epsilon on the whole domain")
    expect(found.unbiased is not False, "the estimate is biased")
    expect(found.variance is not False, "the variance is not the stated one")
    return Certificate(
        scheme=scheme,
        enumerated=run.enumerated,
        worst_ratio=worst,
        epsilon=math.inf if worst == math.inf else log_upper_bound(max(Fraction(worst), whole), scheme.epsilon),
        attained=worst == stated,
        items=run.items,
        all_items=scheme.domain.code_count,
        paths=run.paths,
        public_outcomes=run.outcomes,
        all_public_outcomes=count_public_outcomes(scheme.randomizer),
        public_complete=run.public_complete,
        argued=argument_applies(scheme.randomizer, scheme.domain.code_count),
        tapes=compared.tapes,
        compared_items=compared.items,
        compared=compared.scheme,
        moment_items=found.items,
        unbiased=found.unbiased,
        variance_exact=found.variance,
        moments_exact=found.exact,
        findings=tuple(findings),
        memo=memo,
    )
