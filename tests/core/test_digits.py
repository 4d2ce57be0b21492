"""Groups without text: digits of a value, lists of schemes in JSON, and registration on devices."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import plausibly
from plausibly import ParameterError, Scheme, SeededRandom, audit, catalog, device, extend
from plausibly.certify.argument import argument_applies
from plausibly.certify.moments import moments


def digits(scheme: device.Document) -> device.Randomizer:
    oracles = scheme.oracles("oracles")
    parts = [device.Digit(oracle, 3**i, 3) for i, oracle in enumerate(oracles)]
    return device.Grouped(scheme.size, parts, [(i,) for i in range(len(parts))], scheme.wholes("weights", 1, 2**32 - 1))


@dataclass(frozen=True)
class Last:
    """Counts of the last digit; ``bent`` is added to each."""

    scheme: DIGITS
    law: extend.VarianceLaw | None
    bent: float = 0.0
    history = ()

    def scores(self, evidence: Any, n: Any, codes: Any) -> Any:
        raise NotImplementedError

    def estimate(self, evidence: Any, n: Any, codes: Any) -> Any:
        items = np.arange(3, dtype=np.uint64) if codes is None else codes
        part, share = self.scheme.parts[0], float(self.scheme.share(0))
        values, variance = extend.scaled_up(part.scheme.estimator(), evidence[0], items, share)
        return values + self.bent * int(np.sum(n)), variance


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DIGITS(extend.Grouped):
    """One digit, in base three, of a number."""

    name = "DIGITS"

    oracles: tuple[Scheme, ...]
    weights: tuple[int, ...] | None = None

    def validate(self) -> None:
        object.__setattr__(self, "oracles", extend.schemes_of("oracles", self.oracles))
        super().validate()

    @cached_property
    def parts(self) -> tuple[extend.Digit, ...]:
        return tuple(extend.Digit(f"digit {i}", each, 3**i, 3, role="oracles") for i, each in enumerate(self.oracles))

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        return tuple((i,) for i in range(len(self.oracles)))

    @property
    def group_weights(self) -> tuple[int, ...]:
        return extend.weights_of(self.weights, len(self.oracles), (1,) * len(self.oracles))

    @property
    def parameters(self) -> dict[str, Any]:
        return {"oracles": [each.to_dict() for each in self.oracles], "weights": list(self.group_weights)}

    @cached_property
    def answers(self) -> plausibly.Integers:  # type: ignore[override]
        return plausibly.Integers(3)

    def counts_towards(self, value: int, answer: int) -> bool:
        return value % 3 == answer

    def estimator(self) -> extend.Decoder:
        law = self.oracles[0].estimator().law
        return Last(self, None if law is None else extend.thinned(law, self.share(0)))


@pytest.fixture(autouse=True)
def _registered() -> Iterator[None]:
    # Nobody else's business.
    with patch.dict(device.RANDOMIZERS), patch.dict(device.DOMAINS), patch.dict(catalog._CATALOG._kinds):
        device.register("DIGITS", digits)
        extend.register(DIGITS)
        yield


def scheme_of(*weights: int, domain_size: int = 9, oracle: str = "DE") -> DIGITS:
    oracles = [plausibly.make(oracle, epsilon=1, domain_size=3) for _ in range(2)]
    made = plausibly.make("DIGITS", oracles=oracles, weights=weights or None, domain_size=domain_size)
    assert isinstance(made, DIGITS)
    return made


def test_a_list_of_schemes_goes_through_json() -> None:
    scheme = scheme_of(2, 5)
    assert plausibly.from_json(scheme.to_json()) == scheme
    assert [each.name for each in scheme.oracles] == ["DE", "DE"]
    assert len(device.load(scheme.to_json()).privatize(7)) == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda given: given["oracles"].append(7),
        lambda given: given["oracles"].append({}),
        lambda given: given["oracles"].clear(),
        lambda given: given["oracles"].append([given["oracles"][0]]),
        lambda given: given["oracles"][0].update(keep="1"),
        lambda given: given.update(oracles=given["oracles"][0]),
        lambda given: given.update(oracles="DE"),
    ],
)
def test_a_wrong_list_is_refused_by_both_sides(change: Callable[[Any], None]) -> None:
    given = scheme_of().to_dict()
    change(given)
    with pytest.raises(ParameterError):
        plausibly.from_json(json.dumps(given))
    with pytest.raises(device.DeviceError):
        device.load(json.dumps(given))


def test_lists_of_schemes_are_bounded_on_a_device() -> None:
    given = scheme_of().to_dict()
    given["oracles"] *= 129
    with pytest.raises(device.DeviceError, match="oracles: expected 1 to 256 schemes"):
        device.load(json.dumps(given))


def test_nested_lists_end_as_a_message() -> None:
    text = '{"scheme":"DIGITS","oracles":[' * 5000 + "]}" * 5000
    with pytest.raises(ParameterError):
        plausibly.from_json(text)


def test_groups_within_groups_are_refused() -> None:
    inner = scheme_of()
    with pytest.raises(ParameterError, match=r"oracles: expected a scheme|expected an oracle"):
        plausibly.make("DIGITS", oracles=[inner, inner], domain_size=9)
    given = scheme_of().to_dict()
    given["oracles"][0] = inner.to_dict()
    with pytest.raises(device.DeviceError, match="expected an oracle, got a scheme whose users are in groups"):
        device.load(json.dumps(given))


def test_parts_need_an_oracle_with_room() -> None:
    small = plausibly.make("DE", epsilon=1, domain_size=2)
    with pytest.raises(ParameterError, match="expected a scheme with a domain_size of at least the 3 of digit 0"):
        plausibly.make("DIGITS", oracles=[small, small], domain_size=9)
    with pytest.raises(ParameterError, match="oracles: expected a list of schemes, got one with str in it"):
        plausibly.make("DIGITS", oracles=["DE", "DE"], domain_size=9)
    with pytest.raises(ParameterError, match="oracles: expected a list of 1 to 256 schemes"):
        plausibly.make("DIGITS", oracles=[], domain_size=9)


def test_digits_are_those_of_the_value() -> None:
    part = extend.Digit("digit", plausibly.make("DE", epsilon=1, domain_size=3), 3, 3)
    assert part.items(np.arange(9, dtype=np.uint64)).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_the_client_is_proved_on_every_domain_and_a_foreign_part_is_not() -> None:
    client: Any = scheme_of().randomizer
    assert argument_applies(client, 9)
    part = client.groups[0][0]
    part.base = 4
    assert not argument_applies(client, 9), "more items than the oracle has"
    part.base, part.step = 3, 0
    assert not argument_applies(client, 9), "an error on every value"
    part.step = 1
    assert argument_applies(client, 9)
    part.__class__ = type("Foreign", (device.Digit,), {})
    assert not argument_applies(client, 9)


def test_the_audit_weighs_groups_and_checks_any_decoder() -> None:
    certificate = audit(scheme_of(2, 5))
    assert certificate.holds
    assert (certificate.unbiased, certificate.variance_exact, certificate.moments_exact) == (True, True, False)
    assert "unbiased  to nine digits, over all coins, on 9 items" in str(certificate)


def test_a_biased_decoder_or_a_wrong_law_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    scheme = scheme_of(2, 5)
    honest: Any = scheme.estimator()
    for decoder, unbiased, variance in [
        (Last(scheme, honest.law, bent=0.01), False, True),
        (Last(scheme, scheme.oracles[0].estimator().law), True, False),
        (Last(scheme, None), True, None),
        (Last(scheme, None, bent=0.01), None, None),
    ]:
        monkeypatch.setattr(DIGITS, "estimator", lambda self, decoder=decoder: decoder)
        found = moments(scheme)
        assert (found.unbiased, found.variance) == (unbiased, variance)


def test_estimates_of_something_else_than_the_values_are_not_complete() -> None:
    tally = scheme_of().simulate([1000] * 9, SeededRandom(1))
    estimates = tally.estimate()
    assert estimates.items.tolist() == [0, 1, 2]
    assert not estimates.complete
    assert np.abs(estimates.values - 3000).max() < 6 * np.sqrt(estimates.variance).max()  # type: ignore[arg-type]
    assert tally.estimate([2]).values == estimates.values[2]


def test_no_name_is_replaced() -> None:
    device.register("DIGITS", digits)  # the same once more, as an import does
    with pytest.raises(device.DeviceError, match="DE: expected a name that is not taken"):
        device.register("DE", digits)
    with pytest.raises(device.DeviceError, match="integers: expected a name that is not taken"):
        device.register_domain("integers", device.Labels)
    other = type("DIGITS", (DIGITS,), {"__module__": "elsewhere"})
    with pytest.raises(ParameterError, match=r"name: DIGITS is already the name of .*DIGITS"):
        extend.register(other)
    with pytest.raises(ParameterError, match="expected a subclass of Scheme with a name"):
        extend.register(int)  # type: ignore[type-var]


def test_a_registered_kind_of_domain_works_on_a_device() -> None:
    class Halves(device.Integers):
        """Numbers, two to an item."""

        def encode(self, value: object) -> int:
            return super().encode(value) // 2

    device.register_domain("halves", Halves)
    given = plausibly.make("DE", epsilon=1, domain_size=4).to_dict()
    given["domain"] = {"type": "halves", "size": 4}
    assert device.load(json.dumps(given)).encode(3) == 1
