"""Our own claims about values in order; the paper names ranges and quantiles as what comes next (section 9).

A line is read over all numbers of users and ε of a shape. Errors are squared errors of ranges: the ratio of two is the
square of the ratio in a map.
"""

from __future__ import annotations

from plausibly.experiments import Contrast, Curves, Findings, Mean, Verdict, all_of, average, decided

from .reading import above, below, listed, overall

FINDINGS = Findings()
_FIGURE = "extra8"
_SMOOTH = ("smooth", "bimodal", "even")
_SPIKED = ("income", "spiky", "ends")
_SHAPES = (*_SMOOTH, *_SPIKED)
_TREES = ("HH₂", "HH₄", "HH₂, best shares")
_UNBIASED = ("SLIDE", *_TREES, "HAAR")
_MONOTONE = tuple(f"{label}, monotone" for label in _UNBIASED)


def _errors(rows: Curves, data: str, label: str, metric: str = "range_mse", **fixed: object) -> Mean:
    return rows.level(_FIGURE, data, label, metric, **fixed)


def _numbers_of_users(rows: Curves) -> list[int]:
    # A quick run has fewer users.
    return sorted({int(n) for n in rows.settings(_FIGURE, "smooth", "n")})


@FINDINGS.about(
    "", "On crowds of 1,024 values without spikes, SW has the least error, up to a million users.", _FIGURE, ours=True
)
def square_wave_is_best_on_smooth_crowds(rows: Curves) -> Verdict:
    found = {
        rival: {
            f"{data} with {n:,} users": _errors(rows, data, "SW, EMS", n=n).over(_errors(rows, data, rival, n=n))
            for data in _SMOOTH
            for n in _numbers_of_users(rows)
        }
        for rival in _MONOTONE
    }
    return decided(
        all_of(below(ratios) for ratios in found.values()),
        f"squared error of SW relative to SLIDE, made monotone, geometric mean over ε: {listed(found[_MONOTONE[0]])}",
        "EMS smooths the distribution after each step, which is right for these crowds. SW gives no"
        " intervals. In small domains, smoothing spreads each value over a larger part of them (docs/ordered.md).",
        rule="the ratios to SLIDE, HH and HAAR, all made monotone, are below 1 for each shape without spikes and each"
        " number of users, geometric mean over ε",
    )


@FINDINGS.about("", "On crowds with spikes, more users do not remove the error of SW.", _FIGURE, ours=True)
def square_wave_stays_wrong_on_spikes(rows: Curves) -> Verdict:
    *_, many, most = _numbers_of_users(rows)

    def gain(data: str, label: str) -> Contrast:
        return _errors(rows, data, label, n=most).over(_errors(rows, data, label, n=many))

    wave = {data: gain(data, "SW, EMS") for data in _SPIKED}
    slide = {data: gain(data, "SLIDE, monotone") for data in _SPIKED}
    plain = {data: gain(data, "SW, EM") for data in _SPIKED}
    return decided(
        all_of([above(wave, 0.5), below(slide, 0.2)]),
        f"squared error with {most:,} users relative to {many:,}, geometric mean over ε: SW {listed(wave)}; SLIDE, made"
        f" monotone, {listed(slide)}; SW without smoothing (EM) {listed(plain)}",
        "An unbiased estimate has a tenth of the squared error. Smoothing spreads a heavy value over its neighbours."
        " Without it, the error of SW falls, but more slowly than that of SLIDE. Incomes are the nearest to the bound:"
        " less than two thirds of these users have a round value.",
        rule="SW keeps more than half of its squared error, and SLIDE less than a fifth, for each shape with spikes",
    )


@FINDINGS.about("", "SLIDE has less error than HH and HAAR on every crowd.", _FIGURE, ours=True)
def sliding_blocks_beat_trees(rows: Curves) -> Verdict:
    found = {
        rival: {data: _errors(rows, data, rival).over(_errors(rows, data, "SLIDE")) for data in _SHAPES}
        for rival in (*_TREES, "HAAR")
    }
    return decided(
        all_of(above(ratios) for ratios in found.values()),
        "squared error relative to SLIDE, geometric mean over users, ε and shapes: "
        + listed({rival: overall(ratios) for rival, ratios in found.items()}),
        "All four are unbiased, and their laws are exact: docs/ordered.md compares them without simulation. HH₂ and HH₄"
        " have equal numbers of users at each level, as published, but report through our oracles.",
        rule="the ratio is above 1 for each rival and each shape, geometric mean over users and ε",
    )


@FINDINGS.about("", "Made monotone, SLIDE still has less error than HH and HAAR on every crowd.", _FIGURE, ours=True)
def monotone_blocks_beat_monotone_trees(rows: Curves) -> Verdict:
    slide, *rivals = _MONOTONE
    found = {
        rival: {data: _errors(rows, data, rival).over(_errors(rows, data, slide)) for data in _SHAPES}
        for rival in rivals
    }
    nearest = {data: min((found[rival][data] for rival in rivals), key=lambda one: one.value) for data in _SHAPES}
    return decided(
        all_of(above(ratios) for ratios in found.values()),
        "squared error relative to SLIDE, made monotone, geometric mean over users, ε and shapes: "
        + listed({rival: overall(ratios) for rival, ratios in found.items()})
        + f"; that of the best rival on each shape: {listed(nearest)}",
        "The step removes more noise where there is more of it, and brings the schemes closer together. With half of"
        " the users at each end it removes nearly all of it, and what is left varies much from one collection to"
        " another.",
        rule="the ratio is above 1 for each rival and each shape, geometric mean over users and ε",
    )


@FINDINGS.about("", "Making the distribution function monotone reduces the error of ranges.", _FIGURE, ours=True)
def monotone_helps(rows: Curves) -> Verdict:
    found = {data: _errors(rows, data, "SLIDE, monotone").over(_errors(rows, data, "SLIDE")) for data in _SHAPES}
    return decided(
        below(found),
        f"squared error of SLIDE, made monotone, relative to SLIDE, geometric mean over users and ε: {listed(found)}",
        "Both read the same reports.",
        rule="the ratio is below 1 for each shape",
    )


@FINDINGS.about("", "The errors of unbiased schemes are those that their laws predict.", _FIGURE, ours=True)
def errors_of_ranges_follow_the_laws(rows: Curves) -> Verdict:
    found = {label: average([_to_law(rows, data, label) for data in _SHAPES]) for label in _UNBIASED}
    return decided(
        all_of(one.within(0.95, 1.05) for one in found.values()),
        f"squared error relative to the law, mean over all settings: {listed(found)}",
        rule="the mean ratio of each scheme is between 0.95 and 1.05",
    )


def _to_law(rows: Curves, data: str, label: str) -> Contrast:
    # An arithmetic mean: that of the squared error is what a law predicts.
    measured, law = (_errors(rows, data, label, metric).samples for metric in ("range_mse", "range_mse_theory"))
    ratios = {key: tuple(a / b for a, b in zip(own, law[key], strict=True)) for key, own in measured.items()}
    return average([Contrast({key: own}) for key, own in ratios.items()])
