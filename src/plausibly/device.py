"""The device path of plausibly: scheme JSON + value -> record bytes. One file, standard library only.

Copy this file to the device; it imports nothing else of the package. Typical use:

    import device
    client = device.load(scheme_json)          # once; refuses a scheme that would exceed its own epsilon
    record = client.privatize("example.org")   # bytes, to be sent as they are

Every random choice is made by two primitives over whole 64-bit words, ``bernoulli(T)`` and ``below(m)``, in a fixed
order and a fixed number of times: neither the size of a record nor the number of words read depends on the value
or on an earlier coin (except that ``below`` repeats a refused word, with a probability that is the same for every
value). The bulk path, the exact audit and a browser client are held to this file, word for word, by test vectors.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from fractions import Fraction
from hashlib import blake2s
from itertools import pairwise
from typing import Any, Protocol

__all__ = ["RANDOMIZERS", "Client", "DeviceError", "Randomizer", "Source", "WordSource", "load"]

_WORD = 2**64
_M32 = 0xFFFFFFFF


class DeviceError(ValueError):
    """The scheme or the value cannot be used. The message never contains the value."""


class Source(Protocol):
    """Whatever the two primitives are drawn from."""

    def bernoulli(self, threshold: int) -> bool:
        """True with probability threshold / 2^64."""
        ...

    def below(self, size: int) -> int:
        """An exactly uniform integer in [0, size)."""
        ...


class WordSource:
    """The two primitives over words read from ``read(count) -> bytes``, the operating system's secrets by default."""

    def __init__(self, words: int, read: Callable[[int], bytes] = secrets.token_bytes) -> None:
        # All words at once: the number of reads must not depend on the coins.
        self._read = read
        self._refill(words)

    def bernoulli(self, threshold: int) -> bool:
        """True with probability threshold / 2^64."""
        return self._word() < threshold

    def below(self, size: int) -> int:
        """An exactly uniform integer in [0, size); at least one word, also for size 1."""
        limit = _WORD - _WORD % size
        word = self._word()
        while word >= limit:
            word = self._word()
        return word % size

    def _word(self) -> int:
        if self._position == len(self._bytes):
            self._refill(1)
        self._position += 8
        return int.from_bytes(self._bytes[self._position - 8 : self._position], "little")

    def _refill(self, words: int) -> None:
        self._bytes, self._position = self._read(8 * words), 0
        # What is missing would count as zeros, and a word of zeros means "send the truth".
        if len(self._bytes) != 8 * words:
            raise DeviceError("the random source did not give the bytes asked for; do not send anything")


# --- hashing ----------------------------------------------------------------------------------------------------


def key64(content: bytes, hash_seed: int, tag: bytes = b"") -> int:
    """The 64-bit key of ``content``: BLAKE2s personalised by the hash seed, salted by what the key is for."""
    digest = blake2s(content, digest_size=8, person=hash_seed.to_bytes(8, "little"), salt=tag)
    return int.from_bytes(digest.digest(), "little")


def item_key(item: object, hash_seed: int) -> int:
    """The 64-bit key of an item of ``Keys()``. The tags keep 5, "5" and b"5" apart."""
    if isinstance(item, bytes):
        return key64(item, hash_seed)
    if isinstance(item, bool) or not isinstance(item, str | int):
        raise DeviceError(f"expected a key (str, bytes or int), came {type(item).__name__}")
    content = _text_bytes(item)
    if content is None:
        raise DeviceError("expected text that has a UTF-8 form, or an integer below 10^4300, came another")
    return key64(content, hash_seed, b"str" if isinstance(item, str) else b"int")


def _text_bytes(item: str | int) -> bytes | None:
    # None rather than an error raised from here: Python's own error would travel along and show the item.
    try:
        return str(item).encode()
    except ValueError:
        return None


