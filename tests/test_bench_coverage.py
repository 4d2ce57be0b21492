"""The measurement of coverage: its arithmetic on items made by hand, and runs that resume where they stopped."""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from pathlib import Path

import pytest
from bench import coverage
from bench.coverage_tables import Share, coverage_sheet, summary
from bench.returned import NOBODY, Item, from_metrics, search_run, strings_of, to_metrics, top_run

from plausibly.demo import counts, sites
from plausibly.experiments import Cell, Results

HIT = Item(place=0, truth=100, estimate=110, error=10, low=80, high=140, plain_low=90, plain_high=130, p_value=0.001)
MISS = replace(HIT, place=1, truth=150, p_value=0.03)
LUCK = replace(HIT, place=NOBODY, truth=0, low=0, plain_low=-5, p_value=1.0)


def test_a_summary_counts_what_is_covered() -> None:
    found = summary([[HIT, MISS], [HIT, LUCK]])
    assert (found.runs, found.items, found.nothing, found.compared) == (2, 4, 1, 2)
    assert found.coverage == Share(3, 4)
    assert found.listed == Share(2, 3)
    assert found.always == Share(2, 2)
    assert (found.mean_z, found.always_z) == ((1 - 4 + 1 + 11) / 4, 1)
    assert found.width == 60 / 40


def test_a_string_without_users_is_never_one_that_is_always_found() -> None:
    found = summary([[LUCK], [LUCK]])
    assert found.always.cases == 0
    assert isnan(found.always_z)


def test_the_sheet_names_the_worst_setting() -> None:
    sheet = coverage_sheet(("crowd",), {("good",): [[HIT], [HIT]], ("bad",): [[HIT, MISS]]})
    assert [line[0] for line in sheet.lines] == ["good", "bad"]
    whole, always = sheet.caption.split(" Always found: ")
    assert whole == "4 items: 75.0 ± 21.7 % covered; in the worst setting 50.0 %."
    assert always == "4 items, 75.0 ± 21.7 % covered by plain intervals, mean z -0.25."


def test_items_survive_the_way_through_a_row() -> None:
    assert from_metrics(to_metrics([HIT, MISS, LUCK])) == [HIT, MISS, LUCK]


def test_runs_have_their_own_hash_functions_and_noise() -> None:
    one, two = (coverage.top_settings(["uniform"], [1], [50], ["FLH"], 1000)[0].cell(number) for number in (0, 1))
    assert one.seed("hashes") != two.seed("hashes")
    assert one.seed("noise") != two.seed("noise")
    assert top_run(one) == top_run(one) != top_run(two)


@pytest.mark.full
def test_the_truth_of_a_found_string_is_its_number_of_users() -> None:
    [setting] = coverage.search_settings(["visits"], [5], [6], 20_000)
    best = search_run(setting.cell(0))[0]
    people = zip(sites(), counts(20_000).tolist(), strict=True)
    assert best.place == 0
    assert best.truth == sum(count for site, count in people if site.startswith("amber-"))
    assert abs(best.z) < 5


def test_visits_are_searched_over_the_alphabets_of_the_readme_and_the_demo() -> None:
    assert strings_of("visits", 30).other
    assert not strings_of("demo", 30).other
    assert len(strings_of("demo", 30).alphabet) == 29
    assert strings_of("flat-head", 6).length == 6


@pytest.mark.full
def test_an_interrupted_measurement_resumes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = tmp_path / "rows.jsonl"
    words = ["top", "--crowds", "uniform", "--epsilons", "1", "--sizes", "20", "--oracles", "HR", "--users", "1000"]
    words += ["--jobs", "1", "--rows", str(rows)]
    coverage.main([*words, "--runs", "2"])
    first = rows.read_bytes()
    coverage.main([*words, "--items", "35", "--markdown", str(tmp_path / "table.md")])
    assert rows.read_bytes().startswith(first)
    measured = rows.read_bytes()
    coverage.main([*words, "--items", "35"])
    assert rows.read_bytes() == measured
    assert "| uniform | HR | 20 | 1 | 4 | 40 |" in (tmp_path / "table.md").read_text(encoding="utf-8")
    assert "40 items" in capsys.readouterr().out
    assert len(Results(rows).origins) == 4


def test_a_measurement_stops_at_its_time_limit() -> None:
    setting = coverage.Setting(("never",), lambda number: Cell("not measured", repeat=number))
    coverage.measure([setting], Results(), items=10, runs=10, seconds=-1, jobs=1)
