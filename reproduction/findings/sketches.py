"""Claims of sections 4 and 7.5 about sketches, and about Bloom filters beside them, and those of section 9."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from plausibly.experiments import (
    Contrast,
    Curve,
    Curves,
    Evidence,
    Findings,
    Outcome,
    Verdict,
    all_of,
    any_of,
    decided,
)

from .reading import (
    contrasts,
    first,
    half_the_top_ten,
    in_order,
    listed,
    lowest,
    overall,
    part,
    place,
    plain_and_clipped,
    span,
    text_and_program,
    typical,
)

FINDINGS = Findings()
_WAYS = ("Mean", "Median", "Min")
_NAMES = {"width": "c", "rows": "r"}
_LARGE = 512
"""Number of cells from which a sketch counts as large."""
_NARROW = 64
"""Number of cells up to which collisions outweigh the noise of figure 7."""
_TEXT, _PROGRAM = "", ", program"
"""Suffixes of the sweeps of what the text defines, and of what the program computes."""
_CLIPPED = "_clipped"
_SIX = "with a median that is not corrected, signs of CS that depend on the cell, and clipped at zero"
_MEDIANS = "with a median that is not corrected, and clipped at zero"
_SIGNS = "with signs that depend on the cell, and clipped at zero"
_OVER_SUE = f"{_SIX}, but over SUE and not the program's DE"
"""How sketches and errors of the program differ from the text's: all six, those of CM or CS, those of figure 8."""
_SIZES = half_the_top_ten("fig7", "width")
_ORACLES = half_the_top_ten("fig10", "epsilon")
"""Figures 7 and 10 may be measured on the user's own log, which may be small."""

Check = Callable[[str, str], tuple[Evidence, str]]
"""From the suffixes of the sweep and of the metric to the evidence and its numbers."""


def _by_text_and_program(check: Check, why: str = "", *, rule: str, differ: str = _SIX) -> Verdict:
    """The verdict of a check on the text's sketches and errors, and on the program's.

    The program's sketches ``differ`` from the text's, and it clips estimates; a third line of numbers is for clipping
    alone.
    """
    text, program, clipped = (
        decided(*check(sketches, metric), rule=rule)
        for sketches, metric in ((_TEXT, ""), (_PROGRAM, _CLIPPED), (_TEXT, _CLIPPED))
    )
    program = replace(program, rule=program.rule.removeprefix(rule).strip(" ()"))
    found = text_and_program(text, program, differ=differ)
    alone = f"The text's sketches, but clipped at zero ({clipped.outcome}): {clipped.numbers}"
    return replace(found, numbers=f"{found.numbers}. {alone}", why=why)


def _curves(rows: Curves, figure: str, sweep: str, labels: Sequence[str], metric: str) -> dict[str, Curve]:
    return {label: rows.curve(figure, sweep, label, metric) for label in labels}


def _levels(curves: Mapping[str, Curve]) -> dict[str, float]:
    # The geometric mean of each line over the sweep.
    return {label: typical([mean.value for mean in curve.values()]) for label, curve in curves.items()}


def _of(name: str) -> list[str]:
    return [f"{name} ({way})" for way in _WAYS]


def _six() -> list[str]:
    return [*_of("CM"), *_of("CS")]


# --- signs ------------------------------------------------------------------------------------------------------------


@FINDINGS.about("4", "HM handles the negative weights of CS without any modification.", "extra7")
def signs_need_no_modification(rows: Curves) -> Verdict:
    cm, coefficient, cell = (
        rows.curve("extra7", "epsilon", label)
        for label in ("CM (Mean)", "CS (Mean), sign on the coefficient", "CS (Mean), sign as a second cell")
    )
    alike, double = contrasts(coefficient, cm), contrasts(cell, coefficient)
    return decided(
        all_of([overall(alike).within(0.9, 1.1), overall(double).above(1.5)]),
        f"t = 1, MSE of CS relative to CM: {span(alike)} if the sign multiplies the coefficient; with a second cell for"
        f" the negative sign instead, as other oracles need it, {span(double)} times as much",
        "The client of HM sends coefficients of ±e_x as it sends those of e_x. The paper's decoder needs no change"
        " either; ours also uses products of coefficients, and those of an even number lose the sign.",
        rule="with signs on coefficients, CS is within 10 % of CM, and a second cell costs at least 1.5 times as much,"
        " geometric means over ε",
    )


