"""The experiment on heavy hitters: what it measures, what it remembers, and what it prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plausibly.experiments import PLAIN, Cell, Results, measure
from reproduction.heavy_hitter_tables import draw_grid, grid_sheet, uniform_sheet
from reproduction.heavy_hitters import cell_of, cells_of, main, rows_of
from reproduction.top_ten import seed

SMALL = ("zipf-1.3", 20_000, 3.0, 6, 0)


def _scored(cell: Cell) -> dict[str, Any]:
    found = measure(cell, [PLAIN])[1]["plain"]
    return {name: value for name, value in found.items() if "seconds" not in name}


def _row(method: str, run: int = 0, **more: Any) -> dict[str, Any]:
    row = {"method": method, "data": "zipf-1.1", "n": 1000, "epsilon": 3.0, "length": 6, "run": run}
    row |= {"precision": 0.5, "recall": 0.5, "f1": 0.5}
    if method == "TRELLIS":
        row |= {"significant": 4, "significant_right": 3, "false": 1}
    return row | more


def _keep(cells: list[Cell], results: Results) -> None:
    # As if they had been measured.
    about = ("method", "data", "n", "epsilon", "length", "run")
    for cell in cells:
        row = _row("TRELLIS" if cell.scheme.endswith("TRELLIS") else "other")
        results.add(cell, {}, {"plain": {name: value for name, value in row.items() if name not in about}})


@pytest.mark.full
@pytest.mark.parametrize(("method", "f1"), [("TRELLIS", 0.7), ("PEM+", 0.6), ("C3U", 0.8), ("C1", 0.9)])
def test_a_run_is_scored_as_it_was_when_it_was_published(method: str, f1: float) -> None:
    first, again = (_scored(cell_of(method, *SMALL)) for _ in range(2))
    assert first == again
    assert first["f1"] == pytest.approx(f1)
    assert first["f1"] == pytest.approx(2 / (1 / first["precision"] + 1 / first["recall"]))
    if method == "TRELLIS":
        assert (first["significant"], first["significant_right"], first["false"]) == (7, 7, 0)


def test_every_run_has_noise_of_its_own() -> None:
    cells = cells_of("short", 2)
    assert len(set(cells)) == len(cells) == 9 * 4 * 3 * 2 * 4
    rows = [(cell.scheme, cell.data, cell.n, cell.epsilon, cell.repeat) for cell in cells]
    seeds = {seed(method, data, n, epsilon, 6, run) for method, data, n, epsilon, run in rows}
    assert len(seeds) == len(cells)
    assert seed("TRELLIS", *SMALL) == 272523728921952
    assert len(cells_of("long", 8)) == 2 * 200
    assert len(cells_of("uniform", 50)) == 400


@pytest.mark.full
def test_a_run_that_is_known_is_not_measured_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rows.jsonl"
    *known, last = cells_of("uniform", 1)
    _keep(known, Results(path))
    before = path.read_bytes()
    assert main(["uniform", "--runs", "1", "--rows", str(path), "--jobs", "1"]) == 0
    assert "No heavy hitter" in capsys.readouterr().out
    after = path.read_bytes()
    assert after.startswith(before)
    assert after[len(before) :].count(b"\n") == 1
    assert Results(path).missing({last: [PLAIN]}) == {}


def test_rows_say_what_was_measured() -> None:
    results, cells = Results(), [cell_of(method, "zipf-1.1", 1000, 3.0, 6, 2) for method in ("TRELLIS", "C1")]
    _keep(cells, results)
    assert rows_of(cells, results) == [_row("TRELLIS", 2), _row("C1", 2)]


def test_sheets_show_means() -> None:
    rows = [_row(method, run, f1=f1) for method in ("TRELLIS", "C1") for run, f1 in enumerate((0.4, 0.8))]
    sheet = grid_sheet(rows)
    assert sheet.header[4:6] == ("TRELLIS", "C1")
    assert sheet.lines == (("zipf-1.1", "6", "1,000", "3", "0.600", "0.600", "4.0", "3.0", "2 of 2"),)
    assert "2 of 2 runs have a false string" in sheet.markdown()
    assert uniform_sheet([_row("TRELLIS"), _row("TRELLIS", 1, significant=0)]).lines == (("6", "1,000", "3", "2", "1"),)


@pytest.mark.full
def test_the_command_prints_writes_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rows.jsonl"
    _keep(cells_of("short", 1), Results(path))
    page, picture = tmp_path / "table.md", tmp_path / "grid.png"
    options = ["--runs", "1", "--rows", str(path), "--markdown", str(page), "--figure", str(picture)]
    assert main(["short", *options]) == 0
    assert "shared-prefixes" in capsys.readouterr().out
    assert page.read_text().count("\n| ") == 9 * 4 * 3 + 2
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.full
def test_pictures_of_long_strings_go_by_length(tmp_path: Path) -> None:
    rows = [_row(method, run, length=length) for method in ("TRELLIS", "C1") for run in range(2) for length in (10, 64)]
    draw_grid(rows, tmp_path / "long.svg")
    assert "characters" in (tmp_path / "long.svg").read_text()
