"""Draw figures from their rows alone, with the paper's axes and names, in one style."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .figure import AnyPanel, Dots, Figure, Map, Panel, Row
from .maps import MAP_HEIGHT, MAP_WIDTH, draw_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from matplotlib.legend import Legend

INK, GRID = "#222222", "#dddddd"
STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "plausibly",
}
_NARROW: dict[Any, Any] = {"font.size": 9.5, "axes.titlesize": 8.5}
"""What differs in narrow figures, which have maps."""
_COLOURS = {
    "DE": "#cc3311",
    "SUE": "#ee7733",
    "OUE": "#0077bb",
    "BLH": "#cc3311",
    "OLH": "#222222",
    "FLH": "#66ccee",
    "HR": "#ee3377",
    "HM": "#997700",
    "SS": "#009988",
    "TLH": "#117733",
    "AGR": "#882288",
    "CM": "#0077bb",
    "CS": "#ee7733",
    "CM, not debiased": "#33a0e0",
    "CS, shared signs": "#cc3311",
    "CS, signs on coefficients": "#cc3311",
    "BLOOM": "#222222",
    "RAPPOR as published, not private": "#222222",
    "SLIDE": "#0077bb",
    "HH": "#117733",
    "HAAR": "#997700",
    "SW": "#ee7733",
}
"""Colours of the schemes, the same in every figure and safe for the colour-blind; marks differ in greyscale."""
_OTHER = "#4477aa"
_NUMBERED = "#4477aa"
"""Colour of lines that stand for the values of a setting, from light to dark."""
_COMBINED = {"mean": "#0077bb", "median": "#117733", "min": "#cc3311", "peel": "#882288"}
"""Colours of the ways to combine the rows of a sketch."""
_WAYS = ("#cc3311", "#ee7733", "#0077bb", "#117733", "#222222", "#882288", "#33a0e0", "#997700")
"""Colours of several views of one scheme."""
_MARKS = "osD^v<>*dphPX"
"""Those first that can be told apart when they are hollow, too."""
_HOLLOW: dict[str, Any] = {
    "linestyle": "",
    "marker": "o",
    "markersize": 6.5,
    "markerfacecolor": "none",
    "markeredgecolor": INK,
    "markeredgewidth": 0.8,
}
_PRINTED = "black outline: printed in the paper"
_ACROSS = 3
"""Maximum number of panels in a row; an even number of panels is drawn in pairs."""
_WIDTH: dict[type, float] = {Panel: 3.9, Dots: 2.0}
"""Width of a panel in inches, without the names of its rows."""
_LABELS = 1.4
"""Width of the names of rows, in inches."""
_DOTS_ACROSS = 4
"""Maximum number of panels with dots in a row."""
_DOTS = "osD^"
_BESIDE = 0.36
"""Distance between the marks of one row."""
_AT_THE_AXIS = 12
"""Maximum length of a name at an axis; longer names go into the legend."""
_STEP = 0.028
"""Inches between the marks of two lines at the same point."""
_SIDEWAYS = 0.1
"""Maximum distance in inches between the first and the last mark at the same point: each moves less than its width."""
_COINCIDING = 1.04
"""Maximum ratio of the highest to the lowest of horizontal lines that hide one another."""
_FEW_DIGITS = (0.001, 1000)
"""Values on an axis that are written without powers of ten."""
_TICKS = {
    1.8: (1, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2, 2.2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 7, 8, 9),
    3: (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9),
    10: (1, 1.5, 2, 3, 4, 6, 8),
}
"""Ticks of a logarithmic axis in each power of ten, by the ratio of the ends that the axis stays below."""
_OPTIMA = {"range_mse": ("range_mse_optimum", "least possible")}
"""Metric of the least possible error and its name, by metric; that of counts for all others."""
_NAMES = {"epsilon": "ε"}
_PALETTE = 128


def draw_plots(figure: Figure, rows: Sequence[Row], folder: Path) -> list[Path]:
    """Draw the plots of all panels into one PNG and one SVG file."""
    import matplotlib as mpl

    paths = [folder / f"{figure.name}.{kind}" for kind in ("png", "svg")]
    with mpl.rc_context(STYLE | (_NARROW if _is_mapped(figure) else {})):
        canvas = _canvas(figure, rows)
        for path in paths:
            if path.suffix == ".png":
                _save_small(canvas, path)
            else:
                # Without a date, so that the same rows give the same file.
                canvas.savefig(path, metadata={"Date": None})
    return paths


def page_plot(figure: Figure, rows: Sequence[Row], across: int) -> str:
    """The plots of all panels as SVG for a page that has their title, with this number of panels in a row."""
    import matplotlib as mpl

    content = io.BytesIO()
    with mpl.rc_context(STYLE | (_NARROW if _is_mapped(figure) else {})):
        _canvas(figure, rows, across).savefig(content, format="svg", metadata={"Date": None})
    return content.getvalue().decode()


def _canvas(figure: Figure, rows: Sequence[Row], given: int | None = None) -> Canvas:
    # Without a title if the number of panels in a row is given.
    from matplotlib.figure import Figure as Canvas

    dotted = all(isinstance(panel, Dots) for panel in figure.panels)
    mapped = _is_mapped(figure)
    across = min(_ACROSS, len(figure.panels)) if len(figure.panels) % 2 else 2
    across = _dots_across(len(figure.panels)) if dotted else across
    across = across if given is None else given
    down = -(-len(figure.panels) // across)
    least = 5.2 if given is None and not mapped else 0.0
    # Beside maps, which are narrow to be read on a telephone, plots are narrow, too.
    widest = MAP_WIDTH if mapped else max(_WIDTH[type(panel)] for panel in figure.panels)
    width = max(least, across * widest + _LABELS * dotted)
    heights = [_height(panel, rows) for panel in figure.panels]
    ratios = [max(heights[row * across : (row + 1) * across] if mapped else heights) for row in range(down)]
    canvas = Canvas(figsize=(width, 0.7 + sum(ratios)), layout="constrained")
    if given is None:
        canvas.suptitle(figure.title, fontweight="bold", fontsize=11, parse_math=False)
    places = canvas.subplots(down, across, squeeze=False, height_ratios=ratios).ravel()
    for place in places[len(figure.panels) :]:
        place.remove()
    letters = figure.letters or [""]
    legends = [
        draw_panel(place, panel, rows, letter)
        for place, panel, letter in zip(places, figure.panels, letters, strict=False)
    ]
    if dotted:
        lines = filter(None, [figure.title, _setting(figure.panels[0], rows), figure.note])
        canvas.suptitle("\n".join(lines), fontsize=11, parse_math=False)
        _label_once(list(places[: len(figure.panels)]), across)
        # Panels may have different families.
        legends = [_families_first({name: mark for legend in legends for name, mark in legend.items()})]
    if mapped:
        maps = [place for place, panel in zip(places, figure.panels, strict=False) if isinstance(panel, Map)]
        _label_once(maps, across)
        for number, place in enumerate(places[: len(figure.panels)]):
            if place.get_ylabel() == places[number - number % across].get_ylabel() and number % across:
                place.set_ylabel("")
        canvas.suptitle("\n".join(filter(None, [figure.title, figure.note])), fontsize=10, parse_math=False)
    most = max(legends, key=len)
    if all(legend.keys() <= most.keys() for legend in legends):
        columns = max(1, int(width / (0.5 + 0.08 * max(map(len, most)))))  # inches per mark and per letter
        _plain(canvas.legend(most.values(), most.keys(), loc="outside lower center", ncols=min(columns, len(most))))
    else:
        for place, legend in zip(places, legends, strict=False):
            below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.19), "ncols": 2}
            _plain(place.legend(legend.values(), legend.keys(), **below))
    return canvas


def _is_mapped(figure: Figure) -> bool:
    return any(isinstance(panel, Map) for panel in figure.panels)


def _save_small(canvas: Any, path: Path) -> None:
    # Line drawings need few colours: with a palette, the file has a third of the size.
    from PIL import Image

    content = io.BytesIO()
    canvas.savefig(content, format="png", dpi=150)
    picture = Image.open(content).convert("RGB").quantize(_PALETTE, dither=Image.Dither.NONE)
    picture.save(path, "PNG", optimize=True)


def _dots_across(panels: int) -> int:
    # Full rows if possible.
    fitting = [across for across in range(2, _DOTS_ACROSS + 1) if panels % across == 0]
    return max(fitting, default=min(_DOTS_ACROSS, panels))


def _label_once(places: Sequence[Axes], across: int) -> None:
    # Rows with the same names are named at the left only.
    for number, place in enumerate(places):
        left = places[number - number % across]
        names = [[text.get_text() for text in axes.get_yticklabels()] for axes in (left, place)]
        if left is not place and names[0] == names[1]:
            place.set_yticklabels([])


def draw_panel(axes: Axes, panel: AnyPanel, rows: Sequence[Row], letter: str = "") -> dict[str, Any]:
    """Plot means over the repeats with one standard error, and return the plotted lines by name in the legend."""
    if isinstance(panel, Dots):
        return _draw_dots(axes, panel, rows, letter)
    if isinstance(panel, Map):
        draw_map(axes, panel, rows, letter)
        return {}
    own = [row for row in rows if row["sweep"] in panel.sweeps]
    drawn = [row for row in own if row["metric"] == panel.y]
    least_metric, least_name = _OPTIMA.get(panel.y, ("mse_optimum", "optimum in large domains"))
    if panel.relative:
        drawn = _relative(drawn, own, least_metric)
    groups = _grouped(drawn, panel.lines)
    styles = _styles([group[0] for group in groups.values()], panel)
    levels: dict[str, float] = {}
    legend: dict[str, Any] = {}
    for number, ((value, group), style) in enumerate(zip(groups.items(), styles, strict=True)):
        name = str(value) if panel.lines == "label" else _equals(panel.lines, value)
        if panel.x in group[0]:
            places, means, errors = _points(group, panel)
            if panel.x != "label":
                style = style | {"transform": _aside(axes, number, len(groups))}
                # matplotlib ignores lines that are moved, and their error bars.
                ends = [(x, y + side * e) for x, y, e in zip(places, means, errors, strict=True) for side in (-1, 0, 1)]
                axes.update_datalim([(x, y) for x, y in ends if y > 0 or not panel.logy])
            if panel.law:
                predicted = [row for row in own if row["metric"] == panel.law and row[panel.lines] == value]
                _draw_law(axes, predicted, panel, style)
                style = style | {"linestyle": ""}
            legend[name] = axes.errorbar(places, means, errors, markevery=max(1, len(places) // 10), **style)
        else:
            levels[name] = _as_drawn(_mean(group), 0.0, panel)[0]
            legend[name] = axes.axhline(levels[name], **style | {"marker": ""})
    if panel.optimum:
        least = [row for row in own if row["metric"] == least_metric and panel.x in row]
        least = _relative(least, own, least_metric) if panel.relative else least
        places, means, _ = _points(least, panel)
        # In front: the best schemes attain it, and their lines would hide it.
        style = {"color": INK, "linewidth": 1.0, "linestyle": ":", "zorder": 4}
        level = panel.x == "label" and means  # the same for all labels
        drawn_line = axes.axhline(means[0], **style) if level else axes.plot(places, means, **style)[0]
        legend[least_name] = drawn_line
        if len(set(means)) == 1:
            levels["optimum"] = means[0]
    _name_coinciding(axes, levels)
    if panel.x == "label" and max(len(str(name)) for name in groups) > _AT_THE_AXIS:
        axes.set_xticks([])
    elif panel.x == "label":
        legend = {name: drawn for name, drawn in legend.items() if name not in groups}
        axes.tick_params(axis="x", rotation=30)
        for tick in axes.get_xticklabels():
            tick.set(horizontalalignment="right", parse_math=False)
    elif panel.logx:
        _log_scale(axes, panel.logx, {row[panel.x] for row in drawn if panel.x in row})
    elif len(places := sorted({row[panel.x] for row in drawn if panel.x in row})) <= 8 and max(places, default=0) < 100:
        axes.set_xticks(places)
    else:
        axes.locator_params(axis="x", nbins=6)
        axes.xaxis.set_major_formatter("{x:,g}")
    if panel.x == "label":
        axes.margins(x=0.15)
    if panel.logy:
        axes.set_yscale("log")
    axes.autoscale_view()
    if panel.limits is not None:
        axes.set_ylim(*panel.limits)
    if panel.logy:
        _name_ticks(axes)
    title = f"({letter}) {panel.title}" if letter else panel.title
    axes.set(xlabel=panel.xlabel, ylabel=panel.ylabel)
    axes.set_title(f"{title}\n{_setting(panel, drawn)}", parse_math=False)
    axes.grid(axis="y", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    return legend


def _draw_law(axes: Axes, rows: Sequence[Row], panel: Panel, style: dict[str, Any]) -> None:
    places, means, _ = _points(rows, panel)
    shared = {name: style[name] for name in ("color", "transform") if name in style}
    axes.plot(places, means, linestyle="-", linewidth=1.0, **shared)
    axes.update_datalim(list(zip(places, means, strict=True)))


def _name_coinciding(axes: Axes, levels: dict[str, float]) -> None:
    # Horizontal lines that all hide one another are named in the plot.
    heights = list(levels.values())
    if len(levels) > 1 and max(heights) <= _COINCIDING * min(heights):
        place: dict[str, Any] = {"xytext": (0, 2), "textcoords": "offset points", "ha": "right", "va": "bottom"}
        axes.annotate(" ≈ ".join(levels), (1, max(heights)), xycoords=("axes fraction", "data"), fontsize=7.5, **place)


def _relative(rows: Sequence[Row], all_rows: Sequence[Row], metric: str) -> list[Row]:
    # The least possible error depends only on n and epsilon.
    least = {(row["n"], row["epsilon"]): row["value"] for row in all_rows if row["metric"] == metric}
    return [{**row, "value": row["value"] / least[row["n"], row["epsilon"]]} for row in rows]


def _aside(axes: Axes, number: int, count: int) -> Any:
    # Marks of lines that coincide stand side by side.
    from matplotlib.transforms import ScaledTranslation

    scale = axes.get_figure().dpi_scale_trans  # type: ignore[union-attr]
    step = min(_STEP, _SIDEWAYS / max(1, count - 1))
    return axes.transData + ScaledTranslation(step * (number - (count - 1) / 2), 0, scale)


def _name_ticks(axes: Axes) -> None:
    # matplotlib names powers of ten only, of which an axis may have one or none. A narrow axis has more ticks.
    from matplotlib.ticker import LogLocator, NullLocator

    low, high = axes.get_ylim()
    few = _FEW_DIGITS[0] <= low and high <= _FEW_DIGITS[1]
    fine = high < 300 * low or few
    steps = next((steps for wide, steps in _TICKS.items() if high < wide * low), (1, 2, 5) if fine else (1,))

    def name(value: float, _place: float) -> str:
        if few:
            return f"{value:g}"
        first, power = f"{value:.1e}".split("e")
        return f"${first.removesuffix('.0')} \\times 10^{{{int(power)}}}$".replace("$1 \\times ", "$")

    axes.yaxis.set_major_locator(LogLocator(subs=steps, numticks=20))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(name)


def _log_scale(axes: Axes, base: int, places: set[float]) -> None:
    if 0 not in places:
        axes.set_xscale("log", base=base)
        return
    # Linear between 0 and the first other point, which are one step apart.
    axes.set_xscale("symlog", base=base, linthresh=min(places - {0}), linscale=0.7)
    axes.margins(x=0.03)


def _plain(legend: Legend) -> None:
    # A file name with dollar signs is not a formula.
    for text in legend.get_texts():
        text.set_parse_math(False)


def _draw_dots(axes: Axes, dots: Dots, rows: Sequence[Row], letter: str) -> dict[str, Any]:
    # The first row at the top. The bar is a standard deviation, because single collections are compared.
    from matplotlib.lines import Line2D

    groups = _dotted(rows, dots)
    places = {name: -place for place, name in enumerate(dict.fromkeys(map(dots.names, groups)))}
    kinds = list(dict.fromkeys(map(dots.kinds, groups)))
    legend: dict[str, Any] = {}
    for label, group in groups.items():
        values, colour, kind = [row["value"] for row in group], _dot_colour(group[0]), dots.kinds(label)
        place = places[dots.names(label)] + _BESIDE * ((len(kinds) - 1) / 2 - kinds.index(kind))
        mean, bar = _mean(group), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
        # Scores are between 0 and 1: no bar goes beyond.
        bars = [[min(bar, mean)], [min(bar, max(0.0, 1 - mean))]]
        mark: dict[str, Any] = {"marker": _DOTS[kinds.index(kind) % len(_DOTS)], "markersize": 5.0}
        axes.errorbar(mean, place, xerr=bars, linestyle="", color=colour, linewidth=1.2, **mark)
        if dots.families(label):
            legend.setdefault(dots.families(label), Line2D([], [], color=colour, linewidth=4))
        legend.setdefault(kind or "measured", Line2D([], [], color="#777777", linestyle="", **mark))
        for value in dots.printed.get(label, ()):
            axes.plot(value, place, **_HOLLOW | {"marker": mark["marker"]})
            legend.setdefault(_PRINTED, Line2D([], [], **_HOLLOW))
    axes.set_yticks(list(places.values()), list(places))
    axes.tick_params(axis="y", length=0)
    axes.set(xlim=(-0.03, 1.03), ylim=(min(places.values(), default=0) - 0.7, 0.7), xlabel=dots.xlabel)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", ".25", ".5", ".75", "1"])
    axes.set_title(f"({letter}) {dots.title}" if letter else dots.title, parse_math=False, loc="left")
    axes.grid(axis="both", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    return _families_first(legend)


def _families_first(legend: dict[str, Any]) -> dict[str, Any]:
    # Then the marks, those of the paper last.
    return dict(sorted(legend.items(), key=lambda entry: (entry[1].get_linestyle() == "None", entry[0] == _PRINTED)))


def _dot_colour(row: Row) -> str:
    return _COLOURS.get(row["oracle"]["scheme"], _OTHER) if "oracle" in row else INK


def _dotted(rows: Sequence[Row], dots: Dots) -> dict[Any, list[Row]]:
    # In the order of the panel's sweeps.
    own = [row for name in dots.sweeps for row in rows if row["sweep"] == name and row["metric"] == dots.x]
    return _grouped([row for row in own if dots.shows(row["label"])], "label")


def _height(panel: AnyPanel, rows: Sequence[Row]) -> float:
    if isinstance(panel, Map):
        return MAP_HEIGHT
    if isinstance(panel, Panel):
        return 3.6
    return 0.8 + 0.21 * max(4, len(set(map(panel.names, _dotted(rows, panel)))))


def _mean(rows: Sequence[Row]) -> float:
    return float(np.mean([row["value"] for row in rows]))


def _styles(rows: Sequence[Row], panel: Panel) -> list[dict[str, Any]]:
    # Each family has its colour. Its lines go from light to dark; lines that are not in the paper are dashed.
    # Lines with the same value of a given setting have the same mark, too. Values of a setting look unlike schemes.
    setting, numbered = panel.colours, panel.lines != "label"
    values = [row.get(setting) for row in rows] if setting else list(range(len(rows)))
    different = list(dict.fromkeys(values))
    marks = [different.index(value) for value in values]
    colours = [_WAYS[mark % len(_WAYS)] for mark in marks] if setting else _colours(rows)
    colours = [_NUMBERED] * len(rows) if numbered and not setting else colours
    signs = _MARKS[::-1] if numbered else _MARKS
    families = [(colour, row["ours"]) for colour, row in zip(colours, rows, strict=True)]
    styles = []
    for number, (family, ours) in enumerate(families):
        shades, shade = families.count((family, ours)), families[:number].count((family, ours))
        # Two shades differ no more than neighbours among three.
        colour = _shaded(family, min(1.0, (shades - 1) / 2) - shade * min(1.0, 2 / max(1, shades - 1)))
        own = None if numbered else panel.looks.get(rows[number]["label"])
        look, mark = own or (colour, signs[marks[number] % len(signs)])
        style = {"color": look, "marker": mark, "markersize": 4.5, "linewidth": 1.4}
        styles.append(style | ({"linestyle": (0, (4, 2)), "markerfacecolor": "white"} if ours else {"linestyle": "-"}))
    return styles


def _colours(rows: Sequence[Row]) -> list[str]:
    # Sketches over several oracles are coloured by oracle; those over one, by how their rows are combined; several
    # views of one scheme, by view.
    schemes = [row["scheme"] for row in rows]
    oracles = [row["oracle"]["scheme"] if "oracle" in row else row["scheme"] for row in rows]
    if len(set(schemes)) == 1 and len({row["view"] for row in rows}) == len(rows) > 1:
        return [_WAYS[number % len(_WAYS)] for number in range(len(rows))]
    several = len(set(oracles) - set(schemes)) > 1
    if not several and len({row["combine"] for row in rows if "combine" in row}) > 1:
        return [_COMBINED.get(row.get("combine", ""), INK) for row in rows]
    return [_COLOURS.get(name, _OTHER) for name in (oracles if several else schemes)]


def _shaded(colour: str, light: float) -> tuple[float, ...]:
    # −1 is nearly black, 0 the colour itself, 1 nearly white.
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return tuple(part + 0.6 * abs(light) * ((light > 0) - part) for part in parts)


def _points(rows: Sequence[Row], panel: Panel) -> tuple[list[float], list[float], list[float]]:
    # Means and standard errors, from left to right.
    points = []
    for place, group in sorted(_grouped(rows, panel.x).items()):
        values = [row["value"] for row in group]
        error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
        points.append((place, *_as_drawn(float(np.mean(values)), error, panel)))
    return tuple(map(list, zip(*points, strict=True))) if points else ([], [], [])  # type: ignore[return-value]


def _as_drawn(mean: float, error: float, panel: Panel) -> tuple[float, float]:
    # The error of a root is that of the square, divided by the derivative.
    if panel.root:
        mean, error = mean**0.5, error / (2 * mean**0.5) if mean > 0 else 0.0
    scale = 100 if panel.percent else 1
    return scale * mean, scale * error


def _setting(panel: AnyPanel, rows: Sequence[Row]) -> str:
    # The settings shared by the whole panel; d = 0 (strings) is not shown.
    drawn = (panel.x, panel.lines) if isinstance(panel, Panel) else ()
    fixed = {name: {row[name] for row in rows} for name in ("n", "d", "epsilon") if name not in drawn}
    same = [_equals(name, *values) for name, values in fixed.items() if len(values) == 1 and values != {0}]
    return ", ".join([*sorted({row["data"] for row in rows}), *same])


def _equals(name: str, value: Any) -> str:
    return f"{_NAMES.get(name, name)} = {value:{',' if isinstance(value, int) else 'g'}}"


def _grouped(rows: Iterable[Row], name: str) -> dict[Any, list[Row]]:
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[name], []).append(row)
    return groups