def local_hash(seed: int, value: int, split: int, size: int) -> int:
    """The hash of ``value`` under ``seed``, below ``size``: two-character tabulation in 32-bit operations."""
    low, high = seed & _M32, seed >> 32
    return (_entry(low, high, value % split, size) + _entry(high, low, value // split, size)) % size


def _entry(first: int, second: int, character: int, size: int) -> int:
    # The table entry of a character: a 32-bit permutation of the character, then two keyed mixing rounds.
    j = character ^ character >> 16
    j = j * 0x21F0AAAD & _M32
    j ^= j >> 15
    j = j * 0xD35A2D97 & _M32
    j ^= j >> 15
    t = (j ^ first) * 0x21F0AAAD & _M32
    t ^= t >> 15
    t = (t ^ second) * 0xD35A2D97 & _M32
    t ^= t >> 15
    return (t >> 8) * size >> 24


def public_hash_seed(hash_seed: int, index: int) -> int:
    """The seed of one of the public hash functions of fast local hashing."""
    return key64(index.to_bytes(8, "little"), hash_seed, b"FLH seed")


def row_seed(hash_seed: int, row: int) -> int:
    """The seed of the hash function of a row of a sketch."""
    return key64(row.to_bytes(8, "little"), hash_seed, b"row seed")


def bloom_seed(hash_seed: int, row: int) -> int:
    """The seed of a hash function of Bloom filters; of k functions a cohort, number j of cohort c is row c*k + j."""
    return key64(row.to_bytes(8, "little"), hash_seed, b"bloom")


def _parity(word: int) -> int:
    return word.bit_count() & 1


# --- randomizers: encoded value -> record bytes -----------------------------------------------------------------


class Randomizer(Protocol):
    """One scheme's client: what it draws in public, what it draws in private, and the record of both."""

    words: int
    """Random words of one report, repeats aside."""

    def public(self, source: Source) -> tuple[int, ...]:
        """What everybody may know; drawn without seeing the value."""
        ...

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        """The record: the public part and the perturbed value."""
        ...

    def worst_ratio(self) -> Fraction:
        """The largest ratio of the likelihoods of one record under two values."""
        ...


def field_bytes(count: int) -> int:
    """Bytes of the smallest unsigned integer field that holds every number below ``count``."""
    return next(size for size in (1, 2, 4, 8) if count <= 1 << 8 * size)


def _field(number: int, count: int) -> bytes:
    return number.to_bytes(field_bytes(count), "little")


def _respond(value: int, size: int, keep: int, source: Source) -> int:
    # Direct encoding below `size`: the value, or a uniform *other* one. Both draws are always made.
    kept = source.bernoulli(keep)
    lie = source.below(size - 1)
    return value if kept else lie + (lie >= value)


def _both_ways(ratio: Fraction) -> Fraction:
    return max(ratio, 1 / ratio)


def _respond_ratio(size: int, keep: int, inside: int = 1) -> Fraction:
    # `inside` equally likely answers share the probability keep, the others the rest.
    return _both_ways(Fraction(keep * (size - inside), (_WORD - keep) * inside))


class Direct:
    """DE: the value itself, or a uniform other one."""

    words = 2

    def __init__(self, scheme: dict[str, Any]) -> None:
        self.size = _domain_size(scheme)
        self.keep = _threshold(scheme, "keep")

    def public(self, source: Source) -> tuple[int, ...]:
        return ()

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        return _field(_respond(value, self.size, self.keep, source), self.size)

    def worst_ratio(self) -> Fraction:
        return _respond_ratio(self.size, self.keep)


class Unary:
    """SUE, OUE: one bit per item; the value's bit is set with probability keep, every other one with flip."""

    def __init__(self, scheme: dict[str, Any]) -> None:
        self.size = self.words = _domain_size(scheme)
        self.keep = _threshold(scheme, "keep")
        self.flip = _threshold(scheme, "flip")

    def public(self, source: Source) -> tuple[int, ...]:
        return ()

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        bitmap = bytearray((self.size + 7) // 8)
        for i in range(self.size):
            bitmap[i >> 3] |= source.bernoulli(self.keep if i == value else self.flip) << (i & 7)
        return bytes(bitmap)

    def worst_ratio(self) -> Fraction:
        # Two values differ in two bits, and each contributes its odds ratio once.
        return _both_ways(Fraction(self.keep * (_WORD - self.flip), self.flip * (_WORD - self.keep)))


class LocalHashing:
    """BLH, OLH: a public hash function of one's own, and direct encoding of the hashed value."""

    words = 3

    def __init__(self, scheme: dict[str, Any]) -> None:
        self.size = _integer(scheme, "hash_range", 2, 2**16)
        self.split = _integer(scheme, "split", 1, 2**32)
        self.keep = _threshold(scheme, "keep")

    def public(self, source: Source) -> tuple[int, ...]:
        return (source.below(_WORD),)

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        (seed,) = public
        hashed = local_hash(seed, value, self.split, self.size)
        answer = _respond(hashed, self.size, self.keep, source)
        return seed.to_bytes(8, "little") + _field(answer, self.size)

    def worst_ratio(self) -> Fraction:
        return _respond_ratio(self.size, self.keep)


class FastLocalHashing(LocalHashing):
    """FLH: the same with one of a few hash functions that all clients share."""

    def __init__(self, scheme: dict[str, Any]) -> None:
        super().__init__(scheme)
        self.hashes = _integer(scheme, "hashes", 1, 2**24)
        self.hash_seed = _integer(scheme, "hash_seed", 0, _WORD - 1)

    def public(self, source: Source) -> tuple[int, ...]:
        return (source.below(self.hashes),)

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        (index,) = public
        hashed = local_hash(public_hash_seed(self.hash_seed, index), value, self.split, self.size)
        answer = _respond(hashed, self.size, self.keep, source)
        return _field(index, self.hashes) + _field(answer, self.size)


class HadamardMechanism:
    """HM: some public rows of the Hadamard matrix, and direct encoding of the value's signs in them."""

    def __init__(self, scheme: dict[str, Any]) -> None:
        self.order = 1 << (_domain_size(scheme) - 1).bit_length()
        self.coefficients = _integer(scheme, "coefficients", 1, 8)
        self.size = 1 << self.coefficients
        self.keep = _threshold(scheme, "keep")
        self.words = self.coefficients + 2

    def public(self, source: Source) -> tuple[int, ...]:
        return tuple(source.below(self.order) for _ in range(self.coefficients))

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        signs = sum(_parity(row & value) << j for j, row in enumerate(public))
        answer = _respond(signs, self.size, self.keep, source)
        return b"".join(_field(row, self.order) for row in public) + _field(answer, self.size)

    def worst_ratio(self) -> Fraction:
        return _respond_ratio(self.size, self.keep)


class HadamardResponse:
    """HR: a row of the value's block where its Hadamard code is +1, or any other row of any block."""

    words = 3

    def __init__(self, scheme: dict[str, Any]) -> None:
        self.blocks = _integer(scheme, "blocks", 1, 2**32)
        self.order = _integer(scheme, "order", 2, 2**32)
        self.keep = _threshold(scheme, "keep")
        # Every item needs a code among the rows, and flipping a bit must not leave them: else a record could give
        # its item away whatever the threshold.
        if self.order & self.order - 1 or self.blocks * (self.order - 1) < _domain_size(scheme):
            raise DeviceError("order: expected a power of two with a code for every item")

    def public(self, source: Source) -> tuple[int, ...]:
        return ()

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        code, own = divmod(value, self.blocks)
        code += 1
        kept = source.bernoulli(self.keep)
        # The complement of the code's half-block is 2B-1 half-blocks: its own other half, and whole blocks.
        part = source.below(2 * self.blocks - 1)
        row = source.below(self.order)
        other = max(part - 1, 0) >> 1
        elsewhere = not kept and part > 0
        block = other + (other >= own) if elsewhere else own
        # Flipping the code's lowest bit flips the parity: two rows to one, so exactly uniform on the half.
        if not elsewhere and _parity(row & code) != (not kept):
            row ^= code & -code
        return _field(block * self.order + row, self.blocks * self.order)

    def worst_ratio(self) -> Fraction:
        return _respond_ratio(2 * self.blocks, self.keep)


class SubsetSelection:
    """SS: a random subset of fixed size that holds the value with probability keep."""

    def __init__(self, scheme: dict[str, Any]) -> None:
        self.size = _domain_size(scheme)
        self.subset_size = _integer(scheme, "subset_size", 1, self.size - 1)
        self.keep = _threshold(scheme, "keep")
        self.words = 1 + self.subset_size

    def public(self, source: Source) -> tuple[int, ...]:
        return ()

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        kept = source.bernoulli(self.keep)
        # Fisher and Yates over the others, as many as the subset holds; the value takes the last place if kept.
        moved: dict[int, int] = {}
        bitmap = bytearray((self.size + 7) // 8)
        for i in range(self.subset_size):
            j = i + source.below(self.size - 1 - i)
            pick = moved.get(j, j)
            moved[j] = moved.get(i, i)
            item = value if kept and i == self.subset_size - 1 else pick + (pick >= value)
            bitmap[item >> 3] |= 1 << (item & 7)
        return bytes(bitmap)

    def worst_ratio(self) -> Fraction:
        return _respond_ratio(self.size, self.keep, self.subset_size)


def _window(hashed: int, size: int, window: int, keep: int, source: Source) -> int:
    # The hash xor a number below the window, or xor one beyond it. All draws are always made.
    kept = source.bernoulli(keep)
    inside = source.below(window)
    outside = window + source.below(size - window)
    return hashed ^ (inside if kept else outside)


class ToeplitzHashing:
    """TLH: a public random Toeplitz matrix over GF(2), and a window around the value's hash."""

    words = 4

    def __init__(self, scheme: dict[str, Any]) -> None:
        self.hash_bits = _integer(scheme, "hash_bits", 1, 12)
        self.item_bits = _integer(scheme, "item_bits", 1, 65 - self.hash_bits)
        self.size = 1 << self.hash_bits
        self.window = _integer(scheme, "window", 1, self.size - 1)
        self.keep = _threshold(scheme, "keep")

    def public(self, source: Source) -> tuple[int, ...]:
        return (source.below(1 << self.item_bits + self.hash_bits - 1),)

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        (matrix,) = public
        item = value & (1 << self.item_bits) - 1
        hashed = sum(_parity(matrix >> j & item) << j for j in range(self.hash_bits))
        answer = _window(hashed, self.size, self.window, self.keep, source)
        return _field(matrix, 1 << self.item_bits + self.hash_bits - 1) + _field(answer, self.size)

    def worst_ratio(self) -> Fraction:
        return _respond_ratio(self.size, self.keep, self.window)


# The numerically smallest irreducible polynomial of each degree, bit i the coefficient of X^i.
FIELD_POLYNOMIALS = (0, 0b11, 0b111, 0b1011, 0x13, 0x25, 0x43, 0x83, 0x11B, 0x203, 0x409, 0x805, 0x1009)


def field_multiply(a: int, b: int, bits: int) -> int:
    """The product in GF(2^bits)."""
    product = 0
    while b:
        if b & 1:
            product ^= a
        b >>= 1
        a <<= 1
        if a >> bits:
            a ^= FIELD_POLYNOMIALS[bits]
    return product


def projective_point(line: int, bits: int) -> list[int]:
    """The coordinates over GF(2^bits) of a line's canonical point, up to its last one, which is 1."""
    coordinates: list[int] = []
    offset, free = 0, 1  # lines before those with one more free coordinate, and how many those are
    while line >= offset + free:
        offset, free = offset + free, free << bits
        coordinates.append(0)
    rest = line - offset
    for i in range(len(coordinates)):
        coordinates[i] = rest >> bits * i & (1 << bits) - 1
    return [*coordinates, 1]


class AffineResponse:
    """AGR: a public line of an affine geometry over GF(2^t), and a window around the value's place on it."""

    def __init__(self, scheme: dict[str, Any]) -> None:
        self.hash_bits = _integer(scheme, "hash_bits", 1, 12)
        self.dimension = _integer(scheme, "dimension", 1, 64 // self.hash_bits)
        self.size = 1 << self.hash_bits
        self.window = _integer(scheme, "window", 1, self.size - 1)
        self.keep = _threshold(scheme, "keep")
        self.lines = (self.size**self.dimension - 1) // (self.size - 1)
        self.words = 4 + (self.window > 1)
        if self.size**self.dimension < _domain_size(scheme):
            raise DeviceError("dimension: expected a space with a point for every item")

    def public(self, source: Source) -> tuple[int, ...]:
        line = source.below(self.lines)
        # A window of several places needs a random stretch: their differences must reach every place alike.
        return (line, source.below(self.size - 1)) if self.window > 1 else (line,)

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        line, stretch = public[0], 1 + sum(public[1:])
        hashed = 0
        for i, coordinate in enumerate(projective_point(line, self.hash_bits)):
            digit = value >> self.hash_bits * i & self.size - 1
            hashed ^= field_multiply(coordinate, digit, self.hash_bits)
        place = field_multiply(stretch, hashed, self.hash_bits)
        answer = _window(place, self.size, self.window, self.keep, source)
        stretched = _field(stretch, self.size) if self.window > 1 else b""
        return _field(line, self.lines) + stretched + _field(answer, self.size)

    def worst_ratio(self) -> Fraction:
        return _respond_ratio(self.size, self.keep, self.window)


class RowSketch:
    """CM, CS: a public row, and an oracle's report of the value's hash below it."""

    seed = staticmethod(row_seed)
    most_cells = 2**24

    def __init__(self, scheme: dict[str, Any]) -> None:
        oracle = scheme["oracle"]
        if oracle["scheme"] in ("CM", "CS", "BLOOM"):
            raise DeviceError("oracle: expected an oracle, came a sketch")
        self.oracle = Client(oracle).randomizer  # refuses one of another version, or beyond its own epsilon
        self.size = _domain_size(oracle)
        self.rows = _integer(scheme, "rows", 1, 2**16)
        self.hash_seed = _integer(scheme, "hash_seed", 0, _WORD - 1)
        self.split = _integer(scheme, "split", 1, 2**32)
        self.words = 1 + self.oracle.words
        if oracle["domain"]["type"] != "integers" or self.size > self.most_cells:
            raise DeviceError(f"oracle: expected one over at most {self.most_cells} integers")

    def public(self, source: Source) -> tuple[int, ...]:
        return (source.below(self.rows), *self.oracle.public(source))

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        row, *rest = public
        cell = local_hash(self.seed(self.hash_seed, row), value, self.split, self.size)
        return _field(row, self.rows) + self.oracle.perturb(cell, tuple(rest), source)

    def worst_ratio(self) -> Fraction:
        return self.oracle.worst_ratio()


class Bloom:
    """BLOOM: a public cohort, and every bit of the value's Bloom filter, wrong with the same probability."""

    def __init__(self, scheme: dict[str, Any]) -> None:
        self.size = _integer(scheme, "bits", 2, 2**16)
        self.hashes = _integer(scheme, "hashes", 1, 2**8)
        self.cohorts = _integer(scheme, "cohorts", 1, 2**16)
        self.hash_seed = _integer(scheme, "hash_seed", 0, _WORD - 1)
        self.split = _integer(scheme, "split", 1, 2**32)
        self.keep = _threshold(scheme, "keep")
        self.words = 1 + self.size

    def public(self, source: Source) -> tuple[int, ...]:
        return (source.below(self.cohorts),)

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        (cohort,) = public
        first = cohort * self.hashes
        seeds = [bloom_seed(self.hash_seed, first + j) for j in range(self.hashes)]
        true_bits = {local_hash(seed, value, self.split, self.size) for seed in seeds}
        bitmap = bytearray((self.size + 7) // 8)
        for i in range(self.size):
            bitmap[i >> 3] |= source.bernoulli(self.keep if i in true_bits else _WORD - self.keep) << (i & 7)
        return _field(cohort, self.cohorts) + bytes(bitmap)

    def worst_ratio(self) -> Fraction:
        # Two filters of at most k ones differ in at most 2k bits, and each of those contributes its odds once.
        return _both_ways(Fraction(self.keep, _WORD - self.keep)) ** min(2 * self.hashes, self.size)


class SampledBloom(RowSketch):
    """BLOOM over an oracle: a public cohort and one of its hash functions, and an oracle's report of that one bit."""

    seed = staticmethod(bloom_seed)
    most_cells = 2**16

    def __init__(self, scheme: dict[str, Any]) -> None:
        cohorts = _integer(scheme, "cohorts", 1, 2**16)
        super().__init__({**scheme, "rows": cohorts * _integer(scheme, "hashes", 1, 2**8)})


def _bloom(scheme: dict[str, Any]) -> Randomizer:
    return SampledBloom(scheme) if "oracle" in scheme else Bloom(scheme)


# --- searches: a string is the number whose digits are its symbols, the first one the highest -------------------


class _Words:
    # A source that counts what is drawn from it and is always 0.
    count = 0

    def bernoulli(self, threshold: int) -> bool:
        self.count += 1
        return True

    def below(self, size: int) -> int:
        self.count += 1
        return 0


class Text:
    """What may be seen of a string that is given as a number."""

    def __init__(self, domain: dict[str, Any]) -> None:
        if domain["type"] not in ("strings", "byte strings"):
            raise DeviceError("domain: expected strings")
        if not isinstance(domain["alphabet"], str) or not domain["alphabet"] or not isinstance(domain["other"], bool):
            raise DeviceError("domain: expected an alphabet, and whether there are other characters")
        characters = len(domain["alphabet"]) // (2 if domain["type"] == "byte strings" else 1)
        self.symbols = 1 + characters + bool(domain["other"])
        self.length = _integer(domain, "length", 1, 256)

    def cut(self, value: int, first: int, last: int) -> int:
        """The number of the symbols in [first, last)."""
        number: int = value // self.symbols ** (self.length - last) % self.symbols ** (last - first)
        return number

    def content(self, value: int, first: int, last: int) -> bytes:
        """Those symbols as bytes, for hashing."""
        size = 1 if self.symbols <= 256 else 2
        return b"".join(self.cut(value, i, i + 1).to_bytes(size, "little") for i in range(first, last))


class Tag:
    """A few bits of a hash of the whole string, which keep the fragments of one string together."""

    def __init__(self, scheme: dict[str, Any], text: Text) -> None:
        self.text = text
        self.hash_seed = _integer(scheme, "hash_seed", 0, _WORD - 1)
        self.bits = _integer(scheme, "hash_bits", 0, 16)

    def of(self, value: int) -> int:
        """The tag of a string."""
        content = self.text.content(value, 0, self.text.length)
        return key64(content, self.hash_seed, b"tag") & (1 << self.bits) - 1


class Part:
    """One oracle of a search: what it reports are the symbols in [first, last), with a tag of the whole string."""

    def __init__(self, scheme: dict[str, Any], text: Text, first: int, last: int, tag: Tag | None = None) -> None:
        client = Client(scheme)  # refuses one of another version, or beyond its own epsilon
        self.randomizer = client.randomizer
        self.text, self.first, self.last, self.tag = text, first, last, tag
        keys = scheme["domain"]["type"] == "keys"
        self.hash_seed = _integer(scheme["domain"], "hash_seed", 0, _WORD - 1) if keys else None
        count = text.symbols ** (last - first) << (tag.bits if tag else 0)
        if not keys and (scheme["domain"]["type"] != "integers" or _domain_size(scheme) < count):
            raise DeviceError("oracle: expected one over Keys() or with an item for everything it is asked about")
        drawn = _Words()
        public = self.randomizer.public(drawn)
        self.public_words = len(public)
        self.record_bytes = len(self.randomizer.perturb(0, public, drawn))

    def item(self, value: int) -> int:
        """What the oracle is given of a string: a number, or the key of some bytes."""
        tag = self.tag.of(value) if self.tag else 0
        if self.hash_seed is None:
            return self.text.cut(value, self.first, self.last) << (self.tag.bits if self.tag else 0) | tag
        content = self.text.content(value, self.first, self.last)
        return key64(content + tag.to_bytes(2, "little") if self.tag else content, self.hash_seed, b"symbols")


class Grouped:
    """A search: a public group of users, and a report through each part that the group has."""

    def __init__(self, parts: list[Part], groups: list[tuple[int, ...]], weights: list[int]) -> None:
        if len(weights) != len(groups) or not all(0 < weight < 2**32 for weight in weights):
            raise DeviceError("weights: expected a positive integer for each group")
        self.groups = [[parts[i] for i in group] for group in groups]
        self.weights = weights
        self.words = 1 + max(sum(part.randomizer.words for part in group) for group in self.groups)
        self.body = max(sum(part.record_bytes for part in group) for group in self.groups)

    def public(self, source: Source) -> tuple[int, ...]:
        ticket, number = source.below(sum(self.weights)), 0
        while ticket >= self.weights[number]:
            ticket -= self.weights[number]
            number += 1
        drawn = [draw for part in self.groups[number] for draw in part.randomizer.public(source)]
        return (number, *drawn)

    def perturb(self, value: int, public: tuple[int, ...], source: Source) -> bytes:
        number, *drawn = public
        group, body = self.groups[number], b""
        for part in group:
            own, drawn = drawn[: part.public_words], drawn[part.public_words :]
            body += part.randomizer.perturb(part.item(value), tuple(own), source)
        # All groups draw as many words and send as many bytes.
        for _ in range(1 + sum(part.randomizer.words for part in group), self.words):
            source.below(1)
        return _field(number, len(self.groups)) + body.ljust(self.body, b"\0")

    def worst_ratio(self) -> Fraction:
        # A group's parts are all sent: their ratios multiply. Of the groups only one is.
        worst = Fraction(1)
        for group in self.groups:
            ratio = Fraction(1)
            for part in group:
                ratio *= part.randomizer.worst_ratio()
            worst = max(worst, ratio)
        return worst


def _levels(scheme: dict[str, Any], length: int) -> list[int]:
    start = _integer(scheme, "start", 1, length)
    return [*range(start, length, _integer(scheme, "step", 1, length)), length]


def _integers(numbers: list[Any]) -> list[int]:
    return [int(number) for number in numbers]


class Fold(Part):
    """A part that reports the cell of a prefix: a hash of its stem chooses and rotates a block, the rest a cell."""

    def __init__(self, scheme: dict[str, Any], text: Text, stem: int, last: int, cohort: int, hash_seed: int) -> None:
        super().__init__(scheme, text, stem, last)
        self.cohort, self.fold_seed = cohort, hash_seed
        self.block = 1 << (text.symbols ** (last - stem) - 1).bit_length()
        self.blocks = _domain_size(scheme) // self.block
        if (
            self.hash_seed is not None
            or self.blocks & self.blocks - 1
            or self.blocks * self.block != _domain_size(scheme)
        ):
            raise DeviceError("folded: expected an oracle over a power of two of cells")

    def item(self, value: int) -> int:
        """The cell."""
        key = key64(self.text.content(value, 0, self.first) + bytes([self.cohort]), self.fold_seed, b"fold")
        place = (self.text.cut(value, self.first, self.last) + key) % self.block
        cell: int = (key >> 32) % self.blocks * self.block + place
        return cell


class Extension(Part):
    """A part that reports by which symbols a published prefix goes on, or that none of the published ones fits."""

    def __init__(self, scheme: dict[str, Any], text: Text, stem: int, last: int, prefixes: list[int]) -> None:
        super().__init__(scheme, text, stem, last)
        self.numbers = {text.cut(prefix, 0, stem): number for number, prefix in enumerate(prefixes)}
        self.more: int = text.symbols ** (last - stem)
        if self.hash_seed is not None or _domain_size(scheme) < len(prefixes) * self.more + 1:
            raise DeviceError("oracle: expected one over integers, with an item for every extension and one more")

    def item(self, value: int) -> int:
        """The number of the extension; the last one for strings that have none."""
        number = self.numbers.get(self.text.cut(value, 0, self.first), len(self.numbers))
        ending = self.text.cut(value, self.first, self.last) if number < len(self.numbers) else 0
        return number * self.more + ending


def search_round(scheme: dict[str, Any]) -> Randomizer:
    """ROUND: how the string goes on, if it begins with a published prefix."""
    text, encode = Text(scheme["domain"]), _string_encoder(scheme["domain"])
    as_bytes = scheme["domain"]["type"] == "byte strings"
    prefixes = [encode(bytes.fromhex(prefix) if as_bytes else prefix) for prefix in scheme["prefixes"]]
    stem = _integer(scheme, "stem", 0, text.length - 1)
    reach = _integer(scheme, "reach", stem + 1, text.length)
    return Grouped([Extension(scheme["oracle"], text, stem, reach, prefixes)], [(0,)], [1])


def trellis(scheme: dict[str, Any]) -> Randomizer:
    """TRELLIS: a public group, and a symbol, two symbols, a short prefix, or the cell of a longer one."""
    text = Text(scheme["domain"])
    levels, seed = _levels(scheme, text.length), _integer(scheme, "hash_seed", 0, _WORD - 1)
    parts = [Part(scheme["letters"], text, i, i + 1) for i in range(text.length)]
    if "pairs" in scheme:
        parts += [Part(scheme["pairs"], text, i, i + 2) for i in range(text.length - 1)]
    parts.append(Part(scheme["first"], text, 0, levels[0]))
    for stem, last in pairwise(levels):
        cells = scheme["folded" if stem == levels[0] or "deep" not in scheme else "deep"]
        parts += [Fold(cells, text, stem, last, cohort, seed) for cohort in range(_integer(scheme, "cohorts", 1, 16))]
    return Grouped(parts, [(i,) for i in range(len(parts))], _integers(scheme["weights"]))


def prefix_extending(scheme: dict[str, Any]) -> Randomizer:
    """PEM: a public prefix length, and that prefix."""
    text = Text(scheme["domain"])
    parts = [Part(scheme["oracle"], text, 0, length) for length in _levels(scheme, text.length)]
    return Grouped(parts, [(i,) for i in range(len(parts))], _integers(scheme["weights"]))


def tree_histogram(scheme: dict[str, Any]) -> Randomizer:
    """TH: a public prefix length, that prefix, and the whole string."""
    text = Text(scheme["domain"])
    parts = [Part(scheme["oracle"], text, 0, length) for length in _levels(scheme, text.length)[:-1]]
    levels = len(parts)
    parts.append(Part(scheme["word_oracle"], text, 0, text.length))
    return Grouped(parts, [(i, levels) for i in range(levels)], [1] * levels)


def fragment_puzzle(scheme: dict[str, Any]) -> Randomizer:
    """SFP: a public position, the fragment there with a tag, and the whole string."""
    text = Text(scheme["domain"])
    size, tag = _integer(scheme, "fragment", 1, text.length), Tag(scheme, text)
    starts = range(0, text.length, size)
    parts = [Part(scheme["oracle"], text, first, min(first + size, text.length), tag) for first in starts]
    parts.append(Part(scheme["word_oracle"], text, 0, text.length))
    return Grouped(parts, [(i, len(starts)) for i in range(len(starts))], [1] * len(starts))


def bitstogram(scheme: dict[str, Any]) -> Randomizer:
    """BITSTOGRAM: a public position and the symbol there with a tag, or the whole string."""
    text = Text(scheme["domain"])
    tag = Tag(scheme, text)
    parts = [Part(scheme["oracle"], text, i, i + 1, tag) for i in range(text.length)]
    parts.append(Part(scheme["word_oracle"], text, 0, text.length))
    return Grouped(parts, [(i,) for i in range(len(parts))], _integers(scheme["weights"]))


RANDOMIZERS: dict[str, Callable[[dict[str, Any]], Randomizer]] = {
    "DE": Direct,
    "SUE": Unary,
    "OUE": Unary,
    "BLH": LocalHashing,
    "OLH": LocalHashing,
    "FLH": FastLocalHashing,
    "HM": HadamardMechanism,
    "HR": HadamardResponse,
    "SS": SubsetSelection,
    "TLH": ToeplitzHashing,
    "AGR": AffineResponse,
    "CM": RowSketch,
    "CS": RowSketch,
    "BLOOM": _bloom,
    "TRELLIS": trellis,
    "ROUND": search_round,
    "PEM": prefix_extending,
    "TH": tree_histogram,
    "SFP": fragment_puzzle,
    "BITSTOGRAM": bitstogram,
}


# --- the client -------------------------------------------------------------------------------------------------


class Client:
    """A scheme on a device: ``privatize(value)`` is the only thing it does with a value."""

    def __init__(self, scheme: dict[str, Any]) -> None:
        name = scheme.get("scheme")
        if scheme.get("version") != 1 or not isinstance(name, str) or name not in RANDOMIZERS:
            raise DeviceError("the scheme is of a version or kind this file does not know; update the file")
        try:
            self.encode = _encoder(scheme["domain"])
            self.randomizer = RANDOMIZERS[name](scheme)
            epsilon = _epsilon(scheme["epsilon"])
        except DeviceError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise DeviceError(f"the scheme lacks a field or has a wrong one: {error}") from None
        if not 0 < epsilon <= 1000 or self.randomizer.worst_ratio() > _exp_lower_bound(epsilon):
            raise DeviceError("the scheme's probabilities exceed its own epsilon; do not send anything")

    def privatize(self, value: object, source: Source | None = None) -> bytes:
        """The record of one randomized report."""
        encoded = self.encode(value)
        source = source or WordSource(self.randomizer.words)
        return self.randomizer.perturb(encoded, self.randomizer.public(source), source)


def load(scheme_json: str) -> Client:
    """The client of a scheme given as JSON text."""
    try:
        scheme = json.loads(scheme_json)
    except (ValueError, TypeError, RecursionError):
        raise DeviceError("the scheme is not valid JSON") from None
    if not isinstance(scheme, dict):
        raise DeviceError("the scheme is not a JSON object")
    return Client(scheme)


def _encoder(domain: dict[str, Any]) -> Callable[[object], int]:
    kind = domain.get("type")
    if kind == "integers":
        size = _domain_size({"domain": domain})

        def encode(value: object) -> int:
            if isinstance(value, bool) or not isinstance(value, int):
                raise DeviceError(f"expected an integer, came {type(value).__name__}")
            if not 0 <= value < size:
                raise DeviceError(f"the value is outside the domain of {size} items")
            return value

    elif kind == "labels":
        _domain_size({"domain": domain})
        index = {label: i for i, label in enumerate(domain["labels"])}
        other = len(index) if domain["other"] else None

        def encode(value: object) -> int:
            if not isinstance(value, str):
                raise DeviceError(f"expected a label (str), came {type(value).__name__}")
            found = index.get(value, other)
            if found is None:
                raise DeviceError("the value is not among the labels; a scheme with other=True takes any text")
            return found

    elif kind == "keys":
        hash_seed = _integer(domain, "hash_seed", 0, _WORD - 1)
        key64(b"", hash_seed)  # refuses a seed that is too long here, and not at the first value

        def encode(value: object) -> int:
            return item_key(value, hash_seed)

    elif kind in ("strings", "byte strings"):
        return _string_encoder(domain)

    else:
        raise DeviceError("the scheme's domain is of a kind this file does not know; update the file")
    return encode


def _string_encoder(domain: dict[str, Any]) -> Callable[[object], int]:
    text, as_bytes = Text(domain), domain["type"] == "byte strings"
    alphabet = bytes.fromhex(domain["alphabet"]) if as_bytes else domain["alphabet"]
    index: dict[Any, int] = {character: 1 + i for i, character in enumerate(alphabet)}
    other = text.symbols - 1 if domain["other"] else 0
    if len(index) != len(alphabet) or text.symbols > 2**16 or domain["long"] not in ("truncate", "refuse"):
        raise DeviceError("domain: expected distinct characters, and long strings to be truncated or refused")

    def encode(value: object) -> int:
        if not isinstance(value, bytes if as_bytes else str):
            raise DeviceError(f"expected {'bytes' if as_bytes else 'text'}, came {type(value).__name__}")
        if len(value) > text.length and domain["long"] == "refuse":
            raise DeviceError(f"expected at most {text.length} characters, came more")
        number = 0
        for i in range(text.length):
            symbol = index.get(value[i], other) if i < len(value) else 0
            if i < len(value) and symbol == 0:
                raise DeviceError("expected characters of the alphabet only; a scheme with other=True takes any")
            number = number * text.symbols + symbol
        return number

    return encode


def _domain_size(scheme: dict[str, Any]) -> int:
    domain = scheme["domain"]
    if domain["type"] == "labels":
        domain = {"size": len(domain["labels"]) + bool(domain["other"])}
    return _integer(domain, "size", 2, 2**32)


def _integer(fields: dict[str, Any], name: str, least: int, most: int) -> int:
    number = int(fields[name])
    if not least <= number <= most:
        raise DeviceError(f"{name}: expected {least} to {most}, came another number")
    return number


def _epsilon(text: str) -> Fraction:
    # Digits, or two runs of them: a power of ten could keep a device busy for ever.
    numerator, _, denominator = text.partition("/")
    if len(text) > 2600 or not text.replace("/", "", 1).isdecimal():
        raise DeviceError("epsilon: expected a fraction as text")
    return Fraction(int(numerator), int(denominator or 1))


def _threshold(scheme: dict[str, Any], name: str) -> int:
    threshold = int(scheme[name])
    if not 0 < threshold < _WORD:
        raise DeviceError(f"{name}: expected a threshold strictly between 0 and 2^64")
    return threshold


def _exp_lower_bound(epsilon: Fraction) -> Fraction:
    # Partial sums of the series lie below e^epsilon; 200 bits of agreement are far more than the 2^-64 to which
    # thresholds are rounded, so no honest scheme is refused.
    scale = 1 << 300
    term = total = scale
    k = 0
    while term > total >> 220:
        k += 1
        term = term * epsilon.numerator // (epsilon.denominator * k)
        total += term
    return Fraction(total, scale)
