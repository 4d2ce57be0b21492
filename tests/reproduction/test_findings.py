"""The findings of the paper: predicates over rows that can go either way, and how they read curves."""

from __future__ import annotations

from collections.abc import Iterable
from math import log
from typing import Any

import pytest

from invented import rows_of
from plausibly.experiments import Contrast, Curves, Evidence, Finding, Mean, Outcome, Row, Verdict, decided, judged
from reproduction.figures import FIGURES
from reproduction.figures.table2 import AS_PROGRAMMED, PAPER, as_run
from reproduction.findings import FINDINGS
from reproduction.findings.reading import (
    above,
    below,
    contrasts,
    first,
    growth,
    half_the_top_ten,
    in_order,
    listed,
    lowest,
    overall,
    plain_and_clipped,
    span,
    typical,
    unless_fully_decoded,
)
from reproduction.findings.times import on_both_kernels


def row(figure: str, sweep: str, label: str, value: float, metric: str = "mse", **place: Any) -> Row:
    return {"figure": figure, "sweep": sweep, "label": label, "metric": metric, "value": value, **place}


def line(figure: str, sweep: str, label: str, values: dict[Any, float], x: str, metric: str = "mse") -> Iterable[Row]:
    # Two repeats one per mille apart.
    for at, value in values.items():
        yield row(figure, sweep, label, value, metric, **{x: at})
        yield row(figure, sweep, label, value * 1.001, metric, **{x: at})


def test_names_are_unique_and_figures_exist() -> None:
    assert len({finding.name for finding in FINDINGS}) == len(FINDINGS) >= 30
    for finding in FINDINGS:
        assert finding.claim.endswith(".")
        assert finding.figures
        assert set(finding.figures) <= set(FIGURES), finding.name


def test_without_rows_nothing_is_claimed() -> None:
    verdicts = [verdict for _, verdict in judged(FINDINGS, {})]
    assert {verdict.outcome for verdict in verdicts} == {Outcome.OPEN}
    assert len(verdicts) == len(FINDINGS)


@pytest.mark.full
def test_a_quick_run_can_judge_every_finding_but_those_about_time() -> None:
    # Invented rows have no times of single parts. A finding that reads a place which a quick run leaves out is open.
    rows = {name: rows_of(figure.quick()) for name, figure in FIGURES.items()}
    verdicts = list(judged(FINDINGS, rows))
    assert [(finding.name, verdict.numbers) for finding, verdict in verdicts if verdict.outcome is Outcome.FAILED] == []
    unread = {finding.name for finding, verdict in verdicts if verdict.outcome is Outcome.OPEN}
    assert unread == {finding.name for finding in FINDINGS if "times" in finding.figures}


def test_a_place_that_was_not_measured_is_told_apart_from_a_mistake() -> None:
    def unmeasured(rows: Curves) -> Verdict:
        return Verdict(Outcome.REPRODUCED, str(rows.curve("fig4", "epsilon", "HM")[4]))

    def mistaken(rows: Curves) -> Verdict:
        return Verdict(Outcome.REPRODUCED, ["no such place"][1])

    findings = [Finding(each.__name__, "7", "True.", ("fig4",), each) for each in (unmeasured, mistaken, unmeasured)]
    rows = {"fig4": list(line("fig4", "epsilon", "HM", {1: 3.0}, "epsilon"))}
    first, second, third = (verdict for _, verdict in judged(findings, rows))
    assert first.outcome is third.outcome is Outcome.OPEN
    assert second == Verdict(Outcome.FAILED, "IndexError: list index out of range")


@pytest.mark.parametrize(
    ("oue", "outcome"),
    [(1.0, Outcome.REPRODUCED), (9.0, Outcome.NOT_REPRODUCED), (8.0, Outcome.UNCLEAR)],
)
def test_a_finding_goes_either_way(oue: float, outcome: Outcome) -> None:
    rows = [
        row
        for metric in ("mse", "mse_clipped")
        for label, at in (("DE", {1.0: 8.0, 5.0: 4.0}), ("OUE", {1.0: oue, 5.0: oue / 2}))
        for row in line("fig1", "epsilon", label, at, "epsilon", metric)
    ]
    found = {finding.name: verdict for finding, verdict in judged(FINDINGS, {"fig1": rows})}
    assert found["optimised-unary-beats-direct"].outcome is outcome
    assert "1 at every ε (2 comparisons, p" in found["optimised-unary-beats-direct"].rule
    assert found["symmetric-unary-beats-direct"].outcome is Outcome.OPEN  # no rows of SUE


def test_lowest_places() -> None:
    curve = {2: Mean(1.0005, 0.0005), 8: Mean(4.002, 0.002)}
    assert lowest(curve) == 2


def test_values_in_words() -> None:
    assert span({1: 2.0, 4: 1.0}) == "1 (at 4) to 2 (at 1)"
    assert listed({"b": 2.0, "a": Mean(1.0)}) == "a 1, b 2"
    assert typical({1: 2.0, 2: 8.0}) == pytest.approx(4.0)


