"""Make tables from the rows of a figure alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .figure import Figure, Row, Table
from .sheets import Sheet

_SETTING = ("n", "d", "epsilon")


def table_of(figure: Figure, table: Table, rows: Sequence[Row]) -> Sheet:
    """The table of a figure, with a row for each measured line; numbers are means over the repeats."""
    own = [row for row in rows if row["sweep"] in table.sweeps]
    found = _found(own)
    labels = [label for label in table.said if label in found]
    if table.order is not None:
        labels.sort(key=lambda label: -found[label][str(table.order)])
    lines = []
    for label in labels:
        words = iter(table.said[label])
        cells = (next(words) if column is None else column(found[label]) for column in table.columns.values())
        lines.append((label, *cells))
    same = {name: {row[name] for row in own} for name in _SETTING}
    settings = ", ".join(
        f"{name} = {value:,}" if isinstance(value, int) else f"{name} = {value:,g}"
        for name, values in same.items()
        if len(values) == 1
        for value in values
        if value
    )
    caption = ". ".join(part for part in (settings, table.note) if part)
    return Sheet(title=figure.title, header=("", *table.columns), lines=tuple(lines), caption=caption)


def _found(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    # Mean and standard deviation by label and metric.
    values: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        for name, value in {row["metric"]: row["value"], **{name: row[name] for name in _SETTING}}.items():
            values.setdefault(row["label"], {}).setdefault(name, []).append(value)
    return {
        label: {name: float(np.mean(own)) for name, own in metrics.items()}
        | {f"±{name}": float(np.std(own, ddof=1)) if len(own) > 1 else 0.0 for name, own in metrics.items()}
        for label, metrics in values.items()
    }
