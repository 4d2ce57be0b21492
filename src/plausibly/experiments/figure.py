"""Declarations of figures: lines swept over a grid, and panels that select the rows to draw. Nothing runs here.

Your own file needs only a ``FIGURE`` made of ``line``, ``Sweep`` and ``Panel``. Enter your own schemes and crowds in
``cells.SCHEMES`` and ``crowds.CROWDS`` above it (docs/experiments.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from string import ascii_lowercase
from typing import Any

from ..core.errors import ParameterError
from ..core.wording import nearest, shown
from .cells import PLAIN, Cell, View
from .results import Results

Row = dict[str, Any]

_QUICK_REPEATS = 2
_QUICK_POINTS = 6
_LARGE = 10_000


@dataclass(frozen=True)
class Line:
    """A line of a figure: the scheme with its parameters, and the view that reads its tally.

    A parameter is a plain value or a function of epsilon that returns one, also inside a sketch's oracle. ``ours``
    marks lines that are not in the paper.
    """

    label: str
    scheme: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    view: View = PLAIN
    ours: bool = False


def line(label: str, scheme: str = "", *, view: View = PLAIN, ours: bool = False, **parameters: Any) -> Line:
    """The line of a scheme in a figure; ``scheme`` defaults to the label."""
    return Line(label, scheme or label, parameters, view, ours)


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """Lines measured on a grid: ``vary`` lists the varied settings of the cell or the scheme, all others are fixed."""

    name: str
    lines: Sequence[Line]
    vary: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    data: str = "zipf-1.1"
    n: int = 100_000
    d: int = 1024
    epsilon: float = 3.0
    data_seed: int = 0
    repeats: int = 5
    kept: Sequence[str] = ()
    """Names of settings in ``vary`` that a quick sweep does not thin out, because a finding needs every value."""
    errors: int = 1
    """Minimum number of squared errors averaged in a repeat; small domains are measured in several rounds."""

    def cells(self) -> Iterator[tuple[Line, Cell]]:
        """Every measurement that the figure needs of the sweep, with its line."""
        fixed = {name: getattr(self, name) for name in ("data", "n", "d", "epsilon", "data_seed")}
        for one in self.lines:
            for values in product(*self.vary.values()):
                given = dict(zip(self.vary, values, strict=True))
                place = fixed | {name: value for name, value in given.items() if name in fixed}
                parameters = {**one.parameters, **{name: given[name] for name in given if name not in fixed}}
                resolved = _resolved(parameters, place["epsilon"])
                rounds = -(-self.errors // max(1, place["d"]))
                for repeat in range(self.repeats):
                    yield one, Cell(one.scheme, resolved, **place, repeat=repeat, rounds=rounds)

    def quick(self) -> Sweep:
        """A faster sweep for a quick figure: fewer repeats, points and users, and smaller domains."""
        vary = {
            name: _thinned(_all_smaller(name, values), len(values) if name in self.kept else _QUICK_POINTS)
            for name, values in self.vary.items()
        }
        few = min(self.repeats, _QUICK_REPEATS)
        return replace(self, vary=vary, n=_smaller("n", self.n), d=_smaller("d", self.d), repeats=few, errors=1)


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One plot of a metric over ``x`` from the rows of some sweeps, with a line for each value of ``lines``.

    Rows of a sweep that does not vary ``x`` are drawn as a horizontal line.
    """

    title: str
    sweeps: Sequence[str]
    x: str
    y: str = "mse"
    lines: str = "label"
    xlabel: str
    ylabel: str = "MSE"
    logx: int | None = None
    """Base of a logarithmic x axis; None for a linear one. A point at 0 is drawn to the left of all others."""
    logy: bool = True
    colours: str | None = None
    """Setting that decides the colour and mark of a line; by default, the scheme or its oracle does."""
    looks: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Colour and mark of a line by its label; other lines get theirs from ``colours``."""
    optimum: bool = True
    """Whether to draw the least possible error as well."""
    relative: bool = False
    """Whether to divide errors by the least possible one, which separates lines that an axis of decades would hide."""
    limits: tuple[float, float] | None = None
    """Smallest and largest value on the y axis; by default, all values are shown."""
    root: bool = False
    """Whether to draw the square root of the mean, for a metric that is a squared error."""
    percent: bool = False
    """Whether to draw shares as percentages."""
    law: str = ""
    """Metric that a law predicts for ``y``, drawn as a line through the marks, which are then not joined."""


@dataclass(frozen=True, kw_only=True)
class Dots:
    """One plot with a mark at the metric of each line, in the declared order, with its standard deviation.

    The colour of a mark is that of the line's oracle or scheme.
    """

    title: str
    sweeps: Sequence[str]
    """Sweeps whose lines are drawn; lines without an oracle are black."""
    x: str
    xlabel: str
    printed: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """Values printed in the paper, by label of the line; drawn as hollow marks."""
    names: Callable[[str], str] = str
    """Function from a label to the text beside its row; lines with the same text share a row."""
    kinds: Callable[[str], str] = lambda label: ""
    """Function from a label to the kind of its mark, for the legend; the kinds of one row have different marks."""
    families: Callable[[str], str] = lambda label: ""
    """Function from a label to what its colour stands for, for the legend."""
    shows: Callable[[str], bool] = lambda label: True
    """Function from a label to whether its line is drawn."""


@dataclass(frozen=True, kw_only=True)
class Map:
    """One map of the best methods: a cell for each x and y with the method that has the least squared error.

    The number in a cell says how many times larger the error of the next best method is, as a root mean square. Cells
    whose two best methods are less than two standard errors apart are pale, and name both.
    """

    title: str
    sweeps: Sequence[str]
    methods: Mapping[str, Sequence[str]]
    """Labels of the lines of each method, by its name; a method is as good as its best line."""
    x: str = "epsilon"
    y: str = "n"
    metric: str = "range_mse"
    xlabel: str = "ε"
    ylabel: str = "users"
    looks: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Colour and mark by label; a method has the colour of its first line."""


