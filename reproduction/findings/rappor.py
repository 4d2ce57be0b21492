"""Claims of section 7.5.1: RAPPOR, its Bloom filters and its penalty α.

The published client never clears a set bit. Each claim is checked with this client and with a correct one; the
regression is that of the paper's program in both cases.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from plausibly.experiments import Curve, Curves, Evidence, Findings, Verdict, all_of, decided

from .reading import above, listed, overall, text_and_program

FINDINGS = Findings()
_BITS = (32, 64, 128)
_BEST = 0.005
"""The paper's best α."""
_NEAR = (0.0075, 0.01)
"""Other values of α that the paper finds similar to the best."""
_OUTSIDE = (0.001, 0.05)
"""The values of α next to those."""
_ALIKE = 1.25
"""Largest ratio of two errors that count as similar."""
_WHY = (
    "The published client never clears a set bit, so every count is estimated (1 − f/2)/(1 − f) = 1.9 times too high"
    " (f = 0.64 for two hash functions at ε = 3). The penalty shrinks the counts and makes up for it: an item that"
    " shares no bit with others by a factor of 16/(16 + 8mα), which is 0.76 for m = 128 and α = 0.005. With a client"
    " that clears bits there is nothing to make up for, and every penalty adds error."
)


@FINDINGS.about("7.5.1", "Larger Bloom filters lower the error of RAPPOR.", "fig6")
def larger_filters_are_better(rows: Curves) -> Verdict:
    def check(curves: dict[str, Curve], alpha: float) -> tuple[Evidence, str]:
        found = {name: curve[alpha] for name, curve in curves.items()}
        evidence = all_of(small.over(large).above(1) for small, large in pairwise(found.values()))
        return evidence, f"MSE at α = {alpha:g}: {listed(found)}"

    return _with_both_clients(
        lambda curves: check(curves, 0),
        lambda curves: check(curves, _BEST),
        rows,
        rule="at the best α for the client, each filter has a lower MSE than the next smaller one",
    )


@FINDINGS.about("7.5.1", "The penalty α matters: the error of RAPPOR has its minimum inside the range.", "fig6")
def penalty_has_an_optimum(rows: Curves) -> Verdict:
    def check(curves: dict[str, Curve]) -> tuple[Evidence, str]:
        without = {name: curve[0].over(curve[_BEST]) for name, curve in curves.items()}
        largest = {name: curve[max(curve)].over(curve[_BEST]) for name, curve in curves.items()}
        told = f"MSE without a penalty relative to α = 0.005: {listed(without)}; with α = 5: {listed(largest)}"
        return all_of([above(without), above(largest)]), told

    rule = "MSE at both ends of the range is above that at α = 0.005"
    return _with_both_clients(check, check, rows, why=_WHY, rule=rule)


@FINDINGS.about("7.5.1", "The best α is 0.005, and the error up to α = 0.01 is very similar.", "fig6")
def best_penalty_is_small(rows: Curves) -> Verdict:
    def check(curves: dict[str, Curve]) -> tuple[Evidence, str]:
        found = {alpha: [curve[alpha].over(curve[_BEST]) for curve in curves.values()] for alpha in (*_NEAR, *_OUTSIDE)}
        alike = [one.within(1 / _ALIKE, _ALIKE) for alpha in _NEAR for one in found[alpha]]
        higher = [one.above(1) for alpha in _OUTSIDE for one in found[alpha]]
        told = {f"α = {alpha:g}": overall(ratios) for alpha, ratios in found.items()}
        return all_of([*alike, *higher]), f"MSE relative to α = 0.005, geometric mean over m: {listed(told)}"

    return _with_both_clients(
        check,
        check,
        rows,
        why=_WHY,
        rule="for every m, MSE at α = 0.0075 and 0.01 is within 25 % of that at 0.005; at 0.001 and 0.05 it is higher",
    )


Check = Callable[[dict[str, Curve]], tuple[Evidence, str]]


def _with_both_clients(correct: Check, published: Check, rows: Curves, *, why: str = "", rule: str) -> Verdict:
    text, program = (
        decided(*check(_curves(rows, client)), rule=rule)
        for check, client in ((correct, "correct"), (published, "published"))
    )
    return text_and_program(text, program, differ="whose client never clears a set bit", why=why)


def _curves(rows: Curves, client: str) -> dict[str, Curve]:
    return {f"m = {bits}": rows.curve("fig6", "alpha", f"m = {bits}, {client}") for bits in _BITS}
