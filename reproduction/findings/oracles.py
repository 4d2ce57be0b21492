"""Claims of sections 7.1 to 7.4, and those of section 9 about oracles; claims about time are in ``times``."""

from __future__ import annotations

from itertools import permutations

from plausibly.experiments import (
    Contrast,
    Curve,
    Curves,
    Evidence,
    Findings,
    Mean,
    MissingError,
    Verdict,
    all_of,
    any_of,
    verdict,
)

from ..figures.shapes import published_t
from .reading import (
    above,
    below,
    contrasts,
    first,
    growth,
    in_order,
    listed,
    lowest,
    overall,
    part,
    place,
    plain_and_clipped,
    span,
    unless_fully_decoded,
)

FINDINGS = Findings()
_SMALL = 1.5
"""Largest epsilon that counts as small."""
_FLH = "FLH (k′ = 10,000)"
_HM = "HM (best t)"
_FULL = "HM (all products)"
_PRODUCTS = (
    "Section 3.5 gives HM the variance of a hash function with 2^t values, which takes all 2^t − 1 products of the"
    " reported coefficients; the fast aggregation that it describes uses only the t coefficients themselves."
)


@FINDINGS.about("7", "More uniform inputs lead to lower accuracy.", "fig5", "extra1")
def uniform_is_harder(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[Evidence, str]:
        ratios = {
            label: contrasts(
                rows.curve("extra1", "epsilon", label, f"mse{suffix}"),
                rows.curve("fig5", "epsilon", label, f"mse{suffix}"),
            )
            for label in ("OUE", "OLH", _FLH, "HR", _HM)
        }
        means = {label: overall(found) for label, found in ratios.items()}
        last = {label: found[max(found)] for label, found in ratios.items()}
        at = max(next(iter(ratios.values())))
        return above(means), (
            f"MSE on uniform data relative to Zipf data, geometric mean over ε: {listed(means)}; at ε = {place(at)}:"
            f" {listed(last)}"
        )

    return plain_and_clipped(
        check,
        "The variance of an oracle depends on the true counts only through a small term. Clipping removes half of the"
        " error of every item whose count is small compared with the noise: Zipf data have many of them at every ε,"
        " uniform data only at small ε. Not clipped, only FLH refutes the claim, and the other four oracles are level"
        " to within 1 %. FLH is more accurate on uniform data, because its collision error grows with the sum of the"
        " squared counts, which is smaller there.",
        rule="the ratio is above 1 for every oracle",
    )


# --- 7.1 --------------------------------------------------------------------------------------------------------


@FINDINGS.about("7.1", "At d = 1024, OUE beats DE.", "fig1")
def optimised_unary_beats_direct(rows: Curves) -> Verdict:
    return _direct_beaten(rows, "OUE")


@FINDINGS.about("7.1", "At d = 1024, SUE beats DE.", "fig1")
def symmetric_unary_beats_direct(rows: Curves) -> Verdict:
    why = "At ε = 5 DE is better, as the variances predict: (e^ε + d − 2)/(e^ε − 1)² and √e^ε/(√e^ε − 1)²."
    return _direct_beaten(rows, "SUE", why)


def _direct_beaten(rows: Curves, label: str, why: str = "") -> Verdict:
    def check(suffix: str) -> tuple[Evidence, str]:
        found = _relative(rows, "fig1", "epsilon", "DE", label, suffix)
        told = f"MSE of DE relative to {label}: {span(found)}"
        higher = {at: ratio for at, ratio in found.items() if ratio.value > 1}
        if higher and len(higher) < len(found):
            at = min(higher, key=lambda at: higher[at].value)
            told += f"; above 1 at {len(higher)} of {len(found)} values of ε, least at {place(at)} with {higher[at]}"
        return above(found), told

    return plain_and_clipped(check, why, rule="the ratio is above 1 at every ε")


@FINDINGS.about("7.1", "At high privacy OUE and SUE are close.", "fig1")
def unary_alike_at_high_privacy(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[Evidence, str]:
        found = _relative(rows, "fig1", "epsilon", "SUE", "OUE", suffix)
        small = {at: ratio for at, ratio in found.items() if at <= _SMALL}
        return below(small, 1.25), f"MSE of SUE relative to OUE: {span(small)}"

    return plain_and_clipped(check, rule="the ratio is below 1.25 at every ε up to 1.5")


@FINDINGS.about("7.1", "At low privacy OUE has the lower error of the two.", "fig1")
def optimised_unary_wins(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[Evidence, str]:
        found = _relative(rows, "fig1", "epsilon", "SUE", "OUE", suffix)
        large = {at: ratio for at, ratio in found.items() if at >= 3}
        return above(large), f"MSE of SUE relative to OUE: {span(large)}"

    return plain_and_clipped(check, rule="the ratio is above 1 at every ε from 3")


@FINDINGS.about("7.1", "At ε = 3, DE is best in small domains; from about d = 2⁶, OUE and SUE are better.", "fig1")
def direct_wins_small_domains(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[Evidence, str]:
        found = {label: _relative(rows, "fig1", "domain", "DE", label, suffix) for label in ("OUE", "SUE")}
        small = {label: overall(one for d, one in own.items() if d <= 16) for label, own in found.items()}
        large = {label: {d: one for d, one in own.items() if d >= 256} for label, own in found.items()}
        crossed = {
            label: min((d for d, one in own.items() if one.value > 1), default=0) for label, own in found.items()
        }
        told = ", ".join(f"d = {place(at)} ({label})" for label, at in crossed.items())
        return (
            all_of([below(small), *(above(own) for own in large.values())]),
            f"MSE of DE relative to others, geometric mean for d ≤ 16: {listed(small)}; above 1 from {told}",
        )

    return plain_and_clipped(
        check,
        "According to the variances, the lines cross at d = 3e^ε + 2 = 62 for OUE and at 117 for SUE.",
        rule="the ratio is below 1 in the geometric mean for d ≤ 16, and above 1 at every d ≥ 256",
    )


@FINDINGS.about("7.1", "The variance of DE grows with d; that of unary encoding does not.", "fig1")
def direct_grows_with_domain(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[Evidence, str]:
        found = {
            label: growth(part(rows.curve("fig1", "domain", label, f"mse{suffix}"), lambda at: at >= 128))
            for label in ("DE", "SUE", "OUE")
        }
        flat = [found[label].within(-0.15, 0.15) for label in ("SUE", "OUE")]
        return all_of([found["DE"].above(0.7), *flat]), (
            f"exponent of d in the growth of the MSE, from d = 128: {listed(found)}"
        )

    return plain_and_clipped(check, rule="the exponent is above 0.7 for DE, and between −0.15 and 0.15 for the others")


# --- 7.2 --------------------------------------------------------------------------------------------------------


@FINDINGS.about("7.2", "With more hash functions, the error of FLH approaches that of OLH.", "fig2")
def flh_approaches_olh(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[Evidence, str]:
        flh, olh = _flh_and_olh(rows, suffix)
        few, many = flh[min(flh)].over(olh), flh[max(flh)].over(olh)
        return all_of([(few - many).above(1), many.below(2)]), (
            f"MSE of FLH relative to OLH: {few} at k′ = {place(min(flh))}, {many} at k′ = {place(max(flh))}"
        )

    return plain_and_clipped(check, rule="the last ratio is below the first, and below 2")


@FINDINGS.about("7.2", "At k′ = 10,000, FLH is indistinguishable from OLH.", "fig2", "fig5", "extra1")
def flh_as_accurate_as_olh(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[Evidence, str]:
        flh, olh = _flh_and_olh(rows, suffix)
        found = flh[min(flh, key=lambda hashes: abs(hashes - 10_000))].over(olh)
        fewer = overall(_relative(rows, "fig5", "epsilon", _FLH, "OLH", suffix))
        even = overall(_relative(rows, "extra1", "epsilon", _FLH, "OLH", suffix))
        return found.below(1.1), (
            f"MSE of FLH relative to OLH at the n of figure 2: {found}; with the 10 times fewer users of figure 5:"
            f" {fewer}, and on uniform data {even}"
        )

    return plain_and_clipped(
        check,
        "Users who share a hash function share its collisions, which adds a term F₂/k′, where F₂ is the sum of the"
        " squared counts: it grows with n², whereas the noise grows with n. On skewed data, k′ must grow with n.",
        rule="the ratio at the n of figure 2 is below 1.1",
    )


def _flh_and_olh(rows: Curves, suffix: str) -> tuple[Curve, Mean]:
    metric = f"mse{suffix}"
    return rows.curve("fig2", "hashes", "FLH", metric), rows.level("fig2", "levels", "OLH", metric)


@FINDINGS.about("7.2", "The error of BLH is about the same for all ε.", "fig3")
def blh_is_flat(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[Evidence, str]:
        blh, olh = (rows.curve("fig3", "epsilon", label, f"mse{suffix}") for label in ("BLH", "OLH"))
        fallen, other = (curve[min(curve)].over(curve[max(curve)]) for curve in (blh, olh))
        late = part(blh, lambda at: at >= 2)
        flat = late[min(late)].over(late[max(late)])
        return fallen.below(2), (
            f"from ε = {place(min(blh))} to {place(max(blh))} the MSE of BLH falls by a factor of {fallen} and that of"
            f" OLH by {other}; from ε = {place(min(late))}, that of BLH falls by {flat}"
        )

    return plain_and_clipped(
        check,
        "Its variance is n(e^ε + 1)²/(e^ε − 1)²: flat only where e^ε is large, because one bit cannot carry more.",
        rule="the factor for BLH is below 2",
    )


@FINDINGS.about("7.2", "For all ε and d, OLH has the lowest error, followed by FLH in decreasing order of k′.", "fig3")
def local_hashing_in_order(rows: Curves) -> Verdict:
    order = ["OLH", *(f"FLH (k′ = {hashes:,})" for hashes in (10_000, 5000, 1000, 500, 100))]

    def check(suffix: str) -> tuple[Evidence, str]:
        told, evidence = [], []
        for sweep, letter in (("epsilon", "ε"), ("domain", "d")):
            curves = {label: rows.curve("fig3", sweep, label, f"mse{suffix}") for label in order}
            evidence.append(in_order(curves))
            means = [overall(contrasts(curves[label], curves["OLH"])) for label in order[1:]]
            told.append(f"over {letter}: {', '.join(map(str, means))}")
        return all_of(evidence), (f"MSE relative to OLH, geometric mean, for {', '.join(order[1:])}; {'; '.join(told)}")

    return plain_and_clipped(check, rule="each line is above the one before, in the geometric mean over ε and over d")


# --- 7.3 --------------------------------------------------------------------------------------------------------


@FINDINGS.about("7.3", "HM is best with t = ⌈ε⌉ coefficients.", "fig4", "extra5")
def best_t_is_epsilon_rounded_up(rows: Curves) -> Verdict:
    def check(suffix: str, figure: str = "fig4", label: str = "HM") -> tuple[Evidence, str]:
        curves = _by_epsilon(rows, figure, label, f"mse{suffix}")
        wins = [
            mean.over(curve[_rounded_up(epsilon)]).above(1)
            for epsilon, curve in curves.items()
            for t, mean in curve.items()
            if t != _rounded_up(epsilon)
        ]
        best = ", ".join(f"{lowest(curve)} at ε = {place(epsilon)}" for epsilon, curve in curves.items())
        return all_of(wins), f"lowest MSE with t = {best}"

    published = plain_and_clipped(check, rule="at every ε, every other t has a higher MSE")
    evidence, told = check("", "extra5", _FULL)
    return unless_fully_decoded(
        published,
        told,
        f"{_PRODUCTS} All of them favour more coefficients: the best t is about ε/ln 2.",
        opposite=evidence.negated(),
        rule="at some ε, another t has a lower MSE",
    )


def _by_epsilon(rows: Curves, figure: str, label: str, metric: str) -> dict[float, Curve]:
    found: dict[float, Curve] = {}
    for epsilon in (0.1, 0.5, 1.0, 2.0, 3.0, 4.0):
        try:
            found[epsilon] = rows.curve(figure, "coefficients", label, metric, epsilon=epsilon)
        except MissingError:
            continue
    if not found:
        raise MissingError(label)
    return found


def _rounded_up(epsilon: float) -> int:
    return -int(-epsilon // 1)


@FINDINGS.about("7.3", "For small ε, HR and HM with the best t are close.", "fig4")
def hadamard_alike_at_small_epsilon(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[Evidence, str]:
        lines = {t: _relative(rows, "fig4", "epsilon", f"HM (t = {t})", "HR", suffix) for t in (1, 2)}
        found = {at: lines[published_t(at)][at] for at in lines[1] if at <= _SMALL}
        return all_of(ratio.within(0.8, 1.25) for ratio in found.values()), f"MSE of HM relative to HR: {span(found)}"

    return plain_and_clipped(check, rule="the ratio is between 0.8 and 1.25 at every ε up to 1.5")


@FINDINGS.about("7.3", "Below ε = 1, HR and HM are almost the same.", "extra2")
def hadamard_alike_below_one(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[Evidence, str]:
        found = _relative(rows, "extra2", "epsilon", "HM (t = 1)", "HR", suffix)
        mean = overall(found)
        return mean.within(0.95, 1.05), f"MSE of HM relative to HR: geometric mean {mean}, {span(found)}"

    return plain_and_clipped(
        check,
        "HM with t = 1 and HR with whole rows both report one sign of one coefficient: they are the same mechanism.",
        rule="the geometric mean over ε is between 0.95 and 1.05",
    )


@FINDINGS.about("7.3", "Above ε = 3, HR overtakes HM.", "fig4")
def hr_overtakes_hm(rows: Curves) -> Verdict:
    def relative(label: str, suffix: str) -> dict[float, Contrast]:
        found = _relative(rows, "fig4", "epsilon", label, "HR", suffix)
        return {at: ratio for at, ratio in found.items() if at > 3}

    def check(suffix: str) -> tuple[Evidence, str]:
        lines = [relative(f"HM (t = {t})", suffix) for t in range(1, 6)]
        best = {at: min((found[at] for found in lines), key=lambda ratio: ratio.value) for at in lines[0]}
        return all_of(above(found) for found in lines), f"MSE of HM with its best t relative to HR: {span(best)}"

    full = relative(_FULL, "")
    return unless_fully_decoded(
        plain_and_clipped(check, rule="the ratio is above 1 at every ε above 3 for every t"),
        f"MSE of HM relative to HR: {span(full)}",
        f"{_PRODUCTS} With all of them, HM comes close to the optimum.",
        opposite=below(full),
        rule="the ratio is below 1 at every ε above 3",
    )


@FINDINGS.about("7.3", "At ε = 3, HM is best with t = 3, yet worse than HR in large domains.", "fig4")
def hr_wins_large_domains(rows: Curves) -> Verdict:
    def large(label: str, suffix: str = "") -> Curve:
        return part(rows.curve("fig4", "domain", label, f"mse{suffix}"), lambda d: d >= 128)

    def check(suffix: str) -> tuple[Evidence, str]:
        lines = {f"t = {t}": large(f"HM (t = {t})", suffix) for t in range(1, 6)}
        found = {label: overall(contrasts(curve, large("HR", suffix))) for label, curve in lines.items()}
        return all_of([first(lines, "t = 3"), found["t = 3"].above(1)]), f"MSE relative to HR, d ≥ 128: {listed(found)}"

    full = overall(contrasts(large(_FULL), large("HR")))
    return unless_fully_decoded(
        plain_and_clipped(check, rule="t = 3 has the lowest MSE of all t, and a higher one than HR"),
        f"MSE of HM relative to HR: {full}",
        f"{_PRODUCTS} With all of them, HM has half the error of HR.",
        opposite=full.below(1),
        rule="the MSE of HM is below that of HR",
    )


@FINDINGS.about("7.3", "In very small domains the errors vary a lot, but HM appears preferable to HR.", "fig4")
def hm_wins_small_domains(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[Evidence, str]:
        found = {
            label: overall(one for d, one in _relative(rows, "fig4", "domain", label, "HR", suffix).items() if d <= 16)
            for label in ("HM (t = 2)", "HM (t = 3)", _FULL)
        }
        return any_of(found[label].below(1) for label in ("HM (t = 2)", "HM (t = 3)")), (
            f"MSE relative to HR, geometric mean for d ≤ 16: {listed(found)}"
        )

    return plain_and_clipped(
        check,
        "In such small domains HR has a block for every item, which is nearly direct encoding, the best method there.",
        rule="the ratio is below 1 for t = 2 or t = 3",
    )


# --- 7.4 --------------------------------------------------------------------------------------------------------


@FINDINGS.about("7.4", "At high privacy, all oracles are comparable.", "fig5")
def alike_at_high_privacy(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[Evidence, str]:
        curves = [rows.curve("fig5", "epsilon", label, f"mse{suffix}") for label in ("OUE", "OLH", _FLH, "HR", _HM)]
        at = min(curves[0])
        pairs = [one[at].over(other[at]) for one, other in permutations(curves, 2)]
        most = max(pairs, key=lambda ratio: ratio.value)
        return all_of(ratio.below(1.25) for ratio in pairs), (
            f"at ε = {place(at)} the largest MSE is {most} times the smallest"
        )

    return plain_and_clipped(check, rule="every oracle has less than 1.25 times the MSE of every other")


@FINDINGS.about("7.4", "As ε grows, local hashing becomes better than the Hadamard methods.", "fig5")
def hashing_beats_hadamard(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[Evidence, str]:
        found = {label: _relative(rows, "fig5", "epsilon", label, "OLH", suffix) for label in (_HM, "HR")}
        low, high = ({label: own[pick(own)] for label, own in found.items()} for pick in (min, max))
        wider = [(high[label] - low[label]).above(1) for label in found]
        at = max(found["HR"])
        return all_of([above(high, 1.25), *wider]), f"MSE relative to OLH at ε = {place(at)}: {listed(high)}"

    full = _relative(rows, "fig5", "epsilon", _FULL, "OLH", "")
    fully = full[max(full)]
    return unless_fully_decoded(
        plain_and_clipped(check, rule="at the largest ε the ratios are above 1.25, and above those at the smallest"),
        f"HM {fully}; HR, which has no other decoder, stays as it is",
        f"For HR the claim holds: it compares one half of its block with the other, so that its variance is about twice"
        f" the optimum. For HM it holds with the paper's decoder only. {_PRODUCTS} With all of them, HM is as good as"
        " local hashing.",
        opposite=fully.below(1.25),
        rule="at the largest ε the ratio for HM is below 1.25",
    )


@FINDINGS.about("7.4", "The gap between Hadamard methods and local hashing widens with d.", "fig5")
def split_widens_with_domain(rows: Curves) -> Verdict:
    def check(suffix: str) -> tuple[Evidence, str]:
        found = {label: _relative(rows, "fig5", "domain", label, "OLH", suffix) for label in (_HM, "HR")}
        small = {label: overall(one for d, one in own.items() if d <= 8) for label, own in found.items()}
        large = {label: overall(one for d, one in own.items() if d >= 128) for label, own in found.items()}
        wider = [(large[label] - small[label]).above(1) for label in found]
        return all_of([above(large, 1.25), *wider]), (
            f"MSE relative to OLH, geometric mean for d ≤ 8: {listed(small)}; for d ≥ 128: {listed(large)}"
        )

    return plain_and_clipped(
        check,
        "In small domains they are not equally accurate, contrary to the paper: HR is better than OLH there, and HM is"
        " worse.",
        rule="for d ≥ 128 the ratios are above 1.25, and above those for d ≤ 8",
    )


@FINDINGS.about("7.4", "Of these oracles, only OUE has reports that grow in proportion to d.", "fig5")
def unary_reports_grow(rows: Curves) -> Verdict:
    grown = {}
    for label in ("HR", _HM, "OUE", "OLH", _FLH):
        curve = rows.curve("fig5", "domain", label, "report_bytes")
        grown[label] = curve[max(curve)].value
    holds = all(grown["OUE"] > 8 * grown[label] for label in grown if label != "OUE")
    return verdict(
        holds,
        f"bytes per report at the largest d: {listed(grown)}",
        rule="every report of OUE has more than 8 times the bytes of every other; sizes have no error",
    )


# --- 9 ----------------------------------------------------------------------------------------------------------


@FINDINGS.about(
    "9", "In small domains, up to hundreds or thousands of items, local hashing is most effective.", "fig1", "fig5"
)
def hashing_is_most_effective(rows: Curves) -> Verdict:
    figures = {"DE": "fig1", "SUE": "fig1", "OUE": "fig5", "HR": "fig5", _HM: "fig5"}

    def check(suffix: str) -> tuple[Evidence, str]:
        olh = rows.curve("fig5", "domain", "OLH", f"mse{suffix}")

        def relative(figure: str, label: str, kept: range) -> Contrast:
            curve = rows.curve(figure, "domain", label, f"mse{suffix}")
            return overall(one for d, one in contrasts(curve, olh).items() if d in kept)

        few, many = range(128), range(128, max(olh) + 1)
        small, large = (
            {name: relative(figure, name, kept) for name, figure in figures.items()} for kept in (few, many)
        )
        ours = {label: relative("fig5", label, many) for label in (_FULL, "SS", "TLH", "AGR")}
        return all_of([above(small, 0.93), above(large, 0.93)]), (
            f"MSE relative to OLH, geometric mean for d ≤ 64: {listed(small)}; for d ≥ 128: {listed(large)}; not in the"
            f" paper, for d ≥ 128: {listed(ours)}, and for d ≤ 64 SS {relative('fig5', 'SS', few)}"
        )

    return plain_and_clipped(
        check,
        "From d = 128 to 2,048 it holds: no oracle of the paper is better. In smaller domains DE is, as section 7.1"
        " says, and so is HR for d ≤ 8. Of those that are not in the paper, SS is better or level at every d; TLH and"
        " AGR come within 5 % of the optimum in large domains and are decoded by fast transforms.",
        rule="neither for d ≤ 64 nor for d ≥ 128 does another oracle of the paper have less than 0.93 times the MSE of"
        " OLH",
    )


def _relative(rows: Curves, figure: str, sweep: str, label: str, to: str, suffix: str) -> dict[float, Contrast]:
    # The MSE of one line relative to another.
    return contrasts(*(rows.curve(figure, sweep, one, f"mse{suffix}") for one in (label, to)))
