"""A slow, obvious client of every scheme, written from the definitions and sharing no line with the package.

The test vectors are made with it, so that they pin what device, bulk and browser code must do instead of echoing
what one of them does. Thresholds come from `decimal`, hashes are spelled out, sets are listed.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from hashlib import blake2s, sha256
from itertools import combinations
from math import floor
from typing import Any
from unicodedata import normalize

N = 2**64

Value = int | str | bytes
Fields = dict[str, Any]


class TapeEndError(Exception):
    """The client asked for a word after the last one."""


class Tape:
    """The two primitives over a given list of words. Remembers which words each draw took."""

    def __init__(self, words: Iterable[int]) -> None:
        self._words = iter(words)
        self.draws: list[list[int]] = []

    def bernoulli(self, threshold: int) -> bool:
        self.draws.append([self._next()])
        return self.draws[-1][-1] < threshold

    def below(self, size: int) -> int:
        self.draws.append([self._next()])
        while self.draws[-1][-1] >= N - N % size:
            self.draws[-1].append(self._next())
        return self.draws[-1][-1] % size

    def _next(self) -> int:
        for word in self._words:
            return word
        raise TapeEndError

    @property
    def words(self) -> list[int]:
        """All words taken so far, in order."""
        return [word for draw in self.draws for word in draw]


# --- schemes ----------------------------------------------------------------------------------------------------


SKETCHES = ("CM", "CS")
KEYED_SEARCHES = ("PEM", "TH", "SFP", "BITSTOGRAM")
"""Those whose oracles may be over keys."""
SEARCHES = (*KEYED_SEARCHES, "TRELLIS", "ROUND")
TABLES = ("CLIQUE", "SMP", "SPL")
MEMO_BITS = ("LOSUE", "LSUE")
MEMOISED = ("LOLOHA", *MEMO_BITS)
GROUPED = (*SEARCHES, "SLIDE", "HH", "HAAR", *TABLES)
PARTS = ("oracle", "word_oracle", "letters", "pairs", "first", "folded", "deep")
"""The fields in which searches have their oracles."""


def scheme_of(name: str, epsilon: str, domain: Fields, **own: Any) -> Fields:
    """The JSON fields of a scheme, with everything that is derived; a sketch has the epsilon of its oracle.

    A search has that of its oracle, or the sum of both where both are sent, or the larger where one is.
    """
    eps = Fraction(epsilon)
    d = size_of(domain)
    fields: Fields = {"scheme": name, "version": 1, "epsilon": str(eps), "domain": domain}
    if name == "DE":
        return fields | {"keep": str(_keep(eps, d - 1))}
    if name == "SUE":
        keep = _keep(eps / 2, 1)
        return fields | {"keep": str(keep), "flip": str(N - keep)}
    if name == "OUE":
        # ceil = -floor(-...)
        flip = -_floor(eps, lambda e: -N / (e + 1))
        return fields | {"keep": str(N // 2), "flip": str(flip)}
    if name == "THE":
        theta = Fraction(own.pop("threshold", None) or _best_threshold(eps))
        keep, flip = _noisy_bits(eps, theta)
        return fields | {"threshold": str(theta), "keep": str(keep), "flip": str(flip)}
    if name in ("BLH", "OLH", "FLH"):
        g = own.pop("hash_range", 2 if name == "BLH" else min(_floor(eps, lambda e: e + Decimal("0.5")) + 1, 2**16))
        fields |= {"hash_range": g, "keep": str(_keep(eps, g - 1)), "split": split_of(domain)}
        if name == "FLH":
            hash_seed = own.pop("hash_seed", 0)
            fields |= {"hashes": own.pop("hashes", 1000), "hash_seed": written_integer(hash_seed)}
    elif name == "HM":
        t = own.pop("coefficients", None) or _best_coefficients(eps, d)
        fields |= {"coefficients": t, "keep": str(_keep(eps, 2**t - 1))}
    elif name == "HR":
        blocks = _blocks(eps, d, own.pop("variant", "auto"))
        order = next(2**k for k in range(64) if blocks * (2**k - 1) >= d)
        fields |= {"variant": "pure" if blocks == 1 else "block", "blocks": blocks, "order": order}
        fields |= {"keep": str(_keep(eps, 2 * blocks - 1))}
    elif name == "SS":
        w = own.pop("subset_size", None) or _best_subset_size(eps, d)
        fields |= {"subset_size": w, "keep": str(_keep(eps, d - w, w))}
    elif name == "TLH":
        t, w = own.pop("hash_bits", None), own.pop("window", None)
        t = t or _best_hash_bits(eps)
        w = w or _best_window(eps, t)
        fields |= {"hash_bits": t, "window": w, "keep": str(_keep(eps, 2**t - w, w))}
        # Of a 64-bit key count as many bits as leave the matrix, M + t - 1 bits, in one word.
        fields |= {"item_bits": 65 - t if domain["type"] == "keys" else binary_digits(d)}
    elif name == "AGR":
        t, m, w = _best_space(eps, d, *(own.pop(key, None) for key in ("hash_bits", "dimension", "window")))
        fields |= {"hash_bits": t, "dimension": m, "window": w, "keep": str(_keep(eps, 2**t - w, w))}
    elif name in SKETCHES:
        fields |= {"oracle": own.pop("oracle"), "rows": own.pop("rows"), "split": split_of(domain)}
        fields |= {"hash_seed": written_integer(own.pop("hash_seed", 0))}
        fields |= {"signs": own.pop("signs")} if "signs" in own else {}
        assert Fraction(fields["oracle"]["epsilon"]) == eps
    elif name == "BLOOM":
        k = own.pop("hashes", 2)
        if "oracle" in own:
            fields |= {"oracle": own.pop("oracle")}
            assert Fraction(fields["oracle"]["epsilon"]) == eps
        else:
            # Two filters differ in at most 2k bits, which share epsilon.
            fields |= {"bits": own.pop("bits", 128), "keep": str(_keep(eps / (2 * k), 1))}
        fields |= {"hashes": k, "cohorts": own.pop("cohorts", 64), "split": split_of(domain)}
        fields |= {"hash_seed": written_integer(own.pop("hash_seed", 0))}
    elif name in SEARCHES:
        fields |= {field: own.pop(field) for field in PARTS if field in own}
        if name in ("PEM", "TH"):
            fields |= {"start": own.pop("start", 2), "step": own.pop("step", 2)}
        elif name == "TRELLIS":
            fields |= {"start": own.pop("start", 4), "step": own.pop("step", 2), "cohorts": own.pop("cohorts", 2)}
            fields |= {"weights": own.pop("weights"), "hash_seed": written_integer(own.pop("hash_seed", 0))}
            fields |= {"deep": fields["folded"]} if "folded" in fields and "deep" not in fields else {}
        elif name == "ROUND":
            fields |= {"prefixes": sorted(set(own.pop("prefixes"))), "stem": own.pop("stem"), "reach": own.pop("reach")}
        else:
            fields |= {"fragment": own.pop("fragment", 2)} if name == "SFP" else {}
            fields |= {"hash_bits": own.pop("hash_bits", 8 if name == "SFP" else 10)}
            fields |= {"hash_seed": written_integer(own.pop("hash_seed", 0))}
        length = domain["length"]
        if name == "PEM":
            fields |= {"weights": own.pop("weights", None) or [1] * len(lengths_of(fields))}
        if name == "BITSTOGRAM":
            fields |= {"weights": own.pop("weights", None) or [1] * length + [length]}
        fields |= {"split": own.pop("split")} if "split" in own else {}
        spent = [sum(Fraction(part["oracle"]["epsilon"]) for part in group) for group in groups_of(fields)]
        assert max(spent) == eps
    elif name == "SLIDE":
        others = domain.get("other", False)
        widths = own.pop("widths", None) or _usual_widths(d - others)
        m = len(widths)
        # Relative shares 1.25/m and (1 - 1.25/m)/(m - 1), times 4m(m - 1).
        weights = own.pop("weights", None) or [5 * (m - 1) or 1, *[4 * m - 5] * (m - 1)]
        fields |= {"length": d - others, "widths": widths, "weights": weights}
        fields |= {"oracles": [_block_oracle(epsilon, count_blocks(d - others, s) + others) for s in widths]}
    elif name == "HH":
        base = own.pop("branching", None) or 4
        widths = tree_widths(d, base)
        weights = own.pop("weights", None) or [1] * len(widths)
        fields |= {"branching": base, "weights": weights}
        fields |= {"oracles": [_block_oracle(epsilon, -(-d // width)) for width in widths]}
    elif name == "HAAR":
        order = hadamard_order(d)
        halved = [2**i for i in range(1, 64) if 2**i <= order]
        fields |= {"weights": own.pop("weights", None) or [1] * len(halved)}
        sizes = [{"type": "integers", "size": max(2, order // width)} for width in halved]
        fields |= {"oracles": [scheme_of("HM", epsilon, size, coefficients=1) for size in sizes]}
    elif name in TABLES:
        sizes = [attribute_size(attribute) for attribute in attributes_of(domain)]
        sets = own.pop("cliques", 2) if name == "CLIQUE" else 1
        sets = [list(each) for each in combinations(range(len(sizes)), sets)] if isinstance(sets, int) else sets
        if name == "CLIQUE":
            fields |= {"cliques": sets, "weights": own.pop("weights", None) or [1] * len(sets)}
        each_epsilon = str(eps / len(sizes)) if name == "SPL" else epsilon
        counts = {math.prod(sizes[j] for j in places) for places in sets}
        fields |= {"oracles": [_block_oracle(each_epsilon, cells) for cells in sorted(counts)]}
    elif name in MEMOISED:
        lasting = Fraction(own.pop("memo_epsilon", 2 * eps))
        fields |= {"memo_epsilon": str(lasting)}
        if name == "LOLOHA":
            t = own.pop("hash_bits", None) or _fewest_hash_bits(eps, lasting)
            memo_keep, keep = _twice_answered(eps, lasting, 2**t)
            fields |= {"hash_bits": t, "memo_keep": str(memo_keep), "keep": str(keep)}
        else:
            fields |= {key: str(value) for key, value in _twice_flipped(name, eps, lasting).items()}
    elif name == "SW":
        reach = own.pop("reach", None)
        reach = _best_reach(eps, d) if reach is None else reach
        fields |= {"reach": reach, "keep": str(_keep(eps, d - 1, 2 * reach + 1))}
    elif name == "MEAN":
        first, places = N - _keep(eps, 1), middle_places(domain)
        fields |= {"first": str(first), "step": str((N - 2 * first) // places[-1])}
        fields |= {} if places == list(range(d)) else {"places": places}
    assert not own, f"{name} has no {own}"
    return fields


def _decimal(fraction: Fraction) -> Decimal:
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)


def _twice_answered(eps: Fraction, lasting: Fraction, g: int) -> tuple[int, int]:
    # P = r + p2(p1 - r), r = (1 - p1)/(g - 1), and P may be as large as e/(e + g - 1).
    memo_keep = _keep(lasting, g - 1)
    p1 = Fraction(memo_keep, N)
    r = (1 - p1) / (g - 1)
    return memo_keep, _floor(eps, lambda e: N * (e / (e + g - 1) - _decimal(r)) / _decimal(p1 - r))


def _twice_flipped(name: str, eps: Fraction, lasting: Fraction) -> Fields:
    # With u = 2*p2 - 1, a bit that is on in the memo with probability p is sent with probability 1/2 + u(p - 1/2).
    half = Decimal("0.5")
    if name == "LSUE":
        # The own bit is sent with at most e^(eps/2)/(e^(eps/2) + 1), every other one with the rest.
        memo_keep = _keep(lasting / 2, 1)
        apart = Fraction(memo_keep, N) - Fraction(1, 2)
        keep = _floor(eps / 2, lambda e: N * (1 + (e / (e + 1) - half) / _decimal(apart)) / 2)
        return {"memo_keep": memo_keep, "memo_flip": N - memo_keep, "keep": keep}
    # The own bit is sent with 1/2, every other one with at least 1/(e + 1).
    memo_flip = -_floor(lasting, lambda e: -N / (e + 1))
    apart = Fraction(1, 2) - Fraction(memo_flip, N)
    keep = _floor(eps, lambda e: N * (1 + (half - 1 / (e + 1)) / _decimal(apart)) / 2)
    return {"memo_keep": N // 2, "memo_flip": memo_flip, "keep": keep}


def _fewest_hash_bits(eps: Fraction, lasting: Fraction) -> int:
    def variance(t: int) -> Fraction:
        p1, p2 = (Fraction(threshold, N) for threshold in _twice_answered(eps, lasting, 2**t))
        q = Fraction(1, 2**t)
        return q * (1 - q) / (p1 * p2 + (1 - p1) * (1 - p2) / (2**t - 1) - q) ** 2

    best = min(variance(t) for t in range(1, 9))
    return next(t for t in range(1, 9) if variance(t) <= Fraction("1.05") * best)


def _best_reach(eps: Fraction, d: int) -> int:
    # The b of the square wave with the most information, times the number of items.
    def width(e: Decimal) -> Decimal:
        x = Decimal(eps.numerator) / Decimal(eps.denominator)
        return d * (x * e - e + 1) / (2 * e * (e - 1 - x))

    return _floor(eps, width)


MOST_PLACES = 2**40


def middle_places(domain: Fields) -> list[int]:
    """How far the middle of each item is from that of the first, in the longest steps that lead to all of them.

    If the last is more than 2^40 steps away, it is 2^40 of them, and the others go to the nearest one.
    """
    if domain["type"] != "bins":
        return list(range(size_of(domain)))
    edges = [Fraction(float(edge)) for edge in domain["edges"]]
    middles = [(edges[i] + edges[i + 1]) / 2 for i in range(len(edges) - 1)]
    ratios = [(middle - middles[0]) / (middles[-1] - middles[0]) for middle in middles]
    steps = min(math.lcm(*(ratio.denominator for ratio in ratios)), MOST_PLACES)
    return [floor(ratio * steps + Fraction(1, 2)) for ratio in ratios]


def lengths_of(scheme: Fields) -> list[int]:
    """The lengths of the prefixes of PEM and TH, that of the whole string included."""
    return [*range(scheme["start"], scheme["domain"]["length"], scheme["step"]), scheme["domain"]["length"]]


MOST_OFFSETS = 256


def offsets_of(width: int) -> list[int]:
    """How far the blocks of a width of SLIDE may be moved: by less than a block, at most 256 evenly spaced ways."""
    return list(range(0, width, -(-width // MOST_OFFSETS)))


def count_blocks(length: int, width: int) -> int:
    """Number of blocks of a width over items in order, at any of the offsets."""
    return 1 + max((length - 1 + offset) // width for offset in offsets_of(width))


def _usual_widths(d: int) -> list[int]:
    # s_i = (d/4)^(i/(m-1)) for i = 0 ... m-1, to the nearest whole number, and of those to one that the offsets divide.
    m = next(m for m in range(1, 64) if 4**m >= d)
    widths = {1}
    for i in range(1, m):
        with localcontext() as context:
            context.prec = 60
            width = floor((Decimal(d) / 4) ** (Decimal(i) / (m - 1)) + Decimal("0.5"))
        step = -(-width // MOST_OFFSETS)
        widths.add(max(1, floor(Fraction(width, step) + Fraction(1, 2))) * step)
    return sorted(widths)


def _block_oracle(epsilon: str, blocks: int) -> Fields:
    return scheme_of("SS" if blocks <= 64 else "HM", epsilon, {"type": "integers", "size": blocks})


def tree_widths(d: int, base: int) -> list[int]:
    """The widths of the blocks of a tree over d items: all powers of the base below d."""
    return [base**i for i in range(64) if base**i < d]


def groups_of(scheme: Fields) -> list[list[Fields]]:
    """What the users of each group of a search are asked: an oracle, where the seen symbols begin and end, a tag.

    Those of SLIDE are asked for the block of their value, by an oracle that draws an offset before; those of HH for the
    block itself, and those of HAAR for the block, reversed in its right half.
    """
    if scheme["scheme"] == "HH":
        widths = tree_widths(size_of(scheme["domain"]), scheme["branching"])
        kinds = ["products" if oracle["scheme"] == "HM" else oracle["scheme"] for oracle in scheme["oracles"]]
        parts = zip(scheme["oracles"], kinds, widths, strict=True)
        return [[{"oracle": {**oracle, "scheme": kind}, "width": width}] for oracle, kind, width in parts]
    if scheme["scheme"] in TABLES:
        everything = range(len(attributes_of(scheme["domain"])))
        parts = [_joint(scheme, places) for places in scheme.get("cliques", [[j] for j in everything])]
        return [parts] if scheme["scheme"] == "SPL" else [[part] for part in parts]
    if scheme["scheme"] == "HAAR":
        halves = enumerate(scheme["oracles"], start=1)
        return [[{"oracle": {**oracle, "scheme": "halves"}, "width": 2**i}] for i, oracle in halves]
    if scheme["scheme"] == "SLIDE":
        blocks = {"scheme": "blocks", "domain": {"type": "integers", "size": size_of(scheme["domain"])}}
        blocks |= {"length": scheme["length"]}
        widths = zip(scheme["widths"], scheme["oracles"], strict=True)
        return [[{"oracle": {**blocks, "width": width, "oracle": oracle}}] for width, oracle in widths]
    name, length = scheme["scheme"], scheme["domain"]["length"]
    if name == "PEM":
        return [[{"oracle": scheme["oracle"], "first": 0, "last": last, "tag": False}] for last in lengths_of(scheme)]
    if name == "ROUND":
        part = {"oracle": scheme["oracle"], "first": scheme["stem"], "last": scheme["reach"], "tag": False}
        return [[{**part, "prefixes": scheme["prefixes"]}]]
    if name == "TRELLIS":
        return [[part] for part in tables_of(scheme)]
    if name == "TH":
        shorter = [(0, last) for last in lengths_of(scheme)[:-1]]
    else:
        size = scheme["fragment"] if name == "SFP" else 1
        shorter = [(first, min(first + size, length)) for first in range(0, length, size)]
    pieces = [
        {"oracle": scheme["oracle"], "first": first, "last": last, "tag": name != "TH"} for first, last in shorter
    ]
    if scheme.get("split") == "none":
        return [[part] for part in pieces]
    whole = {"oracle": scheme["word_oracle"], "first": 0, "last": length, "tag": False}
    if name == "BITSTOGRAM" or scheme.get("split") == "users":
        return [[part] for part in [*pieces, whole]]
    return [[part, whole] for part in pieces]


def attributes_of(domain: Fields) -> list[Fields]:
    """The attributes of a table; of a list of items, one for each, and one for all others."""
    if domain["type"] == "choices":
        names = [*domain["items"], *["other"] * domain["other"]]
        return [{"name": name, "domain": {"type": "integers", "size": 2}, "missing": False} for name in names]
    attributes: list[Fields] = domain["attributes"]
    return attributes


def attribute_size(attribute: Fields) -> int:
    """Number of cells of an attribute of a table, one for missing values included."""
    return size_of(attribute["domain"]) + attribute["missing"]


def _joint(scheme: Fields, places: list[int]) -> Fields:
    # The part that reports these attributes together, through the oracle over as many cells.
    attributes = attributes_of(scheme["domain"])
    cells = math.prod(attribute_size(attributes[j]) for j in places)
    [oracle] = [oracle for oracle in scheme["oracles"] if oracle["domain"]["size"] == cells]
    kind = "products" if oracle["scheme"] == "HM" else oracle["scheme"]
    return {"oracle": {**oracle, "scheme": kind}, "attributes": places}


def weights_of(scheme: Fields) -> list[int]:
    """How many tickets each group of a search has."""
    groups = len(groups_of(scheme))
    if scheme.get("split") == "users":
        return [1] * (groups - 1) + [groups - 1]  # half of the users report the whole string
    weights: list[int] = scheme.get("weights", [1] * groups)
    return weights


def tables_of(scheme: Fields) -> list[Fields]:
    """What the groups of TRELLIS are asked: symbols, pairs of them, short prefixes, and longer ones in cells."""
    length, lengths = scheme["domain"]["length"], lengths_of(scheme)
    parts = [{"oracle": scheme["letters"], "first": i, "last": i + 1, "tag": False} for i in range(length)]
    if "pairs" in scheme:
        parts += [{"oracle": scheme["pairs"], "first": i, "last": i + 2, "tag": False} for i in range(length - 1)]
    parts.append({"oracle": scheme["first"], "first": 0, "last": lengths[0], "tag": False})
    for i in range(1, len(lengths)):
        cells = {"oracle": scheme["folded" if i == 1 else "deep"], "first": lengths[i - 1], "last": lengths[i]}
        parts += [{**cells, "tag": False, "cohort": cohort} for cohort in range(scheme["cohorts"])]
    return parts


def canonical(scheme: Fields) -> str:
    """The one text of a scheme: keys sorted, no spaces."""
    return json.dumps(scheme, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def fingerprint(scheme: Fields) -> bytes:
    """SHA-256 of the canonical text."""
    return sha256(canonical(scheme).encode()).digest()


def size_of(domain: Fields) -> int:
    """Number of items; 0 for keys, which have none."""
    if domain["type"] == "labels":
        return len(domain["labels"]) + domain["other"]
    if domain["type"] in ("table", "choices"):
        return math.prod(attribute_size(attribute) for attribute in attributes_of(domain))
    if domain["type"] in ORDERED:
        return len(starts_of(domain)) + domain.get("other", False)
    return domain.get("size", 0)


def split_of(domain: Fields) -> int:
    """L of the hash: max(64, 2^ceil(ceil(log2 d)/2)), or 2^32 for keys."""
    if domain["type"] == "keys":
        return 2**32
    bits = next(k for k in range(64) if 2**k >= size_of(domain))
    return max(64, 2 ** ((bits + 1) // 2))


def binary_digits(d: int) -> int:
    """Bits of the numbers below d."""
    return next(k for k in range(64) if 2**k >= d)


def written_integer(number: int) -> int | str:
    """An integer as JSON writes it: decimal text from 2^53 on."""
    return number if number < 2**53 else str(number)


def _floor(exponent: Fraction, expression: Callable[[Decimal], Decimal]) -> int:
    # The floor of an expression in e^exponent, which is irrational: 60 and 120 digits must agree.
    floors = set()
    for digits in (60, 120):
        with localcontext() as context:
            context.prec = digits
            e = (Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp()
            floors.add(floor(expression(e)))
    (agreed,) = floors
    return agreed


def _keep(exponent: Fraction, outside: int, inside: int = 1) -> int:
    return _floor(exponent, lambda e: N * inside * e / (inside * e + outside))


def _noisy_bits(eps: Fraction, theta: Fraction) -> tuple[int, int]:
    # A bit exceeds theta if its noise does exceed theta - 1, or theta: one minus the distribution function there.
    keep = _floor((theta - 1) * eps / 2, lambda e: N * (1 - e / 2))
    return keep, -_floor(-theta * eps / 2, lambda e: -N * e / 2)


def private_bits(scheme: Fields) -> tuple[int, int]:
    """The largest keep that is private with the scheme's flip, and the smallest flip with its keep."""
    eps, keep, flip = Fraction(scheme["epsilon"]), int(scheme["keep"]), int(scheme["flip"])
    return _keep(eps, N - flip, flip), N - _keep(eps, keep, N - keep)


