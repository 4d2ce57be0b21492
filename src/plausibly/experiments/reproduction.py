"""Which figures are asked for, and what becomes of them: pictures, tables, verdicts and the report."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ..core.errors import ParameterError
from ..core.wording import nearest, shown
from . import aol, own, report
from .figure import Figure, Row, wanted
from .figures import FIGURES, on_log
from .findings import FINDINGS, Finding, Verdict, judged
from .plots import draw
from .results import Results
from .runner import Setup
from .tables import sheet


@dataclass(frozen=True)
class Plan:
    """Figures to measure, with the command that measures each, and files that every process has to load for it."""

    figures: Sequence[Figure]
    commands: Mapping[str, str]
    files: Sequence[Path] = ()
    is_quick: bool = False
    on_a_log: bool = False
    title: str = ""
    """Of a report that is not about the paper."""

    @property
    def setup(self) -> Setup | None:
        """What a process does before it measures."""
        return partial(own.load_all, self.files) if self.files else None

    def on_log(self, path: Path) -> Plan:
        """The same on a search log of one's own, wherever it would be on the model of one."""
        aol.use(path)
        told = f"--aol {shlex.quote(str(path))}"
        commands = {name: f"{command} {told}" for name, command in self.commands.items()}
        return replace(self, figures=[on_log(figure) for figure in self.figures], commands=commands, on_a_log=True)

    def quick(self) -> Plan:
        """The same with quick figures."""
        commands = {name: f"{command} --quick" for name, command in self.commands.items()}
        return replace(self, figures=[figure.quick() for figure in self.figures], commands=commands, is_quick=True)


def plan(names: Sequence[str]) -> Plan:
    """The figures of these names, each once: of the paper, panels of it (fig1a), or files that end with .py."""
    chosen: dict[str, Figure] = {}
    commands: dict[str, str] = {}
    files = {Path(name): None for name in names if name.endswith(".py")}
    for name in names or FIGURES:
        for figure in _of_file(Path(name), chosen) if name.endswith(".py") else [_named(name)]:
            chosen[figure.name] = figure
            commands[figure.name] = f"plausibly reproduce {shlex.quote(name)}"
    title = "" if len(files) < len(names) or not names else " · ".join(figure.title for figure in chosen.values())
    return Plan(list(chosen.values()), commands, list(files), title=title)


def _named(name: str) -> Figure:
    if name in FIGURES:
        return FIGURES[name]
    whole = FIGURES.get(name[:-1])
    if whole is not None and name[-1] in whole.letters:
        return whole.panel(name[-1])
    panels = f"; panels of {whole.name}: {', '.join(whole.letters) or 'none'}" if whole is not None else ""
    raise ParameterError(f"unknown figure {shown(name)}; {nearest(name, FIGURES)}{panels}")


def _of_file(path: Path, chosen: Mapping[str, Figure]) -> list[Figure]:
    found = own.load(path)
    taken = [*FIGURES, *chosen]
    for figure in found:
        if figure.name in taken:
            raise ParameterError(f"{path}: there is another figure {figure.name}; give yours a name of its own")
        taken.append(figure.name)
    return found


def written(asked: Plan, results: Results, folder: Path) -> tuple[Path, list[tuple[Finding, Verdict]]]:
    """Draws all figures, writes all tables and the report; returns the report's path and the verdicts."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = []
    for figure in asked.figures:
        rows = list(figure.rows(results))
        svg = draw(figure, rows, folder)[1].read_text(encoding="utf-8") if figure.panels else None
        table = sheet(figure, figure.table, rows) if figure.table is not None else None
        if table is not None:
            (folder / f"{figure.name}.md").write_text(table.markdown(), encoding="utf-8")
        parts.append(report.Part(figure, asked.commands[figure.name], svg, table))
    verdicts = verdicts_on(asked, results)
    if verdicts:
        (folder / "findings.md").write_text(report.markdown(verdicts, quick=asked.is_quick), encoding="utf-8")
    path = folder / "report.html"
    page = report.page(parts, verdicts, results, title=asked.title, quick=asked.is_quick)
    path.write_text(page, encoding="utf-8")
    return path, verdicts


def verdicts_on(asked: Plan, results: Results) -> list[tuple[Finding, Verdict]]:
    """What the results say about the findings on these figures; others that it needs may be there from before."""
    names = {figure.name for figure in asked.figures}
    about = [finding for finding in FINDINGS if set(finding.figures) & names]
    rows: dict[str, list[Row]] = {}
    for name in {name for finding in about for name in finding.figures if name in FIGURES}:
        figure = on_log(FIGURES[name]) if asked.on_a_log else FIGURES[name]
        figure = figure.quick() if asked.is_quick else figure
        # A part of a figure is not what a finding is about.
        if not results.missing(wanted([figure])):
            rows[name] = list(figure.rows(results))
    return [(finding, verdict) for finding, verdict in judged(rows) if finding in about]
