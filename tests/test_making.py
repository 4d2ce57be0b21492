"""``make`` has a signature for every scheme, equal to the fields of its class; completion shows what users need."""

from __future__ import annotations

import inspect
import typing
from dataclasses import MISSING, Field, fields
from typing import Any

import pytest

import plausibly
from cases import in_turn
from plausibly import CATALOG, SeededRandom, Strings
from plausibly.making import make

SHAPE = {
    "domain_size": "int | None",
    "domain": "Domain | Iterable[str] | None",
    "other": "bool | None",
    "normalize": "Sequence[str] | None",
}


def signatures() -> dict[str, inspect.Signature]:
    found = {}
    for each in typing.get_overloads(make):
        signature = inspect.signature(each)
        name = signature.parameters["name"].annotation
        found[name.removeprefix("Literal[").removesuffix("]").strip("'\"")] = signature
    return found


def annotation(field: Field[Any]) -> str:
    own = "EpsilonLike" if field.name in ("epsilon", "memo_epsilon") else str(field.type)
    return f"{own} | None" if field.default is None and "None" not in own else own


def test_every_scheme_has_a_signature_and_other_names_have_one_for_all() -> None:
    shipped = {name for name, kind in CATALOG.items() if kind.__module__.startswith("plausibly.")}
    assert signatures().keys() == {*shipped, "str"}
    assert signatures()["str"].return_annotation == "Scheme"


@in_turn("name", [name for name, kind in CATALOG.items() if kind.__module__.startswith("plausibly.")])
def test_a_signature_has_the_fields_of_its_scheme(name: str) -> None:
    kind, signature = CATALOG[name], signatures()[name]
    expected = {field.name: field for field in fields(kind) if field.init}
    domain = expected.pop("domain")
    shape = {"domain": "Strings"} if domain.type == "Strings" else SHAPE
    given = {key: value for key, value in signature.parameters.items() if key != "name"}
    assert given.keys() == expected.keys() | shape.keys()
    for key, parameter in given.items():
        assert parameter.kind is parameter.KEYWORD_ONLY
        if key in shape:
            assert parameter.annotation == shape[key]
            continue
        assert parameter.annotation.replace("'", '"') == annotation(expected[key]).replace("'", '"')
        default = parameter.empty if expected[key].default is MISSING else expected[key].default
        assert parameter.default == default
    assert signature.return_annotation == kind.__name__


def test_a_search_makes_tallies_that_search() -> None:
    scheme = plausibly.TRELLIS(3, domain=Strings("ab", 3), users=100)
    for made in (scheme.accumulator, scheme.simulate):
        assert inspect.signature(made).return_annotation == "SearchTally"
    assert scheme.simulate({"ab": 50}, SeededRandom(1)).search(k=1).items.tolist() == ["ab"]


@pytest.mark.parametrize("name", ["OLH", "FLH"])
def test_completion_of_a_scheme_shows_what_users_need(name: str) -> None:
    scheme = plausibly.make(name, epsilon=1, domain_size=4)
    shown = dir(scheme)
    assert {"privatize", "accumulator", "simulate", "variance", "to_json", "epsilon", "domain"} <= set(shown)
    assert ("hashes" in shown) == (name == "FLH")
    assert not [each for each in shown if each.startswith("_")]
    assert len(shown) < 20
    for each in shown:
        getattr(scheme, each)


def test_completion_of_a_tally_shows_what_users_need() -> None:
    tally = plausibly.make("OLH", epsilon=1, domain_size=4).accumulator()
    shown = ["add", "diagnose", "estimate", "from_bytes", "mean", "merge", "scheme", "scores", "table", "to_bytes"]
    assert dir(tally) == shown
    assert "search" in dir(plausibly.TRELLIS(3, domain=Strings("ab", 3), users=100).accumulator())
