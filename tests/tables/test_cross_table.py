"""Answers about tables: cells, margins, shares by row, independence, tables of other libraries, charts."""

from __future__ import annotations

import re
from ast import literal_eval
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import polars
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_rgb

from cases import in_turn
from plausibly import Ordered, ParameterError, SeededRandom, StateError, Table, make
from plausibly.core.group_numbers import FALSE_ALARM
from plausibly.core.independence import chi_square_tail
from tables.crowds import counted, latent, table

SURVEY = Table({"browser": ["Firefox", "Chrome"], "theme": ["dark", "light"], "age": Ordered(0, 9)})
CROWD = {("Firefox", "dark", 3): 40_000, ("Firefox", None, 5): 10_000, ("Chrome", "light", 7): 50_000}


@cache
def tally() -> Any:
    return make("CLIQUE", epsilon=2, domain=SURVEY, cliques=2).simulate(CROWD, SeededRandom(1))


def test_cells_are_named_by_their_values_and_have_intervals() -> None:
    found = tally().table("theme", "browser")
    assert found.names == ("theme", "browser")
    assert found.counts.shape == (3, 3)
    cell = found["dark", "Firefox"]
    # Five standard errors: a false alarm once in 1.7 million seeds.
    assert abs(float(cell) - 40_000) < 5 * cell.standard_error
    assert abs(float(found["missing", "Firefox"]) - 10_000) < 5 * found["missing", "Firefox"].standard_error
    low, high = cell.interval()
    assert low < float(cell) < high
    assert cell.interval(0.99)[0] < low
    assert cell.share == pytest.approx(float(cell) / 100_000)


def test_margins_are_the_tables_of_single_attributes() -> None:
    found = tally().table("theme", "age")
    for margin, name in zip(found.margins, ("theme", "age"), strict=True):
        alone = tally().table(name)
        assert np.allclose(margin.values, alone.values)
        assert np.allclose(margin.variance, alone.variance)
        assert margin.items.tolist() == alone.items.tolist()


@pytest.mark.parametrize("sizes", [(2, 2), (2, 2, 2), (4, 4)])
def test_margins_and_shares_are_known_where_a_users_own_cell_adds_nothing(sizes: tuple[int, ...]) -> None:
    # With half of the cells in each subset, the variance does not depend on who is in which cell.
    scheme = make("CLIQUE", epsilon=0.1, domain=table(*sizes), cliques=2)
    assert scheme.estimator().law_at((0, 1)).own == {}
    tally = scheme.simulate({(0,) * len(sizes): 200_000}, SeededRandom(1))
    found = tally.table("q0", "q1")
    for name, margin in zip(("q0", "q1"), found.margins, strict=True):
        alone = tally.table(name)
        assert np.allclose(margin.values, alone.values)
        assert np.allclose(margin.variance, alone.variance)
    low, high = found.shares_by("q0").interval()
    assert low[0] < 1 < high[0]


def test_one_attribute_in_order_has_quantiles_and_ranges() -> None:
    ages = tally().table("age")
    assert ages.quantiles([0.5]).values[0] in (3, 4, 5)
    assert abs(float(ages.ranges([(0, 4)])[0, 4]) - 40_000) < 5 * ages.ranges([(0, 4)]).standard_error[0]
    assert ages.items.tolist()[-1] == "other"


def test_estimating_whole_records_is_refused_and_names_the_table() -> None:
    for asked in (tally().estimate, tally().scores):
        with pytest.raises(StateError, match=r"only tables of one or two attributes; ask for them with tally\.table"):
            asked()
    with pytest.raises(StateError, match="no counts of whole records"):
        tally().scheme.variance(100)


def test_unknown_and_repeated_attributes_are_refused() -> None:
    with pytest.raises(ParameterError, match="unknown attribute 'brwser'; did you mean 'browser'"):
        tally().table("brwser")
    with pytest.raises(ParameterError, match="expected different attributes"):
        tally().table("age", "age")
    with pytest.raises(ParameterError, match="expected names of attributes"):
        tally().table()
    with pytest.raises(StateError, match=r"'browser' and 'theme' and 'age' together.*each user reporting 3 attributes"):
        tally().table("browser", "theme", "age")
    with pytest.raises(StateError, match="expected a scheme for records of several attributes"):
        make("OLH", epsilon=1, domain_size=4).accumulator().table("age")
    with pytest.raises(ParameterError, match="unknown attribute 'plan'"):
        tally().table("age", "theme").margin("plan")


def test_samplers_of_one_attribute_have_no_tables_of_two() -> None:
    for name in ("SMP", "SPL"):
        alone = make(name, epsilon=1, domain=SURVEY).simulate(CROWD, SeededRandom(1))
        assert abs(float(alone.table("theme")["dark"]) - 40_000) < 5 * alone.table("theme")["dark"].standard_error
        with pytest.raises(StateError, match="no reports know 'browser' and 'theme' together"):
            alone.table("browser", "theme")


