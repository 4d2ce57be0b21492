"""Claims about sketches: judged on the text's sketches and errors, and on those of the program."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from plausibly.experiments import Outcome, Row, Verdict, judged
from reproduction.findings import FINDINGS

EPSILONS = (0.5, 5.0)


def rows_of(ratios: dict[tuple[str, str], tuple[float, float]]) -> Iterator[Row]:
    """Rows of figure 10 whose medians are these multiples of the means at the lowest and at the largest ε."""
    for sweep in ("epsilon", "epsilon, program"):
        # The claims need lines that find the most common items.
        for metric in ("mse", "mse_clipped", "f1"):
            found = (1.0, 1.0) if metric == "f1" else ratios[sweep, metric]
            lines = {"CM (Mean) FLH": (1.0, 1.0), "CM (Median) FLH": found, "CM (Median) FLH, ours": (1.0, 1.0)}
            for label, values in lines.items():
                for epsilon, value in zip(EPSILONS, values, strict=True):
                    for repeat in range(5):
                        own = {"epsilon": epsilon, "repeat": repeat, "value": value * (1 + 0.001 * repeat)}
                        yield {"figure": "fig10", "sweep": sweep, "label": label, "metric": metric, **own}


def verdict_of(text: tuple[float, float], program: tuple[float, float]) -> Verdict:
    ratios = {
        ("epsilon", "mse"): text,
        ("epsilon", "mse_clipped"): text,
        ("epsilon, program", "mse"): text,
        ("epsilon, program", "mse_clipped"): program,
    }
    found = {finding.name: verdict for finding, verdict in judged(FINDINGS, {"fig10": list(rows_of(ratios))})}
    return found["means-beat-medians-on-clicks"]


@pytest.mark.parametrize(
    ("text", "program", "outcome"),
    [
        ((2.0, 8.0), (2.0, 8.0), Outcome.REPRODUCED),
        ((2.0, 8.0), (1.0, 0.5), Outcome.REPRODUCED),
        ((1.5, 0.8), (2.0, 37.0), Outcome.REVERSED),
        ((1.5, 0.8), (2.0, 1.0), Outcome.NOT_REPRODUCED),
        ((2.0, 2.0), (2.0, 37.0), Outcome.UNCLEAR),
    ],
)
def test_a_claim_that_only_the_program_shows_is_reversed(
    text: tuple[float, float], program: tuple[float, float], outcome: Outcome
) -> None:
    assert verdict_of(text, program).outcome is outcome


def test_both_readings_and_clipping_alone_are_told_with_their_numbers() -> None:
    numbers = verdict_of((1.5, 0.8), (2.0, 37.0)).numbers
    text, _, rest = numbers.partition(". As the program computes it")
    program, _, clipped = rest.partition(". The text's sketches, but clipped at zero")
    assert text.startswith("As the text defines it (not reproduced): MSE of the median relative to the mean: 1.5")
    assert "(reproduced)" in program
    assert "37" in program
    assert "(not reproduced)" in clipped
