"""Charts of estimates and trees of searches, drawn without a screen."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from ..core.bar_chart import chart_size
from ..core.errors import StateError
from ..core.estimates import MOST_BARS
from ..core.history import Kind, without_steps
from ..core.ordered_answers import OrderedAnswer
from ..core.ordered_charts import Drawn
from ..core.wording import decimal
from ..search.tree_picture import Picture
from .answers import Answer, Source

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_OTHERS = 6
NARROW = 4.2
"""Width in inches of a chart for telephones, where an inch is some 85 pixels."""
_BAND = 0.35
"""Height in inches of the notice above a figure that its reports are simulated."""
_MARGIN = 0.12
_DPI = 200
_FAINT, _ALARM = "#666666", "#a33000"
_SIMULATED = "SIMULATED: reports are not from real users"
# Text stays text in SVG: it can be searched, and viewers have fonts for more scripts than matplotlib.
_STYLE: Any = {"svg.fonttype": "none", "svg.hashsalt": "plausibly"}


def chart(answer: Answer, *, narrow: bool = False) -> Figure:
    """The bar chart of the largest estimates of an answer, with a caption; ``narrow``: for the width of a telephone."""
    from matplotlib.figure import Figure

    if drawable(answer):
        return _panels(answer, drawable(answer), narrow=narrow)
    if answer.asked and not len(answer.estimates):
        raise StateError("a mean has no chart; write .csv, .json or .html")
    bars = max(1, min(answer.largest, len(answer.estimates), MOST_BARS))
    drawn = answer.estimates.chart(bars, level=answer.level, title=answer.title, unit=answer.unit)
    width, height = chart_size(max(len(drawn.labels), 1))
    if narrow:
        width, height = NARROW, 1.5 * height
    figure = Figure(figsize=(width, height + 0.3 + _BAND * answer.source.simulated), layout="constrained")
    drawn.draw(figure.subplots(), narrow=narrow)
    figure.supxlabel(_caption(answer, bars), x=0.01, ha="left", fontsize=9, color=_FAINT, parse_math=False)
    if answer.source.simulated:
        figure.suptitle(_SIMULATED, color=_ALARM, fontweight="bold", fontsize=9 if narrow else 12)
    return figure


def drawable(answer: Answer) -> list[OrderedAnswer]:
    """The answers about an order that have charts: all but a mean."""
    return [each for each in answer.panels if each.drawn]


def panel_chart(answer: Answer, asked: OrderedAnswer, *, narrow: bool = False) -> Figure:
    """The chart of one answer about an order; ``narrow``: for the width of a telephone."""
    return _panels(answer, [asked], narrow=narrow)


def _panels(answer: Answer, asked: Sequence[OrderedAnswer], *, narrow: bool) -> Figure:
    titles = [answer.title, *[None] * (len(asked) - 1)]
    charts = [
        each.chart(level=answer.level, title=title, unit=answer.unit) for each, title in zip(asked, titles, strict=True)
    ]
    steps = map(str, without_steps(answer.estimates.history, Kind.SELECTION, Kind.SEARCH))
    return figure_of(charts, answer.source, narrow=narrow, steps=tuple(steps))


def figure_of(
    charts: Sequence[Drawn], source: Source, *, narrow: bool = False, width: float = 8.0, steps: Sequence[str] = ()
) -> Figure:
    """Charts below each other, with a caption that names the scheme; ``narrow``: for the width of a telephone."""
    from matplotlib.figure import Figure

    heights = [each.height * (1.15 if narrow else 1.0) for each in charts]
    simulated = _BAND * source.simulated
    figure = Figure(figsize=(NARROW if narrow else width, sum(heights) + 0.3 + simulated), layout="constrained")
    axes = figure.subplots(len(charts), squeeze=False, height_ratios=heights)[:, 0]
    for ax, each in zip(axes, charts, strict=True):
        each.draw(ax, narrow=narrow)
    told = "; ".join([f"{source.scheme.name}, ε = {decimal(source.scheme.epsilon)}", *steps])
    figure.supxlabel(told, x=0.01, ha="left", fontsize=9, color=_FAINT, parse_math=False)
    if source.simulated:
        figure.suptitle(_SIMULATED, color=_ALARM, fontweight="bold", fontsize=9 if narrow else 12)
    return figure


def tree_chart(answer: Answer) -> Figure:
    """The chart of a search: its tree."""
    from matplotlib.figure import Figure

    if answer.found is None:
        raise StateError("expected the result of a search to draw a tree, got estimates of given items")
    picture = Picture(answer.found, _OTHERS)
    width, height = picture.size
    wide, high = width + 2 * _MARGIN, height + 2 * _MARGIN + _BAND * answer.source.simulated
    figure = Figure(figsize=(wide, high))
    picture.draw(figure.add_axes((_MARGIN / wide, _MARGIN / high, width / wide, height / high)))
    if answer.source.simulated:
        top = 1 - _MARGIN / high
        figure.text(0.5, top, _SIMULATED, color=_ALARM, fontweight="bold", fontsize=10, ha="center", va="top")
    return figure


def page_tree(answer: Answer) -> tuple[Figure, list[str]]:
    """The tree of a search for a page that has the intervals and the notice elsewhere, and the lines of its legend."""
    from matplotlib.figure import Figure

    assert answer.found is not None
    picture = Picture(answer.found, _OTHERS, intervals=False)
    width, height = picture.size
    figure = Figure(figsize=(width + 2 * _MARGIN, height + 2 * _MARGIN))
    picture.draw(figure.add_axes((0, 0, 1, 1)))
    return figure, picture.notes


def svg_of(figure: Figure) -> str:
    """The chart as SVG text."""
    content = io.BytesIO()
    save_chart(figure, content, "svg")
    return content.getvalue().decode()


def save_chart(figure: Figure, where: BinaryIO, kind: str) -> None:
    """Write the chart as PNG or SVG; equal charts give equal bytes."""
    import matplotlib as mpl

    given: dict[str, Any] = {"metadata": {"Date": None}} if kind == "svg" else {"dpi": _DPI}
    with mpl.rc_context(_STYLE), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        content = io.BytesIO()
        figure.savefig(content, format=kind, **given)
    # Keep consecutive spaces in SVG.
    where.write(content.getvalue().replace(b"*{stroke-linejoin", b"text{white-space:pre} *{stroke-linejoin", 1))
    boxes = [each for each in caught if "missing from font" in str(each.message)]
    for each in caught:
        if each not in boxes:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    if boxes and kind == "png":
        words = "matplotlib has no font for some characters, which are drawn as boxes; write .svg or .html instead"
        warnings.warn(words, stacklevel=2)


def _caption(answer: Answer, bars: int) -> str:
    made, scheme = answer.estimates, answer.source.scheme
    told = [f"{scheme.name}, ε = {decimal(scheme.epsilon)}"]
    shown = made.arranged(bars)
    told += [answer.selected_text(shown)] * (len(shown) < len(made))
    told += map(str, without_steps(made.history, Kind.SELECTION, Kind.SEARCH))
    return "; ".join(told)
