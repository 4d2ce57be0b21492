"""Writes the vectors of normalizing: `PYTHONPATH=tests python -m vectors.normalized`. Nothing comes from the package.

texts     steps, text -> the text after them (docs/adr/0026)
schemes   JSON fields of schemes whose domains normalize; all else refers by number
vectors   scheme, value, tape (words as decimal text) -> record
broken    domains that every client and the library must refuse, each within a scheme
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import naive_client as naive
from naive_client import Fields
from vectors.generate import Crafted, in_lines, words

PATH = Path(__file__).parent / "normalizing" / "vectors.json"
ALL = ["nfc", "lower", "strip"]
STEPS = [["nfc"], ["lower"], ["strip"], ["nfc", "lower"], ["nfc", "strip"], ["lower", "strip"], ALL]

SPACES = "".join(map(chr, naive.SPACES))
# Characters of Unicode 14.0 and older only: the naive client normalizes them with whatever Python runs it.
TEXTS = [
    "", " ", "Dog", " Dog\t", "DOG", "a b", "other", f"{SPACES}a{SPACES}b{SPACES}", SPACES, "\ufeffid",
    # Not spaces: zero width space and joiner, Mongolian separator, word joiner, escape, zero.
    "\u200ba\u200b", "\u200da", "\u180ea", "a\u2060", "\x1ba", "a\0", "\0",
    # Capitals: with a dot, without, sharp s, sigma at the end, digraphs in title case, signs, other scripts.
    "I\u0130\u0131i", "\u0130STANBUL", "STRASSE stra\xdfe STRA\u1e9eE", "\u039f\u0394\u039f\u03a3 \u03c2\u03c3",
    "\u01c4\u01c5\u01c6", "\u212a\u212b\u2126", "\u13a0\uab70\u13f8", "\u1c90\u10d0\u10a0", "\U00010400\U0001e900",
    "\u2160\u24b6\uff21", "\u1f88\u1fbc", "\u0405\u0490\u04c0", "\ua7d0\u2c2f\U00010570",
    # Accents apart and together, in order and not; letters whose capital has no code point with the accent.
    "e\u0301", "\xe9", "E\u0301", "\u0301e", "q\u0307\u0323", "q\u0323\u0307", "a\u0323\u0301", "H\u0331", "\u1e96",
    "J\u030c", "\u03aa\u0301", "\u0390", "I\u0307", "\u0130\u0301", "a\u0344", "<\u0338", "1\u0301", " \u0301a",
    "\u212b\u0301", "\u1e9b\u0323", "\u017f\u0307",
    # Hangul, Indic vowels, exclusions, ideographs, music.
    "\u1100\u1161\u11a8", "\uac00\u11a8", "\uac01\u11a8", "\u1100\u1161\u1161", "\u09c7\u09be", "\u0bc6\u0bbe",
    "\u0958", "\u0915\u093c", "\u304b\u3099", "\uf900", "\ufa70", "\ufb1d", "\u2adc", "\U0001d15e", "\U0002f800",
    "\U000110a5\U000110ba", "\u2000\u2001", "\u037e\u0387", "\ufb01", "\xbd", "\U0001f989", "\ue000", "\uffff",
    "\U0010ffff", "\ufffd", "\u4e2d\u6587", "e\u0301" * 60, "e" + "\u0301\u0323" * 63 + "\u0301",
]  # fmt: skip
# Whatever Unicode has added since: inert. And runs that are longer than any language has them, and halves of pairs.
LATER = [
    (["nfc"], "a\u0897\u0323", "a\u0897\u0323"),  # Unicode 16.0 moves the dot to the letter
    (["nfc"], "e\u0897\u0301", "e\u0897\u0301"),
    (["nfc"], "e\u0301\u0897", "\xe9\u0897"),
    (["nfc"], "e\u0323\u0301\u0ece\u0323\u0301", "\u1eb9\u0301\u0ece\u0323\u0301"),
    (["nfc"], "\U0001611e\U0001611e", "\U0001611e\U0001611e"),  # Unicode 16.0 composes them
    (["nfc"], "\U00016d67\U00016d67", "\U00016d67\U00016d67"),
    (["lower"], "\ua7cb\u1c89\U00010d50A", "\ua7cb\u1c89\U00010d50a"),  # capitals since Unicode 16.0
    (["lower"], "\ua7ce\ua7d2\ua7d4", "\ua7ce\ua7d2\ua7d4"),  # since Unicode 17.0
    (["lower"], "\u019b\u0264", "\u019b\u0264"),
    (ALL, "\u0378 A\u0378e\u0301 ", "\u0378 a\u0378\xe9"),  # not a character yet
    (["nfc"], "e" + "\u0301\u0323" * 64, "e" + "\u0301\u0323" * 64),
    (["nfc"], "e\u0301 e" + "\u0301\u0323" * 64 + " e\u0301", "\xe9 e" + "\u0301\u0323" * 64 + " \xe9"),
    (ALL, "\ud800E\u0301", "\ud800\xe9"),
    (ALL, "E\u0301\udfff ", "\xe9\udfff"),
]

LABELS = ["dog", "caf\xe9", "", "a b", "istanbul", "\u01f0"]
VALUES = [
    "dog", "Dog", " DOG\u3000", "\ufeffdog", "cafe\u0301", "CAFE\u0301 ", "CAF\xc9", " ", "A B", "A  B",
    "\u0130stanbul", "I\u0307STANBUL", "J\u030c", "nothing", "OTHER", "other", "hello world", "a b c d", "dog\0",
    "cafe\u0301s\u0301 ",
]  # fmt: skip


def labels(steps: list[str], **changes: Any) -> Fields:
    return {"type": "labels", "labels": LABELS, "other": True, "normalize": steps} | changes


def keys(steps: list[str], **changes: Any) -> Fields:
    return {"type": "keys", "hash_seed": 7, "normalize": steps} | changes


def strings(steps: list[str], **changes: Any) -> Fields:
    alphabet = "abcdefghijklmnopqrstuvwxyz\xe9 "
    fields = {"type": "strings", "alphabet": alphabet, "length": 6, "long": "truncate", "other": True}
    return fields | {"normalize": steps} | changes


def schemes() -> Iterator[Fields]:
    """Schemes over every kind of domain that normalizes, by one step and by several."""
    yield naive.scheme_of("DE", "3", labels(ALL))
    yield naive.scheme_of("OLH", "2", labels(["lower"]))
    yield naive.scheme_of("OLH", "3", keys(ALL))
    yield naive.scheme_of("FLH", "1", keys(["strip"]), hashes=5, hash_seed=3)
    for steps in (ALL, ["nfc", "lower"]):
        oracle = naive.scheme_of("OLH", "2", {"type": "keys", "hash_seed": 1})
        yield naive.scheme_of("PEM", "2", strings(steps), oracle=oracle, start=2, step=2, weights=[1, 1, 1])


def vectors(listed: list[Fields]) -> Iterator[Fields]:
    """An honest and a random record of every value."""
    for number, scheme in enumerate(listed):
        fill = words(f"normalizing/{number}")
        for value in VALUES:
            for honest in (True, False):
                tape = Crafted(fill, {}, honest=honest)
                record = naive.record(scheme, value, tape).hex()
                written = [str(word) for word in tape.words]
                yield {"scheme": number, "value": value, "tape": written, "record": record}


def broken() -> Iterator[Fields]:
    """Documents whose domain is wrong."""
    for why, steps in {
        "no step": [],
        "an unknown step": ["casefold"],
        "a step in capitals": ["NFC"],
        "a step that the length does": ["nfc", "truncate"],
        "a step twice": ["lower", "lower"],
        "another order": ["strip", "lower"],
        "the order of the command line": ["lower", "nfc"],
        "a text": "lower",
        "several steps in a text": ["nfc,lower"],
        "a number": 1,
        "a truth value": True,
        "nothing": None,
        "an object": {"lower": True},
        "numbers": [0],
        "a list in a list": [["lower"]],
        "a step beside a number": ["lower", 1],
        "half of a pair": ["\ud800"],
    }.items():
        yield {"why": why, "fields": _over(labels(["lower"], normalize=steps))}
        yield {"why": why, "fields": _over(keys(["lower"], normalize=steps))}
        yield {"why": why, "fields": _over(strings(["lower"], normalize=steps))}
    yield {"why": "integers", "fields": _over({"type": "integers", "size": 9, "normalize": ["lower"]})}
    in_bytes = {"type": "byte strings", "alphabet": "6162", "length": 2, "long": "truncate", "other": False}
    yield {"why": "bytes", "fields": _over(in_bytes | {"normalize": ["lower"]})}
    for why, label in {"a capital": "Dog", "a space": "dog ", "an accent apart": "e\u0301", "a sign": "\u212b"}.items():
        yield {"why": f"a label with {why}", "fields": _over(labels(ALL, labels=["a", label]))}
    yield {"why": "labels that become equal", "fields": _over(labels(["lower"], labels=["dog", "Dog"]))}
    yield {"why": "an alphabet with a capital", "fields": _over(strings(ALL, alphabet="aB"))}
    yield {"why": "an alphabet with a sign", "fields": _over(strings(["nfc"], alphabet="a\u212b"))}
    inner = naive.scheme_of("OLH", "2", keys(["lower"]))
    scheme = naive.scheme_of("PEM", "2", strings(ALL), oracle=inner, start=2, step=2, weights=[1, 1, 1])
    yield {"why": "an oracle that normalizes", "fields": scheme}


def _over(domain: Fields) -> Fields:
    # The honest scheme of this kind of domain, with the broken one in its place.
    if domain["type"] == "integers":
        return naive.scheme_of("DE", "1", {"type": "integers", "size": 9}) | {"domain": domain}
    if domain["type"] == "labels":
        return naive.scheme_of("DE", "1", labels(["lower"], labels=domain["labels"])) | {"domain": domain}
    if domain["type"] == "keys":
        return naive.scheme_of("OLH", "1", keys(["lower"])) | {"domain": domain}
    oracle = naive.scheme_of("OLH", "2", {"type": "keys", "hash_seed": 1})
    parts = {"oracle": oracle, "start": 2, "step": 2, "weights": [1] * -(-domain["length"] // 2)}
    return naive.scheme_of("PEM", "2", {**domain, "normalize": ["lower"]}, **parts) | {"domain": domain}


def contents() -> dict[str, list[Fields]]:
    """Everything in the file."""
    texts = [{"steps": s, "text": t, "normalized": naive.normalized(t, s)} for s in STEPS for t in TEXTS]
    texts += [{"steps": steps, "text": text, "normalized": then} for steps, text, then in LATER]
    listed = list(schemes())
    return {"texts": texts, "schemes": listed, "vectors": list(vectors(listed)), "broken": list(broken())}


def text_of() -> str:
    """The text of the file."""
    return in_lines(contents())


if __name__ == "__main__":
    PATH.write_text(text_of(), encoding="utf-8")