# --- the size of a sketch ---------------------------------------------------------------------------------------------


@FINDINGS.about(
    "7.5.2",
    "CM has a lower error than CS.",
    "fig7",
    needs=_SIZES,
)
def cm_beats_cs(rows: Curves) -> Verdict:
    def check(sketches: str, metric: str) -> tuple[Evidence, str]:
        def ratio(way: str) -> dict[int, Contrast]:
            cs, cm = (
                rows.curve("fig7", "width" + sketches, f"{name} ({way})", "mse" + metric) for name in ("CS", "CM")
            )
            return contrasts(cs, cm)

        found = {way: overall(ratio(way)) for way in _WAYS}
        narrow = [one for c, one in ratio("Median").items() if c <= _NARROW]
        told = f"MSE of CS relative to CM: {listed(found)}"
        told += f"; median, c ≤ {_NARROW}: {overall(narrow)}" if narrow else ""
        return all_of(one.above(1) for one in found.values()), told

    return _by_text_and_program(
        check,
        "A cell of CS needs two items of its oracle, one for each sign, and has the noise of their difference, about"
        " twice the variance. Where collisions outweigh the noise, signs make up for it; the more so as n/c corrects"
        " the mean of the collisions, and the median of CM is then too low. In the program all signs of a cell are"
        " equal, and nothing cancels.",
        rule="for mean, median and minimum, the MSE of CS relative to CM is above 1, geometric mean over c",
    )


@FINDINGS.about(
    "7.5.2",
    "More cells in a row lower the error of every estimator.",
    "fig7",
    needs=_SIZES,
)
def more_cells_are_better(rows: Curves) -> Verdict:
    return _by_text_and_program(
        lambda sketches, metric: _fallen(rows, "width", sketches, _six(), "mse" + metric),
        rule="the MSE of all six estimators is higher at c = 32 than at c = 2048",
    )


@FINDINGS.about(
    "7.5.2",
    "More rows also lower the error.",
    "fig7",
    needs=_SIZES,
)
def more_rows_are_better(rows: Curves) -> Verdict:
    return _by_text_and_program(
        lambda sketches, metric: _fallen(rows, "rows", sketches, _six(), "mse" + metric),
        "Every user reports on one row, so r rows have n/r users each, and the noise of the mean does not depend on r."
        " More rows lower only the error of collisions, and the minimum of more and noisier rows falls without bound.",
        rule="the MSE of all six estimators is higher at r = 2 than at r = 512",
    )


def _fallen(rows: Curves, sweep: str, sketches: str, labels: Sequence[str], metric: str) -> tuple[Evidence, str]:
    # Evidence that all curves end lower than they begin.
    fallen = _ends(rows, sweep + sketches, labels, metric)
    told = f"error at the smallest {_NAMES[sweep]} relative to the largest: {listed(fallen)}"
    return all_of(one.above(1) for one in fallen.values()), told


def _ends(rows: Curves, sweep: str, labels: Sequence[str], metric: str) -> dict[str, Contrast]:
    # Left end divided by right end.
    curves = _curves(rows, "fig7", sweep, labels, metric)
    return {label: curve[min(curve)].over(curve[max(curve)]) for label, curve in curves.items()}


@FINDINGS.about("7.5.2", "From c = 512, the k-MSE of CM (Min) rises.", "fig7", needs=_SIZES)
def minimum_fails_in_wide_sketches(rows: Curves) -> Verdict:
    return _rising(
        rows,
        "CM (Min)",
        "The bias from collisions, n/c, is positive, and that of the minimum of noisy rows is negative. They nearly"
        " cancel at c = 256, and the negative bias remains in wide sketches.",
    )


@FINDINGS.about("7.5.2", "From c = 512, the k-MSE of CS (Min) rises.", "fig7", needs=_SIZES)
def minimum_fails_in_wide_count_sketches(rows: Curves) -> Verdict:
    return _rising(
        rows,
        "CS (Min)",
        "With signs of its own, a CS has collisions in both directions: the minimum is far too low in narrow sketches,"
        " and less so in wide ones. The program's CS has the positive bias of CM.",
    )


