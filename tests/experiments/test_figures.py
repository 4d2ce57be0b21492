"""Figures: what they declare, what they share, and that a picture is drawn from rows alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure as Canvas

from invented import rows_of
from plausibly.core.errors import ParameterError
from plausibly.experiments.cells import PLAIN, Cell, view
from plausibly.experiments.figure import Dots, Figure, Panel, Sweep, Table, line, wanted
from plausibly.experiments.plots import _dots_across, draw_panel, draw_plots
from plausibly.experiments.results import Results
from plausibly.experiments.tables import table_of

OPTIMUM = "optimum in large domains"


def test_tables_may_be_sorted_and_show_standard_deviations() -> None:
    lines = [line("worse", "DE"), line("better", "OUE"), line("unsaid", "SUE")]
    sweep = Sweep(name="s", lines=lines, vary={"epsilon": [1.0]}, n=10, d=0, repeats=3)
    columns = {"f1": lambda mean: f"{mean['f1']:.2f} ({mean['±f1']:.2f})"}
    table = Table(sweeps=["s"], said={"worse": [], "better": []}, columns=columns, order="f1")
    results = Results()
    for one, cell in sweep.cells():
        f1 = {"DE": 0.2, "OUE": 0.4, "SUE": 0.9}[one.scheme] + cell.repeat / 10
        results.add(cell, {}, {"plain": {"f1": f1}})
    figure = Figure(name="f", title="f", sweeps=[sweep], table=table)
    made = table_of(figure, table, list(figure.rows(results)))
    assert made.lines == (("better", "0.50 (0.10)"), ("worse", "0.30 (0.10)"))
    assert made.caption == "n = 10, epsilon = 1"  # strings are not counted


def test_dots_are_in_the_declared_order_beside_what_the_paper_prints() -> None:
    lines = [line(f"{name} {t}", oracle={"scheme": name}) for name in ("HM", "OUE") for t in (1, 2)]
    bound = Sweep(name="bound", lines=[line("C1 1", "C1")], d=0, repeats=1)
    sweep = Sweep(name="s", lines=lines, d=0, repeats=2)
    own = {"names": lambda label: label[:-2].lower(), "kinds": lambda label: f"T = {label[-1]}"}
    families = {"families": lambda label: label[:-2]}
    printed = {"HM 2": [0.7, 0.75]}
    dots = Dots(title="t", sweeps=["s", "bound"], x="f1", xlabel="F1", printed=printed, **own, **families)
    results = Results()
    for _, cell in [*bound.cells(), *sweep.cells()]:
        results.add(cell, {}, {"plain": {"f1": 0.4 + cell.repeat / 10}})
    figure = Figure(name="f", title="f", sweeps=[bound, sweep], panels=[dots])
    axes = Canvas().subplots()
    legend = draw_panel(axes, dots, list(figure.rows(results)))
    assert list(legend) == ["HM", "OUE", "C1", "T = 1", "T = 2", "black outline: printed in the paper"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["hm", "oue", "c1"]
    assert axes.get_yticks().tolist() == [0, -1, -2]
    # Marks of one row are beside each other, and printed values at the height of their line.
    assert [[0.7, -0.18]] in [line.get_xydata().tolist() for line in axes.lines]
    assert legend["T = 1"].get_marker() != legend["T = 2"].get_marker()
    assert len({legend[name].get_color() for name in ("HM", "OUE", "C1")}) == 3


@pytest.mark.full
def test_dots_show_some_lines_of_a_sweep_and_have_one_legend(tmp_path: Path) -> None:
    lines = [line(name, oracle={"scheme": name}) for name in ("HM", "OUE", "SUE")]
    sweep = Sweep(name="s", lines=lines, d=0, repeats=1)
    own: dict[str, Any] = {"sweeps": ["s"], "x": "f1", "xlabel": "F1", "families": lambda label: f"colour of {label}"}
    panels = [
        Dots(title=f"without {other}", shows=lambda label, other=other: label != other, **own)
        for other in ("OUE", "SUE", "HM")
    ]
    results = Results()
    for _, cell in sweep.cells():
        results.add(cell, {}, {"plain": {"f1": 0.5}})
    figure = Figure(name="f", title="f", sweeps=[sweep], panels=panels)
    rows = list(figure.rows(results))
    axes = Canvas().subplots()
    assert list(draw_panel(axes, panels[0], rows)) == ["colour of HM", "colour of SUE", "measured"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["HM", "SUE"]
    drawn = next(path for path in draw_plots(figure, rows, tmp_path) if path.suffix == ".svg").read_text("utf-8")
    assert [drawn.count(f"colour of {name}<") for name in ("HM", "OUE", "SUE")] == [1, 1, 1]


@pytest.mark.parametrize(("panels", "across"), [(1, 1), (4, 4), (5, 4), (6, 3), (8, 4), (9, 3)])
def test_dots_fill_their_rows(panels: int, across: int) -> None:
    assert _dots_across(panels) == across


def test_a_panel_of_what_no_row_has_is_refused() -> None:
    sweep = Sweep(name="s", lines=[line("DE")], vary={"epsilon": [1, 2]})
    right = {"title": "", "sweeps": ["s"], "x": "epsilon", "xlabel": ""}
    for wrong, told in (
        ({"x": "epsilom"}, "'epsilon'"),
        ({"lines": "labels"}, "'label'"),
        ({"colours": "epsylon"}, "'epsilon'"),
        ({"sweeps": ["t"]}, "valid: s"),
    ):
        with pytest.raises(ParameterError, match=told):
            Figure(name="f", title="", sweeps=[sweep], panels=[Panel(**right | wrong)])


def test_views_of_one_tally_are_one_cell() -> None:
    lines = [line("a", "HM"), line("b", "HM", view=PLAIN)]
    sweep = Sweep(name="one", lines=lines, repeats=1)
    assert len(wanted([Figure(name="x", title="x", sweeps=[sweep], panels=[])])) == 1


def test_rows_are_tidy_and_leave_out_what_is_missing() -> None:
    sweep = Sweep(name="s", lines=[line("F", "FLH")], vary={"hashes": [2, 4]}, n=10, d=4, repeats=1)
    figure = Figure(name="f", title="f", sweeps=[sweep], panels=[])
    results = Results()
    assert list(figure.rows(results)) == []
    cell = Cell("FLH", {"hashes": 4}, n=10, d=4)
    results.add(cell, {"report_bytes": 2}, {"plain": {"mse": 3.0}})
    about = {"figure": "f", "sweep": "s", "label": "F", "ours": False, "view": "plain", "scheme": "FLH", "hashes": 4}
    about |= {"data": "zipf-1.1", "n": 10, "d": 4, "epsilon": 3.0, "data_seed": 0, "repeat": 0, "rounds": 1}
    about |= {"setting": cell.setting}
    assert list(figure.rows(results)) == [
        about | {"metric": "report_bytes", "value": 2},
        about | {"metric": "mse", "value": 3.0},
    ]


def test_a_setting_may_decide_the_colours() -> None:
    lines = [line(f"{name} {ours}", "FLH", ours=ours, hashes=name) for name in (2, 4) for ours in (False, True)]
    sweep = Sweep(name="s", lines=lines, vary={"epsilon": [1.0, 2.0]}, repeats=1)
    panel = Panel(title="Errors", sweeps=["s"], x="epsilon", xlabel="ε", colours="hashes", optimum=False)
    rows = rows_of(Figure(name="f", title="f", sweeps=[sweep], panels=[panel]))
    drawn = {name: bars[0] for name, bars in draw_panel(Canvas().subplots(), panel, rows).items()}
    for look in ("get_color", "get_marker"):
        looks = {name: getattr(one, look)() for name, one in drawn.items()}
        assert looks["2 False"] == looks["2 True"] != looks["4 False"] == looks["4 True"]
    assert drawn["2 False"].get_linestyle() != drawn["2 True"].get_linestyle()


def test_zero_is_on_a_logarithmic_axis_too() -> None:
    lines = [line("BLOOM", view=view(alpha=alpha)) for alpha in (0, 0.01, 0.1)]
    sweep = Sweep(name="s", lines=lines, repeats=1)
    panel = Panel(title="Errors", sweeps=["s"], x="alpha", xlabel="α", logx=10, optimum=False)
    axes = Canvas().subplots()
    draw_panel(axes, panel, rows_of(Figure(name="f", title="f", sweeps=[sweep], panels=[panel])))
    left, first, second = axes.transData.transform([(x, 1) for x in (0, 0.01, 0.1)])[:, 0]
    assert axes.get_xlim()[0] < 0
    assert second - first > first - left > 0


def test_relative_errors_are_divided_by_the_optimum_and_stand_side_by_side() -> None:
    sweep = Sweep(name="s", lines=[line("DE"), line("TLH", ours=True)], vary={"epsilon": [1.0, 2.0]}, repeats=3)
    panel = Panel(title="Errors", sweeps=["s"], x="epsilon", xlabel="ε", relative=True, limits=(0.5, 8))
    axes = Canvas().subplots()
    rows = rows_of(Figure(name="f", title="f", sweeps=[sweep], panels=[panel]))
    legend: dict[str, Any] = draw_panel(axes, panel, rows)
    one, other = legend["DE"][0], legend["TLH"][0]
    assert one.get_xydata().tolist() == [[1, 4], [2, 2]]  # means 2 and 1, and the optimum is 0.5
    assert legend[OPTIMUM].get_ydata().tolist() == [1.0, 1.0]
    left, right = (bars.get_transform().transform((1, 4))[0] for bars in (one, other))
    assert left < right
    assert axes.get_ylim() == (0.5, 8)
    low, high = axes.get_xlim()
    assert low < 1
    assert high > 2


def test_points_are_means_with_one_standard_error() -> None:
    sweep = Sweep(name="s", lines=[line("DE"), line("TLH", ours=True)], vary={"epsilon": [1.0, 2.0]}, repeats=3)
    panel = Panel(title="Errors", sweeps=["s"], x="epsilon", xlabel="ε")
    legend: dict[str, Any] = draw_panel(
        Canvas().subplots(), panel, rows_of(Figure(name="f", title="f", sweeps=[sweep], panels=[panel])), "a"
    )
    points, _, (bars,) = legend["DE"]
    assert points.get_xydata().tolist() == [[1, 2], [2, 1]]
    # Of 1, 2 and 3: a standard deviation of 1, over the root of 3.
    low, high = bars.get_segments()[0][:, 1]
    assert (high - low) / 2 == pytest.approx(3**-0.5)
    assert points.get_linestyle() == "-"
    assert legend["TLH"][0].get_linestyle() == "--"
    assert legend[OPTIMUM].get_ydata().tolist() == [0.5, 0.5]


def test_a_law_is_a_line_through_marks_that_are_not_joined() -> None:
    sweep = Sweep(name="s", lines=[line("DE"), line("TLH")], vary={"epsilon": [1.0, 2.0]}, repeats=1)
    panel = Panel(title="Errors", sweeps=["s"], x="epsilon", xlabel="ε", optimum=False, logy=False, law="mse_theory")
    rows = rows_of(Figure(name="f", title="f", sweeps=[sweep], panels=[panel]))
    rows = [{**row, "value": 5 * row["value"]} if row["metric"] == "mse_theory" else row for row in rows]
    axes = Canvas().subplots()
    legend: dict[str, Any] = draw_panel(axes, panel, rows)
    laws = [drawn for drawn in axes.get_lines() if drawn.get_linestyle() == "-"]
    assert [drawn.get_ydata().tolist() for drawn in laws] == [[5, 2.5], [5, 2.5]]  # type: ignore[union-attr]
    assert [drawn.get_color() for drawn in laws] == [legend[name][0].get_color() for name in ("DE", "TLH")]
    assert {legend[name][0].get_linestyle() for name in ("DE", "TLH")} == {"None"}
    assert axes.get_ylim()[1] > 5  # a law may be far from the marks


def test_bars_of_scores_stay_between_0_and_1() -> None:
    sweep = Sweep(name="s", lines=[line("high", "OUE"), line("low", "SUE")], d=0, repeats=2)
    dots = Dots(title="t", sweeps=["s"], x="f1", xlabel="F1")
    results = Results()
    for one, cell in sweep.cells():
        results.add(cell, {}, {"plain": {"f1": 0.8 * (one.scheme == "OUE") + 0.2 * cell.repeat}})
    axes = Canvas().subplots()
    draw_panel(axes, dots, list(Figure(name="f", title="f", sweeps=[sweep], panels=[dots]).rows(results)))
    ends = [segment[:, 0].tolist() for bars in axes.collections for segment in bars.get_segments()]  # type: ignore
    assert len(ends) == 2
    for found, expected in zip(ends, ([0.9 - 0.02**0.5, 1.0], [0.0, 0.1 + 0.02**0.5]), strict=True):
        assert found == pytest.approx(expected)


def test_a_label_may_have_its_colour_and_mark() -> None:
    sweep = Sweep(name="s", lines=[line("DE"), line("TLH")], vary={"epsilon": [1.0, 2.0]}, repeats=1)
    looks = {"TLH": ("#123456", "P")}
    panel = Panel(title="Errors", sweeps=["s"], x="epsilon", xlabel="ε", optimum=False, looks=looks)
    rows = rows_of(Figure(name="f", title="f", sweeps=[sweep], panels=[panel]))
    legend: dict[str, Any] = draw_panel(Canvas().subplots(), panel, rows)
    assert (legend["TLH"][0].get_color(), legend["TLH"][0].get_marker()) == looks["TLH"]
    assert legend["DE"][0].get_marker() == "o"


def test_values_of_a_setting_do_not_look_like_the_scheme() -> None:
    sweep = Sweep(name="s", lines=[line("HM")], vary={"coefficients": [1, 2], "epsilon": [1.0, 2.0]}, repeats=1)
    rows = rows_of(Figure(name="f", title="f", sweeps=[sweep], panels=[]))
    own: dict[str, Any] = {"title": "", "sweeps": ["s"], "x": "coefficients", "xlabel": "t", "optimum": False}
    by_label, by_value = (
        next(iter(draw_panel(Canvas().subplots(), Panel(lines=lines, **own), rows).values()))[0]
        for lines in ("label", "epsilon")
    )
    assert by_label.get_color() != by_value.get_color()
    assert by_label.get_marker() != by_value.get_marker()


def test_horizontal_lines_that_hide_one_another_are_named() -> None:
    levels = Sweep(name="levels", lines=[line("OLH"), line("TLH")], repeats=1)
    curve = Sweep(name="s", lines=[line("FLH")], vary={"hashes": [1, 2]}, repeats=1)
    panel = Panel(title="", sweeps=["s", "levels"], x="hashes", xlabel="k′", optimum=False)
    axes = Canvas().subplots()
    draw_panel(axes, panel, rows_of(Figure(name="f", title="f", sweeps=[levels, curve], panels=[panel])))
    assert "OLH ≈ TLH" in [text.get_text() for text in axes.texts]


@pytest.mark.parametrize(
    ("ends", "named"), [((0.97, 1.3), 3), ((0.7, 1.5), 6), ((0.3, 2.5), 5), ((2e5, 4e6), 4), ((1e4, 1e9), 5)]
)
def test_logarithmic_axes_name_several_ticks(ends: tuple[float, float], named: int) -> None:
    sweep = Sweep(name="s", lines=[line("DE")], vary={"epsilon": [1.0, 2.0]}, repeats=1)
    panel = Panel(title="", sweeps=["s"], x="epsilon", xlabel="ε", optimum=False, limits=ends)
    canvas = Canvas()
    axes = canvas.subplots()
    draw_panel(axes, panel, rows_of(Figure(name="f", title="f", sweeps=[sweep], panels=[panel])))
    shown = [tick for tick in axes.get_yticks() if ends[0] <= tick <= ends[1]]
    assert len(shown) >= named
