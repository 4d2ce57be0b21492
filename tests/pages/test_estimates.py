"""Estimates as files: every form says the same, nothing becomes a formula or markup, and nothing is half-written."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from base64 import b64encode
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np
import pytest

from plausibly import DomainError, Estimates, Keys, ParameterError, SeededRandom, StateError, Strings, make
from plausibly.core.history import Applied
from plausibly.files import Collected, Skipped
from plausibly.files.items import read_items
from plausibly.pages import Answer, estimates, write_estimates, write_tree
from plausibly.pages.answer_page import answer_page
from plausibly.pages.charts import chart, svg_of, tree_chart
from plausibly.pages.estimates import check_name, safe_cell

pytestmark = pytest.mark.full

HOSTILE = '</td><script>alert(1)</script>"\' onload=x &amp; x="1.23456"'
ITEMS = [HOSTILE, "=1+1", "'quoted", "a;b,c\nd", "שלום", "", "-5", "$\\frac$"]
LOST = (Skipped("b.parquet", 3, 1000, "the checksum does not match"), Skipped("<i>.parquet", None, None, "cut off"))
ENDINGS = (".csv", ".parquet", ".json", ".png", ".svg", ".html")


def some(items: Any = ITEMS, *, variance: bool = True, **given: Any) -> Answer:
    names = np.empty(len(items), dtype=object)
    names[:] = items
    values = np.linspace(9000.0, -500.0, len(items)) if len(items) else np.zeros(0)
    scheme = make("TLH", epsilon="1/2", domain=Keys())
    made = Estimates(names, values, np.full(len(items), 2500.0) if variance else None, 20_000, complete=False,
                     history=() if variance else (Applied("norm-sub"),))  # fmt: skip
    source = {"simulated": given.pop("simulated", False), "skipped": given.pop("skipped", ())}
    return Answer(made, Collected(scheme.accumulator(), **source), **given)


def searched(k: int = 5, level: float | None = 0.05, count: int = 3000) -> Answer:
    oracle = make("TLH", epsilon=3, domain_size=2 * 5**2 + 1)
    scheme = make("ROUND", oracle=oracle, prefixes=["ab", "cd"], stem=2, reach=4, domain=Strings("abcd", 4))
    tally = scheme.simulate({"abba": count, "cdab": count // 2}, SeededRandom(1))
    return Answer(tally.search(k=k, level=level), Collected(tally), significance=level)  # type: ignore[attr-defined]


class Reader(HTMLParser):
    """Elements with their attributes, and the text outside of style and script; everything must be closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text, self._open = "", [""]
        self.feed(text)
        self.close()
        assert self._open == [""]

    def handle_starttag(self, name: str, attributes: Any) -> None:
        self.elements.append((name, dict(attributes)))
        if name not in ("img", "meta", "source"):
            self._open.append(name)

    def handle_endtag(self, name: str) -> None:
        assert self._open.pop() == name

    def handle_data(self, text: str) -> None:
        if self._open[-1] not in ("style", "script"):
            self.text += text


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_tables_for_programs_have_all_numbers_unrounded(tmp_path: Path) -> None:
    answer = some(level=0.9, largest=2)
    for ending in (".csv", ".parquet", ".json"):
        write_estimates(tmp_path / f"x{ending}", answer)
    low, high = answer.estimates.interval(0.9)
    rows = rows_of(tmp_path / "x.csv")
    said = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(tmp_path / "x.parquet")
    frame = table.to_pydict()
    assert frame["item"] == ITEMS == [each["item"] for each in said["estimates"]]
    assert [row["item"].removeprefix("'") for row in rows] == ITEMS
    wanted = {"estimate": answer.estimates.values, "standard_error": np.full(8, 50.0), "low": low, "high": high}
    wanted["share"] = answer.estimates.values / 20_000
    for name, numbers in wanted.items():
        assert [float(row[name]) for row in rows] == numbers.tolist() == frame[name]
        assert [each[name] for each in said["estimates"]] == numbers.tolist()
    assert {(row["level"], row["reports"], row["simulated"]) for row in rows} == {("0.9", "20000", "false")}
    facts = json.loads(table.schema.metadata[b"plausibly.estimates"])
    del said["estimates"]
    assert facts == said
    assert (facts["scheme"], facts["epsilon"], facts["reports"], facts["level"]) == ("TLH", "1/2", 20_000, 0.9)
    assert facts["fingerprint"] == answer.source.scheme.fingerprint()


