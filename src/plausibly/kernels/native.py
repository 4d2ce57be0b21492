"""The C kernels behind the signatures of `reference`: results are allocated here, inputs are never copied.

The caller hands over C-contiguous arrays of the right type, or fields of packed records, which are read and written
in place. Calls through ctypes release the interpreter lock, so threads run in parallel.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from math import isqrt
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .common import I16, I32, I64, POLYNOMIALS, U8, U32, U64, Field, Fields, line_count, refuse_outside
from .sources import digest, has_source

_FOLDER = Path(__file__).parent
_LIBRARY = _FOLDER / "libplausibly.so"


class _Record(ctypes.Structure):
    """A field as passed to C: its address in the first record, the size of a record, and its own size."""

    _fields_ = (("at", ctypes.c_void_p), ("stride", ctypes.c_int64), ("width", ctypes.c_int64))


_SCALARS: dict[str, Any] = {
    "void": None,
    "i64": ctypes.c_int64,
    "u64": ctypes.c_uint64,
    "u32": ctypes.c_uint32,
    "i32": ctypes.c_int32,
    "int": ctypes.c_int,
    "Field": _Record,
}
_NO_FIELD = _Record(None, 0, 0)
_NO_ROWS = np.empty(0, dtype=np.int64)

# A word is rejected with probability below 2^-32: only crafted words need more room than this.
_REDO = 16
_Few = ctypes.c_int64 * _REDO
# The usual answer of a response: the same array each time, hence not writable.
_NO_REPORTS = np.empty(0, dtype=np.int64)
_NO_REPORTS.flags.writeable = False


_REBUILD = "rebuild: pip install -e ."
_INSTALL_SOURCE = (
    "the results are the same. For the fast kernels, install gcc or clang, then plausibly from its source: a clone, or "
    "the archive plausibly-*.tar.gz"
)


class _UnavailableError(Exception):
    """The library is absent, does not load, or was built from another source; with the user's way to mend it."""

    def __init__(self, reason: str, folder: Path) -> None:
        super().__init__(reason)
        self.fix = _REBUILD if has_source(folder) else _INSTALL_SOURCE


_Function = TypeVar("_Function", bound=Callable[..., Any])
declared: dict[str, str] = {}
"""C prototype of each kernel."""


def _kernel(prototype: str) -> Callable[[_Function], _Function]:
    """Declare the C function with the name of the decorated one; a test compares the prototype with the source."""

    def declare(function: _Function) -> _Function:
        declared[function.__name__] = prototype
        return function

    return declare


def _types_of(prototype: str) -> tuple[Any, list[Any]]:
    """The ctypes of the result and the arguments; an array is passed by its address."""
    result, _, arguments = prototype.rstrip(")").partition(" (")
    named = [argument.split() for argument in arguments.split(", ")]
    return _SCALARS[result], [ctypes.c_void_p if words[-1][0] == "*" else _SCALARS[words[0]] for words in named]


def _open(library: Path = _LIBRARY, folder: Path = _FOLDER) -> ctypes.CDLL:
    """Open the native library and check that it was built from the source next to it, if there is one."""
    if not library.exists():
        missing = f"{library.name} was not built" if has_source(folder) else "this package was built without a compiler"
        raise _UnavailableError(missing, folder)
    try:
        opened = ctypes.CDLL(str(library))
        opened.plausibly_digest.restype = ctypes.c_char_p
        built_from: bytes = opened.plausibly_digest()
    except (OSError, AttributeError) as error:
        raise _UnavailableError(f"{library.name} does not load ({error})", folder) from error
    if has_source(folder) and built_from.decode() != digest(folder):
        raise _UnavailableError(f"{library.name} was built from another version of its source", folder)
    return opened


def _best_instruction_set(opened: ctypes.CDLL) -> str:
    """The best instruction set in the native library that this machine can run."""
    opened.plausibly_instruction_set.restype = ctypes.c_char_p
    name: bytes = opened.plausibly_instruction_set()
    return name.decode()


_NARROWER = {"avx512": "avx2"}
"""The set of the kernels that a wider set leaves out because they gain nothing from it."""