@cache
def _best_threshold(eps: Fraction) -> Fraction:
    def variance(theta: Fraction) -> Fraction:
        p, q = (Fraction(each, N) for each in _noisy_bits(eps, theta))
        return q * (1 - q) / (p - q) ** 2

    return min((Fraction(k, 1000) for k in range(500, 1000)), key=variance)


def _best_coefficients(eps: Fraction, d: int) -> int:
    e = Decimal(_floor(eps, lambda e: e * 10**30)) / 10**30
    candidates = [t for t in range(1, 9) if 2**t <= d]
    return min(candidates, key=lambda t: (e + 2**t - 1) ** 2 / (2**t - 1))


def _blocks(eps: Fraction, d: int, variant: str) -> int:
    whole = _floor(eps, lambda e: e)  # e^eps lies strictly between this and the next integer
    most = next(2**k for k in range(1100) if 2**k >= min(whole + 1, 2 * d)) // 2
    if variant == "auto":
        e = Fraction(_floor(eps, lambda e: e * 10**30), 10**30)
        pure = ((e + 1) / (e - 1)) ** 2
        block = 2 * (e - 1 + 2 * most) / (e - 1) ** 2 + (e - 1 + 2 * most) / (e - 1) / most
        variant = "block" if block < pure else "pure"
    return most if variant == "block" else 1


