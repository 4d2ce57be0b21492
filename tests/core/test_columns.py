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
    """What privatize and add use of a series of Polars, which is not installed here."""

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
        Series(WORDS, pa.large_string()),
        Series(WORDS, pa.dictionary(pa.uint32(), pa.large_string())),
        Series(WORDS, arrow=False),
        pd.Series(WORDS),
        pd.Series(WORDS, dtype="category"),
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
        (pa.table({"pet": WORDS}), "items: expected one dimension, got Table; choose a column"),
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
    for column in (pa.array(records, pa.binary(size)), pa.chunked_array([records[:2], records[2:]]), Series(records)):
        tally = PETS.accumulator()
        tally.add(column)
        assert tally.to_bytes() == expected.to_bytes()
    for wrong in (pa.array(["x"]), pa.array([None], pa.binary(size)), pa.array([b"x"])):
        with pytest.raises(ReportError, match="expected a column of records of 9 bytes, got other values"):
            PETS.accumulator().add(wrong)
