"""A kind of domain is one class: defined here, it works with schemes, files, plans, words, commands and devices."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import plausibly
import trusting
from plausibly import CATALOG, DomainError, ParameterError, SeededRandom, audit, device, from_json, make, plan
from plausibly.cli import app
from plausibly.core.domain import (
    Domain,
    Encoded,
    Items,
    Listable,
    Strings,
    listed,
    object_array,
    refuse,
    register_domain,
    registry,
)
from plausibly.core.memoised import Memoised
from plausibly.experiments.csv_files import Labelled
from plausibly.files import values
from plausibly.files.sources import ValuesError
from plausibly.planner.description import Description
from plausibly.planner.devices import device_notes
from plausibly.rehearsal.truth import truth_of

TIMES = ["00:10", "07:30", "12:00", "12:01", "23:59"]


@dataclass(frozen=True)
class Hours(Listable):
    """Times of the day as minutes since midnight, in slots of a given number of hours; written hh:mm."""

    kinds = ("hours",)
    item_type = int

    slot: int = 6

    @property
    def size(self) -> int:
        return 24 // self.slot

    def encode(self, items: object) -> Encoded:
        minutes = np.array(listed(items), dtype=np.int64)
        refuse((minutes < 0) | (minutes >= 24 * 60), "expected minutes of a day")
        return minutes.astype(np.uint64) // np.uint64(60 * self.slot)

    def decode(self, codes: Encoded) -> Items:
        return object_array(60 * self.slot * int(code) for code in codes)

    def parse(self, texts: Sequence[str]) -> list[Any]:
        refuse(np.array([not re.fullmatch("[0-2][0-9]:[0-5][0-9]", text) for text in texts]), "expected hh:mm")
        return [60 * int(text[:2]) + int(text[3:]) for text in texts]

    def to_dict(self) -> dict[str, Any]:
        return {"type": "hours", "slot": self.slot}


class ClientHours:
    """The same on a device."""

    listed = total = True

    def __init__(self, fields: device.Fields) -> None:
        self.slot = fields.whole("slot", 1, 12)
        self.items = 24 // self.slot

    def encode(self, value: object) -> int:
        assert isinstance(value, int)
        return value // (60 * self.slot)


DOMAIN = Hours(6)


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_KINDS", dict(registry._KINDS))
    register_domain(Hours)


def scheme_of(name: str = "OLH", domain: Domain = DOMAIN) -> plausibly.Scheme:
    return make(name, epsilon=2, domain=domain)


@pytest.mark.full
@pytest.mark.parametrize("name", [name for name, kind in CATALOG.items() if issubclass(Hours, kind.accepts)])
def test_every_oracle_and_sketch_works_on_it(name: str) -> None:
    sketch = {"oracle": make("HM", epsilon=2, domain_size=16), "rows": 8} if name in ("CM", "CS") else {"epsilon": 2}
    memo = {"memo_epsilon": 4} if issubclass(CATALOG[name], Memoised) else {}
    scheme = make(name, domain=DOMAIN, **sketch, **memo)
    assert from_json(scheme.to_json()) == scheme
    minutes = DOMAIN.parse(TIMES)
    tally = scheme.accumulator()
    tally.add(scheme.privatize(minutes * 2000, SeededRandom(1)))
    estimates = tally.estimate()
    assert estimates.items.tolist() == [0, 360, 720, 1080]
    if estimates.variance is not None:
        # Eight standard errors: a false alarm once in 10^14.
        assert np.all(np.abs(estimates.values - [2000, 2000, 4000, 2000]) < 8 * np.sqrt(estimates.variance))
    assert tally.estimate([721]).items.tolist() == [720]
    assert audit(scheme).holds


def test_a_search_refuses_it_and_says_what_it_works_on() -> None:
    oracle = make("OLH", epsilon=1, domain=plausibly.Keys())
    with pytest.raises(ParameterError, match="PEM works on strings, got Hours"):
        make("PEM", oracle=oracle, domain=DOMAIN)


def test_fields_that_are_not_its_parameters_are_refused() -> None:
    assert from_json(scheme_of().to_json()).domain == DOMAIN
    with pytest.raises(ParameterError, match="domain: expected the fields"):
        from_json(scheme_of().to_json().replace('"slot":6', '"slots":6'))


def test_a_name_is_given_once() -> None:
    with pytest.raises(ParameterError, match="kinds: 'hours' is taken by another kind of domain"):
        register_domain(type("Days", (Hours,), {}))
    register_domain(Hours)
    with pytest.raises(ParameterError, match="expected a subclass of Domain"):
        register_domain(int)  # type: ignore[type-var]
    for kinds in ("hours", (), [1], None):
        with pytest.raises(ParameterError, match="kinds: expected a tuple of names"):
            register_domain(type("Days", (Hours,), {"kinds": kinds}))


def test_values_of_files_are_parsed_and_refused_by_line(tmp_path: Path) -> None:
    path = tmp_path / "times.csv"
    path.write_text("time\n" + "\n".join(TIMES) + "\n")
    assert [item for chunk in values(path, domain=DOMAIN) for item in chunk.values] == DOMAIN.parse(TIMES)
    path.write_text("time\n07:30\nnoon\n")
    with pytest.raises(ValuesError, match=r"times\.csv, line 3: expected hh:mm") as refused:
        list(values(path, domain=DOMAIN))
    assert "noon" not in str(refused.value)
    numbers = tmp_path / "times.ndjson"
    numbers.write_text("450\n720\n")
    assert [item for chunk in values(numbers, domain=DOMAIN) for item in chunk.values] == [450, 720]


def test_a_plan_and_a_description_speak_of_it() -> None:
    found = plan(DOMAIN, 100_000, epsilon=1)
    assert found.domain == DOMAIN
    assert "domain=Hours(slot=6)" in str(found)
    assert "a list of 4 items" in found.situation
    words = Description(scheme_of())
    assert dict(words.sections())["What a user's value may be"] == [
        ("values", "a list of 4 items"),
        ("others", "refused"),
    ]
    assert device_notes(scheme_of()) == ()


def test_commands_take_it(tmp_path: Path) -> None:
    scheme, path = tmp_path / "scheme.json", tmp_path / "times.csv"
    scheme.write_text(scheme_of().to_json())
    path.write_text("time\n" + "\n".join(TIMES * 100) + "\n")
    reports, tally = tmp_path / "reports.parquet", tmp_path / "times.tally"
    pytest.importorskip("pyarrow")
    for words, said in [
        (["show", scheme], "a list of 4 items"),
        (["privatize", path, "--scheme", scheme, "--out", reports], ""),
        (["collect", reports, "--out", tally], ""),
        (["estimate", tally, "--item", "12:34"], "\n720 "),
        (["simulate", scheme, "--data", "uniform", "--users", 1000], ""),
    ]:
        result = CliRunner().invoke(app, [str(word) for word in words])
        assert result.exit_code == 0, (words, result.output)
        assert said in result.stdout


def test_a_rehearsal_matches_the_texts_of_a_file() -> None:
    found = Labelled("own.csv", tuple(TIMES), np.array([1, 2, 3, 4, 5]), (2, 3, 4, 5, 6))
    assert truth_of(scheme_of(), found).counts.tolist() == [1, 2, 7, 5]
    wrong = Labelled("own.csv", ("07:30", "secret", "x"), np.array([1, 2, 3]), (2, 3, 4))
    with pytest.raises(DomainError, match=r"^own\.csv, line 3 \(and 1 other items\): expected hh:mm") as refused:
        truth_of(scheme_of(), wrong)
    assert "secret" not in str(refused.value)


def test_a_device_takes_it_once_it_knows_the_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    scheme = scheme_of()
    with pytest.raises(device.DeviceError, match="type: expected one of"):
        trusting.load(scheme.to_json())
    before = scheme.randomizer.words
    monkeypatch.setattr(device, "DOMAINS", dict(device.DOMAINS))
    device.register_domain("hours", ClientHours)
    client = trusting.load(scheme.to_json())
    records = b"".join(client.privatize(minute) for minute in DOMAIN.parse(TIMES))
    tally = scheme.accumulator()
    tally.add(np.frombuffer(records, scheme.report_dtype))
    assert (len(tally), scheme_of().randomizer.words) == (5, before)


@pytest.mark.parametrize(
    ("domain", "cells"),
    [
        (plausibly.Integers(5), 5),
        (plausibly.Labels(("a", "b")), None),
        (plausibly.Keys(), None),
        (Strings("ab", 2), None),
        (Strings(b"ab", 2), None),
        (DOMAIN, None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_examples_are_items_and_texts_have_the_codes_of_their_items(domain: Any, cells: int | None) -> None:
    items = domain.examples(3)
    assert 2 <= len(items) == len(set(items.tolist())) <= 3
    assert domain.named(items).tolist() == items.tolist()
    assert domain.cells == cells
    texts = TIMES if domain is DOMAIN else ["a", "b"] if cells is None else ["1", "02"]
    assert domain.codes_of(texts).tolist() == domain.encode(domain.parse(texts)).tolist()


@pytest.mark.parametrize(
    "codes",
    [np.full(3, 4, np.uint64), np.full(3, -1), np.zeros(3), np.zeros((3, 2), np.uint64), [0, 1, 2], None],
    ids=["beyond the size", "negative", "floats", "rows", "a list", "nothing"],
)
def test_wrong_codes_never_reach_a_kernel(codes: Any) -> None:
    class Wrong(Hours):
        def encode(self, items: object) -> Encoded:
            wrong: Encoded = codes
            return wrong

    scheme = make("OUE", epsilon=1, domain=Wrong(6))
    tally = make("OUE", epsilon=1, domain=Hours(6)).simulate([5] * 4)
    with pytest.raises(DomainError, match="values: expected"):
        scheme.privatize([0, 0, 0])
    with pytest.raises(DomainError, match="values: expected"):
        scheme.simulate({0: 1, 60: 1, 120: 1})
    with pytest.raises(DomainError, match="values: expected"):
        type(tally).from_bytes(scheme, tally.to_bytes()).estimate([0, 0, 0])


@pytest.mark.parametrize("codes", [np.ones(3, np.uint8), np.ones(6, np.uint64)[::2], np.ones(3, ">u8")])
def test_codes_of_another_layout_are_converted(codes: Any) -> None:
    class Packed(Hours):
        def encode(self, items: object) -> Encoded:
            packed: Encoded = codes
            return packed

    expected = make("DE", epsilon=1, domain=Hours(6)).privatize([400] * 3, SeededRandom(3))
    assert make("DE", epsilon=1, domain=Packed(6)).privatize([400] * 3, SeededRandom(3)).tobytes() == expected.tobytes()
