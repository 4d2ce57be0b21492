"""Rows of figures that nobody has measured."""

from __future__ import annotations

import json

from plausibly.experiments.figure import Figure, Row, wanted
from plausibly.experiments.results import Results


def rows_of(figure: Figure) -> list[Row]:
    """Rows as if all had been measured, by way of JSON; an error falls with ε and grows with the repeat."""
    results = Results()
    for cell, views in wanted([figure]).items():
        error = (1 + cell.repeat) / cell.epsilon
        metrics = {"mse": error, "mse_clipped": error, "k_mse": error, "k_mse_clipped": error, "mse_theory": error}
        metrics |= {"seconds": 1.0, "estimate_seconds": 0.25, "mse_optimum": 0.5}
        metrics |= {"range_mse": error, "range_mse_optimum": 0.5, "range_mse_theory": error}
        metrics |= {"precision": 0.5, "recall": 0.5, "f1": cell.repeat / 4}
        metrics |= {"precision_lenient": 0.75, "recall_lenient": 0.5, "f1_lenient": 0.6}
        results.add(cell, {"server_seconds": 0.5, "report_bytes": 3}, {str(view): metrics for view in views})
    rows: list[Row] = json.loads(json.dumps(list(figure.rows(results))))
    return rows
