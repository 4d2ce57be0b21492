"""The part of the vectors that belongs to searches: their settings, states and what must be refused."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import naive_client as naive
from naive_client import Fields

TEXTS = {"type": "strings", "alphabet": "abc", "length": 3, "long": "truncate", "other": False}
ANY_TEXTS = {**TEXTS, "alphabet": "aé東🦉\u0301", "length": 4, "other": True}
SHORT_TEXTS = {**TEXTS, "alphabet": "ab", "length": 2, "long": "refuse"}
BYTES = {**TEXTS, "type": "byte strings", "alphabet": "00ff41"}
# More than 255 characters: symbols of two bytes.
MANY = {**TEXTS, "alphabet": "".join(chr(0x4E00 + i) for i in range(300)), "length": 5}
ONE = {**TEXTS, "alphabet": "a", "length": 1}
LONG = {**TEXTS, "alphabet": "abcdefghijklmnopqrstuvwxyz0123456789.-/", "length": 40, "other": True}

VALUES: dict[str, list[Any]] = {
    str(TEXTS): ["", "a", "c", "ab", "abc", "cba", "aaaaaa", "ccc"],
    str(ANY_TEXTS): ["", "é", "e\u0301", "🦉🦉", "東a", "z", "\0", "a\ud800", "🦉東éa!", "\u0301"],
    str(SHORT_TEXTS): ["", "a", "b", "ab", "bb"],
    str(BYTES): [b"", b"\0", b"\0\0\0", b"\xff\0A", b"A", b"\xffAAAA"],
    str(MANY): ["", "\u4e00", "\u4f2b\u4e01", "\u4e00" * 5, "\u4eff" * 9],
    str(ONE): ["", "a", "aa"],
    str(LONG): ["", "example.org/a-long-path/", "x" * 40, "y" * 99, "UPPER", "Zürich"],
}


def keyed(scheme: str, epsilon: str, seed: int = 0, **own: Any) -> Fields:
    """An oracle over keys, as plausibly.make is told of it."""
    return {"scheme": scheme, "epsilon": epsilon, "keys": seed, **own}


def listed(scheme: str, epsilon: str, size: int, **own: Any) -> Fields:
    """An oracle over integers."""
    return {"scheme": scheme, "epsilon": epsilon, "domain_size": size, **own}


def sketched(scheme: str, hash_seed: int, oracle: Fields, **own: Any) -> Fields:
    """A sketch over keys, which has its privacy from its oracle."""
    return {"scheme": scheme, "keys": hash_seed, "oracle": oracle, **own}


FLH = {"hashes": 5, "hash_seed": 2**60}
BITMAP = {"bits": 12, "hashes": 2, "cohorts": 3}


def settings(name: str, split: str = "budget") -> Iterator[tuple[str, Fields, Fields]]:
    """Epsilon, domain and own parameters of the searches of a file: oracles of all kinds, and all kinds of strings."""
    if name in OF_THEIR_OWN:
        for domain, own in OF_THEIR_OWN[name]():
            parts = [part for field, part in own.items() if field in naive.PARTS]
            yield str(max(Fraction(epsilon_of(part)) for part in parts)), domain, own
        return
    pairs = [
        (TEXTS, keyed("FLH", "1", **FLH), listed("DE", "1", 64)),
        (ANY_TEXTS, keyed("OLH", "2", 7), keyed("FLH", "1/2", 2**64 - 1, **FLH)),
        (BYTES, keyed("TLH", "1", 3), keyed("BLH", "3")),
        (SHORT_TEXTS, listed("OUE", "1", 40), listed("SUE", "2", 40)),
        (MANY, keyed("OLH", "3"), keyed("TLH", "3", hash_bits=4, window=3)),
        (LONG, sketched("CM", 5, listed("HR", "2", 30), rows=300), sketched("CS", 0, listed("OLH", "1", 16), rows=2)),
        (TEXTS, listed("HM", "2", 64, coefficients=2), listed("SS", "1", 70, subset_size=2)),
        (SHORT_TEXTS, {**keyed("BLOOM", "2"), **BITMAP}, {**keyed("BLOOM", "2"), **BITMAP}),
        (BYTES, listed("AGR", "2", 64, hash_bits=2, window=2), sketched("CM", 1, listed("DE", "1", 8), rows=3)),
        (TEXTS, listed("DE", "1/2", 64), listed("DE", "1/2", 64)),
    ]
    for i, (domain, oracle, word_oracle) in enumerate(pairs):
        own: Fields = {"oracle": oracle} | ({"word_oracle": word_oracle} if name != "PEM" else {})
        if name in ("PEM", "TH"):
            own |= {"start": 1, "step": 1 + i % 2 * (i < 9)} if i % 3 < 2 or name == "TH" else {}
            own |= {"start": 2, "step": 9} if domain is LONG else {}
        else:
            own |= {"fragment": 1 + i % 2 * (i < 9)} if name == "SFP" else {}
            own |= {"hash_bits": 1} | ({"hash_seed": 2**64 - 1 - i} if i % 2 else {})
            own |= {"hash_bits": 16} if domain in (ANY_TEXTS, MANY) else {}
        if i % 4 == 1 and name in ("PEM", "BITSTOGRAM"):
            groups = len(range(own["start"], domain["length"], own["step"])) if name == "PEM" else domain["length"]
            own["weights"] = [1 + 7 * j for j in range(groups)] + [2**32 - 1]
        if split != "budget":
            own |= {"split": split} | ({"word_oracle": None} if split == "none" else {})
        epsilons = [Fraction(epsilon_of(part)) for part in (oracle, word_oracle)]
        together = {"PEM": epsilons[0], "BITSTOGRAM": max(epsilons)}.get(name, sum(epsilons))
        together = {"users": max(epsilons), "none": epsilons[0]}.get(split, together)
        yield str(together), domain, own


def trellis_settings() -> Iterator[tuple[Fields, Fields]]:
    """Domain and own parameters of TRELLIS: with and without pairs and folds, blocks that fill a table or do not."""
    tlh, de = (lambda size: listed("TLH", "1", size)), (lambda size: listed("DE", "1/2", size))
    olh = lambda size: listed("OLH", "3", size)  # noqa: E731
    start = {"start": 1, "step": 1}
    own: Fields = {"letters": listed("SS", "1", 4, subset_size=1), "first": tlh(4), "folded": tlh(8), "deep": tlh(4)}
    yield TEXTS, {**own, **start, "pairs": tlh(16), "weights": list(range(1, 11))}
    own = {"letters": listed("HR", "2", 7), "first": listed("HM", "1", 49, coefficients=2), "folded": tlh(256)}
    yield ANY_TEXTS, {**own, "start": 2, "cohorts": 3, "hash_seed": 2**64 - 1, "weights": [2**32 - 1] * 8}
    own = {
        "letters": listed("BLH", "2", 5),
        "first": listed("AGR", "1", 16, hash_bits=2),
        "folded": listed("HR", "2", 64),
    }
    yield BYTES, {**own, "start": 2, "step": 3, "cohorts": 1, "hash_seed": 5, "weights": [3, 1, 4, 1, 5]}
    # Nothing is folded where the first prefix is the whole string.
    own = {"letters": listed("DE", "1", 3), "pairs": listed("OLH", "2", 9), "first": listed("DE", "2", 9)}
    yield SHORT_TEXTS, {**own, "start": 2, "weights": [1, 1, 2, 9]}
    own = {"letters": olh(301), "pairs": olh(301**2), "first": olh(301), "folded": olh(2**20), "deep": olh(2**12)}
    yield MANY, {**own, **start, "cohorts": 1, "hash_seed": 1, "weights": list(range(14, 0, -1))}
    yield ONE, {"letters": de(2), "first": tlh(2), **start, "weights": [1, 1]}
    own = {"letters": listed("OUE", "1", 4), "first": listed("OUE", "2", 4), "folded": listed("OUE", "1", 8)}
    yield TEXTS, {**own, **start, "weights": [1] * 8}
    own = {"letters": de(64), "pairs": de(64), "first": de(64), "folded": de(64), "deep": de(64)}
    yield TEXTS, {**own, **start, "weights": [1] * 10}


def round_settings() -> Iterator[tuple[Fields, Fields]]:
    """Domain and own parameters of ROUND: no prefix yet, several, short ones, and of all kinds of characters."""
    yield TEXTS, {"oracle": listed("TLH", "1", 17), "prefixes": [""], "stem": 0, "reach": 2}
    # Those of shorter strings, and twice the same.
    short = {"prefixes": ["ca", "a", "", "ab", "a"], "stem": 2, "reach": 3}
    yield TEXTS, {"oracle": listed("DE", "1", 17), **short}
    every = {"prefixes": ["🦉", "é", "\N{REPLACEMENT CHARACTER}", ""], "stem": 1, "reach": 3}
    yield ANY_TEXTS, {"oracle": listed("OLH", "2", 200), **every}
    yield BYTES, {"oracle": listed("SS", "2", 33, subset_size=2), "prefixes": ["ff", "00"], "stem": 1, "reach": 3}
    yield SHORT_TEXTS, {"oracle": listed("OUE", "1", 4), "prefixes": ["b"], "stem": 1, "reach": 2}
    many = {"prefixes": ["\u4e00" * 3, "\u4f2b\u4e01", "\u4eff" * 3], "stem": 3, "reach": 4}
    yield MANY, {"oracle": listed("TLH", "3", 1000), **many}
    long = {"prefixes": ["example.org/a-long-path/", "x" * 24, "y" * 24], "stem": 24, "reach": 25}
    yield LONG, {"oracle": listed("HR", "2", 124), **long}
    yield ONE, {"oracle": listed("BLH", "2", 3), "prefixes": [""], "stem": 0, "reach": 1}
    yield BYTES, {"oracle": listed("AGR", "1", 64, hash_bits=2, window=2), "prefixes": [""], "stem": 0, "reach": 2}
    yield TEXTS, {"oracle": listed("DE", "1/2", 64), "prefixes": ["a", "c"], "stem": 1, "reach": 2}


OF_THEIR_OWN = {"TRELLIS": trellis_settings, "ROUND": round_settings}
"""Searches whose oracles are over as many integers as there is to ask about."""


def epsilon_of(part: Fields) -> str:
    """The privacy of a part, be it its oracle's."""
    return epsilon_of(part["oracle"]) if "oracle" in part else part["epsilon"]


