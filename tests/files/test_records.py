"""Records of several columns: the same values from every format, and what is missing is reported as missing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from files.test_twins import expect_equal
from plausibly import Ordered, ParameterError, SeededRandom, Table, make
from plausibly.files import Faults, ValuesError, check_values, privatize_values, values
from plausibly.files.batches import Records
from plausibly.files.reports import ReportFile

SURVEY = Table(
    {
        "theme": ["dark", "light"],
        "wait": Ordered.bins([0, 1.5, 10]),
        "age": 100,
        "day": Ordered.dates("2026-01-01", "2026-01-31"),
    }
)
PEOPLE: list[tuple[Any, ...]] = [
    ("dark", 0.5, 7, "2026-01-02"),
    (None, 9.0, 99, None),
    ("light", None, None, "2026-01-31"),
    (None, None, None, None),
    ("dark", 2.25, 7, "2026-01-02"),
]


def written(folder: Path, people: Sequence[tuple[Any, ...]]) -> list[Path]:
    """The same people in all formats that have columns, between others that are not of the table."""
    csv, tsv, lines, table = (folder / f"people.{ending}" for ending in ("csv", "tsv", "ndjson", "parquet"))
    rows = [["" if value is None else str(value) for value in person] for person in people]
    for path, comma in ((csv, ","), (tsv, "\t")):
        text = "".join(f"{comma.join([str(i), *row[::-1]])}\n" for i, row in enumerate(rows))
        path.write_text(f"{comma.join(['id', *SURVEY.names[::-1]])}\n{text}")
    documents = [dict(zip(("id", *SURVEY.names), (i, *person), strict=True)) for i, person in enumerate(people)]
    lines.write_text("".join(f"{json.dumps(each)}\n" for each in documents))
    columns = [pyarrow.array(list(column)) for column in zip(*people, strict=True)]
    days = pyarrow.array([None if day is None else date.fromisoformat(day) for day in columns[3].to_pylist()])
    parquet.write_table(pyarrow.table([*columns[:3], days], names=list(SURVEY.names)), table)
    return [csv, tsv, lines, table]


def codes(path: Path, *, domain: Table = SURVEY, **options: Any) -> list[int]:
    return [int(code) for chunk in values(path, domain=domain, **options) for code in domain.encode(chunk.values)]


def test_all_formats_have_the_same_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = SURVEY.encode(PEOPLE).tolist()
    for path in written(tmp_path, PEOPLE):
        assert codes(path) == expected, path
        expect_equal(monkeypatch, path, domain=SURVEY)


PERSON = st.tuples(
    st.sampled_from(["dark", "light", None]),
    st.one_of(st.none(), st.floats(0, 10)),
    st.one_of(st.none(), st.integers(0, 99)),
    st.one_of(st.none(), st.dates().map(str)),
)


@pytest.mark.full
@given(people=st.lists(PERSON, min_size=1, max_size=40))
@settings(max_examples=60, deadline=None)
def test_files_of_any_people_have_their_records(people: list[tuple[Any, ...]], tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.mktemp("people")
    for path in written(folder, people)[:3]:
        assert codes(path) == SURVEY.encode(people).tolist(), path


def test_reports_are_those_of_the_library(tmp_path: Path) -> None:
    scheme = make("CLIQUE", epsilon=1, domain=SURVEY)
    for path in written(tmp_path, PEOPLE * 50):
        done = privatize_values(values(path, domain=SURVEY), scheme, tmp_path / f"{path.suffix}.parquet", seed=7)
        file = ReportFile(tmp_path / f"{path.suffix}.parquet")
        found = np.concatenate([file.read(group) for group in range(len(file.groups))])
        assert (found == scheme.privatize(PEOPLE * 50, SeededRandom(7))).all()
        assert (done.reports, done.skipped) == (250, 0)


def test_columns_may_have_other_names_or_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("A,T,W,D\n7,dark,0.5,2026-01-02\n")
    named = {"theme": "T", "age": "A", "day": "D", "wait": "W"}
    assert codes(path, columns=named) == SURVEY.encode(PEOPLE[:1]).tolist()
    path.write_text("7,dark,0.5,2026-01-02\n")
    numbered = {"age": "1", "theme": "2", "wait": "3", "day": "4"}
    assert codes(path, columns=numbered, header=False) == SURVEY.encode(PEOPLE[:1]).tolist()


def test_whoever_skips_a_question_is_left_out_if_asked_for(tmp_path: Path) -> None:
    for path in written(tmp_path, PEOPLE):
        given = values(path, domain=SURVEY, missing="skip")
        assert sum(map(len, given)) == 2
        assert given.skipped == 3


def test_values_that_are_no_answers_are_told_by_line_and_attribute_only(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("theme,wait,age,day\ndark,1,5,\nlight,1,secret,\nsecret,1,5,\ndark,,101,\n")
    with pytest.raises(ValuesError, match="line 3: 'age': expected integers") as told:
        codes(path)
    assert "secret" not in str(told.value)
    found = check_values(values(path, domain=SURVEY, faults=Faults()), SURVEY)
    assert (found.good, found.bad_rows) == (1, 3)
    assert sorted((fault.number, fault.reason.partition(":")[0]) for fault in found.bad) == [
        (3, "'age'"),
        (4, "'theme'"),
        (5, "'age'"),
    ]


def test_an_attribute_without_a_cell_for_missing_values_refuses_them(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("theme,age\ndark,5\n,6\n")
    table = Table({"theme": ["dark", "light"], "age": 100}, missing=["age"])
    with pytest.raises(ValuesError, match=r"line 3: 'theme': .* got a missing value"):
        privatize_values(values(path, domain=table), make("SMP", epsilon=1, domain=table), tmp_path / "r.parquet")


def test_changed_values_are_counted_by_attribute(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("theme,wait,age,day\ndark,11,5,2025-01-01\nlight,12,6,2026-01-01\n")
    found = check_values(values(path, domain=SURVEY, faults=Faults()), SURVEY)
    assert found.good == 2
    assert {words.split()[1]: count for words, count in found.changed.items()} == {"'wait'": 2, "'day'": 1}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"column": "theme"}, "column: the values are records of several attributes"),
        ({"columns": {"theme": "theme"}}, "expected a column for the attribute 'wait'"),
        ({"columns": dict.fromkeys(SURVEY.names, "a")}, "got one of them twice"),
        ({"columns": dict.fromkeys([*SURVEY.names, "x"], "a")}, "unknown attribute 'x'"),
        ({"format": "lines"}, 'got lines without columns; pass format="csv"'),
    ],
)
def test_columns_that_cannot_be_meant_are_refused(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("theme,wait,age,day\ndark,1,5,\n")
    with pytest.raises(ParameterError, match=message.replace("(", r"\(")):
        values(path, domain=SURVEY, **options)


def test_a_field_that_no_line_has_is_refused_and_one_that_is_null_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A name that is spelled otherwise in the whole file would make everybody a user who skipped the question.
    path = tmp_path / "a.ndjson"
    person = {"theme": "dark", "wait": 0.5, "day": None}
    path.write_text(f"{json.dumps(person)}\n" * 1000)
    expect_equal(monkeypatch, path, domain=SURVEY)
    with pytest.raises(ValuesError, match="no line has a field 'age'; write null where its value is missing"):
        codes(path)
    assert "no line has a field 'age'" in check_values(values(path, domain=SURVEY, faults=Faults()), SURVEY).stopped
    for age in (5, None):
        path.write_text(f"{json.dumps(person)}\n" * 1000 + json.dumps(person | {"age": age}))
        expect_equal(monkeypatch, path, domain=SURVEY)
        assert len(codes(path)) == 1001
    path.write_text("not JSON\n" * 3)
    assert check_values(values(path, domain=SURVEY, faults=Faults()), SURVEY).bad_rows == 3


@pytest.mark.parametrize("other", ["true", '["dark"]', '{"secret": 1}', "1.5"])
def test_a_field_of_another_type_is_named(other: str, tmp_path: Path) -> None:
    path = tmp_path / "a.ndjson"
    path.write_text(f'{{"theme": "dark", "age": {other}}}\n')
    with pytest.raises(ValuesError, match="line 1: 'age': expected a text or a whole number, got") as told:
        codes(path, domain=Table({"theme": ["dark", "light"], "age": 100}))
    assert "secret" not in str(told.value)


@pytest.mark.parametrize("other", [[True], [["dark"]], [b"secret"]])
def test_a_column_of_another_type_is_named(other: list[Any], tmp_path: Path) -> None:
    parquet.write_table(pyarrow.table({"theme": ["dark"], "age": other}), tmp_path / "a.parquet")
    with pytest.raises(ValuesError, match=r"parquet: 'age': expected a column of texts or whole numbers, got"):
        codes(tmp_path / "a.parquet", domain=Table({"theme": ["dark", "light"], "age": 100}))


def test_records_are_equal_if_their_values_are() -> None:
    joined = Records(("a", "b"), Table({"a": 2, "b": 2}))
    assert joined.value(["", 1]) == (None, 1)
    assert joined.numbers == (False, False)
