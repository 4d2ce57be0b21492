"""The domain of records: what it takes, what it refuses, and how it travels."""

from __future__ import annotations

import json
from typing import Any

import duckdb
import numpy as np
import pandas
import polars
import pyarrow
import pytest

from cases import in_turn
from plausibly import Choices, DomainError, Keys, Labels, Ordered, ParameterError, Strings, Table, device, make
from plausibly.cli.options.privatize import PrivatizeOptions
from plausibly.cli.spelling import spelled
from plausibly.core.domain import domain_from_dict

SURVEY = Table({"browser": ["Firefox", "Chrome"], "age": Ordered(0, 9), "plan": 3})
RECORDS: list[Any] = [("Firefox", 3, 0), ("Chrome", None, 2), (None, 9, None)]
CODES = SURVEY.encode(RECORDS).tolist()
NAMED = [dict(zip(SURVEY.names, record, strict=True)) for record in RECORDS]
TWICE = pandas.DataFrame([(*RECORDS[0], 1)], columns=[*SURVEY.names, "plan"])
COLUMNS = {name: [record[i] for record in RECORDS] for i, name in enumerate(SURVEY.names)}


def test_codes_are_numbers_whose_last_digit_is_the_last_attribute() -> None:
    assert SURVEY.sizes == (3, 11, 4)
    assert CODES == [3 * 4 + 0, 44 + 10 * 4 + 2, 88 + 9 * 4 + 3]
    assert SURVEY.size == SURVEY.code_count == 3 * 11 * 4


FORMS: dict[str, Any] = {
    "dictionaries": NAMED,
    "dictionaries in another order": [dict(reversed(record.items())) for record in NAMED],
    "lists": [list(record) for record in RECORDS],
    "a mapping of columns": COLUMNS,
    "pandas": pandas.DataFrame(COLUMNS).astype({"plan": "Int64"}),
    "Polars": polars.DataFrame(COLUMNS),
    "pyarrow": pyarrow.table(COLUMNS),
    "pandas with categories": pandas.DataFrame(COLUMNS).astype({"browser": "category", "plan": "Int64"}),
}


@in_turn("form", list(FORMS))
def test_records_come_in_many_forms(form: str) -> None:
    assert SURVEY.encode(FORMS[form]).tolist() == CODES
    scheme = make("CLIQUE", epsilon=1, domain=SURVEY)
    assert len(scheme.privatize(FORMS[form])) == 3


def test_arrays_of_numbers_are_taken_by_column_and_by_name() -> None:
    table = Table({"a": 4, "b": 3}, missing=False)
    rows = np.array([[0, 2], [3, 1]])
    named = np.array([(0, 2), (3, 1)], dtype=[("a", "i4"), ("b", "i4")])
    assert table.encode(rows).tolist() == table.encode(named).tolist() == [2, 10]
    assert table.encode(list(named)).tolist() == [2, 10]


def test_every_code_is_the_code_of_its_record() -> None:
    codes = np.arange(SURVEY.code_count, dtype=np.uint64)
    records = SURVEY.decode(codes)
    assert (SURVEY.encode(records) == codes).all()
    assert SURVEY.decode(codes[-1:]).tolist() == [(None, "other", None)]


def test_a_device_makes_the_same_codes() -> None:
    client = device.load(make("CLIQUE", epsilon=1, domain=SURVEY).to_json(), total=False)
    assert [client.encode(record) for record in RECORDS] == [client.encode(record) for record in NAMED] == CODES


def test_parsing_takes_values_with_commas_between_them() -> None:
    assert SURVEY.parse(["Firefox,3,0", '"Chrome",,2', ",9,"]) == RECORDS
    with pytest.raises(DomainError, match="item 1: expected 3 values with commas between them"):
        SURVEY.parse(["Firefox,3,0", "Firefox,3"])


