"""A scheme is a frozen value: JSON and back, equality, hashing, pickling, replacing; nothing dropped silently."""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
from dataclasses import FrozenInstanceError, fields, replace

import pytest

import plausibly
from contract.entries import DOMAINS, NAMES, SMALL, build, crowd, every_name, every_scheme, other_than
from plausibly import ParameterError, Scheme, SeededRandom


@every_scheme
def test_json_round_trip_gives_an_equal_scheme(scheme: Scheme) -> None:
    again = plausibly.from_json(scheme.to_json())
    assert again == scheme
    assert type(again) is type(scheme)
    assert again.to_json() == scheme.to_json()


@every_scheme
def test_the_fingerprint_is_the_digest_of_sorted_json_without_spaces(scheme: Scheme) -> None:
    fields_of_json = json.loads(scheme.to_json())
    text = json.dumps(fields_of_json, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert scheme.fingerprint() == hashlib.sha256(text.encode()).hexdigest()


@every_scheme
def test_json_may_come_in_any_order_and_spacing(scheme: Scheme) -> None:
    backwards = dict(reversed(json.loads(scheme.to_json()).items()))
    assert plausibly.from_json(json.dumps(backwards, indent=4)) == scheme


@every_scheme
def test_json_writes_epsilon_as_a_fraction_and_large_integers_as_text(scheme: Scheme) -> None:
    written = json.loads(replace(scheme, epsilon="0.1").to_json())
    assert written["epsilon"] == "1/10"

    def numbers(value: object) -> list[int]:
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list):
            return [number for part in value for number in numbers(part)]
        assert not isinstance(value, float), "JSON of a scheme has no floats"
        return [value] if isinstance(value, int) else []

    assert all(abs(number) < 2**53 for number in numbers(written))


@every_scheme
def test_every_damaged_field_of_the_json_is_refused(scheme: Scheme) -> None:
    good = json.loads(scheme.to_json())
    for name, value in good.items():
        for wrong in (None, f"{value}0", [value], 1.5, -1, {}, True, ""):
            with pytest.raises(ParameterError):
                plausibly.from_json(json.dumps({**good, name: wrong}))
        with pytest.raises(ParameterError):
            plausibly.from_json(json.dumps({key: good[key] for key in good if key != name}))
    with pytest.raises(ParameterError, match="did you mean 'epsilon'"):
        plausibly.from_json(json.dumps({**good, "epsilom": "1"}))


@every_scheme
def test_a_threshold_that_was_tampered_with_is_refused(scheme: Scheme) -> None:
    good = json.loads(scheme.to_json())
    for name in ("keep", "flip"):
        if name in good:
            with pytest.raises(ParameterError, match=f"{name}: expected {int(good[name])!r}|{name}: expected '"):
                plausibly.from_json(json.dumps({**good, name: str(int(good[name]) + 1)}))


@every_scheme
def test_fields_that_occur_twice_are_refused(scheme: Scheme) -> None:
    twice = scheme.to_json()[:-1] + ',"epsilon":"5"}'
    with pytest.raises(ParameterError):
        plausibly.from_json(twice)


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '{"scheme":5}', '{"scheme":"XX"}', "\x00", "[" * 100_000])
def test_what_is_not_the_json_of_a_scheme_is_refused(text: str) -> None:
    with pytest.raises(ParameterError):
        plausibly.from_json(text)


@every_scheme
def test_parameters_cannot_be_changed(scheme: Scheme) -> None:
    before = scheme.to_json()
    for field in fields(scheme):
        with pytest.raises(FrozenInstanceError):
            setattr(scheme, field.name, getattr(scheme, field.name))
        with pytest.raises(FrozenInstanceError):
            delattr(scheme, field.name)
    with pytest.raises(FrozenInstanceError):
        scheme.invented = 1  # type: ignore[attr-defined]
    scheme.to_dict().clear()
    assert scheme.to_json() == before


@every_scheme
def test_replacing_makes_another_scheme_and_leaves_the_first(scheme: Scheme) -> None:
    before = scheme.to_json()
    other = replace(scheme, epsilon=2)
    assert other != scheme
    assert other.epsilon == 2
    assert type(other) is type(scheme)
    assert scheme.to_json() == before
    assert replace(scheme, epsilon=scheme.epsilon) == scheme


