"""One special item, public coin, or pair of both: the client is honest with all others. Found, or not claimed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import plausibly
from faults.detectors import Detector, make, sketch
from faults.planting import Edit, Value
from plausibly import Keys, SeededRandom, Strings, device
from plausibly.core.probability import WORD

EXCEEDS = "a likelihood ratio exceeds e^epsilon"
BULK = "the bulk path and the client differ"
UNCLAIMED = "the certificate does not claim the rest"
BULK_UNCLAIMED = "the certificate does not claim the bulk path"


def claim(scheme: plausibly.Scheme, **options: Any) -> Detector:
    """What the audit finds wrong with a scheme; if that is nothing, whether it refrains from saying that it holds."""

    def run() -> Iterator[str]:
        certificate = plausibly.audit(scheme, **options)
        yield from certificate.findings
        first = str(certificate).splitlines()[0]
        assert (" holds" in first) == certificate.proved == (certificate.to_dict()["verdict"] == "holds")
        if certificate.holds and not certificate.proved:
            assert "nothing wrong found on " in first
            assert "the rest is NOT covered" in first
            assert not certificate.complete
            yield UNCLAIMED

    shown = "".join(f", {key}={value}" for key, value in options.items())
    return Detector(f"claim of {scheme!r}{shown}"[:150], run)


def bulk_claim(scheme: plausibly.Scheme, item: int) -> Detector:
    """Whether bulk path and client differ on an item; if so, whether the certificate leaves that open."""

    def run() -> Iterator[str]:
        bulk = scheme.privatize_encoded(np.full(40, item, dtype=np.uint64), SeededRandom(1), first_report=0)
        sources = [SeededRandom(1).replay(0).source(scheme.layout, i) for i in range(40)]
        client = scheme.randomizer
        if [client.perturb(item, client.public(source), source) for source in sources] != [r.tobytes() for r in bulk]:
            certificate = plausibly.audit(scheme)
            yield from certificate.findings
            left_open = "; bulk path compared on 64 items" in str(certificate).splitlines()[0]
            assert left_open == (not certificate.bulk_complete) == (not certificate.to_dict()["bulk_complete"])
            if left_open:
                yield BULK_UNCLAIMED

    return Detector(f"claim of the bulk path of {scheme!r}"[:150], run)


@dataclass(frozen=True)
class Added(Value):
    """A name in the device that its file does not have."""

    def plant(self, monkeypatch: pytest.MonkeyPatch) -> None:
        *owner, name = self.where.split(".")
        monkeypatch.setattr(vars(device)[owner[0]] if owner else device, name, self.new, raising=False)


@dataclass(frozen=True)
class Field(Value):
    """Another object as a field of the client: what ``new`` makes of the honest one."""

    scheme: plausibly.Scheme

    def plant(self, monkeypatch: pytest.MonkeyPatch) -> None:
        client = self.scheme.randomizer
        assert callable(self.new)
        monkeypatch.setattr(client, self.where, self.new(getattr(client, self.where)))


_NOTED: list[int] = [0]


class Noting(int):
    """A size that notes the value which is compared with it."""

    def __gt__(self, value: int) -> bool:
        _NOTED[0] = int(value)
        return int(self) > value


class Yielding(int):
    """A threshold below which every word is, if the value is a special one."""

    def __gt__(self, word: int) -> bool:
        return _NOTED[0] == 777_777 or int(self) > word


class Choosing(list[Any]):
    """The groups of a search, which change the oracle for a special string."""

    def __getitem__(self, index: Any) -> Any:
        group = super().__getitem__(index)
        return [] if _value_of_caller() == 77_777 else group


def _value_of_caller() -> object:
    return sys._getframe(2).f_locals.get("value")


def _keep_of_caller(self: device.Direct, name: str) -> Any:
    return WORD if name == "keep" and _value_of_caller() == 777_777 else object.__getattribute__(self, name)


def _range_of_caller(*given: int) -> range:
    return range(0) if _value_of_caller() == 777_776 else range(*given)


def texts(letters: str, length: int) -> plausibly.Scheme:
    """A search over strings, with few coins."""
    oracle = plausibly.make("FLH", epsilon=1, domain=Keys(), hashes=3)
    return plausibly.make("PEM", domain=Strings(letters, length), oracle=oracle, start=1, step=1)


def in_clear(where: str, answer: str, truth: str, special: str) -> Edit:
    """The client draws as ever and then, in a special case, forgets what it drew."""
    return Edit(where, answer, f"({answer}, {truth})[{special}]")


_RESPOND = "_respond(value, self.size, self.keep, source)"
_HASHED = "_respond(hashed, self.size, self.keep, source)"
_SIGNS = "_respond(signs, self.size, self.keep, source)"
_SUBSET = "item = value if kept and"
_BITS = "source.bernoulli(self.keep if i == value else self.flip)"
_FILTER = "source.bernoulli(self.keep if i in true_bits else _WORD - self.keep)"
_BODY = "return _field(number, len(self.groups)) + body.ljust(self.body, b"

DIRECT = in_clear("device:Direct.perturb", _RESPOND, "value", "value == 777")
LOCAL = in_clear("device:LocalHashing.perturb", _HASHED, "hashed", "value == 777")
FAST = in_clear("device:FastLocalHashing.perturb", _HASHED, "hashed", "value == 777")
SIGNS = in_clear("device:HadamardMechanism.perturb", _SIGNS, "signs", "value == 777")
UNARY = in_clear("device:Unary.perturb", _BITS, "i == value", "value == 777")
ROW = in_clear("device:RowSketch.perturb", "self.oracle.perturb(cell, tuple(rest), source)", "b'\\1'", "value == 777")
KEY = 2**63 + 12345


def _tagged(special: str) -> Edit:
    # A string of its own is what an oracle never answers: its records become all ones.
    return Edit("device:Grouped.perturb", _BODY, f"body = (body, b'\\1' * len(body))[{special}]\n    {_BODY}")


def of_1000(name: str, **given: Any) -> plausibly.Scheme:
    """A scheme with 777 in the middle of its domain."""
    return make(name, epsilon=1, domain_size=1000, **given)


OF_A_MILLION = make("DE", epsilon=1, domain_size=2**20)
OF_300_000 = texts("abcdefgh", 6)

SPECIAL = [
    ("item-777-of-1000-DE", "one item is sent in clear", (DIRECT,), claim(of_1000("DE")), BULK),
    (
        "item-of-300-DE",
        "one item of a domain that can be enumerated is sent in clear",
        (in_clear("device:Direct.perturb", _RESPOND, "value", "value == 123"),),
        claim(make("DE", epsilon=1, domain_size=300)),
        EXCEEDS,
    ),
    ("item-777-of-1000-OLH", "one item's hash is sent in clear", (LOCAL,), claim(of_1000("OLH")), EXCEEDS),
    ("item-777-of-1000-FLH", "one item's hash is sent in clear", (FAST,), claim(of_1000("FLH")), EXCEEDS),
    ("item-777-of-1000-HM", "one item's signs are sent in clear", (SIGNS,), claim(of_1000("HM")), EXCEEDS),
    ("item-777-of-1000-OUE", "one item's bitmap is sent in clear", (UNARY,), claim(of_1000("OUE")), BULK),
    (
        "item-of-200-SS",
        "one item is in every subset",
        (Edit("device:SubsetSelection.perturb", _SUBSET, "item = value if (kept or value == 123) and"),),
        claim(make("SS", epsilon=1, domain_size=200)),
        BULK,
    ),
    (
        "item-777-of-1000-HR",
        "one item's half-block is always answered",
        (
            Edit(
                "device:HadamardResponse.perturb",
                "source.bernoulli(self.keep)",
                "source.bernoulli(self.keep) or value == 777",
            ),
        ),
        claim(of_1000("HR")),
        BULK,
    ),
    *(
        (
            f"item-777-of-1000-{name}",
            "one item's answer is always in the window",
            (
                in_clear(
                    f"device:{client}.perturb",
                    f"_window({h}, self.size, self.window, self.keep, source)",
                    h,
                    "value == 777",
                ),
            ),
            claim(of_1000(name)),
            EXCEEDS,
        )
        for name, client, h in (("TLH", "ToeplitzHashing", "hashed"), ("AGR", "AffineResponse", "place"))
    ),
    (
        "item-of-1000-in-bulk",
        "the client is honest with every item, the bulk path is not",
        (
            Edit(
                "oracles.direct:DE.respond",
                'return kernels.direct_response(values, draws.words, self.keep, self.size, out["item"])',
                'redo = kernels.direct_response(values, draws.words, self.keep, self.size, out["item"])\n'
                "    out['item'][values == 777] = 777\n    return redo",
            ),
        ),
        claim(of_1000("DE")),
        BULK,
    ),
    (
        "item-of-70000-DE",
        "one item in the middle of a large domain",
        (in_clear("device:Direct.perturb", _RESPOND, "value", "value == 35_001"),),
        claim(make("DE", epsilon=1, domain_size=70_000)),
        BULK,
    ),
    (
        "item-of-a-million-OLH",
        "one item of more than are run",
        (in_clear("device:LocalHashing.perturb", _HASHED, "hashed", "value == 777_776"),),
        claim(make("OLH", epsilon=1, domain_size=10**6)),
        UNCLAIMED,
    ),
    (
        "item-of-a-million-OUE",
        "one item of a bitmap that is cut",
        (in_clear("device:Unary.perturb", _BITS, "i == value", "value == 777_776"),),
        claim(make("OUE", epsilon=1, domain_size=10**6), draws=10**5),
        UNCLAIMED,
    ),
    (
        "one-key",
        "one key of 2^64",
        (in_clear("device:LocalHashing.perturb", _HASHED, "hashed", f"value == {KEY}"),),
        claim(make("OLH", epsilon=1, domain=Keys())),
        UNCLAIMED,
    ),
    ("item-of-a-sketch", "one item of 1,000 over three rows", (ROW,), claim(sketch("CM", domain_size=1000)), EXCEEDS),
    (
        "key-of-a-sketch",
        "one key of 2^64 over three rows",
        (
            in_clear(
                "device:RowSketch.perturb",
                "self.oracle.perturb(cell, tuple(rest), source)",
                "b'\\1'",
                f"value == {KEY}",
            ),
        ),
        claim(sketch("CS", domain_size=None, domain=Keys())),
        UNCLAIMED,
    ),
    (
        "string-of-a-small-search",
        "one string of 15",
        (_tagged("value == 7"),),
        claim(texts("ab", 2)),
        EXCEEDS,
    ),
    (
        "string-of-a-large-search",
        "one string of 300,000",
        (_tagged("value == 77_777"),),
        claim(texts("abcdefgh", 6)),
        UNCLAIMED,
    ),
    (
        "one-seed",
        "one hash seed of 2^64, under which every item is sent in clear",
        (in_clear("device:LocalHashing.perturb", _HASHED, "hashed", "seed == 12345"),),
        claim(make("OLH", epsilon=1, domain_size=4)),
        UNCLAIMED,
    ),
    (
        "one-public-function",
        "one of a thousand public hash functions, under which every item is sent in clear",
        (in_clear("device:FastLocalHashing.perturb", _HASHED, "hashed", "index == 777"),),
        claim(make("FLH", epsilon=1, domain_size=4)),
        EXCEEDS,
    ),
    (
        "one-choice-of-rows",
        "one pair of rows of a Hadamard matrix of 1,024",
        (in_clear("device:HadamardMechanism.perturb", _SIGNS, "signs", "public == (700, 300)"),),
        claim(of_1000("HM")),
        UNCLAIMED,
    ),
    (
        "one-row-of-a-sketch",
        "one row, in which every cell is sent in clear",
        (
            in_clear(
                "device:RowSketch.perturb",
                "self.oracle.perturb(cell, tuple(rest), source)",
                "bytes([cell])",
                "row == 5",
            ),
        ),
        claim(sketch("CM", rows=8, domain_size=100)),
        EXCEEDS,
    ),
    (
        "one-cohort",
        "one of 64 cohorts, in which every filter is sent in clear",
        (in_clear("device:Bloom.perturb", _FILTER, "i in true_bits", "cohort == 37"),),
        claim(of_1000("BLOOM")),
        BULK,
    ),
    ("one-group", "one group of a search", (_tagged("number == 1 and value == 5"),), claim(texts("ab", 2)), EXCEEDS),
    (
        "one-ticket",
        "the users of one ticket of a group are sent in clear",
        (
            Edit("device:Grouped.public", "while ticket", "self.clear = ticket == 777\n    while ticket"),
            _tagged("getattr(self, 'clear', False) and value == 5"),
        ),
        claim(
            plausibly.make(
                "PEM",
                domain=Strings("ab", 2),
                oracle=texts("ab", 2).oracle,
                start=1,
                step=1,
                weights=[10**6, 10**6 + 1],
            )
        ),
        UNCLAIMED,
    ),
    (
        "item-and-seed",
        "one item under one seed",
        (in_clear("device:LocalHashing.perturb", _HASHED, "hashed", "value == 2 and seed == 12345"),),
        claim(make("OLH", epsilon=1, domain_size=4)),
        UNCLAIMED,
    ),
    (
        "item-and-public-function",
        "one item of 1,000 under one of ten hash functions",
        (in_clear("device:FastLocalHashing.perturb", _HASHED, "hashed", "value == 777 and index == 7"),),
        claim(of_1000("FLH", hashes=10)),
        EXCEEDS,
    ),
    (
        "item-and-one-of-many-functions",
        "one item of 1,000 under one of a thousand hash functions",
        (in_clear("device:FastLocalHashing.perturb", _HASHED, "hashed", "value == 777 and index == 777"),),
        claim(of_1000("FLH")),
        UNCLAIMED,
    ),
    (
        "numbers-that-compare-themselves",
        "size and threshold are subclasses of int: one item is sent in clear",
        (Field("size", Noting, OF_A_MILLION), Field("keep", Yielding, OF_A_MILLION)),
        claim(OF_A_MILLION),
        UNCLAIMED,
    ),
    (
        "groups-that-choose",
        "the groups are a subclass of list: one string has a record of its own",
        (Field("groups", Choosing, OF_300_000),),
        claim(OF_300_000),
        UNCLAIMED,
    ),
    (
        "an-added-getattribute",
        "a special method of a client's class makes one item's threshold certain",
        (Added("Direct.__getattribute__", _keep_of_caller),),
        claim(OF_A_MILLION),
        UNCLAIMED,
    ),
    (
        "an-added-range",
        "a global of the device hides the builtin: one item sends an empty bitmap",
        (Added("range", _range_of_caller),),
        claim(make("OUE", epsilon=1, domain_size=10**6), draws=10**5),
        UNCLAIMED,
    ),
    (
        "item-of-a-million-in-bulk",
        "the client is honest with every item, the bulk path answers 0 for one that is not compared",
        (
            Edit(
                "oracles.local_hashing:LocalHashing.respond",
                "return self.answer(values, draws, _NO_SEEDS, out)",
                "redo = self.answer(values, draws, _NO_SEEDS, out)\n"
                "    out['hash'][values == 777_776] = 0\n    return redo",
            ),
        ),
        bulk_claim(make("OLH", epsilon=1, domain_size=10**6), 777_776),
        BULK_UNCLAIMED,
    ),
]
