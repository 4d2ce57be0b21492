"""The C kernels behind the signatures of `reference`: results are allocated here, inputs are never copied.

The caller hands over C-contiguous arrays of the right type. Calls through ctypes drop the interpreter lock,
so threads run side by side.
"""

import ctypes
import hashlib
from collections.abc import Callable
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .reference import _FIELDS

U8 = npt.NDArray[np.uint8]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]

_SOURCE = Path(__file__).with_name("native.c")
_LIBRARY = Path(__file__).with_name("libplausibly.so")

# Result and arguments of each kernel, in the order of native.c: p pointer, l int64, q uint64, w uint32, i int.
_TYPES: dict[str, Any] = {
    "p": ctypes.c_void_p,
    "l": ctypes.c_int64,
    "q": ctypes.c_uint64,
    "w": ctypes.c_uint32,
    "i": ctypes.c_int,
}
_SIGNATURES = {
    "direct_response": ("l", "pplllqqppl"),
    "local_hash": ("", "pplqwp"),
    "support_counts": ("i", "pplqqwp"),
    "support_of": ("", "pplplqwp"),
    "table_support": ("i", "pplwqqp"),
    "table_support_of": ("", "pplwplqp"),
    "unary_response": ("l", "ppllqqpppl"),
    "column_sums": ("", "pllp"),
    "walsh_hadamard": ("", "pli"),
    "parity_hash": ("", "ppllp"),
    "gray_scatter": ("", "pplllpp"),
    "hadamard_response": ("l", "pplqqqppl"),
    "subset_response": ("l", "ppllqqppl"),
    "window_response": ("l", "pplllqqqppl"),
    "toeplitz_hash": ("", "pplllp"),
    "toeplitz_scatter": ("", "pplllpp"),
    "toeplitz_support_of": ("", "pplplllqp"),
    "affine_hash": ("", "pplllqp"),
    "affine_gather": ("i", "plllqp"),
    "keyed_hash": ("", "pplpp"),
    "local_hash_response": ("l", "ppplllqqwppl"),
    "settle_ties": ("", "plpppplqq"),
    "row_sums": ("", "pllp"),
}

# A word is rejected with probability below 2^-32: room for a few is room for all but crafted words.
_REDO = 16


class _UnavailableError(Exception):
    """The library is absent, does not load, or was built from another source."""


def _open(library: Path = _LIBRARY, source: Path = _SOURCE) -> ctypes.CDLL:
    """The library, checked to have been built from the source that lies beside it."""
    if not library.exists():
        raise _UnavailableError(f"{library.name} was not built")
    try:
        opened = ctypes.CDLL(str(library))
        opened.plausibly_digest.restype = ctypes.c_char_p
        digest: bytes = opened.plausibly_digest()
        expected = hashlib.sha256(source.read_bytes()).hexdigest()
    except (OSError, AttributeError) as error:
        raise _UnavailableError(f"{library.name} does not load ({error})") from error
    if digest.decode() != expected:
        raise _UnavailableError(f"{library.name} was built from another {source.name}")
    return opened


def _best(opened: ctypes.CDLL) -> str:
    """The best instruction set of the library that this machine can run."""
    opened.plausibly_instruction_set.restype = ctypes.c_char_p
    name: bytes = opened.plausibly_instruction_set()
    return name.decode()


def _bind(opened: ctypes.CDLL, instruction_set: str) -> dict[str, Callable[..., int]]:
    """The C function of each kernel for one instruction set."""
    functions: dict[str, Callable[..., int]] = {}
    for name, (result, arguments) in _SIGNATURES.items():
        function = opened[f"plausibly_{name}_{instruction_set}"]
        function.restype = _TYPES[result] if result else None
        function.argtypes = [_TYPES[letter] for letter in arguments]
        functions[name] = function
    return functions


_functions: dict[str, Callable[..., int]] = {}


def load() -> None:
    """Nothing: afterwards the kernels of this module work, or `_UnavailableError` has said why not."""
    opened = _open()
    _functions.update(_bind(opened, _best(opened)))


def _call(name: str, *arguments: npt.NDArray[Any] | int) -> int:
    """What the C function returns; arrays are passed by address."""
    plain = [value.ctypes.data if isinstance(value, np.ndarray) else value for value in arguments]
    return _functions[name](*plain)


def _call_listing(name: str, *arguments: npt.NDArray[Any] | int, lists: int, capacity: int) -> list[I64]:
    """The lists that the C function fills; it runs again with room for all if the capacity was too small."""
    while True:
        room = [np.empty(capacity, dtype=np.int64) for _ in range(lists)]
        needed = _call(name, *arguments, *room, capacity)
        _check_memory(needed)
        if needed <= capacity:
            return [filled[:needed] for filled in room]
        capacity = needed


