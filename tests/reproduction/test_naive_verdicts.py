"""Three verdicts, drawn at random every day, recomputed by naive code that shares nothing with ours.

The data of the search are the only input that both have in common: the same strings and counts.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping
from datetime import date
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import naive_paper as naive
from plausibly.experiments import URL_CLICKS_N, Outcome, Results, judged, strings, wanted
from reproduction.figures import FIGURES
from reproduction.findings import FINDINGS

KEPT = Path(__file__).resolve().parents[2] / "docs" / "reproduction"
DAY = os.environ.get("PLAUSIBLY_DAY") or date.today().isoformat()
"""Set PLAUSIBLY_DAY to repeat the draw of another day."""
Holds = tuple[bool, bool]
"""Whether a claim holds as the text defines it, and as the program computes it."""


def both(holds: bool) -> Holds:
    return holds, holds


def uniform_is_harder(chance: naive.Chance) -> Holds:
    found = naive.uniform_against_zipf(chance)
    assert found["FLH"] == pytest.approx((0.92, 1.3), rel=0.08)
    plain, clipped = zip(*found.values(), strict=True)
    return all(ratio > 1 for ratio in plain), all(ratio > 1 for ratio in clipped)


def optimised_unary_beats_direct(chance: naive.Chance) -> Holds:
    return both(all(ratio > 1 for ratio in naive.oue_beats_de(chance)))


def symmetric_unary_beats_direct(chance: naive.Chance) -> Holds:
    return both(naive.sue_at_five(chance) > 1)


def flh_as_accurate_as_olh(chance: naive.Chance) -> Holds:
    ratio = naive.flh_against_olh(chance)
    assert ratio == pytest.approx(2.2, rel=0.25)
    return both(ratio < 1.1)


def three_coefficients_improve_hcms(chance: naive.Chance) -> Holds:
    ratio = naive.coefficients_in_a_sketch(chance)
    assert ratio == pytest.approx(1.33, rel=0.12)
    return both(ratio > 1)


def hcms_is_worse(chance: naive.Chance) -> Holds:
    crowd = strings("url-clicks/6", URL_CLICKS_N, 0)
    symbols = {symbol: place for place, symbol in enumerate(sorted(set("".join(crowd.strings.tolist()))), 1)}
    base = len(symbols) + 1  # zero is the end of a short string
    numbers = [sum(symbols[c] * base ** (5 - i) for i, c in enumerate(text)) for text in crowd.strings.tolist()]
    right = naive.right_in_searches(chance, np.array(numbers), crowd.counts, base)
    return both(right["HM"] + 0.05 < right["FLH"])


Recomputed = Callable[[naive.Chance], Holds]
FAMILIES: Mapping[str, tuple[Recomputed, ...]] = {
    "oracles": (
        uniform_is_harder,
        optimised_unary_beats_direct,
        symmetric_unary_beats_direct,
        flh_as_accurate_as_olh,
    ),
    "sketches": (three_coefficients_improve_hcms,),
    "searches": (hcms_is_worse,),
}


@cache
def kept() -> dict[str, Outcome]:
    results = Results(KEPT / "rows.jsonl")
    complete = {name: figure for name, figure in FIGURES.items() if not results.missing(wanted([figure]))}
    rows = {name: list(figure.rows(results)) for name, figure in complete.items()}
    return {finding.name: verdict.outcome for finding, verdict in judged(FINDINGS, rows)}


def check(recomputed: Recomputed) -> None:
    # The noise is the same every day: only the draw changes.
    text, program = recomputed(np.random.default_rng(17))
    expected = Outcome.REPRODUCED if text else Outcome.REVERSED if program else Outcome.NOT_REPRODUCED
    name = recomputed.__name__.replace("_", "-")
    assert kept()[name] is expected, f"{name}, drawn on {DAY}: naively {expected}"


@pytest.mark.full
@pytest.mark.parametrize("family", FAMILIES)
def test_three_verdicts_drawn_today_are_recomputed_naively(family: str) -> None:
    check(random.Random(f"{DAY} {family}").choice(FAMILIES[family]))


@pytest.mark.slow
@pytest.mark.parametrize("recomputed", [each for family in FAMILIES.values() for each in family])
def test_every_verdict_of_the_lot_is_recomputed_naively(recomputed: Recomputed) -> None:
    check(recomputed)


def test_the_naive_code_shares_nothing_with_ours() -> None:
    lines = Path(naive.__file__).read_text(encoding="utf-8").splitlines()
    imported = {line.split()[1].partition(".")[0] for line in lines if line.startswith(("import ", "from "))}
    assert imported == {"__future__", "collections", "numpy"}
