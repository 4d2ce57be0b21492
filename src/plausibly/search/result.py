"""What a search found, and how it came to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..core.domain import whole_number
from ..core.errors import ParameterError
from ..core.estimates import Estimates, Floats, label_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHOWN = 12
_FOUND, _LOST = "#4477aa", "#bbbbbb"


@dataclass(frozen=True, eq=False, repr=False)
class Step:
    """One step of a search: which candidates were looked at, and which were kept."""

    label: str
    length: int
    """Where the candidates end: after so many characters of a string."""
    users: int
    candidates: int
    kept: npt.NDArray[Any]
    """The candidates that stayed, the best first."""
    values: Floats
    """Their estimated counts."""
    first: int = 0
    """Where they begin."""

    def part_of(self, item: Any) -> Any:
        """What this step looks at of a string."""
        return item[self.first : self.length]

    @property
    def cut_off(self) -> float:
        """The least estimate that was kept."""
        return float(self.values.min()) if len(self.values) else float("inf")

    def __repr__(self) -> str:
        numbers = f"{self.users:,} users, {self.candidates:,} candidates, {len(self.kept):,} kept"
        return f"<{self.label}: {numbers}{f', down to {self.cut_off:,.0f}' * bool(len(self.kept))}>"


@dataclass(frozen=True, eq=False, repr=False)
class HeavyHitters(Estimates):
    """The strings that a search returns, the most common first, with their estimated counts.

    ``p_values`` holds for each, where the search has a rule, the chance that it or any other string nobody has would
    have looked as good; ``trace`` the steps of the search. What is chosen for being large tends to be estimated too
    large.
    """

    p_values: Floats | None = None
    trace: tuple[Step, ...] = ()

    def explain(self, item: str | bytes) -> str:
        """Why this string was or was not found, step by step."""
        if not isinstance(item, str | bytes):
            raise ParameterError(f"item: expected a string, came {type(item).__name__}")
        item = item[: max([step.length for step in self.trace], default=0)]  # as it was reported
        lines = [f"{label_of(item) or '(empty)'}: {'found' if item in self.items.tolist() else 'not found'}"]
        for step in self.trace:
            part = step.part_of(item)
            where = np.flatnonzero(np.array([kept == part for kept in step.kept.tolist()], dtype=np.bool_))
            if len(where):
                place = int(where[0])
                fate = f"number {place + 1} of {len(step.kept):,} kept, estimated {step.values[place]:,.0f}"
            else:
                fate = f"not among the {len(step.kept):,} kept, the last of which has {step.cut_off:,.0f}"
            lines.append(f"  {step.label}, {label_of(part) or '(empty)'}: {fate}")
            if not len(where):
                break
        return "\n".join(lines)

    def plot_tree(self, ax: Axes | None = None, *, others: int = 6) -> Axes:
        """The search as a tree: a column for each step, the paths of what was found, the best that led nowhere.

        A line is as wide as the estimate that it leads to.
        """
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ImportError("plot_tree() needs matplotlib: pip install matplotlib") from error
        others = whole_number("others", others, 0, 1000)
        steps = [step for step in self.trace if len(step.kept)]
        columns = [self._column(step, others) for step in steps]
        if ax is None:
            rows = max([len(column) for column in columns], default=1)
            size = max(4.0, 0.6 + 2.4 * len(columns)), 1.0 + 0.26 * rows
            ax = pyplot.subplots(figsize=size, layout="constrained")[1]
        largest = max([value for column in columns for value in column.values()], default=0.0) or 1.0
        places = [{text: i + (1 - len(column)) / 2 for i, text in enumerate(column)} for column in columns]
        for x, (step, column) in enumerate(zip(steps, columns, strict=True)):
            leading = self._leading(step)
            for text, value in column.items():
                weight, leads = max(value, 0.0) / largest, text in leading
                colour, y = _FOUND if leads else _LOST, places[x][text]
                for before in self._before(steps, x, text) if x else ():
                    if before in places[x - 1]:
                        ends = [places[x - 1][before], y]
                        ax.plot([x - 0.97, x - 0.03], ends, color=colour, linewidth=0.6 + 4.4 * weight, zorder=1)
                ax.plot([x], [y], "o", color=colour, markersize=4 + 5 * weight**0.5, zorder=2)
                ax.annotate(
                    label_of(text) or "(empty)",
                    (x, y),
                    xytext=(8, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=8,
                    color="#222222" if leads else "#777777",
                    bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.85},
                    parse_math=False,
                    zorder=3,
                )
        titles = [
            f"{step.label}\n{step.users:,} users\n{len(step.kept):,} of {step.candidates:,} kept" for step in steps
        ]
        ax.set_xticks(range(len(steps)), titles, fontsize=8)
        ax.set_xlim(-0.3, len(steps) - 0.3)
        tallest = max([len(column) for column in columns], default=1)
        ax.set_ylim(tallest / 2 + 0.2, -tallest / 2 - 0.2)
        ax.set_yticks([])
        ax.xaxis.tick_top()
        ax.tick_params(axis="x", length=0)
        ax.spines[:].set_visible(False)
        return ax

    def _leading(self, step: Step) -> set[Any]:
        # What this step saw of the strings that were found.
        return {step.part_of(item) for item in self.items.tolist()[:_SHOWN]}

    def _before(self, steps: list[Step], x: int, text: Any) -> set[Any]:
        # What came before this text one step earlier: its beginning, or in a puzzle the other pieces of its strings.
        step, earlier = steps[x], steps[x - 1]
        if step.first == earlier.first == 0:
            return {earlier.part_of(text)}
        return {earlier.part_of(item) for item in self.items.tolist()[:_SHOWN] if step.part_of(item) == text}

    def _column(self, step: Step, others: int) -> dict[Any, float]:
        # What led to something found, and the best of what did not; similar ones side by side.
        kept: dict[Any, float] = {}
        for text, value in zip(step.kept.tolist(), step.values.tolist(), strict=True):
            kept.setdefault(text, value)  # under several tags: the best
        leading = self._leading(step)
        chosen = [text for text in kept if text in leading]
        chosen += [text for text in kept if text not in leading][:others]
        return {text: kept[text] for text in sorted(chosen)}