def _rising(rows: Curves, label: str, why: str) -> Verdict:
    def check(sketches: str, metric: str) -> tuple[Evidence, str]:
        least = rows.curve("fig7", "width" + sketches, label, "k_mse" + metric)
        late = part(least, lambda c: c >= _LARGE)
        rise = late[max(late)].over(late[min(late)])
        told = ", ".join(f"{mean} at {place(c)}" for c, mean in late.items())
        at = lowest(least)
        return rise.above(1), f"k-MSE, lowest at c = {place(at)} with {least[at]}: {told}, a ratio of {rise}"

    rule = "the k-MSE is higher at c = 2048 than at 512"
    if label.startswith("CM"):  # the same minimum in both readings
        return plain_and_clipped(lambda metric: check(_TEXT, metric), why, rule=rule)
    return _by_text_and_program(check, why, rule=rule, differ=_SIGNS)


@FINDINGS.about(
    "7.5.2",
    "The minimum has a lower k-MSE than the median in narrow sketches; from c = 512, the median is better.",
    "fig7",
    needs=_SIZES,
)
def median_overtakes_the_minimum(rows: Curves) -> Verdict:
    def check(sketches: str, metric: str) -> tuple[Evidence, str]:
        least, median = (
            rows.curve("fig7", "width" + sketches, f"CM ({way})", "k_mse" + metric) for way in ("Min", "Median")
        )
        apart = contrasts(least, median)
        told = ", ".join(
            f"{ratio} at c = {place(c)}" for c, ratio in apart.items() if c in (min(apart), _LARGE, max(apart))
        )
        return all_of([apart[min(apart)].below(1), apart[max(apart)].above(1)]), (
            f"k-MSE of CM (Min) relative to CM (Median): {told}"
        )

    rule = "the ratio is below 1 at c = 32, and above 1 at c = 2048"
    found = _by_text_and_program(
        check,
        "The lines cross only if the median is not corrected: it is then n/c too high, and the minimum less so. The"
        " median of the text is better at every c, clipped or not.",
        rule=rule,
        differ=_MEDIANS,
    )
    alone = decided(*check(_PROGRAM, ""), rule=rule)
    told = f"The program's sketches, not clipped ({alone.outcome}): {alone.numbers}"
    return replace(found, numbers=f"{found.numbers}. {told}")


@FINDINGS.about(
    "7.5.2",
    "More rows raise the k-MSE of the minimum.",
    "fig7",
    needs=_SIZES,
)
def minimum_fails_with_many_rows(rows: Curves) -> Verdict:
    def check(sketches: str, metric: str) -> tuple[Evidence, str]:
        found = _ends(rows, "rows" + sketches, ["CM (Min)", "CS (Min)"], "k_mse" + metric)
        told = f"k-MSE at the smallest r relative to the largest: {listed(found)}"
        return all_of(one.below(1) for one in found.values()), told

    return _by_text_and_program(check, rule="the k-MSE of the minimum is lower at r = 2 than at r = 512, for CM and CS")


@FINDINGS.about(
    "7.5.3",
    "The minimum has the lowest MSE, followed by the mean and the median.",
    "fig7",
    needs=_SIZES,
)
def minimum_has_the_lowest_error(rows: Curves) -> Verdict:
    def check(sketches: str, metric: str) -> tuple[Evidence, str]:
        order = ["CM (Min)", "CM (Mean)", "CM (Median)"]
        curves = _curves(rows, "fig7", "width" + sketches, order, "mse" + metric)
        large = {label: part(curve, lambda c: c >= _LARGE) for label, curve in curves.items()}
        least, mean = curves["CM (Min)"], curves["CM (Mean)"]
        narrow = least[min(least)].over(mean[min(mean)])
        told = f"MSE, geometric mean over c ≥ {_LARGE}: {listed(_levels(large))}"
        return in_order(large), f"{told}; at c = {min(least)}, minimum relative to mean: {narrow}"

    return _by_text_and_program(
        check,
        "In wide sketches, the minimum of 32 noisy rows is far below zero for nearly every item, and nearly every item"
        " has a count near zero: setting negative estimates to zero before comparing hides the error.",
        rule=f"MSE in this order, geometric means over c ≥ {_LARGE}",
        differ=_MEDIANS,
    )


