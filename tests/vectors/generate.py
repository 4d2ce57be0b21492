"""Writes the test vectors: `PYTHONPATH=tests python -m vectors.generate`.

Everything comes from the naive client and from SHAKE-256, nothing from the package, so a run anywhere gives the same
files. One file per scheme, and one for each way to split the users of a search:

    schemes   the scheme's JSON fields, and the arguments of plausibly.make that give it; all else refers by number
    vectors   scheme, value, tape (words as decimal text) -> record
    states    scheme, records -> wire batch, cells of the accumulator (or the records it keeps), its bytes; for schemes
              that share their users out also the numbers of users
    memos     for schemes with a memo: scheme, key and series of a user, value, tape of the answer -> record
    broken    what must be refused: values, tapes, schemes, batches, records, states

Tapes are crafted: words at and around every threshold, the ends of the range, words that below(m) refuses (the next
word of the tape takes their place).
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Iterator
from hashlib import shake_256
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import naive_client as naive
from naive_client import Fields, N, Tape
from vectors import memos, searches, slides, tables, trees, waves

FIRST = ("DE", "SUE", "OUE", "BLH", "OLH", "FLH", "HM", "HR", "SS", "TLH", "AGR")
"""The oracles that the files of the sketches have, in this order: vectors are never changed."""
ORACLES = (*FIRST, "THE")
SKETCHES = (*naive.SKETCHES, "BLOOM")
SEARCHES = naive.SEARCHES
GROUPED = naive.GROUPED
TREES = ("HH", "HAAR")
PLACES = ("SW", "MEAN")
IN_ORDER = ("SLIDE", *TREES, *PLACES)
TABLES = naive.TABLES
MEMOISED = naive.MEMOISED
NAMES = (*ORACLES, *SKETCHES, *GROUPED, *PLACES, *MEMOISED)
SPLITS = ("SFP-none", "SFP-users", "TH-users")
"""Searches that do not split the budget, in files of their own: the name of the scheme, and its split."""
UNARY = ("SUE", "OUE", "THE")
BITMAPS = (*UNARY, "SS", *naive.MEMO_BITS)
HASHING = ("BLH", "OLH", "FLH")
WINDOWS = ("TLH", "AGR")
HERE = Path(__file__).parent

BATCH_MAGIC, STATE_MAGIC = b"PLB\x01", b"PLA\x01"

# Names that trip a client which looks labels up in a JavaScript object, and text beyond ASCII.
LABELS = ["__proto__", "constructor", "", "Zürich", "東京", "🦉", "a", "A"]
KEYS: list[naive.Value] = [
    "", b"", 0, "a", b"a", "0", b"0", -1, 2**64, 10**40, "https://example.org/", "Zürich", "Zu\u0308rich", "🦉",
    "\x00", bytes(range(64)), bytes(range(65)), "x" * 128, b"y" * 129, 5, "5", b"5",
]  # fmt: skip


def in_lines(sections: dict[str, list[Fields]]) -> str:
    """Sections of a file of vectors as JSON in ASCII, one entry per line."""
    listed = [
        f" {json.dumps(name)}: [\n" + ",\n".join(f"  {json.dumps(each)}" for each in entries) + "\n ]"
        for name, entries in sections.items()
    ]
    return "{\n" + ",\n".join(listed) + "\n}\n"


def words(label: str) -> Iterator[int]:
    """An endless stream of words that belongs to the label."""
    for block in range(10**9):
        chunk = shake_256(f"plausibly vectors/{label}/{block}".encode()).digest(1024)
        yield from (int.from_bytes(chunk[i : i + 8], "little") for i in range(0, len(chunk), 8))


# --- schemes ----------------------------------------------------------------------------------------------------


def integers(d: int) -> Fields:
    return {"type": "integers", "size": d}


def labels(names: list[str], other: bool) -> Fields:
    return {"type": "labels", "labels": names, "other": other}


def keys(hash_seed: int) -> Fields:
    return {"type": "keys", "hash_seed": naive.written_integer(hash_seed)}


def sketch_settings(name: str) -> Iterator[tuple[str, Fields, Fields]]:
    """Epsilon, domain and own parameters of the sketches of a file: every oracle, every kind of domain."""
    if name == "BLOOM":
        yield from bloom_settings()
        return
    epsilons, domains = ("1", "3", "1/10", "5"), (integers(9), labels(LABELS, True), keys(7), integers(70_000), keys(0))
    widths, rows = (6, 8, 30), (5, 1, 3, 300)
    for i, oracle in enumerate(FIRST, start=len(FIRST) + SKETCHES.index(name)):
        own: Fields = {"scheme": oracle, "domain_size": widths[i % 3]}
        own |= {"FLH": {"hashes": 5, "hash_seed": 2**60}, "HM": {"coefficients": 2}, "SS": {"subset_size": 2}}.get(
            oracle, {}
        )
        own |= {"hash_bits": 2, "window": 3} if oracle in WINDOWS else {}
        hash_seed = {} if i % 3 else {"hash_seed": 2**64 - 1 - i}
        yield epsilons[i % 4], domains[i % 5], {"oracle": own, "rows": rows[i % 4], **hash_seed}
    # The largest number of rows, and the smallest.
    yield "8", keys(3), {"oracle": {"scheme": "DE", "domain_size": 2**16}, "rows": 2**16, "hash_seed": 5}
    yield "2", integers(1000), {"oracle": {"scheme": "OLH", "domain_size": 2**16}, "rows": 257}
    least = 2 if name == "CM" else 4
    yield "1", integers(2), {"oracle": {"scheme": "OUE", "domain_size": least}, "rows": 2}
    last = {"scheme": "DE" if name == "CM" else "HR", "domain_size": 6}
    yield "1/2", integers(9), {"oracle": last, "rows": 3, "hash_seed": 1}
    # The largest number of cells, and others beyond two bytes.
    yield "5", keys(0), {"oracle": {"scheme": "DE", "domain_size": 2**24}, "rows": 3, "hash_seed": 9}
    yield "3", keys(1), {"oracle": {"scheme": "TLH", "domain_size": 2**20}, "rows": 8}
    yield "1", integers(10**6), {"oracle": {"scheme": "HR", "domain_size": 3_000_002}, "rows": 2}
    yield "2", integers(1000), {"oracle": {"scheme": "OLH", "domain_size": 2**16 + 2}, "rows": 4}


LATER: dict[str, list[tuple[str, Fields, Fields]]] = {
    "CS": [
        (
            epsilon,
            domain,
            {"oracle": {"scheme": "HM", "domain_size": c, "coefficients": t}, "rows": rows, "signs": "coefficients"},
        )
        for epsilon, domain, c, t, rows in (
            ("1", integers(9), 8, 1, 3),
            ("3", keys(7), 16, 4, 5),
            ("2", labels(LABELS, True), 4, 2, 1),
            ("5", integers(70_000), 1024, 8, 300),
            ("1/2", integers(9), 8, 3, 2),
            ("3", keys(0), 2**23, 3, 2),
        )
    ],
}
"""Schemes with parameters that came later: at the end of a file, so that its older entries stay as they are."""


def bloom_settings() -> Iterator[tuple[str, Fields, Fields]]:
    """The same for Bloom filters: whole ones of several sizes, and one bit of them through some oracles."""
    yield "1", integers(9), {"bits": 8, "hashes": 2, "cohorts": 5}
    yield "3", keys(7), {"bits": 128, "hashes": 2, "cohorts": 64}
    yield "1/10", labels(LABELS, True), {"bits": 13, "hashes": 1, "cohorts": 1, "hash_seed": 2**64 - 1}
    yield "5", integers(70_000), {"bits": 2, "hashes": 3, "cohorts": 3}
    yield "2", integers(20), {"bits": 30, "hashes": 7, "cohorts": 257}
    for i, oracle in enumerate(("DE", "OUE", "OLH", "HM", "HR", "TLH")):
        domain = (integers(9), labels(LABELS, True), keys(0))[i % 3]
        own = {"hashes": 1 + i % 3, "cohorts": (2, 3, 100)[i % 3], "hash_seed": i}
        yield "2", domain, {"oracle": {"scheme": oracle, "domain_size": 6 + i}, **own}
    yield "1/2", integers(9), {"bits": 6, "hashes": 2, "cohorts": 3, "hash_seed": 1}


def settings(name: str) -> Iterator[tuple[str, Fields, Fields]]:
    """Epsilon, domain and own parameters of every scheme of a file."""
    if name in SKETCHES:
        yield from sketch_settings(name)
        return
    if name in (*SEARCHES, *SPLITS):
        yield from searches.settings(*name.split("-"))
        return
    if name == "SLIDE":
        yield from slides.settings()
        return
    if name in TREES:
        yield from trees.settings(name)
        return
    if name in PLACES:
        yield from waves.settings(name)
        return
    if name in TABLES:
        yield from tables.settings(name)
        return
    if name in MEMOISED:
        yield from memos.settings(name, integers(9), [labels(LABELS, True), labels(["yes", "no"], False)])
        return
    pairs = [("1", 2), ("3", 5), ("1/2", 9), ("2", 3), ("1/10", 8), ("5", 64), ("8", 100), ("20", 3), ("1", 257)]
    for epsilon, d in pairs:
        yield epsilon, integers(d), {}
    yield "1", labels(LABELS, True), {}
    yield "2", labels(["yes", "no"], False), {}
    yield "3", integers(1024), {}
    if name not in BITMAPS:
        for epsilon in ("1/10", "1", "8", "20"):
            yield epsilon, integers(70_000), {}
    if name in (*HASHING, "TLH"):
        for epsilon, hash_seed in (("1", 0), ("3", 7), ("8", 2**64 - 1)):
            yield epsilon, keys(hash_seed), {}
    if name in ("OLH", "FLH"):
        for g in (2, 3, 256, 257, 2**16):
            yield "2", integers(1000), {"hash_range": g}
    if name == "THE":
        for threshold in ("1/2", "3/4", "999/1000", "2/3"):
            yield "2", integers(9), {"threshold": threshold}
    if name == "FLH":
        for hashes, hash_seed in ((1, 0), (3, 1), (256, 2**53), (257, 2**64 - 1), (70_000, 5)):
            yield "1", integers(100), {"hashes": hashes, "hash_seed": hash_seed}
        yield "1/2", integers(9), {"hashes": 5}
        yield "2", keys(3), {"hashes": 6, "hash_seed": 3}
    if name == "HM":
        for t in range(1, 9):
            yield "2", integers(300), {"coefficients": t}
    if name == "HR":
        for epsilon, variant in (("1/10", "block"), ("8", "pure"), ("3", "block"), ("20", "block")):
            yield epsilon, integers(100), {"variant": variant}
    if name == "SS":
        for w in (1, 2, 7, 15, 30):
            yield "2", integers(31), {"subset_size": w}
    if name == "TLH":
        for t, w in ((1, 1), (2, 3), (5, 7), (8, 255), (9, 30), (12, 2049)):
            yield "2", integers(1000), {"hash_bits": t, "window": w}
        yield "4", keys(11), {"hash_bits": 12, "window": 75}
    if name == "AGR":
        # As many dimensions as the domain needs, one more, and one alone; windows of one place and of several.
        for t, m, w in ((1, 10, 1), (2, 6, 1), (2, 5, 3), (3, 4, 3), (5, 2, 4), (8, 2, 77), (9, 2, 1), (12, 1, 500)):
            yield "2", integers(1000), {"hash_bits": t, "dimension": m, "window": w}
        yield "1/2", integers(9), {"hash_bits": 3, "dimension": 2, "window": 3}


def arguments(epsilon: str, domain: Fields, own: Fields) -> Fields:
    """What plausibly.make is called with for a scheme; keys are written as the fields of their domain."""
    # A sketch or a search has its privacy from its oracles; nothing is given twice.
    private = {"epsilon": epsilon}
    if domain["type"] in ("strings", "byte strings"):
        return {"strings": domain, **own}
    if domain["type"] in naive.ORDERED:
        return {**private, "ordered": domain, **own}
    if domain["type"] == "table":
        return {**private, "table": domain, **own}
    if "oracle" in own:
        private, own = {}, {**own, "oracle": {**private, **own["oracle"]}}
    if domain["type"] == "integers":
        return {**private, "domain_size": domain["size"], **own}
    if domain["type"] == "labels":
        return {**private, "domain": domain["labels"], "other": domain["other"], **own}
    return {**private, "keys": domain["hash_seed"], **own}


# --- crafted tapes ----------------------------------------------------------------------------------------------


class Crafted(Tape):
    """A tape written while it is read: ``edges`` maps a draw to the place in the list of its edge words."""

    def __init__(
        self,
        fill: Iterator[int],
        edges: dict[int, int],
        lie_at: int | None = None,
        *,
        first: int | None = None,
        honest: bool = False,
    ) -> None:
        super().__init__(fill)
        self.honest = honest
        if first is not None:
            self._words = iter([first])
        self.fill = fill
        self.edges = edges
        self.lie_at = lie_at
        self.kinds: list[tuple[str, int]] = []

    def bernoulli(self, threshold: int) -> bool:
        draw = len(self.draws)
        self.kinds.append(("bernoulli", threshold))
        if draw in self.edges:
            self._words = iter([_pick(bernoulli_edges(threshold), self.edges[draw])])
        elif self.honest:
            self._words = iter([0])
        elif draw == self.lie_at:
            self._words = iter([threshold + next(self.fill) % (N - threshold)])
        result = super().bernoulli(threshold)
        self._words = self.fill
        return result

    def below(self, size: int) -> int:
        draw = len(self.draws)
        self.kinds.append(("below", size))
        if draw in self.edges:
            # Whatever is refused is followed by the filling.
            edge = _pick(below_edges(size), self.edges[draw])
            self._words = iter([*edge, *islice(self.fill, 2)])
        result = super().below(size)
        self._words = self.fill
        return result


def _pick(options: list[Any], place: int) -> Any:
    return options[place % len(options)]


def bernoulli_edges(threshold: int) -> list[int]:
    """Words around the threshold, the ends of the range, and words that share only the threshold's top byte."""
    top = threshold >> 56 << 56
    around = [threshold - 1, threshold, threshold + 1, 0, N - 1, top, top + 2**56 - 1]
    return [word for word in around if word < N]