AnyPanel = Panel | Dots | Map


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table with a row for each line of some sweeps, made of given words and measured numbers."""

    sweeps: Sequence[str]
    said: Mapping[str, Sequence[str]]
    """The words of each row by label of the line, one for each column of words."""
    columns: Mapping[str, Callable[[Mapping[str, float]], str] | None]
    """Columns by heading: None for words, else a function from the means of all metrics, n, d and epsilon to a text;
    ``±f1`` is the standard deviation of ``f1``."""
    order: str | None = None
    """Metric to sort the rows by, largest first; by default, they have the order of ``said``."""
    note: str = ""
    """What a reader of the table alone needs to know; it follows the settings below the table."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure or table, from the paper or your own: panels, a table, or both."""

    name: str
    title: str
    sweeps: Sequence[Sweep]
    panels: Sequence[AnyPanel] = ()
    table: Table | None = None
    about: str = ""
    """A sentence in plain words that says what the figure shows."""
    note: str = ""
    """Short words below the title of dots and maps, for those who see the picture alone."""

    def __post_init__(self) -> None:
        # Files are named after it.
        if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,63}", self.name):
            raise ParameterError(f"name of a figure: expected a-z, 0-9, _ and -, got {shown(self.name)}")
        for panel in self.panels:
            self._check(panel)

    def _check(self, panel: AnyPanel) -> None:
        # An unknown name would silently draw the wrong thing.
        own = [sweep for sweep in self.sweeps if sweep.name in panel.sweeps]
        for name in panel.sweeps:
            if name not in [sweep.name for sweep in own]:
                raise ParameterError(
                    f"{self.name}: no sweep {shown(name)}; {nearest(name, [s.name for s in self.sweeps])}"
                )
        if isinstance(panel, Map):
            labels = {one.label for sweep in own for one in sweep.lines}
            for name in (label for lines in panel.methods.values() for label in lines):
                if name not in labels:
                    raise ParameterError(f"{self.name}: no line {shown(name)}; {nearest(name, labels)}")
        if isinstance(panel, Panel):
            known = {"label", "data", "n", "d", "epsilon", *(name for sweep in own for name in sweep.vary)}
            for one in (line for sweep in own for line in sweep.lines):
                known |= {*one.parameters, *(name for name, _ in one.view.options)}
            for name in (panel.x, panel.lines, panel.colours or "label"):
                if name not in known:
                    raise ParameterError(f"{self.name}: no row has {shown(name)}; {nearest(name, known)}")

    @property
    def letters(self) -> Mapping[str, AnyPanel]:
        """The panels of the figure by letter; empty if there is only one."""
        return dict(zip(ascii_lowercase, self.panels, strict=False)) if len(self.panels) > 1 else {}

    def panel(self, letter: str) -> Figure:
        """One panel as a separate figure, with the sweeps that it draws."""
        one = self.letters[letter]
        own = [sweep for sweep in self.sweeps if sweep.name in one.sweeps]
        about = f"Only panel {letter}, “{one.title}”; the whole figure is described. {self.about}" if self.about else ""
        return replace(self, name=self.name + letter, sweeps=own, panels=[one], table=None, about=about)

    def quick(self) -> Figure:
        """The same figure made of quick sweeps."""
        return replace(self, sweeps=[sweep.quick() for sweep in self.sweeps])

    def rows(self, results: Results) -> Iterator[Row]:
        """The rows of the figure: one for each cell, view and metric that has been measured."""
        missing = results.missing(wanted([self]))
        for sweep in self.sweeps:
            for one, cell in sweep.cells():
                if one.view in missing.get(cell, ()):
                    continue
                about = {"figure": self.name, "sweep": sweep.name, "label": one.label, "ours": one.ours}
                about["setting"] = cell.setting
                about |= {**cell.to_dict(), **cell.parameters, **dict(one.view.options), "view": str(one.view)}
                del about["parameters"]
                for metric, value in results.metrics(cell, one.view).items():
                    yield about | {"metric": metric, "value": value}


def wanted(figures: Iterable[Figure]) -> dict[Cell, list[View]]:
    """Every cell that the figures need, with all views needed of it."""
    asked: dict[Cell, dict[View, None]] = {}
    for figure in figures:
        for sweep in figure.sweeps:
            for one, cell in sweep.cells():
                asked.setdefault(cell, {})[one.view] = None
    return {cell: list(views) for cell, views in asked.items()}


def _thinned(values: Sequence[Any], most: int) -> list[Any]:
    # The first value, the last, and evenly spaced ones between them.
    last = len(values) - 1
    places = range(len(values)) if len(values) <= most else [round(i * last / (most - 1)) for i in range(most)]
    return [values[place] for place in places]


def _resolved(value: Any, epsilon: float) -> Any:
    if isinstance(value, Mapping):
        return {name: _resolved(part, epsilon) for name, part in value.items()}
    return value(epsilon) if callable(value) else value


def _all_smaller(name: str, values: Sequence[Any]) -> Sequence[Any]:
    # All by the same factor, so that distinct values stay distinct.
    if name in ("n", "d") and max(values) > _LARGE:
        return [max(1, value // 10) for value in values]
    return values


def _smaller(name: str, value: Any) -> Any:
    if name in ("n", "d") and value > _LARGE:
        return max(value // 10, _LARGE)
    return value