@FINDINGS.about(
    "7.5.3",
    "For large c, the order by k-MSE is reversed: minimum worst, then median, then mean.",
    "fig7",
    needs=_SIZES,
)
def minimum_has_the_highest_top_error(rows: Curves) -> Verdict:
    def check(sketches: str, metric: str) -> tuple[Evidence, str]:
        curves = _curves(rows, "fig7", "width" + sketches, _of("CM"), "k_mse" + metric)
        large = {label: part(curve, lambda c: c >= _LARGE) for label, curve in curves.items()}
        return in_order(large), f"k-MSE, geometric mean over c ≥ {_LARGE}: {listed(_levels(large))}"

    return _by_text_and_program(check, rule=f"k-MSE in this order, geometric means over c ≥ {_LARGE}", differ=_MEDIANS)


# --- Bloom filters against sketches -----------------------------------------------------------------------------------


@FINDINGS.about("7.5.4", "A small Bloom filter competes with CS (Min) and beats it for large d.", "fig8")
def bloom_competes(rows: Curves) -> Verdict:
    def check(sketches: str, metric: str) -> tuple[Evidence, str]:
        bloom, least = (
            rows.curve("fig8", "domain" + sketches, label, "mse" + metric) for label in ("Bloom filter", "CS (Min)")
        )
        found = contrasts(bloom, least)
        return found[max(found)].below(1), f"MSE of the Bloom filter relative to CS (Min): {span(found)}"

    return _by_text_and_program(
        check,
        "The program's client for Bloom filters never clears a bit, so that all counts come out 1.9 times too high:"
        " only with this client does CS (Min) win for small d.",
        rule="its MSE relative to CS (Min) is below 1 at the largest d",
        differ=_OVER_SUE,
    )


@FINDINGS.about("7.5.4", "In small sketches, the minimum is the best estimator of CM in MSE and in k-MSE.", "fig8")
def minimum_wins_small_sketches(rows: Curves) -> Verdict:
    return _least(
        rows,
        "CM",
        "With 128 cells, collisions add n/128 to each cell on average, and noise pulls the minimum down by nearly as"
        " much. The text corrects the mean and the median, and takes the minimum as it is. Corrected by n/c as well, it"
        " would be too low and the worst of the three. If the text's median is clipped, it has the lowest MSE, because"
        " it is below zero for nearly every item.",
    )


@FINDINGS.about("7.5.4", "In small sketches, the minimum is the best estimator of CS in MSE and in k-MSE.", "fig8")
def minimum_wins_small_count_sketches(rows: Curves) -> Verdict:
    return _least(
        rows,
        "CS",
        "With signs of its own, a CS has collisions in both directions, and the minimum takes those that lower it: it"
        " is far too low. In the program all signs of a cell are equal, and its CS has the positive bias of CM.",
    )


def _least(rows: Curves, name: str, why: str) -> Verdict:
    def check(sketches: str, metric: str) -> tuple[Evidence, str]:
        parts, told = [], []
        for error, shown in (("mse", "MSE"), ("k_mse", "k-MSE")):
            curves = _curves(rows, "fig8", "domain" + sketches, _of(name), error + metric)
            parts.append(first(curves, f"{name} (Min)"))
            told.append(f"{shown}: {listed(_levels(curves))}")
        return all_of(parts), "geometric mean over d, " + "; ".join(told)

    return _by_text_and_program(
        check,
        why,
        rule=f"{name} (Min) is below {name} (Mean) and {name} (Median) in MSE and in k-MSE, geometric means over d",
        differ=_OVER_SUE,
    )