def below_edges(size: int) -> list[list[int]]:
    """Words at the ends, around the first multiple of the size, and around the last word that is taken."""
    limit = N - N % size
    single = {0, 1, size - 2, size - 1, size, limit - size, limit - 1, N - 1}
    if limit < N:
        single.add(limit)
    refused = [[limit, N - 1], [N - 1, N - 1, limit]] if limit < N else []
    return [[word] for word in sorted(single) if 0 <= word < N] + refused


def edge_count(kind: tuple[str, int]) -> int:
    """Number of edge words of a draw."""
    return len(bernoulli_edges(kind[1]) if kind[0] == "bernoulli" else below_edges(kind[1]))


def values_of(domain: Fields) -> list[naive.Value]:
    """Values worth trying: ends, middle, everything where that is little."""
    if domain["type"] == "labels":
        extra: list[naive.Value] = ["other", "nowhere", "a "] if domain["other"] else []
        return [*domain["labels"], *extra]
    if domain["type"] == "keys":
        return list(KEYS)
    if domain["type"] in ("strings", "byte strings"):
        return list(searches.VALUES[str(domain)])
    if domain["type"] in naive.ORDERED:
        return slides.values_of(domain)
    if domain["type"] == "table":
        return tables.values_of(domain)
    d = domain["size"]
    return sorted({0, 1, 2 % d, d // 3, d // 2, d - 2, d - 1})


def tapes(scheme: Fields, number: int, values: Iterator[naive.Value]) -> Iterator[tuple[naive.Value, Crafted]]:
    """Values and crafted tapes for one scheme: every edge of every draw for some, a sample for others."""
    fill = words(f"{scheme['scheme']}/{number}")
    private = scheme.get("oracle", scheme.get("letters", scheme))
    private = private.get("oracles", [private])[0]
    private = private.get("oracle", private)  # a search may have a sketch
    if private["scheme"] in (*UNARY, "BLOOM", *naive.MEMO_BITS):
        d = words_of(scheme)
        for i in range(12 if d < 64 else 10 if d < 257 else 6 if d < 1024 else 2):
            # Half of the bits at an edge, in an order that changes from tape to tape.
            yield next(values), Crafted(fill, {draw: draw + i for draw in range(i % 2, d, 1 + i % 3)})
        return
    if words_of(scheme) > 20:
        for i in range(8):
            # Many draws at an edge at once; the coin of every other tape is a lie.
            chosen = range(i % 2, words_of(scheme), 1 + i % 3)
            yield next(values), Crafted(fill, {draw: draw + i for draw in chosen}, lie_at=0 if i % 2 else None)
        return
    probe = Crafted(fill, {})
    naive.record(scheme, next(values), probe)
    coin = next(i for i, kind in enumerate(probe.kinds) if kind[0] == "bernoulli")
    every = [(draw, place) for draw, kind in enumerate(probe.kinds) for place in range(edge_count(kind))]
    for draw, place in every if number < 4 else every[number % 3 :: 3]:
        # An edge of what a liar draws shows only in a lie.
        yield next(values), Crafted(fill, {draw: place}, lie_at=coin if draw > coin else None)
    for _ in range(2):
        yield next(values), Crafted(fill, {})
    if scheme["domain"]["type"] != "integers" and scheme["scheme"] not in (*IN_ORDER, *TABLES):
        # A kept coin for each, because only the truth shows how a label or key was encoded.
        kept = bernoulli_edges(int(private["keep"])).index(0)
        for value in values_of(scheme["domain"]):
            yield value, Crafted(fill, {coin: kept})
    if scheme["scheme"] in GROUPED:
        # The same in every group: the first ticket of each, and its neighbours.
        weights = naive.weights_of(scheme)
        ends = [sum(weights[:i]) for i in range(len(weights) + 1)]
        for ticket in sorted({end + by for end in ends for by in (-1, 0) if 0 <= end + by < ends[-1]}):
            yield next(values), Crafted(fill, {}, first=ticket)
    if scheme["scheme"] == "LOLOHA":
        # An edge of the last lie shows only if the answer is one.
        for place in range(edge_count(probe.kinds[-1])):
            lie = len(probe.kinds) - 1
            yield next(values), Crafted(fill, {lie: place}, lie_at=lie - 1)
    if scheme["scheme"] in (*PLACES, "LOLOHA"):
        # The truth shows the place of every value.
        for value in values_of(scheme["domain"]):
            yield value, Crafted(fill, {}, honest=True)
    elif scheme["scheme"] in (*searches.OF_THEIR_OWN, *IN_ORDER, *TABLES):
        # The truth from every group, because only it shows the cell, the extension or the block.
        for start in ends[:-1]:
            for value in values_of(scheme["domain"]):
                yield value, Crafted(fill, {}, first=start, honest=True)


# --- states and batches -----------------------------------------------------------------------------------------


def sealed(body: bytes) -> bytes:
    """The body and its CRC-32."""
    return body + struct.pack("<I", zlib.crc32(body))


def envelope(magic: bytes, scheme: Fields, count: int, payload: bytes) -> bytes:
    """Magic and version, 16 bytes of fingerprint, count, payload, CRC-32."""
    return sealed(magic + naive.fingerprint(scheme)[:16] + struct.pack("<q", count) + payload)


def payload_of(scheme: Fields, records: list[bytes]) -> bytes:
    """What an accumulator writes of its reports."""
    if scheme["scheme"] in GROUPED:
        users, parts = searches.by_part(scheme, records)
        return packed(users) + b"".join(payload_of(oracle, own) for oracle, own in parts)
    if keeps_records(scheme):
        return b"".join(sorted(records))
    return packed(numbers(scheme, records) + fold(scheme, records))


def keeps_records(scheme: Fields) -> bool:
    """Whether its accumulator has to keep the records."""
    return scheme["domain"]["type"] == "keys" and scheme["scheme"] not in ("FLH", *SKETCHES)


def fold(scheme: Fields, records: list[bytes]) -> list[int]:
    """The cells of an accumulator, by the definition of each scheme; those of a sketch row by row."""
    name, d = scheme["scheme"], naive.size_of(scheme["domain"])
    if name == "LOLOHA":
        t = scheme["hash_bits"]
        cells = hadamard_cells({**scheme, "coefficients": t}, records, range(1, 2**t))
        return cells[: len(cells) // 2]
    if name in ("products", "halves"):
        # Only the products of the rows: sums of blocks are estimated from all of them.
        cells = hadamard_cells(scheme, records, range(1, 2 ** scheme["coefficients"]))
        return cells[: len(cells) // 2]
    if name in (*SKETCHES, "blocks"):
        return [cell for own in by_row(scheme, records) for cell in fold_row(scheme, own)]
    if name in ("DE", *PLACES):
        answers = {"DE": d, "SW": d + 2 * scheme.get("reach", 0), "MEAN": 2}[name]
        return [sum(int.from_bytes(r, "little") == x for r in records) for x in range(answers)]
    if name in BITMAPS:
        return [sum(int.from_bytes(r, "little") >> x & 1 for r in records) for x in range(d)]
    if name in ("BLH", "OLH"):
        g, split = scheme["hash_range"], scheme["split"]
        pairs = [(int.from_bytes(r[:8], "little"), int.from_bytes(r[8:], "little")) for r in records]
        return [sum(naive.local_hash(seed, x, split, g) == y for seed, y in pairs) for x in range(d)]
    if name == "FLH":
        cells = [0] * (scheme["hashes"] * scheme["hash_range"])
        head = naive.field_size(scheme["hashes"])
        for r in records:
            index, y = int.from_bytes(r[:head], "little"), int.from_bytes(r[head:], "little")
            cells[index * scheme["hash_range"] + y] += 1
        return cells
    if name == "HR":
        places = scheme["blocks"] * scheme["order"]
        return [sum(int.from_bytes(r, "little") == z for r in records) for z in range(places)]
    if name == "TLH":
        return toeplitz_cells(scheme, records)
    if name == "AGR":
        return affine_cells(scheme, records)
    return hadamard_cells(scheme, records, range(1, 2 ** scheme["coefficients"]))


def fold_signs(scheme: Fields, records: list[bytes]) -> list[int]:
    """The cells of HM on items with signs: only products of an odd number of coefficients have the item's sign."""
    odd = [subset for subset in range(2 ** scheme["coefficients"]) if bin(subset).count("1") % 2]
    return hadamard_cells(scheme, records, odd)


def hadamard_cells(scheme: Fields, records: list[bytes], subsets: Iterable[int]) -> list[int]:
    """Signs of these products of the sampled rows, then signs of the rows themselves."""
    order, t = naive.hadamard_order(naive.size_of(scheme["domain"])), scheme["coefficients"]
    size = naive.field_size(order)
    full, paper = [0] * order, [0] * order
    for r in records:
        rows = [int.from_bytes(r[size * j : size * (j + 1)], "little") for j in range(t)]
        y = r[-1]
        for subset in subsets:
            row = 0
            for j in range(t):
                row ^= rows[j] if subset >> j & 1 else 0
            full[row] += -1 if naive.sign(subset, y) else 1
        for j in range(t):
            paper[rows[j]] += -1 if y >> j & 1 else 1
    return full + paper


def rows_of(scheme: Fields) -> int:
    """Among how many rows the users of a sketch are shared out; of Bloom filters cohorts, or all their functions."""
    if scheme["scheme"] == "blocks":
        return len(naive.offsets_of(scheme["width"]))
    if scheme["scheme"] == "BLOOM":
        return scheme["cohorts"] * (scheme["hashes"] if "oracle" in scheme else 1)
    return scheme["rows"]


def fold_row(scheme: Fields, own: list[bytes]) -> list[int]:
    """The cells of one row: the oracle's, or the sums of the bits of whole filters."""
    if "signs" in scheme:
        return fold_signs(scheme["oracle"], own)
    if scheme["scheme"] == "blocks" and scheme["oracle"]["scheme"] == "HM":
        # Only the products of the rows: sums of blocks are estimated from all of them.
        cells = fold(scheme["oracle"], own)
        return cells[: len(cells) // 2]
    if "oracle" in scheme:
        return fold(scheme["oracle"], own)
    return [sum(int.from_bytes(r, "little") >> i & 1 for r in own) for i in range(scheme["bits"])]


def by_row(scheme: Fields, records: list[bytes]) -> list[list[bytes]]:
    """What follows the row in the records of each row of a sketch."""
    head = naive.field_size(rows_of(scheme))
    rows: list[list[bytes]] = [[] for _ in range(rows_of(scheme))]
    for r in records:
        rows[int.from_bytes(r[:head], "little")].append(r[head:])
    return rows


def numbers(scheme: Fields, records: list[bytes]) -> list[int]:
    """What a state says of its channels before their cells: how many users each has. Nothing if there is but one."""
    return [len(own) for own in by_row(scheme, records)] if scheme["scheme"] in (*SKETCHES, "blocks") else []


def packed(whole: list[int]) -> bytes:
    return b"".join(struct.pack("<q", number) for number in whole)


def toeplitz_cells(scheme: Fields, records: list[bytes]) -> list[int]:
    """At the sum of the matrix rows that s selects: the transformed window at s, with the sign of s on the report."""
    t, w, bits = scheme["hash_bits"], scheme["window"], scheme["item_bits"]
    head = naive.field_size(2 ** (bits + t - 1))
    cells = [0] * 2**bits
    for r in records:
        matrix, y = int.from_bytes(r[:head], "little"), int.from_bytes(r[head:], "little")
        for s in range(1, 2**t):
            row = 0
            for j in range(t):
                row ^= (matrix >> j) % 2**bits if s >> j & 1 else 0
            cells[row] += sum(-1 if naive.sign(s, y ^ e) else 1 for e in range(w))
    return cells


def affine_cells(scheme: Fields, records: list[bytes]) -> list[int]:
    """By line and value: how many reports support the points of that value on that line."""
    t, w = scheme["hash_bits"], scheme["window"]
    g, lines = 2**t, naive.lines_of(scheme)
    head, size = naive.field_size(lines), naive.field_size(g)
    cells = [0] * (lines * g)
    for r in records:
        line, y = int.from_bytes(r[:head], "little"), int.from_bytes(r[-size:], "little")
        stretch = int.from_bytes(r[head : head + size], "little") if w > 1 else 1
        for value in range(g):
            cells[line * g + value] += naive.product(stretch, value, t) ^ y < w
    return cells


def state(scheme: Fields, number: int, records: list[bytes]) -> Fields:
    """What a server makes of records: their batch, its cells or the records it keeps, its bytes."""
    entry: Fields = {"scheme": number, "records": [r.hex() for r in records]}
    entry["batch"] = envelope(BATCH_MAGIC, scheme, len(records), b"".join(records)).hex()
    if scheme["scheme"] in GROUPED:
        users, parts = searches.by_part(scheme, records)
        entry |= {"numbers": users, "parts": [payload_of(*part).hex() for part in parts]}
    elif keeps_records(scheme):
        entry["kept"] = [r.hex() for r in sorted(records)]
    else:
        entry |= {"numbers": numbers(scheme, records)} if numbers(scheme, records) else {}
        entry["cells"] = fold(scheme, records)
    entry["bytes"] = envelope(STATE_MAGIC, scheme, len(records), payload_of(scheme, records)).hex()
    return entry


# --- what must be refused ---------------------------------------------------------------------------------------


def broken_values(schemes: list[Fields]) -> Iterator[Fields]:
    """Values that no client may randomize, by the kind of domain."""
    kinds = {"integers": [-1, 1.5, True, None, "0", [0], {}, 2**53, -(2**31)], "labels": [0, None, True, ["yes"], 1.5]}
    kinds["keys"] = [None, 1.5, True, ["a"], {}, "\ud800", "a\udfff"]
    for number, scheme in enumerate(schemes):
        if scheme["domain"]["type"] in naive.ORDERED:
            yield from ({"scheme": number, "value": value} for value in slides.broken_values(scheme["domain"]))
        if scheme["domain"]["type"] == "table":
            yield from ({"scheme": number, "value": value} for value in tables.broken_values(scheme["domain"]))
        if scheme["scheme"] in SEARCHES:
            yield from ({"scheme": number, "value": value} for value in searches.broken_values(scheme["domain"]))
    for kind, wrong in kinds.items():
        found = [i for i, scheme in enumerate(schemes) if scheme["domain"]["type"] == kind]
        for number in found[:2]:
            domain = schemes[number]["domain"]
            more: list[Any] = [domain["size"], domain["size"] + 1] if kind == "integers" else []
            if kind == "labels" and not domain["other"]:
                more = ["maybe", "Yes", "yes ", "", "other", "__proto__"]
            for value in [*wrong, *more]:
                yield {"scheme": number, "value": value}


def broken_tapes(vectors: list[Fields], schemes: list[Fields]) -> Iterator[Fields]:
    """Tapes that run out: without their last word, without any, and with a refused word at the end."""
    for vector in vectors[:: len(vectors) // 6]:
        for tape in (vector["tape"][:-1], []):
            yield {"scheme": vector["scheme"], "value": vector["value"], "tape": tape}
    for vector in vectors:
        if len(vector["tape"]) > words_of(schemes[vector["scheme"]]):
            yield {"scheme": vector["scheme"], "value": vector["value"], "tape": vector["tape"][:-1]}
            break


def words_of(scheme: Fields) -> int:
    """Words of one report, repeats aside."""
    if scheme["scheme"] in GROUPED:
        return searches.words_of(scheme)
    if scheme["scheme"] in SKETCHES:
        return 1 + (words_of(scheme["oracle"]) if "oracle" in scheme else scheme["bits"])
    if scheme["scheme"] in (*UNARY, *naive.MEMO_BITS):
        return naive.size_of(scheme["domain"]) * (2 if scheme["scheme"] in naive.MEMO_BITS else 1)
    if scheme["scheme"] == "LOLOHA":
        return scheme["hash_bits"] + 4
    if scheme["scheme"] in WINDOWS:
        return 5 if scheme["scheme"] == "AGR" and scheme["window"] > 1 else 4
    others = {"DE": 2, "MEAN": 1, "HM": scheme.get("coefficients", 0) + 2, "SS": scheme.get("subset_size", 0) + 1}
    return others.get(scheme["scheme"], 3)


def broken_schemes(scheme: Fields) -> Iterator[Fields]:
    """Schemes that from_json must refuse; ``client`` says whether a client must, too.

    It need not where only the noise is more than epsilon asks for: it does not know the smallest.
    """
    name = scheme["scheme"]

    def changed(why: str, client: bool, **fields: Any) -> Fields:
        return {"why": why, "client": client, "fields": {**scheme, **fields}}

    def without(why: str, client: bool, field: str) -> Fields:
        return {"why": why, "client": client, "fields": {k: v for k, v in scheme.items() if k != field}}

    if name in SEARCHES:
        for why, client, fields in searches.broken_schemes(scheme):
            yield {"why": why, "client": client, "fields": fields}
    elif name == "SLIDE":
        for why, client, fields in slides.broken_schemes(scheme):
            yield {"why": why, "client": client, "fields": fields}
    elif name in TREES:
        for why, client, fields in trees.broken_schemes(scheme):
            yield {"why": why, "client": client, "fields": fields}
    elif name in TABLES:
        for why, client, fields in tables.broken_schemes(scheme):
            yield {"why": why, "client": client, "fields": fields}
    elif name == "MEAN":
        for why, client, fields in waves.broken_bits(scheme):
            yield {"why": why, "client": client, "fields": fields}
    elif "oracle" in scheme:
        yield from broken_sketches(scheme)
    else:
        for why, client, fields in waves.broken_waves(scheme) if name == "SW" else ():
            yield {"why": why, "client": client, "fields": fields}
        for why, client, fields in memos.broken_schemes(scheme) if name in MEMOISED else ():
            yield {"why": why, "client": client, "fields": fields}
        keep = int(scheme["keep"])
        # SUE rounds two thresholds, so one step of one of them may still be private; two steps are not.
        most, least = keep + 1, int(scheme.get("flip", 0)) - 1
        if name == "THE":
            # It delivers less than epsilon: a client cannot tell other thresholds from those of another noise.
            most, least = naive.private_bits(scheme)
            yield changed("keep as large as epsilon allows", False, keep=str(most))
            yield changed("flip as small as epsilon allows", False, flip=str(least))
            yield changed("another threshold with the same bits", False, threshold="3/4")
            for threshold in ("1/3", "1", "4/6", "0.6", "0", "-2/3", "2", "", None, 0.75, 1):
                yield changed("a threshold that is none", True, threshold=threshold)
            yield without("no threshold", True, "threshold")
        yield changed("keep above what epsilon allows", True, keep=str(most + 1))
        yield changed("keep below the largest one allowed", False, keep=str(keep - 1))
        if name not in UNARY:
            yield changed("keep one step too high", True, keep=str(keep + 1))
        else:
            flip = int(scheme["flip"])
            yield changed("flip below what epsilon allows", True, flip=str(least - 1))
            yield changed("flip above the smallest one allowed", False, flip=str(flip + 1))
            yield changed("flip never", True, flip="0")
            yield without("no flip", True, "flip")
        yield changed("keep always", True, keep=str(N))
        yield changed("keep never", True, keep="0")
        yield changed("keep far below the uniform probability", True, keep="1")
        yield changed("keep as text that is no number", True, keep="most")
        yield changed("keep as null", True, keep=None)
        yield changed("keep as a number, which a browser would round", True, keep=keep)
        yield without("no keep", True, "keep")
    yield changed("an unknown field", True, colour="blue")
    yield changed("a misspelt field", True, domian=scheme["domain"])
    for version in (0, 2, "1", None):
        yield changed("another version", True, version=version)
    yield without("no version", True, "version")
    for other in ("XX", name.lower(), None, 7, [name]):
        yield changed("an unknown scheme", True, scheme=other)
    yield without("no name", True, "scheme")
    yield changed("epsilon lowered after the thresholds were made", True, epsilon="1/7")
    yield changed("epsilon raised after the thresholds were made", False, epsilon="7")
    for epsilon in ("0", "-1", "nan", "1/0", "", "2000", None):
        yield changed("an epsilon that is none", True, epsilon=epsilon)
    yield without("no epsilon", True, "epsilon")
    yield changed("an unknown kind of domain", True, domain={"type": "reals"})
    yield changed("a domain that is no object", True, domain="integers")
    yield changed("a domain without a size", True, domain={"type": "integers"})
    yield changed("one item", True, domain=integers(1))
    yield changed("one label", True, domain=labels(["yes"], False))
    yield changed("an unknown field of the domain", True, domain={**scheme["domain"], "unit": "m"})
    yield without("no domain", True, "domain")
    if name not in (*HASHING, "TLH", *SKETCHES):
        yield changed("keys where items must be listed", True, domain=keys(0))
    else:
        yield changed("a hash seed of 65 bits", True, domain={"type": "keys", "hash_seed": str(N)})
    if name in (*HASHING, *SKETCHES):
        yield changed("another split", True, split=2 * scheme["split"])
        yield changed("no split at all", True, split=0)
    if name in HASHING:
        yield changed("another hash range", True, hash_range=scheme["hash_range"] + 1)
        yield changed("a hash range of one", True, hash_range=1)
    if name == "FLH":
        yield changed("no hash function", True, hashes=0)
    if name in ("FLH", *SKETCHES):
        yield changed("a hash seed below zero", True, hash_seed=-1)
        yield changed("a hash seed of 65 bits", True, hash_seed=str(N))
    if name == "BLOOM":
        for bits in (0, 1, 2**16 + 1, None, "many"):
            yield changed("a number of bits that is none", True, bits=bits)
        yield changed("bits as text", True, bits=str(scheme["bits"]))
        for hashes in (0, 257, None):
            yield changed("a number of hashes that is none", True, hashes=hashes)
        yield changed("twice the hashes for the same threshold", True, hashes=2 * scheme["hashes"])
        yield changed("fewer hashes than the threshold allows", False, hashes=scheme["hashes"] - 1)
        for cohorts in (0, -1, 2**16 + 1, None):
            yield changed("a number of cohorts that is none", True, cohorts=cohorts)
        for field in ("bits", "hashes", "cohorts", "split", "hash_seed"):
            yield without(f"no {field}", True, field)
        oracle = naive.scheme_of("DE", scheme["epsilon"], integers(6))
        for wrong in (None, {}, {**scheme}, naive.scheme_of("DE", "4/7", integers(6)), {**oracle, "version": 2}):
            yield changed("an oracle that is none, or of a larger epsilon", True, oracle=wrong)
        yield changed("an oracle beside the filter's own bits", True, oracle=oracle)
    if name == "HM":
        yield changed("no coefficient", True, coefficients=0)
        yield changed("a coefficient more", True, coefficients=scheme["coefficients"] + 1)
    if name == "HR":
        yield changed("an order too small for the domain", True, order=scheme["order"] // 2)
        yield changed("an order that is no power of two", True, order=2 * scheme["order"] - 1)
        yield changed("an order larger than needed", True, order=2 * scheme["order"])
        yield changed("twice the blocks", True, blocks=2 * scheme["blocks"])
        yield changed("no block", True, blocks=0)
        yield changed("an unknown variant", True, variant="both")
    if name == "SS":
        yield changed("an empty subset", True, subset_size=0)
        yield changed("a smaller subset", True, subset_size=scheme["subset_size"] - 1)
        yield changed("a larger subset", False, subset_size=scheme["subset_size"] + 1)
        yield changed("a subset of everything", True, subset_size=9)
        yield without("no subset size", True, "subset_size")
    if name in WINDOWS:
        yield changed("no hash bit", True, hash_bits=0)
        yield changed("a hash bit more", True, hash_bits=scheme["hash_bits"] + 1)
        yield changed("thirteen hash bits", True, hash_bits=13)
        yield changed("an empty window", True, window=0)
        yield changed("a smaller window", True, window=scheme["window"] - 1)
        yield changed("a larger window", False, window=scheme["window"] + 1)
        yield changed("a window of everything", True, window=2 ** scheme["hash_bits"])
        yield changed("hash bits as text", True, hash_bits=str(scheme["hash_bits"]))
        yield without("no window", True, "window")
    if name == "TLH":
        yield changed("no item bit", True, item_bits=0)
        yield changed("an item bit more", True, item_bits=scheme["item_bits"] + 1)
        yield changed("a matrix of 65 bits", True, item_bits=66 - scheme["hash_bits"])
    if name == "AGR":
        yield changed("no dimension", True, dimension=0)
        yield changed("a dimension too few for the domain", True, dimension=scheme["dimension"] - 1)
        yield changed("more than 64 bits in all", True, dimension=64 // scheme["hash_bits"] + 1)


def broken_sketches(scheme: Fields) -> Iterator[Fields]:
    """Sketches with a wrong number of rows, with an oracle that is none, or with a broken one."""
    name, oracle, epsilon = scheme["scheme"], scheme["oracle"], scheme["epsilon"]

    def changed(why: str, client: bool, **fields: Any) -> Fields:
        return {"why": why, "client": client, "fields": {**scheme, **fields}}

    def without(why: str, client: bool, field: str) -> Fields:
        return {"why": why, "client": client, "fields": {k: v for k, v in scheme.items() if k != field}}

    for each in broken_schemes(oracle):
        yield changed(f"in the oracle: {each['why']}", each["client"], oracle=each["fields"])
    for rows in (0, -1, 2**16 + 1, 2**64, None, "many"):
        yield changed("a number of rows that is none", True, rows=rows)
    yield changed("rows as text", True, rows=str(scheme["rows"]))
    yield without("no rows", True, "rows")
    for wrong in (None, "DE", [oracle], {}, 7):
        yield changed("an oracle that is none", True, oracle=wrong)
    yield without("no oracle", True, "oracle")
    yield without("no split", True, "split")
    yield without("no hash seed", True, "hash_seed")
    for sketch in SKETCHES:
        yield changed("a sketch within a sketch", True, oracle={**scheme, "scheme": sketch})
    named = naive.scheme_of("DE", epsilon, labels(list("abcdef"), False))
    yield changed("an oracle over labels", True, oracle=named)
    yield changed("an oracle over keys", True, oracle=naive.scheme_of("OLH", epsilon, keys(0)))
    yield changed("cells beyond 2^24", True, oracle=naive.scheme_of("DE", epsilon, integers(2**24 + 2)))
    # A seventh part more epsilon than the sketch promises: each is sound on its own.
    more = naive.scheme_of("DE", "4/7", integers(6))
    yield changed("an oracle of a larger epsilon", True, oracle=more)
    yield changed("an oracle of a smaller epsilon", False, oracle=naive.scheme_of("DE", "1/3", integers(6)))
    if name == "CS":
        yield changed("cells that have no opposite", True, oracle=naive.scheme_of("DE", epsilon, integers(7)))


def broken_signs(scheme: Fields) -> Iterator[Fields]:
    """Count-Sketches with signs that are none, or on an oracle whose coefficients take none."""
    epsilon = scheme["epsilon"]
    for signs in ("cells", "coefficient", "", None, 1, ["coefficients"]):
        yield {"why": "signs that are none", "client": True, "fields": {**scheme, "signs": signs}}
    for oracle, size in (("DE", 8), ("HR", 8), ("HM", 6), ("HM", 2**24)):
        wrong = naive.scheme_of(oracle, epsilon, integers(size))
        yield {"why": "an oracle that takes no signs", "client": True, "fields": {**scheme, "oracle": wrong}}
    yield {"why": "signs of a sketch without", "client": True, "fields": {**scheme, "scheme": "CM"}}


def broken_batches(scheme: Fields, other: Fields, records: list[bytes]) -> Iterator[tuple[str, bytes]]:
    """Wire batches that are cut, flipped, too long, of another scheme, or whose count does not fit."""
    whole = envelope(BATCH_MAGIC, scheme, len(records), b"".join(records))
    yield "nothing", b""
    yield "cut in the header", whole[:20]
    yield "the last byte is missing", whole[:-1]
    yield "the last record is missing", whole[: -len(records[0])]
    for region, place in {"magic": 0, "version": 3, "fingerprint": 9, "count": 20, "record": 28, "sum": -1}.items():
        flipped = bytearray(whole)
        flipped[place] ^= 1
        yield f"a bit of the {region} flipped", bytes(flipped)
    yield "a byte left over", whole + b"\0"
    yield "left over before the sum", sealed(whole[:-4] + b"\0")
    yield "fewer records than counted", envelope(BATCH_MAGIC, scheme, len(records), b"".join(records[1:]))
    yield "more records than counted", envelope(BATCH_MAGIC, scheme, len(records) - 1, b"".join(records))
    yield "a negative count", envelope(BATCH_MAGIC, scheme, -1, b"")
    yield "a count that would wrap", envelope(BATCH_MAGIC, scheme, 2**62, b"")
    yield "another scheme", envelope(BATCH_MAGIC, other, len(records), b"".join(records))
    yield "another version", sealed(b"PLB\x02" + whole[4:-4])
    yield "an accumulator", envelope(STATE_MAGIC, scheme, len(records), b"".join(records))


def broken_states(scheme: Fields, other: Fields, records: list[bytes]) -> Iterator[tuple[str, bytes]]:
    """Accumulators that are cut, flipped, too long, of another scheme, or that no reports can have made."""
    payload = payload_of(scheme, records)
    whole = envelope(STATE_MAGIC, scheme, len(records), payload)
    yield "nothing", b""
    yield "cut in the header", whole[:20]
    yield "the last byte is missing", whole[:-1]
    for region, place in {"magic": 0, "version": 3, "fingerprint": 9, "count": 20, "cells": 28, "sum": -1}.items():
        flipped = bytearray(whole)
        flipped[place] ^= 1
        yield f"a bit of the {region} flipped", bytes(flipped)
    yield "a byte left over", whole + b"\0"
    if scheme["scheme"] in GROUPED:
        rest = payload[8 * len(naive.groups_of(scheme)) :]
        for why, count, forged in searches.broken_states(scheme, records, rest):
            yield why, envelope(STATE_MAGIC, scheme, count, forged)
    else:
        yield from broken_cells(scheme, records, payload)
    yield "another scheme", envelope(STATE_MAGIC, other, len(records), payload)
    yield "another version", sealed(b"PLA\x02" + whole[4:-4])
    yield "a batch", envelope(BATCH_MAGIC, scheme, len(records), payload)


def broken_cells(scheme: Fields, records: list[bytes], payload: bytes) -> Iterator[tuple[str, bytes]]:
    """Accumulators with cells that no reports can have made."""
    users, cells = numbers(scheme, records), fold(scheme, records)
    yield "a cell too many", envelope(STATE_MAGIC, scheme, len(records), payload + bytes(8))
    yield "a cell too few", envelope(STATE_MAGIC, scheme, len(records), payload[:-8])
    yield "a negative count", envelope(STATE_MAGIC, scheme, -1, bytes(len(payload)))
    if users:
        yield from broken_channels(scheme, records, users, cells)
    if scheme["scheme"] in ("HM", "LOLOHA", *WINDOWS):
        # One report adds more than one to a cell or to what is decoded, so 64-bit cells hold fewer of them.
        yield "a count that would overflow", envelope(STATE_MAGIC, scheme, 2**63 - 1, payload)
    large = packed([*users, 256 * len(records), *cells[1:]])
    yield "a cell larger than its reports allow", envelope(STATE_MAGIC, scheme, len(records), large)
    if scheme["scheme"] in ("SS", "AGR", *PLACES):
        # Each report counts in equally many cells.
        more = packed([*users, cells[0] + 1, *cells[1:]])
        yield "a count that no report has made", envelope(STATE_MAGIC, scheme, len(records), more)
    yield "cells without reports", envelope(STATE_MAGIC, scheme, 0, payload)


def broken_channels(
    scheme: Fields, records: list[bytes], users: list[int], cells: list[int]
) -> Iterator[tuple[str, bytes]]:
    """Accumulators whose channels do not have the users they say."""

    def state_of(claimed: list[int], found: list[int] = cells) -> bytes:
        return envelope(STATE_MAGIC, scheme, len(records), packed(claimed + found))

    yield "cells without the users of their channels", state_of([])
    yield "users of no channel", state_of([0] * len(users))
    yield "a user too many in a channel", state_of([users[0] + 1, *users[1:]])
    yield "fewer than no users in a channel", state_of([-1, sum(users[:2]) + 1, *users[2:]])
    yield "users whose sum wraps around", state_of([users[0] + 2**62, users[1] + 2**62, users[2] - 2**63])
    yield "all users in one channel, and their cells where they were", state_of([sum(users), *[0] * (len(users) - 1)])
    width = len(cells) // len(users)
    yield (
        "the cells of two channels mixed up",
        state_of(users, cells[width : 2 * width] + cells[:width] + cells[2 * width :]),
    )


def broken_records(scheme: Fields, good: bytes) -> Iterator[tuple[str, bytes]]:
    """Records of the right size that no client of the scheme can have sent."""
    name, d = scheme["scheme"], naive.size_of(scheme["domain"])
    if name == "LOLOHA":
        scheme = {**scheme, "coefficients": scheme["hash_bits"]}
    name = "HM" if name in ("products", "halves", "LOLOHA") else name
    if name in GROUPED:
        for why, record in searches.broken_records(scheme, good):
            yield why, record
        first = naive.groups_of(scheme)[good[0]][0]["oracle"]
        end = 1 + naive.shape_of(first)[2]
        for why, record in broken_records(first, good[1:end]):
            yield why, good[:1] + record + good[end:]
        return
    if name in (*SKETCHES, "blocks"):
        head = naive.field_size(rows_of(scheme))
        what = "an offset" if name == "blocks" else "a row"
        yield f"{what} too many", rows_of(scheme).to_bytes(head, "little") + good[head:]
        yield f"{what} far outside", b"\xff" * head + good[head:]
        if "oracle" not in scheme:
            for bit in range(scheme["bits"], 8 * len(good[head:])):
                yield "a spare bit set", good[:head] + (1 << bit).to_bytes(len(good) - head, "little")
            return
        for why, record in broken_records(scheme["oracle"], good[head:]):
            yield why, good[:head] + record
        return
    if name == "DE":
        yield "an item outside the domain", d.to_bytes(len(good), "little")
        yield "an item far outside", b"\xff" * len(good)
    elif name in PLACES:
        answers = {"SW": d + 2 * scheme.get("reach", 0), "MEAN": 2}[name]
        yield "a place or bit too many", answers.to_bytes(len(good), "little")
        yield "a place or bit far outside", b"\xff" * len(good)
    elif name in BITMAPS:
        for bit in range(d, 8 * len(good)):
            yield "a spare bit set", (1 << bit).to_bytes(len(good), "little")
        if name == "SS":
            w = scheme["subset_size"]
            for members in (0, w - 1, w + 1, d):
                yield "a subset of another size", (2**members - 1).to_bytes(len(good), "little")
            in_place = 2 ** (w - 1) - 1 | 1 << d
            yield "a spare bit in the place of a member", in_place.to_bytes(len(good), "little")
    elif name in WINDOWS:
        g = 2 ** scheme["hash_bits"]
        choices = naive.lines_of(scheme) if name == "AGR" else 2 ** (scheme["item_bits"] + scheme["hash_bits"] - 1)
        yield "a hash outside the field", good[:-1] + bytes([g])
        yield "a hash far outside", good[:-1] + b"\xff"
        yield "a matrix or line too many", bytes([choices]) + good[1:]
        yield "a matrix or line far outside", b"\xff" + good[1:]
        if name == "AGR":
            yield "no stretch", good[:1] + b"\0" + good[2:]
            yield "a stretch outside the field", good[:1] + bytes([g]) + good[2:]
    elif name == "HM":
        order = naive.hadamard_order(d)
        yield "a row outside the matrix", bytes([order]) + good[1:]
        yield "the last row outside the matrix", good[:-2] + bytes([order]) + good[-1:]
        yield "a sign too many", good[:-1] + bytes([2 ** scheme["coefficients"]])
    elif name == "HR":
        yield "a position outside the blocks", (scheme["blocks"] * scheme["order"]).to_bytes(len(good), "little")
        yield "a position far outside", b"\xff" * len(good)
    else:
        yield "a hash outside its range", good[:-1] + bytes([scheme["hash_range"]])
        yield "a hash far outside", good[:-1] + b"\xff"
    if name == "FLH":
        head = naive.field_size(scheme["hashes"])
        yield "a hash function too many", scheme["hashes"].to_bytes(head, "little") + good[head:]


# --- files ------------------------------------------------------------------------------------------------------


def contents(name: str) -> dict[str, Any]:
    """Everything in the file of one scheme."""
    schemes, listed, vectors = described(name, list(settings(name)), 0)
    fill = words(f"{name}/states")
    sampled = [i for i, scheme in enumerate(schemes) if is_small(scheme)]
    states = [sampled_state(schemes[number], number, fill) for number in sampled]

    small = [i for i in sampled if schemes[i]["domain"] in (integers(9), searches.TEXTS, tables.SMALL)][-1]
    another = next(i for i in sampled if i != small)
    scheme, other = schemes[small], schemes[another]
    records = [naive.record(scheme, value, Tape(fill)) for value in islice(cycle(values_of(scheme["domain"])), 7)]
    broken = {
        "values": list(broken_values(schemes)),
        "tapes": list(broken_tapes(vectors, schemes)),
        "schemes": list(broken_schemes(scheme)),
        "batches": [entry(small, why, blob) for why, blob in broken_batches(scheme, other, records)],
        "records": [entry(small, why, r) for why, r in broken_records(scheme, records[0])],
        "states": [entry(small, why, blob) for why, blob in broken_states(scheme, other, records)],
    }
    later, more, added = described(name, LATER.get(name, []), len(schemes))
    fill = words(f"{name}/later states")
    states += [sampled_state(each, i, fill) for i, each in enumerate(later, len(schemes)) if is_small(each)]
    broken["schemes"] += [entry for each in later[:1] for entry in broken_signs(each)]
    known = {"memos": list(memos.users(schemes, values_of))} if name in MEMOISED else {}
    return {"schemes": listed + more, "vectors": vectors + added, **known, "states": states, "broken": broken}


def described(
    name: str, given: list[tuple[str, Fields, Fields]], first: int
) -> tuple[list[Fields], list[Fields], list[Fields]]:
    """Schemes of these settings, numbered from ``first``: their fields, how they are made, and their vectors."""
    schemes, made, vectors = [], [], []
    for number, (epsilon, domain, own) in enumerate(given, first):
        stated = {field: value for field, value in own.items() if value is not None}  # a part may be left out
        inner = {field: stated[field] for field in naive.PARTS if field in stated}
        parts = {field: searches.part_fields({"epsilon": epsilon, **part}) for field, part in inner.items()}
        scheme = naive.scheme_of(name.partition("-")[0], epsilon, domain, **{**stated, **parts})
        schemes.append(scheme)
        made.append({"fields": scheme, "make": arguments(epsilon, domain, own)})
        is_keys = domain["type"] == "keys"
        for value, tape in tapes(scheme, number, cycle(values_of(domain))):
            made_of = naive.record(scheme, value, tape)
            written = naive.portable(value, keys=is_keys)
            text = [str(word) for word in tape.words]
            vectors.append({"scheme": number, "value": written, "tape": text, "record": made_of.hex()})
    return schemes, made, vectors


def sampled_state(scheme: Fields, number: int, fill: Iterator[int]) -> Fields:
    """The state of a few reports; of none for some schemes."""
    values = cycle(values_of(scheme["domain"]))
    records = [naive.record(scheme, next(values), Tape(fill)) for _ in range((0, 1, 17, 40)[number % 4])]
    return state(scheme, number, records)


def entry(number: int, why: str, blob: bytes) -> Fields:
    return {"scheme": number, "why": why, "bytes": blob.hex()}


def is_small(scheme: Fields) -> bool:
    """Whether the cells of a scheme are few enough to be written down."""
    domain = scheme["domain"]
    if scheme["scheme"] in SEARCHES:
        return all(is_small(scheme[field]) for field in naive.PARTS if field in scheme)
    if scheme["scheme"] in IN_ORDER:
        return naive.size_of(scheme["domain"]) <= 101
    if scheme["scheme"] in TABLES:
        return all(oracle["domain"]["size"] <= 128 for oracle in scheme["oracles"])
    if scheme["scheme"] in SKETCHES:
        return rows_of(scheme) <= 6 and ("oracle" not in scheme or is_small(scheme["oracle"]))
    if scheme["scheme"] == "FLH":
        return scheme["hashes"] * scheme["hash_range"] <= 100
    if scheme["scheme"] == "HR":
        return scheme["blocks"] * scheme["order"] <= 256
    if scheme["scheme"] == "AGR":
        return naive.lines_of(scheme) * 2 ** scheme["hash_bits"] <= 256
    if scheme["scheme"] == "TLH" and scheme["hash_bits"] > 10:
        return False  # it would take long
    return domain["type"] == "keys" or naive.size_of(domain) <= 100


def text_of(name: str) -> str:
    """The file of one scheme: JSON, one entry per line."""

    def lines(value: Any, indent: str) -> str:
        deeper = indent + " "
        if isinstance(value, list):
            body = [json.dumps(each, separators=(", ", ": ")) for each in value]
            return "[\n" + ",\n".join(deeper + each for each in body) + "\n" + indent + "]"
        body = [f"{json.dumps(key)}: {lines(each, deeper)}" for key, each in value.items()]
        return "{\n" + ",\n".join(deeper + each for each in body) + "\n" + indent + "}"

    return lines(contents(name), "") + "\n"


if __name__ == "__main__":
    for each in (*NAMES, *SPLITS):
        (HERE / f"{each}.json").write_text(text_of(each), encoding="utf-8")
