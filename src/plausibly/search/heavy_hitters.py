"""The result of a search: the strings found, and the steps that led to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.arguments import whole_number
from ..core.domain import Strings
from ..core.errors import ParameterError
from ..core.estimates import Estimates
from ..core.wording import label_of
from ..core.words import Words, kind_of
from .trace import Traced
from .tree_picture import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame


@dataclass(frozen=True, eq=False, repr=False)
class HeavyHitters(Traced):
    """The strings that a search returns, the most common first, with their estimated counts.

    ``p_values`` has for each string, if the search computes it, the chance that any string without holders looks as
    good; ``trace`` the steps of the search; ``dictionary`` the strings given as likely; ``judged`` the p-values of all
    strings compared at the end, returned or not; ``strings`` the domain of the search.
    Intervals allow for the search's choice; strings that are not ``significant`` come last, with an upper bound only.
    """

    dictionary: frozenset[Any] = frozenset()
    strings: Strings | None = None

    def explain(self, item: str | bytes) -> str:
        """Explanation, step by step, of why this string was or was not found among the heavy hitters."""
        if not isinstance(item, str | bytes):
            raise ParameterError(Words("item: expected a string, got ", kind_of(item)))
        if self.strings is not None:
            # Normalized as on devices. Refuses a string that is not told apart from others.
            item = self.strings.ask([item])[1][0]
        item = item[: max([step.length for step in self.trace], default=0)]  # as it was reported
        returned = self.items.tolist()
        lines = [f"{label_of(item) or '(empty)'}: {'found' if item in returned else 'not found'}"]
        # A search may set strings aside once they end, and decide after its last step which ones it returns.
        settles = bool(self.trace) and (not returned or self.trace[-1].kept.tolist() != returned)
        if item in self.dictionary:
            lines.append("  in the dictionary: considered even if a step does not keep it")
        for step in self.trace:
            part = step.part_of(item)
            lines.append(f"  {step.label}, {label_of(part) or '(empty)'}: {step.fate_of(part)}")
            if part not in step.kept.tolist():
                # A string in the dictionary may still be returned.
                if item not in returned:
                    return "\n".join(lines)
                break
            if settles and not step.first and len(item) < step.length:
                break
        if settles and item in returned:
            place = returned.index(item)
            fate = f"number {place + 1:,} of {len(self):,} returned, estimated {self.values[place]:,.0f}"
            lines.append(f"  at the end: {fate}{self._p_value(item)}")
        elif settles:
            lines.append(f"  at the end: not among the {len(self):,} returned{self._p_value(item)}")
        return "\n".join(lines)

    def arranged(self, k: int) -> Estimates:
        # As they were returned, with the same intervals: strings that cannot be told apart from noise come last.
        first = np.arange(min(k, len(self)), dtype=np.intp)
        return self._picked(first, None if self.selection is None else self.selection.take(first))

    def _p_value(self, item: str | bytes) -> str:
        known = {} if self.p_values is None else dict(zip(self.items.tolist(), self.p_values.tolist(), strict=True))
        p_value = known.get(item, self.judged.get(item))
        if p_value is None:
            return ""
        return f", p-value {p_value:.1g}" if p_value >= 1e-99 else ", p-value below 1e-99"

    def to_frame(self, level: float = 0.95) -> DataFrame:
        """Heavy hitters as a pandas DataFrame like that of ``Estimates``, with p-values if there are any."""
        frame = super().to_frame(level)
        return frame if self.p_values is None else frame.assign(p_value=self.p_values)

    def plot_tree(self, ax: Axes | None = None, *, others: int = 6) -> Axes:
        """Plot the search for heavy hitters as a tree: its steps, the strings found, the best ``others`` dropped.

        The tree grows from left to right. Each node shows the characters that a step adds, and the width of a line is
        the estimated count. Without ``ax`` the figure is as large as it needs to be; on given axes it is scaled to fit.
        """
        others = whole_number("others", others, 0, 1000)
        try:
            return Picture(self, others).draw(ax)
        except ImportError as error:
            raise ImportError("plot_tree() needs matplotlib: pip install matplotlib") from error
