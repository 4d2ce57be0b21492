"""Claims of section 7.5 about sketches, and about Bloom filters beside them, and those of section 9."""

from __future__ import annotations

from plausibly.experiments import Curve, Curves, Findings, Verdict, number, verdict

from .reading import as_published, clipped_or_not, listed, part, place, ratios, span, typical

FINDINGS = Findings()
_WAYS = ("Mean", "Median", "Min")
_NAMES = {"width": "c", "rows": "r"}
_LARGE = 512
"""Number of cells from which a sketch counts as large."""


def _typical(
    rows: Curves, figure: str, sweep: str, labels: list[str], metric: str, *, least: int = 0
) -> dict[str, float]:
    curves = {label: part(rows.curve(figure, sweep, label, metric), lambda at: at >= least) for label in labels}
    return {label: typical([mean.value for mean in curve.values()]) for label, curve in curves.items()}


def _six() -> list[str]:
    return [f"{name} ({way})" for name in ("CM", "CS") for way in _WAYS]


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
        return all(ratio > 1 for ratio in found.values()), f"MSE of CS relative to CM, mean over c: {listed(found)}"

    return clipped_or_not(
        check,
        "A cell of CS needs two items of its oracle, one for each sign, and has the noise of their difference, about"
        " twice the variance. Where collisions outweigh the noise, signs make up for it.",
    )


@FINDINGS.about("7.5.2", "More cells in a row lower the error of every estimator.", "fig7")
def more_cells_are_better(rows: Curves) -> Verdict:
    return clipped_or_not(lambda suffix: _fallen(rows, "width", _six(), f"mse{suffix}"))


@FINDINGS.about("7.5.2", "More rows also lower the error.", "fig7")
def more_rows_are_better(rows: Curves) -> Verdict:
    return clipped_or_not(
        lambda suffix: _fallen(rows, "rows", _six(), f"mse{suffix}"),
        "Every user reports on one row, so r rows have n/r users each, and the noise of the mean does not depend on r."
        " More rows lower only the error of collisions, and the minimum of more and noisier rows falls without bound.",
    )


def _fallen(rows: Curves, sweep: str, labels: list[str], metric: str) -> tuple[bool, str]:
    # Whether all curves end lower than they begin.
    curves = {label: rows.curve("fig7", sweep, label, metric) for label in labels}
    fallen = {label: curve[min(curve)] / curve[max(curve)] for label, curve in curves.items()}
    told = f"error at the smallest {_NAMES[sweep]} relative to the largest: {listed(fallen)}"
    return all(ratio > 1 for ratio in fallen.values()), told


@FINDINGS.about("7.5.2", "From c = 512, the k-MSE of the minimum rises, and the median becomes better.", "extra4")
def minimum_fails_in_wide_sketches(rows: Curves) -> Verdict:
    def check(suffix: str, sketches: str) -> tuple[bool, str]:
        least = rows.curve("extra4", "width", f"CM (Min){sketches}", f"k_mse{suffix}")
        median = rows.curve("extra4", "width", f"CM (Median){sketches}", f"k_mse{suffix}")
        late = part(least, lambda c: c >= _LARGE)
        rises = late[max(late)].value > late[min(late)].value
        overtaken = min((c for c in least if median[c].value < least[c].value), default=0)
        told = f"k-MSE of the minimum: {_along(late)}; the median is below it from c = {place(overtaken)}"
        return rises and overtaken >= 128, told

    return as_published(
        check,
        "The bias from collisions, n/c, is positive, and that of the minimum of noisy rows is negative. As published,"
        " they cancel in narrow sketches, and the negative bias remains in wide ones. Debiased, the minimum is far too"
        " low everywhere.",
    )