YES_NO = Table(dict.fromkeys([f"q{number}" for number in range(16)], 2), missing=False)


@in_turn(
    ("cliques", "asked", "fix"),
    [
        (3, ["q0", "q1", "q3"], [["q0", "q1", "q3"]]),
        ([[j, j + 1] for j in range(0, 16, 2)], ["q2", "q0"], [["q0", "q2"]]),
        (2, ["q0", "q1", "q3"], [["q0", "q1", "q3"]]),  # cliques=3 has not all sets of three
        (1, ["q0", "q3"], 2),
    ],
)
def test_the_fix_for_an_unknown_table_makes_it_known(cliques: Any, asked: list[str], fix: Any) -> None:
    scheme = make("CLIQUE", epsilon=1, domain=YES_NO, cliques=cliques)
    records = [(0,) * 16] * 20
    held = scheme.accumulator()
    held.add(scheme.privatize(records, SeededRandom(1)))
    with pytest.raises(StateError) as refused:
        held.table(*asked)
    (typed,) = re.findall(r"\(cliques=(.*)\)$", str(refused.value))
    given = literal_eval(typed.replace(", ...]", "]"))
    assert given == fix
    rest = [[name] for name in YES_NO.names]
    again = make("CLIQUE", epsilon=1, domain=YES_NO, cliques=given if isinstance(given, int) else given + rest)
    held = again.accumulator()
    held.add(again.privatize(records, SeededRandom(1)))
    assert held.table(*asked).values.size == 2 ** len(asked)


def test_tables_of_three_attributes_need_sets_of_three() -> None:
    three = make("CLIQUE", epsilon=2, domain=SURVEY, cliques=3).simulate(CROWD, SeededRandom(1))
    found = three.table("age", "browser", "theme")
    cell = found[3, "Firefox", "dark"]
    assert abs(float(cell) - 40_000) < 5 * cell.standard_error
    assert "age | browser" in repr(found)


def test_shares_by_a_value_add_up_to_one_and_say_that_they_are_approximate() -> None:
    shares = tally().table("theme", "browser").shares_by("browser")
    grid = shares.grid(shares.values)
    assert np.allclose(grid[:, :2].sum(axis=0), 1.0)
    dark = shares["dark", "Firefox"]
    assert abs(float(dark) - 0.8) < 5 * dark.standard_error
    # Nobody's browser is missing: nothing can be said of shares among those.
    assert np.isnan(grid[:, 2]).all()
    assert "approximate (delta method)" in repr(shares)
    assert "?" in repr(shares)
    rows = tally().table("theme", "browser").shares_by("theme")
    assert np.allclose(rows.grid(rows.values).sum(axis=1), 1.0)


def test_the_variance_of_shares_is_that_of_the_delta_method() -> None:
    # By its definition: the gradient of count/total times the covariance of all cells.
    found = tally().table("theme", "browser")
    shares = found.shares_by("browser")
    covariance = found.law.covariance(np.eye(9).reshape(9, 3, 3), found.counts, found.n)
    for theme, browser in ((0, 0), (1, 1), (2, 0)):
        total, count = found.counts[:, browser].sum(), found.counts[theme, browser]
        gradient = np.zeros((3, 3))
        gradient[:, browser] = -count / total**2
        gradient[theme, browser] += 1 / total
        wanted = gradient.reshape(-1) @ covariance @ gradient.reshape(-1)
        assert shares.grid(shares.variance)[theme, browser] == pytest.approx(wanted)


def test_related_attributes_are_told_from_independent_ones() -> None:
    assert tally().table("theme", "browser").independence().p_value < 1e-6
    random = np.random.default_rng(3)
    apart = np.stack([random.integers(0, 3, 50_000), random.integers(0, 4, 50_000), random.integers(0, 2, 50_000)], 1)
    scheme = make("CLIQUE", epsilon=1, domain=table(3, 4, 2))
    other = scheme.accumulator()
    other.add(scheme.privatize(apart, SeededRandom(5)))
    result = other.table("q0", "q1").independence()
    assert result.degrees == 6
    assert 0.01 < result.p_value <= 1
    assert "may be independent" in repr(result)
    with pytest.raises(StateError, match="needs reports"):
        scheme.accumulator().table("q0", "q1").independence()


def test_tails_of_chi_square_are_those_of_tables() -> None:
    known = {(1, 6.634897): 0.01, (2, 9.21034): 0.01, (10, 18.307038): 0.05, (50, 67.504807): 0.05, (5, 1.145476): 0.95}
    for (degrees, statistic), chance in known.items():
        assert chi_square_tail(statistic, degrees) == pytest.approx(chance, rel=1e-5)
    assert chi_square_tail(0.0, 3) == 1.0
    assert chi_square_tail(5000.0, 3) < 1e-300


