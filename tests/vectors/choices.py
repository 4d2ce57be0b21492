"""Writes the vectors of lists of items: `PYTHONPATH=tests python -m vectors.choices`. Nothing comes from the package.

schemes   JSON fields of schemes over any number of listed items; all else refers by number
vectors   scheme, value, tape (words as decimal text) -> record
refused   scheme, value: values that every client must refuse
broken    domains that every client and the library must refuse, each within a scheme
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import naive_client as naive
from naive_client import Fields
from vectors.generate import Crafted, in_lines, words

PATH = Path(__file__).parent / "chosen" / "vectors.json"

# Names that trip a client which looks them up in a JavaScript object.
APPS = ["__proto__", "Maps", "Zürich 🦉", "constructor", "0"]
MANY = [f"item {i}" for i in range(62)]


def choices(items: list[str], other: bool = False) -> Fields:
    """The domain of any number of these items."""
    return {"type": "choices", "items": items, "other": other}


def schemes() -> Iterator[Fields]:
    """Schemes with few and many items, with an item for others and without."""
    for other in (False, True):
        yield naive.scheme_of("CLIQUE", "2", choices(APPS, other), cliques=2)
        yield naive.scheme_of("CLIQUE", "3", choices(APPS, other), cliques=3)
        yield naive.scheme_of("SMP", "1", choices(["a", "b"], other))
        yield naive.scheme_of("SPL", "4", choices(APPS[:3], other))
        yield naive.scheme_of("CLIQUE", "1", choices(MANY, other), cliques=1)
    yield naive.scheme_of("CLIQUE", "1", choices(["only"], True), cliques=2)


def values_of(domain: Fields) -> list[Any]:
    """Lists worth trying: none, all, single ones, in another order, with repetitions, and not on the list."""
    items = domain["items"]
    lists = [[], items, items[:1], items[-1:], items[::-2], [*items, *items]]
    return [*lists, ["Sudoku"], ["other", items[0]], [items[0], ""]] if domain["other"] else lists


def vectors(listed: list[Fields]) -> Iterator[Fields]:
    """An honest and a random record of every value."""
    for number, scheme in enumerate(listed):
        fill = words(f"choices/{number}")
        for value in values_of(scheme["domain"]):
            for honest in (True, False):
                tape = Crafted(fill, {}, honest=honest)
                record = naive.record(scheme, value, tape).hex()
                written = [str(word) for word in tape.words]
                yield {"scheme": number, "value": value, "tape": written, "record": record}


def refused(listed: list[Fields]) -> Iterator[Fields]:
    """Values that are no lists of texts, and items that are not on a list without others."""
    for number, scheme in enumerate(listed):
        first, other = scheme["domain"]["items"][0], scheme["domain"]["other"]
        wrong: list[Any] = [None, first, 1, True, {}, {first: True}, {"bytes": "61"}]
        wrong += [[1], [None], [[first]], [first, True]]
        for value in wrong if other else [*wrong, ["Sudoku"], [first, ""], [first.upper() + "x"]]:
            yield {"scheme": number, "value": value}


def broken() -> Iterator[Fields]:
    """Documents whose domain is wrong."""
    good = choices(["a", "b", "c"])
    for why, changes in (
        ("no items", {"items": None}),
        ("no word about others", {"other": None}),
        ("items in a text", {"items": "abc"}),
        ("items in an object", {"items": {"a": 1, "b": 2, "c": 3}}),
        ("an item twice", {"items": ["a", "b", "b"]}),
        ("an item that is a number", {"items": ["a", "b", 3]}),
        ("an item that is nothing", {"items": ["a", "b", None]}),
        ("an empty item", {"items": ["a", "b", ""]}),
        ("an item without a UTF-8 form", {"items": ["a", "b", "\ud800"]}),
        ("other is a number", {"other": 1}),
        ("an item for others twice", {"items": ["a", "other"], "other": True}),
        ("another number of items", {"items": ["a", "b"]}),
        ("one item", {"items": ["a"]}),
        ("no item", {"items": []}),
        ("too many items", {"items": [f"item {i}" for i in range(64)]}),
        ("attributes", {"attributes": []}),
        ("steps", {"normalize": ["lower"]}),
        ("a size", {"size": 8}),
    ):
        made = {name: value for name, value in (good | changes).items() if value is not None}
        yield {"why": why, "fields": naive.scheme_of("CLIQUE", "1", good, cliques=3) | {"domain": made}}
    nested = {"name": "apps", "domain": good, "missing": False}
    plain = {"name": "plan", "domain": {"type": "integers", "size": 2}, "missing": False}
    within = {"type": "table", "attributes": [nested, plain]}
    yield {"why": "a list within a table", "fields": naive.scheme_of("SMP", "1", good) | {"domain": within}}


def contents() -> dict[str, list[Fields]]:
    """Everything in the file."""
    listed = list(schemes())
    sections = {"schemes": listed, "vectors": list(vectors(listed)), "refused": list(refused(listed))}
    return sections | {"broken": list(broken())}


def text_of() -> str:
    """The text of the file."""
    return in_lines(contents())


if __name__ == "__main__":
    PATH.write_text(text_of(), encoding="utf-8")
