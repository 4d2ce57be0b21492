"""Bulk code, device and the JavaScript client put ordered values into the same items.

The vectors come from `naive_client` (tests/vectors/ordered_values.py).
"""

from __future__ import annotations

import json
import math
import struct
from datetime import UTC, date, datetime, timedelta, timezone
from functools import cache
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_client as naive
import plausibly
from cases import case
from drawn import drawn
from plausibly import DomainError, Ordered, device
from plausibly.core.randomness import TapeSource
from test_vectors import TapeRandom, answers
from trusting import load
from vectors import ordered_values as generate

KEPT = ["0", "0"]
"""A tape with which DE sends the item itself."""


MEANING = ("0 to 0.1", "35", "2024-03-01T00:00:00", " 2024-03-01", "2024-03-01 ")
"""Texts of the vectors that mean something in a file."""


@cache
def file() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(generate.PATH.read_text(encoding="utf-8"))
    return loaded


def asked_of(entry: dict[str, Any]) -> dict[str, Any]:
    """The question about a value to the JavaScript client."""
    scheme = json.dumps(file()["schemes"][entry["scheme"]])
    return {"scheme": scheme, "value": entry["value"], "tape": entry.get("tape", KEPT)}


# --- vectors ----------------------------------------------------------------------------------------------------


def test_the_file_is_what_the_generator_writes() -> None:
    written = generate.PATH.read_text(encoding="utf-8")
    assert written == generate.text_of(), "run: PYTHONPATH=tests python -m vectors.ordered_values"


def test_the_library_reads_and_writes_the_schemes() -> None:
    for fields in file()["schemes"]:
        scheme = plausibly.from_json(json.dumps(fields))
        assert scheme.to_json() == naive.canonical(fields)
        assert scheme.fingerprint() == naive.fingerprint(fields).hex() == load(json.dumps(fields)).fingerprint


def test_the_clients_and_bulk_code_make_the_records() -> None:
    for number, fields in enumerate(file()["schemes"]):
        mine = [vector for vector in file()["vectors"] if vector["scheme"] == number]
        values = [naive.native(vector["value"]) for vector in mine]
        client, tapes = load(json.dumps(fields)), [naive.Tape(map(int, vector["tape"])) for vector in mine]
        for vector, value, tape in zip(mine, values, tapes, strict=True):
            source = TapeSource(list(map(int, vector["tape"])))
            assert client.privatize(value, source).hex() == vector["record"], vector
            naive.record(fields, value, tape)
        # To a device, these texts are no values. To the library, one names a bin, and it refuses the others.
        known = [place for place, value in enumerate(values) if value not in MEANING]
        bulk = plausibly.from_json(json.dumps(fields)).privatize(
            [values[place] for place in known], rng=TapeRandom([tapes[place].draws for place in known])
        )
        assert [report.tobytes().hex() for report in bulk] == [mine[place]["record"] for place in known]


def test_the_javascript_client_makes_the_records() -> None:
    told = answers([asked_of(vector) for vector in file()["vectors"]])
    wrong = [vector for vector, answer in zip(file()["vectors"], told, strict=True) if answer != vector["record"]]
    assert wrong == []


@pytest.mark.full
def test_library_device_and_javascript_refuse_the_other_values() -> None:
    for entry, answer in zip(file()["refused"], answers([asked_of(each) for each in file()["refused"]]), strict=True):
        with case(repr(entry)):
            fields, value = file()["schemes"][entry["scheme"]], naive.native(entry["value"])
            with pytest.raises(device.DeviceError, match=r"expected a (number|date), got|the value is missing"):
                load(json.dumps(fields)).encode(value)
            if value != "0 to 0.1":
                with pytest.raises(DomainError, match=r"^item 0: expected"):
                    plausibly.from_json(json.dumps(fields)).domain.encode([value])
            assert answer.startswith("refused: ")
            assert "tape" not in answer