def _bind(opened: ctypes.CDLL, instruction_set: str) -> dict[str, Callable[..., int]]:
    """C function of each kernel for one instruction set, or for the next narrower one."""
    functions: dict[str, Callable[..., int]] = {}
    for name, prototype in declared.items():
        try:
            function = opened[f"plausibly_{name}_{instruction_set}"]
        except AttributeError:
            function = opened[f"plausibly_{name}_{_NARROWER[instruction_set]}"]
        function.restype, function.argtypes = _types_of(prototype)
        functions[name] = function
    return functions


_functions: dict[str, Callable[..., int]] = {}


def load() -> dict[str, Any]:
    """Bind the native C functions and return this module's kernels by name; raise `_UnavailableError` on failure."""
    opened = _open()
    _functions.update(_bind(opened, _best_instruction_set(opened)))
    return {name: globals()[name] for name in declared}


_HEADER = object.__basicsize__


def _slow_address(array: npt.NDArray[Any]) -> int:
    """Address of an array's first number, for native C."""
    return array.ctypes.data


def _fast_address(array: npt.NDArray[Any]) -> int:
    """The same, in a tenth of the time: NumPy's C interface has it as the first member after the object's header."""
    return _Address.from_address(id(array) + _HEADER).value or 0


_Address = ctypes.c_void_p
_SAMPLE = np.zeros(4)[1:]
# Only where an object's number is its address; and as a precaution, compared with the slow way.
_IS_FAST = sys.implementation.name == "cpython" and _fast_address(_SAMPLE) == _slow_address(_SAMPLE)
_address = _fast_address if _IS_FAST else _slow_address


_Array = np.ndarray


def _call(name: str, *arguments: npt.NDArray[Any] | ctypes.Array[ctypes.c_int64] | _Record | int) -> int:
    """Call the C function and return its result; arrays are passed by address."""
    return _functions[name](*[_address(value) if isinstance(value, _Array) else value for value in arguments])


def _field(array: Field) -> _Record:
    """Address and sizes of a field for native C; several numbers in one field are contiguous."""
    return _Record(_address(array), array.strides[0], array.itemsize)


def _wrapping(array: I64) -> U64:
    """The same numbers as unsigned integers: C sums those, because their overflow is defined."""
    return array.view(np.uint64)


def _respond(name: str, *arguments: npt.NDArray[Any] | _Record | int) -> I64:
    """Run a native response kernel and return the reports to redo; run it again if it had too little room for them."""
    few = _Few()
    needed = _call(name, *arguments, few, _REDO)
    if needed == 0:
        return _NO_REPORTS
    _check_memory(needed)
    if needed <= _REDO:
        return np.array(few[:needed], dtype=np.int64)
    redo = np.empty(needed, dtype=np.int64)
    _call(name, *arguments, redo, needed)
    return redo


def _check_memory(status: int) -> None:
    if status < 0:
        raise MemoryError("not enough memory for the tables of a kernel")


@_kernel("i64 (const u64 *values, const u64 *words, i64 n, u64 keep, u64 size, Field out, i64 *reports, i64 room)")
def direct_response(values: U64, words: U64, keep: int, size: int, out: Field) -> I64:
    """Kernel of direct encoding: write each user's report to the field, and return the reports to redo."""
    return _respond("direct_response", values, words, len(values), keep, size, _field(out))


@_kernel("void (const u64 *seeds, const u64 *values, i64 n, u64 split, u32 size, u32 *out)")
def local_hash(seeds: U64, values: U64, split: int, size: int) -> U32:
    """Kernel of local hashing: hash of each value under its seed, in range(size)."""
    out = np.empty(len(seeds), dtype=np.uint32)
    _call("local_hash", seeds, values, len(seeds), split, size, out)
    return out


@_kernel("int (Field seeds, Field hashes, i64 n, u64 domain_size, u64 split, u32 size, i64 *counts)")
def support_counts(seeds: Field, hashes: Field, domain_size: int, split: int, size: int) -> I64:
    """Kernel of local hashing: number of reports that support each value of the domain."""
    counts = np.zeros(domain_size, dtype=np.int64)
    fields = _field(seeds), _field(hashes)
    _check_memory(_call("support_counts", *fields, len(seeds), domain_size, split, size, counts))
    return counts


