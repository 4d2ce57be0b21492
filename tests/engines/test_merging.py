"""Tally files to one: the same as collecting all their reports, and nothing twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.making import names
from files.making import SMALL
from plausibly import ParameterError, StateError
from plausibly.core.atomic import locked
from plausibly.engines import collect, merge_files
from plausibly.files import (
    SimulatedError,
    write_tally,
)


def test_merging_files_is_collecting_all_of_them(folder: Path, tmp_path: Path) -> None:
    parts = [tmp_path / f"{number}.tally" for number in range(3)]
    for number, part in enumerate(parts):
        collect([folder / f"{number}.parquet"], part)
    steps: list[tuple[int, int]] = []
    found = merge_files(parts, tmp_path / "all.tally", progress=lambda *step: steps.append(step))
    collect([folder], tmp_path / "whole.tally")
    assert (tmp_path / "all.tally").read_bytes() == (tmp_path / "whole.tally").read_bytes()
    assert (len(found), steps) == (68, [(1, 3), (2, 3), (3, 3)])
    assert collect([folder], tmp_path / "all.tally").added == 0, "it knows what it is made of"


def test_merging_files_refuses_what_would_count_twice_or_be_lost(folder: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "1.tally", tmp_path / "2.tally"
    collect([folder / "0.parquet"], one)
    collect([folder / "1.parquet"], two)
    with pytest.raises(ParameterError, match="got none"):
        merge_files([], tmp_path / "all.tally")
    with pytest.raises(ParameterError, match=r"1\.tally: named twice"):
        merge_files([one, one], tmp_path / "all.tally")
    with pytest.raises(ParameterError, match=r"2\.tally: the result would overwrite"):
        merge_files([one, two], two, overwrite=True)
    merge_files([one, two], tmp_path / "all.tally")
    with pytest.raises(StateError, match="already"):
        merge_files([one], tmp_path / "all.tally")
    with pytest.raises(StateError, match=r"all\.tally: row group 0 of a file would be counted twice"):
        merge_files([two, tmp_path / "all.tally"], tmp_path / "more.tally")
    write_tally(tmp_path / "s.tally", SMALL.accumulator(), simulated=True)
    with pytest.raises(SimulatedError, match=r"s\.tally: simulated reports.*allow_simulated=True"):
        merge_files([one, tmp_path / "s.tally"], tmp_path / "more.tally")
    with locked(tmp_path / "more.tally"), pytest.raises(StateError, match="another process"):
        merge_files([one], tmp_path / "more.tally")
    assert names(tmp_path) == ["1.tally", "2.tally", "all.tally", "reports", "s.tally"]