def test_library_device_and_javascript_refuse_the_broken_documents() -> None:
    asked = [{"scheme": json.dumps(entry["fields"]), "value": None, "tape": KEPT} for entry in file()["broken"]]
    for entry, answer in zip(file()["broken"], answers(asked), strict=True):
        with case(entry["why"]):
            text = json.dumps(entry["fields"])
            with pytest.raises(plausibly.ParameterError):
                plausibly.from_json(text)
            with pytest.raises(device.DeviceError) as error:
                load(text)
            assert "the value" not in str(error.value)
            assert answer.startswith("refused: ")
            assert "value is missing" not in answer


def test_an_edge_that_only_python_reads_is_refused() -> None:
    fields = naive.scheme_of("DE", "1", {"type": "bins", "edges": [0, 1, 2]})
    for edges in ("[0, 1, 2.5]", "[0, -0.0, 2]", "[0, 1e2, 101]", "[0, 1, NaN]", "[0, 1, Infinity]"):
        with case(edges):
            text = json.dumps(fields).replace("[0, 1, 2]", edges)
            with pytest.raises(device.DeviceError, match="edges: expected numbers"):
                load(text)
            with pytest.raises(plausibly.ParameterError):
                plausibly.from_json(text)


# --- devices ----------------------------------------------------------------------------------------------------


def device_of(domain: Ordered) -> device.Client:
    return load(plausibly.make("DE", epsilon=1, domain=domain).to_json())


def test_a_device_accepts_the_domain_only_with_an_item_for_others() -> None:
    text = plausibly.make("DE", epsilon=1, domain=Ordered(0, 120)).to_json()
    with pytest.raises(device.DeviceError, match="the domain refuses some values"):
        device.load(text)
    assert device.load(plausibly.make("DE", epsilon=1, domain=Ordered(0, 120, other=True)).to_json())


def test_a_device_asks_no_value_about_itself() -> None:
    class Liar(float):
        def as_integer_ratio(self) -> tuple[int, int]:
            return (7, 1)

        def __lt__(self, other: object) -> bool:
            return True

    client = device_of(Ordered(0, 120))
    assert client.encode(Liar(35.5)) == 35
    assert client.encode(np.float64(35.5)) == 35


def test_a_refusal_shows_no_value() -> None:
    for value in ("hiv", b"hiv", ["hiv"]):
        with pytest.raises(device.DeviceError) as error:
            device_of(Ordered(0, 120)).encode(value)
        assert "hiv" not in str(error.value)


# --- fresh domains and values -----------------------------------------------------------------------------------

SPECIAL = [0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 0.1, 0.3, 2.0**53, 2.0**53 + 2, -(2.0**53), 1.7e308]


def bits(value: float) -> dict[str, str]:
    return {"double": struct.pack(">d", value).hex()}


def a_number(random: Random) -> float:
    """A double: special, small, or with random bits."""
    kind = random.randrange(4)
    if kind == 0:
        return random.choice(SPECIAL)
    if kind == 1:
        return random.uniform(-20, 20)
    if kind == 2:
        return float(random.randrange(-30, 30))
    found: float = struct.unpack(">d", random.randbytes(8))[0]
    return found if math.isfinite(found) else 1.5


def a_domain(random: Random) -> Ordered:
    """Ordered numbers of either kind, with options."""
    options: dict[str, Any] = {"other": random.random() < 0.5, "infinite": random.choice(["refuse", "clamp"])}
    if random.random() < 0.4:
        low = random.choice([0, -5, 2**53 - 60, 1 - 2**53])
        return Ordered(low, low + random.randrange(1, 50), **options)
    while True:
        edges = sorted({a_number(random) for _ in range(random.randrange(3, 12))})
        if len(edges) > 2:
            return Ordered.bins(edges, **options)


def values_near(random: Random, domain: Ordered) -> list[Any]:
    """Fresh numbers, and the edges of the domain with their neighbours."""
    near = [float(random.choice(ends)) for ends in (domain.scale.starts, domain.scale.stops) for _ in range(3)]
    near += [math.nextafter(value, random.choice([-math.inf, math.inf])) for value in near]
    wholes = [random.choice([2**53, -(2**53), 0, 2**64]) + random.randrange(-3, 4) for _ in range(4)]
    rare = [math.nan, math.inf, -math.inf, None, "x"]
    return [*near, *(a_number(random) for _ in range(6)), *wholes, random.choice(rare)]


