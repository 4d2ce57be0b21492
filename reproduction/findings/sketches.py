"""Claims about Bloom filters and sketches, in sections 7.5 and 9."""

from __future__ import annotations

from plausibly.experiments import Curve, Curves, Findings, Verdict, number, verdict

from .reading import as_published, clipped_or_not, everywhere_below, listed, lowest, part, place, ratios, span, typical

FINDINGS = Findings()
_WAYS = ("Mean", "Median", "Min")
_NAMES = {"width": "c", "rows": "r"}
_LARGE = 512
"""The smallest number of cells of a large sketch."""


def _typical(
    rows: Curves, figure: str, sweep: str, labels: list[str], metric: str, *, least: int = 0
) -> dict[str, float]:
    curves = {label: part(rows.curve(figure, sweep, label, metric), lambda at: at >= least) for label in labels}
    return {label: typical([mean.value for mean in curve.values()]) for label, curve in curves.items()}


def _six() -> list[str]:
    return [f"{name} ({way})" for name in ("CM", "CS") for way in _WAYS]


# --- RAPPOR -----------------------------------------------------------------------------------------------------


@FINDINGS.about("7.5.1", "Larger Bloom filters lower the error of RAPPOR.", "fig6")
def larger_filters_are_better(rows: Curves) -> Verdict:
    curves = {bits: rows.curve("fig6", "alpha", f"m = {bits}") for bits in (32, 64, 128)}
    holds = everywhere_below(curves[128], curves[64]) and everywhere_below(curves[64], curves[32])
    best = {f"m = {bits}": curve[lowest(curve)] for bits, curve in curves.items()}
    return verdict(holds, f"least MSE over α: {listed(best)}")


@FINDINGS.about("7.5.1", "The right penalty α matters: the error of RAPPOR has its least inside the range.", "fig6")
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
        f"best: {told}; the worst α of the range costs"
        f" {listed({f'm = {bits}': ratio for bits, ratio in worst.items()})} times as much",
        "Our regression first chooses few items, which the bits then determine well: a penalty has nothing to mend,"
        " and shrinks them. Our α is in units of an item that is alone; the paper's has another scale.",
    )


# --- the size of a sketch ----------------------------------------------------------------------------------------


