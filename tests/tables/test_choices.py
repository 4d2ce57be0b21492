"""Any number of listed items: library, device and the JavaScript client take the same lists, and tables count them.

The vectors come from `naive_client` (tests/vectors/choices.py).
"""

from __future__ import annotations

import json
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import naive_client as naive
import plausibly
from cases import case, in_turn
from plausibly import Choices, DomainError, ParameterError, SeededRandom, StateError, device, make
from plausibly.certify import audit
from plausibly.core.domain import domain_from_dict
from plausibly.core.randomness import TapeSource
from test_vectors import TapeRandom, answers
from trusting import load
from vectors import choices as generate

APPS = Choices(["Maps", "Mail", "Chess"])
OPEN = Choices(["Maps", "Mail", "Chess"], other=True)
LISTS: list[list[str]] = [["Mail", "Maps"], [], ["Chess"], ["Chess", "Chess", "Maps"]]
CODES = [6, 0, 1, 5]


@cache
def file() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(generate.PATH.read_text(encoding="utf-8"))
    return loaded


def asked_of(entry: dict[str, Any]) -> dict[str, Any]:
    """The question about a value to the JavaScript client."""
    scheme = json.dumps(file()["schemes"][entry["scheme"]])
    return {"scheme": scheme, "value": entry["value"], "tape": entry.get("tape", ["0"] * 9)}


# --- vectors --------------------------------------------------------------------------------------------------------


def test_the_file_is_what_the_generator_writes() -> None:
    written = generate.PATH.read_text(encoding="utf-8")
    assert written == generate.text_of(), "run: PYTHONPATH=tests python -m vectors.choices"


def test_the_library_reads_and_writes_the_schemes() -> None:
    for fields in file()["schemes"]:
        scheme = plausibly.from_json(json.dumps(fields))
        assert scheme.to_json() == naive.canonical(fields)
        assert scheme.fingerprint() == naive.fingerprint(fields).hex() == load(json.dumps(fields)).fingerprint


def test_the_device_and_bulk_code_make_the_records() -> None:
    for number, fields in enumerate(file()["schemes"]):
        mine = [vector for vector in file()["vectors"] if vector["scheme"] == number]
        client, tapes = load(json.dumps(fields)), [naive.Tape(map(int, vector["tape"])) for vector in mine]
        for vector, tape in zip(mine, tapes, strict=True):
            for value in (vector["value"], set(vector["value"])):
                source = TapeSource(list(map(int, vector["tape"])))
                assert client.privatize(value, source).hex() == vector["record"], vector
            naive.record(fields, vector["value"], tape)
        values = [vector["value"] for vector in mine]
        bulk = plausibly.from_json(json.dumps(fields)).privatize(values, TapeRandom([tape.draws for tape in tapes]))
        assert [report.tobytes().hex() for report in bulk] == [vector["record"] for vector in mine]


def test_the_javascript_client_makes_the_records() -> None:
    told = answers([asked_of(vector) for vector in file()["vectors"]])
    wrong = [vector for vector, answer in zip(file()["vectors"], told, strict=True) if answer != vector["record"]]
    assert wrong == []


@pytest.mark.full
def test_library_device_and_javascript_refuse_the_other_values() -> None:
    for entry, answer in zip(file()["refused"], answers([asked_of(each) for each in file()["refused"]]), strict=True):
        with case(repr(entry)):
            fields, value = file()["schemes"][entry["scheme"]], naive.native(entry["value"])
            with pytest.raises(device.DeviceError, match=r"expected (a list|items)|the value is not among the items"):
                load(json.dumps(fields)).encode(value)
            with pytest.raises(DomainError, match=r"^item 0: expected"):
                plausibly.from_json(json.dumps(fields)).domain.encode([value])
            assert answer.startswith("refused: ")
            assert "tape" not in answer


