"""Estimates as data people expect them: looked up, iterated over, in tables, files and notebooks."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest

import plausibly
from plausibly import DomainError, Estimates, SeededRandom


def pets(**given: object) -> Estimates:
    scheme = plausibly.make("OUE", epsilon=1, domain=["cat", "dog", "fish"], other=True)
    return scheme.simulate([300, 600, 90, 10], SeededRandom(1)).estimate()


def test_one_item_is_looked_up_by_its_name() -> None:
    made = pets()
    dog = made["dog"]
    low, high = made.interval(0.9)
    assert (dog.item, dog.value, dog.variance) == ("dog", made.values[1], made.variance[1])
    assert dog.interval(0.9) == (low[1], high[1])
    assert (float(dog), dog.share, dog.standard_error) == (dog.value, dog.value / 1000, dog.variance**0.5)
    assert repr(dog) == f"<dog: {dog.value:,.0f} [{dog.interval()[0]:,.0f}, {dog.interval()[1]:,.0f}]>"
    assert ("dog" in made, "newt" in made, len(made)) == (True, False, 4)


def test_an_item_that_is_not_there_is_a_key_error_with_a_sentence() -> None:
    for missing in ("newt", 1, None, ["dog"]):
        with pytest.raises(KeyError) as caught:
            pets()[missing]
        assert isinstance(caught.value, DomainError)
        assert str(caught.value) == "expected one of the 4 items of these estimates, got another"


def test_integers_are_items_and_not_places() -> None:
    made = plausibly.make("DE", epsilon=1, domain_size=5).simulate([9, 8, 7, 6, 5], SeededRandom(1)).estimate([4, 2])
    assert made[4].value == made.values[0]
    assert made[np.int64(2)].value == made.values[1]
    with pytest.raises(KeyError):
        made[0]


def test_iterating_gives_every_item_in_order() -> None:
    made = pets()
    assert [each.item for each in made] == ["cat", "dog", "fish", "other"]
    assert [float(each) for each in made] == made.values.tolist()


def test_one_of_the_selected_keeps_the_interval_that_allows_for_the_selection() -> None:
    top = pets().top(2)
    low, high = top.interval()
    assert top["dog"].interval() == pytest.approx((low[0], high[0]))
    tiny = plausibly.make("OUE", epsilon=1, domain_size=50).simulate([100] + [0] * 49, SeededRandom(3)).estimate()
    faint = next(each for each in tiny.top(5) if "at most" in repr(each))
    assert faint.interval()[0] == 0


def test_a_dictionary_has_the_columns_of_the_table() -> None:
    made = pets()
    found = made.to_dict(level=0.5)
    assert list(found) == ["cat", "dog", "fish", "other"]
    low, high = made.interval(0.5)
    assert found["dog"] == {
        "estimate": made.values[1],
        "standard_error": made.variance[1] ** 0.5,
        "low": low[1],
        "high": high[1],
        "share": made.values[1] / 1000,
    }
    assert set(made.top(1).to_dict()["dog"]) >= {"significant"}


def test_a_csv_file_is_safe_and_the_same_as_the_text(tmp_path: Path) -> None:
    made = plausibly.make("DE", epsilon=1, domain=["=1+1", 'a"b', "c"]).simulate([9, 9, 9], SeededRandom(1)).estimate()
    text = made.to_csv()
    assert text is not None
    rows = list(csv.DictReader(text.splitlines()))
    assert [row["item"] for row in rows] == ["'=1+1", 'a"b', "c"]
    assert [float(row["estimate"]) for row in rows] == made.values.tolist()
    assert made.to_csv(tmp_path / "x.csv") is None
    assert (tmp_path / "x.csv").read_bytes() == text.encode()
    top = (
        plausibly.make("DE", epsilon=1, domain=["a", "b", "c"]).simulate([900, 0, 0], SeededRandom(1)).estimate().top(2)
    )
    told = [row["significant"] for row in csv.DictReader((top.to_csv() or "").splitlines())]
    assert told == [str(each).lower() for each in top.significant.tolist()] == ["true", "false"]


def test_polars_is_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match=r"to_polars\(\) needs polars: pip install polars"):
        pets().to_polars()
    monkeypatch.setitem(sys.modules, "polars", SimpleNamespace(DataFrame=dict))
    frame = pets().to_polars()
    assert list(frame) == ["item", "estimate", "standard_error", "low", "high", "share"]  # type: ignore[call-overload]
    assert frame["item"] == ["cat", "dog", "fish", "other"]


def test_no_reports_have_no_shares() -> None:
    made = plausibly.make("DE", epsilon=1, domain_size=3).accumulator().estimate()
    assert np.isnan(made.to_frame()["share"]).all()


def test_no_reports_are_not_shown_as_certainty() -> None:
    made = plausibly.make("OUE", epsilon=1, domain_size=30).accumulator().estimate()
    for text in (repr(made), made._repr_html_(), repr(made.top(2))):
        assert "No reports yet" in text
        assert "95 % interval" not in text
        assert "at most" not in text
    one = plausibly.make("OUE", epsilon=1, domain_size=3).simulate([1, 0, 0], SeededRandom(1)).estimate()
    assert "No reports" not in repr(one)
    assert "(1 report)" in one.chart()._caption(" ")


def test_the_largest_differences_in_a_notebook_have_intervals_that_hold_together() -> None:
    # Of plain intervals of the 20 largest of 1,000 differences, none contained the true one. Together, all contain it
    # with a probability of 95 %: more than 2 of 10 pages with one that does not have a probability of 1.2 %.
    scheme, wrong = plausibly.make("OUE", epsilon=1, domain_size=1000), 0
    for seed in range(10):
        one, other = (scheme.simulate([5] * 1000, SeededRandom(2 * seed + i)).estimate() for i in (0, 1))
        found = one - other
        seen = found.shown_rows()
        low, high = found.interval_of_shown(seen)
        wrong += not ((low <= 0) & (high >= 0)).all()
        low, high = seen.interval()
        assert not ((low <= 0) & (high >= 0)).any()
    assert wrong <= 2
    assert "The intervals of all items contain the truth at once" in found._repr_html_()


def test_levels_close_to_1_are_levels_for_many_items_too() -> None:
    scheme = plausibly.make("OUE", epsilon=1, domain_size=5000)
    one, other = (scheme.simulate([1] * 5000, SeededRandom(seed)).estimate() for seed in (1, 2))
    low, high = (one - other).interval(1 - 1e-14, together=True)
    assert np.isfinite(low).all()
    assert (high > (one - other).interval(1 - 1e-14)[1]).all()


# --- notebooks -------------------------------------------------------------------------------------------------------


def test_a_notebook_shows_a_table_with_bars_and_intervals() -> None:
    page = ElementTree.fromstring(pets()._repr_html_())
    assert [cell.text for cell in page.iter("th")] == ["item", "estimate", "share", "95 % interval", "bar and interval"]
    assert [cell.text for cell in page.iter("bdi")] == ["dog", "cat", "fish", "other"]
    assert len(list(page.iter("rect"))) == 4
    assert "4 items from 1,000 reports" in "".join(page.itertext())
    first = [cell.text for cell in page.findall(".//tbody/tr")[0].findall("td")]
    assert first[1] == f"{pets()['dog'].value:,.0f}"


def test_a_notebook_escapes_items_and_loads_nothing() -> None:
    labels = ["<script>alert(1)</script>", "a\u202eb", "&amp;"]
    made = plausibly.make("DE", epsilon=1, domain=labels).simulate([9, 9, 9], SeededRandom(1)).estimate()
    html = made._repr_html_()
    page = ElementTree.fromstring(html)
    assert {labels[0], "&amp;"} < {cell.text for cell in page.iter("bdi")}
    assert "\u202e" not in html
    assert not [element for element in page.iter() if element.tag in ("script", "img", "link", "iframe")]
    assert "http" not in html


def test_a_notebook_of_many_items_says_at_most_where_noise_explains_them() -> None:
    made = plausibly.make("OUE", epsilon=1, domain_size=50).simulate([900] + [0] * 49, SeededRandom(3)).estimate()
    html = made._repr_html_()
    assert html.count("<tr>") == 21
    assert "The 20 largest; the intervals allow for this choice. to_frame() has plain ones." in html
    assert "Chosen for large estimates; the intervals allow for this choice." in made.top(3)._repr_html_()
    assert "Hollow bars: the interval contains 0." in html
    assert "… and 30 more" in html
    assert html.count('fill="none" stroke="#4477aa"') == html.count("at most ") > 0
    assert "cannot be told apart from noise" in html
    gone = made.postprocess("norm-sub")._repr_html_()
    assert "% interval" not in gone
    assert "No intervals: norm-sub leaves no variance." in gone


def test_a_notebook_has_shares_minus_signs_and_the_other_item_in_grey() -> None:
    made = plausibly.make("OUE", epsilon=1, domain=["cat", "dog", ""], other=True)
    table = made.simulate([500, 400, 0, 100], SeededRandom(9)).estimate()
    html = table._repr_html_()
    page = ElementTree.fromstring(html)
    rows = page.findall(".//tbody/tr")
    assert [row.get("style") is not None for row in rows] == [False, False, False, True]
    assert rows[0].findall("td")[2].text == f"{100 * table.fractions.max():.2f} %"
    assert "tabular-nums" in html
    low = table.interval()[0]
    assert (low < 0).any(), "the seed has an interval that begins below zero"
    assert "−" in html
    assert "[-" not in html
    assert "(empty)" in repr(table)


def test_differences_have_tables_too() -> None:
    other = plausibly.make("OUE", epsilon=1, domain=["cat", "dog", "fish"], other=True)
    found = other.simulate([600, 300, 90, 10], SeededRandom(2)).estimate().shares() - pets().shares()
    assert list(found.to_frame().columns) == ["item", "difference", "standard_error", "low", "high"]
    assert "differences of shares of 4 items" in found._repr_html_()
    assert found["dog"].value < 0
    with pytest.raises(plausibly.StateError, match="expected a count, got a difference"):
        _ = found["dog"].share
    assert pets().shares()["dog"].share == pets()["dog"].share
    low, high = found.interval(0.95)
    wide, wider = found.interval(0.95, together=True)
    assert ((wide < low) & (high < wider)).all()
    one, two = found.interval(1 - 0.05 / 4)
    np.testing.assert_allclose((wide, wider), (one, two))