@_kernel("void (Field seeds, Field hashes, i64 n, const u64 *candidates, i64 k, u64 split, u32 size, i64 *counts)")
def support_of(seeds: Field, hashes: Field, candidates: U64, split: int, size: int) -> I64:
    """Kernel of local hashing: number of reports that support each candidate, which may be any 64-bit number."""
    counts = np.zeros(len(candidates), dtype=np.int64)
    fields = _field(seeds), _field(hashes)
    _call("support_of", *fields, len(seeds), candidates, len(candidates), split, size, counts)
    return counts


@_kernel("int (const u64 *seeds, const u64 *table, i64 k, u32 size, u64 domain_size, u64 split, u64 *sums)")
def table_support(seeds: U64, table: I64, domain_size: int, split: int) -> I64:
    """Kernel: sum over hash functions i of table[i, local_hash(seeds_i, x)], for each value x of the domain."""
    k, size = table.shape
    sums = np.zeros(domain_size, dtype=np.int64)
    _check_memory(_call("table_support", seeds, _wrapping(table), k, size, domain_size, split, _wrapping(sums)))
    return sums


@_kernel(
    "void (const u64 *seeds, const u64 *table, i64 k, u32 size, const u64 *candidates, i64 c, u64 split, u64 *sums)"
)
def table_support_of(seeds: U64, table: I64, candidates: U64, split: int) -> I64:
    """Kernel: sum over hash functions i of table[i, local_hash(seeds_i, x)], for each candidate x."""
    k, size = table.shape
    sums = np.zeros(len(candidates), dtype=np.int64)
    _call("table_support_of", seeds, _wrapping(table), k, size, candidates, len(candidates), split, _wrapping(sums))
    return sums


@_kernel(
    "i64 (const u64 *values, const u8 *head, i64 n, i64 d, u64 true_threshold, u64 other_threshold, Field "
    "bitmaps, i64 *tie_report, i64 *tie_bit, i64 capacity)"
)
def unary_response(values: U64, head: U8, true_threshold: int, other_threshold: int, bitmaps: Field) -> tuple[I64, I64]:
    """Unary kernel: write all decided bits to the bitmaps; return report and bit numbers of the ties of head bytes."""
    n, d = head.shape
    # One byte in 256 is a tie; with room for six standard deviations more, a second run is rare.
    expected = n * d // 256
    capacity = expected + 6 * isqrt(expected) + 16
    arguments = values, head, n, d, true_threshold, other_threshold, _field(bitmaps)
    while True:
        reports, bits = np.empty((2, capacity), dtype=np.int64)
        ties = _call("unary_response", *arguments, reports, bits, capacity)
        if ties <= capacity:
            return reports[:ties], bits[:ties]
        capacity = ties


@_kernel("void (const u8 *bitmaps, i64 n, i64 size, i64 *counts)")
def column_sums(bitmaps: U8, size: int) -> I64:
    """Kernel over bitmaps: number of ones in each of the first `size` columns."""
    counts = np.zeros(size, dtype=np.int64)
    _call("column_sums", bitmaps, len(bitmaps), size, counts)
    return counts


@_kernel("void (u64 *a, i64 rows, int m)")
def walsh_hadamard(a: I64) -> None:
    """Kernel: replace each row of `a`, of length 2^m, by its unnormalised transform in natural order."""
    rows, length = a.shape
    _call("walsh_hadamard", _wrapping(a), rows, length.bit_length() - 1)


@_kernel(
    "i64 (const u64 *values, const u64 *words, i64 n, i64 t, i64 bits, u64 keep, Field rows, Field hashes, i64 "
    "*reports, i64 room)"
)
def parity_response(values: U64, words: U64, bits: int, keep: int, out: Fields) -> I64:
    """Kernel: write rows and hash of each user to the fields, and return the reports to redo."""
    rows, hashes = out
    sizes = len(values), rows.shape[1], bits
    return _respond("parity_response", values, words, *sizes, keep, _field(rows), _field(hashes))


@_kernel("void (Field rows, Field hashes, i64 n, i64 item_bits, i64 t, const i64 *weights, u64 *out)")
def gray_scatter(rows: Field, hashes: Field, bits: int, weights: I64) -> I64:
    """Kernel: weighted characters of all reports at the 2^bits frequencies."""
    n, t = rows.shape
    out = np.zeros(1 << bits, dtype=np.int64)
    _call("gray_scatter", _field(rows), _field(hashes), n, bits, t, weights, _wrapping(out))
    return out


