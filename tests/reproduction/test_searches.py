"""The searches of the paper and the ceilings: measured, scored, and the same every time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from plausibly import SeededRandom
from plausibly.experiments import measures
from plausibly.experiments.cells import PLAIN, Cell, view
from plausibly.experiments.item_crowds import strings
from plausibly.experiments.measures import measure, measured_tally
from reproduction.ceilings import CEILINGS

STRINGS = {"data": "zipf-1.3/6", "n": 20_000, "d": 0}
USERS = {"split": "users"}
OVER: dict[str, Any] = {"oracle": {"scheme": "DE"}, "rows": 1, "width": 2**17}


@pytest.mark.full
@pytest.mark.parametrize(("search", "own"), [("PEM", {}), ("TH", {}), ("TH", USERS)], ids=str)
def test_searches_are_scored_once_for_each_view_of_a_tally(search: str, own: dict[str, Any]) -> None:
    # Nearly without noise and collisions; ten prefixes are too few for some of the ten best strings, or just enough.
    views = [view(keep=keep, oracle={"combine": "mean"}) for keep in (1, 20)]
    collected, found = measure(Cell(search, {**OVER, **own}, epsilon=30, **STRINGS), views)
    assert list(found) == ["keep=1, oracle.combine=mean", "keep=20, oracle.combine=mean"]
    few, enough = found.values()
    assert few["recall"] <= 0.2 < 0.8 <= enough["recall"]
    assert enough["f1"] == pytest.approx(2 / (1 / enough["precision"] + 1 / enough["recall"]))
    total = collected["client_seconds"] + collected["server_seconds"]
    assert enough["seconds"] == pytest.approx(total + enough["search_seconds"])
    assert collected["report_bytes"] > 0


@pytest.mark.full
@pytest.mark.parametrize("own", [{}, USERS, {"split": "none", "word_oracle": None}], ids=str)
def test_puzzles_are_scored(own: dict[str, Any]) -> None:
    read = view(keep=20, oracle={"combine": "mean"})
    _, found = measure(Cell("SFP", {**OVER, **own}, epsilon=30, **STRINGS), [read])
    assert found[str(read)]["precision"] >= 0.5


@pytest.mark.parametrize("name", [*(pytest.param(name, marks=pytest.mark.full) for name in ("PEM", "C1")), "C3U"])
def test_twenty_strings_are_scored_leniently_and_the_first_ten_of_them_strictly(name: str) -> None:
    options = {"oracle": {"combine": "mean"}} if name == "PEM" else {}
    views = [view(k=k, **options) for k in (10, 20)]
    _, found = measure(Cell(name, OVER if name == "PEM" else {}, epsilon=30, **STRINGS), views)
    ten, twenty = found.values()
    assert ten["f1"] == twenty["f1"]
    assert twenty["recall_lenient"] >= ten["recall_lenient"] == ten["recall"]
    assert ten["precision_lenient"] >= ten["precision"]


@pytest.mark.full
@pytest.mark.parametrize("name", ["TRELLIS", *CEILINGS])
def test_our_search_and_the_ceilings_are_scored_and_repeat_themselves(name: str) -> None:
    first, again = (measure(Cell(name, **STRINGS), [PLAIN])[1]["plain"] for _ in range(2))
    assert first["f1"] == again["f1"]
    assert {"precision", "recall", "f1"} <= first.keys()
    # The most common of these strings have hundreds of holders, and the noise of a count is 66.
    assert first["f1"] >= 0.3


@pytest.mark.full
def test_collecting_strings_is_simulating_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures, "_CHUNK_BYTES", 5000)
    cell, truth = Cell("PEM", OVER, **STRINGS), strings("url-clicks/6", 3000, 0)
    scheme = cell.make()
    tally, _ = measured_tally(scheme, truth.counts, 7, scheme.domain.encode(truth.strings))
    whole = scheme.accumulator()
    whole.add(scheme.privatize(np.repeat(truth.strings, truth.counts), SeededRandom(7)))
    assert tally.to_bytes() == whole.to_bytes()