def _check_memory(status: int) -> None:
    if status < 0:
        raise MemoryError("no memory for the tables of a kernel")


def direct_response(values: U64, words: U64, column: int, keep: int, size: int) -> tuple[U32, I64]:
    """Reported value of each user, and the reports to redo."""
    n, stride = words.shape
    y = np.empty(n, dtype=np.uint32)
    (redo,) = _call_listing("direct_response", values, words, n, stride, column, keep, size, y, lists=1, capacity=_REDO)
    return y, redo


def local_hash(seeds: U64, values: U64, split: int, size: int) -> U32:
    """Hash of each value under its seed, in range(size)."""
    out = np.empty(len(seeds), dtype=np.uint32)
    _call("local_hash", seeds, values, len(seeds), split, size, out)
    return out


def support_counts(seeds: U64, hashes: U32, domain_size: int, split: int, size: int) -> I64:
    """Number of reports that support each value of the domain."""
    counts = np.zeros(domain_size, dtype=np.int64)
    _check_memory(_call("support_counts", seeds, hashes, len(seeds), domain_size, split, size, counts))
    return counts


def support_of(seeds: U64, hashes: U32, candidates: U64, split: int, size: int) -> I64:
    """Number of reports that support each candidate, which may be any 64-bit number."""
    counts = np.zeros(len(candidates), dtype=np.int64)
    _call("support_of", seeds, hashes, len(seeds), candidates, len(candidates), split, size, counts)
    return counts


def table_support(seeds: U64, table: I64, domain_size: int, split: int) -> I64:
    """Sum over hash functions i of table[i, local_hash(seeds_i, x)], for each value x of the domain."""
    k, size = table.shape
    sums = np.zeros(domain_size, dtype=np.int64)
    _check_memory(_call("table_support", seeds, table, k, size, domain_size, split, sums))
    return sums


def table_support_of(seeds: U64, table: I64, candidates: U64, split: int) -> I64:
    """Sum over hash functions i of table[i, local_hash(seeds_i, x)], for each candidate x."""
    k, size = table.shape
    sums = np.zeros(len(candidates), dtype=np.int64)
    _call("table_support_of", seeds, table, k, size, candidates, len(candidates), split, sums)
    return sums


