"""Several schemes on one crowd: a figure built from command-line arguments, and its numbers as a table."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from math import isfinite
from pathlib import Path
from typing import Any

from ..catalog import CATALOG
from ..core.domain import Strings, Table
from ..core.errors import ParameterError, StateError
from ..core.laws import choose_estimator
from ..core.scheme import required
from ..core.steps import find_step
from ..core.wording import nearest, shown
from . import report
from .cells import View, view
from .comparison_sheets import COUNTS, RANGES, sheet_of, summary
from .figure import Figure, Line, Sweep, wanted
from .item_crowds import CROWDS, is_ordered
from .plots import draw_plots, page_plot
from .results import Results
from .sheets import Sheet


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
    """The figure that compares schemes by their errors, over ε if several are given.

    Items of a crowd that has an order are compared by ranges, the distribution function and quantiles; others by their
    counts and by the list of the 10 most common.
    """
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
    panels = (RANGES if is_ordered(data) else COUNTS).panels(by)
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


def _told_apart(name: str, given: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, Any]]:
    # Parameters of the scheme, and options of its estimates; a dotted name belongs to the oracle.
    others = {Strings: "a search for strings", Table: "a scheme for records of several attributes"}
    known = {name: kind for name, kind in CATALOG.items() if not others.keys() & set(kind.accepts)}
    if name in CATALOG and name not in known:
        got = next(told for kind, told in others.items() if kind in CATALOG[name].accepts)
        raise ParameterError(f"{name}: expected an oracle or a sketch, got {got}")
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
