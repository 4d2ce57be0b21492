"""The part of the vectors that belongs to CLIQUE, SMP and SPL: their settings, records, and what must be refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import naive_client as naive
from naive_client import Fields
from vectors.slides import AGES, integers


def attribute(name: str, domain: Fields, missing: bool = False) -> Fields:
    return {"name": name, "domain": domain, "missing": missing}


def labels(*names: str, other: bool = False) -> Fields:
    return {"type": "labels", "labels": list(names), "other": other}


def numbers(*sizes: int) -> Fields:
    """A table of attributes that are plain numbers."""
    return {"type": "table", "attributes": [attribute(f"q{i}", integers(size)) for i, size in enumerate(sizes)]}


# Names that trip a client which looks them up in a JavaScript object, and every kind of attribute.
SURVEY: Fields = {
    "type": "table",
    "attributes": [
        attribute("__proto__", labels("Firefox", "Chrome", other=True), True),
        attribute("constructor", labels("dark", "light"), True),
        attribute("Zürich 🦉", AGES),
        attribute("plan", integers(2), True),
    ],
}
RECORDS: list[Any] = [
    ["Firefox", "dark", 5, 0],
    ["Lynx", "light", -99, 1],
    [None, None, None, None],
    ["Chrome", None, 20, 1],
    {"plan": None, "Zürich 🦉": 11, "constructor": "light", "__proto__": "other"},
]


SMALL = numbers(3, 3, 2)


def settings(name: str) -> Iterator[tuple[str, Fields, Fields]]:
    """Epsilon, domain and own parameters: few and many cells, several sizes of sets, all kinds of attributes."""
    sets: list[Fields] = [{}] * 6
    if name == "CLIQUE":
        sets = [{"cliques": own} for own in (2, 3, 1, [[0, 1, 2], [1, 3], [2]], [[0, 1]], 4)]
        sets[3] |= {"weights": [1, 2**32 - 1, 7]}
    yield "1", numbers(2, 3, 4), sets[0]
    yield "3", SURVEY, sets[0]
    yield "2", numbers(2, 2, 2, 2), sets[1]
    yield "1/10", numbers(9, 8), sets[2]
    yield "8", numbers(2, 3, 70, 5), sets[3]
    yield "1", numbers(300, 2000), sets[4]
    yield "20", numbers(2, 2, 2, 5), sets[5]
    yield "5", numbers(*[2] * 63), sets[2]
    # The last one is broken in many ways.
    yield "1/2", SMALL, sets[0]


def values_of(domain: Fields) -> list[Any]:
    """Records worth trying: both ends of every attribute, and missing values where there is a cell for them."""
    if domain == SURVEY:
        return RECORDS
    sizes = [naive.attribute_size(one) for one in domain["attributes"]]
    names = [one["name"] for one in domain["attributes"]]
    lists = [[(size - 1) * (i >> j & 1) for j, size in enumerate(sizes)] for i in range(5)]
    lists.append([size // 2 for size in sizes])
    return [*lists, dict(zip(reversed(names), reversed(lists[-1]), strict=True))]


def broken_values(domain: Fields) -> list[Any]:
    """Records that no client may randomize."""
    good = values_of(domain)[0]
    named = dict(zip([one["name"] for one in domain["attributes"]], good, strict=True))
    fewer, more = dict(list(named.items())[1:]), named | {"colour": 1}
    wrong: list[Any] = [None, 5, "a", True, [], {}, good[1:], [*good, 0], [good], fewer, more, fewer | {"colour": 1}]
    for value in (1.5, True, [0], {"bytes": "61"}, -1 if isinstance(good[0], int) else 7):
        wrong.append([value, *good[1:]])
    return wrong if domain["attributes"][0]["missing"] else [*wrong, [None, *good[1:]]]


def broken_schemes(scheme: Fields) -> Iterator[tuple[str, bool, Fields]]:
    """Why, whether a client must refuse, and the fields: attributes, sets, weights and oracles that are wrong."""

    def changed(why: str, client: bool, **fields: Any) -> tuple[str, bool, Fields]:
        return why, client, {**scheme, **fields}

    def table(*attributes: Any) -> Fields:
        return {"type": "table", "attributes": list(attributes)}

    own, parts = ["cliques", "weights"] * (scheme["scheme"] == "CLIQUE"), scheme["oracles"]
    for field in (*own, "oracles"):
        yield f"no {field}", True, {key: value for key, value in scheme.items() if key != field}
        for wrong in (None, {}, "one", 7.5, []):
            yield changed(f"{field} that are none", True, **{field: wrong})
    if own:
        for sets in (
            [[]],
            [[0, 3]],
            [[1, 0], [0, 2], [1, 2]],
            [[0, 0], [1, 2]],
            [[-1, 0]],
            [["0"]],
            [[True]],
            [0, 1, 2],
        ):
            yield changed("sets that are none", True, cliques=sets)
        yield changed("a set too few", True, cliques=scheme["cliques"][1:])
        for weights in (
            [1],
            [1, 1, 1, 1],
            [0, 1, 1],
            [1, 1, 2**32],
            [-1, 2, 1],
            ["1", 1, 1],
            [True, 1, 1],
            [None, 1, 1],
        ):
            yield changed("weights that are none", True, weights=weights)
    first, last = parts[0], parts[-1]
    for oracles in ([first], [*parts, last], [*parts, None], [{}, *parts[1:]], [scheme, *parts[1:]]):
        yield changed("oracles that are none", True, oracles=oracles)
    wider = naive.scheme_of(first["scheme"], first["epsilon"], integers(first["domain"]["size"] + 5))
    yield changed("an oracle over other cells", True, oracles=[wider, *parts[1:]])
    yield changed("an oracle more", True, oracles=[*parts, wider])
    keep = int(first["keep"])
    yield changed("a threshold one step too high", True, oracles=[{**first, "keep": str(keep + 1)}, *parts[1:]])
    yield changed("a threshold one step too low", False, oracles=[{**first, "keep": str(keep - 1)}, *parts[1:]])
    yield changed("an oracle of another version", True, oracles=[{**first, "version": 2}, *parts[1:]])
    other = naive.scheme_of("SS", "4/7", first["domain"])
    yield changed("an oracle of a larger epsilon", True, oracles=[other, *parts[1:]])
    yield changed("the same oracles in another order", False, oracles=parts[::-1])
    small = naive.scheme_of("DE", first["epsilon"], integers(4))
    sketch = naive.scheme_of("CM", first["epsilon"], first["domain"], oracle=small, rows=2)
    yield changed("a sketch", True, oracles=[sketch, *parts[1:]])
    good, *rest = scheme["domain"]["attributes"]
    for attributes in ([], [good], [good, good, *rest[1:]], [good, *rest, None], [good, *rest, {}], [good] * 65):
        yield changed("attributes that are none", True, domain=table(*attributes))
    yield changed("attributes that are no list", True, domain={"type": "table", "attributes": {}})
    for change in ({"name": ""}, {"name": 7}, {"missing": 1}, {"missing": None}, {"colour": 1}, {"domain": {}}):
        yield changed("an attribute that is none", True, domain=table({**good, **change}, *rest))
    yield changed("an attribute without a name", True, domain=table({"domain": integers(3), "missing": False}, *rest))
    yield changed("a cell too many", True, domain=table({**good, "missing": True}, *rest))
    keys, strings = (
        {"type": "keys", "hash_seed": 0},
        {"type": "strings", "alphabet": "ab", "length": 2, "long": "refuse"},
    )
    for domain in (keys, {**strings, "other": False}, scheme["domain"]):
        yield changed(
            "an attribute whose values cannot be listed", True, domain=table({**good, "domain": domain}, *rest)
        )
    both = {"type": "whole numbers", "low": 0, "high": 1, "other": True}
    yield changed("two cells for missing values", True, domain=table(attribute("q0", both, True), *rest))
    yield changed("records beyond 64 bits", True, domain=numbers(*[3] * 41))
    yield changed("values that have no attributes", True, domain=integers(18))
