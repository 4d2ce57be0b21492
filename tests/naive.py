"""The server side of oracles, sketches and searches as defined: plain loops over users, and fractions.

Slow and obvious on purpose. Everything starts from the fields of decoded reports and the JSON of the scheme, and
follows sections 3 to 5 of the paper or, for oracles past it, docs/adr/0008-linear-hashing.md (in realised
probabilities: the integer thresholds over 2^64 of the JSON). Nothing of the package is used here.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from statistics import NormalDist, median
from typing import Any

import numpy as np

WORD = 2**64
M32 = 2**32 - 1

Scheme = dict[str, Any]
Report = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """What the server says of each item that it was asked about."""

    scores: list[int]
    values: list[Fraction]
    variance: list[Fraction]
    """With the estimated count, clipped to [0, n], in place of the true one."""


def fields(reports: Any) -> list[Report]:
    """One dictionary per report of a structured array."""
    names = reports.dtype.names
    return [{name: _plain(record[name]) for name in names} for record in reports]


def _plain(value: Any) -> int | list[int] | Report:
    if value.dtype.names:
        return {name: _plain(value[name]) for name in value.dtype.names}
    return [int(part) for part in value] if getattr(value, "ndim", 0) else int(value)


def answer(scheme: Scheme, reports: list[Report], items: Iterable[int], **options: Any) -> Answer:
    """The estimates of the given encoded items."""
    return SERVERS[scheme["scheme"]](scheme, reports, list(items), **options)


def domain_size(scheme: Scheme) -> int:
    """The number of items of a listed domain."""
    domain = scheme["domain"]
    if domain["type"] == "labels":
        return len(domain["labels"]) + (1 if domain["other"] else 0)
    return int(domain["size"])


def clipped(value: Fraction, n: int) -> Fraction:
    """The value, or the nearer end of [0, n]."""
    return min(max(value, Fraction(0)), Fraction(n))


# --- pure protocols (section 3.1) --------------------------------------------------------------------------------


def pure_estimate(score: int, n: int, p: Fraction, q: Fraction) -> Fraction:
    """The sum over users of (supports x ? 1 - q : -q)/(p - q)."""
    supporting, others = score * (1 - q), (n - score) * (0 - q)
    return (supporting + others) / (p - q)


def pure_variance(n: int, f: Any, p: Fraction, q: Fraction) -> Fraction:
    """f users of the first case of the paper's variance, n - f users of the second."""
    holder = p * (1 - p) / (p - q) ** 2
    other = q * (1 - q) / (p - q) ** 2
    return f * holder + (n - f) * other


def pure_answer(scores: list[int], n: int, p: Fraction, q: Fraction) -> Answer:
    values = [pure_estimate(score, n, p, q) for score in scores]
    return Answer(scores, values, [pure_variance(n, clipped(value, n), p, q) for value in values])


# --- direct encoding ---------------------------------------------------------------------------------------------


def direct_probabilities(scheme: Scheme) -> tuple[Fraction, Fraction]:
    p = Fraction(int(scheme["keep"]), WORD)
    return p, (1 - p) / (domain_size(scheme) - 1)


def direct(scheme: Scheme, reports: list[Report], items: list[int]) -> Answer:
    scores = []
    for x in items:
        scores.append(sum(1 for report in reports if report["item"] == x))
    return pure_answer(scores, len(reports), *direct_probabilities(scheme))


# --- unary encodings ---------------------------------------------------------------------------------------------


def unary_probabilities(scheme: Scheme) -> tuple[Fraction, Fraction]:
    return Fraction(int(scheme["keep"]), WORD), Fraction(int(scheme["flip"]), WORD)