def test_library_device_and_javascript_refuse_the_broken_documents() -> None:
    asked = [{"scheme": json.dumps(entry["fields"]), "value": [], "tape": ["0"] * 9} for entry in file()["broken"]]
    for entry, answer in zip(file()["broken"], answers(asked), strict=True):
        with case(entry["why"]):
            text = json.dumps(entry["fields"])
            with pytest.raises(ParameterError):
                plausibly.from_json(text)
            with pytest.raises(device.DeviceError):
                load(text)
            assert answer.startswith("refused: ")
            assert "tape" not in answer


# --- lists ----------------------------------------------------------------------------------------------------------


FORMS: dict[str, Any] = {
    "lists": LISTS,
    "tuples": [tuple(each) for each in LISTS],
    "sets": [set(each) for each in LISTS],
    "arrays": [np.array(each, dtype=object) for each in LISTS],
    "pandas": pandas.Series(LISTS),
    "a table of pandas": pandas.DataFrame({"apps": LISTS}),
    "Polars": polars.Series(LISTS),
    "a table of Polars": polars.DataFrame({"apps": LISTS}),
    "pyarrow": pyarrow.array(LISTS),
    "large lists": pyarrow.chunked_array([pyarrow.array(LISTS, pyarrow.large_list(pyarrow.string()))]),
}


@in_turn("form", list(FORMS))
def test_lists_come_in_many_forms(form: str) -> None:
    scheme = make("CLIQUE", epsilon=2, domain=APPS)
    wanted = scheme.privatize_encoded(np.array(CODES, dtype=np.uint64), SeededRandom(1))
    assert scheme.privatize(FORMS[form], SeededRandom(1)).tolist() == wanted.tolist()


def test_every_code_is_the_code_of_its_list() -> None:
    assert APPS.encode(LISTS).tolist() == CODES
    for domain in (APPS, OPEN):
        codes = np.arange(domain.code_count, dtype=np.uint64)
        assert (domain.encode(domain.decode(codes)) == codes).all()
    assert OPEN.decode(OPEN.encode([["Sudoku", "Mail"]])).tolist() == [("Mail", "other")]
    assert APPS.encode([]).tolist() == []


@in_turn(
    ("lists", "expected"),
    [
        ([["Maps"], "Maps"], r"item 1: expected a list or set of items \(an empty one if none applies\), got str"),
        ([["Maps"], None, None], "item 1 and 1 more: expected a list or set of items .*, got a missing value"),
        ([["Maps"], ["Secret"]], "item 1: expected some of the 3 items .*other=True.* got a value outside the domain"),
        ([["Maps"], [5]], "item 1: expected items that are texts, got other things"),
        ("Maps", "items: expected a sequence of items, got one str"),
        ({"Maps"}, "items: expected a sequence of items, got one set"),
        ({"Maps": [1]}, "items: expected a sequence of items, got one dict"),
    ],
)
def test_wrong_lists_are_refused_by_position_and_never_by_value(lists: Any, expected: str) -> None:
    with pytest.raises(DomainError, match=expected) as refused:
        APPS.encode(lists)
    assert "Secret" not in str(refused.value)


@in_turn(
    ("items", "other", "expected"),
    [
        (["a"], False, "expected 2 to"),
        ([f"item {i}" for i in range(64)], False, "number of items: expected 2 to 63, got 64"),
        (["a", "a"], False, "distinct"),
        (["a", ""], False, "names of 1 to 80 printable characters"),
        (["a", 5], False, "labels that are texts, got int"),
        ("ab", False, "labels in order"),
        ({"a", "b"}, False, "labels in order"),
        (["a", "other"], True, "the label 'other' is the name of the item"),
        (["a", "b"], 1, "other: expected true or false, got int"),
    ],
)
def test_wrong_items_are_refused(items: Any, other: Any, expected: str) -> None:
    with pytest.raises(ParameterError, match=expected):
        Choices(items, other=other)


def test_the_domain_travels_as_json_and_says_what_it_takes() -> None:
    for domain in (APPS, OPEN):
        assert domain_from_dict(json.loads(json.dumps(domain.to_dict()))) == domain
    assert APPS != OPEN
    assert OPEN.items == APPS.items == ("Maps", "Mail", "Chess")
    assert repr(OPEN) == "Choices(Maps, Mail, Chess, or others)"
    assert OPEN.argument == "domain=Choices([...], other=True)"
    assert OPEN.describe() == "any of 3 items and all others"
    assert APPS.parse(["Mail, Maps", "", "Chess,"]) == [("Mail", "Maps"), (), ("Chess",)]
    assert "devices refuse the scheme" in str(APPS.facts())