def test_other_libraries_get_both_axes() -> None:
    found = tally().table("theme", "age")
    long = found.to_frame()
    assert list(long.columns) == ["theme", "age", "estimate", "standard_error", "low", "high", "share"]
    assert len(long) == 3 * 11
    wide = found.to_frame(wide=True)
    assert wide.index.name == "theme"
    assert wide.columns.name == "age"
    assert wide.loc["dark", 3] == float(found["dark", 3])
    assert isinstance(found.to_polars(), polars.DataFrame)
    assert found.to_polars(wide=True).columns[:3] == ["theme", "0", "1"]
    assert found.to_polars().shape == (33, 7)
    assert "dark | 3" in str(found.to_csv())


def test_people_see_rows_and_columns() -> None:
    found = tally().table("theme", "browser")
    assert repr(found).splitlines()[1].split() == ["theme", "\\", "browser", "Firefox", "Chrome", "missing"]
    page = found._repr_html_()
    assert page.count("<tr>") == 4
    assert "[" in page
    html = Table({"<b>": ["<script>", "x"], "c": 2})
    unsafe = make("CLIQUE", epsilon=1, domain=html).simulate({("x", 0): 10}).table("<b>", "c")
    assert "<script>" not in unsafe._repr_html_()


@pytest.mark.full
def test_charts_are_drawn() -> None:
    found = tally().table("theme", "browser")
    for kind in ("heat map", "mosaic"):
        axes = found.plot(kind=kind, title="$theme$")
        axes.figure.canvas.draw()
        assert axes.get_title("left") == "$theme$"
        pyplot.close(axes.figure)
    with pytest.raises(ParameterError, match="unknown chart 'pie'"):
        found.chart("pie")


def contrast(one: Any, other: Any) -> float:
    """The contrast of two colours by WCAG 2."""
    colours = np.clip([one, other], 0, 1)
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    dark, light = sorted(linear @ [0.2126, 0.7152, 0.0722])
    return float((light + 0.05) / (dark + 0.05))


def turned(colour: Any) -> Any:
    """A colour as dark pages show it: invert(0.915) and hue-rotate(180deg) of the style sheet."""
    inverted = 0.915 - 0.83 * np.asarray(colour)
    return np.clip(2 * np.array([0.213, 0.715, 0.072]) @ inverted - inverted, 0, 1)


@pytest.mark.full
@pytest.mark.parametrize("epsilon", [0.1, 2])
def test_every_count_in_a_heat_map_is_legible_on_light_and_dark_pages(epsilon: float) -> None:
    found = make("CLIQUE", epsilon=epsilon, domain=SURVEY, cliques=2).simulate(CROWD, SeededRandom(1))
    axes = found.table("age", "browser").plot()
    cells = axes.images[0].to_rgba(axes.images[0].get_array())[..., :3].reshape(-1, 3)
    inks = [to_rgb(text.get_color()) for text in axes.texts]
    assert len(inks) == len(cells) == 33
    for cell, ink in zip(cells, inks, strict=True):
        assert contrast(cell, ink) >= 4.5
        assert contrast(turned(cell), turned(ink)) >= 4.5
    pyplot.close(axes.figure)


@pytest.mark.full
@pytest.mark.parametrize("narrow", [False, True])
def test_long_names_leave_room_for_the_heat_map(narrow: bool) -> None:
    answers = ["Neither satisfied nor dissatisfied", "Very satisfied with everything", "no"]
    domain = Table({"How satisfied are you with the service in your region?": answers, "q" * 80: [*answers, "x"]})
    found = make("CLIQUE", epsilon=2, domain=domain).simulate({(answers[0], answers[1]): 9000}, SeededRandom(1))
    drawn = found.table(*domain.names).chart()
    figure = pyplot.figure(figsize=(4.2 if narrow else 8.0, drawn.height), layout="constrained")
    axes = figure.subplots()
    drawn.draw(axes, narrow=narrow)
    figure.canvas.draw()
    inside, whole = axes.get_window_extent(), figure.bbox
    assert inside.height > 0.45 * whole.height
    assert inside.width > 0.5 * whole.width
    names = [*axes.get_xticklabels(), *axes.get_yticklabels(), axes.yaxis.label]
    for extent in (name.get_window_extent() for name in names):
        # Up to some pixels, by which letters differ.
        assert extent.x0 > -5
        assert extent.y1 < whole.height + 5
    columns = [name.get_window_extent() for name in axes.get_xticklabels()]
    assert all(left.x1 < right.x0 + 10 for left, right in pairwise(columns))
    pyplot.close(figure)


