"""Several schemes on one crowd: a figure built from command-line arguments, and its numbers as a table."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from ..catalog import CATALOG
from ..core.domain import Strings
from ..core.errors import ParameterError, StateError
from ..core.laws import choose_estimator
from ..core.scheme import required
from ..core.steps import find_step
from ..core.wording import nearest, shown
from . import report
from .cells import View, view
from .figure import Figure, Line, Panel, Row, Sweep, wanted
from .item_crowds import CROWDS
from .plots import draw_plots, page_plot
from .results import Results
from .sheets import Sheet

_SHOWN = ("mse", "k_mse", "f1", "mse_theory", "report_bytes", "client_seconds", "server_seconds", "estimate_seconds")


def scheme_line(text: str) -> Line:
    """A scheme to compare, given as text: name, parameters after a colon, post-processing steps after plus signs.

    Names that are not parameters of the scheme are options of ``estimate``; dotted names belong to a sketch's oracle.

    >>> line = scheme_line("CM:oracle=FLH,oracle.hashes=500,width=1024,rows=16,combine=median+norm-sub")
    >>> line.scheme, dict(line.parameters), str(line.view)
    ('CM', {'oracle': {'scheme': 'FLH', 'hashes': 500}, 'width': 1024, 'rows': 16}, 'combine=median, norm-sub')
    """
    head, *steps = text.split("+")
    name, _, rest = head.partition(":")
    given: dict[str, str] = {}
    for part in rest.split(",") if rest else []:
        key, equals, value = part.partition("=")
        if not (key and equals and value) or key in given:
            raise ParameterError(f"{shown(text)}: expected name=value once for each name, got {shown(part)}")
        given[key] = value
    for step in steps:
        find_step(step)
    parameters, options = _told_apart(name, given)
    return Line(text, name, parameters, View(tuple(steps), view(**options).options))


def comparison(
    schemes: Sequence[str], *, data: str, n: int, d: int, epsilons: Sequence[float], repeats: int = 5
) -> Figure:
    """The figure that compares schemes by their errors and the F1 score of the top 10, over ε if several are given."""
    if len(set(schemes)) < len(schemes) or not schemes:
        raise ParameterError("schemes: expected one or more, each given once")
    if data not in CROWDS:
        raise ParameterError(f"unknown data {shown(data)}; {nearest(data, CROWDS)}")
    if not all(epsilon > 0 and isfinite(epsilon) for epsilon in epsilons):
        raise ParameterError("epsilon: expected positive numbers")
    lines = [scheme_line(text) for text in schemes]
    vary = {"epsilon": list(dict.fromkeys(map(float, epsilons)))}
    sweep = Sweep(name="schemes", lines=lines, vary=vary, data=data, n=n, d=d, repeats=repeats)
    by: dict[str, Any] = {"sweeps": [sweep.name], "x": "epsilon", "xlabel": "ε"}
    if len(vary["epsilon"]) == 1:
        by |= {"x": "label", "xlabel": ""}
    panels = [
        Panel(title="All items", **by),
        Panel(title="The 50 most common", y="k_mse", ylabel="k-MSE", optimum=False, **by),
        Panel(title="List of the 10 most common", y="f1", ylabel="F1", logy=False, optimum=False, **by),
    ]
    title = f"{len(lines)} scheme{'s' * (len(lines) > 1)} on {data}"
    figure = Figure(name="comparison", title=title, sweeps=[sweep], panels=panels, about=_about(lines, data, n, d))
    for cell, views in wanted([figure]).items():
        # Report every mistake before the first measurement.
        scheme = cell.make()
        for each in views:
            try:
                choose_estimator(scheme.estimator, each.keywords)
            except StateError:
                continue  # no law, but valid
    return figure


def _about(lines: Sequence[Line], data: str, n: int, d: int) -> str:
    # The setting in words, and each scheme by the name at the beginning of its docstring.
    schemes = dict.fromkeys(one.scheme for one in lines)
    told = [f"{name}: {re.split(r'[:(,.;]', CATALOG[name].__doc__ or '')[0].strip()}" for name in schemes]
    setting = f"n = {n:,} simulated users have items of a domain of d = {d:,} (data: {data})."
    return f"{setting} {'; '.join(told)}."


def write_comparison(
    figure: Figure, results: Results, folder: Path, command: str
) -> tuple[Path, list[dict[str, Any]], Sheet]:
    """Draw and write a comparison. The report's path, the summary and the table are returned."""
    rows = list(figure.rows(results))
    draw_plots(figure, rows, folder)
    lines = summary(rows)
    sheet = sheet_of(figure.title, lines)
    (folder / f"{figure.name}.md").write_text(sheet.markdown(), encoding="utf-8")
    # One panel below another has letters that can be read on every screen.
    part = report.Part(figure, command, page_plot(figure, rows, 2), sheet, page_plot(figure, rows, 1))
    path = folder / "report.html"
    path.write_text(report.report_page([part], [], results, heading=report.Heading(figure.title)), encoding="utf-8")
    return path, lines, sheet


