"""Select the figures to measure, and write their plots, tables, verdicts and report."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ..core.errors import ParameterError
from . import aol, report
from .experiment import Experiment
from .figure import Figure, Row, Sweep, wanted
from .findings import Finding, Verdict, judged
from .loading import load, load_all
from .plots import draw_plots
from .results import Results
from .runner import Setup
from .string_crowds import MODEL_CLICKS_D
from .tables import table_of

FOLDER = "reproduction"
"""The package with the paper's experiments, in the root of the repository."""
_CHECKOUT = Path(__file__).resolve().parents[3]
"""The root of the repository, if this package is installed in editable mode."""


@dataclass(frozen=True)
class Plan:
    """A plan: figures to measure, the command that measures each, and their experiments."""

    figures: Sequence[Figure]
    commands: Mapping[str, str]
    experiments: Mapping[Path, Experiment]
    """Experiments by the file or folder that every worker process loads."""
    is_quick: bool = False
    on_a_log: bool = False

    @property
    def setup(self) -> Setup:
        """Function that every worker process of the plan calls first."""
        return partial(load_all, list(self.experiments))

    def on_log(self, path: Path) -> Plan:
        """The same plan on the user's own search log instead of the synthetic clicks."""
        aol.use(path)
        option = f"--aol {shlex.quote(str(path))}"
        commands = {name: f"{command} {option}" for name, command in self.commands.items()}
        return replace(self, figures=[on_log(figure) for figure in self.figures], commands=commands, on_a_log=True)

    def quick(self) -> Plan:
        """The same plan with quick figures."""
        commands = {name: f"{command} --quick" for name, command in self.commands.items()}
        return replace(self, figures=[figure.quick() for figure in self.figures], commands=commands, is_quick=True)

    def heading(self) -> report.Heading:
        """Heading of the plan's report: that of the first experiment with a title, else the titles of the figures."""
        titled = [experiment for experiment in self.experiments.values() if experiment.title]
        if not titled:
            return report.Heading(" · ".join(figure.title for figure in self.figures))
        return report.Heading(titled[0].title, titled[0].about, titled[0].citation)


def plan(names: Sequence[str], folder: Path | None = None) -> Plan:
    """The plan for figures with these names: figures and panels of the paper (``fig1a``), or files that end in ``.py``.

    No names select all figures of the paper. ``folder`` is the package with the paper's experiments (``find_folder``).
    """
    experiments: dict[Path, Experiment] = {}
    if not names or not all(name.endswith(".py") for name in names):
        paper = find_folder(folder, names)
        experiments[paper] = load(paper)
        names = names or [figure.name for figure in experiments[paper].figures]
    option = "" if folder is None else f" --folder {shlex.quote(str(folder))}"
    figures: dict[str, Figure] = {}
    commands: dict[str, str] = {}
    for name in names:
        if name.endswith(".py"):
            own, taken = load(Path(name)), {*figures, *_names(experiments)}
            experiments[Path(name)] = own
            for figure in own.figures:
                if figure.name in taken:
                    raise ParameterError(f"{name}: another figure is named {figure.name}; rename yours")
            chosen, command = list(own.figures), f"plausibly reproduce {shlex.quote(name)}"
        else:
            chosen, command = [experiments[paper].figure(name)], f"plausibly reproduce {shlex.quote(name)}{option}"
        figures |= {figure.name: figure for figure in chosen}
        commands |= {figure.name: command for figure in chosen}
    return Plan(list(figures.values()), commands, experiments)


def find_folder(given: Path | None = None, names: Sequence[str] = ()) -> Path:
    """Folder of the experiments whose figures to plan: the given one, else the paper's in a clone of the repository.

    The clone is the current directory, or the source of an editable installation.
    """
    for folder in [Path(FOLDER), _CHECKOUT / FOLDER] if given is None else [given]:
        if (folder / "__init__.py").is_file():
            return folder
    if given is not None:
        raise ParameterError(f"--folder: expected a folder with an __init__.py, got {given}")
    command = shlex.join(["plausibly", "reproduce", *names])
    raise ParameterError(
        "the paper's figures are in the repository of plausibly, not in the installed package. Run the command in a "
        f"clone of it, or say where the clone is: {command} --folder PATH-TO-THE-CLONE/reproduction. Files of your own "
        "need no clone: "
        "plausibly reproduce mine.py"
    )


def on_log(figure: Figure) -> Figure:
    """The planned figure with the user's search log (``aol.use``) in place of the synthetic clicks."""
    found = aol.log()

    def moved(sweep: Sweep) -> Sweep:
        name, slash, length = sweep.data.partition("/")
        if name != "url-clicks":
            return sweep
        d = found.d if sweep.d == MODEL_CLICKS_D else min(sweep.d, found.d)
        return replace(sweep, data=f"aol{slash}{length}", n=found.n, d=d, data_seed=found.seed)

    return replace(figure, sweeps=[moved(sweep) for sweep in figure.sweeps])


def write_plan(asked: Plan, results: Results, folder: Path) -> tuple[Path, list[tuple[Finding, Verdict]]]:
    """Write the plots, tables and report of the planned figures, and return the report's path and the verdicts."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = []
    for figure in asked.figures:
        rows = list(figure.rows(results))
        svg = draw_plots(figure, rows, folder)[1].read_text(encoding="utf-8") if figure.panels else None
        table = table_of(figure, figure.table, rows) if figure.table is not None else None
        if table is not None:
            (folder / f"{figure.name}.md").write_text(table.markdown(), encoding="utf-8")
        parts.append(report.Part(figure, asked.commands[figure.name], svg, table))
    verdicts = verdicts_on(asked, results)
    if verdicts:
        (folder / "findings.md").write_text(report.report_markdown(verdicts, quick=asked.is_quick), encoding="utf-8")
    path = folder / "report.html"
    page = report.report_page(parts, verdicts, results, heading=asked.heading(), quick=asked.is_quick)
    path.write_text(page, encoding="utf-8")
    return path, verdicts


def verdicts_on(asked: Plan, results: Results) -> list[tuple[Finding, Verdict]]:
    """The verdicts on all findings about the planned figures; other figures they need must be in the results."""
    names = {figure.name for figure in asked.figures}
    verdicts: list[tuple[Finding, Verdict]] = []
    for experiment in asked.experiments.values():
        about = [finding for finding in experiment.findings if set(finding.figures) & names]
        rows: dict[str, list[Row]] = {}
        for figure in experiment.figures:
            if any(figure.name in finding.figures for finding in about):
                figure = on_log(figure) if asked.on_a_log else figure
                figure = figure.quick() if asked.is_quick else figure
                # A finding is checked on a complete figure only.
                if not results.missing(wanted([figure])):
                    rows[figure.name] = list(figure.rows(results))
        verdicts += judged(about, rows)
    return verdicts


def _names(experiments: Mapping[Path, Experiment]) -> set[str]:
    return {figure.name for experiment in experiments.values() for figure in experiment.figures}