def _exp(eps: Fraction) -> Fraction:
    # Near enough for choices: no two candidates are as close as the thirtieth digit.
    return Fraction(_floor(eps, lambda e: e * 10**30), 10**30)


def _best_subset_size(eps: Fraction, d: int) -> int:
    squared = _exp(2 * eps)
    return next(w for w in range(1, d) if (d - w) * (d - w - 1) <= w * (w + 1) * squared)


def _lowest_variance(e: Fraction) -> Fraction:
    return 4 * e / (e - 1) ** 2


def _window_variance(e: Fraction, tau: Fraction) -> Fraction:
    return (1 + tau * (e - 1)) ** 2 / ((e - 1) ** 2 * tau * (1 - tau))


def _best_window(eps: Fraction, t: int) -> int:
    e, g = _exp(eps), 2**t
    ideal = g / (e + 1)
    candidates = [w for w in (floor(ideal), floor(ideal) + 1) if w >= 1]
    return min(candidates, key=lambda w: _window_variance(e, Fraction(w, g)))


def _best_hash_bits(eps: Fraction) -> int:
    e = _exp(eps)
    for t in range(1, 12):
        if _window_variance(e, Fraction(_best_window(eps, t), 2**t)) <= Fraction("1.05") * _lowest_variance(e):
            return t
    return 12


