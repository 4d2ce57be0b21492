"""Files of tables of two attributes, with a row for each cell; the suffix chooses the format."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ..core.atomic import replacing
from ..core.errors import ParameterError
from ..core.wording import nearest, safe_cell, shown
from .table_answer import TableAnswer


def write_table(path: str | Path, answer: TableAnswer) -> None:
    """Write or replace a file of a table atomically: .csv, .parquet or .json."""
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in _WRITERS:
        raise ParameterError(f"{path}: unknown suffix {shown(ending)}; {nearest(ending, _WRITERS)}")
    with replacing(path) as unfinished:
        _WRITERS[ending](answer, unfinished)


def _write_csv(answer: TableAnswer, path: Path) -> None:
    constant = {"level": answer.level, "reports": answer.table.n, "simulated": str(answer.source.simulated).lower()}
    numbers = answer.numbers()
    with path.open("w", encoding="utf-8", newline="") as file:
        # Texts are quoted because a spreadsheet that splits at semicolons would split them.
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow([*map(safe_cell, _titles(answer, [*numbers, *constant])), *numbers, *constant])
        for cell, *own in zip(answer.cells(), *numbers.values(), strict=True):
            writer.writerow([*map(safe_cell, cell), *own, *constant.values()])


def _write_parquet(answer: TableAnswer, path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    numbers = answer.numbers()
    rows, columns = zip(*answer.cells(), strict=True)
    values = [
        *map(_of_one_type, (rows, columns)),
        *(pyarrow.array(each, pyarrow.float64()) for each in numbers.values()),
    ]
    table = pyarrow.table(values, names=[*_titles(answer, numbers), *numbers])
    table = table.replace_schema_metadata({"plausibly.table": json.dumps(answer.facts(), ensure_ascii=False)})
    parquet.write_table(table, path)


def _write_json(answer: TableAnswer, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        json.dump(answer.to_dict(), file, indent=1, ensure_ascii=False, allow_nan=False)
        file.write("\n")


def _titles(answer: TableAnswer, taken: Iterable[str]) -> list[str]:
    # An attribute may be named like a column of numbers.
    used = list(taken)
    for name in answer.table.names:
        while name in used:
            name += " (attribute)"
        used.append(name)
    return used[-2:]


def _of_one_type(values: Iterable[Any]) -> Any:
    # Numbers and the text for missing values are texts together.
    import pyarrow

    listed = list(values)
    alike = len(set(map(type, listed))) == 1
    return pyarrow.array(listed if alike else list(map(str, listed)))


_WRITERS: dict[str, Callable[[TableAnswer, Path], None]] = {
    ".csv": _write_csv,
    ".parquet": _write_parquet,
    ".json": _write_json,
}
