"""Ordered domains: codes by comparing, both ends included, whatever holds the values."""

from __future__ import annotations

import copy
import json
import math
import pickle
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import plausibly
from cases import case, in_turn
from drawn import drawn
from plausibly import DomainError, Integers, Ordered, ParameterError
from plausibly.core.domain import domain_from_dict, encode_column
from plausibly.extend import InOrder

NAN, INF = math.nan, math.inf
AGES = Ordered(0, 120, unit="years")
YEAR = Ordered.dates("2026-01-01", "2026-12-31")
TIMES = Ordered.durations(0, 100, unit="ms")
BINS = Ordered.bins([-1.5, 0, 0.1, 10, 20.5])
ALL = {
    "whole numbers": AGES,
    "negative numbers": Ordered(-7, 5, other=True),
    "bins": BINS,
    "equal bins": Ordered.equal(0, 1, 3, other=True, infinite="clamp", unit="mg"),
    "dates": YEAR,
    "dates and others": Ordered.dates("1969-12-30", "1970-01-02", other=True),
    "durations": TIMES,
    "long durations": Ordered.durations(1, 48, unit="h", other=True),
}


def codes(domain: Ordered, items: Any) -> list[int]:
    return encode_column(domain, items).tolist()


# --- the items ----------------------------------------------------------------------------------------------------


def test_both_ends_are_items() -> None:
    assert AGES.size == AGES.length == 121
    assert AGES.decode(AGES.encode([0, 120])).tolist() == [0, 120]
    assert YEAR.size == 365
    assert YEAR.decode(np.array([0, 364], dtype=np.uint64)).tolist() == ["2026-01-01", "2026-12-31"]
    assert TIMES.size == 101


def test_the_other_item_stands_after_the_order() -> None:
    domain = Ordered(0, 120, other=True)
    assert (domain.length, domain.size) == (121, 122)
    assert domain.decode(np.array([0, 120, 121], dtype=np.uint64)).tolist() == [0, 120, "other"]
    assert len(domain.points()) == 121


@in_turn("name", ALL)
def test_every_item_is_its_own_name_and_code(name: str) -> None:
    domain = ALL[name]
    every = np.arange(domain.size, dtype=np.uint64)
    items = domain.decode(every)
    assert len(set(items.tolist())) == domain.size
    assert domain.encode(items).tolist() == domain.ask(items.tolist())[0].tolist() == every.tolist()
    assert domain.encode(domain.parse([str(item) for item in items])).tolist() == every.tolist()


@in_turn("name", ALL)
def test_json_gives_the_same_domain(name: str) -> None:
    domain = ALL[name]
    written = json.loads(json.dumps(domain.to_dict()))
    assert domain_from_dict(written) == domain
    assert pickle.loads(pickle.dumps(domain)) == copy.deepcopy(domain) == domain
    assert hash(domain_from_dict(written)) == hash(domain)
    spaces = {"Ordered": Ordered}
    assert eval(repr(domain), spaces) == domain


def test_json_has_options_only_where_they_are_used() -> None:
    assert AGES.to_dict() == {"type": "whole numbers", "low": 0, "high": 120, "unit": "years"}
    assert Ordered(0, 120).to_dict() == {"type": "whole numbers", "low": 0, "high": 120}
    assert BINS.to_dict() == {"type": "bins", "edges": ["-1.5", 0, "0.1", 10, "20.5"]}
    assert YEAR.to_dict() == {"type": "dates", "first": "2026-01-01", "last": "2026-12-31"}
    assert TIMES.to_dict() == {"type": "durations", "low": 0, "high": 100, "unit": "ms"}
    both = Ordered(0, 1, other=True, infinite="clamp").to_dict()
    assert both == {"type": "whole numbers", "low": 0, "high": 1, "other": True, "infinite": "clamp"}
    assert json.dumps(Ordered.bins([-0.0, 1.0, 2.5]).to_dict()["edges"]) == '[0, 1, "2.5"]'