def unary(scheme: Scheme, reports: list[Report], items: list[int]) -> Answer:
    scores = []
    for x in items:
        scores.append(sum(report["bits"][x // 8] >> x % 8 & 1 for report in reports))
    return pure_answer(scores, len(reports), *unary_probabilities(scheme))


# --- local hashing -----------------------------------------------------------------------------------------------


def mixed(j: int) -> int:
    """lowbias32."""
    j ^= j >> 16
    j = (j * 0x21F0AAAD) & M32
    j ^= j >> 15
    j = (j * 0xD35A2D97) & M32
    return j ^ (j >> 15)


def entry(low: int, high: int, character: int, g: int) -> int:
    """The table entry of one character under the two halves of a seed."""
    t = ((mixed(character) ^ low) * 0x21F0AAAD) & M32
    t ^= t >> 15
    t = ((t ^ high) * 0xD35A2D97) & M32
    t ^= t >> 15
    return ((t >> 8) * g) >> 24


def local_hash(seed: int, x: int, split: int, g: int) -> int:
    """Two-character tabulation over Z_g; the second character is looked up with the seed's halves swapped."""
    low, high = seed & M32, seed >> 32
    return (entry(low, high, x % split, g) + entry(high, low, x // split, g)) % g


def best_split(size: int) -> int:
    """max(64, 2^ceil(ceil(log2 d)/2)), by trying."""
    bits = 0
    while 2**bits < size:
        bits += 1
    return max(64, 2 ** -(-bits // 2))


def key(item: str | bytes | int, hash_seed: int) -> int:
    """The 64-bit number of an item of Keys(): little-endian BLAKE2s, kinds of items kept apart by the salt."""
    content, kind = {
        str: lambda: (str(item).encode(), b"str"),
        bytes: lambda: (item, b""),
        int: lambda: (str(item).encode(), b"int"),
    }[type(item)]()
    return _blake(content, hash_seed, kind)


def _blake(content: Any, hash_seed: int, salt: bytes) -> int:
    person = hash_seed.to_bytes(8, "little")
    digest = hashlib.blake2s(content, digest_size=8, person=person, salt=salt).digest()
    return sum(byte << 8 * i for i, byte in enumerate(digest))


def hashing_probabilities(scheme: Scheme) -> tuple[Fraction, Fraction]:
    return Fraction(int(scheme["keep"]), WORD), Fraction(1, int(scheme["hash_range"]))


def local_hashing(scheme: Scheme, reports: list[Report], items: list[int]) -> Answer:
    g, split = int(scheme["hash_range"]), int(scheme["split"])
    scores = []
    for x in items:
        scores.append(sum(1 for r in reports if local_hash(r["seed"], x, split, g) == r["hash"]))
    return pure_answer(scores, len(reports), *hashing_probabilities(scheme))


def public_seeds(scheme: Scheme) -> list[int]:
    """The seeds of the public functions of fast local hashing."""
    start = int(scheme["hash_seed"])
    return [_blake(i.to_bytes(8, "little"), start, b"FLH seed") for i in range(int(scheme["hashes"]))]


def fast_local_hashing(scheme: Scheme, reports: list[Report], items: list[int]) -> Answer:
    g, split, hashes, n = (
        int(scheme["hash_range"]),
        int(scheme["split"]),
        int(scheme["hashes"]),
        len(reports),
    )
    seeds = public_seeds(scheme)
    scores = []
    for x in items:
        scores.append(sum(1 for r in reports if local_hash(seeds[r["index"]], x, split, g) == r["hash"]))
    p, q = hashing_probabilities(scheme)
    plain = pure_answer(scores, n, p, q)
    f2 = second_moment(scheme, reports)
    extra = []
    for value in plain.values:
        f = clipped(value, n)
        extra.append(max(f2 - f * f - n + f, Fraction(0)) / (hashes * (g - 1)))
    return Answer(scores, plain.values, [a + b for a, b in zip(plain.variance, extra, strict=True)])


def second_moment(scheme: Scheme, reports: list[Report]) -> Fraction:
    """An estimate of the sum of squared counts: how unevenly each function's reports fall into its cells."""
    g, hashes, n = int(scheme["hash_range"]), int(scheme["hashes"]), len(reports)
    p, _ = hashing_probabilities(scheme)
    spread = Fraction(0)
    for i in range(hashes):
        mine = [r["hash"] for r in reports if r["index"] == i]
        for y in range(g):
            spread += (sum(1 for hashed in mine if hashed == y) - Fraction(len(mine), g)) ** 2
    gap = p - (1 - p) / (g - 1)
    share = 1 - Fraction(1, g)
    return n + hashes * max(Fraction(0), spread - n * share) / (gap**2 * share)


# --- Hadamard ----------------------------------------------------------------------------------------------------


def common_ones(i: int, j: int) -> int:
    """The number of binary places where both have a one."""
    count = 0
    while i and j:
        count += i & j & 1
        i, j = i >> 1, j >> 1
    return count


def hadamard(i: int, j: int) -> int:
    """An entry, +1 or -1, of the Hadamard matrix in natural order."""
    return -1 if common_ones(i, j) % 2 else 1


def hadamard_mechanism(scheme: Scheme, reports: list[Report], items: list[int], decoder: str = "full") -> Answer:
    t, n = int(scheme["coefficients"]), len(reports)
    g = 2**t
    p = Fraction(int(scheme["keep"]), WORD)
    if decoder == "full":
        # The t signs of x are a hash of x below 2^t: local hashing with the Hadamard rows as hash function.
        scores = []
        for x in items:
            support = 0
            for report in reports:
                signs = [hadamard(row, x) for row in report["rows"]]
                told = [-1 if report["signs"] >> j & 1 else 1 for j in range(t)]
                support += signs == told
            scores.append(support)
        return pure_answer(scores, n, p, Fraction(1, g))
    # The paper's decoder: each told sign is right with probability (1 + rho)/2; average over the t of them.
    right = p + (1 - p) * Fraction(2 ** (t - 1) - 1, g - 1)
    rho = 2 * right - 1
    scores = []
    for x in items:
        total = 0
        for report in reports:
            for j, row in enumerate(report["rows"]):
                total += hadamard(row, x) * (-1 if report["signs"] >> j & 1 else 1)
        scores.append(total)
    values = [score / (t * rho) for score in scores]
    # Holders: the t products are +-1 with mean rho, and so is the product of any two of them. Others: mean 0.
    holder = (t + t * (t - 1) * rho) / (t * rho) ** 2 - 1
    other = t / (t * rho) ** 2
    variance = [clipped(v, n) * holder + (n - clipped(v, n)) * other for v in values]
    return Answer(scores, values, variance)


def response_laws(scheme: Scheme) -> tuple[Fraction, Fraction, Fraction]:
    """Scale of the estimate; the chance that a report falls into a block, for its own users and for others."""
    blocks = int(scheme["blocks"])
    inside = Fraction(int(scheme["keep"]), WORD)
    # Outside the code lie its own block's other half, and two halves of each of the other blocks.
    half = (1 - inside) / (2 * blocks - 1)
    return 1 / (inside - half), inside + half, 2 * half


def hadamard_response(scheme: Scheme, reports: list[Report], items: list[int]) -> Answer:
    blocks, order, n = int(scheme["blocks"]), int(scheme["order"]), len(reports)
    scale, near, far = response_laws(scheme)
    scores, values, variance = [], [], []
    for x in items:
        block, row = x % blocks, 1 + x // blocks
        mine = [r["position"] % order for r in reports if r["position"] // order == block]
        score = sum(hadamard(row, j) for j in mine)
        value = score * scale
        mates = Fraction(n) if blocks == 1 else clipped((len(mine) - n * far) / (near - far), n)
        scores.append(score)
        values.append(value)
        variance.append(max(response_variance(scheme, n, clipped(value, n), mates), Fraction(0)))
    return Answer(scores, values, variance)


def response_variance(scheme: Scheme, n: int, f: Any, mates: Any) -> Fraction:
    """Over f holders, the other users of the block, and everybody else: squares of what each adds, less means."""
    scale, near, far = response_laws(scheme)
    holders = f * (scale**2 * near - 1)
    neighbours = (mates - f) * scale**2 * near
    strangers = (n - mates) * scale**2 * far
    return holders + neighbours + strangers


# --- subsets -----------------------------------------------------------------------------------------------------


def subset_probabilities(scheme: Scheme) -> tuple[Fraction, Fraction]:
    p = Fraction(int(scheme["keep"]), WORD)
    # All d items together are supported w times: once p, and d - 1 times q.
    return p, (int(scheme["subset_size"]) - p) / (domain_size(scheme) - 1)


def subset_selection(scheme: Scheme, reports: list[Report], items: list[int]) -> Answer:
    scores = []
    for x in items:
        scores.append(sum(1 for report in reports if report["bits"][x // 8] >> x % 8 & 1))
    return pure_answer(scores, len(reports), *subset_probabilities(scheme))


# --- linear hashing ----------------------------------------------------------------------------------------------


def toeplitz_hash(matrix: int, x: int, hash_bits: int, item_bits: int) -> int:
    """Bit j is the inner product of the item's bits with row j of the matrix, which are bits j, j+1, ... of it."""
    hashed = 0
    for j in range(hash_bits):
        total = sum((matrix >> (j + i) & 1) * (x >> i & 1) for i in range(item_bits))
        hashed += total % 2 * 2**j
    return hashed


def toeplitz_probabilities(scheme: Scheme) -> tuple[Fraction, Fraction]:
    return Fraction(int(scheme["keep"]), WORD), Fraction(int(scheme["window"]), 2 ** int(scheme["hash_bits"]))


def toeplitz_hashing(scheme: Scheme, reports: list[Report], items: list[int]) -> Answer:
    t, window, bits = (int(scheme[key]) for key in ("hash_bits", "window", "item_bits"))
    scores = []
    for x in items:
        scores.append(sum(1 for r in reports if toeplitz_hash(r["matrix"], x, t, bits) ^ r["hash"] < window))
    return pure_answer(scores, len(reports), *toeplitz_probabilities(scheme))


FIELD_EXPONENTS = {
    1: (1, 0), 2: (2, 1, 0), 3: (3, 1, 0), 4: (4, 1, 0), 5: (5, 2, 0), 6: (6, 1, 0),
    7: (7, 1, 0), 8: (8, 4, 3, 1, 0), 9: (9, 1, 0), 10: (10, 3, 0), 11: (11, 2, 0), 12: (12, 3, 0),
}  # fmt: skip
"""The powers of X in the polynomial of each field GF(2^t)."""


def field_product(a: int, b: int, t: int) -> int:
    """The product in GF(2^t), by polynomials over GF(2) as sets of exponents."""
    powers: set[int] = set()
    for i in range(t):
        for j in range(t):
            if a >> i & 1 and b >> j & 1:
                powers ^= {i + j}
    for power in range(2 * t - 2, t - 1, -1):
        if power in powers:
            powers ^= {power - t + exponent for exponent in FIELD_EXPONENTS[t]}
    return sum(1 << power for power in powers)


def line_points(t: int, m: int) -> list[tuple[int, ...]]:
    """The canonical points of all lines through the origin: the last coordinate that is not zero is one."""
    points: list[tuple[int, ...]] = []
    for f in range(m):
        for number in range(2 ** (t * f)):
            free = tuple(number // 2 ** (t * i) % 2**t for i in range(f))
            points.append((*free, 1, *(0,) * (m - f - 1)))
    return points


def affine_hash(point: Sequence[int], x: int, t: int) -> int:
    """The scalar product of a point and the digits of x over GF(2^t)."""
    hashed = 0
    for i, coordinate in enumerate(point):
        hashed ^= field_product(coordinate, x // 2 ** (t * i) % 2**t, t)
    return hashed


def affine_probabilities(scheme: Scheme) -> tuple[Fraction, Fraction]:
    t, m, window = (int(scheme[key]) for key in ("hash_bits", "dimension", "window"))
    p = Fraction(int(scheme["keep"]), WORD)
    # All g^m points together are supported w*g^(m-1) times: once p, and otherwise q.
    return p, (window * 2 ** (t * (m - 1)) - p) / (2 ** (t * m) - 1)


def affine_response(scheme: Scheme, reports: list[Report], items: list[int]) -> Answer:
    t, m, window = (int(scheme[key]) for key in ("hash_bits", "dimension", "window"))
    points = line_points(t, m)
    scores = []
    for x in items:
        support = 0
        for report in reports:
            place = field_product(report.get("stretch", 1), affine_hash(points[report["line"]], x, t), t)
            support += place ^ report["hash"] < window
        scores.append(support)
    return pure_answer(scores, len(reports), *affine_probabilities(scheme))


# --- sketches (section 4) ----------------------------------------------------------------------------------------


def row_cell(scheme: Scheme, row: int, x: int) -> int:
    """Where item x falls in a row, among the items of the oracle, or among those and their negatives."""
    seed = _blake(row.to_bytes(8, "little"), int(scheme["hash_seed"]), b"row seed")
    return local_hash(seed, x, int(scheme["split"]), domain_size(scheme["oracle"]) * (2 if "signs" in scheme else 1))


def net_counts(scheme: Scheme, reports: list[Report], decoder: str = "full") -> Answer:
    """Users of each item of HM less users of its negative, which reverses all signs; then the same of the negatives."""
    t, items = int(scheme["coefficients"]), range(domain_size(scheme))
    if decoder == "paper":
        plain = hadamard_mechanism(scheme, reports, list(items), decoder)
        scores, values = plain.scores, plain.values
    else:
        p = Fraction(int(scheme["keep"]), WORD)
        scores = []
        for x in items:
            score = 0
            for report in reports:
                signs = [hadamard(row, x) for row in report["rows"]]
                told = [-1 if report["signs"] >> j & 1 else 1 for j in range(t)]
                score += (signs == told) - (signs == [-each for each in told])
            scores.append(score)
        # Holders of x are told with all signs right with probability p, and with all signs wrong like any other lie.
        values = [score / (p - (1 - p) / (2**t - 1)) for score in scores]
    return Answer([*scores, *(-each for each in scores)], [*values, *(-each for each in values)], [])


def row_sketch(
    scheme: Scheme, reports: list[Report], items: list[int], combine: str = "mean", oracle: dict[str, Any] | None = None
) -> Answer:
    """What each row says of each item, and the sum, the median or the minimum of that, or peeled. Without variances."""
    rows, n = int(scheme["rows"]), len(reports)
    net = "signs" in scheme
    c = domain_size(scheme["oracle"]) // (2 if scheme["scheme"] == "CS" and not net else 1)
    users, cells = [], []
    for row in range(rows):
        own = [report["report"] for report in reports if report["row"] == row]
        users.append(len(own))
        if net:
            cells.append(net_counts(scheme["oracle"], own, **(oracle or {})))
            continue
        cells.append(answer(scheme["oracle"], own, range(domain_size(scheme["oracle"])), **(oracle or {})))
    # The median of all cells is what an item reads that nobody holds.
    shared = [cells[row].values[y] * n / users[row] for row in range(rows) if users[row] for y in range(c)]
    scores, values = [], []
    for x in items:
        score, total, scaled, debiased = 0, Fraction(0), [], []
        for row in range(rows):
            here = row_cell(scheme, row, x)
            if net:
                score += cells[row].scores[here]
                read = clean = cells[row].values[here]
            elif scheme["scheme"] == "CS":
                opposite = here - c if here >= c else here + c
                score += cells[row].scores[here] - cells[row].scores[opposite]
                read = clean = cells[row].values[here] - cells[row].values[opposite]
            else:
                score += cells[row].scores[here]
                read = cells[row].values[here]
                # Of the row's other users, one in c is expected in this cell: E = f + (n_row - f)/c.
                clean = (read - Fraction(users[row], c)) / (1 - Fraction(1, c))
            total += clean
            if users[row]:
                scaled.append(read * n / users[row])
                debiased.append(clean * n / users[row])
        scores.append(score)
        if combine == "mean":
            values.append(total)
        elif not n:
            values.append(Fraction(0))
        elif combine == "min":
            values.append(min(debiased))
        else:
            values.append(median(scaled) - (0 if scheme["scheme"] == "CS" else median(shared)))
    if combine == "peel" and n:
        # Half of a net count is in the cell, and half of it less in the opposite one.
        table = [[float(value) / (2 if net else 1) for value in cells[row].values] for row in range(rows)]
        where = [[row_cell(scheme, row, x) for row in range(rows)] for x in items]
        values = [Fraction(value) for value in peeled(table, [own / n for own in users], where, scheme["scheme"])]
    return Answer(scores, values, [])


def peeled(table: list[list[float]], shares: list[float], where: list[list[int]], kind: str) -> list[float]:
    """What items read in rows, once the frequent ones have been taken out: the largest first, read anew after each.

    ``where`` says for each item the cell of each row. Whoever is above the limit at the beginning of a round can be
    taken in it, and more than once; who was taken before also if he is as far below zero.
    """
    credited = [0.0] * len(where)
    size = len(table[0])
    half = size // 2

    def seen(row: list[float], cell: int) -> float:
        return row[cell] - row[(cell + half) % size] if kind == "CS" else row[cell]

    def left(item: int) -> float:
        total = 0.0
        for row, cell in zip(table, where[item], strict=True):
            mean = sum(seen(row, y) for y in range(size)) / size
            total += (seen(row, cell) - mean) * (1 if kind == "CS" else size / (size - 1))
        return total

    def excess(item: int) -> float:
        return abs(left(item)) if credited[item] else left(item)

    while True:
        variance = 0.0
        for row in table:
            read = [seen(row, y) for y in range(size)]
            variance += sum((value - sum(read) / size) ** 2 for value in read) / size
        error = math.sqrt(variance) * (1 if kind == "CS" else size / (size - 1))
        limit = max(1.0, NormalDist().inv_cdf(1 - 0.05 / len(where)) * error)
        pool = [item for item in range(len(where)) if excess(item) > limit]
        if not pool:
            return [credited[item] + left(item) for item in range(len(where))]
        while max(excess(item) for item in pool) > limit:
            best = max(pool, key=excess)
            taken = left(best)
            credited[best] += taken
            for row, share, cell in zip(table, shares, where[best], strict=True):
                row[cell] -= share * taken


# --- blocks of items in order (docs/adr/0033-slide.md) -------------------------------------------------------------


def block_offsets(width: int) -> list[int]:
    """How far the blocks of a width are moved: at most 256 ways, evenly spaced, all of them less than a block."""
    step = 1
    while width > 256 * step:
        step += 1
    return list(range(0, width, step))


def block_reports(scheme: Scheme, reports: list[Report]) -> list[list[list[Report]]]:
    """What the oracle of each width was sent at each offset: the fields of its reports."""
    found: list[list[list[Report]]] = [[[] for _ in block_offsets(width)] for width in scheme["widths"]]
    for report in reports:
        offset, *body = report["body"]
        found[report["group"]][offset].append(block_report(scheme["oracles"][report["group"]], body))
    return found


def block_report(oracle: Scheme, body: list[int]) -> Report:
    """The fields of the report of a block, from its bytes."""
    blocks = domain_size(oracle)
    if oracle["scheme"] == "SS":
        return {"bits": body[: (blocks + 7) // 8]}
    size = 1 if blocks <= 2**8 else 2 if blocks <= 2**16 else 4
    t = int(oracle["coefficients"])
    rows = [sum(body[size * j + i] << 8 * i for i in range(size)) for j in range(t)]
    return {"rows": rows, "signs": body[size * t]}


def block_moments(oracle: Scheme) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Of a report: p, q, and how likely it supports both the own block and another one, and two others."""
    if oracle["scheme"] == "HM":  # the hashes of any two items are independent
        p, q = Fraction(int(oracle["keep"]), WORD), Fraction(1, 2 ** int(oracle["coefficients"]))
        return p, q, p * q, q * q
    b, w = domain_size(oracle), int(oracle["subset_size"])
    p, q = subset_probabilities(oracle)
    others = max(1, math.comb(b - 1, 2))  # ways to choose two of the others; of two blocks, nobody has two others
    two = p * Fraction(math.comb(w - 1, 2), others) + (1 - p) * Fraction(math.comb(w, 2), others)
    return p, q, p * Fraction(w - 1, b - 1), two


class Slide:
    """SLIDE as defined: every matrix written out, every user's report by itself. For a few dozen items."""

    def __init__(self, scheme: Scheme) -> None:
        self.scheme, self.length = scheme, int(scheme["length"])
        self.size = self.length + bool(scheme["domain"].get("other", False))
        total = sum(scheme["weights"])
        # Every way to report: share of the users, weight of the width, block of each item, oracle.
        self.ways: list[tuple[float, float, list[int], Scheme]] = []
        for width, weight, oracle in zip(scheme["widths"], scheme["weights"], scheme["oracles"], strict=True):
            offsets = block_offsets(width)
            for offset in offsets:
                blocks = [(x + offset) // width for x in range(self.length)]
                blocks += [domain_size(oracle) - 1] * (self.size - self.length)
                self.ways.append((weight / total / len(offsets), self.weight(width, oracle), blocks, oracle))
        self.kernel = self.kernel_of_ways()

    def kernel_of_ways(self) -> Any:
        """How much reports say of two items together: K[x, y]."""
        kernel = np.zeros((self.size, self.size))
        for share, a, blocks, _ in self.ways:
            for x in range(self.size):
                for y in range(self.size):
                    kernel[x, y] += share * a * (blocks[x] == blocks[y])
        return kernel

    def sent(self, reports: list[Report]) -> list[list[Report]]:
        """What was sent in each of the ways."""
        return [own for sent in block_reports(self.scheme, reports) for own in sent]

    def weight(self, width: int, oracle: Scheme) -> float:
        """1/(V_c + H s/d): the inverse of the variance of a block's count for even data."""
        p, q, own, two = block_moments(oracle)
        both, others = (own - p * q) / (p - q) ** 2, (two - q * q) / (p - q) ** 2
        noise = q * (1 - q) / (p - q) ** 2 - others
        held = 1 + (1 - p - q) / (p - q) + 2 * (others - both)
        return float(1 / (noise + held * Fraction(width, self.length)))

    def scores(self, reports: list[Report]) -> Any:
        """The weighted counts of the blocks that contain each item, all widths and offsets together."""
        found = np.zeros(self.size)
        for own, (_, a, blocks, oracle) in zip(self.sent(reports), self.ways, strict=True):
            counts = answer(oracle, own, range(domain_size(oracle))).values
            found += [a * float(counts[block]) for block in blocks]
        return found

    def counts(self, reports: list[Report]) -> Any:
        """K^-1 score + mu K^-1 1, with mu so that the counts add up to n."""
        solved = np.linalg.solve(self.kernel, self.scores(reports))
        even = np.linalg.solve(self.kernel, np.ones(self.size))
        return solved + (len(reports) - solved.sum()) / even.sum() * even

    def coefficients(self, question: Any) -> tuple[Any, float]:
        """z and lambda with question = K z + lambda, where the z add up to 0."""
        corners = np.ones((self.size + 1, self.size + 1))
        corners[:-1, :-1], corners[-1, -1] = self.kernel, 0.0
        *z, level = np.linalg.solve(corners, [*question, 0.0])
        return np.array(z), float(level)

    def variance_of_one(self, question: Any, item: int) -> float:
        """Variance of what the report of one user adds to the answer: over all ways to report, all pairs of blocks."""
        z, level = self.coefficients(question)
        second = 0.0
        for share, a, blocks, oracle in self.ways:
            p, q, own, two = (float(moment) for moment in block_moments(oracle))
            sums = np.array([sum(z[np.equal(blocks, b)]) for b in range(domain_size(oracle))])
            # How likely the report supports each block, and each two of them.
            one, both = np.full(len(sums), q), np.full((len(sums), len(sums)), two)
            mine = blocks[item]
            one[mine], both[mine, :], both[:, mine] = p, own, own
            np.fill_diagonal(both, one)
            products = both - q * one[:, None] - q * one[None, :] + q * q  # means of (support - q)(support - q)
            second += share * a * a * float(sums @ products @ sums) / (p - q) ** 2
        return second - float(question[item] - level) ** 2

    def answers(self, reports: list[Report], questions: Any) -> tuple[Any, Any]:
        """Values of linear questions, and their variances for the estimated counts."""
        scores, counts, values, variances = self.scores(reports), self.counts(reports), [], []
        for question in questions:
            z, level = self.coefficients(question)
            values.append(len(reports) * level + z @ scores)
            ones = [self.variance_of_one(question, x) for x in range(self.size)]
            variances.append(max(float(np.dot(counts, ones)), 0.0))
        return np.array(values), np.array(variances)


def slide(scheme: Scheme, reports: list[Report], items: list[int]) -> Answer:
    server = Slide(scheme)
    singles = block_reports(scheme, reports)[0][0]  # the first width is 1, which has one offset
    values, variances = server.answers(reports, np.eye(server.size)[items])
    return Answer(answer(scheme["oracles"][0], singles, items).scores, values.tolist(), variances.tolist())


def by_level(scheme: Scheme, reports: list[Report]) -> list[list[Report]]:
    """What the oracle of each level of a tree was sent."""
    found: list[list[Report]] = [[] for _ in scheme["oracles"]]
    for report in reports:
        found[report["group"]].append(block_report(scheme["oracles"][report["group"]], report["body"]))
    return found


def ordered_size(scheme: Scheme) -> int:
    """The number of items in order, and of the one outside."""
    domain = scheme["domain"]
    if domain["type"] == "integers":
        return int(domain["size"])
    return int(domain["high"] - domain["low"] + 1 + bool(domain.get("other", False)))


class Tree(Slide):
    """HH as defined: blocks at one offset, the item outside the order the last of all."""

    def __init__(self, scheme: Scheme) -> None:
        self.scheme, self.size = scheme, ordered_size(scheme)
        self.length = self.size
        levels = zip(scheme["weights"], scheme["oracles"], strict=True)
        self.ways = []
        for i, (weight, oracle) in enumerate(levels):
            width = scheme["branching"] ** i
            blocks = [x // width for x in range(self.size)]
            self.ways.append((weight / sum(scheme["weights"]), self.weight(width, oracle), blocks, oracle))
        self.kernel = self.kernel_of_ways()

    def sent(self, reports: list[Report]) -> list[list[Report]]:
        return by_level(self.scheme, reports)


class Haar:
    """HAAR as defined: all users are halved again and again, by the estimated differences between halves."""

    def __init__(self, scheme: Scheme) -> None:
        self.scheme, self.size = scheme, ordered_size(scheme)
        self.shares = [weight / sum(scheme["weights"]) for weight in scheme["weights"]]
        self.gaps = [2 * int(oracle["keep"]) / WORD - 1 for oracle in scheme["oracles"]]

    def differences(self, reports: list[Report]) -> list[list[float]]:
        """Left half less right half of each block, level by level, for all users."""
        found = []
        for sent, oracle, share, gap in zip(
            by_level(self.scheme, reports), self.scheme["oracles"], self.shares, self.gaps, strict=True
        ):
            net = [sum(signed(own, block) for own in sent) for block in range(domain_size(oracle))]
            found.append([number / gap / share for number in net])
        return found

    def counts(self, differences: list[list[float]], n: float) -> Any:
        """The counts of all items: those of a block are divided between its halves."""
        counts = np.zeros(self.size)

        def divide(level: int, block: int, users: float) -> None:
            if level < 0:
                counts[block] = users
                return
            # A right half without items has no users.
            left, right = 2 * block, 2 * block + 1
            if right << level >= self.size:
                divide(level - 1, left, users)
                return
            divide(level - 1, left, (users + differences[level][block]) / 2)
            divide(level - 1, right, (users - differences[level][block]) / 2)

        divide(len(self.shares) - 1, 0, n)
        return counts

    def variance_of_one(self, question: Any, item: int) -> float:
        """Variance of what the report of one user adds to the answer: over all levels and all rows."""
        blocks = [domain_size(oracle) for oracle in self.scheme["oracles"]]
        nothing = [[0.0] * count for count in blocks]
        level, second = float(question @ self.counts(nothing, 1.0)), 0.0
        for i, (share, gap) in enumerate(zip(self.shares, self.gaps, strict=True)):
            effects = []
            for block in range(blocks[i]):
                one = [list(row) for row in nothing]
                one[i][block] = 1.0
                effects.append(float(question @ self.counts(one, 0.0)))
            for row in range(blocks[i]):
                whole = sum(effect * (-1) ** bin(row & block).count("1") for block, effect in enumerate(effects))
                second += share / blocks[i] * (whole / gap / share) ** 2
        return second - float(question[item] - level) ** 2

    def answers(self, reports: list[Report], questions: Any) -> tuple[Any, Any]:
        """Values of linear questions, and their variances for the estimated counts."""
        counts = self.counts(self.differences(reports), len(reports))
        ones = [[self.variance_of_one(question, x) for x in range(self.size)] for question in questions]
        return questions @ counts, np.maximum(np.array(ones) @ counts, 0.0)


def signed(report: Report, block: int) -> int:
    """The sign of a report on a block, in the row that it names."""
    return int((-1) ** (report["signs"] + bin(report["rows"][0] & block).count("1")))


def tree(scheme: Scheme, reports: list[Report], items: list[int]) -> Answer:
    server = Tree(scheme)
    values, variances = server.answers(reports, np.eye(server.size)[items])
    scores = answer(scheme["oracles"][0], by_level(scheme, reports)[0], items).scores
    return Answer(scores, values.tolist(), variances.tolist())


def haar(scheme: Scheme, reports: list[Report], items: list[int]) -> Answer:
    server, singles = Haar(scheme), by_level(scheme, reports)[0]
    values, variances = server.answers(reports, np.eye(server.size)[items])
    # The halves of blocks of two are items: the right one counts against the block.
    scores = [(-1) ** item * sum(signed(own, item // 2) for own in singles) for item in items]
    return Answer(scores, values.tolist(), variances.tolist())


def square_wave(scheme: Scheme, places: list[int], smooth: bool) -> Any:
    """Shares of all items by expectation maximization (Li et al. 2020), every probability written out."""
    d, width, keep = ordered_size(scheme), 2 * int(scheme["reach"]) + 1, int(scheme["keep"]) / WORD
    chance = np.full((d + width - 1, d), (1 - keep) / (d - 1))
    for x in range(d):
        chance[x : x + width, x] = keep / width
    seen = np.bincount(places, minlength=len(chance)).astype(float)
    shares, before = np.full(d, 1 / d), -np.inf
    threshold = 1e-3 if smooth else 1e-3 * math.exp(Fraction(scheme["epsilon"]))
    for _ in range(10_000):
        likely = chance @ shares
        expected = shares * (chance.T @ (seen / likely))
        shares = expected / expected.sum()
        if smooth:
            near = [[shares[y] * (2 - abs(x - y)) for y in range(d) if abs(x - y) < 2] for x in range(d)]
            shares = np.array([sum(each) / (4 if len(each) == 3 else 3) for each in near])
            shares = shares / shares.sum()
        now = float(seen @ np.log(likely))
        if abs(now - before) < threshold:
            break
        before = now
    return shares


def one_bit_mean(scheme: Scheme, bits: list[int], points: list[float]) -> float:
    """The mean of the values, if every bit stands for the place whose expectation it would have."""
    first, step = int(scheme["first"]), int(scheme["step"])
    places = scheme.get("places", range(len(points)))
    mean = sum(Fraction(bit * WORD - first, step) for bit in bits) / len(bits)
    return points[0] + float(mean / places[-1]) * (points[-1] - points[0])


SERVERS: dict[str, Callable[..., Answer]] = {
    "DE": direct,
    "SUE": unary,
    "OUE": unary,
    "THE": unary,
    "BLH": local_hashing,
    "OLH": local_hashing,
    "FLH": fast_local_hashing,
    "HM": hadamard_mechanism,
    "HR": hadamard_response,
    "SS": subset_selection,
    "TLH": toeplitz_hashing,
    "AGR": affine_response,
    "CM": row_sketch,
    "CS": row_sketch,
    "SLIDE": slide,
    "HH": tree,
    "HAAR": haar,
}


# --- several attributes (docs/adr/0039-clique.md) ------------------------------------------------------------------


class Clique:
    """CLIQUE as defined, in fractions: every table of a clique written out, every user's report by itself.

    SMP is the same with one attribute in each clique. For a few attributes of a few values.
    """

    def __init__(self, scheme: Scheme) -> None:
        self.sizes = [attribute_size(attribute) for attribute in scheme["domain"]["attributes"]]
        everyone = [[j] for j in range(len(self.sizes))]
        self.cliques: list[list[int]] = scheme.get("cliques", everyone)
        weights = scheme.get("weights", [1] * len(self.cliques))
        self.shares = [Fraction(weight, sum(weights)) for weight in weights]
        by_cells = {domain_size(oracle): oracle for oracle in scheme["oracles"]}
        self.oracles = [by_cells[math.prod(self.sizes[j] for j in clique)] for clique in self.cliques]
        self.moments = [block_moments(oracle) for oracle in self.oracles]

    def records(self) -> list[tuple[int, ...]]:
        """All records that a user can have."""
        return list(itertools.product(*map(range, self.sizes)))

    def cells(self, number: int) -> list[tuple[int, ...]]:
        """The cells of the table of a clique, in the order of the oracle's items: the last attribute is the fastest."""
        return list(itertools.product(*(range(self.sizes[j]) for j in self.cliques[number])))

    def noise(self, number: int) -> tuple[Fraction, Fraction]:
        """V_c and H of a clique's oracle: the variance of a contrast, and what a holder adds to it."""
        p, q, own, two = self.moments[number]
        both, others = (own - p * q) / (p - q) ** 2, (two - q * q) / (p - q) ** 2
        return q * (1 - q) / (p - q) ** 2 - others, 1 + (1 - p - q) / (p - q) + 2 * (others - both)

    def trust(self, number: int, component: Sequence[int]) -> Fraction:
        """How much a clique counts in the estimate of a component: the inverse of its variance for even data."""
        noise, own = self.noise(number)
        return math.prod(self.sizes[j] for j in component) / (noise * len(self.cells(number)) + own)

    @cache  # noqa: B019  a few small tables
    def weight(self, number: int, component: tuple[int, ...]) -> Fraction:
        """What a report of a clique counts in the estimate of a component, so that it is unbiased."""
        holding = [i for i, other in enumerate(self.cliques) if set(component) <= set(other)]
        return self.trust(number, component) / sum(self.shares[i] * self.trust(i, component) for i in holding)

    def coefficient(self, number: int, cell: Sequence[int], asked: dict[int, int]) -> Fraction:
        """What one user, known to be in this cell of a clique, adds to the count of the asked cell of a table."""
        return self.coefficient_of(number, tuple(cell), tuple(asked.items()))

    @cache  # noqa: B019  a few small tables
    def coefficient_of(self, number: int, cell: tuple[int, ...], named: tuple[tuple[int, int], ...]) -> Fraction:
        clique, total, asked = self.cliques[number], Fraction(0), dict(named)
        own = dict(zip(clique, cell, strict=True))
        for many in range(1, len(asked) + 1):
            for component in itertools.combinations(asked, many):
                if not set(component) <= set(clique):
                    continue
                part = self.weight(number, component)
                for j in asked:
                    size = self.sizes[j]
                    part *= (own[j] == asked[j]) - Fraction(1, size) if j in component else Fraction(1, size)
                total += part
        return total

    def level(self, asked: dict[int, int]) -> Fraction:
        """What every user adds: an even share."""
        return Fraction(1, math.prod(self.sizes[j] for j in asked))

    def count(self, reports: list[Report], asked: dict[int, int]) -> Fraction:
        """The estimated number of users in a cell of a table: attributes to values."""
        total = len(reports) * self.level(asked)
        for report in reports:
            number = report["group"]
            oracle = self.oracles[number]
            found = answer(oracle, [block_report(oracle, report["body"])], range(domain_size(oracle))).values
            for value, cell in zip(found, self.cells(number), strict=True):
                total += Fraction(value) * self.coefficient(number, cell, asked)
        return total

    def variance_of_one(self, record: Sequence[int], asked: dict[int, int]) -> Fraction:
        """Variance of what the report of a user with this record adds: over all cliques, and all pairs of cells."""
        second = Fraction(0)
        for number, share in enumerate(self.shares):
            p, q, own, two = self.moments[number]
            cells = self.cells(number)
            mine = cells.index(tuple(record[j] for j in self.cliques[number]))
            weights = [self.coefficient(number, cell, asked) for cell in cells]
            for (i, a), (j, b) in itertools.product(enumerate(weights), repeat=2):
                one, other = (p if i == mine else q), (p if j == mine else q)
                both = one if i == j else own if mine in (i, j) else two
                second += share * a * b * (both - q * one - q * other + q * q) / (p - q) ** 2
        held = all(record[j] == value for j, value in asked.items())
        return second - (held - self.level(asked)) ** 2


def attribute_size(attribute: Scheme) -> int:
    """Number of cells of an attribute, that for missing values included."""
    known = domain_size if attribute["domain"]["type"] == "labels" else ordered_size
    return known(attribute) + int(attribute["missing"])


# --- what the definitions say of parameters ------------------------------------------------------------------------


def closest_hash_range(exp_epsilon: Any) -> int:
    """round(e^eps) + 1, by counting up."""
    g = 1
    while g + Fraction(1, 2) <= Fraction(exp_epsilon):
        g += 1
    return g + 1


def response_blocks(exp_epsilon: Any, size: int) -> int:
    """2^(ceil(log2 min(e^eps, 2d)) - 1), by doubling."""
    power = 1
    while power < min(Fraction(exp_epsilon), Fraction(2 * size)):
        power *= 2
    return max(1, power // 2)


def response_order(blocks: int, size: int) -> int:
    """2^ceil(log2(d/B + 1)), by doubling."""
    order = 1
    while order < Fraction(size, blocks) + 1:
        order *= 2
    return order


def best_coefficients(exp_epsilon: Any, size: int, most: int = 8) -> int:
    """The t with the lowest (e^eps + 2^t - 1)^2/((2^t - 1)(e^eps - 1)^2), among 1 ... min(most, log2 d)."""
    candidates: Sequence[int] = [t for t in range(1, most + 1) if 2**t <= size]
    e = Fraction(exp_epsilon)
    return min(candidates, key=lambda t: (e + 2**t - 1) ** 2 / ((2**t - 1) * (e - 1) ** 2))


def best_subset_size(exp_epsilon: Any, size: int) -> int:
    """The smallest w with (d-w)(d-w-1) <= w(w+1)e^(2 eps), by counting up."""
    w = 1
    while (size - w) * (size - w - 1) > w * (w + 1) * Fraction(exp_epsilon) ** 2:
        w += 1
    return w


def lowest_variance(exp_epsilon: Any) -> Fraction:
    """4e^eps/(e^eps - 1)^2, the least that an item nobody holds can have in a large domain, per user."""
    return 4 * Fraction(exp_epsilon) / (Fraction(exp_epsilon) - 1) ** 2


def variance_of_support(exp_epsilon: Any, share: Fraction) -> Fraction:
    """(1 + tau(e^eps - 1))^2/((e^eps - 1)^2 tau(1 - tau)), where reports support a share tau of all items."""
    gain = Fraction(exp_epsilon) - 1
    return (1 + share * gain) ** 2 / (gain**2 * share * (1 - share))


@cache
def best_window(exp_epsilon: Any, hash_bits: int) -> int:
    """The window with the lowest variance, by counting up as long as it falls."""
    w, g = 1, 2**hash_bits
    variance = variance_of_support(exp_epsilon, Fraction(1, g))
    while w + 1 < g:
        wider = variance_of_support(exp_epsilon, Fraction(w + 1, g))
        if wider >= variance:
            break
        w, variance = w + 1, wider
    return w


def best_hash(exp_epsilon: Any, most: int = 12) -> tuple[int, int]:
    """The smallest t and its best window within 5 % of the lowest variance; else the largest t."""
    for t in range(1, most):
        w = best_window(exp_epsilon, t)
        if variance_of_support(exp_epsilon, Fraction(w, 2**t)) <= Fraction(21, 20) * lowest_variance(exp_epsilon):
            return t, w
    return most, best_window(exp_epsilon, most)


def best_space(exp_epsilon: Any, size: int, most: int = 12) -> tuple[int, int, int]:
    """Bits of the field, dimension and window of the cheapest decoder within 5 % of the lowest variance.

    Or of the lowest variance of all, where none comes so near.
    """
    e, bits = Fraction(exp_epsilon), 0
    while 2**bits < size:
        bits += 1
    costs, variances = {}, {}
    for t in range(1, most + 1):
        m, w, g = max(2, -(-bits // t)), best_window(exp_epsilon, t), 2**t
        p = e * w / (e * w + g - w)
        q = (w * g ** (m - 1) - p) / (g**m - 1)
        variances[t, m, w] = pure_variance(1, 0, p, q)
        if variances[t, m, w] <= Fraction(21, 20) * lowest_variance(exp_epsilon):
            costs[t, m, w] = 10**6 * w + 3 * g**m
    return min(costs, key=lambda shape: costs[shape]) if costs else min(variances, key=lambda shape: variances[shape])


# --- searches (section 5 of the paper) -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Question:
    """What a part of a search asks about a text: the characters in [first, last), with a tag if there are tag bits."""

    oracle: Scheme
    first: int
    last: int
    tag_bits: int | None = None


def questions(scheme: Scheme) -> tuple[list[Question], list[tuple[int, ...]], list[int]]:
    """The questions of a search, those that each group of users answers, and the weights of the groups."""
    name, length = scheme["scheme"], scheme["domain"]["length"]
    if name in ("PEM", "TH"):
        lengths = [*range(scheme["start"], length, scheme["step"]), length]
        if name == "PEM":
            asked = [Question(scheme["oracle"], 0, last) for last in lengths]
            return asked, [(i,) for i in range(len(asked))], scheme["weights"]
        asked = [Question(scheme["oracle"], 0, last) for last in lengths[:-1]]
    else:
        size = scheme["fragment"] if name == "SFP" else 1
        places = range(0, length, size)
        asked = [Question(scheme["oracle"], i, min(i + size, length), scheme["hash_bits"]) for i in places]
    pieces, split = len(asked), scheme.get("split", "budget")
    if split == "none":  # whole texts are not asked about
        return asked, [(i,) for i in range(pieces)], [1] * pieces
    asked.append(Question(scheme["word_oracle"], 0, length))
    if name == "BITSTOGRAM":
        return asked, [(i,) for i in range(pieces + 1)], scheme["weights"]
    if split == "users":  # one half is asked about a piece, the other half about the whole text
        return asked, [(i,) for i in range(pieces + 1)], [1] * pieces + [pieces]
    return asked, [(i, pieces) for i in range(pieces)], [1] * pieces


def characters(scheme: Scheme) -> list[Any]:
    """The characters of the alphabet, as texts or bytes of one."""
    domain = scheme["domain"]
    if domain["type"] == "byte strings":
        return [bytes([byte]) for byte in bytes.fromhex(domain["alphabet"])]
    return [*domain["alphabet"], *["\N{REPLACEMENT CHARACTER}"] * domain["other"]]


def symbols(scheme: Scheme, text: Any) -> list[int]:
    """The places of the characters in the alphabet, from 1; 0 fills what a short text leaves."""
    letters = characters(scheme)
    places = [1 + letters.index(text[i : i + 1]) for i in range(len(text))]
    return places + [0] * (scheme["domain"]["length"] - len(places))


def packed(scheme: Scheme, numbers: list[int]) -> bytes:
    """Symbols as bytes, two each where one does not do."""
    size = 1 if len(characters(scheme)) < 256 else 2
    return b"".join(number.to_bytes(size, "little") for number in numbers)


def tag_of(scheme: Scheme, text: Any) -> int:
    """The tag of a whole text."""
    return _blake(packed(scheme, symbols(scheme, text)), int(scheme["hash_seed"]), b"tag") % 2 ** scheme["hash_bits"]


def asked_about(scheme: Scheme, question: Question, seen: Any, tag: int = 0) -> int:
    """The oracle's item for these characters in the question's place."""
    numbers = symbols(scheme, seen)[: question.last - question.first]
    if question.oracle["domain"]["type"] == "keys":
        content = packed(scheme, numbers) + (b"" if question.tag_bits is None else tag.to_bytes(2, "little"))
        return _blake(content, int(question.oracle["domain"]["hash_seed"]), b"symbols")
    number = 0
    for symbol in numbers:
        number = number * (1 + len(characters(scheme))) + symbol
    return number * 2 ** (question.tag_bits or 0) + tag


Sent = tuple[int, list[Report]]
"""A report: the group, and a record for each of its questions."""


def counts(scheme: Scheme, sent: list[Sent], number: int, items: list[int]) -> list[Fraction]:
    """How many of all users gave each answer, scaled up from those who were asked."""
    asked, groups, weights = questions(scheme)
    share = Fraction(sum(w for w, group in zip(weights, groups, strict=True) if number in group), sum(weights))
    own = [records[groups[group].index(number)] for group, records in sent if number in groups[group]]
    return [value / share for value in answer(asked[number].oracle, own, items).values]


def texts(scheme: Scheme, longest: int) -> list[Any]:
    """Every text of at most so many characters, in the order of the symbols."""
    empty = characters(scheme)[0][:0]
    if not longest:
        return [empty]
    return [empty, *(letter + rest for letter in characters(scheme) for rest in texts(scheme, longest - 1))]


def best(candidates: list[Any], values: list[Fraction], most: int | None, threshold: Any) -> list[tuple[Any, Fraction]]:
    """The candidates with the largest values, the first of equal ones first."""
    order = sorted(range(len(candidates)), key=lambda i: -values[i])[:most]
    return [(candidates[i], values[i]) for i in order if threshold is None or values[i] >= threshold]


Found = list[tuple[Any, Fraction]]


def found_among(scheme: Scheme, sent: list[Sent], candidates: list[Any], k: int | None, threshold: Any) -> Found:
    """The most common of candidates for whole texts, by those who report whole texts."""
    asked, _, _ = questions(scheme)
    values = counts(scheme, sent, len(asked) - 1, [asked_about(scheme, asked[-1], text) for text in candidates])
    return [(text, value) for text, value in best(candidates, values, k, threshold) if value > 0]


def hierarchical(
    scheme: Scheme, sent: list[Sent], *, k: int | None = 10, threshold: Any = None, keep: int = 20
) -> Found:
    """PEM and TH: every extension of the heavy prefixes of one length is a candidate for the next."""
    asked, _, _ = questions(scheme)
    kept, before = [characters(scheme)[0][:0]], 0
    for number, question in enumerate(asked):
        more = texts(scheme, question.last - before)
        open_ones = [prefix for prefix in kept if len(prefix) == before]
        candidates = [prefix + rest for prefix in open_ones for rest in more]
        candidates += [prefix for prefix in kept if len(prefix) < before]
        if number == len(asked) - 1:
            return found_among(scheme, sent, candidates, k, threshold)
        values = counts(scheme, sent, number, [asked_about(scheme, question, text) for text in candidates])
        kept, before = [text for text, _ in best(candidates, values, keep, threshold)], question.last
    raise AssertionError("whole texts come last")


def fragment_puzzle(
    scheme: Scheme, sent: list[Sent], *, k: int | None = 10, threshold: Any = None, keep: int = 20
) -> Found:
    """SFP: the texts all of whose tagged fragments are heavy."""
    asked, _, _ = questions(scheme)
    pieces = [question for question in asked if question.tag_bits is not None]
    heavy = []
    for number, question in enumerate(pieces):
        tags = range(2**question.tag_bits)  # type: ignore[operator]
        pairs = [(text, tag) for text in texts(scheme, question.last - question.first) for tag in tags]
        values = counts(scheme, sent, number, [asked_about(scheme, question, *pair) for pair in pairs])
        heavy.append({pair for pair, _ in best(pairs, values, keep, threshold)})
    fits = [
        text
        for text in texts(scheme, scheme["domain"]["length"])
        if all(
            (text[question.first : question.last], tag_of(scheme, text)) in found
            for question, found in zip(pieces, heavy, strict=True)
        )
    ]
    if "word_oracle" in scheme:
        return found_among(scheme, sent, fits, k, threshold)
    means = []
    for text in fits:
        values = [
            counts(scheme, sent, number, [asked_about(scheme, question, text[question.first : question.last], tag)])
            for number, question in enumerate(pieces)
            for tag in [tag_of(scheme, text)]
        ]
        means.append(sum((value for (value,) in values), Fraction(0)) / len(pieces))
    return [(text, value) for text, value in best(fits, means, k, threshold) if value > 0]


def bitstogram(scheme: Scheme, sent: list[Sent], *, k: int | None = 10, threshold: Any = None) -> Found:
    """BITSTOGRAM: in every bucket the most common symbol of each place; a text ends where that is none."""
    asked, _, _ = questions(scheme)
    empty = characters(scheme)[0][:0]
    named = []
    for bucket in range(2 ** scheme["hash_bits"]):
        text = empty
        for number, question in enumerate(asked[:-1]):
            letters = texts(scheme, 1)
            values = counts(scheme, sent, number, [asked_about(scheme, question, letter, bucket) for letter in letters])
            ((letter, _),) = best(letters, values, 1, None)
            if letter == empty:
                break
            text += letter
        named.append(text)
    candidates = sorted(set(named), key=lambda text: symbols(scheme, text))
    return found_among(scheme, sent, candidates, k, threshold)


SEARCHES = {"PEM": hierarchical, "TH": hierarchical, "SFP": fragment_puzzle, "BITSTOGRAM": bitstogram}
