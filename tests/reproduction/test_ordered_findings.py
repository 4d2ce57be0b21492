"""Our own claims about values in order: on rows of worlds in which they hold, and in which they do not."""

from __future__ import annotations

import pytest

from invented import SPIKED, ordered_world
from plausibly.experiments import Outcome, Row, judged
from plausibly.experiments.report import report_markdown
from reproduction.findings import FINDINGS

OWN = [finding for finding in FINDINGS if finding.ours and finding.figures == ("extra8",)]
PAPERS = [finding for finding in FINDINGS if finding.of_paper]


def outcomes(rows: list[Row]) -> dict[str, Outcome]:
    return {finding.name: verdict.outcome for finding, verdict in judged(OWN, {"extra8": rows})}


def test_all_hold_where_they_should() -> None:
    found = outcomes(ordered_world())
    assert len(found) == 6
    assert set(found.values()) == {Outcome.REPRODUCED}


@pytest.mark.parametrize(
    ("factors", "names"),
    [
        ({"wave": 4.0}, {"square-wave-is-best-on-smooth-crowds"}),
        ({"trees": 0.9}, {"sliding-blocks-beat-trees", "monotone-blocks-beat-monotone-trees"}),
        ({"law": 1.1}, {"errors-of-ranges-follow-the-laws"}),
    ],
)
def test_each_is_refuted_where_it_does_not_hold(factors: dict[str, float], names: set[str]) -> None:
    found = outcomes(ordered_world(**factors))
    assert {name for name, outcome in found.items() if outcome is not Outcome.REPRODUCED} == names
    assert {found[name] for name in names} == {Outcome.NOT_REPRODUCED}


def test_a_square_wave_that_learns_is_noticed() -> None:
    rows = [
        {**row, "value": row["value"] * 1e4 / row["n"]} if row["label"] == "SW, EMS" and row["data"] in SPIKED else row
        for row in ordered_world()
    ]
    assert outcomes(rows)["square-wave-stays-wrong-on-spikes"] is Outcome.NOT_REPRODUCED


def test_our_claims_are_counted_apart_from_the_papers() -> None:
    page = report_markdown(list(judged([*PAPERS, *OWN], {"extra8": ordered_world()})))
    papers, _, ours = page.partition("## Not in the paper")
    assert f"{len(PAPERS)} claims of sections 4 to 9: {len(PAPERS)} × not measured." in papers
    assert "6 claims of our own: 6 × reproduced." in ours
    assert "Extra 8" not in papers
