"""Claims about time, judged with compiled and with NumPy kernels, whose metrics are called interpreted."""

from __future__ import annotations

from collections.abc import Callable

from plausibly.experiments import (
    Contrast,
    Curves,
    Evidence,
    Findings,
    Mean,
    Outcome,
    Verdict,
    all_of,
    any_of,
    decided,
)

from .reading import contrasts, in_order, listed, overall, part

FINDINGS = Findings()
_FLH = "FLH (k′ = 10,000)"
_SKETCHES = (
    "CM (Mean) OUE",
    "CM (Mean) HM (t = 1)",
    "CM (Mean) HM (t = 3)",
    "CM (Median) FLH",
    "CM (Median) HR",
    "CM (Median) HM (t = 3)",
)


def on_both_kernels(check: Callable[[str], tuple[Evidence, str]], why: str = "", *, rule: str) -> Verdict:
    """The verdict of a check on the times with compiled and with NumPy kernels."""
    compiled, slower = (decided(*check(kind), rule="") for kind in ("compiled", "interpreted"))
    yes, no = Outcome.REPRODUCED, Outcome.NOT_REPRODUCED
    outcome = {
        (yes, yes): yes,
        (no, no): no,
        (no, yes): Outcome.NUMPY,
        (yes, no): Outcome.COMPILED,
    }.get((compiled.outcome, slower.outcome), Outcome.UNCLEAR)
    return Verdict(
        outcome,
        f"with compiled kernels ({compiled.outcome}): {compiled.numbers}; with NumPy kernels ({slower.outcome}):"
        f" {slower.numbers}",
        why,
        f"{rule} (compiled: {compiled.rule.strip(' ()')}; NumPy: {slower.rule.strip(' ()')})",
    )


def _total(rows: Curves, sweep: str, label: str, kind: str) -> Mean:
    return rows.level("times", sweep, label, f"{kind}_total")


def _server(rows: Curves, sweep: str, label: str, kind: str) -> Mean:
    # FLH evaluates its hash functions when it decodes, OLH when it adds up reports.
    return rows.level("times", sweep, label, f"{kind}_server") + rows.level("times", sweep, label, f"{kind}_estimate")


def _milliseconds(means: dict[str, Mean]) -> str:
    return f"{listed({label: 1000 * mean.value for label, mean in means.items()})} ms"


@FINDINGS.about("7.2", "At k′ = 10,000, FLH aggregates about six times faster than OLH.", "times", is_timing=True)
def flh_six_times_faster(rows: Curves) -> Verdict:
    def check(kind: str) -> tuple[Evidence, str]:
        gain = _server(rows, "many", "OLH, d = 500", kind).over(_server(rows, "many", f"{_FLH}, d = 500", kind))
        return gain.within(4, 8), f"{gain} times"

    return on_both_kernels(
        check,
        "FLH is faster with both, but the factor is that of a program. OLH evaluates a hash function for each user, FLH"
        " only k′ of them, which saves the NumPy kernels more than the paper's. Our compiled kernel hashes all items of"
        " a report at once, and removes most of the cost that FLH saves.",
        rule="for 1,000,000 users and d = 500, the server's time for OLH is 4 to 8 times that for FLH",
    )


@FINDINGS.about("7.2", "FLH with small k′ is faster than OLH and BLH.", "times", is_timing=True)
def few_hashes_are_fast(rows: Curves) -> Verdict:
    def check(kind: str) -> tuple[Evidence, str]:
        found = {label: _total(rows, "oracles", label, kind) for label in ("OLH", "BLH", "FLH (k′ = 100)")}
        quick = found["FLH (k′ = 100)"]
        return all_of(found[label].over(quick).above(1) for label in ("OLH", "BLH")), _milliseconds(found)

    return on_both_kernels(check, rule="the total time for d = 2,048 is lower with k′ = 100")


@FINDINGS.about(
    "7.4", "HR is fastest, then HM, then OUE; local hashing is much slower in large domains.", "times", is_timing=True
)
def hashing_is_slowest(rows: Curves) -> Verdict:
    def check(kind: str) -> tuple[Evidence, str]:
        found = {label: _total(rows, "oracles", label, kind) for label in ("HR", "HM (t = 3)", "OUE", "OLH", _FLH)}
        order = in_order({label: {0: found[label]} for label in ("HR", "HM (t = 3)", "OUE")})
        slower = [found[label].over(found["OUE"]).above(1) for label in ("OLH", _FLH)]
        return all_of([order, *slower]), _milliseconds(found)

    return on_both_kernels(
        check,
        "HR is fastest here, too. But our local hashing is vectorised over the items of a report with either kind of"
        " kernels, and unary encoding randomises d bits for every user: the order of the others says more about the"
        " program than about the protocol.",
        rule="the total times for 100,000 users and d = 2,048 are in this order, OLH and FLH last",
    )