@pytest.mark.full
def test_without_a_variance_there_is_no_interval_anywhere(tmp_path: Path) -> None:
    answer = some(variance=False)
    for ending in ENDINGS:
        write_estimates(tmp_path / f"x{ending}", answer)
    assert {(row["low"], row["standard_error"], row["level"]) for row in rows_of(tmp_path / "x.csv")} == {("", "", "")}
    assert json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))["estimates"][0]["high"] is None
    read = Reader((tmp_path / "x.html").read_text(encoding="utf-8"))
    assert "95 % interval" not in read.text
    assert "After norm-sub, there is no variance" in read.text


def test_no_cell_is_a_formula_and_one_apostrophe_brings_the_item_back(tmp_path: Path) -> None:
    hostile = [f"{sign}cmd|' /C calc'!A0" for sign in "=+-@\t\r\n＝＋－＠'"] + ["a=b", "", "x'y"]  # noqa: RUF001
    write_estimates(tmp_path / "x.csv", some(hostile))
    for row, item in zip(rows_of(tmp_path / "x.csv"), hostile, strict=True):
        cell = row["item"]
        assert not cell.startswith(tuple("=+-@\t\r\n＝＋－＠"))  # noqa: RUF001
        assert cell.removeprefix("'") == item if cell.startswith("'") else cell == item
    assert safe_cell(-5) == -5
    # A spreadsheet that cuts at semicolons finds them within quotes.
    write_estimates(tmp_path / "y.csv", some(["a;=1+1"]))
    assert (tmp_path / "y.csv").read_text(encoding="utf-8").splitlines()[1].startswith('"a;=1+1",')


