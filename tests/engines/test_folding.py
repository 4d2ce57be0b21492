"""Fold and merge: states that know their row groups, in any order."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from contract.entries import every_scheme_as_reports, other_than, tally_of
from engines.making import segment
from files.making import SMALL, small_file, users_reports
from plausibly import Scheme, StateError
from plausibly.engines import fold, merge
from plausibly.files import (
    Collected,
    DamagedError,
    UnreachableError,
    write_reports,
)


@every_scheme_as_reports
def test_folding_and_merging_is_adding_all_reports(scheme: Scheme, tmp_path: Path) -> None:
    path = tmp_path / f"{os.urandom(8).hex()}.parquet"
    reports = users_reports(scheme, 35)
    write_reports(path, scheme, reports)
    a, b, c = (fold(scheme, [segment(path, first, last)]) for first, last in [(0, 1), (1, 3), (3, 4)])
    wanted = tally_of(scheme, reports).to_bytes()
    before = a.to_bytes()
    for state in (merge(merge(a, b), c), merge(c, merge(b, a)), merge(pickle.loads(pickle.dumps(c)), merge(a, b))):
        assert state.tally.to_bytes() == wanted
        assert list(state.files.values()) == [((0, 4),)]
    assert fold(scheme, [segment(path, 3, 4), segment(path, 0, 3)]).tally.to_bytes() == wanted
    assert a.to_bytes() == before, "merging leaves both as they were"


def test_an_empty_state_is_neutral(folder: Path) -> None:
    state = fold(SMALL, [segment(folder / "0.parquet", 0, 3)])
    empty = Collected(SMALL.accumulator())
    assert merge(empty, state).to_bytes() == merge(state, empty).to_bytes() == state.to_bytes()


def test_merging_refuses_a_row_group_that_both_have(folder: Path) -> None:
    path = folder / "1.parquet"
    one, other = fold(SMALL, [segment(path, 0, 3)]), fold(SMALL, [segment(path, 2, 4)])
    with pytest.raises(StateError, match="merge: row group 2 of a file would be counted twice"):
        merge(one, other)


def test_merging_refuses_another_scheme(folder: Path) -> None:
    with pytest.raises(StateError, match="expected the same scheme, got another: epsilon is"):
        merge(Collected(SMALL.accumulator()), Collected(other_than(SMALL).accumulator()))


def test_merging_a_simulation_gives_a_simulation(folder: Path) -> None:
    one, other = Collected(SMALL.accumulator()), Collected(SMALL.accumulator(), simulated=True)
    assert merge(one, other).simulated
    assert merge(other, one).simulated


def test_folding_refuses_a_file_that_was_replaced_since(folder: Path) -> None:
    path = folder / "0.parquet"
    planned = segment(path, 0, 3)
    path.unlink()
    with pytest.raises(UnreachableError, match=r"0\.parquet: No such file"):
        fold(SMALL, [planned], skip_bad=True)
    small_file(path, 25)
    with pytest.raises(DamagedError, match="replaced during the collection"):
        fold(SMALL, [planned])
    assert len(fold(SMALL, [planned], skip_bad=True).skipped) == 1