def part_fields(given: Fields) -> Fields:
    """The JSON fields of a part, of which only the parameters are given."""
    own = {key: value for key, value in given.items() if key not in ("scheme", "epsilon", "keys", "domain_size")}
    if "oracle" in own:
        own["oracle"] = part_fields(own["oracle"])
    domain = {"type": "integers", "size": given.get("domain_size")}
    if "keys" in given:
        domain = {"type": "keys", "hash_seed": naive.written_integer(given["keys"])}
    return naive.scheme_of(given["scheme"], epsilon_of(given), domain, **own)


def words_of(scheme: Fields) -> int:
    """Words of one report, repeats aside."""
    groups = naive.groups_of(scheme)
    return 1 + max(sum(naive.shape_of(part["oracle"])[1] for part in group) for group in groups)


def by_part(scheme: Fields, records: list[bytes]) -> tuple[list[int], list[tuple[Fields, list[bytes]]]]:
    """The users of each group, and the records of each part: the groups' first ones, then the one that all share."""
    groups = naive.groups_of(scheme)
    head = naive.field_size(len(groups))
    if scheme["scheme"] == "SPL":
        sizes = [naive.shape_of(part["oracle"])[2] for part in groups[0]]
        starts = [head + sum(sizes[:i]) for i in range(len(sizes))]
        cuts = list(zip(groups[0], starts, sizes, strict=True))
        return [len(records)], [(part["oracle"], [r[a : a + size] for r in records]) for part, a, size in cuts]
    users = [0] * len(groups)
    firsts: list[list[bytes]] = [[] for _ in groups]
    shared: list[bytes] = []
    for r in records:
        number = int.from_bytes(r[:head], "little")
        users[number] += 1
        first, *second = groups[number]
        end = head + naive.shape_of(first["oracle"])[2]
        firsts[number].append(r[head:end])
        for part in second:
            shared.append(r[end : end + naive.shape_of(part["oracle"])[2]])
    found = [(group[0]["oracle"], own) for group, own in zip(groups, firsts, strict=True)]
    return users, found + ([(groups[0][1]["oracle"], shared)] if len(groups[0]) > 1 else [])


