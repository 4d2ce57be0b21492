"""The experiment on heavy hitters: what it measures, what it remembers, and what it prints."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from plausibly.experiments import heavy_hitters
from plausibly.experiments.heavy_hitters import Cell, cells_of, main, measure, rows_of
from plausibly.experiments.sheets import draw_grid, grid_sheet, uniform_sheet

SMALL = ("zipf-1.3", 20_000, 3.0, 6, 0)


def _row(method: str, run: int = 0, **more: Any) -> dict[str, Any]:
    row = {"method": method, "data": "zipf-1.1", "n": 1000, "epsilon": 3.0, "length": 6, "run": run}
    row |= {"precision": 0.5, "recall": 0.5, "f1": 0.5}
    if method == "TRELLIS":
        row |= {"significant": 4, "significant_right": 3, "false": 1}
    return row | more


@pytest.mark.full
@pytest.mark.parametrize("method", ["TRELLIS", "C3U", "C1"])
def test_a_run_is_scored_and_repeats_itself(method: str) -> None:
    first, again = (measure(Cell(method, *SMALL)) for _ in range(2))
    first, again = ({key: row[key] for key in row if "seconds" not in key} for row in (first, again))
    assert first == again
    # The most common of these strings have hundreds of holders, and the noise of a count is 66.
    assert 0.3 <= first["f1"] <= 1
    assert first["f1"] == pytest.approx(2 / (1 / first["precision"] + 1 / first["recall"]))


@pytest.mark.full
def test_the_baseline_is_scored() -> None:
    assert 0 <= measure(Cell("PEM+", *SMALL))["f1"] <= 1


def test_every_run_has_noise_of_its_own() -> None:
    cells = cells_of("short", 2)
    assert len({cell.seed for cell in cells}) == len(cells) == 9 * 4 * 3 * 2 * 4


def test_what_is_known_is_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, measured = tmp_path / "rows.jsonl", []

    def remembered(cell: Cell) -> dict[str, Any]:
        measured.append(cell)
        return _row(cell.method, cell.run)

    def stopping(cells: list[Cell], jobs: int) -> Iterator[dict[str, Any]]:
        for number, cell in enumerate(cells):
            if number == 3:
                raise KeyboardInterrupt
            yield remembered(cell)

    cells = [Cell(method, "zipf-1.1", 1000, 3.0, 6, run) for run in range(4) for method in ("TRELLIS", "C1")]
    console = Console(quiet=True)
    monkeypatch.setattr(heavy_hitters, "measure", remembered)
    with monkeypatch.context() as patches:
        patches.setattr(heavy_hitters, "_measured", stopping)
        with pytest.raises(KeyboardInterrupt):
            rows_of(cells, path, jobs=1, console=console)
    # The last line was cut off while it was written.
    path.write_text(path.read_text()[:-9])
    rows = rows_of(cells, path, jobs=1, console=console)
    assert [(row["method"], row["run"]) for row in rows] == [(cell.method, cell.run) for cell in cells]
    assert len(measured) == 3 + 6
    assert rows_of(cells, path, jobs=1, console=console) == rows
    assert len(measured) == 9


def test_sheets_show_means() -> None:
    rows = [_row(method, run, f1=f1) for method in ("TRELLIS", "C1") for run, f1 in enumerate((0.4, 0.8))]
    sheet = grid_sheet(rows)
    assert sheet.header[4:6] == ("TRELLIS", "C1")
    assert sheet.lines == (("zipf-1.1", "6", "1,000", "3", "0.600", "0.600", "4.0", "3.0", "2 of 2"),)
    assert "2 of 2 runs with a false one" in sheet.markdown()
    assert uniform_sheet([_row("TRELLIS"), _row("TRELLIS", 1, significant=0)]).lines == (("6", "1,000", "3", "2", "1"),)


@pytest.mark.full
def test_the_command_prints_writes_and_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rows.jsonl"
    cells = cells_of("short", 1)
    rows = [_row(cell.method, data=cell.data, n=cell.n, epsilon=cell.epsilon) for cell in cells]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    page, picture = tmp_path / "table.md", tmp_path / "grid.png"
    options = ["--runs", "1", "--rows", str(path), "--markdown", str(page), "--figure", str(picture)]
    assert main(["short", *options]) == 0
    assert "shared-prefixes" in capsys.readouterr().out
    assert page.read_text().count("\n| ") == 9 * 4 * 3 + 2
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_pictures_of_long_strings_go_by_length(tmp_path: Path) -> None:
    rows = [_row(method, run, length=length) for method in ("TRELLIS", "C1") for run in range(2) for length in (10, 64)]
    draw_grid(rows, tmp_path / "long.svg")
    assert "characters" in (tmp_path / "long.svg").read_text()