@FINDINGS.about("7.5.2", "More rows raise the k-MSE of the minimum.", "fig7")
def minimum_fails_with_many_rows(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[bool, str]:
        metric, labels = f"k_mse{suffix}", ["CM (Min)", "CS (Min)"]
        fell = [_fallen(rows, "rows", [label], metric)[0] for label in labels]
        return not any(fell), _fallen(rows, "rows", labels, metric)[1]

    return clipped_or_not(check)


@FINDINGS.about("7.5.3", "The minimum has the lowest MSE, followed by the mean and the median.", "fig7")
def minimum_has_the_lowest_error(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[bool, str]:
        found = _typical(rows, "fig7", "width", [f"CM ({way})" for way in _WAYS], f"mse{suffix}")
        order = sorted(found, key=found.__getitem__)
        return order[0] == "CM (Min)", f"MSE, geometric mean over c: {listed(found)}"

    return clipped_or_not(
        check,
        "The minimum of 32 noisy rows is far below zero for nearly every item, and nearly every item has a count near"
        " zero: setting negative estimates to zero before comparing hides the error.",
    )


@FINDINGS.about("7.5.3", "For large c, the order by k-MSE is reversed: minimum worst, then median, then mean.", "fig7")
def minimum_has_the_highest_top_error(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[bool, str]:
        found = _typical(rows, "fig7", "width", [f"CM ({way})" for way in _WAYS], f"k_mse{suffix}", least=_LARGE)
        order = sorted(found, key=found.__getitem__)
        return order == ["CM (Mean)", "CM (Median)", "CM (Min)"], f"k-MSE, geometric mean, c ≥ 512: {listed(found)}"

    return clipped_or_not(check)


# --- Bloom filters against sketches ------------------------------------------------------------------------------


@FINDINGS.about("7.5.4", "A small Bloom filter competes with CS (Min) and beats it for large d.", "fig8")
def bloom_competes(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[bool, str]:
        bloom = rows.curve("fig8", "domain", "Bloom filter", f"mse{suffix}")
        found = ratios(bloom, rows.curve("fig8", "domain", "CS (Min)", f"mse{suffix}"))
        return found[max(found)] < 1, f"MSE of the Bloom filter relative to CS (Min): {span(found)}"

    return clipped_or_not(check)


@FINDINGS.about("7.5.4", "In small sketches, the minimum is best in MSE and in k-MSE.", "extra6")
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
        "With 128 cells, collisions add n/128 to each cell. Without debiasing, the minimum makes up for some of it;"
        " with debiasing, the median is best, because it ignores the rows in which the item collides with a heavy one.",
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
        "On Zipf data every median is better than every mean, whatever the oracle: colliding with a heavy item in a few"
        " rows spoils the mean over the rows, but not the median. The best median is that over FLH.",
    )


@FINDINGS.about("7.5.5", "CM (Median) has a lower k-MSE than CM (Mean).", "fig9")
def medians_have_lower_top_error(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[bool, str]:
        found = _typical(rows, "fig9", "domain", ["CM (Mean) HM (t = 3)", "CM (Median) HM (t = 3)"], f"k_mse{suffix}")
        return found["CM (Median) HM (t = 3)"] < found["CM (Mean) HM (t = 3)"], f"same oracle, k-MSE: {listed(found)}"

    return clipped_or_not(
        check,
        "A collision with a heavy item in some rows affects the mean of the rows, but not their median. For noise"
        " alone, the median is worse by a factor of π/2.",
    )


@FINDINGS.about("7.5.5", "Apple's HCMS improves with three coefficients instead of one.", "fig9")
def three_coefficients_improve_hcms(rows: Curves) -> Verdict:
    found = ratios(rows.curve("fig9", "domain", _PAPERS[1]), rows.curve("fig9", "domain", _PAPERS[2]))
    return verdict(typical(found) > 1, f"MSE with t = 1 relative to t = 3: {span(found)}")


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
        f"MSE relative to CM (Mean) OUE: {span(found)}; reports of {small:.0f} and {large:.0f} bytes",
        "Most of the difference is due to the median, which ignores the rows with a heavy collision.",
    )


@FINDINGS.about("7.5.6", "On clicked addresses, CM (Mean) over FLH has the lowest MSE, then OUE, then HM.", "fig10")
def mean_flh_leads_on_clicks(rows: Curves) -> Verdict:
    order = ["CM (Mean) FLH", "CM (Mean) OUE", "CM (Mean) HM (best t)", "CM (Mean) HM (t = 1)"]

    def check(suffix: str) -> tuple[bool, str]:
        found = _typical(rows, "fig10", "epsilon", order, f"mse{suffix}")
        return sorted(found, key=found.__getitem__) == order, f"MSE, geometric mean over ε: {listed(found)}"

    return clipped_or_not(
        check,
        "FLH and OUE have the same noise; FLH is worse by the collision error of its 500 hash functions.",
    )


@FINDINGS.about(
    "7.5.6", "On clicked addresses, means are clearly better than medians, especially for large ε.", "fig10"
)
def means_beat_medians_on_clicks(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[bool, str]:
        median = rows.curve("fig10", "epsilon", "CM (Median) FLH", f"mse{suffix}")
        found = ratios(median, rows.curve("fig10", "epsilon", "CM (Mean) FLH", f"mse{suffix}"))
        first, last = found[min(found)], found[max(found)]
        told = f"MSE of the median relative to the mean: {number(first)} at the lowest ε, {number(last)} at the largest"
        return typical(found) > 1.1 and last > first, told

    return clipped_or_not(
        check,
        "For noise alone, the median is worse by a factor of π/2 = 1.57, as seen at small ε. At large ε, collisions"
        " with heavy items outweigh the noise, and the median ignores them.",
    )


@FINDINGS.about("9", "Of all combinations, the mean or the median of CM performs best.", "fig7")
def mean_or_median_of_cm(rows: Curves) -> Verdict:
    found = _typical(rows, "fig7", "width", [*_six(), "CM (Peel)"], "k_mse")
    order = sorted(_six(), key=found.__getitem__)
    return verdict(
        order[0] in ("CM (Mean)", "CM (Median)"),
        f"k-MSE on clicked addresses, geometric mean over c: {listed(found)}",
        "Peeling, which subtracts each item found before looking for more, is better than both.",
    )


def _along(curve: Curve) -> str:
    return ", ".join(f"{mean} at {place(at)}" for at, mean in curve.items())
