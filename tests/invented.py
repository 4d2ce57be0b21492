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
        metrics |= dict.fromkeys(("gain", "formula", "deviation", "covered", "honest dropped"), error)
        metrics |= dict.fromkeys(("alarm", "alarm by tally", "alarm by reports"), 1.0)
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


def attacked_world(**factors: float) -> list[Row]:
    """Rows of extra 9 in which the claims hold, unless factors say otherwise; gains of two repeats one per mille apart.

    Alarms and intervals have as many repeats as decide, all of them alike.
    """
    rows = []

    def add(sweep: str, label: str, metrics: dict[str, float], repeats: int = 2, **at: object) -> None:
        for repeat in range(repeats):
            own = {"figure": "extra9", "sweep": sweep, "label": label, "data": "zipf-1.1", "repeat": repeat, **at}
            own |= {"setting": f"{sweep} {label} {at}"}
            exact = {"formula", "alarm", "alarm by tally", "alarm by reports", "covered", "honest dropped"}
            rows.extend(
                {**own, "metric": name, "value": value * (1 if name in exact else 1 + repeat / 1000)}
                for name, value in metrics.items()
            )

    def attack(sweep: str, label: str, gain: float, law: float = 1.0, **at: object) -> None:
        metrics = {"gain": gain, "formula": gain / law, "deviation": gain / factors.get("above noise", 10)}
        add(sweep, label, metrics, **at)

    law, best = factors.get("law", 1), factors.get("best", 1)
    for of in ("DE", "OUE", "OLH"):
        for epsilon in (0.5, 1.0, 2.0):
            attack(f"epsilon, {of}", "random items", 1, epsilon=epsilon)
            attack(f"epsilon, {of}", "random reports", 5 if of == "OUE" else 0.1, epsilon=epsilon)
            attack(
                f"epsilon, {of}", "maximal gain", 20 * best / epsilon ** factors.get("privacy", 1), law, epsilon=epsilon
            )
        for label in ("itemsets", "tally.diagnose", "diagnose_reports"):
            add(f"other attacks, {of}", f"random items: {label}", {"alarm": factors.get("holders noticed", 0)}, 10)
        for label in ("random items", "random reports", "maximal gain"):
            add(f"intervals, {of}", f"{label}: despite_fakes", {"covered": factors.get("covered", 1)}, 200)
        add(
            f"intervals, {of}",
            "maximal gain: usual intervals",
            {"covered": factors.get("covered by usual ones", 0)},
            200,
        )
        for targets in (1, 2, 5, 10):
            bad, good = factors.get("left", 0.5), factors.get("left where they help", 0.01)
            dropped = -factors.get("lowered", 0.8)
            left = {"no defence": 1, "normalization": bad, "itemsets": bad, "conditional probabilities": bad}
            left["itemsets, then normalization"] = bad
            if targets == 5:
                left["conditional probabilities"] = good
            if (of, targets) in (("OLH", 10), ("OUE", 2)):
                left["itemsets"] = dropped
            if (of, targets) == ("DE", 1):
                left["conditional probabilities"] = dropped
            for label, share in left.items():
                if of != "DE" or "itemsets" not in label:
                    add(f"targets, {of}", label, {"gain": 10 * share, "honest dropped": 0.1}, targets=targets)
    for d in (16, 32, 64, 128):
        attack("domain, DE", "maximal gain", 30 * (d / 60) ** factors.get("domain", 1), d=d)
        attack("domain, OUE", "maximal gain", 30, d=d)
    for functions in (10, 100, 1000):
        attack("functions", "maximal gain", 5 * functions ** factors.get("functions", 0.2), 0.5, functions=functions)
    for of in ("OUE", "OLH"):
        alarms = {"alarm by reports": factors.get("noticed", 1), "alarm by tally": 0.0}
        add("noticed", f"{of}, maximal gain, 1 %", alarms, 100)
    alarms = {"alarm by reports": factors.get("variant noticed", factors.get("noticed", 1)), "alarm by tally": 0.0}
    add("noticed", "OUE, maximal gain, usual law of ones, 1 %", alarms, 100)
    return rows