@pytest.mark.full
def test_the_two_clients_and_bulk_code_agree_on_fresh_domains_and_numbers() -> None:
    random, asked, expected = Random(20), [], []
    for _ in range(120):
        domain = a_domain(random)
        text = plausibly.make("DE", epsilon=1, domain=domain).to_json()
        client = load(text)
        for value in values_near(random, domain):
            try:
                code = client.encode(value)
                assert domain.encode([value]).tolist() == [code], (domain, value)
                if isinstance(value, float):
                    assert domain.encode(np.array([value])).tolist() == [code], (domain, value)
                assert code == naive.place_of(domain.to_dict(), value)
                expected.append(str(code))
            except device.DeviceError:
                with pytest.raises(DomainError):
                    domain.encode([value])
                expected.append("refused")
            written = bits(value) if isinstance(value, float) else {"int": str(value)} if type(value) is int else value
            asked.append({"scheme": text, "value": written, "tape": KEPT})
    told = [
        "refused" if answer.startswith("refused: ") else str(int.from_bytes(bytes.fromhex(answer), "little"))
        for answer in answers(asked)
    ]
    wrong = [(question, code) for question, code, answer in zip(asked, expected, told, strict=True) if code != answer]
    assert wrong == []


ZONES = ["UTC", "America/New_York", "Europe/Berlin", "Asia/Kathmandu", "Pacific/Kiritimati", "Australia/Lord_Howe"]


def test_the_two_clients_and_bulk_code_agree_on_times_around_midnight_and_changes_of_clocks() -> None:
    random, asked, expected = Random(21), [], []
    changes = [datetime(2026, 3, 8), datetime(2026, 3, 29), datetime(2026, 10, 25), datetime(2026, 11, 1)]
    domain = Ordered.dates("2026-03-01", "2026-11-05", other=True)
    text = plausibly.make("DE", epsilon=1, domain=domain).to_json()
    client = load(text)
    for _ in range(600):
        zone = ZoneInfo(random.choice(ZONES))
        local = random.choice(changes) + timedelta(milliseconds=random.randrange(-8 * 3_600_000, 30 * 3_600_000))
        value = local.replace(tzinfo=zone, fold=random.randrange(2))
        moment = value.astimezone(UTC)
        code = (moment.date() - date(2026, 3, 1)).days
        assert client.encode(value) == code
        assert domain.encode([value, moment.replace(tzinfo=None)]).tolist() == [code, code]
        assert domain.encode(np.array([moment.replace(tzinfo=None)], dtype="M8[ms]")).tolist() == [code]
        since = moment - datetime(1970, 1, 1, tzinfo=UTC)
        asked.append({"scheme": text, "value": {"time": since // timedelta(milliseconds=1)}, "tape": KEPT})
        expected.append(code)
    told = [int.from_bytes(bytes.fromhex(answer), "little") for answer in answers(asked)]
    assert told == expected


@given(
    st.one_of(st.dates(), st.datetimes(), st.datetimes(timezones=st.just(timezone(timedelta(hours=-12))))),
    st.dates(min_value=date(2, 1, 1), max_value=date(9998, 1, 1)),
)
@drawn(40)
def test_device_and_bulk_code_agree_on_every_date(value: date, first: date) -> None:
    domain = Ordered.dates(first, first + timedelta(50))
    assert device_of(domain).encode(value) == domain.encode([value])[0]
    if not isinstance(value, datetime):
        assert domain.encode([value.isoformat()])[0] == domain.encode([value])[0]
        assert device_of(domain).encode(value.isoformat()) == domain.encode([value])[0]


UNITS = {"ms": "milliseconds", "s": "seconds", "min": "minutes", "h": "hours", "d": "days"}


@given(st.timedeltas(), st.sampled_from(["ms", "s", "min", "h", "d"]), st.integers(-50, 50))
@drawn(40)
def test_device_and_bulk_code_agree_on_every_duration(value: timedelta, unit: str, low: int) -> None:
    domain = Ordered.durations(low, low + 60, unit=unit)
    expected = min(max(value // timedelta(**{UNITS[unit]: 1}), low), low + 60)  # Python divides durations exactly
    assert device_of(domain).encode(value) == domain.encode([value])[0] == expected - low
