"""Claims of section 7.5.1: RAPPOR, its Bloom filters and its penalty α.

The published client never clears a set bit. Each claim is checked with it ("as published"), and with a client that
does; the regression is that of the paper's program in both cases.
"""

from __future__ import annotations

from plausibly.experiments import Curve, Curves, Findings, Outcome, Verdict

from .reading import listed, lowest, part, place

FINDINGS = Findings()
_BITS = (32, 64, 128)
_PUBLISHED, _CLEARED = "as published", "bits also cleared"
_BEST = (0.005, 0.01)
"""The paper's range of the best α."""
_WHY = (
    "The published client never clears a set bit, so every count is estimated (1 − f/2)/(1 − f) = 1.9 times too high"
    " (f = 0.64 for two hash functions at ε = 3). The penalty shrinks the counts and makes up for it: an item that"
    " shares no bit with others by a factor of 16/(16 + 8mα), which is 0.76 for m = 128 and α = 0.005. With a client"
    " that clears bits there is nothing to make up for."
)


def _curves(rows: Curves, client: str) -> dict[str, Curve]:
    return {f"m = {bits}": rows.curve("fig6", "alpha", f"m = {bits}, {client}") for bits in _BITS}


def _both(published: tuple[bool, str], cleared: tuple[bool, str], why: str = "") -> Verdict:
    # A claim that holds only with the published client is reversed.
    outcome = Outcome.REPRODUCED if cleared[0] else Outcome.REVERSED if published[0] else Outcome.NOT_REPRODUCED
    return Verdict(outcome, f"as published: {published[1]}. With a client that clears bits: {cleared[1]}", why)


@FINDINGS.about("7.5.1", "Larger Bloom filters lower the error of RAPPOR.", "fig6")
def larger_filters_are_better(rows: Curves) -> Verdict:
    def check(client: str) -> tuple[bool, str]:
        best = {name: curve[lowest(curve)] for name, curve in _curves(rows, client).items()}
        small, middle, large = best.values()
        return large.below(middle) and middle.below(small), f"MSE at the best α, {listed(best)}"

    return _both(check(_PUBLISHED), check(_CLEARED))


@FINDINGS.about("7.5.1", "The penalty α matters: the error of RAPPOR has its minimum inside the range.", "fig6")
def penalty_has_an_optimum(rows: Curves) -> Verdict:
    def check(client: str) -> tuple[bool, str]:
        curves = _curves(rows, client)
        best = {name: curve[lowest(curve)] for name, curve in curves.items()}
        holds = all(best[name].below(curve[end]) for name, curve in curves.items() for end in (min(curve), max(curve)))
        gained = {name: curve[min(curve)] / best[name] for name, curve in curves.items()}
        return holds, f"error at α = 0 relative to the best α, {listed(gained)}"

    return _both(check(_PUBLISHED), check(_CLEARED), _WHY)


@FINDINGS.about("7.5.1", "The best α is 0.005, and the error is much the same up to 0.01.", "fig6")
def best_penalty_is_small(rows: Curves) -> Verdict:
    def check(client: str) -> tuple[bool, str]:
        curves = _curves(rows, client)
        best = {name: lowest(curve) for name, curve in curves.items()}
        told = ", ".join(f"{place(at)} for {name}" for name, at in best.items())
        inside = {name: part(curve, lambda at: _BEST[0] <= at <= _BEST[1]) for name, curve in curves.items()}
        width = {
            name: max(mean.value for mean in some.values()) / curves[name][best[name]].value
            for name, some in inside.items()
        }
        holds = all(_BEST[0] <= at <= _BEST[1] for at in best.values()) and max(width.values()) < 1.25
        return holds, f"the best α is {told}; largest error from 0.005 to 0.01 relative to the best, {listed(width)}"

    return _both(check(_PUBLISHED), check(_CLEARED), _WHY)
