"""plausibly estimate: questions about the order of values, on the terminal, in files, on pages and in pictures."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from plausibly import Ordered, SeededRandom, make
from plausibly.cli import app
from plausibly.core.ordered_estimates import OrderedEstimates
from plausibly.files import read_tally, write_tally

CROWD = [400, 300, 900, 800, 200, 100, 100, 200]


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["estimate", *map(str, arguments)], terminal_width=200)
    assert (result.exit_code, result.stderr) == (0, ""), result.stderr
    return result.stdout


def tally_file(path: Path, domain: Any, counts: Any = CROWD) -> Path:
    write_tally(path, make("SLIDE", epsilon=2, domain=domain).simulate(counts, SeededRandom(1)))
    return path


def read(path: Path) -> OrderedEstimates:
    found = read_tally(path).estimate()
    assert isinstance(found, OrderedEstimates)
    return found


@pytest.fixture
def ages(tmp_path: Path) -> Path:
    return tally_file(tmp_path / "ages.tally", Ordered(10, 17, unit="years"))


def test_the_terminal_has_a_table_for_each_question(ages: Path) -> None:
    shown = run(ages, "--ranges", "10..12,13..17", "--quantiles", ".25,.5", "--mean", "--cdf")
    made = read(ages)
    for answer in (made.ranges([(10, 12), (13, 17)]), made.cdf(simultaneous=True), made.quantiles([0.25, 0.5])):
        for texts in zip(*answer.texts().values(), strict=True):
            assert re.search(r"\s+".join(re.escape(" ".join(text.split())) for text in texts), " ".join(shown.split()))
    assert f"{made.mean().value:.2f}" in shown
    assert "3,000 reports of SLIDE, ε = 2." in shown
    assert "it contains the whole function (Bonferroni)" in " ".join(shown.split())


def test_files_for_programs_have_every_answer(ages: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.csv", tmp_path / "a.json"
    asked = "--ranges", "10..12", "--quantiles", "0.5", "--mean", "--cdf", "--bins", "2", "--level", "0.9"
    run(ages, *asked, "--out", out[0], "--out", out[1])
    made = read(ages)
    with out[0].open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["question"] for row in rows] == ["bins"] * 2 + ["ranges"] + ["cdf"] * 8 + ["quantiles", "mean"]
    low, high = made.ranges([(10, 12)]).interval(0.9)
    assert (float(rows[2]["low"]), float(rows[2]["high"])) == (low[0], high[0])
    assert float(rows[-1]["estimate"]) == made.mean().value
    assert {row["level"] for row in rows} == {"0.9"}
    document = json.loads(out[1].read_text(encoding="utf-8"))
    assert len(document["estimates"]) == 8
    assert document["ranges"][0]["estimate"] == made.ranges([(10, 12)]).values[0]
    assert document["mean"][0]["standard_error"] == made.mean().standard_error
    assert [row["item"] for row in document["cdf"]] == list(range(10, 18))
    assert json.loads(run(ages, "--quantiles", "0.5", "--json"))["quantiles"] == [
        {"item": 0.5, **{name: column[0] for name, column in made.quantiles([0.5]).columns().items()}}
    ]


def test_dates_are_dates_everywhere(tmp_path: Path) -> None:
    days = tally_file(tmp_path / "days.tally", Ordered.dates("2026-01-01", "2026-01-08"))
    out = tmp_path / "days.json"
    shown = run(days, "--ranges", "2026-01-01..2026-01-04", "--quantiles", ".5", "--mean", "--out", out)
    assert "2026-01-01..2026-01-04" in shown
    document = json.loads(out.read_text(encoding="utf-8"))
    for name in ("quantiles", "mean"):
        assert all(re.fullmatch(r"2026-01-0\d", document[name][0][end]) for end in ("value", "low", "high"))


@pytest.mark.full
def test_many_items_are_shown_in_bins_and_files_have_all_items(tmp_path: Path) -> None:
    tally = tally_file(tmp_path / "ages.tally", Ordered(0, 120), [100] * 121)
    out = tmp_path / "ages.csv"
    shown = run(tally, "--out", out)
    assert read(tally).binned().reason in " ".join(shown.split())
    assert len(out.read_text(encoding="utf-8").splitlines()) == 122
    assert "The 20 largest" not in shown
    assert "the 5 largest" not in run(tally, "--top", "5")
    assert "estimate" in run(tally, "--top", "5")


@pytest.mark.full
def test_a_lost_group_is_said_on_the_terminal_and_in_json(tmp_path: Path) -> None:
    scheme = make("SLIDE", epsilon=2, domain=Ordered(0, 120))
    reports = scheme.privatize(np.arange(3_000) % 121, SeededRandom(1))
    tally = scheme.accumulator()
    tally.add(reports[reports["group"] != 1])
    write_tally(tmp_path / "lost.tally", tally)
    told = "Reports were lost or added, and the estimates are biased"
    assert told in " ".join(run(tmp_path / "lost.tally").split())
    assert told in " ".join(run(tmp_path / "lost.tally", "--mean").split())
    assert told in json.loads(run(tmp_path / "lost.tally", "--json"))["cautions"][0]


@pytest.mark.full
def test_the_page_and_the_pictures_show_the_answers(ages: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.html", tmp_path / "a.png", tmp_path / "a.svg"
    asked = "--ranges", "10..12,13..17", "--quantiles", ".25,.5,.75", "--mean", "--cdf", "--bins", "auto"
    files = [part for path in out for part in ("--out", path)]
    run(ages, *asked, *files, "--title", "How old?", "--postprocess", "monotone")
    page = out[0].read_text(encoding="utf-8")
    headings = re.findall("<h2>(.*?)</h2>", page)
    assert headings[:6] == ["Histogram", "Ranges", "Distribution function", "Quantiles", "Mean", "Single items"]
    assert page.count("<picture>") == 4
    assert "After monotone, the intervals are still those of the unbiased counts" in page
    picture = out[2].read_text(encoding="utf-8")
    for words in ("How old?", "95 % band", "25 %", "monotone"):
        assert words in picture
    assert out[1].stat().st_size > 20_000


@pytest.mark.full
def test_the_page_of_many_items_and_of_a_lost_group_says_so(tmp_path: Path) -> None:
    scheme = make("SLIDE", epsilon=2, domain=Ordered(0, 120))
    reports = scheme.privatize(np.arange(3_000) % 121, SeededRandom(1))
    tally = scheme.accumulator()
    tally.add(reports[reports["group"] != 1])
    write_tally(tmp_path / "lost.tally", tally)
    run(tmp_path / "lost.tally", "--out", tmp_path / "lost.html")
    page = (tmp_path / "lost.html").read_text(encoding="utf-8")
    assert "Reports were lost or added, and the estimates are biased" in page
    assert "<h2>Histogram</h2>" in page


# --- schemes without intervals, and without counts ----------------------------------------------------------------


def without_counts(path: Path, name: str) -> Path:
    scheme = make(name, epsilon=2, domain=Ordered(10, 17, unit="years"))
    write_tally(path, scheme.simulate(CROWD, SeededRandom(1)))
    return path


def refused(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["estimate", *map(str, arguments)], terminal_width=200)
    assert result.exit_code in (1, 2)
    return " ".join(result.stderr.split())


def test_one_bit_answers_the_mean_and_refuses_everything_else(tmp_path: Path) -> None:
    tally = without_counts(tmp_path / "bits.tally", "MEAN")
    shown = run(tally, "--mean")
    assert "value (years)" in shown
    assert "3,000 reports of MEAN, ε = 2." in shown
    assert refused(tally).endswith("no counts of items, only the mean of the values; ask for it with --mean")
    for option in (["--quantiles", ".5"], ["--cdf"], ["--top", "3"], ["--all"], ["--postprocess", "norm-sub"]):
        assert refused(tally, "--mean", *option).startswith(f"{option[0]} needs counts of items, and MEAN has only")


def test_the_mean_of_one_bit_goes_to_files_but_has_no_chart(tmp_path: Path) -> None:
    tally = without_counts(tmp_path / "bits.tally", "MEAN")
    csv_file, json_file, page = (tmp_path / f"mean.{ending}" for ending in ("csv", "json", "html"))
    run(tally, "--mean", "--out", csv_file, "--out", json_file, "--out", page)
    (row,) = csv.DictReader(csv_file.read_text(encoding="utf-8").splitlines())
    made = read_tally(tally).mean()
    assert (float(row["estimate"]), float(row["low"])) == (made.value, made.interval()[0])
    document = json.loads(json_file.read_text(encoding="utf-8"))
    assert (document["estimates"], document["mean"][0]["value"]) == ([], made.value)
    assert "Mean from 3,000 randomized reports" in page.read_text(encoding="utf-8")
    assert "a mean has no chart" in refused(tally, "--mean", "--out", tmp_path / "mean.png")


@pytest.mark.full
def test_a_square_wave_answers_without_intervals_and_says_so(tmp_path: Path) -> None:
    tally = without_counts(tmp_path / "waves.tally", "SW")
    out = tmp_path / "waves.csv", tmp_path / "waves.html", tmp_path / "waves.png"
    asked = "--mean", "--quantiles", ".5", "--ranges", "10..12", "--cdf"
    shown = " ".join(run(tally, *asked, *(part for path in out for part in ("--out", path))).split())
    assert "% interval" not in shown
    assert (
        "No interval: the error of estimates by smoothed maximum likelihood is unknown. SLIDE has intervals." in shown
    )
    rows = list(csv.DictReader(out[0].read_text(encoding="utf-8").splitlines()))
    assert {(row["low"], row["high"], row["level"]) for row in rows} == {("", "", "")}