@in_turn(
    "fields",
    [
        {"type": "whole numbers", "low": 0},
        {"type": "whole numbers", "low": 0, "high": 5, "more": 1},
        {"type": "whole numbers", "low": 0, "high": 5.0},
        {"type": "whole numbers", "low": 0, "high": True},
        {"type": "whole numbers", "low": 0, "high": 5, "other": False},
        {"type": "whole numbers", "low": 0, "high": 5, "other": 1},
        {"type": "whole numbers", "low": 0, "high": 5, "infinite": "refuse"},
        {"type": "whole numbers", "low": 0, "high": 5, "unit": ""},
        {"type": "whole numbers", "low": 0, "high": 2**53},
        {"type": "whole numbers", "low": 0, "high": 2**32},
        {"type": "bins", "edges": [0, 1.0, 2.5]},
        {"type": "bins", "edges": [0, 1, 2.5]},
        {"type": "bins", "edges": [0, 1, "2.50"]},
        {"type": "bins", "edges": [0, 2**53, 2**54]},
        {"type": "bins", "edges": [0, "1", 2]},
        {"type": "bins", "edges": "012"},
        {"type": "bins", "edges": [0, NAN, 2]},
        {"type": "bins", "edges": [0, 2, 1]},
        {"type": "bins", "edges": [0, 1]},
        {"type": "dates", "first": "2026-01-01", "last": 20454},
        {"type": "dates", "first": "2026-1-1", "last": "2026-12-31"},
        {"type": "dates", "first": "2026-01-01T00:00:00", "last": "2026-12-31"},
        {"type": "dates", "first": "2026-01-01", "last": "2026-12-31", "unit": "d"},
        {"type": "dates", "first": "2026-01-01", "last": "2026-12-31", "infinite": "clamp"},
        {"type": "durations", "low": 0, "high": 5},
        {"type": "durations", "low": 0, "high": 5, "unit": "us"},
    ],
)
def test_json_of_another_form_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        domain_from_dict(fields)


# --- values -------------------------------------------------------------------------------------------------------


def test_a_fraction_counts_as_the_whole_number_below_it_and_values_outside_as_the_nearest_item() -> None:
    values = [35.7, 0.0, -0.0, -0.5, -1e300, 120.9, 121, 5e-324, 10**400]
    assert codes(AGES, values) == [35, 0, 0, 0, 0, 120, 120, 0, 120]
    assert codes(Ordered(-7, 5), [-6.5, -7.0, -7.5, -0.1]) == [0, 0, 0, 6]


def test_a_value_on_an_edge_is_in_the_bin_above_it_and_the_last_bin_has_both() -> None:
    assert codes(BINS, [-1.5, -0.0, 0, 0.1, 10, 20.5]) == [0, 1, 1, 2, 3, 3]
    assert codes(BINS, [math.nextafter(0.1, 0), math.nextafter(0.1, 1), 1e9, -9]) == [1, 2, 3, 0]


def test_equal_bins_have_the_doubles_nearest_to_the_exact_edges() -> None:
    edges = Ordered.equal(0.1, 0.7, 7).edges().tolist()
    low, high = Fraction(1, 10), Fraction(7, 10)
    assert edges == [float(low + (high - low) * i / 7) for i in range(8)]
    # The ends mean what is written: a third of the double 0.3 is not the double 0.1.
    assert Ordered.equal(0, 0.3, 3) == Ordered.bins([0, 0.1, 0.2, 0.3])
    assert Ordered.equal(Decimal("0.1"), Fraction(3, 10), 2) == Ordered.bins([0.1, 0.2, 0.3])
    assert Ordered.equal(-1e300, 1e300, 2) == Ordered.bins([-1e300, 0, 1e300])
    assert Ordered.equal(0, 30, 3) == Ordered.bins([0, 10, 20, 30])


def test_large_numbers_are_compared_exactly() -> None:
    domain = Ordered.bins([0, 2**53 + 2, 2.0**63, 2.0**64])
    values = [2**53 + 1, 2**53 + 2, 2**53 + 3, 2**63 - 1]
    assert codes(domain, values) == codes(domain, np.array(values)) == [0, 1, 1, 1]
    assert codes(domain, np.array([2**63 - 1, 2**63, 2**64 - 1], dtype=np.uint64)) == [1, 2, 2]
    top = Ordered(2**53 - 3, 2**53 - 1)
    assert codes(top, np.array([2.0**53 - 2, 2.0**53, 0.0])) == codes(top, [2**53 - 2, 2**53, 0]) == [1, 2, 0]


def slowly(domain: Ordered, value: Any) -> int:
    """The code of a number by its definition."""
    fields = domain.to_dict()
    if "edges" in fields:
        starts = [Fraction(float(edge)) for edge in fields["edges"][:-1]]
    else:
        starts = [Fraction(number) for number in range(fields["low"], fields["high"] + 1)]
    below = [place for place, start in enumerate(starts) if start <= Fraction(value)]
    return below[-1] if below else 0


NUMBERS = st.one_of(
    st.integers(-200, 200),
    st.integers(2**53 - 3, 2**53 + 3),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([-0.0, 5e-324, -5e-324, 0.1, math.nextafter(0.1, 1), 2.0**53, 1e300]),
)