def test_text_and_program_can_disagree() -> None:
    def outcome(text: float, program: float) -> Outcome:
        means = {"": text, "_clipped": program}

        def check(suffix: str) -> tuple[Evidence, str]:
            ratio = Contrast({"A": (log(means[suffix]), log(means[suffix]) + 0.01)}, is_ratio=True)
            return ratio.above(1), f"{ratio}"

        told = plain_and_clipped(check, rule="the ratio is above 1")
        assert "As the program computes it" in told.numbers
        return told.outcome

    assert outcome(2.0, 2.0) is Outcome.REPRODUCED
    assert outcome(2.0, 0.5) is Outcome.REPRODUCED
    assert outcome(0.5, 2.0) is Outcome.REVERSED
    assert outcome(0.5, 0.5) is Outcome.NOT_REPRODUCED
    assert outcome(0.99, 2.0) is Outcome.UNCLEAR


def test_order_growth_and_first_place() -> None:
    curves = Curves(
        [
            *line("f", "domain", "A", {2: 1.0, 8: 4.0}, "d"),
            *line("f", "domain", "B", {2: 2.0, 8: 8.0}, "d"),
            *line("f", "domain", "C", {2: 3.0, 8: 1.0}, "d"),
        ]
    )
    a, b, c = (curves.curve("f", "domain", label) for label in "ABC")
    assert overall(contrasts(b, a)).value == pytest.approx(2)
    assert in_order({"A": a, "B": b}).confirmed
    assert in_order({"B": b, "A": a}).refuted
    assert first({"A": a, "B": b}, "A").confirmed
    assert above(contrasts(b, a)).confirmed
    assert above(contrasts(c, a)).refuted
    assert below(contrasts(c, a)).refuted
    assert growth(a).value == pytest.approx(1.0)
    assert growth(a).within(0.9, 1.1).confirmed


def test_too_few_users_is_told_by_the_best_line() -> None:
    needs = half_the_top_ten("f", "s", "t")
    poor = [*line("f", "s", "A", {1: 0.2}, "x", "f1"), *line("f", "t", "C1", {1: 0.35}, "x", "f1")]
    assert "C1, finds 35 %" in needs(Curves(poor))
    assert needs(Curves([*poor, *line("f", "s", "B", {1: 0.6}, "x", "f1")])) == ""


@pytest.mark.parametrize(
    ("compiled", "interpreted", "outcome"),
    [
        (2.0, 2.0, Outcome.REPRODUCED),
        (0.5, 0.5, Outcome.NOT_REPRODUCED),
        (0.5, 2.0, Outcome.NUMPY),
        (2.0, 0.5, Outcome.COMPILED),
        (1.0, 2.0, Outcome.UNCLEAR),
    ],
)
def test_times_are_judged_with_both_kernels(compiled: float, interpreted: float, outcome: Outcome) -> None:
    gains = {"compiled": compiled, "interpreted": interpreted}

    def check(kind: str) -> tuple[Evidence, str]:
        ratio = Contrast({"A": (log(gains[kind]) - 0.01, log(gains[kind]) + 0.01)}, is_ratio=True)
        return ratio.above(1), f"{ratio} times"

    told = on_both_kernels(check, rule="it is faster")
    assert told.outcome is outcome
    assert "with compiled kernels" in told.numbers
    assert "with NumPy kernels" in told.numbers


def test_a_full_decoder_can_refute_a_claim_that_holds_for_the_papers() -> None:
    ratio = Contrast({"A": (0.5, 0.51)}, is_ratio=True)

    def outcome(published: Evidence, opposite: Evidence) -> Outcome:
        shown = decided(published, "1.66", rule="it is above 1")
        told = unless_fully_decoded(shown, "0.5", "So.", opposite=opposite, rule="it is below 1")
        assert "decoded from all products: it is below 1 (p" in told.rule
        assert "were false)" in told.rule or "were true)" in told.rule
        return told.outcome

    assert outcome(ratio.above(1), ratio.above(1)) is Outcome.DECODER
    assert outcome(ratio.above(1), ratio.below(1)) is Outcome.REPRODUCED
    assert outcome(ratio.below(1), ratio.above(1)) is Outcome.NOT_REPRODUCED


def printed_table(data: str, off: float) -> Iterable[Row]:
    """Rows of table 2 in which every printed row is off by so much, and the search finds half of the top 10."""
    for one in PAPER:
        for metric, value in (("f1_lenient", one.f1 + off), ("f1", 0.9)):
            yield row("table2", AS_PROGRAMMED.searches[one.search], as_run(one), value, metric, data=data)


@pytest.mark.parametrize(
    ("data", "off", "outcome"),
    [
        ("url-clicks/6", 0.0, Outcome.REPRODUCED),
        ("url-clicks/6", 0.2, Outcome.OTHER_DATA),
        ("aol/6", 0.0, Outcome.REPRODUCED),
        ("aol/6", 0.2, Outcome.NOT_REPRODUCED),
    ],
)
def test_only_the_papers_own_log_can_refute_its_scores(data: str, off: float, outcome: Outcome) -> None:
    (finding,) = (finding for finding in FINDINGS if finding.name == "table-2-row-by-row")
    found = finding.check(Curves(printed_table(data, off)))
    assert found.outcome is outcome
    assert ("a model of the paper's log" in found.why) == data.startswith("url-clicks")
