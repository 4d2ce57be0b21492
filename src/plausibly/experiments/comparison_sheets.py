"""Numbers of a comparison as a table: errors of counts, or of ranges if the items have an order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .figure import Panel, Row
from .sheets import Sheet

Line = Mapping[str, Any]
"""A scheme of a comparison at one ε: means of its metrics by name."""


@dataclass(frozen=True)
class Reading:
    """One way to read a comparison: its metrics, panels and table."""

    squared: str
    """Metric of the mean squared error that the comparison is about."""
    metrics: tuple[str, ...]
    """All metrics in the summary; those that are costs are added."""
    panels: Callable[[Mapping[str, Any]], list[Panel]]
    """Function from the settings that all panels share to the panels."""
    header: tuple[str, ...]
    cells: Callable[[Line], Iterator[str]]
    """Function from a line of the summary to its cells between ε and the costs."""
    caption: str

    def summary(self, label: str, epsilon: float, metrics: Mapping[str, list[float]]) -> dict[str, Any]:
        """The line of a scheme in the comparison: means of the metrics, and the standard error of the squared error."""
        means = {name: float(np.mean(metrics[name])) for name in (*self.metrics, *_COSTS) if name in metrics}
        errors = metrics[self.squared]
        spread = float(np.std(errors, ddof=1) / np.sqrt(len(errors))) if len(errors) > 1 else None
        squares = [name for name in means if name.startswith(self.squared)]
        roots = {name.replace("mse", "rmse"): means[name] ** 0.5 for name in squares}
        about = {"scheme": label, "epsilon": epsilon, "repeats": len(errors)}
        return {**about, **means, f"{self.squared}_error": spread, **roots}

    def sheet(self, title: str, lines: Sequence[Line]) -> Sheet:
        """The summary of a comparison as a table."""
        header = ("scheme", "ε", *self.header, "bytes", "client", "server")
        return Sheet(title, header, tuple(tuple(self._row(line)) for line in lines), f"{self.caption} {_CAPTION}")

    def _row(self, line: Line) -> Iterator[str]:
        yield from (line["scheme"], f"{line['epsilon']:g}", *self.cells(line), f"{line['report_bytes']:.0f}")
        yield from (f"{line['client_seconds']:.2g}", f"{line['server_seconds'] + line['estimate_seconds']:.2g}")


def summary(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The comparison in numbers: for each scheme and ε, means of the main metrics and a standard error."""
    found: dict[tuple[str, float], dict[str, list[float]]] = {}
    for row in rows:
        found.setdefault((row["label"], row["epsilon"]), {}).setdefault(row["metric"], []).append(row["value"])
    by_epsilon = sorted(found.items(), key=lambda item: item[0][1])
    return [_reading(metrics).summary(label, epsilon, metrics) for (label, epsilon), metrics in by_epsilon]


def sheet_of(title: str, lines: Sequence[Line]) -> Sheet:
    """The summary of a comparison as a table."""
    return _reading(lines[0]).sheet(title, lines)


def _reading(metrics: Mapping[str, Any]) -> Reading:
    return RANGES if RANGES.squared in metrics else COUNTS


def _panels_of_counts(by: Mapping[str, Any]) -> list[Panel]:
    return [
        Panel(title="All items", **by),
        Panel(title="The 50 most common", y="k_mse", ylabel="k-MSE", optimum=False, **by),
        Panel(title="List of the 10 most common", y="f1", ylabel="F1", logy=False, optimum=False, **by),
    ]


def _cells_of_counts(line: Line) -> Iterator[str]:
    yield from (_short(line["mse"]), _relative_error(line, "mse"))
    yield from (_short(line[name]) if name in line else "–" for name in ("rmse", "rmse_theory", "k_mse"))
    yield f"{line['f1']:.2f}" if "f1" in line else "–"


def _panels_of_ranges(by: Mapping[str, Any]) -> list[Panel]:
    shares: dict[str, Any] = {"percent": True, **by}
    return [
        Panel(title="All ranges", y="range_mse", ylabel="RMS error, % of users", root=True, **shares),
        Panel(title="Distribution function", y="cdf_error", ylabel="mean error, % of users", optimum=False, **shares),
        # Deciles may be right, and an axis of decades has no zero.
        Panel(
            title="Deciles",
            y="quantile_error",
            ylabel="mean error, % of users",
            logy=False,
            optimum=False,
            **shares,
        ),
    ]


def _cells_of_ranges(line: Line) -> Iterator[str]:
    yield from (_percent(line["range_rmse"]), _relative_error(line, "range_mse", root=True))
    yield from (_percent(line[name]) if name in line else "–" for name in ("range_rmse_theory", "range_rmse_optimum"))
    yield from (_percent(line[name]) for name in ("cdf_error", "cdf_worst", "quantile_error"))


def _relative_error(line: Line, metric: str, *, root: bool = False) -> str:
    # The relative error of a root is half that of the square.
    error = line[f"{metric}_error"]
    return "–" if error is None else f"{100 * error / line[metric] / (2 if root else 1):.0f}"


def _short(number: float) -> str:
    return f"{number:,.0f}" if 100 <= number < 1e7 else f"{number:.3g}"


def _percent(share: float) -> str:
    return f"{100 * share:#.3g}".removesuffix(".")


_COSTS = ("report_bytes", "client_seconds", "server_seconds", "estimate_seconds")
_CAPTION = "Then bytes per report, and processor seconds of all clients and of the server."

COUNTS = Reading(
    "mse",
    ("mse", "k_mse", "f1", "mse_theory"),
    _panels_of_counts,
    ("MSE", "± %", "RMSE", "theory", "k-MSE", "F1"),
    _cells_of_counts,
    "MSE: mean squared error of the estimated counts, with its standard error. RMSE: in users, measured and predicted "
    "by theory. k-MSE: MSE of the 50 most common items. F1: how many of the 10 most common items are on the "
    "list of the 10 largest estimates, 1 if all of them.",
)
"""The reading of a comparison by the counts of items."""
RANGES = Reading(
    "range_mse",
    ("range_mse", "range_mse_theory", "range_mse_optimum", "cdf_error", "cdf_worst", "quantile_error"),
    _panels_of_ranges,
    ("ranges", "± %", "theory", "bound", "CDF", "KS", "deciles"),
    _cells_of_ranges,
    "Errors in % of the users. Ranges: root mean square over all ranges, with its standard error, as measured and as "
    "predicted by theory. Bound: the least possible error of unbiased answers if users are spread evenly; biased ones, "
    "such as those of SW and after monotone, may be below it. CDF: mean error of the distribution function. KS: its "
    "largest error. Deciles: how far the share of users up to the found value is from 10 %, 20 %, …, 90 %.",
)
"""The reading of a comparison by ranges and quantiles, for items that have an order."""