@in_turn(
    ("records", "expected"),
    [
        ([NAMED[0], {"browser": "Chrome", "age": 1}], "item 1: expected a value for the attribute 'plan'.*pass None"),
        ([{"brwser": "Chrome", "age": 1, "plan": 1}], r"item 0: unknown attribute 'brwser'; did you mean 'browser'\?$"),
        ({"browser": ["Chrome"], "age": [1], "plam": [1]}, r"items: unknown attribute 'plam'; did you mean 'plan'\?$"),
        ({"browser": ["Chrome"], "age": [1]}, "items: expected a value for the attribute 'plan'"),
        ([{**NAMED[0], "user": 1}], "item 0: unknown attribute 'user'; leave it out$"),
        ({**COLUMNS, "user": [1, 2, 3]}, "items: unknown attribute 'user'; leave it out$"),
        ({**COLUMNS, "brwser": [1, 2, 3]}, "items: unknown attribute 'brwser'; leave it out$"),
        ({"browser": ["Chrome"], "age": [1], "user": [1]}, "items: expected a value for the attribute 'plan'"),
        ([RECORDS[0], ("Chrome", 1)], "item 1: expected 3 values, one for each attribute .*None.* got 2"),
        ([RECORDS[0], 5], "item 1: expected a dictionary, or a tuple of 3 values, got int"),
        ([RECORDS[0], ("Secret", 1, 1)], "item 1: 'browser': expected one of the 2 labels.* got a value outside"),
        ([RECORDS[0], ("Chrome", 1, 7), ("Chrome", 1, 8)], "item 1 and 1 more: 'plan': expected integers in"),
        ({**COLUMNS, "plan": [1, 2]}, "items: expected columns of one length"),
        (
            {"browser": "Chrome", "age": 1, "plan": 1},
            r"items: expected a list of records.* got one record; pass \[record",
        ),
        ({**COLUMNS, "browser": "Chrome"}, "'browser': items: expected a sequence of items, got one str"),
        (polars.DataFrame(COLUMNS).lazy(), r"items: expected a table in memory, got LazyFrame; collect it first"),
        (TWICE, "items: expected one column named 'plan', got 2"),
        (np.zeros((2, 2), dtype=int), "items: expected 3 columns, got 2"),
    ],
)
def test_wrong_records_are_refused_by_position_and_attribute_and_never_by_value(records: Any, expected: str) -> None:
    with pytest.raises(DomainError, match=expected) as refused:
        SURVEY.encode(records)
    assert "Secret" not in str(refused.value)


OTHERS = ["pandas", "pandas with odd names", "polars", "pyarrow", "numpy", "duckdb"]


@in_turn("kind", OTHERS)
def test_the_fix_for_a_column_too_many_is_a_selection_that_works(kind: str) -> None:
    own = {"browser": ["Chrome", "Firefox"], "age": [1, 2], "plan": [0, 2]}
    frame = pandas.DataFrame({**own, "user": [1, 2]})
    items: Any = {
        "pandas": lambda: frame,
        "pandas with odd names": lambda: frame.assign(select=0, project=0, collect=0, to_arrow_table=0),
        "polars": lambda: polars.from_pandas(frame),
        "pyarrow": lambda: pyarrow.Table.from_pandas(frame),
        "numpy": lambda: frame.to_records(index=False),
        "duckdb": lambda: duckdb.from_df(frame),
    }[kind]()
    with pytest.raises(DomainError) as refused:
        SURVEY.encode(items)
    told, typed = str(refused.value).split(" with ")
    assert told == "items: unknown attribute 'user'; leave it out"
    selected = eval(typed, {"items": items})
    assert SURVEY.encode(selected).tolist() == SURVEY.encode(own).tolist()
    assert spelled(refused.value.words, PrivatizeOptions(sources=[], scheme="")).endswith(
        "leave it out with --columns browser,age,plan"
    )


@in_turn(
    ("attributes", "expected"),
    [
        ([("a", 2), ("a", 3)], "expected distinct names, got 'a' more than once"),
        ({"a": 2}, "number of attributes: expected 2 to 64, got 1"),
        ({"a": 2, "b": Keys()}, "expected items that can be listed for 'b'.* got Keys"),
        (
            {"a": 2, "b": Choices(["x", "y"])},
            r"'b', such as labels, got Choices; add each item as a yes/no attribute: \"ITEM\": \[\"no\", \"yes\"\]$",
        ),
        ({"a": 2, "b": Strings("ab", 3)}, "expected items that can be listed for 'b'.* got Strings"),
        ({"a": 2, "b": ["x"]}, "attributes: 'b': domain: number of labels: expected 2 to .* got 1"),
        ({"a": 2, "b": None}, "attributes: 'b': domain: expected a number of items, .* got NoneType"),
        (
            {"a": 2, "b": ["x", "missing"]},
            "'b': the label 'missing' is the name .* leave out this cell with missing=False",
        ),
        ({"a": 2, "": 3}, "expected names of 1 to 80 printable characters"),
        ({"a": 2, 5: 3}, "expected names of 1 to 80 printable characters, got int"),
        ({f"q{i}": 3 for i in range(41)}, "expected fewer than 2\\^64 different records"),
        ("ab", "expected names and their values"),
        (7, "expected names and their values"),
    ],
)
def test_wrong_attributes_are_refused(attributes: Any, expected: str) -> None:
    with pytest.raises(ParameterError, match=expected):
        Table(attributes)


