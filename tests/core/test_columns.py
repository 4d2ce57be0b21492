"""Columns of pyarrow and Polars go to privatize and add without detours, and give the reports of the same list."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from cases import in_turn
from plausibly import TRELLIS, Keys, SeededRandom, Strings, make
from plausibly.core.errors import DomainError, ReportError

PETS = make("OLH", epsilon=1, domain=["cat", "dog", "fish"])
WORDS = ["cat", "dog", "cat", "fish", "dog"]


class Series:
    """What privatize and add use of a series of Polars, which is not in every installation."""

    def __init__(self, values: list[Any], kind: pa.DataType | None = None, *, arrow: bool = True) -> None:
        self._values, self._kind, self._arrow = values, kind, arrow

    def __iter__(self) -> Any:
        return iter(self._values)

    def to_list(self) -> list[Any]:
        return self._values

    def to_arrow(self) -> pa.Array:
        if not self._arrow:
            raise ModuleNotFoundError("pyarrow is required")
        if isinstance(self._kind, pa.DictionaryType):
            return pa.array(self._values).cast(self._kind)  # pyarrow 18 does not make one of large strings directly
        return pa.array(self._values, self._kind)


@in_turn(
    "column",
    [
        pa.array(WORDS),
        pa.array(["x", *WORDS])[1:],
        pa.array(WORDS, pa.large_string()),
        pa.array(WORDS, pa.string_view()),
        pa.array(WORDS).dictionary_encode(),
        pa.array(["bird", *WORDS]).dictionary_encode()[1:],  # the dictionary has a word that the domain has not
        pa.chunked_array([WORDS[:2], WORDS[2:]]),
        pa.chunked_array([pa.array(WORDS[:2]).dictionary_encode(), pa.array(WORDS[2:]).dictionary_encode()]),
        pa.table({"pet": WORDS})["pet"],
        pa.table({"pet": WORDS}),
        pa.table({"pet": ["x", *WORDS]})[1:],
        pa.record_batch({"pet": WORDS}),
        Series(WORDS, pa.large_string()),
        Series(WORDS, pa.dictionary(pa.uint32(), pa.large_string())),
        Series(WORDS, arrow=False),
        pd.Series(WORDS),
        pd.Series(WORDS, dtype="category"),
        pd.Series(WORDS, dtype=object),
        pd.DataFrame({"pet": WORDS}, index=[9, 8, 7, 6, 5]),
        pd.DataFrame({"pet": WORDS}, dtype=object),
    ],
)
def test_columns_of_texts_give_the_reports_of_their_list(column: Any) -> None:
    sketch = make("CM", oracle=make("OLH", epsilon=1, domain_size=8), rows=2, domain=Keys())
    strings = TRELLIS(1, domain=Strings("acdfghiost", 4))
    for scheme in (PETS, sketch, strings):
        assert (scheme.privatize(column, SeededRandom(5)) == scheme.privatize(WORDS, SeededRandom(5))).all()


def _coded(places: list[int]) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array(places, pa.uint64()), [0, 3, 7])


@in_turn(
    "column",
    [
        pa.array([3, 0, 7]),
        pa.array([3, 0, 7], pa.uint8()),
        pa.array([9, 3, 0, 7])[1:],
        pa.chunked_array([[3], [0, 7]]),
        pa.array([3, 0, 7]).dictionary_encode(),
        pa.chunked_array([pa.array([], pa.uint64()), pa.array([3, 0, 7], pa.uint64())]),
        pa.chunked_array([_coded([1]), _coded([0, 2])]),
        Series([3, 0, 7]),
    ],
)
def test_columns_of_numbers_give_the_reports_of_their_list(column: Any) -> None:
    scheme = make("DE", epsilon=1, domain_size=8)
    assert (scheme.privatize(column, SeededRandom(5)) == scheme.privatize([3, 0, 7], SeededRandom(5))).all()
    assert list(scheme.accumulator().estimate(column).items) == [3, 0, 7]


def test_empty_columns_have_no_reports() -> None:
    assert len(PETS.privatize(pa.array([], pa.string()))) == 0
    assert len(PETS.privatize(pa.chunked_array([], pa.string()))) == 0
    assert len(make("DE", epsilon=1, domain_size=8).privatize(pa.array([], pa.int64()))) == 0
    assert len(make("DE", epsilon=1, domain_size=8).privatize(pa.array([], pa.uint64()))) == 0


@in_turn(
    ("column", "told"),
    [
        (pa.array(["cat", None, "dog"]), "item 1: expected labels that are texts, got a missing value"),
        (
            pa.array(["cat", "cat", None]).dictionary_encode(),
            "item 2: expected labels that are texts, got a missing value",
        ),
        (pa.chunked_array([["cat"], [None]]), "item 1: expected labels that are texts, got a missing value"),
        (pa.array(["cat", "bird", "cat", "bird"]), "item 1 and 1 more: expected one of the 3 labels"),
        (pa.array([1.5]), "item 0: expected labels that are texts, got float"),
        (pa.array([float("nan")]), "item 0: expected labels that are texts, got a missing value"),
        (pa.table({"pet": WORDS, "age": WORDS}), "items: expected one dimension, got Table; choose a column"),
        (["cat", float("nan")], "item 1: expected labels that are texts, got a missing value"),
        (["cat", np.float64("nan")], "item 1: expected labels that are texts, got a missing value"),
        (["cat", pd.NA], "item 1: expected labels that are texts, got a missing value"),
        (["cat", pd.NaT], "item 1: expected labels that are texts, got a missing value"),
        (pd.Series(["cat", None]), "item 1: expected labels that are texts, got a missing value"),
        (["cat", 1.5], "item 1: expected labels that are texts, got float"),
    ],
)
def test_wrong_items_of_a_column_are_named_by_their_position(column: Any, told: str) -> None:
    with pytest.raises(DomainError) as refused:
        PETS.privatize(column)
    assert str(refused.value).startswith(told)


def test_a_column_of_records_is_added_as_the_records() -> None:
    reports = PETS.privatize(WORDS)
    size = PETS.report_dtype.itemsize
    records = [reports[i : i + 1].tobytes() for i in range(len(reports))]
    expected = PETS.accumulator()
    expected.add(reports)
    fixed = pa.array(records, pa.binary(size))
    for column in (
        fixed,
        pa.array([records[0], *records], pa.binary(size))[1:],
        fixed.dictionary_encode(),
        pa.array(records, pa.large_binary()),
        pa.array([b"", *records])[1:],
        pa.array(records, pa.binary_view()),
        pa.chunked_array([records[:2], records[2:]]),
        pa.chunked_array([fixed[:2], fixed[2:2], fixed[2:]]),
        pa.table({"report": fixed}),
        pa.table({"report": fixed}).to_reader(),
        pa.record_batch({"report": fixed}),
        Series(records),
        Series(records, arrow=False),
        pd.Series(records),
        pd.DataFrame({"report": records}, index=range(3, 3 + len(records))),
    ):
        tally = PETS.accumulator()
        tally.add(column)
        assert tally.to_bytes() == expected.to_bytes()
    for empty in (pa.array([], pa.binary(size)), pa.chunked_array([], pa.binary(size)), pd.Series([])):
        tally = PETS.accumulator()
        tally.add(empty)
        assert len(tally) == 0
    with pytest.raises(ReportError, match="reports: expected one dimension, got Table; choose a column"):
        PETS.accumulator().add(pa.table({"report": fixed, "day": fixed}))
    others = [
        pa.array(["x" * size]),
        pd.Series(["x" * size]),
        pa.array([b"x"]),
    ]
    for wrong in (*others, pa.array([], pa.binary(size + 1)), Series([b"x"], arrow=False)):
        with pytest.raises(ReportError, match="expected a column of records of 9 bytes, got other values"):
            PETS.accumulator().add(wrong)
    for missing in (pa.array([records[0], None], pa.binary(size)), Series([records[0], None], arrow=False)):
        with pytest.raises(ReportError, match="records of 9 bytes, got missing values; drop their rows"):
            PETS.accumulator().add(missing)


def test_records_of_a_column_are_taken_without_a_copy() -> None:
    reports = PETS.privatize(WORDS)
    column = pa.Array.from_buffers(pa.binary(PETS.report_dtype.itemsize), len(reports), [None, pa.py_buffer(reports)])
    taken = PETS.expect_records(pa.table({"report": column})[1:])
    assert np.shares_memory(taken, reports)
    assert (taken == reports[1:]).all()
