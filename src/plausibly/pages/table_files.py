"""Files of tables of two attributes, whose suffix chooses the format; described in docs/files.md."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..core.atomic import replacing
from ..core.wording import safe_cell
from .charts import save_chart
from .estimates import check_name, write_json
from .table_page import table_chart, table_page
from .tables import TableAnswer

_YES = {True: "true", False: "false"}


def write_table(path: str | Path, answer: TableAnswer) -> None:
    """Write or replace a file of a table atomically: .csv, .parquet, .json, .png, .svg or .html."""
    path = check_name(path)
    with replacing(path) as unfinished:
        _WRITERS[path.suffix.lower()](answer, unfinished)


def _columns(answer: TableAnswer) -> dict[str, list[Any]]:
    # A column for each attribute, by its name, unless the name is that of a column of numbers.
    numbers, (rows, columns) = answer.numbers(), answer.names()
    named = zip((answer.rows.name, answer.columns.name), (rows, columns), strict=True)
    taken = {*numbers, *_CONSTANT, *answer.beside}
    return {f"{name} (attribute)" if name in taken else name: cells for name, cells in named} | numbers


_CONSTANT = ("level", "reports", "simulated")


def _write_csv(answer: TableAnswer, path: Path) -> None:
    columns = _columns(answer)
    constant = answer.level, answer.table.n, _YES[answer.source.simulated], *answer.beside.values()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow([*map(safe_cell, columns), *_CONSTANT, *answer.beside])
        for row in zip(*columns.values(), strict=True):
            writer.writerow([*map(safe_cell, row), *constant])


def _write_parquet(answer: TableAnswer, path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    columns = _columns(answer)
    for place, (name, cells) in enumerate(columns.items()):
        if place < 2 and len({type(cell) for cell in cells}) > 1:
            # An attribute may have numbers and a text for missing ones.
            columns[name] = list(map(str, cells))
    table = pyarrow.table({name: pyarrow.array(cells) for name, cells in columns.items()})
    facts = json.dumps(answer.facts(), ensure_ascii=False)
    parquet.write_table(table.replace_schema_metadata({"plausibly.table": facts}), path)


def _write_html(answer: TableAnswer, path: Path) -> None:
    path.write_text(table_page(answer), encoding="utf-8")


def _write_png(answer: TableAnswer, path: Path) -> None:
    with path.open("wb") as file:
        save_chart(table_chart(answer), file, "png")


def _write_svg(answer: TableAnswer, path: Path) -> None:
    with path.open("wb") as file:
        save_chart(table_chart(answer), file, "svg")


_WRITERS: dict[str, Callable[[TableAnswer, Path], None]] = {
    ".csv": _write_csv,
    ".parquet": _write_parquet,
    ".json": write_json,
    ".html": _write_html,
    ".png": _write_png,
    ".svg": _write_svg,
}
