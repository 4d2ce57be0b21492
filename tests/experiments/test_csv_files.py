"""Crowds from CSV files: counted right, refused by line, and never quoted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cases import in_turn
from plausibly.core.errors import ParameterError
from plausibly.experiments.cells import SOURCES, Cell
from plausibly.experiments.csv_files import Held, enter, read_counts, read_values
from plausibly.experiments.item_crowds import CROWDS, crowd
from plausibly.files import ValuesError

SECRET = "hiv-clinic"


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "visits.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_values_are_counted_and_ranked(tmp_path: Path) -> None:
    path = written(tmp_path, '\ufeffuser,site\r\n1,b\r\n2,a\r\n\r\n3,"b"\r\n4,"c, ""d""\n"\r\n5,b\r\n')
    held = read_values(path, "site")
    assert (held.n, held.d, held.counts.tolist()) == (5, 3, [3, 1, 1])
    assert read_values(written(tmp_path, "site\nä\nb\nä\n")).counts.tolist() == [2, 1]


def test_counts_are_ranked(tmp_path: Path) -> None:
    held = read_counts(written(tmp_path, "count,note,item\n3,x,a\n0,x,b\n12,,c\n"))
    assert held.counts.tolist() == [12, 3, 0]


@in_turn(
    ("text", "line"),
    [
        ("item,count\na,1\nb,-2\n", "line 3"),
        (f"item,count\na,1\nb,{SECRET}\n", "line 3"),
        ("item,count\na,1\nb,1.5\n", "line 3"),
        ("item,count\na,1\nb,99999999999999999999\n", "line 3"),
        ("item,count\na,1\nb,٣\n", "line 3"),
        (f"item,count\n{SECRET},1\nb,2\n{SECRET},3\n", "line 4"),
        (f"item,count\na,1\n{SECRET}\n", "line 3"),
        (f"item,count\na,1\n{SECRET},1,2\n", "line 3"),
        (f'item,count\na,1\n"{SECRET},2\n', "line 3"),
        (f'item,count\na,1\n"{SECRET}"x,2\n', "line 3"),
        (b"item,count\na,1\n" + SECRET.encode() + b"\xff,2\n", "line 3"),
        (f"{SECRET},4\n", "line 1"),
        ("item,item,count\n", "line 1"),
        ("", "line 1"),
        ("item,count\n", "got 0 items and 0 users"),
        (f"item,count\n{SECRET},4\n", "got 1 items and 4 users"),
        (f"item,count\na,2147483647\n{SECRET},1\n", "and 2,147,483,648 users"),
        (f"item,count\na,0\n{SECRET},0\n", "and 0 users"),
    ],
)
def test_what_is_wrong_is_named_by_file_and_line_and_not_quoted(text: str | bytes, line: str, tmp_path: Path) -> None:
    with pytest.raises(ValuesError) as refused:
        read_counts(written(tmp_path, text))
    told = str(refused.value)
    assert "visits.csv" in told
    assert line in told
    assert SECRET not in told


@in_turn(
    ("text", "column", "line"),
    [
        (f"site,day\n{SECRET},1\n", None, "line 1: expected one column, got 2"),
        (f"{SECRET}\nb\n", "site", "line 1"),
        (f"site\n{SECRET}\nb\n''\n\"\"\n", "site", "line 5: no value"),
        (f"site,day\n{SECRET},1\nb\n", "site", "line 3"),
    ],
)
def test_values_likewise(text: str, column: str | None, line: str, tmp_path: Path) -> None:
    with pytest.raises(ValuesError) as refused:
        read_values(written(tmp_path, text), column)
    assert line in str(refused.value)
    assert SECRET not in str(refused.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValuesError, match="No such file"):
        read_counts(tmp_path / "none.csv")
    with pytest.raises(ValuesError, match="directory"):
        read_values(tmp_path)


def test_a_crowd_is_exactly_the_file_or_drawn_from_it() -> None:
    held = Held(np.array([700, 200, 100]))
    assert held(1000, 3, 0).tolist() == [700, 200, 100]
    assert held(1000, 5, 0).tolist() == [700, 200, 100, 0, 0]
    drawn = held(100_000, 2, 0)
    assert drawn.sum() == 100_000
    # Seven ninths, within five standard errors of 131: once in a million seeds.
    assert abs(drawn[0] - 77_778) < 5 * 131.5
    assert (held(100_000, 2, 1) != drawn).any()
    assert (held(100_000, 2, 0) == drawn).all()


def test_other_counts_under_the_same_name_are_another_crowd(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plausibly.experiments.csv_files.CROWDS", crowds := dict(CROWDS))
    monkeypatch.setattr("plausibly.experiments.item_crowds.CROWDS", crowds)
    keys = []
    for counts in ([3, 1], [3, 2]):
        enter("mine.csv", Held(np.array(counts)))
        assert crowd("mine.csv", sum(counts), 2, 0).tolist() == counts
        keys.append(Cell("DE", data="mine.csv", n=4, d=2).key)
    del SOURCES["mine.csv"]
    assert keys[0] != keys[1]
    with pytest.raises(ParameterError, match="name of a built-in crowd"):
        enter("uniform", Held(np.array([1, 1])))
