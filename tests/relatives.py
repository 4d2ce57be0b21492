"""Named documents that send more than they state, or that a careless reader would take; every client refuses them.

The first is the one that was found, and 22 of the others were taken, too; eleven were refused before, and stay here as
guards of the checks that refuse them.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from plausibly.core.probability import keep_threshold

Fields = dict[str, Any]

TINY = "1/100"
LETTERS = {"type": "strings", "alphabet": "abcdefghijklmno", "length": 2, "long": "truncate", "other": True}
BYTES = {"type": "byte strings", "alphabet": bytes(range(256)).hex(), "length": 1, "long": "truncate", "other": False}
KEYS = {"type": "keys", "hash_seed": 0}
FIVE = {"type": "integers", "size": 5}


def keep(inside: int, outside: int) -> str:
    """The largest threshold that epsilon allows, if the sizes were these."""
    return str(keep_threshold(Fraction(TINY), inside, outside))


def document(scheme: str, domain: Fields, **own: Any) -> Fields:
    return {"scheme": scheme, "version": 1, "epsilon": TINY, "domain": domain, **own}


def direct(domain: Fields, size: int = 2, **own: Any) -> Fields:
    return document("DE", domain, **{"keep": keep(1, size - 1), **own})


def response(domain: Fields, size: int, **own: Any) -> Fields:
    order = 1 << size.bit_length()
    return document("HR", domain, **{"variant": "pure", "blocks": 1, "order": order, "keep": keep(1, 1), **own})


def subset(domain: Fields, size: int, **own: Any) -> Fields:
    return document("SS", domain, **{"subset_size": 1, "keep": keep(1, size - 1), **own})


def search(oracle: Fields, domain: Fields = LETTERS) -> Fields:
    return document("PEM", domain, oracle=oracle, start=1, step=1, weights=[1] * domain["length"])


def rows(oracle: Fields, domain: Fields = FIVE) -> Fields:
    split = 2**32 if domain["type"] == "keys" else 64
    return document("CM", domain, oracle=oracle, rows=2, hash_seed=0, split=split)


def hashing(**own: Any) -> Fields:
    return document("TLH", FIVE, **{"hash_bits": 2, "item_bits": 3, "window": 1, "keep": keep(1, 3), **own})


def twice(fields: Fields, name: str, first: Any) -> str:
    """The document with a field that comes twice."""
    return json.dumps({name: first})[:-1] + ", " + json.dumps(fields)[1:]


RELATIVES: dict[str, Fields | str] = {
    # The document that was found: the encoder returns numbers up to 16^2, the randomizer believes in two items.
    "DE over strings that state a size": direct({**LETTERS, "other": False, "size": 2}),
    "DE over any strings that state a size": direct({**LETTERS, "size": 2}),
    "DE over byte strings that state a size": direct({**BYTES, "size": 2}),
    "DE over keys that state a size": direct({**KEYS, "size": 2}),
    "DE over labels that state a size": direct({"type": "labels", "labels": list("abcde"), "other": True, "size": 2}),
    "DE over strings": direct(LETTERS, 256),
    "DE over keys": direct(KEYS, 2**32),
    "SS over strings that state a size": subset({**LETTERS, "size": 9}, 9),
    "SS over byte strings that state a size": subset({**BYTES, "size": 9}, 9),
    "HR over strings that state a size": response({**LETTERS, "size": 3}, 3),
    "HR over keys that state a size": response({**KEYS, "size": 3}, 3),
    "HR with an order for fewer items": response(FIVE, 5, order=4),
    "HR with an order that is no power of two": response(FIVE, 5, order=6),
    "HR with blocks that are no power of two": response(FIVE, 5, variant="block", blocks=3, order=4, keep=keep(1, 5)),
    "OUE over strings that state a size": document("OUE", {**LETTERS, "size": 2}, keep=str(2**63), flip=keep(1, 1)),
    "HM over strings that state a size": document("HM", {**LETTERS, "size": 2}, coefficients=1, keep=keep(1, 1)),
    "AGR in a space of fewer points than items": document(
        "AGR", FIVE, hash_bits=2, dimension=1, window=1, keep=keep(1, 3)
    ),
    "a search through DE over strings": search(direct({**LETTERS, "size": 2})),
    "a search through DE over keys that state a size": search(direct({**KEYS, "size": 2})),
    "a search through DE with too few items": search(direct({"type": "integers", "size": 17}, 17)),
    "a search through HR over keys that state a size": search(response({**KEYS, "size": 3}, 3)),
    "a round through DE with too few items": document(
        "ROUND", LETTERS, oracle=direct(FIVE, 5), prefixes=["a"], stem=1, reach=2
    ),
    "a search through a search": search(search(direct(FIVE, 5))),
    "a sketch over DE over strings that state a size": rows(direct({**LETTERS, "size": 2})),
    "a sketch over keys that state a size": rows(direct(FIVE, 5), {**KEYS, "size": 9}),
    "hash bits of 2.9": hashing(hash_bits=2.9),
    "hash bits as text with spaces and an underscore": hashing(hash_bits=" 1_0 ", window=1, keep=keep(1, 1023)),
    "hash bits that are true": hashing(hash_bits=True, keep=keep(1, 1)),
    "item bits for fewer items": hashing(item_bits=2),
    "a threshold as a number": direct(FIVE, 5, keep=int(keep(1, 4))),
    "a threshold in other digits": direct(FIVE, 5, keep=keep(1, 4).translate({48 + i: 0x0660 + i for i in range(10)})),
    "an epsilon that comes twice": twice(direct(FIVE, 5, epsilon="8", keep=str(2**63)), "epsilon", TINY),
    "a domain that comes twice": twice(direct(FIVE, 5), "domain", {"type": "integers", "size": 2}),
    "a field that nobody reads": direct(FIVE, 5, sizes=2),
}


# Why each is refused, as the Python client says it. A document that is refused for another reason tests nothing.
REASONS: dict[str, str] = {
    "DE over strings that state a size": "domain: expected no further fields, got 1 more",
    "DE over any strings that state a size": "domain: expected no further fields, got 1 more",
    "DE over byte strings that state a size": "domain: expected no further fields, got 1 more",
    "DE over keys that state a size": "domain: expected no further fields, got 1 more",
    "DE over labels that state a size": "domain: expected no further fields, got 1 more",
    "DE over strings": "domain: DE expects integers or labels",
    "DE over keys": "domain: DE expects integers or labels",
    "SS over strings that state a size": "domain: expected no further fields, got 1 more",
    "SS over byte strings that state a size": "domain: expected no further fields, got 1 more",
    "HR over strings that state a size": "domain: expected no further fields, got 1 more",
    "HR over keys that state a size": "domain: expected no further fields, got 1 more",
    "HR with an order for fewer items": "order: expected 8,",
    "HR with an order that is no power of two": "order: expected 8,",
    "HR with blocks that are no power of two": "blocks: expected a power of two, and at most 2^32 rows in all",
    "OUE over strings that state a size": "domain: expected no further fields, got 1 more",
    "HM over strings that state a size": "domain: expected no further fields, got 1 more",
    "AGR in a space of fewer points than items": "dimension: expected a space with a point for every item",
    "a search through DE over strings": "domain: expected no further fields, got 1 more",
    "a search through DE over keys that state a size": "domain: expected no further fields, got 1 more",
    "a search through DE with too few items": "oracle: expected Keys(), or an item for everything it is asked about",
    "a search through HR over keys that state a size": "domain: expected no further fields, got 1 more",
    "a round through DE with too few items": "oracle: expected Keys(), or an item for everything it is asked about",
    "a search through a search": "oracle: expected an oracle over integers or keys",
    "a sketch over DE over strings that state a size": "domain: expected no further fields, got 1 more",
    "a sketch over keys that state a size": "domain: expected no further fields, got 1 more",
    "hash bits of 2.9": "hash_bits: expected a whole number, got float",
    "hash bits as text with spaces and an underscore": "hash_bits: expected a whole number, got str",
    "hash bits that are true": "hash_bits: expected a whole number, got bool",
    "item bits for fewer items": "item_bits: expected 3,",
    "a threshold as a number": "keep: expected text, got int",
    "a threshold in other digits": "keep: expected decimal digits as text, got another text",
    "an epsilon that comes twice": "the scheme is not valid JSON",
    "a domain that comes twice": "the scheme is not valid JSON",
    "a field that nobody reads": "scheme: expected no further fields, got 1 more",
}
