"""The C kernels behind the signatures of `reference`: results are allocated here, inputs are never copied.

The caller hands over C-contiguous arrays of the right type, or fields of packed records, which are read and written
where they lie. Calls through ctypes drop the interpreter lock, so threads run side by side.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .common import I16, I32, I64, POLYNOMIALS, U8, U32, U64, Field, Fields, line_count, refuse_outside

_SOURCE = Path(__file__).with_name("native.c")
_LIBRARY = Path(__file__).with_name("libplausibly.so")


class _Record(ctypes.Structure):
    """A field as native.c knows it: its address in the first record, the size of a record, and its own."""

    _fields_ = (("at", ctypes.c_void_p), ("stride", ctypes.c_int64), ("width", ctypes.c_int64))


# Result and arguments of each kernel, in the order of native.c: p pointer, f field, l int64, q uint64, w uint32, i int.
_TYPES: dict[str, Any] = {
    "p": ctypes.c_void_p,
    "f": _Record,
    "l": ctypes.c_int64,
    "q": ctypes.c_uint64,
    "w": ctypes.c_uint32,
    "i": ctypes.c_int,
}
_SIGNATURES = {
    "direct_response": ("l", "pplqqfpl"),
    "local_hash": ("", "pplqwp"),
    "support_counts": ("i", "fflqqwp"),
    "support_of": ("", "fflplqwp"),
    "table_support": ("i", "pplwqqp"),
    "table_support_of": ("", "pplwplqp"),
    "unary_response": ("l", "ppllqqfppl"),
    "column_sums": ("", "pllp"),
    "walsh_hadamard": ("", "pli"),
    "parity_response": ("l", "pplllqffpl"),
    "gray_scatter": ("", "fflllpp"),
    "hadamard_response": ("l", "pplqqqfpl"),
    "subset_response": ("l", "ppllqqfpl"),
    "toeplitz_response": ("l", "pplllqqffpl"),
    "toeplitz_scatter": ("", "fflllpp"),
    "toeplitz_support_of": ("", "fflplllqp"),
    "affine_response": ("l", "ppllllqqqqfffpl"),
    "affine_gather": ("i", "plllqp"),
    "keyed_hash": ("", "plplpp"),
    "local_hash_response": ("l", "pplplqqwffpl"),
    "settle_ties": ("", "flplppplqq"),
    "row_sums": ("", "pllp"),
    "histogram": ("l", "fflqqp"),
    "stretched_histogram": ("l", "ffflqqppqp"),
    "sign_sums": ("l", "ffllqp"),
    "extremes": ("", "fllp"),
    "promising_children": ("l", "pllppllpllpplippl"),
}
_NO_FIELD = _Record(None, 0, 0)

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


def _call(name: str, *arguments: npt.NDArray[Any] | ctypes.Array[ctypes.c_int64] | _Record | int) -> int:
    """What the C function returns; arrays are passed by address."""
    plain = [value.ctypes.data if isinstance(value, np.ndarray) else value for value in arguments]
    return _functions[name](*plain)


def _field(array: Field) -> _Record:
    """Where C finds a field; several numbers in one field follow each other."""
    return _Record(array.ctypes.data, array.strides[0], array.itemsize)


def _respond(name: str, *arguments: npt.NDArray[Any] | _Record | int) -> I64:
    """The reports to redo; a kernel that finds more than there is room for runs again."""
    few = (ctypes.c_int64 * _REDO)()
    needed = _call(name, *arguments, few, _REDO)
    _check_memory(needed)
    if needed <= _REDO:
        return np.array(few[:needed], dtype=np.int64)
    redo = np.empty(needed, dtype=np.int64)
    _call(name, *arguments, redo, needed)
    return redo


def _check_memory(status: int) -> None:
    if status < 0:
        raise MemoryError("no memory for the tables of a kernel")


def direct_response(values: U64, words: U64, keep: int, size: int, out: Field) -> I64:
    """The reports to redo; what each user reports is written to the field."""
    return _respond("direct_response", values, words, len(values), keep, size, _field(out))


def local_hash(seeds: U64, values: U64, split: int, size: int) -> U32:
    """Hash of each value under its seed, in range(size)."""
    out = np.empty(len(seeds), dtype=np.uint32)
    _call("local_hash", seeds, values, len(seeds), split, size, out)
    return out


def support_counts(seeds: Field, hashes: Field, domain_size: int, split: int, size: int) -> I64:
    """Number of reports that support each value of the domain."""
    counts = np.zeros(domain_size, dtype=np.int64)
    fields = _field(seeds), _field(hashes)
    _check_memory(_call("support_counts", *fields, len(seeds), domain_size, split, size, counts))
    return counts


def support_of(seeds: Field, hashes: Field, candidates: U64, split: int, size: int) -> I64:
    """Number of reports that support each candidate, which may be any 64-bit number."""
    counts = np.zeros(len(candidates), dtype=np.int64)
    fields = _field(seeds), _field(hashes)
    _call("support_of", *fields, len(seeds), candidates, len(candidates), split, size, counts)
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


def unary_response(values: U64, head: U8, true_threshold: int, other_threshold: int, bitmaps: Field) -> tuple[I64, I64]:
    """Report and bit numbers of the ties that the head bytes leave open; the other bits are written to the bitmaps."""
    n, d = head.shape
    # One byte in 256 ties; with room for six standard deviations more, a second run is rare.
    expected = n * d // 256
    capacity = expected + 6 * isqrt(expected) + 16
    arguments = values, head, n, d, true_threshold, other_threshold, _field(bitmaps)
    while True:
        reports, bits = np.empty((2, capacity), dtype=np.int64)
        ties = _call("unary_response", *arguments, reports, bits, capacity)
        if ties <= capacity:
            return reports[:ties], bits[:ties]
        capacity = ties


def column_sums(bitmaps: U8, size: int) -> I64:
    """Number of ones in each of the first `size` columns of the bitmaps."""
    counts = np.zeros(size, dtype=np.int64)
    _call("column_sums", bitmaps, len(bitmaps), size, counts)
    return counts


def walsh_hadamard(a: I64) -> None:
    """Nothing: each row of `a`, of length 2^m, is replaced by its unnormalised transform in natural order."""
    rows, length = a.shape
    _call("walsh_hadamard", a, rows, length.bit_length() - 1)


def parity_response(values: U64, words: U64, bits: int, keep: int, out: Fields) -> I64:
    """The reports to redo; rows and hash of each user are written to the fields."""
    rows, hashes = out
    sizes = len(values), rows.shape[1], bits
    return _respond("parity_response", values, words, *sizes, keep, _field(rows), _field(hashes))


def gray_scatter(rows: Field, hashes: Field, bits: int, weights: I64) -> I64:
    """Weighted characters of all reports at the 2^bits frequencies."""
    n, t = rows.shape
    out = np.zeros(1 << bits, dtype=np.int64)
    _call("gray_scatter", _field(rows), _field(hashes), n, bits, t, weights, out)
    return out


def hadamard_response(values: U64, words: U64, keep: int, blocks: int, order: int, out: Field) -> I64:
    """The reports to redo; the cell of each user is written to the field."""
    return _respond("hadamard_response", values, words, len(values), keep, blocks, order, _field(out))


def subset_response(values: U64, words: U64, keep: int, size: int, bitmaps: Field) -> I64:
    """The reports to redo; the subset of each user is written to the bitmaps."""
    n, columns = words.shape
    return _respond("subset_response", values, words, n, columns - 1, keep, size, _field(bitmaps))


def toeplitz_response(
    values: U64, words: U64, hash_bits: int, item_bits: int, keep: int, window: int, out: Fields
) -> I64:
    """The reports to redo; matrix and hash of each user are written to the fields."""
    return _respond(
        "toeplitz_response",
        *(values, words, len(values), hash_bits, item_bits, keep, window),
        *map(_field, out),
    )


def toeplitz_scatter(matrices: Field, hashes: Field, item_bits: int, weights: I64) -> I64:
    """Weighted characters of all reports at the 2^item_bits frequencies: `gray_scatter` with Toeplitz rows."""
    out = np.zeros(1 << item_bits, dtype=np.int64)
    t = len(weights).bit_length() - 1
    _call("toeplitz_scatter", _field(matrices), _field(hashes), len(matrices), item_bits, t, weights, out)
    return out


def toeplitz_support_of(
    matrices: Field, hashes: Field, candidates: U64, hash_bits: int, item_bits: int, window: int
) -> I64:
    """Number of reports that support each candidate."""
    counts = np.zeros(len(candidates), dtype=np.int64)
    _call(
        "toeplitz_support_of",
        *(_field(matrices), _field(hashes), len(matrices), candidates, len(candidates)),
        *(hash_bits, item_bits, window, counts),
    )
    return counts


def affine_response(
    values: U64, words: U64, hash_bits: int, dimension: int, keep: int, window: int, out: Fields
) -> I64:
    """The reports to redo; line, stretch (if it has a field) and hash of each user are written to the fields."""
    line, *stretch, hashes = map(_field, out)
    n, columns = words.shape
    return _respond(
        "affine_response",
        *(values, words, n, columns, hash_bits, dimension, POLYNOMIALS[hash_bits - 1]),
        *(line_count(hash_bits, dimension), keep, window, line, stretch[0] if stretch else _NO_FIELD, hashes),
    )


def affine_gather(rows: I64, hash_bits: int, dimension: int, item_bits: int) -> I64:
    """Sum of rows[k, s] over all lines k and s ≠ 0 at the frequency that the pair stands for, folded to item_bits."""
    out = np.zeros(1 << item_bits, dtype=np.int64)
    _check_memory(_call("affine_gather", rows, hash_bits, dimension, item_bits, POLYNOMIALS[hash_bits - 1], out))
    return out


def keyed_hash(content: U8, ends: I64, hash_seed: int, tag: bytes) -> U64:
    """First 8 bytes of BLAKE2s of each string, keyed by seed (personalisation) and tag (salt), as a number."""
    parameters = np.frombuffer(tag.ljust(8, b"\0") + hash_seed.to_bytes(8, "little"), dtype=np.uint8)
    out = np.empty(len(ends), dtype=np.uint64)
    _call("keyed_hash", content, len(content), ends, len(ends), parameters, out)
    return out


def local_hash_response(values: U64, words: U64, seeds: U64, keep: int, split: int, size: int, out: Fields) -> I64:
    """The reports to redo; what tells the hash function, and the answer, are written to the fields."""
    return _respond(
        "local_hash_response",
        *(values, words, len(values), seeds, len(seeds), keep, split, size),
        *map(_field, out),
    )


def settle_ties(
    bitmaps: Field, values: U64, reports: I64, bits: I64, tails: U64, true_threshold: int, other_threshold: int
) -> None:
    """Nothing: the ties of `unary_response` are decided in the bitmaps by the rest of their words."""
    _call(
        "settle_ties",
        *(_field(bitmaps), bitmaps.shape[1], values, len(values)),
        *(reports, bits, tails, len(reports), true_threshold, other_threshold),
    )


def row_sums(bitmaps: U8) -> I64:
    """Number of ones in each bitmap."""
    sums = np.empty(len(bitmaps), dtype=np.int64)
    _call("row_sums", bitmaps, *bitmaps.shape, sums)
    return sums


def histogram(fields: Fields, cells: I64) -> None:
    """Nothing: each report is added to the cell of its number, or of its pair of numbers."""
    first, second, *_ = *map(_field, fields), _NO_FIELD
    sizes = len(fields[0]), cells.shape[-1], cells.size
    refuse_outside(_call("histogram", first, second, *sizes, cells))


def stretched_histogram(fields: Fields, window: int, powers: I64, logarithms: I64, cells: I64) -> None:
    """Nothing: each report (line, stretch, hash) is added to the cells of the values that it supports."""
    sizes = len(fields[0]), window, cells.shape[-1]
    outside = _call("stretched_histogram", *map(_field, fields), *sizes, powers, logarithms, cells.size, cells)
    refuse_outside(outside)


def sign_sums(rows: Field, hashes: Field, cells: I64) -> None:
    """Nothing: for each row of a report, 1 is added to its cell, or subtracted if the hash has that bit."""
    refuse_outside(_call("sign_sums", _field(rows), _field(hashes), *rows.shape, cells.size, cells))


def extremes(field: Field) -> tuple[int, int]:
    """The least and the largest number in a field of at least one record."""
    found = np.array([2**64 - 1, 0], dtype=np.uint64)
    _call("extremes", _field(field), len(field), field[:1].size, found)
    return int(found[0]), int(found[1])


def promising_children(
    tables: I16,
    places: tuple[I64, I64],
    block: int,
    kinds: U8,
    rows: I64,
    needs: I32,
    slack: int,
    room: int,
) -> tuple[int, I32, I32]:
    """How many children have the support they need, and the parents and numbers of the first `room` of them."""
    starts, rotations = places
    parents, children = np.empty((2, room), dtype=np.int32)
    found = _call(
        "promising_children",
        *(tables, *tables.shape, starts, rotations, len(rows), block),
        *(kinds, *kinds.shape, rows, needs, needs.shape[1], slack, parents, children, room),
    )
    return found, parents[:found], children[:found]
