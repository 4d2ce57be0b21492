"""PAIR, a scheme of another package: two attributes of a user, one of which is reported, by a public choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import plausibly
from plausibly import device, extend


class PairsOnDevice:
    """Two texts with a slash between them, each from its list; both lists end with what stands for all others."""

    listed = True
    total = True

    def __init__(self, fields: device.Fields) -> None:
        self.first, self.second = fields.texts("first"), fields.texts("second")
        self.items = len(self.first) * len(self.second)
        if min(len(self.first), len(self.second)) < 2:
            raise device.DeviceError("first, second: expected at least two texts each")

    def encode(self, value: object) -> int:
        if type(value) is not str:
            raise device.DeviceError(f"expected two texts with a slash between them, got {type(value).__name__}")
        one, _, other = value.partition("/")
        return _place(self.first, one) * len(self.second) + _place(self.second, other)


def _place(texts: Any, text: str) -> int:
    return texts.index(text) if text in texts else len(texts) - 1


def client(scheme: device.Document) -> device.Randomizer:
    """The client of PAIR."""
    domain = scheme.domain_of(PairsOnDevice)
    parts = [
        device.Digit(scheme.oracle("first"), len(domain.second), len(domain.first)),
        device.Digit(scheme.oracle("second"), 1, len(domain.second)),
    ]
    return device.Grouped(domain.items, parts, [(0,), (1,)], scheme.wholes("weights", 1, 2**32 - 1))


device.register_domain("pairs", PairsOnDevice)
device.register("PAIR", client)


@extend.register_domain
@dataclass(frozen=True)
class Pairs(extend.Listable):
    """Two texts with a slash between them, each from its list; both lists end with what stands for all others."""

    kinds = ("pairs",)
    title = "Pairs(first, second)"

    first: tuple[str, ...]
    second: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in ("first", "second"):
            object.__setattr__(self, name, tuple(getattr(self, name)))  # JSON has lists
            extend.whole_number(f"{name}: number of texts", len(set(getattr(self, name))), 2, 2**16)

    @property
    def size(self) -> int:  # type: ignore[override]
        return len(self.first) * len(self.second)

    def encode(self, items: object) -> extend.Encoded:
        given = extend.listed(items)
        extend.refuse(np.array([type(item) is not str for item in given], dtype=bool), "expected texts", given)
        parts = [item.partition("/") for item in given]
        codes = [_place(self.first, one) * len(self.second) + _place(self.second, other) for one, _, other in parts]
        return np.array(codes, dtype=np.uint64)

    def decode(self, codes: extend.Encoded) -> extend.Items:
        pairs = [divmod(int(code), len(self.second)) for code in codes]
        return np.array([f"{self.first[one]}/{self.second[other]}" for one, other in pairs], dtype=object)

    def describe(self) -> str:
        return f"pairs of one of {len(self.first)} and one of {len(self.second)} texts"

    def to_dict(self) -> dict[str, Any]:
        return {"type": "pairs", "first": list(self.first), "second": list(self.second)}

    client_fields = to_dict  # devices know it


@dataclass(frozen=True)
class Attributes:
    """Counts of the texts of both lists, each from the users who report that attribute."""

    scheme: PAIR
    law = None  # each attribute has its own
    history = ()

    def scores(self, evidence: Any, n: Any, codes: Any) -> Any:
        found = [
            part.scheme.estimator().scores(own.evidence, own.numbers, np.arange(part.base, dtype=np.uint64))
            for part, own in zip(self.scheme.parts, evidence, strict=True)
        ]
        return np.concatenate(found)[slice(None) if codes is None else codes]

    def estimate(self, evidence: Any, n: Any, codes: Any) -> Any:
        chosen = slice(None) if codes is None else codes
        found = []
        for number, part in enumerate(self.scheme.parts):
            share, items = float(self.scheme.share(number)), np.arange(part.base, dtype=np.uint64)
            found.append(extend.scaled_up(part.scheme.estimator(), evidence[number], items, share))
        values, variance = (np.concatenate(column) for column in zip(*found, strict=True))
        return values[chosen], variance[chosen]


@extend.register
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PAIR(extend.Grouped):
    """Two attributes, of which a user reports one, through ``first`` or ``second``: a public coin with ``weights``.

    Privacy: the larger of the two oracles': a user reports through one of them.
    Variance: that of the attribute's oracle, scaled up from its users.
    Cost: the longer oracle's report and a byte.
    """

    name = "PAIR"
    accepts = (Pairs,)

    first: plausibly.Scheme
    second: plausibly.Scheme
    weights: tuple[int, int] | None = None

    def validate(self) -> None:
        super().validate()
        object.__setattr__(self, "weights", self.group_weights)

    @cached_property
    def parts(self) -> tuple[extend.Digit, ...]:
        one, other = len(self.domain.first), len(self.domain.second)  # type: ignore[attr-defined]
        return (
            extend.Digit("the first attribute", self.first, other, one, role="first"),
            extend.Digit("the second attribute", self.second, 1, other, role="second"),
        )

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        return ((0,), (1,))

    @property
    def group_weights(self) -> tuple[int, ...]:
        return extend.weights_of(self.weights, 2, (1, 1))

    @property
    def parameters(self) -> dict[str, Any]:
        oracles = {"first": self.first.to_dict(), "second": self.second.to_dict()}
        return {**oracles, "weights": list(self.group_weights)}

    @cached_property
    def answers(self) -> plausibly.Labels:  # type: ignore[override]
        domain: Any = self.domain
        return plausibly.Labels((*(f"first={x}" for x in domain.first), *(f"second={x}" for x in domain.second)))

    def counts_towards(self, value: int, answer: int) -> bool:
        one, other = (part.base for part in self.parts)
        return value // other == answer if answer < one else value % other == answer - one

    def estimator(self) -> extend.Decoder:
        return Attributes(self)

    @classmethod
    def examples(cls, through: Any = None, *, epsilon: Any = 1) -> Mapping[str, plausibly.Scheme]:  # type: ignore[override]
        oracles = [plausibly.make("DE", epsilon=epsilon, domain_size=d) for d in (2, 3)]
        return {
            "pairs": cls(first=oracles[0], second=oracles[1], weights=(1, 2), domain=Pairs(("a", "b"), ("x", "y", "z")))
        }
