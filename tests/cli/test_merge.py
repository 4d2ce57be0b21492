"""plausibly merge: several tallies to one, no report twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from contract.entries import other_than, reports_of, tally_of
from files.making import SMALL, small_file
from plausibly.cli import app
from plausibly.engines import collect
from plausibly.files import Collected, read_tally, write_tally


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["merge", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tallies of 25 and 40 reports."""
    for name, count in (("visits", 25), ("more", 40)):
        small_file(tmp_path / f"{name}.parquet", count, seed=count)
        collect([tmp_path / f"{name}.parquet"], tmp_path / f"{name}.tally")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_json_for_machines(folder: Path) -> None:
    code, shown, _ = run("visits.tally", "more.tally", "-o", "all.tally", "--json")
    assert code == 0
    said = json.loads(shown)
    assert (said["reports"], said["tallies"], said["fingerprint"]) == (65, 2, SMALL.fingerprint())


def test_reports_that_would_count_twice_are_refused_by_file(folder: Path) -> None:
    collect(["visits.parquet", "more.parquet"], "both.tally")
    code, _, told = run("visits.tally", "both.tally", "-o", "all.tally")
    assert code == 1
    assert "both.tally: row group 0 of a file would be counted twice" in told
    code, _, told = run("visits.tally", "./visits.tally", "-o", "all.tally")
    assert code == 2
    assert "named twice" in told
    # A tally that does not know its files, and its copy.
    write_tally("a.tally", tally_of(SMALL, reports_of(SMALL, 9)))
    Path("b.tally").write_bytes(Path("a.tally").read_bytes())
    code, _, told = run("a.tally", "visits.tally", "b.tally", "-o", "all.tally")
    assert code == 1
    assert "b.tally: has the same reports as a.tally" in told
    assert not Path("all.tally").exists()


def test_other_schemes_and_damaged_files_are_named(folder: Path) -> None:
    write_tally("other.tally", other_than(SMALL).accumulator())
    code, _, told = run("visits.tally", "other.tally", "-o", "all.tally")
    assert code == 1
    assert "other.tally: expected the scheme of visits.tally, got another: epsilon is" in told
    Path("cut.tally").write_bytes(Path("more.tally").read_bytes()[:-1])
    code, _, told = run("visits.tally", "cut.tally", "-o", "all.tally")
    assert code == 1
    assert "cut.tally: expected" in told
    code, _, told = run("visits.tally", "none.tally", "-o", "all.tally")
    assert code == 1
    assert "none.tally" in told
    assert not Path("all.tally").exists()


def test_simulations_are_refused_unless_asked_for_and_stay_marked(folder: Path) -> None:
    write_tally("s.tally", tally_of(SMALL, reports_of(SMALL, 9)), simulated=True)
    code, _, told = run("visits.tally", "s.tally", "-o", "all.tally")
    assert code == 1
    assert "s.tally: simulated reports, which are not from real users; pass --simulated to accept them" in told
    code, shown, _ = run("visits.tally", "s.tally", "-o", "all.tally", "--simulated")
    assert code == 0
    assert "34 reports (simulated)" in shown
    assert Collected.read("all.tally").simulated


def test_a_file_is_replaced_only_when_told_so_and_never_one_of_those_that_are_merged(folder: Path) -> None:
    Path("all.tally").write_bytes(b"mine")
    code, _, told = run("visits.tally", "more.tally", "-o", "all.tally")
    assert code == 1
    assert "choose another name, or replace it with --overwrite" in told
    assert Path("all.tally").read_bytes() == b"mine"
    assert run("visits.tally", "more.tally", "-o", "all.tally", "--overwrite")[0] == 0
    assert len(read_tally("all.tally")) == 65
    before = Path("visits.tally").read_bytes()
    code, _, told = run("visits.tally", "more.tally", "-o", "./visits.tally", "--force")
    assert code == 2
    assert "the result would overwrite" in told
    assert Path("visits.tally").read_bytes() == before
    assert not [entry for entry in folder.iterdir() if entry.name.endswith((".lock", ".tmp"))]