def test_attributes_without_a_cell_for_missing_values_are_chosen_by_name() -> None:
    table = Table({"a": 2, "b": ["x", "y"], "c": Ordered(0, 3)}, missing=["b"])
    assert table.sizes == (2, 3, 4)
    assert Table({"a": 2, "c": Ordered(0, 3)}, missing=False).sizes == (2, 4)
    assert Table({"a": 2, "b": ["x", "missing"]}, missing=["a"]).sizes == (3, 2)
    with pytest.raises(ParameterError, match="missing: unknown attribute 'z'"):
        Table({"a": 2, "b": 2}, missing=["z"])
    with pytest.raises(DomainError, match="item 0: 'a': expected integers"):
        table.encode([(None, "x", 1)])


def test_whole_numbers_with_gaps_are_taken_from_pandas_as_whole_numbers_only() -> None:
    table = Table({"age": 100, "plan": ["free", "paid"]})
    frame = pandas.DataFrame({"age": [35, None], "plan": ["paid", "free"]})
    with pytest.raises(
        DomainError, match=r"item 0.*: 'age': .* got float; in pandas, use Int64 for whole numbers with"
    ):
        table.encode(frame)
    assert (
        table.encode(frame.astype({"age": "Int64"})).tolist() == table.encode([(35, "paid"), (None, "free")]).tolist()
    )


def test_a_domain_travels_as_json() -> None:
    other = Table({"a": Labels(["x"], other=True), "b": Ordered.dates("2026-01-01", "2026-01-09")}, missing=["a"])
    for table in (SURVEY, other):
        again = domain_from_dict(json.loads(json.dumps(table.to_dict())))
        assert again == table
        assert again.encode(table.decode(table.spread(9))).tolist() == table.spread(9).tolist()


def test_a_domain_too_large_to_list_has_no_size_and_still_works() -> None:
    table = Table({f"q{i}": 16 for i in range(10)})
    assert table.size is None
    assert table.code_count == 17**10
    scheme = make("CLIQUE", epsilon=1, domain=table)
    tally = scheme.simulate({(1,) * 10: 50, (None,) * 10: 50})
    assert tally.table("q0", "q9").counts.shape == (17, 17)


def test_two_attributes_with_too_many_cells_together_are_refused() -> None:
    table = Table({"a": 2000, "b": 2000, "c": 2}, missing=False)
    with pytest.raises(ParameterError, match="'a' and 'b' have 4,000,000 cells together, expected at most 1,048,576"):
        make("CLIQUE", epsilon=1, domain=table)
    assert make("SMP", epsilon=1, domain=table).name == "SMP"
    with pytest.raises(ParameterError, match="'a' has 2,097,152 cells, expected at most 1,048,576"):
        make("SMP", epsilon=1, domain=Table({"a": 2**21, "b": 2}, missing=False))


def test_attributes_that_devices_refuse_for_one_reason_are_named_together() -> None:
    told = Table({"theme": ["a", "b"], "plan": ["c", "d"], "age": Ordered(0, 9), "n": 5}, missing=["theme"]).refusals
    assert told == (
        "'theme', 'plan' have no item for other values. other=True adds one.",
        "'age' has no item for missing values. other=True adds one.",
    )
    many = Table({f"q{i}": ["a", "b"] for i in range(9)}, missing=False)
    assert many.refusals == (
        "'q0', 'q1', 'q2', 'q3', 'q4', 'q5', … have no item for other values. other=True adds one.",
    )