def test_a_lost_group_of_reports_is_noticed_and_said() -> None:
    scheme = make("CLIQUE", epsilon=1, domain=SURVEY, cliques=2)
    records = [("Firefox", "dark", 3), ("Chrome", "light", 7)] * 5000
    reports = scheme.privatize(records, SeededRandom(2))
    whole, lossy = scheme.accumulator(), scheme.accumulator()
    whole.add(reports)
    lossy.add(reports[reports["group"] != 1])
    assert FALSE_ALARM < 1e-5
    assert whole.table("browser", "theme").cautions == ()
    for found in (lossy.table("browser", "theme"), lossy.table("age")):
        assert "browser and age" in found.cautions[0]
        assert "Reports were lost or added" in repr(found)
    assert "lost or added" in lossy.table("browser", "theme")._repr_html_()


@pytest.mark.parametrize("lost", [0, 1])
def test_lost_reports_are_no_relation(lost: int) -> None:
    # All records are alike. Group 0 has both attributes, group 1 one of them.
    scheme = make("CLIQUE", epsilon=3, domain=table(3, 4, 2), cliques=2)
    reports, tally = scheme.privatize(np.zeros((6000, 3), dtype=int), SeededRandom(1)), scheme.accumulator()
    tally.add(reports[reports["group"] != lost])
    found = tally.table("q0", "q1").independence()
    assert found.cautions == tally.cautions != ()
    assert not found.related
    assert found.text.startswith("Cannot tell whether q0 and q1 are related: the reports do not fit the scheme (p")
    assert "Reports were lost or added" in repr(found)
    if lost == 0:
        assert (found.p_value, found.statistic) == (1.0, 0.0), "nobody has reported both"


def test_lost_reports_are_no_relation_even_if_they_look_like_one() -> None:
    scheme = make("CLIQUE", epsilon=3, domain=table(3, 4, 2), cliques=2)
    random = np.random.default_rng(1)
    records = np.repeat(random.integers(0, 2, (6000, 1)), 3, axis=1)
    reports, tally = scheme.privatize(records, SeededRandom(1)), scheme.accumulator()
    tally.add(reports[reports["group"] != 2])
    found = tally.table("q0", "q1").independence()
    assert found.p_value < 1e-6
    assert not found.related
    assert "are related: p" not in found.text


def test_too_few_reports_for_a_test_are_said_to_be_too_few() -> None:
    questions = Table({f"q{i}": 4 for i in range(8)})
    scheme = make("CLIQUE", epsilon=2, domain=questions)
    random = np.random.default_rng(2)
    tally = scheme.accumulator()
    tally.add(scheme.privatize(random.integers(0, 4, (100, 8)), SeededRandom(2)))
    found = tally.table("q0", "q1").independence()
    assert (found.reports, found.needed, found.related) == (100, 2318, False)
    few = "Cannot tell whether q0 and q1 are related: 100 reports are too few to notice even the strongest relation"
    assert found.text.startswith(f"{few}, which takes about 2,400 (p = ")
    assert tally.table("q1", "q0").independence().statistic == found.statistic
    alone = scheme.accumulator()
    alone.add(scheme.privatize(random.integers(0, 4, (1, 8)), SeededRandom(2)))
    assert "1 report is too few" in alone.table("q0", "q1").independence().text


@pytest.mark.full
def test_no_report_moves_a_cell_further_than_stated() -> None:
    sizes = (2, 3, 4)
    for cliques in (2, 3):
        scheme = make("CLIQUE", epsilon=1, domain=table(*sizes), cliques=cliques)
        reports = scheme.privatize(latent(sizes, 400, 1), SeededRandom(1))
        largest = 0.0
        for i in range(len(reports)):
            alone = scheme.accumulator()
            alone.add(reports[i : i + 1])
            for pair in (("q0", "q1"), ("q0", "q2"), ("q1", "q2")):
                largest = max(largest, float(np.abs(alone.table(*pair).values).max()))
        # With 400 reports, the worst one is likely among them.
        assert 0.8 * scheme.influence() < largest <= scheme.influence() * (1 + 1e-9)


def test_merged_and_restored_tallies_have_the_same_tables() -> None:
    sizes = (2, 3, 2)
    scheme = make("CLIQUE", epsilon=1, domain=table(*sizes))
    records = latent(sizes, 3000, 4)
    reports = scheme.privatize(records, SeededRandom(3))
    whole, first, second = (scheme.accumulator() for _ in range(3))
    whole.add(reports)
    first.add(reports[:1000])
    second.add(reports[1000:])
    first.merge(second)
    again = type(whole).from_bytes(scheme, first.to_bytes())
    assert np.array_equal(again.table("q0", "q1").counts, whole.table("q0", "q1").counts)
    assert counted(records, sizes, 0, 1).sum() == 3000
