"""Columns of numbers, dates and durations in files, for schemes of ordered values."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cases import case
from plausibly import Labels, Ordered
from plausibly.core.domain import Domain, encode_column
from plausibly.files.checking import check_values
from plausibly.files.faults import Faults
from plausibly.files.sources import ValuesError
from plausibly.files.values import values, values_of_arrays

AGES = Ordered(0, 120)
YEAR = Ordered.dates("2026-01-01", "2026-12-31")
TIMES = Ordered.durations(0, 90, unit="s")


def codes(path: Path, domain: Domain, missing: Literal["refuse", "skip"] = "refuse") -> list[int]:
    found: list[int] = []
    for chunk in values(path, domain=domain, column="x", missing=missing):
        with chunk.located():
            found += encode_column(domain, chunk.column).tolist()
    return found


def parquet(folder: Path, array: Any) -> Path:
    path = folder / "x.parquet"
    pq.write_table(pa.table({"x": array}), path)
    return path


def ndjson(folder: Path, items: list[Any]) -> Path:
    path = folder / "x.ndjson"
    path.write_text("".join(json.dumps({"x": item}) + "\n" for item in items), encoding="utf-8")
    return path


def csv(folder: Path, texts: list[str]) -> Path:
    path = folder / "x.csv"
    path.write_text("x,y\n" + "".join(f"{text},1\n" for text in texts), encoding="utf-8")
    return path


def test_parquet_columns_of_numbers_and_times_are_read(tmp_path: Path) -> None:
    days = [date(2026, 3, 1), date(2025, 1, 1), date(2026, 3, 1), date(2027, 1, 1)]
    moments = [datetime(day.year, day.month, day.day, 23, 59, 59, 999_999) for day in days]
    spans = [timedelta(seconds=5.9), timedelta(0), timedelta(seconds=5), timedelta(1)]
    columns: list[tuple[Domain, Any, list[int]]] = [
        (AGES, pa.array([35.7, -4, 35, 1e300]), [35, 0, 35, 120]),
        (AGES, pa.array([35.5, -4, 35, 1e30], pa.float32()), [35, 0, 35, 120]),
        (AGES, pa.array([35, -4, 35, 200]), [35, 0, 35, 120]),
        (AGES, pa.array([Decimal("35.70"), Decimal(-4), Decimal(35), Decimal(999)]), [35, 0, 35, 120]),
        (AGES, pa.array(["35.7", "-4", " 35", "1e3"]), [35, 0, 35, 120]),
        (YEAR, pa.array(days), [59, 0, 59, 364]),
        (YEAR, pa.array(moments, pa.timestamp("us")), [59, 0, 59, 364]),
        (YEAR, pa.array(moments, pa.timestamp("ns")), [59, 0, 59, 364]),
        (YEAR, pa.array(moments, pa.timestamp("us", "America/New_York")), [59, 0, 59, 364]),
        (YEAR, pa.array([str(day) for day in days]), [59, 0, 59, 364]),
        (TIMES, pa.array(spans), [5, 0, 5, 90]),
        (TIMES, pa.array([5.9, 0, 5, 100]), [5, 0, 5, 90]),
    ]
    for domain, array, expected in columns:
        with case(str(array.type)):
            assert codes(parquet(tmp_path, array), domain) == expected
            read = values_of_arrays([array], "part", domain=domain, missing="refuse")
            assert [code for chunk in read for code in encode_column(domain, chunk.column)] == expected


def test_nanoseconds_and_times_outside_of_pythons_years_are_days(tmp_path: Path) -> None:
    array = pa.array(np.array([1_772_409_599_999_999_999, 0], dtype="M8[ns]"))  # 2026-03-01T23:59:59.999999999
    assert codes(parquet(tmp_path, array), YEAR) == [59, 0]
    far = pa.array(np.array([2**60, -(2**60)], dtype="M8[us]"))
    assert codes(parquet(tmp_path, far), YEAR) == [364, 0]


def test_ndjson_numbers_need_not_be_whole(tmp_path: Path) -> None:
    assert codes(ndjson(tmp_path, [35.7, 35, -4, 1e300, "35.7"]), AGES) == [35, 35, 0, 120, 35]
    assert codes(ndjson(tmp_path, [1, 2, 300]), AGES) == [1, 2, 120]
    assert codes(ndjson(tmp_path, ["2026-03-01", "2026-03-01T20:00:00-05:00"]), YEAR) == [59, 60]
    with pytest.raises(ValuesError, match=r"line 2: expected a text or a number, got true or false"):
        codes(ndjson(tmp_path, [35.7, True]), AGES)
    with pytest.raises(ValuesError, match=r"line 1: expected a text or a whole number, got a fraction"):
        codes(ndjson(tmp_path, [35.7]), Labels(("a", "b")))


def test_csv_texts_are_read_as_numbers_and_dates(tmp_path: Path) -> None:
    assert codes(csv(tmp_path, ["35", "35.7", "1e3", "-4"]), AGES) == [35, 35, 120, 0]
    assert codes(csv(tmp_path, ["2026-03-01", "2026-03-01 23:30:00"]), YEAR) == [59, 59]
    with pytest.raises(ValuesError, match=r"line 3: expected numbers .*, got another text"):
        codes(csv(tmp_path, ["35", "x", "35"]), AGES)
    with pytest.raises(ValuesError, match=r"line 3: expected finite numbers"):
        codes(csv(tmp_path, ["35", "inf"]), AGES)


def test_missing_values_are_others_if_there_is_an_item_for_them(tmp_path: Path) -> None:
    others = Ordered(0, 120, other=True)
    files = [
        csv(tmp_path, ["35", "", "7"]),
        ndjson(tmp_path, [35.5, None, 7]),
        parquet(tmp_path, pa.array([35.5, None, 7])),
    ]
    for path in files:
        with case(path.name):
            assert codes(path, others) == [35, 121, 7]
            assert codes(path, others, "skip") == codes(path, AGES, "skip") == [35, 7]
            with pytest.raises(ValuesError, match="no value; remove the user"):
                codes(path, AGES)
    assert codes(parquet(tmp_path, pa.array([35.5, float("nan")])), others) == [35, 121]
    with pytest.raises(ValuesError, match="row 2: no value"):
        codes(parquet(tmp_path, pa.array([35.5, float("nan")])), AGES)
    week = Ordered.dates("2026-01-01", "2026-01-07", other=True)
    assert codes(parquet(tmp_path, pa.array([date(2026, 1, 2), None])), week) == [1, 7]


def test_a_column_of_another_type_is_refused(tmp_path: Path) -> None:
    for domain, array, why in (
        (AGES, pa.array([True]), "expected a column of numbers, dates, durations or texts, got bool"),
        (AGES, pa.array([[1]]), "expected a column of numbers, dates, durations or texts, got a nested type"),
        (AGES, pa.array([date(2026, 1, 1)]), "row 1: expected numbers, got"),
        (YEAR, pa.array([20_454]), "row 1: expected dates, got"),
        (YEAR, pa.array([5.5]), "row 1: expected dates, got"),
        (TIMES, pa.array([date(2026, 1, 1)]), "row 1: expected durations, got"),
        (Labels(("a", "b")), pa.array([5.5]), "expected a column of texts or whole numbers, got double"),
    ):
        with case(why):
            path = parquet(tmp_path, array)
            with pytest.raises(ValuesError, match=why):
                codes(path, domain)


def test_a_dry_run_counts_clamped_other_and_refused_values(tmp_path: Path) -> None:
    path = csv(tmp_path, ["35", "-1", "121", "1000", "x", "", "inf"])
    checked = check_values(values(path, domain=AGES, column="x", faults=Faults()), AGES)
    assert (checked.good, checked.bad_rows) == (4, 3)
    assert sorted(checked.changed.values()) == [1, 2]
    others = Ordered(0, 120, other=True)
    checked = check_values(values(path, domain=others, column="x", faults=Faults()), others)
    assert (checked.good, checked.bad_rows) == (7, 0)
    assert list(checked.changed.values()) == [1, 2, 3]
    mixed = ndjson(tmp_path, [1, "x", 2.5, "y", 3])
    checked = check_values(values(mixed, domain=AGES, column="x", faults=Faults()), AGES)
    assert (checked.good, checked.bad_rows) == (3, 2)
    with pytest.raises(ValuesError, match="line 2: expected numbers"):
        codes(mixed, AGES)
