"""What the demo draws and says is what its reports and its truth are."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes

import plausibly
from plausibly.demo.emerging import Known, draw_emerging, emerging_estimates
from plausibly.files import ReportFile, write_reports

KNOWN = Known(["ant", "bee", "cow"], np.array([600, 300, 100]))


def test_estimates_grow_with_the_first_reports_of_a_file(tmp_path: Path) -> None:
    scheme = plausibly.make("TLH", epsilon=1, domain=list(KNOWN.items))
    reports = scheme.privatize(np.repeat(KNOWN.items, KNOWN.counts), plausibly.SeededRandom(1))
    write_reports(tmp_path / "r.parquet", scheme, reports)
    for size, found in zip(
        (10, 200, 1000), emerging_estimates(ReportFile(tmp_path / "r.parquet"), [10, 200, 1000]), strict=True
    ):
        tally = scheme.accumulator()
        tally.add(reports[:size])
        assert found.n == size
        np.testing.assert_array_equal(found.values, tally.estimate().values)


def test_intervals_that_hold_the_truth_are_counted() -> None:
    items = np.array(["bee", "ant", "fly"])
    estimates = plausibly.Estimates(items, np.array([301.0, 900.0, 1.0]), np.array([4.0, 4.0, 4.0]), 1000, False)
    assert [KNOWN.count(item) for item in items] == [300, 600, 0]
    assert KNOWN.covered(estimates) == 2


@pytest.mark.full
def test_the_picture_can_be_read_on_a_telephone(tmp_path: Path) -> None:
    scheme = plausibly.make("OUE", epsilon=3, domain_size=50)
    known = Known([str(i) for i in range(50)], np.arange(50, 0, -1) * 100)
    counts = known.counts.tolist()
    made = [scheme.simulate([c // part for c in counts], plausibly.SeededRandom(1)).estimate() for part in (20, 1)]
    named = [replace(each, items=np.array(known.items, dtype=object)) for each in made]
    draw_emerging(tmp_path / "x.svg", known, named, named[-1].top(5), ("listed", "found"))
    draw_emerging(tmp_path / "y.svg", known, named, named[-1].top(5), ("listed", "found"), narrow=True)
    narrow = (tmp_path / "y.svg").read_text(encoding="utf-8")
    letters = [float(size) for size in re.findall(r"font(?:-size)?: (?:\w+ )*([\d.]+)px", narrow)]
    assert min(letters) * 350 / float(re.findall(r'width="([\d.]+)pt"', narrow)[0]) >= 11
    text = (tmp_path / "x.svg").read_text(encoding="utf-8")
    width = float(re.findall(r'width="([\d.]+)pt"', text)[0])
    sizes = [float(size) for size in re.findall(r"font(?:-size)?: (?:\w+ )*([\d.]+)px", text)]
    assert len(sizes) > 10
    # On a telephone the picture is 350 pixels wide.
    assert min(sizes) * 350 / width >= 7


@pytest.mark.full
def test_the_legend_is_below_zero_where_nothing_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places: list[object] = []
    legend = Axes.legend

    def noted(axes: Axes, *args: object, **options: object) -> object:
        places.append(options.get("loc"))
        return legend(axes, *args, **options)

    monkeypatch.setattr(Axes, "legend", noted)
    known = Known([str(i) for i in range(50)], np.arange(50, 0, -1) * 100)
    made = plausibly.make("OUE", epsilon=3, domain_size=50).simulate(known.counts.tolist(), plausibly.SeededRandom(1))
    named = replace(made.estimate(), items=np.array(known.items, dtype=object))
    draw_emerging(tmp_path / "x.svg", known, [named] * 4, named.top(5), ("listed", "found"))
    assert places == ["lower right", "lower right"], "the truth falls from the upper left and stays above zero"
    assert "(log scale)" in (tmp_path / "x.svg").read_text(encoding="utf-8")