@FINDINGS.about("7.4", "HM aggregates three times slower with t = 3 than with t = 1.", "times", is_timing=True)
def three_coefficients_take_three_times(rows: Curves) -> Verdict:
    def check(kind: str) -> tuple[Evidence, str]:
        slow, quick = (rows.level("times", "hadamard", f"HM (t = {t}), many users", f"{kind}_server") for t in (3, 1))
        found = slow.over(quick)
        return found.within(2, 4), f"{found} times"

    return on_both_kernels(
        check,
        "With t = 1 a report is one number to count; with t = 3 the server also unpacks three bits and three"
        " coefficients, which costs the NumPy kernels more than three times as much.",
        rule="the time to add up 1,000,000 reports is 2 to 4 times as long",
    )


@FINDINGS.about("7.4", "HM with t = 1 takes the same total time as HR.", "times", is_timing=True)
def one_coefficient_takes_as_long_as_hr(rows: Curves) -> Verdict:
    def check(kind: str) -> tuple[Evidence, str]:
        found = _total(rows, "hadamard", "HM (t = 1), many users", kind).over(
            _total(rows, "hadamard", "HR, many users", kind)
        )
        return found.within(2 / 3, 1.5), f"{found} times the time of HR"

    return on_both_kernels(check, rule="the total time for 1,000,000 users differs by a factor of less than 1.5")


@FINDINGS.about("7.5.6", "With k′ = 500, all sketches take about the same time.", "times", is_timing=True)
def sketches_take_the_same_time(rows: Curves) -> Verdict:
    def check(kind: str) -> tuple[Evidence, str]:
        found = {label: _total(rows, "sketches", label, kind) for label in _SKETCHES}
        slow, quick = (pick(found, key=lambda label: found[label].value) for pick in (max, min))
        return found[slow].over(found[quick]).below(2), _milliseconds(found)

    return on_both_kernels(
        check,
        "A report of OUE has a thousand bits to randomise, and the others a few bytes. Most of that time is spent on"
        " generating and copying random words, outside the kernels: it is about the same with both.",
        rule="for 1,000,000 users, the longest total time is less than twice the shortest",
    )


@FINDINGS.about("9", "FLH is several times faster than OLH without much loss.", "times", "fig3", is_timing=True)
def flh_is_fast_without_loss(rows: Curves) -> Verdict:
    hashes = (1000, 5000, 10_000)
    olh = rows.curve("fig3", "epsilon", "OLH")
    loss = {k: overall(contrasts(rows.curve("fig3", "epsilon", f"FLH (k′ = {k:,})"), olh)) for k in hashes}

    def check(kind: str) -> tuple[Evidence, str]:
        slow = _total(rows, "oracles", "OLH", kind)
        gain: dict[int, Contrast] = {k: slow.over(_total(rows, "oracles", f"FLH (k′ = {k:,})", kind)) for k in hashes}
        told = "; ".join(f"k′ = {k:,}: {gain[k]} times the speed, {loss[k]} times the error" for k in hashes)
        return any_of(all_of([gain[k].above(2), loss[k].below(1.5)]) for k in hashes), told

    return on_both_kernels(
        check,
        "FLH saves time in aggregation and spends more on evaluating its k′ hash functions, and our compiled server for"
        " OLH is no longer slow.",
        rule="for one k′, FLH is more than twice as fast (d = 2,048) and has less than 1.5 times the MSE",
    )


@FINDINGS.about(
    "9",
    "In larger domains, HR is almost as accurate as local hashing and orders of magnitude faster.",
    "times",
    "fig5",
    is_timing=True,
)
def hr_accurate_and_fast(rows: Curves) -> Verdict:
    large = part(rows.curve("fig5", "domain", "OLH"), lambda d: d >= 512)
    loss = overall(contrasts(rows.curve("fig5", "domain", "HR"), large))

    def check(kind: str) -> tuple[Evidence, str]:
        gain = _total(rows, "oracles", "OLH", kind).over(_total(rows, "oracles", "HR", kind))
        return all_of([gain.above(10), loss.below(1.5)]), f"{gain} times as fast"

    return on_both_kernels(
        check,
        f"The MSE of HR is {loss} times that of OLH for d ≥ 512. HR compares one half of its block with the other, so"
        " that its variance is twice the optimum.",
        rule="HR is at least ten times as fast as OLH at d = 2,048, and has less than 1.5 times the MSE",
    )