def summary(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The comparison in numbers: for each scheme and ε, means of the main metrics and the standard error of the MSE."""
    found: dict[tuple[str, float], dict[str, list[float]]] = {}
    for row in rows:
        found.setdefault((row["label"], row["epsilon"]), {}).setdefault(row["metric"], []).append(row["value"])
    by_epsilon = sorted(found.items(), key=lambda item: item[0][1])
    return [_mean(label, epsilon, metrics) for (label, epsilon), metrics in by_epsilon]


def sheet_of(title: str, lines: Sequence[Mapping[str, Any]]) -> Sheet:
    """The summary of a comparison as a table."""
    header = ("scheme", "ε", "MSE", "± %", "RMSE", "theory", "k-MSE", "F1", "bytes", "client", "server")
    return Sheet(title, header, tuple(tuple(_cells(line)) for line in lines), _CAPTION)


_CAPTION = (
    "MSE: mean squared error of the estimated counts, with its standard error. RMSE: in users, measured and predicted "
    "by theory. k-MSE: MSE of the 50 most common items. F1: how many of the 10 most common items are on the "
    "list of the 10 largest estimates, 1 if all of them. Then bytes per "
    "report, and processor seconds of all clients and of the server."
)


def _mean(label: str, epsilon: float, metrics: Mapping[str, list[float]]) -> dict[str, Any]:
    means: dict[str, Any] = {name: float(np.mean(metrics[name])) for name in _SHOWN if name in metrics}
    errors = metrics["mse"]
    spread = float(np.std(errors, ddof=1) / np.sqrt(len(errors))) if len(errors) > 1 else None
    roots = {"rmse": means["mse"] ** 0.5}
    if "mse_theory" in means:
        roots["rmse_theory"] = means["mse_theory"] ** 0.5
    return {"scheme": label, "epsilon": epsilon, "repeats": len(errors), **means, "mse_error": spread, **roots}


def _cells(line: Mapping[str, Any]) -> Iterator[str]:
    yield from (line["scheme"], f"{line['epsilon']:g}")
    yield _short(line["mse"])
    yield "–" if line["mse_error"] is None else f"{100 * line['mse_error'] / line['mse']:.0f}"
    yield from (_short(line[name]) if name in line else "–" for name in ("rmse", "rmse_theory", "k_mse"))
    yield from (f"{line['f1']:.2f}" if "f1" in line else "–", f"{line['report_bytes']:.0f}")
    yield from (f"{line['client_seconds']:.2g}", f"{line['server_seconds'] + line['estimate_seconds']:.2g}")


def _short(number: float) -> str:
    return f"{number:,.0f}" if 100 <= number < 1e7 else f"{number:.3g}"


def _told_apart(name: str, given: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, Any]]:
    # Parameters of the scheme, and options of its estimates; a dotted name belongs to the oracle.
    known = {name: kind for name, kind in CATALOG.items() if Strings not in kind.accepts}
    if name in CATALOG and name not in known:
        raise ParameterError(f"{name}: expected an oracle or a sketch, got a search for strings")
    if name not in known:
        raise ParameterError(f"unknown scheme {shown(name)}; {nearest(name, known)}")
    kind = known[name]
    if "oracle" in required(kind) and not {"oracle", "width"} <= given.keys():
        raise ParameterError(f"{name}: expected an oracle and a width; write {name}:oracle=OLH,width=1024")
    own = {each.name for each in fields(kind) if each.init} - {"domain", "epsilon"}
    if "oracle" in own:
        own |= {"width"}
    choices = set(inspect.signature(kind.estimator).parameters) - {"self"}
    parameters: dict[str, Any] = {}
    options: dict[str, Any] = {}
    within = {key.removeprefix("oracle."): text for key, text in given.items() if key.startswith("oracle.")}
    for key, text in given.items():
        if key == "oracle" and key in own:
            inner, read = _told_apart(text, within)
            parameters["oracle"] = {"scheme": text, **inner}
            options |= {"oracle": read} if read else {}
        elif key in own:
            parameters[key] = _value(text)
        elif key in choices:
            options[key] = _value(text)
        elif not (key.startswith("oracle.") and "oracle" in given):
            raise ParameterError(f"unknown parameter {shown(key)} for {name}; {nearest(key, own | choices)}")
    return parameters, options


def _value(text: str) -> Any:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text) if isfinite(float(text)) else text
    except ValueError:
        return text