@_kernel(
    "i64 (const u64 *values, const u64 *words, i64 n, u64 keep, u64 blocks, u64 order, Field out, i64 *reports, "
    "i64 room)"
)
def hadamard_response(values: U64, words: U64, keep: int, blocks: int, order: int, out: Field) -> I64:
    """Kernel: write the cell of each user to the field, and return the reports to redo."""
    return _respond("hadamard_response", values, words, len(values), keep, blocks, order, _field(out))


@_kernel(
    "i64 (const u64 *values, const u64 *words, i64 n, i64 w, u64 keep, u64 size, Field bitmaps, i64 *reports, i64 room)"
)
def subset_response(values: U64, words: U64, keep: int, size: int, bitmaps: Field) -> I64:
    """Kernel: write the subset of each user to the bitmaps, and return the reports to redo."""
    n, columns = words.shape
    return _respond("subset_response", values, words, n, columns - 1, keep, size, _field(bitmaps))


@_kernel(
    "i64 (const u64 *values, const u64 *words, i64 n, i64 hash_bits, i64 item_bits, u64 keep, u64 window, Field "
    "matrices, Field hashes, i64 *reports, i64 room)"
)
def toeplitz_response(
    values: U64, words: U64, hash_bits: int, item_bits: int, keep: int, window: int, out: Fields
) -> I64:
    """Kernel: write matrix and hash of each user to the fields, and return the reports to redo."""
    return _respond(
        "toeplitz_response",
        *(values, words, len(values), hash_bits, item_bits, keep, window),
        *map(_field, out),
    )


@_kernel("void (Field matrices, Field hashes, i64 n, i64 item_bits, i64 t, const i64 *weights, u64 *out)")
def toeplitz_scatter(matrices: Field, hashes: Field, item_bits: int, weights: I64) -> I64:
    """Kernel: weighted characters of all reports at the 2^item_bits frequencies; `gray_scatter` for Toeplitz rows."""
    out = np.zeros(1 << item_bits, dtype=np.int64)
    t = len(weights).bit_length() - 1
    _call("toeplitz_scatter", _field(matrices), _field(hashes), len(matrices), item_bits, t, weights, _wrapping(out))
    return out


@_kernel(
    "void (Field matrices, Field hashes, i64 n, const u64 *candidates, i64 k, i64 hash_bits, i64 item_bits, u64 "
    "window, i64 *counts)"
)
def toeplitz_support_of(
    matrices: Field, hashes: Field, candidates: U64, hash_bits: int, item_bits: int, window: int
) -> I64:
    """Kernel of Toeplitz hashing: number of reports that support each candidate."""
    counts = np.zeros(len(candidates), dtype=np.int64)
    _call(
        "toeplitz_support_of",
        *(_field(matrices), _field(hashes), len(matrices), candidates, len(candidates)),
        *(hash_bits, item_bits, window, counts),
    )
    return counts


@_kernel(
    "i64 (const u64 *values, const u64 *words, i64 n, i64 columns, i64 t, i64 dimension, u64 modulus, u64 lines, "
    "u64 keep, u64 window, Field line_out, Field stretch_out, Field hash_out, i64 *reports, i64 room)"
)
def affine_response(
    values: U64, words: U64, hash_bits: int, dimension: int, keep: int, window: int, out: Fields
) -> I64:
    """Kernel: write line, stretch (if it has a field) and hash of each user, and return the reports to redo."""
    line, *stretch, hashes = map(_field, out)
    n, columns = words.shape
    return _respond(
        "affine_response",
        *(values, words, n, columns, hash_bits, dimension, POLYNOMIALS[hash_bits - 1]),
        *(line_count(hash_bits, dimension), keep, window, line, stretch[0] if stretch else _NO_FIELD, hashes),
    )


@_kernel("int (const u64 *rows, i64 t, i64 dimension, i64 item_bits, u64 modulus, u64 *out)")
def affine_gather(rows: I64, hash_bits: int, dimension: int, item_bits: int) -> I64:
    """Kernel: sum of rows[k, s] over all lines k and s ≠ 0 at the frequency of (k, s), folded to item_bits."""
    out = np.zeros(1 << item_bits, dtype=np.int64)
    sizes = hash_bits, dimension, item_bits, POLYNOMIALS[hash_bits - 1]
    _check_memory(_call("affine_gather", _wrapping(rows), *sizes, _wrapping(out)))
    return out