@given(
    st.one_of(
        st.lists(NUMBERS.filter(bool), min_size=3, max_size=9, unique=True),
        st.tuples(st.integers(-100, 0), st.integers(1, 100)),
    ),
    st.lists(NUMBERS, min_size=1, max_size=9),
)
@drawn(80)
def test_codes_are_those_of_the_definition(bounds: Any, values: list[Any]) -> None:
    try:
        domain = Ordered(*bounds) if isinstance(bounds, tuple) else Ordered.bins(sorted(bounds))
    except ParameterError:
        return  # an edge that is no double
    if not isinstance(bounds, tuple):
        values = values + bounds
    expected = [slowly(domain, value) for value in values]
    assert codes(domain, values) == expected
    assert codes(domain, [Fraction(value) for value in values]) == expected
    for kind in (int, float):
        alike = [value for value in values if type(value) is kind]
        if alike and all(-(2**63) <= value < 2**63 for value in alike if kind is int):
            own = [slowly(domain, value) for value in alike]
            assert codes(domain, alike) == codes(domain, np.array(alike)) == codes(domain, pa.array(alike)) == own
    narrow = np.array([value for value in values if abs(value) < 1e30], dtype=np.float32)
    assert codes(domain, narrow) == [slowly(domain, float(value)) for value in narrow]


@in_turn(
    "column",
    [
        [1.5, 7, 200.0],
        (1.5, 7, 200.0),
        np.array([1.5, 7, 200]),
        np.array([1.5, 7, 200], dtype=">f8"),
        np.array([1.5, 7, 200], dtype=np.float16),
        np.array([1.5, 7, 200], dtype=np.longdouble),
        np.array([0, 1.5, 0, 7, 0, 200])[1::2],
        np.array([1, 7, 200], dtype=np.uint8),
        np.array([1, 7, 200], dtype=np.int16),
        np.array([1, 7, 200], dtype=object),
        [np.float32(1.5), np.int8(7), np.uint64(2**64 - 1)],
        [Decimal("1.5"), Fraction(15, 2), Decimal("1e30")],
        pa.array([1.5, 7, 200]),
        pa.array([0, 1.5, 7, 200])[1:],
        pa.array([1.5, 7, 200], pa.float32()),
        pa.array([1, 7, 200], pa.uint8()),
        pa.array([Decimal("1.5"), Decimal(7), Decimal(200)]),
        pa.chunked_array([[1.5], [7.0, 200.0]]),
        pa.table({"age": [1.5, 7, 200]}),
        pa.array([1, 7, 200]).dictionary_encode(),
        pd.Series([1.5, 7, 200]),
        pd.Series([1, 7, 200], dtype="Int64"),
        pd.Series([1, 7, 200], dtype="category"),
        pd.Series([1, 7.5, 200], dtype=object),
    ],
)
def test_columns_of_numbers_of_every_library_are_taken(column: Any) -> None:
    assert codes(AGES, column) == [1, 7, 120]


@in_turn(
    "column",
    [
        [1, None, 7],
        [1.0, NAN, 7.0],
        [1, pd.NA, 7],
        [1, Decimal("NaN"), 7],
        [1, "seven", 7],
        np.array([1, NAN, 7]),
        np.ma.masked_array([1, 2, 7], [False, True, False]),
        pa.array([1, None, 7]),
        pa.array([5, 1, None, 7])[1:],
        pa.array([1.0, None, 7.0]),
        pa.chunked_array([[1], pa.array([None, 7], pa.int64())]),
        pd.Series([1, None, 7]),
        pd.Series([1, None, 7], dtype="Int64"),
    ],
)
def test_missing_values_are_others_or_refused_by_position(column: Any) -> None:
    assert codes(Ordered(0, 120, other=True), column) == [1, 121, 7]
    with pytest.raises(DomainError, match=r"^item 1: expected numbers \(with other=True, any value\), got"):
        encode_column(AGES, column)


def test_infinite_values_are_clamped_only_if_told() -> None:
    for items in ([1.0, INF, -INF], np.array([1, INF, -INF]), [1, Decimal("inf"), Decimal("-inf")]):
        with pytest.raises(DomainError, match=r'^item 1 and 1 more: expected finite numbers \(infinite="clamp" clamps'):
            AGES.encode(items)
        assert codes(Ordered(0, 9, other=True), items) == [1, 10, 10]
        assert codes(Ordered(0, 9, infinite="clamp"), items) == [1, 9, 0]
        assert codes(Ordered.bins([0, 1, 9], infinite="clamp"), items) == [1, 1, 0]
    with pytest.raises(DomainError, match="item 0"):
        Ordered(0, 9, infinite="clamp").encode([NAN])


NEW_YORK = timezone(timedelta(hours=-5))