def unary_response(values: U64, head: U8, true_threshold: int, other_threshold: int) -> tuple[U8, I64, I64]:
    """Bitmap of each report, with the report and bit numbers of the ties that the head bytes leave open."""
    n, d = head.shape
    bitmaps = np.empty((n, -(-d // 8)), dtype=np.uint8)
    # One byte in 256 ties; with room for six standard deviations more, a second run is rare.
    expected = n * d // 256
    capacity = expected + 6 * isqrt(expected) + 16
    reports, bits = _call_listing(
        "unary_response",
        *(values, head, n, d, true_threshold, other_threshold, bitmaps),
        lists=2,
        capacity=capacity,
    )
    return bitmaps, reports, bits


def column_sums(bitmaps: U8, size: int) -> I64:
    """Number of ones in each of the first `size` columns of the bitmaps."""
    counts = np.zeros(size, dtype=np.int64)
    _call("column_sums", bitmaps, len(bitmaps), size, counts)
    return counts


def walsh_hadamard(a: I64) -> None:
    """Nothing: each row of `a`, of length 2^m, is replaced by its unnormalised transform in natural order."""
    rows, length = a.shape
    _call("walsh_hadamard", a, rows, length.bit_length() - 1)


def parity_hash(values: U64, rows: U64) -> U32:
    """Linear hash of each value over GF(2): bit j is the parity of rows[i, j] & values[i]."""
    n, t = rows.shape
    out = np.empty(n, dtype=np.uint32)
    _call("parity_hash", values, rows, n, t, out)
    return out


def gray_scatter(rows: U64, hashes: U32, bits: int, weights: I64) -> I64:
    """Weighted characters of all reports at the 2^bits frequencies."""
    n, t = rows.shape
    out = np.zeros(1 << bits, dtype=np.int64)
    _call("gray_scatter", rows, hashes, n, bits, t, weights, out)
    return out


def hadamard_response(values: U64, words: U64, keep: int, blocks: int, order: int) -> tuple[U32, I64]:
    """Reported cell of each user, and the reports to redo."""
    n = len(values)
    z = np.empty(n, dtype=np.uint32)
    (redo,) = _call_listing("hadamard_response", values, words, n, keep, blocks, order, z, lists=1, capacity=_REDO)
    return z, redo


def subset_response(values: U64, words: U64, keep: int, size: int) -> tuple[U8, I64]:
    """Bitmap of the subset of each user, and the reports to redo."""
    n, columns = words.shape
    bitmaps = np.empty((n, -(-size // 8)), dtype=np.uint8)
    (redo,) = _call_listing(
        "subset_response", values, words, n, columns - 1, keep, size, bitmaps, lists=1, capacity=_REDO
    )
    return bitmaps, redo


def window_response(hashes: U32, words: U64, column: int, keep: int, size: int, window: int) -> tuple[U32, I64]:
    """Reported hash of each user, and the reports to redo."""
    n, stride = words.shape
    y = np.empty(n, dtype=np.uint32)
    (redo,) = _call_listing(
        "window_response",
        *(hashes, words, n, stride, column, keep, size, window, y),
        lists=1,
        capacity=_REDO,
    )
    return y, redo


def toeplitz_hash(values: U64, matrices: U64, hash_bits: int, item_bits: int) -> U32:
    """Linear hash of each value under its Toeplitz matrix: bit j is the parity of (matrix >> j) & value."""
    out = np.empty(len(values), dtype=np.uint32)
    _call("toeplitz_hash", values, matrices, len(values), hash_bits, item_bits, out)
    return out


def toeplitz_scatter(matrices: U64, hashes: U32, item_bits: int, weights: I64) -> I64:
    """Weighted characters of all reports at the 2^item_bits frequencies: `gray_scatter` with Toeplitz rows."""
    out = np.zeros(1 << item_bits, dtype=np.int64)
    t = len(weights).bit_length() - 1
    _call("toeplitz_scatter", matrices, hashes, len(matrices), item_bits, t, weights, out)
    return out


def toeplitz_support_of(
    matrices: U64, hashes: U32, candidates: U64, hash_bits: int, item_bits: int, window: int
) -> I64:
    """Number of reports that support each candidate."""
    counts = np.zeros(len(candidates), dtype=np.int64)
    _call(
        "toeplitz_support_of",
        *(matrices, hashes, len(matrices), candidates, len(candidates), hash_bits, item_bits, window, counts),
    )
    return counts


def affine_hash(values: U64, lines: U64, hash_bits: int, dimension: int) -> U32:
    """Hash of each value under its line: the scalar product of value and point over GF(2^hash_bits)."""
    out = np.empty(len(values), dtype=np.uint32)
    _call("affine_hash", values, lines, len(values), hash_bits, dimension, _FIELDS[hash_bits - 1], out)
    return out


def affine_gather(rows: I64, hash_bits: int, dimension: int, item_bits: int) -> I64:
    """Sum of rows[k, s] over all lines k and s ≠ 0 at the frequency that the pair stands for, folded to item_bits."""
    out = np.zeros(1 << item_bits, dtype=np.int64)
    _check_memory(_call("affine_gather", rows, hash_bits, dimension, item_bits, _FIELDS[hash_bits - 1], out))
    return out


def keyed_hash(content: U8, ends: I64, hash_seed: int, tag: bytes) -> U64:
    """First 8 bytes of BLAKE2s of each string, keyed by seed (personalisation) and tag (salt), as a number."""
    parameters = np.frombuffer(tag.ljust(8, b"\0") + hash_seed.to_bytes(8, "little"), dtype=np.uint8)
    out = np.empty(len(ends), dtype=np.uint64)
    _call("keyed_hash", content, ends, len(ends), parameters, out)
    return out


def local_hash_response(
    values: U64, seeds: U64, words: U64, column: int, keep: int, split: int, size: int
) -> tuple[U32, I64]:
    """Direct response to the hash of each value under its seed, and the reports to redo."""
    n, stride = words.shape
    y = np.empty(n, dtype=np.uint32)
    (redo,) = _call_listing(
        "local_hash_response",
        *(values, seeds, words, n, stride, column, keep, split, size, y),
        lists=1,
        capacity=_REDO,
    )
    return y, redo


def settle_ties(
    bitmaps: U8, values: U64, reports: I64, bits: I64, tails: U64, true_threshold: int, other_threshold: int
) -> None:
    """Nothing: the ties of `unary_response` are decided in the bitmaps by the rest of their words."""
    _call(
        "settle_ties",
        *(bitmaps, bitmaps.shape[1], values, reports, bits, tails, len(reports), true_threshold, other_threshold),
    )


def row_sums(bitmaps: U8) -> I64:
    """Number of ones in each bitmap."""
    sums = np.empty(len(bitmaps), dtype=np.int64)
    _call("row_sums", bitmaps, *bitmaps.shape, sums)
    return sums