@every_scheme
def test_equal_arguments_make_equal_schemes_with_equal_hashes(scheme: Scheme) -> None:
    again = replace(scheme)
    assert again is not scheme
    assert again == scheme
    assert hash(again) == hash(scheme)
    assert len({again, scheme, other_than(scheme)}) == 2
    assert scheme != other_than(scheme)
    assert scheme != scheme.to_json()


def test_all_schemes_here_are_different() -> None:
    made = [
        build(name, d) for name in NAMES for d in DOMAINS.values() if isinstance(d, plausibly.CATALOG[name].accepts)
    ]
    assert len(set(made)) == len(made)
    assert len({scheme.fingerprint() for scheme in made}) == len(made)


@every_scheme
def test_pickling_and_copying_give_equal_schemes_that_work(scheme: Scheme) -> None:
    items = crowd(scheme, 20)
    wanted = scheme.privatize(items, rng=SeededRandom(1)).tobytes()
    for again in (pickle.loads(pickle.dumps(scheme)), copy.copy(scheme), copy.deepcopy(scheme)):
        assert again == scheme
        assert again.privatize(items, rng=SeededRandom(1)).tobytes() == wanted


@every_scheme
def test_the_repr_tells_what_the_scheme_is(scheme: Scheme) -> None:
    text = repr(scheme)
    assert text.startswith(f"{scheme.name}(")
    assert "epsilon=1" in text
    assert "0x" not in text


@every_name
def test_make_finds_the_class_and_equals_it(name: str) -> None:
    own = {field.name for field in fields(plausibly.CATALOG[name])}
    given = {key: value for key, value in SMALL.items() if key in own}
    made = plausibly.make(name, epsilon=1, domain_size=11, **given)
    assert type(made) is plausibly.CATALOG[name]
    assert made == build(name, DOMAINS["integers"])
    assert made.name == name


@every_name
def test_misspelt_parameters_are_refused_with_the_nearest_name(name: str) -> None:
    own = {field.name for field in fields(plausibly.CATALOG[name])} | {"domain_size", "other"}
    for right in sorted(own):
        wrong = right[:-1] + "xx"
        with pytest.raises(ParameterError, match=f"unknown parameter '{wrong}' for {name}; did you mean '{right}'"):
            plausibly.make(name, **{"epsilon": 1, "domain_size": 11, wrong: 1})


@every_name
def test_parameters_that_resemble_nothing_are_refused_with_the_valid_ones(name: str) -> None:
    with pytest.raises(ParameterError, match=r"unknown parameter 'qqqq' .*valid: .*epsilon"):
        plausibly.make(name, epsilon=1, domain_size=11, qqqq=1)


@every_name
def test_a_missing_epsilon_or_domain_is_refused(name: str) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        plausibly.make(name, domain_size=11)
    with pytest.raises(ParameterError, match="domain"):
        plausibly.make(name, epsilon=1)
    with pytest.raises(ParameterError, match="domain"):
        plausibly.make(name, epsilon=1, domain_size=11, domain=["a", "b"])


@every_name
def test_a_domain_of_a_kind_the_scheme_cannot_use_is_refused(name: str) -> None:
    for domain in DOMAINS.values():
        if not isinstance(domain, plausibly.CATALOG[name].accepts):
            with pytest.raises(ParameterError, match=f"domain: {name} works on .*, came {type(domain).__name__}"):
                build(name, domain)


def test_an_unknown_scheme_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ParameterError, match="unknown scheme 'OHL'; did you mean 'OLH'"):
        plausibly.make("OHL", epsilon=1, domain_size=5)
    with pytest.raises(ParameterError, match="unknown scheme"):
        plausibly.make(5, epsilon=1, domain_size=5)  # type: ignore[arg-type]


@every_scheme
def test_misspelt_options_of_an_estimate_are_refused(scheme: Scheme) -> None:
    with pytest.raises(ParameterError, match="unknown option 'decodr'"):
        scheme.accumulator().estimate(crowd(scheme, 1), decodr="full")


@every_scheme
def test_the_privacy_delivered_is_just_below_the_one_asked_for(scheme: Scheme) -> None:
    for epsilon in ("0.1", "0.5", "1", "2", "3", "5", "8"):
        loss = replace(scheme, epsilon=epsilon).privacy_loss()
        asked = replace(scheme, epsilon=epsilon).epsilon
        assert asked * 999 / 1000 < loss <= asked