@in_turn(
    "value",
    [
        date(2026, 3, 1),
        datetime(2026, 3, 1),
        datetime(2026, 3, 1, 23, 59, 59, 999_999),
        datetime(2026, 3, 1, 0, 0, tzinfo=UTC),
        datetime(2026, 2, 28, 19, 0, tzinfo=NEW_YORK),
        datetime(2026, 3, 1, 18, 59, 59, tzinfo=NEW_YORK),
        datetime(2026, 3, 2, 0, 59, 59, tzinfo=timezone(timedelta(hours=1))),
        "2026-03-01",
        np.datetime64("2026-03-01"),
        np.datetime64("2026-03-01T23:59:59.999999999"),
        pd.Timestamp("2026-03-01 23:59:59.999999999"),
        pd.Timestamp("2026-03-01 18:00", tz="America/New_York"),
    ],
)
def test_a_date_is_its_day_in_utc(value: Any) -> None:
    assert codes(YEAR, [value]) == [59]


def test_columns_of_dates_of_every_library_are_taken() -> None:
    days = [date(2026, 3, 1), date(2025, 1, 1), date(2027, 1, 1)]
    times = [datetime(day.year, day.month, day.day, 23, 30) for day in days]
    columns: list[Any] = [days, times, np.array(days, dtype="M8[D]"), pa.array(days), pa.array(days, pa.date64())]
    columns += [np.array(times, dtype=f"M8[{unit}]") for unit in ("h", "s", "ms", "us", "ns")]
    columns += [pa.array(times, pa.timestamp(unit)) for unit in ("s", "ms", "us", "ns")]
    columns += [pa.array(times, pa.timestamp("us", "America/New_York")), pd.Series(times), pd.Series(days)]
    columns += [pd.Series(pd.DatetimeIndex(times, tz="UTC").tz_convert("Asia/Tokyo"))]
    for column in columns:
        with case(repr(column)):
            assert codes(YEAR, column) == [59, 0, 364]
    far = np.array([2**62, -(2**62), 0], dtype="M8[Y]")
    assert codes(YEAR, far) == [364, 0, 0]
    absent = Ordered.dates("2026-01-01", "2026-12-31", other=True)
    for column in ([date(2026, 1, 2), None], [pd.Timestamp("2026-01-02"), pd.NaT], ["2026-01-02", "2026-02-30"]):
        assert codes(absent, column) == [1, 365]
    assert codes(absent, np.array(["2026-01-02", "NaT"], dtype="M8[s]")) == [1, 365]
    assert codes(absent, pa.array([date(2026, 1, 2), None])) == [1, 365]


def test_days_before_1970_and_the_first_and_last_of_all_are_days() -> None:
    domain = Ordered.dates("1969-12-30", "1970-01-02")
    assert codes(domain, [datetime(1969, 12, 31, 23, 59), date(1970, 1, 1)]) == [1, 2]
    assert codes(domain, np.array(["1969-12-31T23:59"], dtype="M8[m]")) == [1]
    every = Ordered.dates(date.min, date.max)
    late, early = timezone(timedelta(hours=-14)), timezone(timedelta(hours=14))
    ends = [datetime.max.replace(tzinfo=late), datetime.min.replace(tzinfo=early)]
    assert codes(every, ends) == [every.size - 1, 0]


def test_durations_are_whole_units() -> None:
    values: list[Any] = [
        timedelta(microseconds=2999),
        2.999,
        2,
        np.timedelta64(2_999_999, "ns"),
        np.timedelta64(1, "s"),
    ]
    assert codes(TIMES, values) == [2, 2, 2, 2, 100]
    hours = Ordered.durations(timedelta(hours=1), timedelta(days=2), unit="h")
    assert hours == Ordered.durations(1, 48, unit="h")
    assert codes(hours, [timedelta(days=1, minutes=59), timedelta(-1), pd.Timedelta("90min")]) == [23, 0, 0]
    spans = [timedelta(hours=3, minutes=59), timedelta(0), timedelta(days=9)]
    for unit in ("m", "s", "ms", "us", "ns"):
        assert codes(hours, np.array(spans, dtype=f"m8[{unit}]")) == [2, 0, 47]
    for column in (pa.array(spans), pa.array(spans, pa.duration("s")), pd.Series(spans)):
        assert codes(hours, column) == [2, 0, 47]
    assert codes(TIMES, np.array([1, 2**62, -(2**62)], dtype="m8[W]")) == [100, 100, 0]
    assert codes(TIMES, np.array([1, 4], dtype="m8[7us]")) == [0, 0]
    assert codes(Ordered.durations(0, 9, unit="min"), np.array([1, 4], dtype="m8[45s]")) == [0, 3]
    # A day has more attoseconds than 64 bits can hold.
    days = Ordered.durations(0, 10, unit="d")
    for unit, ticks in (("fs", 2**63 - 1), ("as", 2**63 - 1), ("as", -1)):
        assert codes(days, np.array([ticks], dtype=f"m8[{unit}]")) == [0]
    for span in (timedelta(hours=2), np.timedelta64(2, "h"), np.timedelta64(7_200_000_000_000, "ns")):
        assert Ordered.durations(0, span, unit="min") == Ordered.durations(0, 120, unit="min")
    with pytest.raises(DomainError, match="item 0: expected durations"):
        TIMES.encode(np.array([1], dtype="m8[Y]"))


