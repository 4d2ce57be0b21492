"""Tables of DuckDB, Polars, pandas and pyarrow give the reports of the same list, without an object for each value."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from cases import in_turn
from plausibly import Keys, SeededRandom, encode_reports, make
from plausibly.core import arrow
from plausibly.core.errors import DomainError, ReportError

WORDS = ["cat", "dog", "cat", "fish", "dog"]
NUMBERS = [3, 0, 7]
PETS = make("OLH", epsilon=1, domain=["cat", "dog", "fish"])
DIGITS = make("DE", epsilon=1, domain_size=8)
ANY = make("CM", oracle=make("OLH", epsilon=1, domain_size=8), rows=2, domain=Keys())


def duckdb() -> Any:
    """DuckDB, which is not imported while tests are collected: see tests/conftest.py."""
    return importlib.import_module("duckdb")


class Interchanged:
    """A table that offers the dataframe interchange and nothing else."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        return self._table.__dataframe__(nan_as_null, allow_copy)


class Exported:
    """A column, or a table, that offers Arrow's C array and nothing else."""

    def __init__(self, content: Any) -> None:
        self._content = content

    def __arrow_c_array__(self, schema: Any = None) -> Any:
        return self._content.__arrow_c_array__(schema)


def frames(values: list[Any]) -> list[Any]:
    """The values as every kind of column, and of table with one column."""
    table = pa.table({"value": values})
    column = pl.Series("value", values)
    return [
        column,
        column.to_frame(),
        pl.concat([column[:1], column[1:]], rechunk=False),
        pl.Series("value", [values[0], *values])[1:],
        duckdb().from_arrow(table),
        duckdb().from_arrow(table).to_arrow_table(),
        pd.Series(values),
        pd.DataFrame({"value": values}, index=range(5, 5 + len(values))),
        pd.Series(values, dtype=pd.ArrowDtype(table["value"].type)),
        table,
        table["value"],
        table.to_reader(),
        pa.table({"value": [values[0], *values]})[1:],
        pa.concat_tables([table[:1], table[1:]]),
        Exported(table["value"].chunk(0)),
        Exported(table.to_batches()[0]),
        Interchanged(table),
    ]


