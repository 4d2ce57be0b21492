"""Claims of section 7.5.1: RAPPOR, its Bloom filters and its penalty α."""

from __future__ import annotations

from plausibly.experiments import Curves, Findings, Verdict, verdict

from .reading import everywhere_below, listed, lowest, place

FINDINGS = Findings()


@FINDINGS.about("7.5.1", "Larger Bloom filters lower the error of RAPPOR.", "fig6")
def larger_filters_are_better(rows: Curves) -> Verdict:
    curves = {bits: rows.curve("fig6", "alpha", f"m = {bits}") for bits in (32, 64, 128)}
    holds = everywhere_below(curves[128], curves[64]) and everywhere_below(curves[64], curves[32])
    best = {f"m = {bits}": curve[lowest(curve)] for bits, curve in curves.items()}
    return verdict(holds, f"lowest MSE over α: {listed(best)}")


@FINDINGS.about("7.5.1", "The penalty α matters: the error of RAPPOR has its minimum inside the range.", "fig6")
def penalty_has_an_optimum(rows: Curves) -> Verdict:
    curves = {bits: rows.curve("fig6", "alpha", f"m = {bits}") for bits in (32, 64, 128)}
    best = {bits: lowest(curve) for bits, curve in curves.items()}
    inside = all(min(curve) < best[bits] < max(curve) for bits, curve in curves.items())
    matters = all(curve[best[bits]].below(max(curve.values(), key=lambda m: m.value)) for bits, curve in curves.items())
    told = ", ".join(f"α = {place(best[bits])} for m = {bits}" for bits in curves)
    worst = {
        bits: max(mean.value for mean in curve.values()) / curve[best[bits]].value for bits, curve in curves.items()
    }
    return verdict(
        inside and matters,
        f"best: {told}; error of the worst α in the range relative to the best:"
        f" {listed({f'm = {bits}': ratio for bits, ratio in worst.items()})}",
        "Our regression first selects a few items, which the bits then determine well: a penalty has nothing to correct"
        " and only shrinks them. Our α and the paper's have different scales.",
    )
