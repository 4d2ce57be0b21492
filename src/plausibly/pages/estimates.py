"""Files of estimates, whose suffix chooses the format: tables for programs, charts and pages for people.

The formats are described in docs/files.md.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..core.atomic import folder_of, replacing
from ..core.errors import ParameterError, StateError
from ..core.wording import nearest, safe_cell, shown
from .answer_page import answer_page
from .answers import Answer, answer_rows, plain_items
from .charts import chart, save_chart, tree_chart


def write_estimates(path: str | Path, answer: Answer) -> None:
    """Write or replace a file of estimates atomically: .csv, .parquet, .json, .png, .svg or .html."""
    path = check_name(path)
    if answer.asked and path.suffix.lower() == ".parquet":
        asked = " and ".join(each.question for each in answer.asked)
        raise ParameterError(f"{path}: expected .csv or .json for {asked}, got .parquet, which has the counts of items")
    with replacing(path) as unfinished:
        _WRITERS[path.suffix.lower()](answer, unfinished)


def write_tree(path: str | Path, answer: Answer) -> None:
    """Write or replace a file with the tree of a search and its estimates: .png or .svg."""
    path = check_name(path, pictures=True)
    with replacing(path) as unfinished:
        _write_picture(tree_chart(answer), unfinished, path.suffix.lower()[1:])


def check_name(path: str | Path, *, pictures: bool = False) -> Path:
    """The path for a file of estimates. Fail early if the file cannot be written."""
    path = Path(path)
    ending = path.suffix.lower()
    valid = [".png", ".svg"] if pictures else list(_WRITERS)
    if ending not in valid:
        raise ParameterError(f"{path}: unknown suffix {shown(ending)}; {nearest(ending, valid)}")
    folder_of(path)
    needed = _NEEDS.get(ending)
    if needed is not None and find_spec(needed) is None:
        raise StateError(f"{path}: needs {needed}: pip install {needed}")
    return path


_YES = {True: "true", False: "false"}


def _write_csv(answer: Answer, path: Path) -> None:
    if answer.asked:
        _write_answers(answer, path)
        return
    columns = answer.columns()
    constant: dict[str, Any] = {"level": answer.level if answer.interval else None, "reports": answer.estimates.n}
    constant |= {"simulated": _YES[answer.source.simulated], **answer.beside}
    lists = [_cells(column, len(answer.estimates)) for column in columns.values()]
    with path.open("w", encoding="utf-8", newline="") as file:
        # Texts are quoted because a spreadsheet that splits at semicolons would split them.
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(["item", *columns, *constant])
        for item, *numbers in zip(plain_items(answer.estimates), *lists, strict=True):
            writer.writerow([safe_cell(item), *numbers, *constant.values()])


_COLUMNS = ("question", "item", "estimate", "standard_error", "low", "high", "share")


def _write_answers(answer: Answer, path: Path) -> None:
    # All answers about an order in one table. A quantile or a mean is a value of the domain, in its own units.
    constant = {"reports": answer.estimates.n, "simulated": _YES[answer.source.simulated], **answer.beside}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow([*_COLUMNS, "level", *constant])
        for asked in answer.asked:
            level = answer.level if asked.has_interval else None
            for row in answer_rows(asked, answer.level):
                own = {"question": asked.question, "estimate": row.get("value"), **row}
                writer.writerow([*(safe_cell(own.get(name)) for name in _COLUMNS), level, *constant.values()])


def _cells(column: npt.NDArray[Any] | None, count: int) -> list[Any]:
    if column is None:
        return [None] * count
    return [_YES[each] for each in column.tolist()] if column.dtype == np.bool_ else column.tolist()


def _write_parquet(answer: Answer, path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    items = answer.estimates.items.tolist()
    kinds = {type(item) for item in items}
    if len(kinds) > 1:
        raise ParameterError("items: expected one type for a Parquet file, got several; write a .json file instead")
    given = answer.columns()
    empty = pyarrow.nulls(len(items), pyarrow.float64())
    columns = {name: empty if column is None else pyarrow.array(column) for name, column in given.items()}
    try:
        names = pyarrow.array(items) if items else pyarrow.array([], pyarrow.string())
    except (OverflowError, pyarrow.ArrowInvalid):  # integers beyond 64 bits
        names = pyarrow.array(list(map(str, items)))
    table = pyarrow.table({"item": names, **columns})
    table = table.replace_schema_metadata({"plausibly.estimates": json.dumps(answer.facts(), ensure_ascii=False)})
    parquet.write_table(table, path)


class Documented(Protocol):
    """Results that are JSON-ready."""

    def to_dict(self) -> dict[str, Any]:
        """Facts and numbers of the results."""


def write_json(results: Documented, path: Path) -> None:
    """Write results as a JSON document, such as estimates."""
    with path.open("w", encoding="utf-8") as file:
        json.dump(results.to_dict(), file, indent=1, ensure_ascii=False, allow_nan=False)
        file.write("\n")


def _write_html(answer: Answer, path: Path) -> None:
    path.write_text(answer_page(answer), encoding="utf-8")


def _write_png(answer: Answer, path: Path) -> None:
    _write_picture(chart(answer), path, "png")


def _write_svg(answer: Answer, path: Path) -> None:
    _write_picture(chart(answer), path, "svg")


def _write_picture(figure: Any, path: Path, kind: str) -> None:
    with path.open("wb") as file:
        save_chart(figure, file, kind)


_WRITERS: dict[str, Callable[[Answer, Path], None]] = {
    ".csv": _write_csv,
    ".parquet": _write_parquet,
    ".json": write_json,
    ".html": _write_html,
    ".png": _write_png,
    ".svg": _write_svg,
}
_NEEDS = {
    ".parquet": "pyarrow",
    ".html": "matplotlib",
    ".png": "matplotlib",
    ".svg": "matplotlib",
}