# --- what must be refused ------------------------------------------------------------------------------------------


def broken_values(domain: Fields) -> list[Any]:
    """Values that no client may randomize."""
    text = domain["type"] == "strings"
    wrong: list[Any] = [None, 1.5, True, 5, ["a"], {}, {"bytes": "61"} if text else "a"]
    if text and not domain["other"]:
        wrong += ["z", *["a\0"] * (domain["length"] > 1), "\0", "A", "\ud800", "🦉"]
    if not text:
        wrong += [{"bytes": "42"}, {"bytes": "0001"}]
    if domain["long"] == "refuse":
        wrong += ["a" * (domain["length"] + 1), "b" * 1000]
    return wrong


def broken_schemes(scheme: Fields) -> Iterator[tuple[str, bool, Fields]]:
    """Why, whether a client must refuse, and the fields: searches with parameters or parts that are none."""
    name, domain = scheme["scheme"], scheme["domain"]

    def changed(why: str, client: bool, **fields: Any) -> tuple[str, bool, Fields]:
        return why, client, {**scheme, **fields}

    def without(field: str) -> tuple[str, bool, Fields]:
        return f"no {field}", True, {key: value for key, value in scheme.items() if key != field}

    parts = [field for field in naive.PARTS if field in scheme]
    for field in parts:
        for wrong in (None, "DE", [scheme[field]], {}, 7):
            yield changed(f"{field} that is none", True, **{field: wrong})
        yield changed(f"a search as {field}", True, **{field: scheme})
        named = naive.scheme_of("DE", "1/2", {"type": "labels", "labels": list("abcdefgh"), "other": False})
        yield changed(f"{field} over labels", True, **{field: named})
        narrow = naive.scheme_of("DE", "1/2", {"type": "integers", "size": 3 if name == "TRELLIS" else 5})
        yield changed(f"{field} with too few items", True, **{field: narrow})
        louder = naive.scheme_of("DE", "4/7", {"type": "integers", "size": 64})
        yield changed(f"{field} of a larger epsilon", True, **{field: louder})
        # Some spend the largest of several.
        if name not in ("BITSTOGRAM", "TRELLIS") and scheme.get("split") != "users":
            quieter = naive.scheme_of("DE", "1/3", {"type": "integers", "size": 64})
            yield changed(f"{field} of a smaller epsilon", False, **{field: quieter})
        keep = str(int(scheme[field]["keep"]) + 1)
        yield changed(f"the threshold of {field} one step too high", True, **{field: {**scheme[field], "keep": keep}})
        yield changed(f"{field} of another version", True, **{field: {**scheme[field], "version": 2}})
    for field in sorted(scheme.keys() - {"scheme", "version", "epsilon", "domain"}):
        yield without(field)
    if "split" in scheme:
        for wrong in ("budget", "both", "Users", "", None, True, 1, ["users"], *["none"] * (name == "TH")):
            yield changed("a split that is none", True, split=wrong)
        if scheme["split"] == "none":
            yield changed("whole strings that nobody reports", True, word_oracle=scheme["oracle"])
            yield changed("users split without whole strings", True, split="users")
        elif name == "SFP":
            yield changed("fragments alone, and whole strings", True, split="none")
    if name in OF_THEIR_OWN:
        yield from broken_own_fields(scheme)
    for field in sorted({"start", "step", "fragment"} & scheme.keys()):
        for wrong in (0, -1, 4, None, "one"):
            yield changed(f"{field} that is none", True, **{field: wrong})
        yield changed(f"{field} as text", True, **{field: "1"})
    if "hash_bits" in scheme:
        for wrong in (-1, 17, None, "one"):
            yield changed("hash_bits that are none", True, hash_bits=wrong)
        for wrong in (-1, str(2**64), None):
            yield changed("a hash seed that is none", True, hash_seed=wrong)
    if "weights" in scheme:
        count = len(scheme["weights"])
        none = [[], [1] * (count - 1), [1] * (count + 1), [0, *[1] * (count - 1)], [2**32, *[1] * (count - 1)]]
        none += [[-1, *[2] * (count - 1)], [None] * count]
        for wrong in (*none, None, 3, {}):
            yield changed("weights that are none", True, weights=wrong)
        yield changed("weights as texts", True, weights=["1"] * count)
    for field, wrong in (
        ("alphabet", "aab"), ("alphabet", ""), ("alphabet", None), ("alphabet", ["a", "b", "c"]), ("length", 0),
        ("length", 257), ("length", None), ("long", "cut"), ("long", None), ("other", None), ("other", 1),
        ("type", "byte strings"),
    ):  # fmt: skip
        yield changed(f"{field} of the domain that is none", True, domain={**domain, field: wrong})
    for field in ("alphabet", "length", "long", "other"):
        short = {key: value for key, value in domain.items() if key != field}
        yield changed(f"a domain without {field}", True, domain=short)