@_kernel("void (const u8 *content, i64 bytes, const i64 *ends, i64 n, const u32 *parameters, u64 *out)")
def keyed_hash(content: U8, ends: I64, hash_seed: int, tag: bytes) -> U64:
    """Kernel: first 8 bytes of BLAKE2s of each string as a number, keyed by seed (personalisation) and tag (salt)."""
    parameters = np.frombuffer(tag.ljust(8, b"\0") + hash_seed.to_bytes(8, "little"), dtype=np.uint32)
    out = np.empty(len(ends), dtype=np.uint64)
    _call("keyed_hash", content, len(content), ends, len(ends), parameters, out)
    return out


@_kernel(
    "i64 (const u64 *values, const u64 *words, i64 n, const u64 *seeds, i64 functions, u64 keep, u64 split, u32 "
    "size, Field public_out, Field hash_out, i64 *reports, i64 room)"
)
def local_hash_response(values: U64, words: U64, seeds: U64, keep: int, split: int, size: int, out: Fields) -> I64:
    """Kernel: write the public part (seed or index of the function) and the answer; return the reports to redo."""
    return _respond(
        "local_hash_response",
        *(values, words, len(values), seeds, len(seeds), keep, split, size),
        *map(_field, out),
    )


@_kernel(
    "void (Field bitmaps, i64 row_bytes, const u64 *values, i64 n, const i64 *tie_report, const i64 *tie_bit, "
    "const u64 *tails, i64 ties, u64 true_threshold, u64 other_threshold)"
)
def settle_ties(
    bitmaps: Field, values: U64, reports: I64, bits: I64, tails: U64, true_threshold: int, other_threshold: int
) -> None:
    """Kernel: decide the ties of `unary_response` in the bitmaps by the rest of their words."""
    _call(
        "settle_ties",
        *(_field(bitmaps), bitmaps.shape[1], values, len(values)),
        *(reports, bits, tails, len(reports), true_threshold, other_threshold),
    )


@_kernel("void (Field bitmaps, i64 n, i64 row_bytes, i64 *sums)")
def row_sums(bitmaps: Field) -> I64:
    """Kernel over bitmaps: number of ones in each bitmap."""
    sums = np.empty(len(bitmaps), dtype=np.int64)
    _call("row_sums", _field(bitmaps), *bitmaps.shape, sums)
    return sums


@_kernel("i64 (Field first, Field second, i64 n, u64 size, u64 total, i64 *cells)")
def histogram(fields: Fields, cells: I64) -> None:
    """Kernel: add each report to the cell of its number, or of its pair of numbers."""
    first, second, *_ = *map(_field, fields), _NO_FIELD
    sizes = len(fields[0]), cells.shape[-1], cells.size
    refuse_outside(_call("histogram", first, second, *sizes, cells))


@_kernel(
    "i64 (Field lines, Field stretches, Field hashes, i64 n, u64 window, u64 size, const i64 *powers, const i64 "
    "*logarithms, u64 total, i64 *cells)"
)
def stretched_histogram(fields: Fields, window: int, powers: I64, logarithms: I64, cells: I64) -> None:
    """Kernel: add each report (line, stretch, hash) to the cells of the values that it supports."""
    sizes = len(fields[0]), window, cells.shape[-1]
    outside = _call("stretched_histogram", *map(_field, fields), *sizes, powers, logarithms, cells.size, cells)
    refuse_outside(outside)


@_kernel("i64 (Field rows, Field hashes, i64 n, i64 t, u64 total, i64 *cells)")
def sign_sums(rows: Field, hashes: Field, cells: I64) -> None:
    """Kernel: for each row of a report, add 1 to its cell, or subtract 1 if the hash has that bit."""
    refuse_outside(_call("sign_sums", _field(rows), _field(hashes), *rows.shape, cells.size, cells))


@_kernel("void (Field field, i64 n, i64 columns, u64 *found)")
def extremes(field: Field) -> tuple[int, int]:
    """Kernel: minimum and maximum of the numbers in a field of at least one record."""
    found = np.array([2**64 - 1, 0], dtype=np.uint64)
    _call("extremes", _field(field), len(field), field[:1].size, found)
    return int(found[0]), int(found[1])