def _best_space(eps: Fraction, d: int, t: int | None, m: int | None, w: int | None) -> tuple[int, int, int]:
    e, bits = _exp(eps), binary_digits(d)
    near, far = [], []
    for bits_of_field in [t] if t else range(1, 13):
        g = 2**bits_of_field
        dimension = m or max(2, -(-bits // bits_of_field))
        window = w or _best_window(eps, bits_of_field)
        p = e * window / (e * window + g - window)
        q = (window * g ** (dimension - 1) - p) / (g**dimension - 1)
        variance = q * (1 - q) / (p - q) ** 2
        shape = (bits_of_field, dimension, window)
        if variance <= Fraction("1.05") * _lowest_variance(e):
            near.append((10**6 * window + 3 * g**dimension, shape))
        else:
            far.append((variance, shape))
    return min(near)[1] if near else min(far)[1]


# --- values -----------------------------------------------------------------------------------------------------


# What Python or JavaScript strips (docs/adr/0026).
SPACES = [*range(0x09, 0x0E), *range(0x1C, 0x21), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)]
SPACES += [0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF]


def normalized(text: str, steps: list[str]) -> str:
    """A text after the steps: of characters of Unicode 14.0, which all versions of Python know."""
    if "nfc" in steps:
        text = normalize("NFC", text)
    if "lower" in steps:
        text = "".join("i" if character == "\u0130" else character.lower() for character in text)
        text = normalize("NFC", text) if "nfc" in steps else text
    if "strip" in steps:
        while text and ord(text[0]) in SPACES:
            text = text[1:]
        while text and ord(text[-1]) in SPACES:
            text = text[:-1]
    return text


def encode(domain: Fields, value: Value) -> int:
    """The integer that a randomizer sees of a value."""
    steps = domain.get("normalize", [])
    if isinstance(value, str) and steps:
        value = normalized(value, steps)
        if domain["type"] == "strings":
            value = normalized(value[: domain["length"]], steps)
    if domain["type"] == "integers":
        assert isinstance(value, int)
        return value
    if domain["type"] == "labels":
        labels = domain["labels"]
        return labels.index(value) if value in labels else len(labels)
    if domain["type"] in ("strings", "byte strings"):
        assert isinstance(value, str | bytes)
        number = 0
        for symbol in symbols_of(domain, value):
            number = number * base_of(domain) + symbol
        return number
    if domain["type"] in ORDERED:
        return place_of(domain, value)
    if domain["type"] == "table":
        number = 0
        for j, attribute in enumerate(domain["attributes"]):
            own: Any = value[attribute["name"]] if isinstance(value, dict) else value[j]  # type: ignore[index]
            absent = own is None and attribute["missing"]
            code = size_of(attribute["domain"]) if absent else encode(attribute["domain"], own)
            number = number * attribute_size(attribute) + code
        return number
    if domain["type"] == "choices":
        chosen: Any = value
        digits = [item in chosen for item in domain["items"]]
        digits += [any(item not in domain["items"] for item in chosen)] * domain["other"]
        return int("".join(str(int(digit)) for digit in digits), 2)
    seed = int(domain["hash_seed"])
    if isinstance(value, bytes):
        return key64(value, seed, b"")
    return key64(str(value).encode(), seed, b"str" if isinstance(value, str) else b"int")


ORDERED = ("whole numbers", "bins", "dates", "durations")
UNITS = {"ms": Fraction(1, 1000), "s": 1, "min": 60, "h": 3600, "d": 86400}


def starts_of(domain: Fields) -> Sequence[Any]:
    """The number at which each ordered item starts; a date is itself."""
    if domain["type"] == "bins":
        return [Fraction(float(edge)) for edge in domain["edges"][:-1]]
    if domain["type"] == "dates":
        first, last = (date.fromisoformat(domain[name]) for name in ("first", "last"))
        return [first + timedelta(days) for days in range((last - first).days + 1)]
    return range(domain["low"], domain["high"] + 1)


def place_of(domain: Fields, value: Any) -> int:
    """The last item that starts at the value or before it, or the first; missing values are others."""
    starts = starts_of(domain)
    if isinstance(value, str) and domain["type"] == "dates":
        try:
            value = date.fromisoformat(value if value[4:5] == value[7:8] == "-" else "")  # it knows other forms, too
        except ValueError:
            return len(starts)
    if value is None or isinstance(value, str) or value != value:
        return len(starts)
    if isinstance(value, datetime):
        value = value.replace(tzinfo=value.tzinfo or UTC).astimezone(UTC).date()
    if isinstance(value, timedelta):
        value = Fraction(value // timedelta(microseconds=1), 10**6) / UNITS[domain["unit"]]
    if value in (math.inf, -math.inf):
        if "infinite" not in domain:
            return len(starts)
    elif not isinstance(value, date):
        value = Fraction(value)
    return max([place for place, start in enumerate(starts) if start <= value], default=0)


def base_of(domain: Fields) -> int:
    """Number of symbols: the pad, the characters, and one for all other characters if there is."""
    return 1 + len(characters_of(domain)) + domain["other"]


def characters_of(domain: Fields) -> list[Any]:
    """The characters of an alphabet, or its bytes."""
    return list(bytes.fromhex(domain["alphabet"]) if domain["type"] == "byte strings" else domain["alphabet"])


def symbols_of(domain: Fields, value: str | bytes) -> list[int]:
    """The symbols of a string: places in the alphabet from 1, the last for others; then pads up to the length."""
    characters = characters_of(domain)
    found = [1 + (characters.index(c) if c in characters else len(characters)) for c in value[: domain["length"]]]
    return found + [0] * (domain["length"] - len(found))


def key64(content: bytes, hash_seed: int, salt: bytes) -> int:
    """The 64-bit key: little-endian BLAKE2s of 8 bytes, personalised by the hash seed."""
    person = hash_seed.to_bytes(8, "little")
    return int.from_bytes(blake2s(content, digest_size=8, person=person, salt=salt).digest(), "little")


def portable(value: Any, *, keys: bool) -> Any:
    """A value as the vector files write it: bytes, and integers that are keys, have no JSON form of their own."""
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    return {"int": str(value)} if keys and type(value) is int else value


def native(written: Any) -> Any:
    """The value that ``portable`` wrote."""
    if isinstance(written, dict) and written.keys() == {"bytes"}:
        return bytes.fromhex(written["bytes"])
    if isinstance(written, dict) and written.keys() == {"double"}:
        return struct.unpack(">d", bytes.fromhex(written["double"]))[0]
    if isinstance(written, dict) and written.keys() == {"time"}:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=written["time"])
    return int(written["int"]) if isinstance(written, dict) and written.keys() == {"int"} else written


# --- records ----------------------------------------------------------------------------------------------------


def record(scheme: Fields, value: Value, tape: Tape) -> bytes:
    """The record that a client holding ``value`` makes from the words of the tape."""
    x = encode(scheme["domain"], value)
    return _RECORDS[scheme["scheme"]](scheme, x, tape)


def field_size(count: int) -> int:
    """Bytes of a field for numbers below ``count``."""
    return 1 if count <= 2**8 else 2 if count <= 2**16 else 4 if count <= 2**32 else 8


def _packed(number: int, count: int) -> bytes:
    assert 0 <= number < count
    return number.to_bytes(field_size(count), "little")


def _answer(x: int, size: int, keep: int, tape: Tape) -> int:
    kept = tape.bernoulli(keep)
    u = tape.below(size - 1)
    if kept:
        return x
    return u if u < x else u + 1


def _memoised_hash(scheme: Fields, x: int, tape: Tape) -> bytes:
    return _fresh_hash(scheme, *_lasting_hash(scheme, x, tape, lambda _: tape), tape)


def _lasting_hash(scheme: Fields, x: int, tape: Tape, memo: Callable[[int], Tape]) -> tuple[list[int], int]:
    # The rows of a user, and the entry of the cell of x; the memo has the words of every cell.
    t, order = scheme["hash_bits"], hadamard_order(size_of(scheme["domain"]))
    rows = [tape.below(order) for _ in range(t)]
    h = sum(sign(row, x) << j for j, row in enumerate(rows))
    return rows, _answer(h, 2**t, int(scheme["memo_keep"]), memo(h))


def _fresh_hash(scheme: Fields, rows: list[int], entry: int, tape: Tape) -> bytes:
    order, g = hadamard_order(size_of(scheme["domain"])), 2 ** scheme["hash_bits"]
    return b"".join(_packed(row, order) for row in rows) + _packed(_answer(entry, g, int(scheme["keep"]), tape), g)


def _memoised_bits(scheme: Fields, x: int, tape: Tape) -> bytes:
    return _fresh_bits(scheme, _lasting_bits(scheme, x, tape), tape)


def _lasting_bits(scheme: Fields, x: int, tape: Tape) -> list[bool]:
    d = size_of(scheme["domain"])
    return [tape.bernoulli(int(scheme["memo_keep" if i == x else "memo_flip"])) for i in range(d)]


def _fresh_bits(scheme: Fields, entry: list[bool], tape: Tape) -> bytes:
    keep = int(scheme["keep"])
    bits = sum(tape.bernoulli(keep if on else N - keep) << i for i, on in enumerate(entry))
    return bits.to_bytes((len(entry) + 7) // 8, "little")


def remembered_record(scheme: Fields, key: bytes, series: str, value: Value, tape: Tape) -> bytes:
    """The record of a user with this key: only the answer is from the tape."""
    d, x = size_of(scheme["domain"]), encode(scheme["domain"], value)
    thresholds = [scheme[name] for name in ("hash_bits", "memo_keep", "memo_flip") if name in scheme]
    kind = "LOLOHA" if scheme["scheme"] == "LOLOHA" else "unary"
    subject = " ".join(map(str, [kind, d, *thresholds]))
    own = blake2s(subject.encode() + b"\n" + series.encode(), key=key, salt=b"series").digest()

    def lasting(purpose: bytes, number: int) -> Tape:
        # Four words from each block; nobody needs more than these.
        blocks = [
            blake2s(struct.pack("<QQ", number, block), key=own, salt=purpose).digest() for block in range(d // 4 + 9)
        ]
        return Tape([word for block in blocks for word in struct.unpack("<4Q", block)])

    if scheme["scheme"] == "LOLOHA":
        rows, entry = _lasting_hash(scheme, x, lasting(b"hash", 0), lambda cell: lasting(b"memo", cell))
        return _fresh_hash(scheme, rows, entry, tape)
    return _fresh_bits(scheme, _lasting_bits(scheme, x, lasting(b"memo", x)), tape)


def _direct(scheme: Fields, x: int, tape: Tape) -> bytes:
    d = size_of(scheme["domain"])
    return _packed(_answer(x, d, int(scheme["keep"]), tape), d)


def _square_wave(scheme: Fields, x: int, tape: Tape) -> bytes:
    reach, d = scheme["reach"], size_of(scheme["domain"])
    near = [x + by for by in range(2 * reach + 1)]
    kept = tape.bernoulli(int(scheme["keep"]))
    own, other = tape.below(len(near)), tape.below(d - 1)
    # The places below the near ones, then those above.
    lie = other if other < near[0] else near[-1] + 1 + other - near[0]
    return _packed(near[own] if kept else lie, d + 2 * reach)


def _one_bit(scheme: Fields, x: int, tape: Tape) -> bytes:
    place = scheme["places"][x] if "places" in scheme else x
    return bytes([tape.bernoulli(int(scheme["first"]) + int(scheme["step"]) * place)])


def _unary(scheme: Fields, x: int, tape: Tape) -> bytes:
    d = size_of(scheme["domain"])
    bits = sum(tape.bernoulli(int(scheme["keep" if i == x else "flip"])) << i for i in range(d))
    return bits.to_bytes((d + 7) // 8, "little")


def local_hash(seed: int, x: int, split: int, g: int) -> int:
    """h(lo, hi) of the hash family: one table entry of each character, the seed's halves swapped for the second."""
    low, high = seed % 2**32, seed // 2**32
    return (table_entry(low, high, x % split, g) + table_entry(high, low, x // split, g)) % g


def premix(j: int) -> int:
    """lowbias32."""
    j ^= j >> 16
    j = j * 0x21F0AAAD % 2**32
    j ^= j >> 15
    j = j * 0xD35A2D97 % 2**32
    return j ^ j >> 15


def table_entry(low: int, high: int, j: int, g: int) -> int:
    """entry(seed, j) for a seed of these halves."""
    t = (premix(j) ^ low) * 0x21F0AAAD % 2**32
    t ^= t >> 15
    t = (t ^ high) * 0xD35A2D97 % 2**32
    t ^= t >> 15
    return (t >> 8) * g >> 24


def function_seed(scheme: Fields, index: int) -> int:
    """The seed of the public hash function of that number (FLH)."""
    return key64(index.to_bytes(8, "little"), int(scheme["hash_seed"]), b"FLH seed")


def _local_hashing(scheme: Fields, x: int, tape: Tape) -> bytes:
    g = scheme["hash_range"]
    seed = tape.below(N)
    h = local_hash(seed, x, scheme["split"], g)
    return _packed(seed, N) + _packed(_answer(h, g, int(scheme["keep"]), tape), g)


def _fast_local_hashing(scheme: Fields, x: int, tape: Tape) -> bytes:
    g, hashes = scheme["hash_range"], scheme["hashes"]
    index = tape.below(hashes)
    h = local_hash(function_seed(scheme, index), x, scheme["split"], g)
    return _packed(index, hashes) + _packed(_answer(h, g, int(scheme["keep"]), tape), g)


def hadamard_order(d: int) -> int:
    """The smallest power of two that is at least d."""
    return next(2**k for k in range(64) if 2**k >= d)


def sign(row: int, column: int) -> int:
    """The entry of the Hadamard matrix: 0 for +1, 1 for -1."""
    return bin(row & column).count("1") % 2


def _hadamard_mechanism(scheme: Fields, x: int, tape: Tape, negative: bool = False) -> bytes:
    t, order = scheme["coefficients"], hadamard_order(size_of(scheme["domain"]))
    rows = [tape.below(order) for _ in range(t)]
    h = sum((sign(row, x) ^ negative) << j for j, row in enumerate(rows))
    answer = _answer(h, 2**t, int(scheme["keep"]), tape)
    return b"".join(_packed(row, order) for row in rows) + _packed(answer, 2**t)


def _hadamard_response(scheme: Fields, x: int, tape: Tape) -> bytes:
    blocks, order = scheme["blocks"], scheme["order"]
    own, code = x % blocks, 1 + x // blocks
    kept = tape.bernoulli(int(scheme["keep"]))
    part = tape.below(2 * blocks - 1)
    row = tape.below(order)
    # Half-blocks outside the item's set: the rest of its own block, then every other block twice, in whole.
    outside = [own] + [block for block in range(blocks) if block != own for _ in range(2)]
    block = own if kept else outside[part]
    if block == own and sign(row, code) != (0 if kept else 1):
        row ^= code & -code
    return _packed(block * order + row, blocks * order)


def _subset_selection(scheme: Fields, x: int, tape: Tape) -> bytes:
    d, w = size_of(scheme["domain"]), scheme["subset_size"]
    kept = tape.bernoulli(int(scheme["keep"]))
    others = [item for item in range(d) if item != x]
    for i in range(w):
        j = i + tape.below(d - 1 - i)
        others[i], others[j] = others[j], others[i]
    members = {*others[: w - 1], x if kept else others[w - 1]}
    assert len(members) == w
    return sum(1 << item for item in members).to_bytes((d + 7) // 8, "little")


def _error(scheme: Fields, tape: Tape) -> int:
    # Below the window if kept, from there up if not; both are always drawn.
    g, w = 2 ** scheme["hash_bits"], scheme["window"]
    kept = tape.bernoulli(int(scheme["keep"]))
    choices = tape.below(w), w + tape.below(g - w)
    return choices[0] if kept else choices[1]


def toeplitz_hash(matrix: int, x: int, t: int, bits: int) -> int:
    """Bit j of the hash is the parity of what row j of the matrix, bits j ... j + M - 1, has in common with x."""
    rows = [[matrix >> (j + i) & 1 for i in range(bits)] for j in range(t)]
    item = [x >> i & 1 for i in range(bits)]
    return sum(sum(a * b for a, b in zip(row, item, strict=True)) % 2 << j for j, row in enumerate(rows))


def _toeplitz_hashing(scheme: Fields, x: int, tape: Tape) -> bytes:
    t, bits = scheme["hash_bits"], scheme["item_bits"]
    matrices = 2 ** (bits + t - 1)
    matrix = tape.below(matrices)
    h = toeplitz_hash(matrix, x, t, bits)
    return _packed(matrix, matrices) + _packed(h ^ _error(scheme, tape), 2**t)


@cache
def field_polynomial(t: int) -> int:
    """The smallest number whose bits are an irreducible polynomial of degree t over GF(2) with a constant term."""

    def divides(divisor: int, polynomial: int) -> bool:
        while polynomial.bit_length() >= divisor.bit_length():
            polynomial ^= divisor << (polynomial.bit_length() - divisor.bit_length())
        return polynomial == 0

    return next(
        candidate
        for candidate in range(2**t + 1, 2 ** (t + 1), 2)
        if not any(divides(divisor, candidate) for divisor in range(2, 2 ** (t // 2 + 1)))
    )


def product(a: int, b: int, t: int) -> int:
    """The product in GF(2^t): that of the polynomials, and then the remainder."""
    whole = 0
    for i in range(t):
        whole ^= (a << i) * (b >> i & 1)
    for k in reversed(range(t, 2 * t)):
        whole ^= (field_polynomial(t) << (k - t)) * (whole >> k & 1)
    return whole


def lines_of(scheme: Fields) -> int:
    """The number of lines through the origin of GF(2^t)^m."""
    g = 2 ** scheme["hash_bits"]
    return sum(g**f for f in range(scheme["dimension"]))


def point_of(line: int, t: int, m: int) -> list[int]:
    """The canonical point of a line: f free coordinates, then 1, then zeros; first those of the smallest f."""
    for f in range(m):
        if line < 2 ** (t * f):
            free = [line // 2 ** (t * i) % 2**t for i in range(f)]
            return [*free, 1, *[0] * (m - f - 1)]
        line -= 2 ** (t * f)
    raise AssertionError("no such line")


def affine_hash(line: int, x: int, t: int, m: int) -> int:
    """The scalar product of the line's point and the digits of x."""
    h = 0
    for i, a in enumerate(point_of(line, t, m)):
        h ^= product(a, x // 2 ** (t * i) % 2**t, t)
    return h


def _affine_response(scheme: Fields, x: int, tape: Tape) -> bytes:
    t, m, w = scheme["hash_bits"], scheme["dimension"], scheme["window"]
    lines = lines_of(scheme)
    line = tape.below(lines)
    stretch = 1 + tape.below(2**t - 1) if w > 1 else 1
    h = product(stretch, affine_hash(line, x, t, m), t)
    stretched = _packed(stretch, 2**t) if w > 1 else b""
    return _packed(line, lines) + stretched + _packed(h ^ _error(scheme, tape), 2**t)


def row_seed(scheme: Fields, row: int) -> int:
    """The seed of the hash function of a row of a sketch."""
    return key64(row.to_bytes(8, "little"), int(scheme["hash_seed"]), b"row seed")


def cell_of(scheme: Fields, row: int, x: int) -> int:
    """Where an item falls in a row: among the items of the oracle, which for CS are the cells with both signs.

    With signs on coefficients, the oracle has one item for each cell, and the second half are negative cells.
    """
    values = size_of(scheme["oracle"]["domain"]) * (2 if "signs" in scheme else 1)
    return local_hash(row_seed(scheme, row), x, scheme["split"], values)


def _row_sketch(scheme: Fields, x: int, tape: Tape) -> bytes:
    row = tape.below(scheme["rows"])
    cell = cell_of(scheme, row, x)
    if "signs" in scheme:
        negative, cell = divmod(cell, size_of(scheme["oracle"]["domain"]))
        sent = _hadamard_mechanism(scheme["oracle"], cell, tape, negative == 1)
        return _packed(row, scheme["rows"]) + sent
    return _packed(row, scheme["rows"]) + record(scheme["oracle"], cell, tape)


def function_of_bloom(scheme: Fields, number: int, x: int, m: int) -> int:
    """The bit of an item by the hash function of that number; cohort c has the numbers from c*k on."""
    seed = key64(number.to_bytes(8, "little"), int(scheme["hash_seed"]), b"bloom")
    return local_hash(seed, x, scheme["split"], m)


def filter_of(scheme: Fields, cohort: int, x: int) -> list[int]:
    """The bits of an item in a cohort; two of its functions may agree."""
    k = scheme["hashes"]
    return [function_of_bloom(scheme, cohort * k + j, x, scheme["bits"]) for j in range(k)]


def _bloom(scheme: Fields, x: int, tape: Tape) -> bytes:
    k, cohorts = scheme["hashes"], scheme["cohorts"]
    if "oracle" in scheme:
        number = tape.below(cohorts * k)
        bit = function_of_bloom(scheme, number, x, size_of(scheme["oracle"]["domain"]))
        return _packed(number, cohorts * k) + record(scheme["oracle"], bit, tape)
    cohort, m, keep = tape.below(cohorts), scheme["bits"], int(scheme["keep"])
    ones = filter_of(scheme, cohort, x)
    sent = sum(tape.bernoulli(keep if i in ones else N - keep) << i for i in range(m))
    return _packed(cohort, cohorts) + sent.to_bytes((m + 7) // 8, "little")


class Asked(Tape):
    """Answers every draw with nothing, and notes what was drawn."""

    def __init__(self) -> None:
        super().__init__([])
        self.kinds: list[tuple[str, int]] = []

    def bernoulli(self, threshold: int) -> bool:
        self.kinds.append(("bernoulli", threshold))
        return True

    def below(self, size: int) -> int:
        self.kinds.append(("below", size))
        return 0


class Continued(Tape):
    """Hands out what was drawn before, and then goes on with the tape."""

    def __init__(self, outcomes: list[int], tape: Tape) -> None:
        super().__init__([])
        self.outcomes = list(outcomes)
        self.tape = tape

    def bernoulli(self, threshold: int) -> bool:
        return self.tape.bernoulli(threshold)

    def below(self, size: int) -> int:
        return self.outcomes.pop(0) if self.outcomes else self.tape.below(size)


def shape_of(oracle: Fields) -> tuple[list[int], int, int]:
    """The bounds of what a client of the oracle draws before its first coin, which is public, the number of all its
    draws, and the size of its record: they depend on nothing."""
    asked = Asked()
    size = len(_RECORDS[oracle["scheme"]](oracle, 0, asked))
    public = next(i for i, (kind, _) in enumerate(asked.kinds) if kind == "bernoulli")
    return [bound for _, bound in asked.kinds[:public]], len(asked.kinds), size


def item_of(scheme: Fields, part: Fields, x: int) -> int:
    """What the oracle of a part is given of the string of that number; blocks are given the value itself."""
    if part["oracle"]["scheme"] == "blocks":
        return x
    if part["oracle"]["scheme"] == "halves":
        block, place = divmod(x, part["width"])
        return block if 2 * place < part["width"] else -1 - block
    if "width" in part:
        return x // part["width"]
    if "attributes" in part:
        sizes = [attribute_size(attribute) for attribute in attributes_of(scheme["domain"])]
        digits = [x // math.prod(sizes[j + 1 :]) % size for j, size in enumerate(sizes)]
        cell = 0
        for j in part["attributes"]:
            cell = cell * sizes[j] + digits[j]
        return cell
    base, length = base_of(scheme["domain"]), scheme["domain"]["length"]
    digits = [x // base ** (length - 1 - i) % base for i in range(length)]
    size = 1 if base <= 256 else 2
    tag = None
    if part["tag"]:
        content = b"".join(digit.to_bytes(size, "little") for digit in digits)
        tag = key64(content, int(scheme["hash_seed"]), b"tag") % 2 ** scheme["hash_bits"]
    seen, domain = digits[part["first"] : part["last"]], part["oracle"]["domain"]
    if domain["type"] == "keys":
        content = b"".join(digit.to_bytes(size, "little") for digit in seen)
        content += b"" if tag is None else tag.to_bytes(2, "little")
        return key64(content, int(domain["hash_seed"]), b"symbols")
    number = sum(digit * base**i for i, digit in enumerate(reversed(seen)))
    if "cohort" in part:
        content = b"".join(digit.to_bytes(size, "little") for digit in digits[: part["first"]])
        key = key64(content + bytes([part["cohort"]]), int(scheme["hash_seed"]), b"fold")
        # The upper half of the key chooses a block, the lower one turns it.
        block = 2 ** binary_digits(base ** len(seen))
        return key // 2**32 % (domain["size"] // block) * block + (number + key) % block
    if "prefixes" in part:
        texts = [bytes.fromhex(p) if scheme["domain"]["type"] == "byte strings" else p for p in part["prefixes"]]
        stems = [symbols_of(scheme["domain"], text)[: part["first"]] for text in texts]
        stem = digits[: part["first"]]
        return stems.index(stem) * base ** len(seen) + number if stem in stems else len(stems) * base ** len(seen)
    return number if tag is None else number * 2 ** scheme["hash_bits"] + tag


def _blocks_of_width(scheme: Fields, x: int, tape: Tape) -> bytes:
    offsets, length = offsets_of(scheme["width"]), scheme["length"]
    number = tape.below(len(offsets))
    block = (x + offsets[number]) // scheme["width"]
    if x >= length:  # no place in the order: a block of its own, after all others
        block = count_blocks(length, scheme["width"])
    oracle = scheme["oracle"]
    return _packed(number, len(offsets)) + _RECORDS[oracle["scheme"]](oracle, block, tape)


def _half(scheme: Fields, x: int, tape: Tape) -> bytes:
    # Block b, or -1 - b if the value is in its right half.
    return _hadamard_mechanism(scheme, x if x >= 0 else -1 - x, tape, negative=x < 0)


def _grouped(scheme: Fields, x: int, tape: Tape) -> bytes:
    groups = groups_of(scheme)
    weights = weights_of(scheme)
    ticket = tape.below(sum(weights))
    number = next(i for i in range(len(groups)) if ticket < sum(weights[: i + 1]))
    shapes = [[shape_of(part["oracle"]) for part in group] for group in groups]
    # All that is public is drawn before all that is not.
    drawn = [[tape.below(bound) for bound in public] for public, _, _ in shapes[number]]
    body = b""
    for part, outcomes in zip(groups[number], drawn, strict=True):
        own = Continued(outcomes, tape)
        body += _RECORDS[part["oracle"]["scheme"]](part["oracle"], item_of(scheme, part, x), own)
    # Every group draws as many words, and sends as many bytes, as the one with the most.
    draws = [sum(count for _, count, _ in group) for group in shapes]
    for _ in range(max(draws) - draws[number]):
        tape.below(1)
    longest = max(sum(size for _, _, size in group) for group in shapes)
    return _packed(number, len(groups)) + body + bytes(longest - len(body))


_RECORDS: dict[str, Callable[[Fields, int, Tape], bytes]] = {
    "DE": _direct,
    "SUE": _unary,
    "OUE": _unary,
    "THE": _unary,
    "BLH": _local_hashing,
    "OLH": _local_hashing,
    "FLH": _fast_local_hashing,
    "HM": _hadamard_mechanism,
    "HR": _hadamard_response,
    "SS": _subset_selection,
    "TLH": _toeplitz_hashing,
    "AGR": _affine_response,
    "CM": _row_sketch,
    "CS": _row_sketch,
    "BLOOM": _bloom,
    "SW": _square_wave,
    "MEAN": _one_bit,
    "LOLOHA": _memoised_hash,
    **dict.fromkeys(MEMO_BITS, _memoised_bits),
    "blocks": _blocks_of_width,
    "products": _hadamard_mechanism,
    "halves": _half,
    **dict.fromkeys(GROUPED, _grouped),
}
