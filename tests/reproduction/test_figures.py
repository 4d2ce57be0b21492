"""The figures of the paper: its grids, its lines, and that each is drawn from rows alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench.ordered import best_tree
from matplotlib.figure import Figure as Canvas

from invented import rows_of
from plausibly import Integers
from plausibly.core.bound import best_noise
from plausibly.core.linear import predicted_of
from plausibly.experiments import MEASURES
from plausibly.experiments.cells import Cell
from plausibly.experiments.figure import Dots, Map, Panel, Sweep, Table, line, wanted
from plausibly.experiments.item_crowds import crowd, is_ordered
from plausibly.experiments.plots import draw_panel, draw_plots
from plausibly.experiments.tables import table_of
from plausibly.ordered import HH
from reproduction.figures import FIGURES
from reproduction.figures.extra8 import BEST_SHARES
from reproduction.figures.looks import LOOKS
from reproduction.figures.shapes import published_t
from reproduction.figures.sketches import CLICKED, CLICKS
from reproduction.figures.table2 import PAPER, as_run
from reproduction.published_rappor import CLEARED, NOT_PRIVATE

OPTIMUM = "optimum in large domains"


def test_names_are_those_of_the_files_and_panels_find_their_sweeps() -> None:
    for name, figure in FIGURES.items():
        assert figure.name == name
        names = [sweep.name for sweep in figure.sweeps]
        assert len(set(names)) == len(names)
        assert all(set(panel.sweeps) <= set(names) for panel in figure.panels)


def test_the_papers_grids() -> None:
    epsilons = [0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5]
    for name, lines in {
        "fig1": {"DE", "SUE", "OUE"},
        "fig3": {"BLH", "OLH", *(f"FLH (k′ = {hashes:,})" for hashes in (100, 500, 1000, 5000, 10_000))},
        "fig4": {"HR", *(f"HM (t = {t})" for t in range(1, 6))},
        "fig5": {"OUE", "OLH", "FLH (k′ = 10,000)", "HR", "HM (best t)"},
    }.items():
        by_epsilon, by_domain = FIGURES[name].sweeps[-2:]
        assert {one.label for one in by_epsilon.lines if not one.ours} == lines
        cells = [cell for _, cell in by_epsilon.cells()]
        assert {(cell.n, cell.d, cell.data) for cell in cells} == {(100_000, 1024, "zipf-1.1")}
        assert sorted({cell.epsilon for cell in cells}) == epsilons
        cells = [cell for _, cell in by_domain.cells()]
        assert {(cell.n, cell.epsilon) for cell in cells} == {(100_000, 3.0)}
        assert sorted({cell.d for cell in cells}) == [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]
        assert {cell.repeat for cell in cells} == set(range(5))
    hashes = [cell for _, cell in FIGURES["fig2"].sweeps[0].cells() if cell.repeat == 0]
    assert [cell.parameters["hashes"] for cell in hashes] == [*range(100, 20_001, 100)]
    assert {(cell.n, cell.d, cell.epsilon) for cell in hashes} == {(1_000_000, 500, 3.0)}


def test_the_papers_grids_of_large_domains() -> None:
    domains = list(range(10_000, 100_001, 10_000))
    for name, readings in {"fig8": 2, "fig9": 2, "fig11": 1, "extra3": 1}.items():
        by_domain = [sweep for sweep in FIGURES[name].sweeps if sweep.name.partition(",")[0] == "domain"]
        assert len(by_domain) == readings
        for sweep in by_domain:
            cells = [cell for _, cell in sweep.cells()]
            assert {(cell.n, cell.epsilon, cell.data) for cell in cells} == {(1_000_000, 3.0, "zipf-1.1")}
            assert sorted({cell.d for cell in cells}) == domains
    six = {f"{name} ({way})" for name in ("CM", "CS") for way in ("Mean", "Median", "Min")}
    assert paper_lines("fig7") == six
    assert paper_lines("fig8") == {"Bloom filter", *six}
    assert [sweep.lines[0].scheme for sweep in FIGURES["fig8"].sweeps[:2]] == ["BLOOM", NOT_PRIVATE]
    oracles = {"CM (Mean) OUE", "CM (Mean) HM (t = 1)", "CM (Median) FLH", "CM (Median) HR"}
    assert paper_lines("fig9") == {*oracles, "CM (Mean) HM (t = 3)", "CM (Median) HM (t = 3)"}
    assert paper_lines("fig10") == {*oracles, "CM (Mean) FLH", "CM (Mean) HM (best t)", "CM (Median) HM (best t)"}
    text, program = FIGURES["fig7"].sweeps[::2], FIGURES["fig7"].sweeps[1::2]
    assert [sweep.name + ", program" for sweep in text] == [sweep.name for sweep in program]
    for readings in (text, program):
        widths, rows = ([cell for _, cell in sweep.cells()] for sweep in readings)
        assert {cell.parameters["width"] for cell in widths} == {32, 64, 128, 256, 512, 1024, 2048}
        assert {cell.parameters["rows"] for cell in rows} == {2, 4, 8, 16, 32, 64, 128, 256, 512}
        assert {(cell.parameters["rows"], cell.n) for cell in widths} == {(32, 1_935_614)}
        assert {(cell.parameters["width"], cell.data) for cell in rows} == {(1024, "url-clicks")}


def test_medians_of_count_min_are_drawn_as_published_and_as_ours() -> None:
    for name in ("fig7", "fig8", "fig9", "fig10"):
        text, program = FIGURES[name].sweeps[:2]
        for sweep, correction in ((text, "n/c"), (program, None)):
            medians = [one for one in sweep.lines if one.label.startswith("CM (Median)") and not one.ours]
            assert medians
            assert {one.scheme for one in medians} == {"CM, not debiased"}
            assert {dict(one.view.options).get("correction") for one in medians} == {correction}
        assert {one.scheme for one in text.lines if one.label.startswith("CM (Median)") and one.ours} == {"CM"}
        # The same name is the same colour and mark at the left and at the right.
        published = [one.label for one in text.lines if not one.ours]
        assert [one.label for one in program.lines] == published


def test_minima_of_count_min_are_taken_as_they_are() -> None:
    # Section 4 corrects the mean and the median only, and the program does not correct the minimum either.
    for sweep in (sweep for name in ("fig7", "fig8") for sweep in FIGURES[name].sweeps):
        for one in sweep.lines:
            if one.label == "CM (Min)":
                assert (one.scheme, dict(one.view.options)) == ("CM, not debiased", {"combine": "min"})


def test_panels_of_one_figure_have_different_titles() -> None:
    for figure in FIGURES.values():
        titles = [(panel.title, panel.xlabel) for panel in figure.panels]
        assert len(set(titles)) == len(titles), figure.name


def test_the_papers_rappor() -> None:
    asked = wanted([FIGURES["fig6"]])
    for name in (NOT_PRIVATE, CLEARED, "BLOOM"):
        cells = [cell for cell in asked if cell.scheme == name and "oracle" not in cell.parameters and cell.repeat == 0]
        assert {(cell.n, cell.d, cell.epsilon) for cell in cells} == {(1_000_000, 100_000, 3.0)}
        assert [cell.parameters for cell in cells] == [
            {"bits": bits, "hashes": 2, "cohorts": 8} for bits in (32, 64, 128)
        ]
        # One tally for all α.
        assert {0.005, 0.01} < {dict(view.options)["alpha"] for view in asked[cells[0]]}
    assert paper_lines("fig6") == {f"m = {bits}, published" for bits in (32, 64, 128)}
    published = next(cell for cell in asked if cell.scheme == NOT_PRIVATE)
    grid = [0, 0.0001, 0.0005, 0.00075, 0.001, 0.005, 0.0075, 0.01, 0.05, 0.075, 0.1, 0.5, 0.75, 1, 5]
    assert [dict(view.options)["alpha"] for view in asked[published]] == grid


def paper_lines(name: str) -> set[str]:
    return {one.label for sweep in FIGURES[name].sweeps for one in sweep.lines if not one.ours}


@pytest.mark.full
def test_every_clicked_address_of_figure_7_was_clicked() -> None:
    assert crowd("url-clicks", CLICKS, CLICKED, 0).min() == 1


@pytest.mark.full
def test_schemes_are_made_with_every_parameter_that_figures_give() -> None:
    # Sketches of the same parameters differ in nothing that making depends on but these.
    kinds = {(cell.scheme, repr(cell.parameters), cell.epsilon): cell for cell in wanted(FIGURES.values())}
    for cell in kinds.values():
        if cell.scheme not in MEASURES:
            scheme = cell.make()
            assert scheme.domain.size == (cell.d or None)
            assert float(scheme.epsilon) == cell.epsilon


def test_parameters_of_oracles_may_depend_on_epsilon() -> None:
    lines = [line("x", "CM", oracle={"scheme": "HM", "coefficients": published_t}, width=8, rows=2)]
    cells = [cell for _, cell in Sweep(name="s", lines=lines, vary={"epsilon": [1, 5]}, repeats=1).cells()]
    assert [cell.parameters["oracle"]["coefficients"] for cell in cells] == [1, 5]


@pytest.mark.full
def test_tables_say_words_and_means_of_what_was_measured() -> None:
    figure = FIGURES["table1"]
    assert figure.table is not None
    assert figure.table.said.keys() == {one.label for one in figure.sweeps[0].lines}
    made = table_of(figure, figure.table, rows_of(figure))
    assert [cells[0] for cells in made.lines] == list(figure.table.said)
    # Half a second and a quarter; errors are too small to be seen.
    assert made.lines[2] == ("OUE", "E/(E − 1)²", "4E/(E − 1)²", "0.000", "0.000", "nd", "750.0", "d", "3")
    columns = {"word": None, "errors": lambda mean: f"{mean['mse'] * mean['epsilon']:g}"}
    own = Table(sweeps=["costs"], said={"OUE": ["unary"]}, columns=columns)
    assert table_of(figure, own, rows_of(figure)).lines == (("OUE", "unary", "3"),)  # the mean of 1 to 5
    assert made.caption.startswith("n = 100,000, d = 1,024, epsilon = 3. The data are Zipf's")
    assert "E = e^ε" in made.caption
    assert all(len(cells) == len(made.header) for cells in made.lines)
    assert table_of(figure, figure.table, []).lines == ()


def test_the_papers_searches() -> None:
    figure = FIGURES["table2"]
    assert figure.table is not None
    labels = [one.label for sweep in figure.sweeps for one in sweep.lines if not one.ours]
    # PEM and TH in two readings each; CMS in two for the searches of the program, and in the text's for the others.
    assert len(labels) == len(set(labels)) == 5 * 18 + 2 * 6
    assert {as_run(printed) for printed in PAPER} <= set(labels) <= set(figure.table.said)
    asked = wanted([figure])
    assert {(cell.n, cell.d, cell.data, cell.epsilon) for cell in asked} == {(1_935_614, 0, "url-clicks/6", 3.0)}
    published = {cell: views for cell, views in asked.items() if "split" not in cell.parameters}
    searches = ("PEM", "SFP", "TH", "TH, by prefixes")
    collected = {cell: views for cell, views in published.items() if cell.scheme in searches}
    # T is how a tally is read: half as many are collected, five times each, and PEM as programmed ten times.
    assert len(collected) == (9 + 12 + 9 + 9) * 5 + 12 * 10
    read = {tuple((dict(view.options)["keep"], dict(view.options)["k"]) for view in views) for views in asked.values()
            if "oracle.combine" in dict(views[0].options)}  # fmt: skip
    assert read == {((10, 10), (20, 20))}
    combined = {
        (cell.parameters["oracle"]["scheme"], dict(views[0].options)["oracle.combine"])
        for cell, views in collected.items()
    }
    assert combined == {("SUE", "mean"), ("OUE", "mean"), ("HM", "mean"), ("FLH", "median")}


def test_each_panel_of_the_searches_shows_one_reading() -> None:
    figure = FIGURES["table2"]
    sweeps = {sweep.name: sweep for sweep in figure.sweeps}
    for panel in figure.panels:
        assert isinstance(panel, Dots)
        search, _ = panel.sweeps
        shown = [one.label for one in sweeps[search].lines if panel.shows(one.label)]
        cms = {sketch for sketch in ("CM (Mean) SUE", "CM (Mean) OUE") if any(sketch in label for label in shown)}
        assert cms == {"CM (Mean) OUE" if "as written" in panel.title else "CM (Mean) SUE"}
        assert len(shown) == 18


def test_the_printed_rows_are_compared_with_the_t_that_was_run() -> None:
    assert len(PAPER) == 21
    for printed in PAPER:
        # Printed is their harmonic mean, or nearly: of five runs that of the means is not the mean.
        assert printed.f1 == pytest.approx(2 / (1 / printed.precision + 1 / printed.recall), abs=0.016)
        # The program copies the parameters before it sets T: no run printed with T=20 has it.
        assert printed.T == 10 or ", T=10, " in as_run(printed)
        assert printed.counted <= (10 if ", T=10, " in as_run(printed) else 20)
    first = next(printed for printed in PAPER if printed.recall == 0.96)
    # The program's CMS has the noise of SUE, and its TH chooses strings by prefixes.
    assert as_run(first) == "PEM 4→6, CM (Mean) SUE, T=20, r=1024, c=2048"
    later = [as_run(printed) for printed in PAPER if printed.search in ("SFP", "TH")]
    assert later == [
        "SFP, CM (Mean) SUE, T=20, r=128, c=1024",
        "SFP, CM (Mean) SUE, T=20, r=1024, c=2048",
        "SFP, CM (Mean) SUE, T=10, r=1024, c=2048",
        "TH by prefixes, CM (Median) FLH, T=20, r=128, c=1024",
    ]


@pytest.mark.full
def test_figures_share_their_cells() -> None:
    shared = wanted([FIGURES["fig1"]]).keys() & wanted([FIGURES["fig5"]]).keys()
    assert {cell.scheme for cell in shared} == {"OUE", "SS"}
    # The same users, once by ε and once by d; and HM read in one way here and in another there.
    assert len(shared) == 2 * 5 * (10 + 10 - 1)
    together = wanted(FIGURES.values())
    assert len(together) < sum(len(wanted([figure])) for figure in FIGURES.values())
    three = Cell("HM", {"coefficients": 3}, n=100_000, d=1024, epsilon=3, rounds=4)
    assert [str(view) for view in together[three]] == ["decoder=paper", "plain"]


@pytest.mark.full
def test_quick_is_the_same_figure_made_smaller() -> None:
    for figure in FIGURES.values():
        quick = figure.quick()
        assert quick.panels == figure.panels
        whole, fewer = wanted([figure]), wanted([quick])
        costs = [sum(cell.n * len(views) for cell, views in asked.items()) for asked in (whole, fewer)]
        assert costs[0] > 4 * costs[1]
        for sweep, small in zip(figure.sweeps, quick.sweeps, strict=True):
            assert small.lines == sweep.lines
            assert small.vary.keys() == sweep.vary.keys()
            for name, values in small.vary.items():
                # The same ends, or both by the same factor.
                assert values[0] * sweep.vary[name][-1] == values[-1] * sweep.vary[name][0]
                assert len(set(values)) == len(values) == min(len(sweep.vary[name]), 7 if name in sweep.kept else 6)
    sweep = Sweep(name="large", lines=[line("TLH")], n=1_000_000, d=100_000, vary={"n": [10**4, 10**6]}).quick()
    assert (sweep.n, sweep.d, sweep.vary) == (100_000, 10_000, {"n": [1000, 100_000]})


@pytest.mark.parametrize(
    "epsilon", [pytest.param(each, marks=pytest.mark.full if each == 1 else pytest.mark.slow) for each in BEST_SHARES]
)
def test_the_tree_beside_sliding_blocks_has_the_best_shares(epsilon: float) -> None:
    # In whole thousandths, the error is at most 0.1 % above the least.
    tree = HH(epsilon=epsilon, domain=Integers(1024), branching=2, weights=BEST_SHARES[epsilon])
    law = predicted_of(tree.estimator(), np.full(1024, 1 / 1024), 1)
    assert law is not None
    least = best_tree(2)(1024, epsilon).ranges * best_noise(epsilon)
    assert law.range_variance(1024) <= 1.001 * least


@pytest.mark.full
def test_six_shapes_three_crowds_and_four_epsilons_are_compared() -> None:
    figure = FIGURES["extra8"]
    maps = [panel for panel in figure.panels if isinstance(panel, Map)]
    assert len(maps) == 6
    for panel in maps:
        [sweep] = [sweep for sweep in figure.sweeps if sweep.name in panel.sweeps]
        assert is_ordered(sweep.data)
        assert sweep.vary == {"n": (10**4, 10**5, 10**6), "epsilon": (0.5, 1, 2, 3)}
        # Trees as published, with two and four blocks in each block and equal shares, and with the best ones.
        trees = [one.parameters for one in sweep.lines if one.scheme == "HH"]
        assert {(tree["branching"], "weights" in tree) for tree in trees} == {(2, False), (4, False), (2, True)}
    # What the last panels show is measured for the maps anyway.
    assert len(wanted([figure])) == len(wanted([replace(figure, sweeps=figure.sweeps[:6], panels=maps)]))


def test_the_published_number_of_coefficients() -> None:
    # Section 7.3: 1 for low ε, 3 for ε = 3.
    assert [published_t(epsilon) for epsilon in (0.5, 1, 2, 3, 4, 5)] == [1, 1, 2, 3, 4, 5]


@pytest.mark.full
@pytest.mark.parametrize("name", FIGURES)
def test_every_declared_line_is_drawn_from_rows_alone(name: str) -> None:
    figure = FIGURES[name].quick()
    rows = rows_of(figure)
    for panel in figure.panels:
        axes = Canvas().subplots()
        legend = draw_panel(axes, panel, rows)
        assert axes.get_xlabel() == panel.xlabel
        if isinstance(panel, Dots):
            own = [one.label for sweep in figure.sweeps if sweep.name in panel.sweeps for one in sweep.lines]
            declared = {panel.names(label) for label in own if panel.shows(label)}
            assert {text.get_text() for text in axes.get_yticklabels()} == declared
            continue
        sweeps = [sweep for sweep in figure.sweeps if sweep.name in panel.sweeps]
        if isinstance(panel, Map):
            [sweep] = sweeps
            assert len(axes.patches) == len(sweep.vary["n"]) * len(sweep.vary["epsilon"])
            continue
        if panel.lines == "label":
            declared = {one.label for sweep in sweeps for one in sweep.lines}
        else:
            declared = {f"ε = {value:g}" for sweep in sweeps for value in sweep.vary["epsilon"]}
        least = OPTIMUM if panel.y != "range_mse" else "least possible"
        assert legend.keys() == declared | ({least} if panel.optimum else set())
        assert axes.get_ylabel() == panel.ylabel


@pytest.mark.full
@pytest.mark.parametrize("name", [name for name, figure in FIGURES.items() if figure.panels])
def test_every_figure_is_drawn(name: str, tmp_path: Path) -> None:
    figure = FIGURES[name].quick()
    picture, drawing = draw_plots(figure, rows_of(figure), tmp_path)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert figure.title in drawing.read_text(encoding="utf-8")


@pytest.mark.full
def test_lines_of_a_panel_are_told_apart() -> None:
    for figure in FIGURES.values():
        rows = rows_of(figure.quick())
        for panel in [each for each in figure.panels if isinstance(each, Panel)]:
            drawn = draw_panel(Canvas().subplots(), panel, rows).values()
            first = [getattr(each, "lines", [each])[0] for each in drawn]
            styles = {(str(one.get_color()), one.get_linestyle(), one.get_marker()) for one in first}
            assert len(styles) == len(first)


def test_a_method_has_one_colour_and_mark_in_all_figures() -> None:
    schemes: dict[str, set[str]] = {}
    for figure in FIGURES.values():
        for one in (one for sweep in figure.sweeps for one in sweep.lines):
            schemes.setdefault(one.label, set()).add(figure.name)
        for panel in figure.panels:
            assert isinstance(panel, Dots) or panel.looks == LOOKS
    assert LOOKS.keys() <= schemes.keys()
    drawn = {figure.name for figure in FIGURES.values() if any(isinstance(panel, Panel) for panel in figure.panels)}
    shared = {label for label, where in schemes.items() if len(where & drawn) > 1}
    assert shared - {"No post-processing"} <= LOOKS.keys(), "lines in several figures"


@pytest.mark.full
def test_the_same_rows_give_the_same_drawing_and_none_an_empty_one(tmp_path: Path) -> None:
    figure = FIGURES["fig2"].quick()
    rows = rows_of(figure)
    first, again, empty = (draw_plots(figure, given, tmp_path)[1].read_bytes() for given in (rows, rows, []))
    assert first == again != empty