@FINDINGS.about("7.5.4", "With larger sketches, CM and CS achieve the same MSE as the Bloom filter.", "fig8")
def large_sketches_equal_bloom(rows: Curves) -> Verdict:
    def check(sketches: str, metric: str) -> tuple[Evidence, str]:
        bloom = rows.level("fig8", "Bloom filter" + sketches, "Bloom filter", "mse" + metric)
        curves = _curves(rows, "fig8", "width" + sketches, _six(), "mse" + metric)
        smallest, *larger = curves["CM (Mean)"]
        found = {c: {label: curve[c].over(bloom) for label, curve in curves.items()} for c in larger}
        told = "; ".join(f"at c = {place(c)}: {listed(own)}" for c, own in found.items())
        return any_of(one.below(1.1) for own in found.values() for one in own.values()), (
            f"MSE relative to the Bloom filter of {smallest} bits, {told}"
        )

    return _by_text_and_program(
        check,
        "The regression of a Bloom filter sets nearly every item to zero, and nearly every item has a count near zero;"
        " a sketch without post-processing has noise on every item. Clipped, a minimum is zero for nearly every item,"
        " too, and the counts from the program's client for Bloom filters, which never clears a bit, are 1.9 times too"
        " high. Means and medians stay above it in the program as well.",
        rule="of the six, one has at most 1.1 times the MSE of the Bloom filter at c = 512 or 2048",
        differ=_OVER_SUE,
    )


# --- oracles of sketches ----------------------------------------------------------------------------------------------

_PAPERS = [
    "CM (Mean) OUE",
    "CM (Mean) HM (t = 1)",
    "CM (Mean) HM (t = 3)",
    "CM (Median) FLH",
    "CM (Median) HR",
    "CM (Median) HM (t = 3)",
]
_LEADERS = ["CM (Mean) OUE", "CM (Median) FLH"]
_SKEW = (
    "On Zipf data a few heavy items add most of n/c to a few cells. They spoil the mean over the rows of the items that"
    " share these cells. The median ignores them, but is then too low if n/c is subtracted, and too high if nothing is."
)


@FINDINGS.about("7.5.5", "CM (Mean) over OUE and CM (Median) over FLH have the lowest MSE.", "fig9")
def cms_and_flh_lead(rows: Curves) -> Verdict:
    def check(sketches: str, metric: str) -> tuple[Evidence, str]:
        curves = _curves(rows, "fig9", "domain" + sketches, _PAPERS, "mse" + metric)
        others = [label for label in _PAPERS if label not in _LEADERS]
        parts = [overall(contrasts(curves[label], curves[lead])).above(1) for lead in _LEADERS for label in others]
        return all_of(parts), f"MSE, geometric mean over d: {listed(_levels(curves))}"

    return _by_text_and_program(
        check, _SKEW, rule="both have a lower MSE than each of the other four, geometric means over d", differ=_MEDIANS
    )


@FINDINGS.about("7.5.5", "CM (Median) has a lower k-MSE than CM (Mean).", "fig9")
def medians_have_lower_top_error(rows: Curves) -> Verdict:
    def check(sketches: str, metric: str) -> tuple[Evidence, str]:
        mean, median = (
            rows.curve("fig9", "domain" + sketches, f"CM ({way}) HM (t = 3)", "k_mse" + metric)
            for way in ("Mean", "Median")
        )
        found = overall(contrasts(mean, median))
        return found.above(1), f"same oracle (HM, t = 3), k-MSE of the mean relative to the median: {found}"

    return _by_text_and_program(check, _SKEW, rule="the ratio is above 1, geometric mean over d", differ=_MEDIANS)


@FINDINGS.about("7.5.5", "Apple's HCMS improves with three coefficients instead of one.", "fig9")
def three_coefficients_improve_hcms(rows: Curves) -> Verdict:
    def check(metric: str) -> tuple[Evidence, str]:
        one, three = (rows.curve("fig9", "domain", label, "mse" + metric) for label in _PAPERS[1:3])
        found = contrasts(one, three)
        return overall(found).above(1), f"MSE with t = 1 relative to t = 3: {span(found)}"

    return plain_and_clipped(check, rule="the ratio is above 1, geometric mean over d")