def without_objects(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Refuse Python lists of more than three values, and count the values of shorter ones."""
    counted: list[int] = []

    def few(chunk: Any, own: Callable[[Any], list[Any]]) -> list[Any]:
        counted.append(len(chunk))
        assert len(chunk) <= 3, "an object for each value"
        return own(chunk)

    # The classes of pyarrow cannot be patched, but all chunks pass here.
    taken = arrow._taken

    class Watched:
        def __init__(self, inner: Any) -> None:
            self._inner = inner

        def __getattr__(self, name: str) -> Any:
            found = getattr(self._inner, name)
            if name == "to_pylist":
                return lambda: few(self._inner, lambda chunk: chunk.to_pylist())
            if name == "chunks":
                return [Watched(each) for each in found]
            if name in ("dictionary", "indices"):
                return Watched(found)
            if name in ("flatten",):
                return lambda: [Watched(each) for each in found()]
            if name in ("dictionary_encode", "cast", "combine_chunks", "fill_null"):
                return lambda *given: Watched(found(*given))
            return found

        def __len__(self) -> int:
            return len(self._inner)

        def __iter__(self) -> Any:
            raise AssertionError("an object for each value")

    monkeypatch.setattr(arrow, "_taken", lambda *given: Watched(taken(*given)))
    return counted


def test_every_kind_of_table_gives_the_reports_of_its_list() -> None:
    for scheme, values in ((PETS, WORDS), (ANY, WORDS), (DIGITS, NUMBERS), (ANY, NUMBERS)):
        expected = scheme.privatize(values, SeededRandom(5))
        for frame in frames(values):
            assert (scheme.privatize(frame, SeededRandom(5)) == expected).all(), type(frame)


@in_turn("kind", [pl.Categorical, pl.Enum(["fish", "cat", "dog"])])
def test_categories_of_polars_give_the_reports_of_their_list(kind: Any) -> None:
    column = pl.Series(WORDS, dtype=kind)
    assert (PETS.privatize(column, SeededRandom(5)) == PETS.privatize(WORDS, SeededRandom(5))).all()


def test_only_distinct_items_become_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    words, numbers = WORDS * 2000, NUMBERS * 2000
    expected = [scheme.privatize(values, SeededRandom(5)) for scheme, values in ((PETS, words), (ANY, numbers))]
    made = [frames(words), frames(numbers)]
    counted = without_objects(monkeypatch)
    for scheme, columns, reports in zip((PETS, ANY), made, expected, strict=True):
        for column in columns:
            before = len(counted)
            assert (scheme.privatize(column, SeededRandom(5)) == reports).all()
            assert len(counted) > before, "the watch saw nothing"
    before = len(counted)
    for column in made[1]:
        DIGITS.privatize(column)
    assert len(counted) == before, "whole numbers need no objects at all"


def test_records_are_added_without_an_object_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = PETS.privatize(WORDS * 100)
    records = pa.Array.from_buffers(pa.binary(reports.itemsize), len(reports), [None, pa.py_buffer(reports)])
    table = pa.table({"report": records})
    relation = duckdb().from_arrow(table)
    assert len(relation) == len(reports)
    expected = PETS.accumulator()
    expected.add(reports)
    columns = [table, relation, pl.from_arrow(table), pl.from_arrow(table)["report"], Exported(records)]
    without_objects(monkeypatch)
    for column in columns:
        tally = PETS.accumulator()
        tally.add(column)
        assert tally.to_bytes() == expected.to_bytes()
        assert encode_reports(PETS, PETS.accept(column)) == encode_reports(PETS, reports)


def test_tables_of_several_columns_are_refused_with_the_fix() -> None:
    table = pa.table({"pet": WORDS, "age": [1, 2, 3, 4, 5]})
    several = [
        pl.from_arrow(table),
        duckdb().from_arrow(table),
        table,
        Interchanged(table),
        Exported(table.to_batches()[0]),
    ]
    for given in (*several, table.to_reader(), table.to_pandas()):
        with pytest.raises(DomainError, match=r"items: expected one dimension, got \w+; choose a column"):
            PETS.privatize(given)
    for given in several:
        with pytest.raises(ReportError, match=r"reports: expected one dimension, got \w+; choose a column"):
            PETS.accumulator().add(given)


def test_missing_values_are_named_by_their_position() -> None:
    for given in (
        pl.Series(["cat", None]),
        pl.Series(["cat", None]).to_frame(),
        duckdb().sql("SELECT unnest(['cat', NULL])"),
        pd.Series(["cat", None]),
        pd.Series(["cat", None], dtype="category"),
        pl.Series(["cat", None], dtype=pl.Categorical),
    ):
        with pytest.raises(DomainError, match="item 1: expected labels that are texts, got a missing value"):
            PETS.privatize(given)
    for given in (pl.Series([1, None]), duckdb().sql("SELECT unnest([1, NULL])"), pd.Series([1, None], dtype="Int64")):
        with pytest.raises(DomainError, match=r"item 1: expected integers in .*, got a missing value"):
            DIGITS.privatize(given)
    size = PETS.report_dtype.itemsize
    for given in (pl.Series([bytes(size), None]), duckdb().sql(f"SELECT unnest(['{'x' * size}'::BLOB, NULL])")):
        with pytest.raises(ReportError, match=f"expected a column of records of {size} bytes, got missing values"):
            PETS.accumulator().add(given)


def test_empty_tables_have_no_reports() -> None:
    nothing = duckdb().sql("SELECT 'cat' AS pet WHERE false")
    for given in (pl.Series([], dtype=pl.String), nothing, nothing.pl(), pd.Series([], dtype=str)):
        assert len(PETS.privatize(given)) == 0
    tally = PETS.accumulator()
    for given in (pl.Series([], dtype=pl.Binary), duckdb().sql("SELECT ''::BLOB AS report WHERE false")):
        tally.add(given)
    assert len(tally) == 0


def test_texts_and_bytes_in_one_column_of_pandas_stay_different_items() -> None:
    mixed = ["a", b"a", "b"]
    keys = Keys()
    expected = ANY.privatize(mixed, SeededRandom(5))
    assert keys.encode(mixed)[0] != keys.encode(mixed)[1]
    for column in (pd.Series(mixed), pd.Series(mixed, dtype="category"), pd.DataFrame({"value": mixed})):
        assert (ANY.privatize(column, SeededRandom(5)) == expected).all()


def test_a_stream_that_breaks_is_refused_without_its_message() -> None:
    def broken() -> Any:
        yield pa.record_batch({"pet": ["cat"]})
        raise pa.ArrowInvalid("could not convert hiv-clinic.org")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"pet": pa.string()}), broken())
    with pytest.raises(DomainError, match="items: expected an Arrow column, got RecordBatchReader that cannot") as told:
        PETS.privatize(reader)
    assert "hiv" not in str(told.value)


def test_numbers_are_read_where_they_are() -> None:
    numbers = np.arange(8)
    codes = DIGITS.domain.encode(arrow.buffer_of(pa.array(numbers), 1, "int64"))
    assert np.shares_memory(codes, numbers)