@in_turn(
    ("domain", "items"),
    [
        (AGES, [3, True]),
        (AGES, np.array([False, True])),
        (AGES, [3, date(2026, 1, 1)]),
        (AGES, np.array(["2026-01-01"], dtype="M8[D]")),
        (AGES, pa.array([date(2026, 1, 1)])),
        (AGES, [3, timedelta(1)]),
        (AGES, [3, np.timedelta64(35, "s")]),
        (AGES, [3, np.timedelta64(35, "ns")]),
        (BINS, [3, np.timedelta64(5)]),
        (TIMES, [np.timedelta64(5)]),
        (AGES, [3, b"4"]),
        (AGES, [3, [4]]),
        (AGES, [3, 1j]),
        (BINS, [3, date(2026, 1, 1)]),
        (YEAR, [date(2026, 1, 1), 5]),
        (YEAR, np.array([5])),
        (YEAR, pa.array([5.5])),
        (YEAR, [timedelta(5)]),
        (TIMES, [date(2026, 1, 1)]),
        (TIMES, np.array(["2026-01-01"], dtype="M8[D]")),
    ],
)
def test_values_of_another_type_are_refused_even_if_there_is_an_item_for_others(domain: Ordered, items: Any) -> None:
    others = domain_from_dict(domain.to_dict() | {"other": True})
    for one in (domain, others):
        with pytest.raises(DomainError, match=r"^item [01].*: expected (numbers|dates|durations), got"):
            encode_column(one, items)


def test_texts_are_parsed() -> None:
    texts = ["35", "35.7", "1e2", "+7", " 8\t", ".5", "7.", "-3", "1e999", "9" * 5000]
    assert AGES.encode(AGES.parse(texts)).tolist() == [35, 35, 100, 7, 8, 0, 7, 0, 120, 120]
    assert BINS.encode(BINS.parse(["0.1", "10", "0.1 to 10"])).tolist() == [2, 3, 2]
    days = [
        "2026-03-01",
        "2026-03-01T23:59:59",
        "2026-03-01 18:00:00-05:00",
        "2026-02-28T20:00:00-05:00",
        "2026-03-01Z",
    ]
    assert YEAR.encode(YEAR.parse(days[:4])).tolist() == [59] * 4
    for domain, text in (
        (AGES, "x"),
        (AGES, ""),
        (AGES, "1,000"),
        (AGES, "0x10"),
        (AGES, "1_000"),
        (AGES, "٣"),
        (AGES, "35 years"),
        (AGES, "2026-03-01"),
        (BINS, "0.1 to 20.5"),
        (YEAR, "20260301"),
        (YEAR, "5"),
        (YEAR, "2026-02-30"),
    ):
        with case(text):
            with pytest.raises(DomainError, match=r"^item 1: expected .*got another text$"):
                domain.parse([texts[0] if domain is not YEAR else "2026-01-01", text])
            others = domain_from_dict(domain.to_dict() | {"other": True})
            assert others.encode(others.parse([text])).tolist() == [domain.size]
    for special in ("nan", "NaN", "inf", "-Infinity"):
        with pytest.raises(DomainError):
            AGES.encode(AGES.parse([special]))


def test_changes_counts_values_that_were_clamped_or_are_others() -> None:
    domain = Ordered(0, 9, other=True)
    values = [0, 9, 9.5, -1, 10, 10, None, "x", 5]
    found = dict(domain.changes(domain.encode(values), values.__getitem__))
    assert list(found.values()) == [1, 2, 2]
    assert [words.split(",")[0] for words in found] == ["below the range", "above the range", "missing"]
    assert domain.changes(domain.encode([0, 9]), [0, 9].__getitem__) == {}


# --- questions ----------------------------------------------------------------------------------------------------


def test_an_item_outside_cannot_be_asked_about() -> None:
    domain = Ordered(0, 9, other=True)
    assert domain.ask([3, 9, "other"])[1].tolist() == [3, 9, "other"]
    assert BINS.ask([0.05, "10 to 20.5"])[1].tolist() == ["0 to 0.1", "10 to 20.5"]
    for item in (10, -1, None, "x"):
        with pytest.raises(DomainError, match="item 0: expected one of the whole numbers 0 to 9, got another value"):
            domain.ask([item])


def test_ranges_are_given_by_their_ends() -> None:
    assert AGES.places(18, 24) == AGES.places("18", "24") == AGES.places(18.0, 24) == (18, 24)
    assert AGES.places(0, 120) == Integers(121).places(0, 120) == (0, 120)
    assert AGES.places(7, 7) == (7, 7)
    assert BINS.places(0, 10) == (1, 2)
    assert BINS.places(-1.5, 20.5) == (0, 3)
    assert YEAR.places("2026-01-31", date(2026, 2, 1)) == (30, 31)
    assert TIMES.places(timedelta(milliseconds=5), 7) == TIMES.places(5, np.timedelta64(7_000, "us")) == (5, 7)


