"""What the demo draws and says is what its reports and its truth are."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import plausibly
from plausibly.demo.emerging import Known, emerging_estimates
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
