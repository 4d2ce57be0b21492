"""The claims about fake reports: on rows of worlds in which they hold, and in which they do not."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

from invented import attacked_world
from plausibly.experiments import Mean, Outcome, Row, judged
from plausibly.experiments.report import report_markdown
from reproduction.findings import FINDINGS
from reproduction.findings.fakes import more_often

ABOUT = [finding for finding in FINDINGS if finding.figures == ("extra9",)]
SOURCE = "Cao, Jia and Gong (2021)"


def outcomes(rows: list[Row]) -> dict[str, Outcome]:
    return {finding.name: verdict.outcome for finding, verdict in judged(ABOUT, {"extra9": rows})}


def test_all_hold_where_they_should() -> None:
    found = outcomes(attacked_world())
    assert len(found) == 11
    assert set(found.values()) == {Outcome.REPRODUCED}


@pytest.mark.parametrize(
    ("factors", "names"),
    [
        ({"law": 1.5}, {"attacks-gain-what-formulas-say"}),
        ({"best": 0.1}, {"maximal-gain-is-the-largest"}),
        ({"privacy": -0.5}, {"maximal-gain-grows-as-privacy-does"}),
        ({"domain": -1}, {"direct-encoding-is-worse-in-large-domains"}),
        ({"above noise": 2}, {"maximal-gain-exceeds-the-noise"}),
        ({"functions": -0.2}, {"tried-hash-functions-limit-the-gain"}),
        ({"left": 0.15}, {"countermeasures-help-in-some-settings"}),
        ({"left where they help": 0.4}, {"countermeasures-help-in-some-settings"}),
        ({"noticed": 0}, {"reports-show-one-percent-of-fakes"}),
        ({"noticed": 0.8}, {"reports-show-one-percent-of-fakes"}),
        ({"variant noticed": 0.75}, {"reports-show-one-percent-of-fakes"}),
        ({"holders noticed": 1}, {"fakes-like-holders-are-not-noticed"}),
        ({"covered": 0.92}, {"intervals-despite-fakes-contain-the-truth"}),
        ({"covered by usual ones": 0.6}, {"intervals-despite-fakes-contain-the-truth"}),
        ({"lowered": -0.1}, {"dropping-reports-lowers-the-targets"}),
    ],
)
def test_each_is_refuted_where_it_does_not_hold(factors: dict[str, float], names: set[str]) -> None:
    found = outcomes(attacked_world(**factors))
    assert {name for name, outcome in found.items() if outcome is not Outcome.REPRODUCED} == names
    assert {found[name] for name in names} == {Outcome.NOT_REPRODUCED}


def test_claims_of_others_are_counted_apart_from_the_papers_and_from_ours() -> None:
    papers = [finding for finding in FINDINGS if finding.of_paper]
    page = report_markdown(list(judged([*papers, *ABOUT], {"extra9": attacked_world()})))
    before, _, rest = page.partition(f"## {SOURCE}")
    theirs, _, ours = rest.partition("## Not in the paper")
    assert f"{len(papers)} claims of sections 4 to 9: {len(papers)} × not measured." in before
    assert f"7 claims of {SOURCE}: 7 × reproduced." in theirs
    assert "4 claims of our own: 4 × reproduced." in ours
    assert "Extra 9" not in before


@pytest.mark.parametrize(("met", "trials"), [(0, 10), (10, 10), (97, 100), (1922, 2000), (1923, 2000), (1860, 2000)])
@pytest.mark.parametrize("bound", ["0.5", "0.9", "0.95"])
def test_shares_are_judged_by_the_exact_binomial_law(met: int, trials: int, bound: str) -> None:
    def tail(least: int, most: int) -> float:
        p = Fraction(bound)
        top, bottom = p.numerator, p.denominator - p.numerator
        ways = sum(comb(trials, k) * top**k * bottom ** (trials - k) for k in range(least, most + 1))
        return float(Fraction(ways, p.denominator**trials))

    found = more_often(Mean(met / trials, samples={"setting": (met / trials,) * (trials // 10)}), float(bound), each=10)
    assert found.support == pytest.approx(tail(met, trials), rel=1e-9, abs=1e-300)
    assert found.contradiction == pytest.approx(tail(0, met), rel=1e-9, abs=1e-300)


def test_the_numbers_that_rules_name_are_the_least_that_confirm() -> None:
    for least, trials, bound in ((1923, 2000, 0.95), (97, 100, 0.9)):
        enough, too_few = (
            more_often(Mean(met / trials, samples={"": (met / trials,) * trials}), bound) for met in (least, least - 1)
        )
        assert enough.confirmed
        assert not too_few.confirmed