@in_turn(
    ("domain", "low", "high", "told"),
    [
        (AGES, -5, 24, "the nearest range is 0..24"),
        (AGES, 18, 1000, "the nearest range is 18..120"),
        (AGES, 18.5, 24, "the nearest range is 18..24"),
        (AGES, 24, 18, "expected the lower end first, got 24..18"),
        (AGES, "x", 18, "expected numbers as ends, got 'x'"),
        (AGES, date(2026, 1, 1), 18, "expected numbers as ends, got"),
        (AGES, NAN, 18, "expected numbers as ends, got nan"),
        (BINS, 0.05, 0.1, "expected edges of bins as ends, got 0.05..0.1; the nearest range is 0..0.1"),
        (BINS, 0.1, 12, "the nearest range is 0.1..20.5"),
        (YEAR, "2025-06-01", "2026-06-01", "the nearest range is 2026-01-01..2026-06-01"),
        (YEAR, 5, 6, "expected dates as ends, got 5"),
        (TIMES, timedelta(microseconds=1500), 3, "the nearest range is 1..3"),
        (TIMES, np.timedelta64(1500, "us"), 3, "the nearest range is 1..3"),
        (TIMES, np.timedelta64(5), 7, "expected durations as ends, got"),
        (AGES, np.timedelta64(5, "ns"), 7, "expected numbers as ends, got"),
    ],
)
def test_other_ends_are_refused_with_the_nearest_range(domain: InOrder, low: Any, high: Any, told: str) -> None:
    with pytest.raises(ParameterError) as error:
        domain.places(low, high)
    assert told in str(error.value)


def test_points_and_edges_are_in_the_users_units() -> None:
    assert Ordered(-1, 1).points().tolist() == [-1, 0, 1]
    assert Ordered(-1, 1).edges().tolist() == [-1.5, -0.5, 0.5, 1.5]
    assert Integers(3).points().tolist() == [0, 1, 2]
    assert BINS.points().tolist() == [-0.75, 0.05, 5.05, 15.25]
    assert BINS.edges().tolist() == [-1.5, 0, 0.1, 10, 20.5]
    assert Ordered.bins([0, 1e308, 1.7e308]).points()[1] == pytest.approx(1.35e308)
    day = (date(2026, 1, 1) - date(1970, 1, 1)).days
    assert YEAR.points()[0] == day
    assert [YEAR.written(day + 31.4), YEAR.written(0)] == ["2026-02-01", "1970-01-01"]
    written = [AGES.written(35.0), AGES.written(35.25), BINS.written(20.5), TIMES.written(7.0)]
    assert written == [35, 35.25, 20.5, 7]
    assert [type(number) for number in written] == [int, float, float, int]
    assert (AGES.unit, TIMES.unit, YEAR.unit, Integers(3).unit) == ("years", "ms", "", "")


# --- schemes ------------------------------------------------------------------------------------------------------


@in_turn("name", ["DE", "OUE", "OLH", "SS", "HM", "HR", "TLH", "AGR", "FLH", "THE"])
def test_every_oracle_works_on_ordered_values(name: str) -> None:
    scheme = plausibly.make(name, epsilon=3, domain=Ordered.bins([0, 10, 20.5, 50], other=True))
    values = [5, 12, None, 70.5] * 500
    reports = scheme.privatize(values, plausibly.SeededRandom(1))
    tally = plausibly.from_json(scheme.to_json()).accumulator()
    tally.add(reports)
    estimates = tally.estimate()
    assert estimates.items.tolist() == ["0 to 10", "10 to 20.5", "20.5 to 50", "other"]
    # At five standard errors, the chance of a false alarm is 2e-5 for all forty together.
    assert np.all(np.abs(estimates.values - 500) < 5 * estimates.standard_error)
    assert plausibly.make(name, epsilon=3, domain=Ordered(5, 20)).domain.size == 16


def test_a_device_needs_an_item_for_others() -> None:
    assert AGES.refusals == ("it has no item for missing values. other=True adds one.",)
    assert Ordered(0, 120, other=True).refusals == ()


def test_words_show_the_range_and_its_ends() -> None:
    assert AGES.describe() == "the whole numbers 0 to 120 years"
    assert Ordered(0, 5, other=True).describe() == "the whole numbers 0 to 5 and all others"
    assert BINS.describe() == "4 bins from -1.5 to 20.5"
    assert YEAR.describe() == "the days 2026-01-01 to 2026-12-31"
    assert TIMES.describe() == "durations of 0 to 100 ms"
    assert dict(AGES.facts())["outside"] == "clamped: lower values are reported as 0, higher ones as 120"
    assert "infinite" not in dict(YEAR.facts())
    assert AGES.argument == "domain=Ordered(0, 120, unit='years')"
    assert repr(Ordered.equal(0, 1, 100)) == "Ordered.bins([...])"
    assert AGES.arrangement.ordered
    assert Ordered(0, 5, other=True).arrangement.other == "other"