def broken_own_fields(scheme: Fields) -> Iterator[tuple[str, bool, Fields]]:
    """The same for what only TRELLIS and ROUND have."""
    if scheme["scheme"] == "TRELLIS":
        for wrong in (0, -1, 17, 3, None, "two"):
            yield "cohorts that are none", True, {**scheme, "cohorts": wrong}
        for wrong in (-1, str(2**64), None):
            yield "a hash seed that is none", True, {**scheme, "hash_seed": wrong}
        for field in ("folded", "deep"):
            odd = naive.scheme_of("DE", "1/2", {"type": "integers", "size": 48})
            yield f"{field} of cells that are no power of two", True, {**scheme, field: odd}
            keyed_cells = naive.scheme_of("OLH", "1/2", {"type": "keys", "hash_seed": 0})
            yield f"{field} over keys", True, {**scheme, field: keyed_cells}
        for field in ("letters", "pairs", "first"):
            yield f"{field} over keys", True, {**scheme, field: keyed_cells}
        return
    for field, wrongs in (("stem", (-1, 2, 3, None, "one")), ("reach", (-1, 0, 1, 4, None, "one"))):
        for wrong in wrongs:
            yield f"{field} that is none", True, {**scheme, field: wrong}
        yield f"{field} as text", True, {**scheme, field: str(scheme[field])}
    for wrong in (None, 7, [None], [5], [["a"]], ["z"], ["a", "\0"]):
        yield "prefixes that are none", True, {**scheme, "prefixes": wrong}
    for wrong in ([], ["c", "a"], ["a", "a"], ["a", "cc"], "ac", {"a": 1}):
        yield "prefixes that are not in their form", True, {**scheme, "prefixes": wrong}
    keyed_oracle = naive.scheme_of("OLH", "1/2", {"type": "keys", "hash_seed": 0})
    yield "an oracle over keys", True, {**scheme, "oracle": keyed_oracle}
    many = {**scheme, "prefixes": [a + b for a in "abc" for b in ("", *"abc")] + [""], "stem": 2, "reach": 3}
    few = naive.scheme_of("DE", "1/2", {"type": "integers", "size": 52})
    yield "no item for those without a prefix", True, {**many, "oracle": few}


