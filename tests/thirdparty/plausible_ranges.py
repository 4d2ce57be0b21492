"""RANGES, a scheme of another package: how many users lie between two values, by a hierarchy of ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

import plausibly
from plausibly import device, extend


class OrderedOnDevice:
    """Whole numbers from ``low`` to ``high``; the others count as the nearest of these."""

    listed = True
    total = True

    def __init__(self, fields: device.Fields) -> None:
        self.low = fields.whole("low", -(2**31), 2**31)
        self.items = fields.whole("high", self.low + 1, self.low + 2**31) - self.low + 1

    def encode(self, value: object) -> int:
        if type(value) is not int:
            raise device.DeviceError(f"expected a whole number, got {type(value).__name__}")
        return min(max(value - self.low, 0), self.items - 1)


def client(scheme: device.Document) -> device.Randomizer:
    """The client of RANGES: a public level, and the range of that level that the value lies in."""
    items = scheme.domain_of(OrderedOnDevice).items
    branching, oracles = scheme.whole("branching", 2, 2**16), scheme.oracles("levels")
    steps = [branching**i for i in range(len(oracles))]
    parts = [device.Digit(oracle, step, -(-items // step)) for oracle, step in zip(oracles, steps, strict=True)]
    return device.Grouped(items, parts, [(i,) for i in range(len(parts))], [1] * len(parts))


device.register_domain("ordered", OrderedOnDevice)
device.register("RANGES", client)


@extend.register_domain
@dataclass(frozen=True)
class Ordered(extend.Listable):
    """Whole numbers from ``low`` to ``high``; the others count as the nearest of these."""

    kinds = ("ordered",)
    title = "Ordered(low, high)"
    item_type = int

    low: int
    high: int

    def __post_init__(self) -> None:
        extend.whole_number("high", self.high, self.low + 1, self.low + 2**31)

    @property
    def size(self) -> int:  # type: ignore[override]
        return self.high - self.low + 1

    def encode(self, items: object) -> extend.Encoded:
        given = extend.listed(items)
        extend.refuse(np.array([type(item) is not int for item in given], dtype=bool), "expected whole numbers", given)
        return (np.clip(given, self.low, self.high) - self.low).astype(np.uint64)

    def decode(self, codes: extend.Encoded) -> extend.Items:
        return codes.astype(np.int64) + self.low

    def parse(self, texts: Sequence[str]) -> list[int]:
        wrong = [not text.removeprefix("-").isdecimal() or len(text) > 18 for text in texts]
        extend.refuse(np.array(wrong, dtype=bool), "expected whole numbers", got="another text")
        return [int(text) for text in texts]

    def describe(self) -> str:
        return f"whole numbers from {self.low} to {self.high}"

    def to_dict(self) -> dict[str, Any]:
        return {"type": "ordered", "low": self.low, "high": self.high}

    client_fields = to_dict  # devices know it


class RangesTally(extend.GroupedAccumulator):
    """The reports of RANGES."""

    scheme: RANGES

    def ranges(self, asked: Sequence[tuple[int, int]]) -> plausibly.Estimates:
        """How many users lie in each of these ranges, both ends included."""
        found = [self._range(low, high) for low, high in asked]
        names = np.array([f"{low} to {high}" for low, high in asked], dtype=object)
        values, variance = np.array(found).reshape(-1, 2).T
        return plausibly.Estimates(names, values, variance, len(self), complete=False)

    def _range(self, low: int, high: int) -> tuple[float, float]:
        value = variance = 0.0
        first, last = (int(code) for code in self.scheme.domain.encode([low, high]))
        for level, nodes in enumerate(self.scheme.cover(first, last + 1)):
            values, variances = self.estimate_part(level, np.array(nodes, dtype=np.uint64))
            value, variance = value + float(values.sum()), variance + float(np.sum(variances))
        return value, variance


@extend.register
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RANGES(extend.Grouped):
    """A hierarchy of ranges (Cormode, Kulkarni and Srivastava 2019): each user reports the range of one public level.

    ``levels`` are the oracles, the one for single values first; the ranges of each level are ``branching`` times those
    of the level before.
    Privacy: the largest of the oracles': a user reports through one of them.
    Variance: of a value, that of the first oracle, scaled up from the users of its level.
    Cost: the longest oracle's report and a byte.

    >>> oracles = [plausibly.make("OLH", epsilon=1, domain_size=d) for d in (16, 4)]
    >>> scheme = plausibly.make("RANGES", levels=oracles, domain=Ordered(0, 15))
    >>> scheme.cover(3, 12)
    [[3], [1, 2]]
    """

    name = "RANGES"
    accepts = (Ordered,)

    levels: tuple[plausibly.Scheme, ...]
    branching: int = 4

    def validate(self) -> None:
        object.__setattr__(self, "levels", extend.schemes_of("levels", self.levels))
        extend.whole_number("branching", self.branching, 2, 2**16)
        super().validate()

    @cached_property
    def parts(self) -> tuple[extend.Digit, ...]:
        steps = [self.branching**i for i in range(len(self.levels))]
        return tuple(
            extend.Digit(f"ranges of {step}", oracle, step, -(-self.size // step), role="levels")
            for oracle, step in zip(self.levels, steps, strict=True)
        )

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        return tuple((i,) for i in range(len(self.levels)))

    @property
    def group_weights(self) -> tuple[int, ...]:
        return (1,) * len(self.levels)

    @property
    def parameters(self) -> dict[str, Any]:
        return {"levels": [oracle.to_dict() for oracle in self.levels], "branching": self.branching}

    @property
    def accumulator_type(self) -> type[extend.Accumulator]:
        return RangesTally

    def estimator(self) -> extend.Decoder:
        return extend.PartDecoder(self.parts[0], 0, self.share(0), self.size)

    def cover(self, first: int, last: int) -> list[list[int]]:
        """For each level the ranges that make up the encoded values from first to last - 1."""
        found = []
        for level in range(len(self.levels)):
            whole = level == len(self.levels) - 1
            start = last if whole else min(last, -(-first // self.branching) * self.branching)
            end = start if whole else max(start, last // self.branching * self.branching)
            found.append([*range(first, start), *range(end, last)])
            first, last = start // self.branching, end // self.branching
        return found

    def shrunk(self, size: int) -> plausibly.Scheme:
        steps = [self.branching**i for i in range(len(self.levels))]
        oracles = [oracle.shrunk(max(2, -(-size // step))) for oracle, step in zip(self.levels, steps, strict=True)]
        return replace(self, domain=Ordered(0, size - 1), levels=tuple(oracles))

    @classmethod
    def examples(cls, through: Any = None, *, epsilon: Any = 1) -> dict[str, plausibly.Scheme]:
        oracles = [plausibly.make("DE", epsilon=epsilon, domain_size=d) for d in (6, 2)]
        return {"ordered": cls(levels=tuple(oracles), domain=Ordered(-2, 3), branching=3)}