# --- arguments ----------------------------------------------------------------------------------------------------


@pytest.mark.full
@in_turn(
    ("made", "told"),
    [
        (lambda: Ordered(5, 3), "low: expected less than high (3), got 5; swap them"),
        (lambda: Ordered(5, 5), "low: expected less than high (5), got 5: two items or more"),
        (lambda: Ordered(0, 1.5), "high: expected a whole number, got float; real numbers need bins: Ordered.equal("),
        (lambda: Ordered(True, 5), "low: expected a whole number, got bool"),
        (lambda: Ordered("0", 5), "low: expected a whole number, got str"),
        (lambda: Ordered(date(2026, 1, 1), 5), "low: expected a whole number, got date; dates are given by"),
        (lambda: Ordered(timedelta(1), 5), "low: expected a whole number, got timedelta; durations are given by"),
        (lambda: Ordered(0, np.timedelta64(9, "ns")), "got timedelta64; durations are given by"),
        (lambda: Ordered.bins([0, np.timedelta64(9, "ns"), 10]), "got timedelta64; durations are given by"),
        (lambda: Ordered(0, 2**32), "domain: number of items: expected 2 to 4294967296, got 4294967297"),
        (lambda: Ordered(0, 2**53), "high: expected -9007199254740991 to 9007199254740991, got 9007199254740992"),
        (lambda: Ordered(0, 2**32 - 1, other=True), "domain: number of items"),
        (lambda: Ordered(0, 5, other=1), "other: expected true or false, got int"),
        (lambda: Ordered(0, 5, unit=3), 'unit: expected a text such as "years", got int'),
        (lambda: Ordered(0, 5, unit="x" * 41), "unit: expected at most 40 characters that can be seen"),
        (lambda: Ordered(0, 5, infinite=True), "infinite: expected refuse or clamp, got True"),
        (lambda: Ordered.bins([0, 10]), "edges: expected at least 3, which make 2 bins, got 2"),
        (lambda: Ordered.bins([0, 5, 5]), "edges: expected numbers in rising order, got equal ones at position 2"),
        (lambda: Ordered.bins([0, 5, 3]), "got a smaller one after a larger one at position 2"),
        (lambda: Ordered.bins([0, NAN, 3]), "edges, position 1: expected a finite number, got a missing one"),
        (lambda: Ordered.bins([0, 3, INF]), "edges, position 2: expected a finite number, got an infinite one"),
        (lambda: Ordered.bins([0, "3", 5]), "edges, position 1: expected a number, got str"),
        (lambda: Ordered.bins([0, None, 5]), "edges, position 1: expected a number, got NoneType"),
        (lambda: Ordered.bins([0, True, 5]), "edges, position 1: expected a number, got bool"),
        (lambda: Ordered.bins([date(2026, 1, 1), 2, 5]), "expected a number, got date; dates are given by"),
        (lambda: Ordered.bins([0, 2**53 + 1, 2**60]), "expected a number that a double holds exactly"),
        (lambda: Ordered.bins([0, 1, 10**400]), "expected a number below 10^308"),
        (lambda: Ordered.bins("0,1,2"), "edges: expected numbers in rising order, got str"),
        (lambda: Ordered.bins({0, 1, 2}), "edges: expected numbers in rising order, got set"),
        (lambda: Ordered.equal(0, 1, 1), "count: expected 2 to"),
        (lambda: Ordered.equal(0, 1, 2**20 + 1), "count: expected 2 to 1048576, got 1048577"),
        (lambda: Ordered.equal(0, 1, 2.0), "count: expected an integer, got float"),
        (lambda: Ordered.equal(1, 0, 5), "low: expected less than high (0), got 1; swap them"),
        (lambda: Ordered.equal(1, 1, 5), "low: expected less than high (1), got 1"),
        (lambda: Ordered.bins(count()), "edges: expected at most 1,048,577, got more"),
        (lambda: Ordered.equal(1, math.nextafter(1, 2), 5), "count: expected fewer bins"),
        (lambda: Ordered.equal(0, INF, 5), "high: expected a finite number, got an infinite one"),
        (lambda: Ordered.dates(0, 5), "first: expected a date such as 2026-01-31, got int; numbers are given by"),
        (lambda: Ordered.dates("2026-01-01", "2026-02-30"), "last: expected a date such as 2026-01-31, got '2026-02"),
        (lambda: Ordered.dates("2026-01-01", None), "last: expected a date such as 2026-01-31, got NoneType"),
        (lambda: Ordered.dates("2026-02-01", "2026-01-01"), "first: expected less than last (2026-01-01), got 2026-02"),
        (lambda: Ordered.durations(0, 5, unit="years"), "unit: unknown 'years'; valid: d, h, min, ms, s"),
        (lambda: Ordered.durations(0, timedelta(hours=1.5), unit="h"), "high: expected a whole number of h, got a fra"),
        (
            lambda: Ordered.durations(0, np.timedelta64(90, "m"), unit="h"),
            "high: expected a whole number of h, got a f",
        ),
        (lambda: Ordered.durations(0, np.timedelta64(5, "Y")), "high: expected a whole number, got timedelta64"),
        (lambda: Ordered.durations(0, 1.5), "high: expected a whole number, got float"),
    ],
)
def test_bad_arguments_are_refused_with_the_fix(made: Any, told: str) -> None:
    with pytest.raises(ParameterError) as error:
        made()
    assert told in str(error.value)


