"""The part of the vectors that belongs to HH and HAAR: their settings, and what must be refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import naive_client as naive
from naive_client import Fields
from vectors.slides import AGES, BINS, DATES, TIMES, integers


def settings(name: str) -> Iterator[tuple[str, Fields, Fields]]:
    """Epsilon, domain and own parameters: few and many blocks, one level and many, all kinds of order."""
    own: list[Fields] = [{"branching": base} for base in (2, 3, 5, 2**16, 16)] if name == "HH" else [{}] * 5
    yield "1", integers(9), {}
    yield "3", AGES, own[0]
    yield "1", integers(80), own[1]
    yield "2", integers(2), {}
    yield "1/10", BINS, own[2]
    yield "5", DATES, {}
    yield "1", TIMES, own[0]
    yield "2", integers(70_000), {}
    yield "8", integers(70_000), own[3]
    yield "20", integers(64), {}
    yield "1", integers(2**20), own[4]
    yield "2", integers(5), {**own[0], "weights": [1, 2**32 - 1, 7]}
    # The last one is broken in many ways.
    yield "1/2", integers(9), {"weights": [2, 3] if name == "HH" else [2, 3, 4, 5]}


def broken_schemes(scheme: Fields) -> Iterator[tuple[str, bool, Fields]]:
    """Why, whether a client must refuse, and the fields: numbers of blocks, weights and oracles that are wrong."""

    def changed(why: str, client: bool, **fields: Any) -> tuple[str, bool, Fields]:
        return why, client, {**scheme, **fields}

    epsilon, (first, *rest) = scheme["epsilon"], scheme["oracles"]
    tree, count = scheme["scheme"] == "HH", len(rest)
    for field in ("weights", "oracles", *["branching"] * tree):
        yield f"no {field}", True, {key: value for key, value in scheme.items() if key != field}
        for wrong in (None, {}, "one", 7.5):
            yield changed(f"{field} of the wrong type", True, **{field: wrong})
    for branching in (0, 1, 2, 5, 9, -2, 2**16 + 1, "4", True) if tree else ():
        yield changed("a branching that does not fit the oracles", True, branching=branching)
    yield changed("no weights", True, weights=[])
    yield changed("a weight too few", True, weights=[1] * count)
    for weights in ([0], [2**32], [-1], ["1"], [True], [None], [1, 1]):
        yield changed("weights that are none", True, weights=[*weights, *[1] * count])
    for oracles in ([], [first], [first, *rest, rest[-1]], [first, *rest[1:], None], [{}, *rest], [scheme, *rest]):
        yield changed("oracles that are none", True, oracles=oracles)
    for part, other in _others(epsilon, tree).items():
        yield changed(f"an oracle over {part}", True, oracles=[other, *rest])
    keep = int(first["keep"])
    yield changed("a threshold one step too high", True, oracles=[{**first, "keep": str(keep + 1)}, *rest])
    yield changed("a threshold one step too low", False, oracles=[{**first, "keep": str(keep - 1)}, *rest])
    yield changed("an oracle of another version", True, oracles=[{**first, "version": 2}, *rest])
    yield changed("an unknown field of an oracle", True, oracles=[{**first, "colour": "blue"}, *rest])
    own = {} if tree else {"coefficients": 1}
    for another, refused in (("4/7", True), ("1/3", False)):
        other = naive.scheme_of(first["scheme"], another, first["domain"], **own)
        yield changed("an oracle of another epsilon", refused, oracles=[other, *rest])
    # Sound for its user, but not what the scheme is defined with; only HM takes signs.
    yield changed("another oracle", not tree, oracles=[naive.scheme_of("DE", epsilon, first["domain"]), *rest])
    if not tree:
        more = naive.scheme_of("HM", epsilon, first["domain"], coefficients=2)
        yield changed("more coefficients", False, oracles=[more, *rest])


def _others(epsilon: str, tree: bool) -> dict[str, Fields]:
    size = 9 if tree else 8
    small = naive.scheme_of("DE", epsilon, integers(4))
    labels = {"type": "labels", "labels": list("abcdefghi")[:size], "other": False}
    kind, own = ("SS", {}) if tree else ("HM", {"coefficients": 1})
    return {
        "a sketch": naive.scheme_of("CM", epsilon, integers(size), oracle=small, rows=2),
        "keys": naive.scheme_of("OLH", epsilon, {"type": "keys", "hash_seed": 0}),
        "labels": naive.scheme_of(kind, epsilon, labels, **own),
        "too few blocks": naive.scheme_of(kind, epsilon, integers(size - 2), **own),
        "too many blocks": naive.scheme_of(kind, epsilon, integers(2 * size), **own),
    }
