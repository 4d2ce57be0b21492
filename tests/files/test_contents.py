"""What files say of themselves: how many reports, whose making, where from, and what was left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from plausibly import PlausiblyError, SeededRandom, make
from plausibly.files import Collected, Skipped, write_reports
from plausibly.files.contents import contents_of

SCHEME = make("DE", epsilon=1, domain_size=5)


def test_a_tally_tells_where_its_reports_came_from_and_what_was_left_out(tmp_path: Path) -> None:
    tally = SCHEME.accumulator()
    tally.add(SCHEME.privatize([1] * 30, SeededRandom(1)))
    skipped = (Skipped("a.parquet", 2, 7, "damaged"), Skipped("b.parquet", None, None, "unreadable"))
    Collected(tally, True, {"aa": ((0, 2),), "bb": ((0, 1),)}, skipped).write(tmp_path / "visits.tally")
    found = contents_of(tmp_path / "visits.tally")
    assert found.scheme == SCHEME
    assert (found.reports, found.files, found.skipped, found.skipped_reports, found.simulated) == (30, 2, 2, 7, True)
    assert [name for name, _ in found.facts()] == [
        "file",
        "reports",
        "collected from",
        "left out",
        "simulated",
        "authenticated",
    ]
    assert "scheme" not in found.to_dict()


def test_a_file_of_reports_tells_how_many_it_has(tmp_path: Path) -> None:
    write_reports(tmp_path / "reports.parquet", SCHEME, SCHEME.privatize([1] * 30))
    found = contents_of(tmp_path / "reports.parquet")
    assert (found.reports, found.files, found.simulated) == (30, 1, False)
    assert found.bytes == (tmp_path / "reports.parquet").stat().st_size


def test_other_files_are_refused(tmp_path: Path) -> None:
    for name in ("x.parquet", "x.tally"):
        (tmp_path / name).write_bytes(b"something else entirely")
        with pytest.raises(PlausiblyError, match=name):
            contents_of(tmp_path / name)
