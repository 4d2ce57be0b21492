"""The part of the vectors that belongs to schemes with a memo: settings, users with keys, what must be refused."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import shake_256
from typing import Any

import naive_client as naive
from naive_client import Fields

SERIES = ["theme", "Zürich 🦉", "two\nlines", "x" * 200]
"""Names of questions: beyond ASCII, with the separator, and longer than a block of the hash."""


def settings(name: str, small: Fields, listed: list[Fields]) -> Iterator[tuple[str, Fields, Fields]]:
    """Epsilon, domain and own parameters of the schemes of a file; ``small`` is broken in many ways."""
    pairs = [("1", "2"), ("1", "11/10"), ("1/10", "8"), ("3", "4"), ("2", "20"), ("1/2", "1")]
    sizes = [2, 5, 16, 31, 64, 100]
    for (epsilon, lasting), size in zip(pairs, sizes, strict=True):
        yield epsilon, {"type": "integers", "size": size}, {"memo_epsilon": lasting}
    for domain in listed:
        yield "1", domain, {"memo_epsilon": "3"}
    yield "2", {"type": "integers", "size": 257}, {"memo_epsilon": "5/2"}
    if name == "LOLOHA":
        for bits in range(1, 9):
            yield "1", {"type": "integers", "size": 70_000}, {"memo_epsilon": "2", "hash_bits": bits}
    yield "1/2", small, {"memo_epsilon": "2"}


def users(schemes: list[Fields], values: Any) -> Iterator[Fields]:
    """Users with keys who report a few times: key, series, value, and the words of the answer -> record."""
    for number, scheme in enumerate(schemes):
        if scheme["scheme"] != "LOLOHA" and naive.size_of(scheme["domain"]) > 64:
            continue
        for i, value in enumerate(values(scheme["domain"])[:4]):
            key = shake_256(f"plausibly vectors/{scheme['scheme']}/key/{i % 2}".encode()).digest(32)
            fill = shake_256(f"plausibly vectors/{scheme['scheme']}/{number}/answer/{i}".encode()).digest(8 * 70)
            tape = naive.Tape(int.from_bytes(fill[j : j + 8], "little") for j in range(0, len(fill), 8))
            series = SERIES[(number + i) % len(SERIES)]
            record = naive.remembered_record(scheme, key, series, value, tape)
            words = [str(word) for word in tape.words]
            known = {"key": key.hex(), "series": series}
            yield {"scheme": number, "memo": known, "value": value, "tape": words, "record": record.hex()}


def broken_schemes(scheme: Fields) -> Iterator[tuple[str, bool, Fields]]:
    """Why, whether a client must refuse, and the fields: memos that are too faithful, or none."""

    def changed(why: str, client: bool, **fields: Any) -> tuple[str, bool, Fields]:
        return why, client, {**scheme, **fields}

    def without(field: str) -> tuple[str, bool, Fields]:
        return f"no {field}", True, {key: value for key, value in scheme.items() if key != field}

    keep = int(scheme["memo_keep"])
    # Two thresholds may each leave a step to the other; five steps of one are too many.
    yield changed("a memo more faithful than its epsilon allows", True, memo_keep=str(keep + 5))
    yield changed("a memo less faithful than its epsilon allows", False, memo_keep=str(keep - 1))
    yield changed("the memo's epsilon lowered after its thresholds were made", True, memo_epsilon="3/2")
    yield changed("the memo's epsilon raised after its thresholds were made", False, memo_epsilon="3")
    for wrong in ("0", "-2", "nan", "2.0", "4/2", "2000", "", None, 2, 1.5):
        yield changed("an epsilon of the memo that is none", True, memo_epsilon=wrong)
    fields = ["memo_keep"] if scheme["scheme"] == "LOLOHA" else ["memo_keep", "memo_flip"]
    for field in fields:
        for threshold in ("0", str(naive.N), "most", None, int(scheme[field])):
            yield changed("a threshold of the memo that is none", True, **{field: threshold})
    for field in [*fields, "memo_epsilon"]:
        yield without(field)
    if scheme["scheme"] == "LOLOHA":
        yield changed("a hash bit more", True, hash_bits=scheme["hash_bits"] + 1)
        for bits in (0, 9, str(scheme["hash_bits"]), None):
            yield changed("a number of hash bits that is none", True, hash_bits=bits)
        yield without("hash_bits")
    else:
        flip = int(scheme["memo_flip"])
        yield changed("other bits of the memo too rarely set", True, memo_flip=str(flip - 5))
        yield changed("other bits of the memo set more often", False, memo_flip=str(flip + 1))
