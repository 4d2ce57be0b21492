"""The server side of the eight oracles as the paper tells it: plain loops over users, and fractions.

Slow and obvious on purpose. Everything starts from the fields of decoded reports and the JSON of the scheme, and
follows section 3 of the paper (in its realised probabilities: the integer thresholds over 2^64 of the JSON).
Nothing of the package is used here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

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


def _plain(value: Any) -> int | list[int]:
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


SERVERS: dict[str, Callable[..., Answer]] = {
    "DE": direct,
    "SUE": unary,
    "OUE": unary,
    "BLH": local_hashing,
    "OLH": local_hashing,
    "FLH": fast_local_hashing,
    "HM": hadamard_mechanism,
    "HR": hadamard_response,
}


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