@in_turn(
    ("domain", "items"),
    [
        (Ordered(0, 120, other=True), ["35"]),
        (Ordered(0, 120, other=True), pd.Series(["35.5", None], dtype=object)),
        (Ordered.bins([0, 1.5, 3], other=True), [1, " 1e0 "]),
        (Ordered.durations(0, 9, other=True), pa.array(["7"])),
        (Ordered.dates("2026-01-01", "2026-12-31", other=True), ["2026-03-01T10:00"]),
        (Ordered.dates("2026-01-01", "2026-12-31", other=True), ["2026-03-01 "]),
    ],
)
def test_texts_that_mean_a_value_are_not_lost_among_the_others(domain: Ordered, items: Any) -> None:
    with pytest.raises(
        DomainError, match=r"^item [01]: expected (\w+), got a text that means one; convert texts to \1"
    ):
        encode_column(domain, items)
    assert encode_column(domain, ["no value", None]).tolist() == [domain.size - 1] * 2


@pytest.mark.parametrize("scale", [Ordered(0, 9).scale, Ordered.dates("2026-01-01", "2026-01-09").scale], ids=repr)
def test_a_text_means_a_value_if_it_can_be_parsed(scale: Any) -> None:
    texts = ["35", " 1e3\t", ".5", "-inf", "NaN", "9" * 30, "", "-", "1_000", "0x1", "12", "1,5", "2026-01-01"]
    for text in [*texts, "2026-01-01T10:00+01:00", " 2026-01-01", "2026-13-01", "20260101"]:
        with case(text):
            assert scale.is_written(text) == (scale.parsed(text) is not None)


def test_a_column_of_missing_values_may_have_any_type() -> None:
    days = Ordered.dates("2026-01-01", "2026-12-31", other=True)
    for items in (np.array([NAN, NAN]), pd.Series([None, NAN]), np.ma.array([1, 2], mask=True), [NAN, None]):
        with case(repr(items)):
            assert codes(days, items) == [365, 365]
    assert codes(Ordered(0, 9, other=True), np.ma.array([INF, INF, 3.5], mask=[True, False, False])) == [10, 10, 3]
    with pytest.raises(DomainError, match=r"item 0: .* got a missing value"):
        Ordered(0, 9).encode(np.ma.array([INF, 1.0], mask=[True, False]))
    with pytest.raises(DomainError, match="item 1: expected dates, got an array of float64"):
        days.encode(np.array([NAN, 20_000.0]))
    with pytest.raises(DomainError, match=r"item 0 and 1 more: expected dates .*, got a missing value"):
        Ordered.dates("2026-01-01", "2026-12-31").encode(np.array([NAN, NAN]))


@pytest.mark.full
def test_edges_in_a_document_are_refused_by_what_they_are() -> None:
    for edges, told in (
        (["x", 1, 2], "position 0: expected a number, got str"),
        ([0] * (2**20 + 2), "expected at most"),
    ):
        with case(told), pytest.raises(ParameterError, match=told):
            domain_from_dict({"type": "bins", "edges": edges})


def test_a_refusal_shows_no_value() -> None:
    for items in (["hiv"], [b"hiv"], [None], [INF], np.array([777.0, NAN])):
        with pytest.raises(DomainError) as error:
            AGES.encode(items)
        assert "hiv" not in str(error.value)
        assert "777" not in str(error.value)


@pytest.mark.full
def test_ten_million_numbers_take_about_a_second() -> None:
    from time import perf_counter

    values = np.tile(np.array([-3.5, 20, 35.7, 300]), 2_500_000)
    for domain in (Ordered(0, 120), Ordered.equal(0, 120, 1000)):
        start = perf_counter()
        domain.encode(values)
        assert perf_counter() - start < 5, "five times what it takes"
