"""The part of the vectors that belongs to SLIDE: its settings, values in order, and what must be refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import naive_client as naive
from naive_client import Fields

AGES: Fields = {"type": "whole numbers", "low": -3, "high": 20, "other": True, "unit": "years"}
BINS: Fields = {"type": "bins", "edges": [-2, *range(0, 20, 2), 25, 100]}
DATES: Fields = {"type": "dates", "first": "2024-02-20", "last": "2024-05-01", "other": True}
TIMES: Fields = {"type": "durations", "low": 0, "high": 1999, "unit": "ms", "other": True}
VALUES: dict[str, list[Any]] = {
    "whole numbers": [-3, -2, 0, 5, 11, 19, 20, -99, 99, None],
    "bins": [-2, -1, 0, 1, 9, 17, 18, 24, 25, 100, 500],
    "dates": ["2024-02-20", "2024-02-29", "2024-03-31", "2024-04-30", "2024-05-01", "2025-01-01", "", None],
    "durations": [0, 1, 500, 999, 1000, 1998, 1999, 10**6, None],
}


def integers(size: int) -> Fields:
    return {"type": "integers", "size": size}


def settings() -> Iterator[tuple[str, Fields, Fields]]:
    """Epsilon, domain and own parameters of SLIDE: few and many blocks, offsets a step apart, all kinds of order."""
    yield "1", integers(9), {}
    yield "3", AGES, {}
    yield "1", integers(80), {}
    yield "2", integers(2), {}
    yield "1/10", BINS, {}
    yield "5", DATES, {}
    # More than 256 offsets would be: the last widths move in steps of 2 and 3.
    yield "1", TIMES, {}
    yield "2", integers(70_000), {}
    yield "8", integers(3000), {"widths": [1, 256, 258, 768], "weights": [1, 2**32 - 1, 7, 3]}
    yield "20", integers(64), {"widths": [1, 2, 3, 32]}
    yield "1", integers(2**20), {}
    yield "2", integers(5), {"widths": [1, 2], "weights": [1, 1]}
    yield "1/2", integers(9), {"weights": [2, 3]}


def values_of(domain: Fields) -> list[Any]:
    """Values worth trying: both ends, beyond them, and missing ones where there is an item for others."""
    return [value for value in VALUES[domain["type"]] if value not in (None, "") or domain.get("other", False)]


def broken_values(domain: Fields) -> list[Any]:
    """Values that no client may randomize."""
    wrong: list[Any] = [True, [5], {}, {"bytes": "61"}]
    return wrong if domain.get("other", False) else [*wrong, None, "other"]


def broken_schemes(scheme: Fields) -> Iterator[tuple[str, bool, Fields]]:
    """Why, whether a client must refuse, and the fields: widths, weights and oracles that are wrong."""

    def changed(why: str, client: bool, **fields: Any) -> tuple[str, bool, Fields]:
        return why, client, {**scheme, **fields}

    for field in ("length", "widths", "weights", "oracles"):
        yield f"no {field}", True, {key: value for key, value in scheme.items() if key != field}
        for wrong in (None, {}, "one", 7.5):
            yield changed(f"{field} of the wrong type", True, **{field: wrong})
    for length in (0, 1, 7, 8, 10, "9", True):
        yield changed("a length that is not the domain's", True, length=length)
    for widths in ([], [1], [1, 2, 3], [0, 2], [1, -2], [1, 10], [1, "2"], [1, True], [1, None], [[1], [2]]):
        yield changed("widths that are none", True, widths=widths)
    yield changed("widths of other oracles", True, widths=[1, 4])
    yield changed("widths in another order", True, widths=[2, 1])
    for weights in ([], [1], [1, 1, 1], [0, 1], [1, 2**32], [-1, 2], ["1", "1"], [True, 1], [None, None]):
        yield changed("weights that are none", True, weights=weights)
    first, second = scheme["oracles"]
    for oracles in (
        [],
        [first],
        [first, second, second],
        [second, first],
        [first, None],
        [first, {}],
        [scheme, second],
    ):
        yield changed("oracles that are none", True, oracles=oracles)
    for part, size in (("a sketch", 9), ("keys", 0), ("labels", 9), ("another number of blocks", 8)):
        yield changed(f"an oracle over {part}", True, oracles=[_other(scheme["epsilon"], part, size), second])
    keep = int(first["keep"])
    yield changed("a threshold one step too high", True, oracles=[{**first, "keep": str(keep + 1)}, second])
    yield changed("a threshold one step too low", False, oracles=[{**first, "keep": str(keep - 1)}, second])
    yield changed("an oracle of another version", True, oracles=[{**first, "version": 2}, second])
    yield changed("an unknown field of an oracle", True, oracles=[{**first, "colour": "blue"}, second])
    for epsilon, refused in (("4/7", True), ("1/3", False)):
        other = naive.scheme_of("SS", epsilon, integers(9))
        yield changed("an oracle of another epsilon", refused, oracles=[other, second])
    # Sound for its user, but not what the scheme is defined with.
    yield changed("another oracle", False, oracles=[naive.scheme_of("DE", scheme["epsilon"], integers(9)), second])


def _other(epsilon: str, part: str, size: int) -> Fields:
    if part == "keys":
        return naive.scheme_of("OLH", epsilon, {"type": "keys", "hash_seed": 0})
    if part == "labels":
        return naive.scheme_of("SS", epsilon, {"type": "labels", "labels": list("abcdefghi"), "other": False})
    if part == "a sketch":
        oracle = naive.scheme_of("DE", epsilon, integers(4))
        return naive.scheme_of("CM", epsilon, integers(size), oracle=oracle, rows=2)
    return naive.scheme_of("SS", epsilon, integers(size))