def broken_states(scheme: Fields, records: list[bytes], rest: bytes) -> Iterator[tuple[str, int, bytes]]:
    """Why, how many reports are claimed, and the payload: states whose groups do not have the users they say.

    ``rest`` is what follows the numbers of users.
    """
    users, _ = by_part(scheme, records)
    count = len(records)

    def numbers(claimed: list[int]) -> bytes:
        return b"".join(struct.pack("<q", number) for number in claimed)

    yield "parts without the users of their groups", count, rest
    yield "users of no group", count, numbers([0] * len(users)) + rest
    yield "a user too many in a group", count, numbers([users[0] + 1, *users[1:]]) + rest
    if len(users) > 1:
        yield "a user moved to another group", count, numbers([users[0] + 1, users[1] - 1, *users[2:]]) + rest
        yield "fewer than no users in a group", count, numbers([-1, sum(users[:2]) + 1, *users[2:]]) + rest
    if len(users) > 2:
        wrapped = [users[0] + 2**62, users[1] + 2**62, users[2] - 2**63]
        yield "users whose sum wraps around", count, numbers([*wrapped, *users[3:]]) + rest
    yield "fewer users than reports", count + 1, numbers(users) + rest
    yield "a negative count", -1, numbers([0] * len(users)) + bytes(len(rest))
    yield "a byte left over", count, numbers(users) + rest + b"\0"
    yield "a cell too many", count, numbers(users) + rest + bytes(8)
    yield "a cell too few", count, numbers(users) + rest[:-8]
    yield "cells larger than their reports allow", count, numbers(users) + b"\1" * len(rest)


def broken_records(scheme: Fields, good: bytes) -> Iterator[tuple[str, bytes]]:
    """Records of groups that are none, or with something in the place of zeros."""
    groups = naive.groups_of(scheme)
    head = naive.field_size(len(groups))
    yield "a group too many", len(groups).to_bytes(head, "little") + good[head:]
    yield "a group far outside", b"\xff" * head + good[head:]
    number = int.from_bytes(good[:head], "little")
    end = head + sum(naive.shape_of(part["oracle"])[2] for part in groups[number])
    if end < len(good):
        yield "something after the record", good[:-1] + b"\1"
