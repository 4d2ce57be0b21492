"""Our own claims about values in order: on rows of worlds in which they hold, and in which they do not."""

from __future__ import annotations

import pytest

from plausibly.experiments import Outcome, Row, judged
from plausibly.experiments.report import report_markdown
from reproduction.findings import FINDINGS

OWN = [finding for finding in FINDINGS if finding.ours]
SMOOTH, SPIKED = ("smooth", "bimodal", "even"), ("income", "spiky", "ends")
TREES = ("HH₂", "HH₄", "HH₂, best shares", "HAAR")


def world(**factors: float) -> list[Row]:
    """Rows of extra 8: squared errors of 1/n times a factor, two repeats one per mille apart."""
    rows = []
    for data in (*SMOOTH, *SPIKED):
        for n in (10**4, 10**5, 10**6):
            errors = {"SLIDE": 1 / n, **dict.fromkeys(TREES, factors.get("trees", 2) / n)}
            errors |= {f"{label}, monotone": 0.5 * error for label, error in errors.items()}
            wave = 0.25 / n if data in SMOOTH else factors.get("bias", 1e-3)
            errors |= {"SW, EMS": wave * factors.get("wave", 1), "SW, EM": wave}
            for label, error in errors.items():
                for repeat in range(2):
                    own = {"figure": "extra8", "sweep": data, "label": label, "n": n, "epsilon": 1.0, "data": data}
                    own |= {"setting": f"{data} {label} {n}", "repeat": repeat}
                    rows.append({**own, "metric": "range_mse", "value": error * (1 + repeat / 1000)})
                    rows.append({**own, "metric": "range_mse_theory", "value": error * factors.get("law", 1)})
    return rows


def outcomes(rows: list[Row]) -> dict[str, Outcome]:
    return {finding.name: verdict.outcome for finding, verdict in judged(OWN, {"extra8": rows})}


def test_all_hold_where_they_should() -> None:
    found = outcomes(world())
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
    found = outcomes(world(**factors))
    assert {name for name, outcome in found.items() if outcome is not Outcome.REPRODUCED} == names
    assert {found[name] for name in names} == {Outcome.NOT_REPRODUCED}


def test_a_square_wave_that_learns_is_noticed() -> None:
    rows = [
        {**row, "value": row["value"] * 1e4 / row["n"]} if row["label"] == "SW, EMS" and row["data"] in SPIKED else row
        for row in world()
    ]
    assert outcomes(rows)["square-wave-stays-wrong-on-spikes"] is Outcome.NOT_REPRODUCED


def test_our_claims_are_counted_apart_from_the_papers() -> None:
    page = report_markdown(list(judged(FINDINGS, {"extra8": world()})))
    papers, _, ours = page.partition("## Not in the paper")
    assert f"{len(FINDINGS) - 6} claims of sections 4 to 9: {len(FINDINGS) - 6} × not measured." in papers
    assert "6 claims of our own: 6 × reproduced." in ours
    assert "Extra 8" not in papers