def test_integers_and_bytes_keep_their_kind(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for items, plain in ([[3, 1], [3, 1]], [[b"\xff\x00", b"a"], ["ff00", "61"]], [[2**70, 1], [2**70, 1]]):
        write_estimates(tmp_path / "x.json", some(items))
        write_estimates(tmp_path / "x.parquet", some(items))
        said = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
        assert [each["item"] for each in said["estimates"]] == plain
        read = parquet.read_table(tmp_path / "x.parquet")["item"].to_pylist()
        assert read == ([str(item) for item in items] if 2**70 in items else items)
    with pytest.raises(ParameterError, match="expected one type"):
        write_estimates(tmp_path / "x.parquet", some([1, "1"]))


def test_the_page_has_everything_and_asks_for_nothing(tmp_path: Path) -> None:
    text = answer_page(some(simulated=True, skipped=LOST, largest=4))
    read = Reader(text)
    assert text == answer_page(some(simulated=True, skipped=LOST, largest=4))
    for words in ("Simulated", "ε = 0.5", "20,000", "1 row group with 1,000 reports and 1 file that was refused",
                  "the checksum does not match", "95 % interval", "9,000", "[8,902, 9,098]",
                  "45.00 %", "Toeplitz"):  # fmt: skip
        assert words in read.text
    assert {name for name, _ in read.elements} & {"link", "iframe", "object", "base", "form"} == set()
    assert not re.search(r"@import|url\(|http:", re.sub(r'src(set)?="data:[^"]*"', "", text))
    policy = next(given["content"] for _, given in read.elements if "default-src" in given.get("content", ""))
    (script,) = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.endswith(f"script-src 'sha256-{digest}'"), "the browser runs this script and no other"


def test_no_item_becomes_markup() -> None:
    skipped = (Skipped(HOSTILE, 1, 1, HOSTILE),)
    read = Reader(answer_page(some(skipped=skipped)))
    assert [name for name, _ in read.elements].count("script") == 1
    assert not [name for _, given in read.elements for name in given if name.startswith("on")]
    assert read.text.count(HOSTILE) == 3
    (source,) = [given["src"] for name, given in read.elements if name == "img"]
    texts = [each.text for each in ElementTree.fromstring(unquote(source.partition(",")[2])).iter() if each.text]
    assert "שלום" in texts  # as text: whatever shows the page knows how to write it
    assert "(empty)" in texts
    assert any(text.endswith('x="1.23456"') for text in texts)


def test_the_page_of_a_search_has_its_tree_and_level() -> None:
    answer = searched()
    read = Reader(answer_page(answer))
    assert [given["class"] for name, given in read.elements if name == "img"] == ["chart", "tree"]
    assert "even one string that nobody has is at most 5 %" in read.text
    assert "abba" in read.text
    assert "may be due to chance" in Reader(answer_page(searched(level=None))).text


def test_csv_says_true_or_false_of_selected_items(tmp_path: Path) -> None:
    answer = some()
    noisy = replace(answer.estimates, variance=np.full(len(ITEMS), 1e6))  # estimates 1,357 apart, from 9,000 down
    write_estimates(tmp_path / "x.csv", replace(answer, estimates=noisy.top(7)))
    assert [row["significant"] for row in rows_of(tmp_path / "x.csv")] == ["true"] * 5 + ["false"] * 2
    write_estimates(tmp_path / "y.csv", answer)
    assert "significant" not in rows_of(tmp_path / "y.csv")[0]


def test_the_page_says_why_chart_and_full_table_have_different_intervals() -> None:
    every = "intervals for one item chosen in advance"
    assert every in Reader(answer_page(some(largest=2))).text
    assert every not in Reader(answer_page(some(largest=20))).text, "the chart has all items, too"
    assert every not in Reader(answer_page(some(variance=False, largest=2))).text


def many() -> Answer:
    rng = np.random.default_rng(3)
    truth = np.r_[np.zeros(180), np.full(20, 900.0)]
    values = truth + 300 * rng.standard_normal(200)
    items = np.array([f"item {i}" for i in range(200)], dtype=object)
    made = Estimates(items, values, np.full(200, 300.0**2), 20_000, complete=True)
    return Answer(made, Collected(make("TLH", epsilon=1, domain=Keys()).accumulator()))


def test_the_first_table_has_the_intervals_of_the_chart_and_all_items_are_folded_in_their_order() -> None:
    answer = many()
    first, _, folded = answer_page(answer).partition('<div class="wide"><table')[2].partition("<details")
    shown = answer.estimates.arranged(20)
    assert re.findall(r"<bdi>(.*?)</bdi>", first) == shown.items.tolist()
    low, high = shown.interval()
    assert shown.significant is not None
    for i in range(20):
        told = f"[{low[i]:>5,.0f}, {high[i]:,.0f}]" if shown.significant[i] else f"at most {high[i]:,.0f}"
        assert re.sub(r"\[ +", "[", told) in re.sub(r"\[ +", "[", first)
    assert first.count("at most") == first.count('class="figure faint"') / 2 > 0, "their estimates are grey"
    assert re.findall(r"<bdi>(.*?)</bdi>", folded) == [f"item {i}" for i in range(200)], "not sorted by size"
    assert "intervals for one item chosen in advance" in folded
    assert "at most" not in folded.partition("</details>")[0]


def test_bars_are_hollow_where_the_interval_contains_zero_and_only_then_explained() -> None:
    chart_of = some().estimates.chart()
    low, high = some().estimates.arranged(20).interval()
    assert chart_of.hollow.tolist() == ((low <= 0) & (high >= 0)).tolist()
    sure = some(["a", "b"])
    assert not replace(sure.estimates, values=np.array([900.0, 800.0])).chart().hollow.any()
    assert "hollow" not in answer_page(
        replace(sure, estimates=replace(sure.estimates, values=np.array([900.0, 800.0])))
    )
    assert "hollow" in Reader(answer_page(many())).text


def test_the_page_names_hash_collisions_only_if_users_share_hash_functions() -> None:
    shared = replace(some(), source=Collected(make("FLH", epsilon=1, domain_size=8).accumulator()))
    assert "hash collisions" in Reader(answer_page(shared)).text
    assert "hash collisions" not in Reader(answer_page(some())).text


def test_the_unit_is_used_throughout_the_page() -> None:
    text = Reader(answer_page(some(unit="households"))).text
    assert "the households that reported" in text
    assert "users" not in text.partition("Data and scheme")[0]


def test_strings_that_may_be_chance_have_a_heading_of_their_own() -> None:
    answer = searched(level=None, k=20, count=300)
    assert answer.estimates.significant is not None
    told = answer.estimates.significant
    assert 0 < told.sum() < len(told)
    sure, _, doubtful = answer_page(answer).partition("may be chance: perhaps nobody has these strings")
    items = answer.estimates.items.tolist()
    listed = re.findall(r"<bdi>(.*?)</bdi>", sure)
    assert listed == [item for item, known in zip(items, told, strict=True) if known]
    assert re.findall(r"<bdi>(.*?)</bdi>", doubtful) == [
        item for item, known in zip(items, told, strict=True) if not known
    ]
    assert "may be chance: perhaps" not in answer_page(searched())


def test_the_page_of_a_search_that_found_nothing_says_what_it_could_have_found() -> None:
    text = Reader(answer_page(replace(searched(count=0), detectable=0.31))).text
    assert "Nothing found: no string stands out from the noise." in text
    assert "a string that at least 31 % of the users have" in text
    assert "How to read" not in text
    assert "p-value" not in text
    assert "even one string that nobody has" not in text
    assert "too few" in Reader(answer_page(replace(searched(count=0), detectable=1.0))).text


def test_the_page_of_a_search_leaves_the_question_whether_anybody_has_a_string_to_p_values() -> None:
    assert "If an interval contains zero" in Reader(answer_page(some())).text
    read = Reader(answer_page(searched()))
    assert "If an interval contains zero" not in read.text
    assert "It answers whether anybody has the string" in read.text


@pytest.mark.full
def test_long_lists_are_cut_for_people_and_said_to_be() -> None:
    answer = some([f"item {i}" for i in range(1500)], largest=20)
    read = Reader(answer_page(answer))
    assert sum(name == "tr" for name, _ in read.elements) == 20 + 1 + 1000 + 1 + len(answer.about())
    assert "The 1,000 largest of 1,500 items" in read.text
    assert "The intervals allow for this choice." in read.text
    assert "the 20 largest of 1,500 items" in svg_of(chart(answer))
    assert len(list(answer.lines())) == 20


@pytest.mark.full
def test_pictures_are_the_same_every_time_and_say_when_they_are_simulated(tmp_path: Path) -> None:
    assert svg_of(chart(some())) == svg_of(chart(some()))
    assert "SIMULATED" not in svg_of(chart(some()))
    assert "SIMULATED" in svg_of(chart(some(simulated=True)))
    found = searched()
    write_tree(tmp_path / "x.png", found)
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    assert "SIMULATED" in svg_of(tree_chart(Answer(found.estimates, Collected(found.source.tally, True))))
    with pytest.raises(StateError, match="expected the result of a search"):
        write_tree(tmp_path / "y.png", some())
    assert not (tmp_path / "y.png").exists()


@pytest.mark.full
def test_characters_without_a_font_are_warned_of_where_they_cannot_be_shown(tmp_path: Path) -> None:
    answer = some(["\N{CUNEIFORM SIGN A}", "b"])
    with pytest.warns(UserWarning, match="drawn as boxes"):
        write_estimates(tmp_path / "x.png", answer)
    write_estimates(tmp_path / "x.svg", answer)


def test_nothing_found_is_a_file_too(tmp_path: Path) -> None:
    empty = searched(count=0)
    assert len(empty.estimates) == 0
    for ending in ENDINGS:
        write_estimates(tmp_path / f"x{ending}", empty)
    assert rows_of(tmp_path / "x.csv") == []
    assert "Nothing found" in Reader((tmp_path / "x.html").read_text(encoding="utf-8")).text


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.csv"
    write_estimates(path, some(["a"]))
    before = path.read_bytes()

    def fail(item: Any) -> Any:
        raise OSError("full")

    with monkeypatch.context() as patch:
        patch.setattr(estimates, "safe_cell", fail)
        with pytest.raises(OSError, match="full"):
            write_estimates(path, some(["b"]))
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.csv"]
    write_estimates(path, some(["b"]))
    assert path.read_bytes() != before


def test_names_are_refused_before_anything_is_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, told in (("x.xlsx", "unknown suffix '.xlsx'"), ("x", "unknown suffix ''"), ("no/x.csv", "no folder")):
        with pytest.raises(ParameterError, match=told):
            check_name(tmp_path / name)
    assert check_name(tmp_path / "X.CSV") == tmp_path / "X.CSV"
    with pytest.raises(ParameterError, match=r"unknown suffix '\.csv'"):
        check_name(tmp_path / "x.csv", pictures=True)
    monkeypatch.setattr(estimates, "find_spec", lambda name: None)
    with pytest.raises(StateError, match=r"needs pyarrow: pip install pyarrow"):
        check_name(tmp_path / "x.parquet")
    with pytest.raises(ParameterError, match="level"):
        some(level=1.5)


def test_lines_are_read_once_each_and_bad_ones_named(tmp_path: Path) -> None:
    path = tmp_path / "items.txt"
    path.write_bytes("\ufeffa b\r\n\nc\u2028d\né\na b\n".encode())
    assert read_items(path) == ["a b", "c\u2028d", "é"]
    path.write_bytes(b"secret\n\xff\n")
    with pytest.raises(DomainError, match=r"items\.txt, line 2: expected UTF-8 text, got other bytes$"):
        read_items(path)
    path.write_bytes(b"\n\n")
    with pytest.raises(DomainError, match="got only empty lines"):
        read_items(path)
