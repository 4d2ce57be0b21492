"""Rows of figures that nobody has measured."""

from __future__ import annotations

import json

from plausibly.experiments.figure import Figure, Row, wanted
from plausibly.experiments.results import Results

SMOOTH, SPIKED = ("smooth", "bimodal", "even"), ("income", "spiky", "ends")
TREES = ("HH₂", "HH₄", "HH₂, best shares", "HAAR")


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


def ordered_world(**factors: float) -> list[Row]:
    """Rows of extra 8: squared errors of 1/n times a factor, two repeats one per mille apart."""
    rows = []
    for data in (*SMOOTH, *SPIKED):
        for n in (10**4, 10**5, 10**6):
            errors = {"SLIDE": 1 / n, **dict.fromkeys(TREES, factors.get("trees", 2) / n)}
            errors |= {f"{label}, monotone": 0.5 * error for label, error in errors.items()}
            wave = 0.25 / n if data in SMOOTH else factors.get("bias", 1e-3)
            errors |= {"SW, EMS": wave * factors.get("wave", 1), "SW, EM": wave}
            for label, error in errors.items():
                for repeat in range(2):
                    own = {"figure": "extra8", "sweep": data, "label": label, "n": n, "epsilon": 1.0, "data": data}
                    own |= {"setting": f"{data} {label} {n}", "repeat": repeat}
                    rows.append({**own, "metric": "range_mse", "value": error * (1 + repeat / 1000)})
                    rows.append({**own, "metric": "range_mse_theory", "value": error * factors.get("law", 1)})
    return rows
