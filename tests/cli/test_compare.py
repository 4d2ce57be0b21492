"""plausibly compare: schemes in words, crowds by name or from files, one table, one picture."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cases import in_turn
from plausibly.cli import app
from plausibly.experiments.cells import SOURCES
from plausibly.experiments.comparison import comparison, scheme_line, sheet_of, summary
from plausibly.experiments.figure import wanted
from plausibly.experiments.item_crowds import CROWDS
from plausibly.experiments.measures import measure
from plausibly.experiments.results import Results

SECRET = "hiv-clinic"
SMALL = ("--data", "uniform", "--n", "300", "--d", "20", "--repeats", "2")


@pytest.fixture(autouse=True)
def no_file_stays_a_crowd() -> Iterator[None]:
    before = dict(CROWDS)
    yield
    for each in (CROWDS, SOURCES):
        for name in set(each) - set(before):
            del each[name]


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["compare", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.full
def test_one_table_one_picture_and_a_report(tmp_path: Path) -> None:
    schemes = ["OUE", "FLH:hashes=8", "DE+norm-sub"]
    code, shown, _ = run(*schemes, *SMALL, "--epsilon", "1", "--epsilon", "3", "--out", tmp_path, "--jobs", "1")
    assert code == 0
    rows = [line.split() for line in shown.splitlines()]
    assert [row[:2] for row in rows[2:8]] == [[name, epsilon] for epsilon in "13" for name in schemes]
    assert rows[1] == ["scheme", "ε", "MSE", "±", "%", "RMSE", "theory", "k-MSE", "F1", "bytes", "client", "server"]
    assert {len(row) for row in rows[2:8]} == {11}
    assert (tmp_path / "comparison.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    command = "plausibly compare OUE FLH:hashes=8 DE+norm-sub --data uniform --n 300 --d 20 --epsilon 1 --epsilon 3"
    assert f"{command} --repeats 2" in page
    assert page.count("3 schemes on uniform") == 3, "title, heading and name of the picture, and not in it"
    assert "OUE: Optimised unary encoding; FLH: " in page
    assert "n = 300 simulated users have items of a domain of d = 20" in page
    assert "Dashed lines" not in page
    assert "estimated from 2 repeats, so that by chance alone 20 %" in page
    assert '<source media="(max-width: 46rem)"' in page
    assert "| OUE | 1 |" in (tmp_path / "comparison.md").read_text(encoding="utf-8")


@pytest.mark.full
def test_values_in_order_are_compared_by_ranges(tmp_path: Path) -> None:
    size = ("--data", "income", "--n", "2000", "--d", "32", "--repeats", "2", "--epsilon", "1")
    schemes = ["SLIDE", "SLIDE+monotone", "SW", "OUE"]
    code, shown, _ = run(*schemes, *size, "--out", tmp_path, "--jobs", "1")
    assert code == 0
    rows = [line.split() for line in shown.splitlines()]
    header = "scheme ε ranges ± % theory bound CDF KS deciles bytes client server"
    assert rows[1] == header.split()
    told = {row[0]: row for row in rows[2:6]}
    assert list(told) == schemes
    assert {name: row[4] == "–" for name, row in told.items()} == dict(zip(schemes, (0, 1, 1, 0), strict=True))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "root mean squares over all ranges" in page
    assert "MSE is the mean squared error of the estimated counts" not in page
    code, shown, _ = run(*schemes, *size, "--out", tmp_path, "--jobs", "1", "--json")
    slide, *_ = json.loads(shown)
    assert code == 0
    assert slide["range_rmse_theory"] ** 2 == pytest.approx(slide["range_mse_theory"])
    assert slide["range_rmse_optimum"] < slide["range_rmse_theory"]
    assert f"{100 * slide['cdf_error']:#.3g}" == told["SLIDE"][6]


@pytest.mark.full
def test_json_for_machines_and_one_epsilon(tmp_path: Path) -> None:
    code, shown, _ = run("OUE", "OLH", *SMALL, "--epsilon", "2", "--out", tmp_path, "--jobs", "1", "--json")
    assert code == 0
    first, second = json.loads(shown)
    assert (first["scheme"], second["scheme"], first["epsilon"], first["repeats"]) == ("OUE", "OLH", 2.0, 2)
    assert first["rmse_theory"] ** 2 == pytest.approx(first["mse_theory"])
    assert 0 <= first["f1"] <= 1


def test_numbers_are_means_over_the_repeats() -> None:
    figure = comparison(["DE", "CM:oracle=OUE,width=8,rows=2,combine=min"], data="uniform", n=100, d=9, epsilons=[1])
    results = Results()
    for cell, views in wanted([figure]).items():
        results.add(cell, *measure(cell, views))
    rows = list(figure.rows(results))
    lines = summary(rows)
    errors = [row["value"] for row in rows if row["label"] == "DE" and row["metric"] == "mse"]
    assert lines[0]["mse"] == pytest.approx(sum(errors) / 5)
    assert "rmse_theory" in lines[0]
    assert "rmse_theory" not in lines[1]  # the minimum has no law
    assert sheet_of("", lines).lines[1][5] == "–"


@pytest.mark.full
@in_turn(
    ("arguments", "told"),
    [
        (["NO"], "unknown scheme 'NO'"),
        (["FLH:hashs=3"], "did you mean 'hashes'?"),
        (["FLH:hashes"], "expected name=value"),
        (["FLH:hashes=3,hashes=4"], "once for each name"),
        (["FLH:hashes=many"], "hashes: expected an integer"),
        (["FLH:epsilon=9"], "unknown parameter 'epsilon'"),
        (["DE:oracle.hashes=3"], "unknown parameter 'oracle.hashes'"),
        (["CM"], "expected an oracle and a width"),
        (["CM:oracle=OLH,width=8,rows=2,combine=max"], "did you mean 'mean'?"),
        (["CM:oracle=CMS,width=8"], "unknown scheme 'CMS'"),
        (["TRELLIS"], "TRELLIS: expected an oracle or a sketch, got a search"),
        (["OLH+norm"], "did you mean 'norm-sub'?"),
        (["OLH", "OLH"], "each given once"),
        (["OLH", "--data", "zipf"], "did you mean 'zipf-1.1'?"),
        (["OLH", "--epsilon", "nan"], "positive"),
        (["OLH", "--epsilon", "-1"], "positive"),
        (["OLH", "--n", "99999999999"], "n: expected"),
        (["OLH", "--data", "uniform", "--counts", "x.csv"], "got several"),
        (["OLH", "--column", "x"], "--column needs --values"),
        (["[red]x[/]"], "unknown scheme '[red]x[/]'"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_measured(
    arguments: list[str], told: str, tmp_path: Path
) -> None:
    code, shown, message = run(*arguments, "--out", tmp_path / "out")
    assert (code, shown) == (2, "")
    assert told in " ".join(message.split())
    assert not (tmp_path / "out").exists()


@pytest.mark.full
def test_a_file_of_values_is_the_crowd(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("user,site\n" + "".join(f"{user},{SECRET if user % 3 else 'b'}\n" for user in range(60)))
    code, shown, _ = run("DE", "--values", path, "--column", "site", "--epsilon", "4", "--repeats", "1",
                         "--out", tmp_path, "--jobs", "1")  # fmt: skip
    assert code == 0
    assert "visits.csv" in shown
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    cell = rows[1]["cell"]
    assert (cell["n"], cell["d"], cell["data"]) == (60, 2, "visits.csv")
    for written in tmp_path.iterdir():
        assert written == path or SECRET.encode() not in written.read_bytes()


@pytest.mark.full
def test_counts_may_be_resampled(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    path.write_text("item,count\na,30\nb,20\nc,10\n")
    code, shown, _ = run("DE", "--counts", path, "--n", "1000", "--d", "2", "--epsilon", "4", "--repeats", "1",
                         "--out", tmp_path, "--jobs", "1", "--json")  # fmt: skip
    assert code == 0
    assert json.loads(shown)[0]["f1"] == 1


def test_a_bad_file_is_named_by_its_line_and_not_quoted(tmp_path: Path) -> None:
    path = tmp_path / "counts.csv"
    path.write_text(f"item,count\na,1\n{SECRET},x\n")
    code, _, told = run("DE", "--counts", path, "--out", tmp_path / "out")
    assert code == 1
    assert "counts.csv, line 3" in told
    assert SECRET not in told


def test_words_become_lines() -> None:
    line = scheme_line("CM:oracle=HM,oracle.coefficients=3,oracle.decoder=paper,width=8,rows=2,combine=mean")
    assert line.parameters == {"oracle": {"scheme": "HM", "coefficients": 3}, "width": 8, "rows": 2}
    assert line.view.keywords == {"combine": "mean", "oracle": {"decoder": "paper"}}
    assert scheme_line("BLOOM:alpha=0.5,bits=16").view.keywords == {"alpha": 0.5}
    assert scheme_line("HR:variant=pure").parameters == {"variant": "pure"}


@pytest.mark.full
def test_what_the_page_shows_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "experiments.md").read_text(encoding="utf-8")
    commands = re.findall(r"^plausibly compare (.+)$", page, flags=re.MULTILINE)
    assert len(commands) == 2
    for number, command in enumerate(commands):
        monkeypatch.chdir(tmp_path)
        assert run(*shlex.split(command), "--out", f"comparison{number}", "--jobs", 1)[0] == 0
    (shown,) = re.findall(r"```text\n(.+?)```", page, flags=re.DOTALL)
    assert comparison(shown.split(), data="uniform", n=10, d=8, epsilons=[1]).sweeps


@pytest.mark.full
def test_it_works_from_the_shell_and_says_that_it_only_simulates(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "plausibly", "compare"]
    shown = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True)
    assert "This is a simulation." in shown.stdout
    shown = subprocess.run([*command, "OUE", "TLH", *SMALL], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert shown.stdout.splitlines()[-1] == "Report: comparison/report.html"


@pytest.mark.full
def test_names_with_dollars_and_long_names_are_drawn_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "a$x_{$.csv").write_text("item,count\nant,30\nbee,20\n", encoding="utf-8")
    long = "CM:oracle=TLH,width=16,rows=2,combine=median"
    asked = ("--counts", tmp_path / "a$x_{$.csv", "--epsilon", 1, "--repeats", 1, "--jobs", 1)
    for schemes, legend in ((["OUE", "OLH"], False), (["OUE", long], True)):
        code, _, told = run(*schemes, *asked, "--out", tmp_path / "out")
        assert code == 0, told
        drawn = (tmp_path / "out" / "comparison.svg").read_text(encoding="utf-8")
        assert "a$x_{$.csv" in drawn
        # At the axis in each of three panels, or once in the legend.
        assert drawn.count(f">{schemes[1]}<") == (1 if legend else 3)