@_kernel(
    "i64 (const i16 *tables, i64 cohorts, i64 cells, const i64 *starts, const i64 *rotations, i64 parents, i64 "
    "block, const u8 *kinds, i64 kind_rows, i64 children, const i64 *rows, const i32 *needs, i64 kind_count, i32 "
    "slack, i32 *found_parents, i32 *found_children, i64 room)"
)
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
    """Kernel: number of children with the support they need, and parents and numbers of the first `room` of them."""
    starts, rotations = places
    parents, children = np.empty((2, room), dtype=np.int32)
    found = _call(
        "promising_children",
        *(tables, *tables.shape, starts, rotations, len(rows), block),
        *(kinds, *kinds.shape, rows, needs, needs.shape[1], slack, parents, children, room),
    )
    return found, parents[:found], children[:found]


@_kernel("i64 (Field groups, i64 n, i64 count, i64 *order, i64 *ends)")
def group_order(groups: Field, count: int) -> tuple[I64, I64]:
    """Kernel: numbers of the reports sorted by group, and where each of `count` groups begins and ends among them."""
    order, ends = np.empty(len(groups), dtype=np.int64), np.empty(count + 1, dtype=np.int64)
    outside = _call("group_order", _field(groups), len(groups), count, order, ends)
    _check_memory(outside)
    refuse_outside(outside)
    return order, ends


@_kernel("i64 (Field rows, i64 n, i64 size, const i64 *chosen, i64 m, u8 *out)")
def take_rows(rows: Field, chosen: I64) -> U8:
    """Kernel: the bytes of the chosen rows, together."""
    out = np.empty((len(chosen), rows.shape[1]), dtype=np.uint8)
    refuse_outside(_call("take_rows", _field(rows), *rows.shape, chosen, len(chosen), out))
    return out


@_kernel("i64 (const u8 *rows, i64 size, i64 zeros, const i64 *chosen, i64 m, Field out, i64 n)")
def put_rows(rows: U8, chosen: I64, out: Field) -> None:
    """Kernel: write rows of bytes to the chosen rows of `out`, which are longer or as long, and zeros after them."""
    size = rows.shape[1]
    zeros = out.shape[1] - size
    refuse_outside(_call("put_rows", rows, size, zeros, chosen, len(chosen), _field(out), len(out)))


@_kernel("i64 (Field words, i64 n, const i64 *chosen, i64 m, u64 size, u64 *out, i64 *reports, i64 room)")
def uniform_choice(words: Field, chosen: I64 | None, size: int) -> tuple[U64, I64]:
    """Kernel: a number below `size` from the word of each chosen record, or of all; and the refused words' places."""
    rows, m = (_NO_ROWS, -1) if chosen is None else (chosen, len(chosen))
    out = np.empty(len(words) if chosen is None else m, dtype=np.uint64)
    return out, _respond("uniform_choice", _field(words), len(words), rows, m, size, out)


@_kernel("i64 (Field channels, Field bitmaps, i64 n, i64 count, i64 size, i64 *cells)")
def channel_bitmaps(channels: Field, bitmaps: Field, cells: I64) -> None:
    """Kernel: add the set of each report to the cells [channel, item] of its channel."""
    outside = _call("channel_bitmaps", _field(channels), _field(bitmaps), len(channels), *cells.shape, cells)
    refuse_outside(outside)


@_kernel("i64 (Field channels, Field rows, Field hashes, i64 n, i64 count, i64 bits, i64 t, u64 *cells)")
def channel_products(channels: Field, rows: Field, hashes: Field, cells: I64) -> None:
    """Kernel: add the products of each report's signs to the cells [channel, place] of its channel."""
    n, t = rows.shape
    count, places = cells.shape
    fields = map(_field, (channels, rows, hashes))
    refuse_outside(_call("channel_products", *fields, n, count, places.bit_length() - 1, t, _wrapping(cells)))


@_kernel(
    "i64 (const u64 *values, const u64 *words, i64 n, i64 W, u64 length, const u64 *parts, i64 count, u8 *out, "
    "i64 record_bytes, i64 *reports, i64 room)"
)
def block_response(values: U64, words: U64, length: int, parts: U64, out: U8) -> I64:
    """Kernel of SLIDE: write each user's record, and return the reports to redo."""
    return _respond("block_response", values, words, *words.shape, length, parts, len(parts), out, out.shape[1])
