"""The arrangement of charts, tables and pages: order, the item for all other values, names, titles, narrow screens."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
from typer.testing import CliRunner

from plausibly import Estimates, SeededRandom, make
from plausibly.cli import app
from plausibly.core.arrangement import Arrangement
from plausibly.files import Collected, write_tally
from plausibly.pages import Answer
from plausibly.pages.answer_page import answer_page
from plausibly.pages.charts import chart, svg_of

UNSEEN = ["dog\u200b", "cat\t", "\u202efish"]
NAMED = ["dog‹zero width space›", "cat‹tab›", "‹right-to-left override›fish"]


def pets(other: int = 5000) -> Estimates:
    scheme = make("OUE", epsilon=2, domain=["cat", "dog", "fish"], other=True)
    return scheme.simulate([3000, 6000, 900, other], SeededRandom(1)).estimate()


def hours() -> Estimates:
    return make("OUE", epsilon=2, domain_size=24).simulate(np.arange(24) % 7 * 100, SeededRandom(1)).estimate()


def answer(made: Estimates, **options: object) -> Answer:
    scheme = make("OUE", epsilon=2, domain_size=max(2, len(made)))
    return Answer(made, Collected(scheme.accumulator()), **options)  # type: ignore[arg-type]


def test_numbers_are_in_their_order_where_all_are_shown() -> None:
    assert hours().arranged(24).items.tolist() == list(range(24))
    assert hours().usual_number >= 24
    assert hours().chart().labels == [str(hour) for hour in range(24)]
    few = make("DE", epsilon=2, domain_size=4).simulate([10, 900, 20, 500], SeededRandom(1)).estimate()
    assert re.findall(r"^  (\d) ", repr(few), flags=re.MULTILINE) == ["0", "1", "2", "3"]
    assert few.arranged(2).items.tolist() == [1, 3], "a selection is by count"
    assert few.top(3).arranged(3).items.tolist()[0] == 1, "so is one that the reader asked for"
    assert few.postprocess("norm-sub").top(2).arranged(2).items.tolist() == [1, 3]


def test_the_item_for_all_other_values_is_last_and_one_more() -> None:
    assert pets().items.tolist()[-1] == "other"
    shown = pets().arranged(10)
    assert shown.items.tolist() == ["dog", "cat", "fish", "other"]
    assert shown.apart.tolist() == [False] * 3 + [True]
    few = pets().arranged(1)
    assert few.items.tolist() == ["dog", "other"]
    # Nobody selected it: its interval is the plain one, while that of the largest allows for the selection.
    plain, chosen = pets().interval(), few.interval()
    assert (chosen[0][1], chosen[1][1]) == pytest.approx((plain[0][3], plain[1][3]))
    assert few.significant is not None
    assert few.significant.tolist() == [True, True]


def test_a_label_that_is_called_other_is_a_label_like_any() -> None:
    made = make("DE", epsilon=2, domain=["cat", "other"]).simulate([100, 900], SeededRandom(1)).estimate()
    assert made.arranged(5).items.tolist() == ["other", "cat"]
    assert not made.apart.any()


def test_the_chart_draws_the_other_item_apart_and_in_grey() -> None:
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    pets().chart().draw(axes)
    places = [float(bar.get_y()) for bar in axes.patches]  # type: ignore[attr-defined]
    assert places[3] - places[2] > 1.4 * (places[1] - places[0])
    assert axes.patches[3].get_facecolor() != axes.patches[0].get_facecolor()


@pytest.mark.full
def test_the_other_item_stays_last_on_a_page_whose_table_is_sorted() -> None:
    page = answer_page(answer(pets()))
    table = page.partition('class="sorts stacks"')[2].partition("</table>")[0]
    first, last = re.findall(r"<tbody[^>]*>(.*?)</tbody>", table, flags=re.DOTALL)
    assert ">dog<" in first
    assert ">other<" not in first
    assert ">other<" in last
    assert "values that are not on the list" in last
    assert "for (const body of table.tBodies)" in page, "the script sorts each body in its place"


@pytest.mark.full
def test_unseen_characters_are_named_in_charts_tables_pages_and_on_the_command_line(tmp_path: Path) -> None:
    scheme = make("OUE", epsilon=2, domain=UNSEEN)
    tally = scheme.simulate([900, 500, 300], SeededRandom(1))
    made = tally.estimate()
    assert made.chart().labels == NAMED
    drawn, page = svg_of(chart(answer(made))), answer_page(answer(made))
    write_tally(tmp_path / "x.tally", tally)
    printed = CliRunner().invoke(app, ["estimate", str(tmp_path / "x.tally")]).stdout
    for text in (repr(made), drawn, page, printed):
        assert not set("\u200b\u202e") & set(text)
        assert [name for name in NAMED if name not in text] == []


@pytest.mark.full
def test_titles_and_units_are_on_charts_and_pages(tmp_path: Path) -> None:
    write_tally(tmp_path / "x.tally", make("OUE", epsilon=2, domain_size=4).simulate([9, 5, 3, 1], SeededRandom(1)))
    options = ["--title", "Pets <at> home", "--unit", "households"]
    files = [word for name in ("x.svg", "x.html") for word in ("--out", str(tmp_path / name))]
    done = CliRunner().invoke(app, ["estimate", str(tmp_path / "x.tally"), *options, *files])
    assert done.exit_code == 0, done.output
    for name in ("x.svg", "x.html"):
        text = unquote((tmp_path / name).read_text(encoding="utf-8"))
        assert "Pets &lt;at&gt; home" in text
        assert "estimated households, 95 % interval" in text
    out = tmp_path / "rehearsal.svg"
    words = ["simulate", "OUE:epsilon=2,domain_size=4", "--repeats", "2", "--users", "50", "--out", str(out)]
    done = CliRunner().invoke(app, [*words, *options])
    assert done.exit_code == 0, done.output
    text = out.read_text(encoding="utf-8")
    assert "Pets &lt;at&gt; home" in text or "Pets <at> home" in text.replace("&lt;", "<").replace("&gt;", ">")
    assert "households with the item" in text


def test_titles_and_units_of_plots() -> None:
    axes = pets().plot(title="Pets $at$ home", unit="households")
    assert axes.get_title(loc="left") == "Pets $at$ home"
    assert axes.get_xlabel() == "estimated households, 95 % interval (14,900 reports)"


@pytest.mark.full
def test_a_telephone_gets_a_chart_of_its_own_width() -> None:
    page = answer_page(answer(pets()))
    (narrow,) = re.findall(r'<source media="\(max-width: 46rem\)" srcset="([^"]*)">', page)
    assert " " not in narrow, "a space would end the address"
    width = float(re.findall(r'width="([\d.]+)pt"', unquote(narrow))[0])
    assert width < 320, "in points; drawn for 8 inches, letters would be too small to read on 390 pixels"
    assert "viewport" in page


@pytest.mark.full
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "Each interval is good for an item that you had in mind before you saw the estimates: 95 % of such"),
        ({"largest": 2}, "picked because their estimates are large, and the intervals allow for that: 95 % of them"),
        ({"level": 0.5}, "50 % of such intervals contain the true number of users."),
    ],
)
def test_a_page_says_in_one_sentence_what_its_intervals_are_good_for(options: dict[str, object], words: str) -> None:
    told = answer(pets(), **options).good_for()
    assert words in told
    assert told.count(". ") == 0
    assert told in answer_page(answer(pets(), **options))


def test_the_sentence_explains_at_most_only_where_it_occurs() -> None:
    noise = Estimates(np.arange(50), np.linspace(2, -2, 50), np.ones(50), 100, complete=True)
    assert "“at most” is an upper limit" in answer(noise).good_for()
    assert "at most" not in answer(pets(), largest=2).good_for()
    gone = noise.postprocess("norm-sub")
    assert answer(gone).good_for() == "There are no intervals: the error of these estimates is unknown."


def test_estimates_made_by_hand_have_no_order_of_their_own() -> None:
    made = Estimates(np.array([1, 2]), np.array([5.0, 9.0]), None, 14, complete=True)
    assert made.arrangement == Arrangement()
    assert made.arranged(2).items.tolist() == [2, 1]


@pytest.mark.full
def test_the_page_of_changes_fits_a_telephone_and_has_the_other_item_last(tmp_path: Path) -> None:
    scheme = make("OUE", epsilon=2, domain=["cat", "dog", "fish"], other=True)
    for number, other in enumerate((1000, 9000)):
        tally = scheme.simulate([3000, 6000, 900, other], SeededRandom(number))
        write_tally(tmp_path / f"{number}.tally", tally)
    files = [str(tmp_path / name) for name in ("0.tally", "1.tally")]
    done = CliRunner().invoke(app, ["changes", *files, "--out", str(tmp_path / "x.html")])
    assert done.exit_code == 0, done.output
    rows = [line.split()[0] for line in done.stdout.partition("item ")[2].splitlines()[1:5]]
    assert rows[-1] == "other", "although it changed most"
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    (narrow,) = re.findall(r'<source media="\(max-width: 46rem\)" srcset="([^"]*)">', page)
    assert float(re.findall(r'width="([\d.]+)pt"', unquote(narrow))[0]) < 320
    assert '<table class="stacks">' in page