@FINDINGS.about("7.5.5", "CM (Median) over FLH is as accurate as CM (Mean) over OUE with far smaller reports.", "fig9")
def flh_sketch_is_as_good_as_cms(rows: Curves) -> Verdict:
    small, large = (
        next(iter(rows.curve("fig9", "domain", label, "report_bytes").values())).value for label in _LEADERS[::-1]
    )

    def check(sketches: str, metric: str) -> tuple[Evidence, str]:
        oue, flh = (rows.curve("fig9", "domain" + sketches, label, "mse" + metric) for label in _LEADERS)
        found = overall(contrasts(flh, oue))
        told = f"MSE relative to CM (Mean) OUE: {found}"
        if not sketches:
            ours = rows.curve("fig9", "domain", "CM (Median) FLH, ours", "mse" + metric)
            told += f", {overall(contrasts(ours, oue))} with our median"
        return found.below(1.1), f"{told}; reports of {small:.0f} and {large:.0f} bytes"

    rule = "the MSE is at most 1.1 times as high, geometric mean over d"
    found = _by_text_and_program(check, _SKEW, rule=rule, differ=_MEDIANS)
    return found if 8 * small < large else replace(found, outcome=Outcome.NOT_REPRODUCED)


@FINDINGS.about(
    "7.5.6",
    "On clicked addresses, CM (Mean) over FLH has the lowest MSE, then OUE, then HM.",
    "fig10",
    needs=_ORACLES,
)
def mean_flh_leads_on_clicks(rows: Curves) -> Verdict:
    order = ["CM (Mean) FLH", "CM (Mean) OUE", "CM (Mean) HM (best t)", "CM (Mean) HM (t = 1)"]

    def check(metric: str) -> tuple[Evidence, str]:
        curves = _curves(rows, "fig10", "epsilon", order, "mse" + metric)
        level = overall(contrasts(curves[order[0]], curves[order[1]]))
        return in_order(curves), (
            f"MSE, geometric mean over ε: {listed(_levels(curves))}; FLH relative to OUE: {level}"
        )

    return plain_and_clipped(
        check,
        "FLH and OUE have the same noise and are nearly level; FLH is worse by the collision error of its 500 hash"
        " functions.",
        rule="MSE in this order, geometric means over ε",
    )


@FINDINGS.about(
    "7.5.6",
    "On clicked addresses, means are clearly better than medians, especially for large ε.",
    "fig10",
    needs=_ORACLES,
)
def means_beat_medians_on_clicks(rows: Curves) -> Verdict:
    def check(sketches: str, metric: str) -> tuple[Evidence, str]:
        mean, median = (
            rows.curve("fig10", "epsilon" + sketches, f"CM ({way}) FLH", "mse" + metric) for way in ("Mean", "Median")
        )
        found = contrasts(median, mean)
        low, high = found[min(found)], found[max(found)]
        told = (
            f"MSE of the median relative to the mean: {low} at ε = {place(min(found))}, {high} at {place(max(found))}"
        )
        if not sketches:
            ours = contrasts(rows.curve("fig10", "epsilon", "CM (Median) FLH, ours", "mse" + metric), mean)
            told += f"; with our median {ours[min(ours)]} and {ours[max(ours)]}"
        return all_of([overall(found).above(1.1), (high - low).above(1)]), told

    return _by_text_and_program(
        check,
        "For noise alone, the median is worse by a factor of π/2 = 1.57. At large ε, collisions outweigh the noise. If"
        " they are not debiased, every estimate of the median is n/c too high, and clipping halves the error of the"
        " mean only.",
        rule="the ratio is above 1.1, geometric mean over ε, and higher at the largest ε than at the lowest",
        differ=_MEDIANS,
    )


@FINDINGS.about(
    "9",
    "Of all combinations, the mean or the median of CM performs best.",
    "fig7",
    needs=_SIZES,
)
def mean_or_median_of_cm(rows: Curves) -> Verdict:
    def check(sketches: str, metric: str) -> tuple[Evidence, str]:
        curves = _curves(rows, "fig7", "width" + sketches, _six(), "k_mse" + metric)
        levels = _levels(curves)
        best, other = sorted(("CM (Mean)", "CM (Median)"), key=levels.__getitem__)
        told = f"k-MSE on clicked addresses, geometric mean over c: {listed(levels)}"
        if not sketches:
            ours = _curves(rows, "fig7", "width", ["CM (Median), ours", "CM (Peel), ours"], "k_mse" + metric)
            told += f"; {listed(_levels(ours))}"
        return first({label: curve for label, curve in curves.items() if label != other}, best), told

    return _by_text_and_program(
        check,
        "Our median subtracts the median of all cells; peeling subtracts each item found before looking for more.",
        rule="the better of the two has a lower k-MSE than the other four, geometric means over c",
    )