@FINDINGS.about("7.5.2", "CM has a lower error than CS.", "fig7")
def cm_beats_cs(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[bool, str]:
        found = {
            way: typical(
                ratios(
                    rows.curve("fig7", "width", f"CS ({way})", f"mse{suffix}"),
                    rows.curve("fig7", "width", f"CM ({way})", f"mse{suffix}"),
                )
            )
            for way in _WAYS
        }
        return all(ratio > 1 for ratio in found.values()), f"MSE of CS over that of CM, over c: {listed(found)}"

    return clipped_or_not(
        check,
        "A cell of CS needs two items of its oracle, one for each sign, and its noise is that of their difference:"
        " about twice. Where collisions outweigh the noise, signs make up for it.",
    )


@FINDINGS.about("7.5.2", "More cells in a row lower the error of every estimator.", "fig7")
def more_cells_are_better(rows: Curves) -> Verdict:
    return clipped_or_not(lambda suffix: _fallen(rows, "width", _six(), f"mse{suffix}"))


@FINDINGS.about("7.5.2", "More rows lower the error, too.", "fig7")
def more_rows_are_better(rows: Curves) -> Verdict:
    return clipped_or_not(
        lambda suffix: _fallen(rows, "rows", _six(), f"mse{suffix}"),
        "Every user reports on one row, so r rows have n/r users each: the noise of the mean does not depend on r."
        " Rows lower only what collisions add, and the least of r ever noisier rows falls without end.",
    )


def _fallen(rows: Curves, sweep: str, labels: list[str], metric: str) -> tuple[bool, str]:
    # Whether all of these end below where they begin.
    curves = {label: rows.curve("fig7", sweep, label, metric) for label in labels}
    fallen = {label: curve[min(curve)] / curve[max(curve)] for label, curve in curves.items()}
    told = f"error at the least {_NAMES[sweep]} over that at the largest: {listed(fallen)}"
    return all(ratio > 1 for ratio in fallen.values()), told


@FINDINGS.about("7.5.2", "From c = 512 on the k-MSE of the minimum rises, and the median overtakes it.", "extra4")
def minimum_fails_in_wide_sketches(rows: Curves) -> Verdict:
    def check(suffix: str, sketches: str) -> tuple[bool, str]:
        least = rows.curve("extra4", "width", f"CM (Min){sketches}", f"k_mse{suffix}")
        median = rows.curve("extra4", "width", f"CM (Median){sketches}", f"k_mse{suffix}")
        late = part(least, lambda c: c >= _LARGE)
        rises = late[max(late)].value > late[min(late)].value
        overtaken = min((c for c in least if median[c].value < least[c].value), default=0)
        told = f"k-MSE of the minimum: {_along(late)}; the median is below it from c = {place(overtaken)} on"
        return rises and overtaken >= 128, told

    return as_published(
        check,
        "What others add to a cell, n/c, and the minimum's fall below the truth have opposite signs: as published"
        " they cancel in narrow sketches, and the fall remains in wide ones. Debiased, the minimum is far too low"
        " everywhere.",
    )


@FINDINGS.about("7.5.2", "More rows raise the k-MSE of the minimum.", "fig7")
def minimum_fails_with_many_rows(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[bool, str]:
        metric, labels = f"k_mse{suffix}", ["CM (Min)", "CS (Min)"]
        fell = [_fallen(rows, "rows", [label], metric)[0] for label in labels]
        return not any(fell), _fallen(rows, "rows", labels, metric)[1]

    return clipped_or_not(check)


@FINDINGS.about("7.5.3", "The minimum has the lowest MSE, followed by mean and median.", "fig7")
def minimum_has_the_lowest_error(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[bool, str]:
        found = _typical(rows, "fig7", "width", [f"CM ({way})" for way in _WAYS], f"mse{suffix}")
        order = sorted(found, key=found.__getitem__)
        return order[0] == "CM (Min)", f"MSE, geometric mean over c: {listed(found)}"

    return clipped_or_not(
        check,
        "The least of 32 noisy rows is far below zero for nearly every item, and nearly every item has a count near"
        " zero: setting the negative ones to zero before comparing hides it.",
    )


@FINDINGS.about(
    "7.5.3", "In k-MSE the order turns around when c is large: minimum worst, then median, then mean.", "fig7"
)
def minimum_has_the_highest_top_error(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[bool, str]:
        found = _typical(rows, "fig7", "width", [f"CM ({way})" for way in _WAYS], f"k_mse{suffix}", least=_LARGE)
        order = sorted(found, key=found.__getitem__)
        return order == ["CM (Mean)", "CM (Median)", "CM (Min)"], f"k-MSE, geometric mean, c ≥ 512: {listed(found)}"

    return clipped_or_not(check)


# --- Bloom filters against sketches ------------------------------------------------------------------------------


@FINDINGS.about("7.5.4", "A small Bloom filter competes with CS (Min), and beats it at large d.", "fig8")
def bloom_competes(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[bool, str]:
        bloom = rows.curve("fig8", "domain", "Bloom filter", f"mse{suffix}")
        found = ratios(bloom, rows.curve("fig8", "domain", "CS (Min)", f"mse{suffix}"))
        return found[max(found)] < 1, f"MSE of the Bloom filter over that of CS (Min): {span(found)}"

    return clipped_or_not(check)


@FINDINGS.about("7.5.4", "In small sketches the minimum is best in MSE and in k-MSE.", "extra6")
def minimum_wins_small_sketches(rows: Curves) -> Verdict:
    def check(suffix: str, sketches: str) -> tuple[bool, str]:
        labels = ["CM (Mean)", *(f"CM ({way}){sketches}" for way in ("Median", "Min"))]
        holds, told = True, []
        for metric, name in ((f"mse{suffix}", "MSE"), (f"k_mse{suffix}", "k-MSE")):
            found = _typical(rows, "extra6", "domain", labels, metric)
            holds &= min(found, key=found.__getitem__) == labels[-1]
            told.append(f"{name}: {listed(found)}")
        return holds, "geometric mean over d, " + "; ".join(told)

    return as_published(
        check,
        "With 128 cells others add n/128 to each. Where that is left in, the minimum makes up for some of it; where"
        " it is taken out, the median is best, because it does without the rows in which a heavy item is in the way.",
    )


# --- oracles of sketches ------------------------------------------------------------------------------------------

_PAPERS = [
    "CM (Mean) OUE",
    "CM (Mean) HM (t = 1)",
    "CM (Mean) HM (t = 3)",
    "CM (Median) FLH",
    "CM (Median) HR",
    "CM (Median) HM (t = 3)",
]


@FINDINGS.about("7.5.5", "CM (Mean) over OUE and CM (Median) over FLH have the lowest MSE.", "fig9")
def cms_and_flh_lead(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[bool, str]:
        found = _typical(rows, "fig9", "domain", _PAPERS, f"mse{suffix}")
        first = set(sorted(found, key=found.__getitem__)[:2])
        return first == {"CM (Mean) OUE", "CM (Median) FLH"}, f"MSE, geometric mean over d: {listed(found)}"

    return clipped_or_not(
        check,
        "On Zipf data every median is ahead of every mean, whatever the oracle: a heavy item falls on some other item"
        " in one row of a thousand, which moves the mean of its rows and not their median. Of the medians FLH's is"
        " first.",
    )


@FINDINGS.about("7.5.5", "CM (Median) has a lower k-MSE than CM (Mean).", "fig9")
def medians_have_lower_top_error(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[bool, str]:
        found = _typical(rows, "fig9", "domain", ["CM (Mean) HM (t = 3)", "CM (Median) HM (t = 3)"], f"k_mse{suffix}")
        return found["CM (Median) HM (t = 3)"] < found["CM (Mean) HM (t = 3)"], f"same oracle, k-MSE: {listed(found)}"

    return clipped_or_not(
        check,
        "A heavy item that falls on another one in some rows moves their mean and not their median. For the noise"
        " alone the median is worse, by π/2.",
    )


@FINDINGS.about("7.5.5", "Apple's HCMS improves with three coefficients in place of one.", "fig9")
def three_coefficients_improve_hcms(rows: Curves) -> Verdict:
    found = ratios(rows.curve("fig9", "domain", _PAPERS[1]), rows.curve("fig9", "domain", _PAPERS[2]))
    return verdict(typical(found) > 1, f"MSE with t = 1 over that with t = 3: {span(found)}")


@FINDINGS.about("7.5.5", "CM (Median) over FLH is as accurate as CM (Mean) over OUE with far smaller reports.", "fig9")
def flh_sketch_is_as_good_as_cms(rows: Curves) -> Verdict:
    flh, cms = (rows.curve("fig9", "domain", label) for label in ("CM (Median) FLH", "CM (Mean) OUE"))
    found = ratios(flh, cms)
    small, large = (
        next(iter(rows.curve("fig9", "domain", label, "report_bytes").values())).value
        for label in ("CM (Median) FLH", "CM (Mean) OUE")
    )
    return verdict(
        typical(found) < 1.1 and 8 * small < large,
        f"MSE over that of CM (Mean) OUE: {span(found)}; reports of {small:.0f} and {large:.0f} bytes",
        "Most of the difference is the median's, which does without the rows in which a heavy item is in the way.",
    )


@FINDINGS.about("7.5.6", "On clicked addresses CM (Mean) FLH has the lowest MSE, then OUE, then HM.", "fig10")
def mean_flh_leads_on_clicks(rows: Curves) -> Verdict:
    order = ["CM (Mean) FLH", "CM (Mean) OUE", "CM (Mean) HM (best t)", "CM (Mean) HM (t = 1)"]

    def check(suffix: str) -> tuple[bool, str]:
        found = _typical(rows, "fig10", "epsilon", order, f"mse{suffix}")
        return sorted(found, key=found.__getitem__) == order, f"MSE, geometric mean over ε: {listed(found)}"

    return clipped_or_not(
        check,
        "FLH and OUE have the same noise; FLH is behind by what its 500 hash functions add.",
    )


@FINDINGS.about(
    "7.5.6", "On clicked addresses means are clearly better than medians, the more so for large ε.", "fig10"
)
def means_beat_medians_on_clicks(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[bool, str]:
        median = rows.curve("fig10", "epsilon", "CM (Median) FLH", f"mse{suffix}")
        found = ratios(median, rows.curve("fig10", "epsilon", "CM (Mean) FLH", f"mse{suffix}"))
        first, last = found[min(found)], found[max(found)]
        told = f"MSE of the median over that of the mean: {number(first)} at the least ε, {number(last)} at the largest"
        return typical(found) > 1.1 and last > first, told

    return clipped_or_not(
        check,
        "For noise the median is worse by π/2 = 1.57, as seen at small ε. At large ε what heavy items add to others"
        " outweighs the noise, and the median does without it.",
    )


@FINDINGS.about("7.5.6", "With k′ = 500 all sketches take about the same time.", "fig9")
def sketches_take_the_same_time(rows: Curves) -> Verdict:
    times = _typical(rows, "fig9", "domain", _PAPERS, "seconds")
    milliseconds = {label: 1000 * value for label, value in times.items()}
    return verdict(
        max(times.values()) < 2 * min(times.values()),
        f"milliseconds in all for 1,000,000 users: {listed(milliseconds)}",
        "Reports of a few bytes take about 0.1 µs each; those of OUE have a thousand bits.",
    )


@FINDINGS.about("9", "Of all combinations the mean or the median of CM performs best.", "fig7")
def mean_or_median_of_cm(rows: Curves) -> Verdict:
    found = _typical(rows, "fig7", "width", [*_six(), "CM (Peel)"], "k_mse")
    order = sorted(_six(), key=found.__getitem__)
    return verdict(
        order[0] in ("CM (Mean)", "CM (Median)"),
        f"k-MSE on clicked addresses, geometric mean over c: {listed(found)}",
        "Peeling, which takes out what it has found before it looks for more, is beyond both.",
    )


def _along(curve: Curve) -> str:
    return ", ".join(f"{mean} at {place(at)}" for at, mean in curve.items())