def test_devices_take_the_scheme_only_with_an_item_for_others() -> None:
    with pytest.raises(device.DeviceError, match="the domain refuses some values"):
        device.load(make("CLIQUE", epsilon=1, domain=APPS).to_json())
    client = device.load(make("CLIQUE", epsilon=1, domain=OPEN).to_json())
    assert [client.encode(each) for each in ({"Maps"}, frozenset(), ("Mail", "Sudoku"))] == [8, 0, 5]
    assert APPS.refusals
    assert not OPEN.refusals


# --- tables ---------------------------------------------------------------------------------------------------------


CROWD = {("Maps", "Mail"): 30_000, ("Maps",): 20_000, ("Chess", "Sudoku"): 10_000, (): 40_000}
USED = {"Maps": 50_000, "Mail": 30_000, "Chess": 10_000, "other": 10_000}


def test_tables_say_who_has_both_items() -> None:
    tally = make("CLIQUE", epsilon=2, domain=OPEN).simulate(CROWD, SeededRandom(1))
    both = tally.table("Maps", "Mail")
    # Five standard errors each: a false alarm once in 200,000 seeds.
    for cell, truth in {("yes", "yes"): 30_000, ("yes", "no"): 20_000, ("no", "yes"): 0, ("no", "no"): 50_000}.items():
        assert abs(float(both[cell]) - truth) < 5 * both[cell].standard_error
    assert both.independence().p_value < 1e-6


def test_the_table_without_a_name_counts_every_item() -> None:
    for name in ("CLIQUE", "SMP", "SPL"):
        tally = make(name, epsilon=2, domain=OPEN).simulate(CROWD, SeededRandom(1))
        found = tally.table()
        assert found.items.tolist() == list(USED)
        for item, truth in USED.items():
            assert abs(float(found[item]) - truth) < 5 * found[item].standard_error
            alone = tally.table(item)["yes"]
            assert (float(found[item]), found[item].standard_error) == (float(alone), alone.standard_error)
        # Users have several items: nothing may rescale the counts to the number of users.
        with pytest.raises(StateError, match="whole domain"):
            found.postprocess("norm-sub")
    with pytest.raises(ParameterError, match="expected names of attributes, got none"):
        make("CLIQUE", epsilon=2, domain=plausibly.Table({"a": 2, "b": 2})).accumulator().table()


def test_a_list_is_a_table_of_yes_and_no() -> None:
    # The same codes, records and tables as if every item were a question.
    table = plausibly.Table({name: ["no", "yes"] for name in APPS.items}, missing=False)
    rows = [{name: "yes" if name in each else "no" for name in APPS.items} for each in LISTS]
    assert table.encode(rows).tolist() == CODES
    listed, asked = (make("CLIQUE", epsilon=1, domain=domain, cliques=2) for domain in (APPS, table))
    reports = listed.privatize(LISTS * 50, SeededRandom(3)), asked.privatize(rows * 50, SeededRandom(3))
    assert np.array_equal(*reports)
    assert listed.fingerprint() != asked.fingerprint()
    crowds = [dict.fromkeys(map(tuple, LISTS), 500), {tuple(row.values()): 500 for row in rows}]
    tallies = [scheme.simulate(crowd, SeededRandom(4)) for scheme, crowd in zip((listed, asked), crowds, strict=True)]
    for one, other in combinations(APPS.items, 2):
        assert np.array_equal(*(tally.table(one, other).counts for tally in tallies))


@pytest.mark.full
def test_the_client_is_private_and_unbiased_with_the_stated_variance() -> None:
    for name in ("CLIQUE", "SMP", "SPL"):
        certificate = audit(make(name, epsilon=1, domain=OPEN))
        assert certificate.holds
        assert certificate.unbiased
        assert certificate.variance_exact
