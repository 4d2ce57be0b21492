"""plausibly simulate: the accuracy to expect, from counts, values or a made-up crowd."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cases import in_turn
from plausibly import make
from plausibly.cli import app

SECRET = "hiv-clinic"
WORDS = "DE:epsilon=1,domain_size=20"
SMALL = (WORDS, "--data", "uniform", "--users", "500", "--repeats", "2")


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["simulate", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "scheme.json"
    path.write_text(make("OUE", epsilon=2, domain=["[b]ant", "bee"], other=True).to_json(), encoding="utf-8")
    return path


def test_errors_are_told_item_by_item_and_for_all(tmp_path: Path, labels: Path) -> None:
    (tmp_path / "histogram.csv").write_text("item,count\n[b]ant,3000\nbee,1000\nwasp,500\n", encoding="utf-8")
    code, shown, said = run(labels, "--counts", tmp_path / "histogram.csv", "--repeats", 3)
    assert (code, said) == (0, "")
    rows = [line.split() for line in shown.splitlines()]
    assert rows[2][:2] == ["[b]ant", "3,000"]
    assert rows[4][:2] == ["other", "500"]
    for words in ("RMSE", "predicted", "95 % intervals", "the true top 3", "detectable", "A simulation"):
        assert words in shown
    assert "500 users have items that the scheme does not list" in shown
    words = " ".join(shown.split())
    assert "the 95 % interval of such an item is above zero; to stand out among all items, as in plausibly" in words


def test_values_and_another_number_of_users(tmp_path: Path, labels: Path) -> None:
    (tmp_path / "visits.csv").write_text("id,site\n1,bee\n2,bee\n3,[b]ant\n", encoding="utf-8")
    given = (labels, "--values", tmp_path / "visits.csv", "--column", "site", "--repeats", 2, "--json")
    assert json.loads(run(*given)[1])["users"] == 3
    found = json.loads(run(*given, "--users", 1000)[1])
    assert (found["users"], found["top"][0]["item"], len(found["top"])) == (1000, "bee", 3)


def test_the_same_seed_gives_the_same_output() -> None:
    assert run(*SMALL, "--json")[1] == run(*SMALL, "--json")[1] != run(*SMALL, "--json", "--seed", "2")[1]


@pytest.mark.full
def test_pictures_and_tables_are_written(tmp_path: Path) -> None:
    code, shown, _ = run(*SMALL, "--out", tmp_path / "rehearsal.png", "--postprocess", "norm-sub")
    assert code == 0
    assert (tmp_path / "rehearsal.png").read_bytes().startswith(b"\x89PNG")
    assert "rehearsal.png" in shown.replace("\n", "")
    assert run(*SMALL, "-o", tmp_path / "rehearsal.csv", "--top", 4)[0] == 0
    lines = (tmp_path / "rehearsal.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "item,count,mean,rmse,predicted,coverage,found"
    assert len(lines) == 5


def test_what_the_scheme_does_not_take_is_refused_by_line(tmp_path: Path) -> None:
    (tmp_path / "histogram.csv").write_text(f"item,count\n3,1000\n{SECRET},500\n", encoding="utf-8")
    code, shown, said = run(WORDS, "--counts", tmp_path / "histogram.csv", "--out", tmp_path / "r.png")
    assert (code, shown) == (1, "")
    assert "histogram.csv, line 3" in said
    assert SECRET not in said
    assert [path.name for path in tmp_path.iterdir()] == ["histogram.csv"]


@in_turn(
    ("arguments", "told"),
    [
        (["OLH"], "expected a scheme: a file"),
        ([*SMALL, "--counts", "x.csv"], "got several"),
        ([*SMALL, "--column", "site"], "--column needs --values"),
        ([*SMALL, "--out", "r.pdf"], "ends in .png"),
        ([*SMALL, "--out", "no-such-folder/r.png"], "there is no folder"),
        ([*SMALL, "--postprocess", "norm-sup"], "norm-sub"),
        ([WORDS, "--data", "zipf"], "zipf-1.1"),
        ([WORDS, "--repeats", "0"], ""),
    ],
)
def test_what_cannot_be_meant_is_told(arguments: list[str], told: str) -> None:
    code, shown, said = run(*arguments)
    assert (code, shown) == (2, "")
    assert told in said.replace("\n", " ")
