"""plausibly sample: the same made-up visits for everybody, and nothing overwritten."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

from typer.testing import CliRunner

from plausibly.cli import app
from plausibly.cli.plan import spelled_out
from plausibly.demo.data import ALPHABET, LENGTH, counts, sites


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["sample", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def test_every_user_has_a_line_and_the_counts_are_the_stated_ones(tmp_path: Path) -> None:
    code, shown, _ = run(tmp_path / "v.csv", "--users", 5000, "--sites", tmp_path / "sites.txt", "--json")
    assert code == 0
    with (tmp_path / "v.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["user"]) for row in rows] == list(range(1, 5001))
    found = Counter(row["site"] for row in rows)
    assert [found[site] for site in sites()] == counts(5000).tolist()
    assert json.loads(shown)["top"] == dict(found.most_common(3))
    assert (tmp_path / "sites.txt").read_text(encoding="utf-8").split() == sorted(sites())


def test_addresses_are_distinct_and_fit_the_stated_alphabet_and_length() -> None:
    assert len(set(sites())) == 1000
    assert set("".join(sites())) <= set(spelled_out(ALPHABET))
    assert max(map(len, sites())) <= LENGTH


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("mine", encoding="utf-8")
    code, _, told = run(tmp_path / "v.csv")
    assert (code, (tmp_path / "v.csv").read_text(encoding="utf-8")) == (1, "mine")
    assert "exists already" in told
    code, _, told = run(tmp_path / "w.csv", "--sites", tmp_path / "v.csv")
    assert code == 1
    assert not (tmp_path / "w.csv").exists()


def test_sizes_and_folders_that_cannot_be_are_refused(tmp_path: Path) -> None:
    assert run(tmp_path / "v.csv", "--users", 5)[0] == 2
    code, _, told = run(tmp_path / "none" / "v.csv")
    assert code == 2
    assert "there is no folder" in told
    assert list(tmp_path.iterdir()) == []
