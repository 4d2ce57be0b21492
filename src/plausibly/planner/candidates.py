"""The schemes that a plan chooses among: the catalogue, with the parameters that may be the best somewhere."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import prod
from typing import Any

from ..catalog import make
from ..core.domain import Domain, Integers, Keys
from ..core.errors import ParameterError
from ..core.linear_hashing import MAX_HASH_BITS, best_window
from ..core.scheme import Scheme

Made = tuple[str, dict[str, Any]]

_LARGEST_STATE = 2**28
"""Cells of a state beyond which nobody asks for one."""
_MOST_ROWS = 2**16
_HASHES = tuple(2**k for k in range(8, 22, 2))
_WIDTHS = tuple(2**k for k in (6, 8, 10, 12, 14, 16, 18, 20, 22, 24))
_ROWS = (8, 32, 256, _MOST_ROWS)


def oracles(domain: Domain, epsilon: Fraction) -> list[Scheme]:
    """Frequency oracles over the items themselves."""
    made = _open(epsilon) if isinstance(domain, Keys) else _listed(domain.size or 0, epsilon)
    return _schemes(made, domain, epsilon)


def hashed(domain: Domain, epsilon: Fraction, memory: int) -> list[Scheme]:
    """Schemes whose public hash functions are shared: FLH, and CM over several oracles, within the memory."""
    most = memory // (8 * int(make("FLH", epsilon=epsilon, domain=domain).parameters["hash_range"]))
    counts = {max(1, min(hashes, most)) for hashes in _HASHES} | {1}
    flh: list[Made] = [("FLH", {"hashes": hashes}) for hashes in sorted(counts)]
    return _schemes(flh, domain, epsilon) + list(_sketches(domain, epsilon, memory))


def _schemes(made: Iterator[Made] | list[Made], domain: Domain, epsilon: Fraction) -> list[Scheme]:
    schemes: dict[str, Scheme] = {}
    for name, parameters in made:
        try:
            scheme = make(name, epsilon=epsilon, domain=domain, **parameters)
        except ParameterError:
            continue  # not for this domain or epsilon
        schemes.setdefault(repr(scheme), scheme)
    return list(schemes.values())


def _open(epsilon: Fraction) -> Iterator[Made]:
    yield from ((name, {}) for name in ("OLH", "BLH"))
    yield from (("TLH", {"hash_bits": t, "window": best_window(epsilon, t)}) for t in range(1, MAX_HASH_BITS + 1))


def _listed(size: int, epsilon: Fraction) -> Iterator[Made]:
    yield from ((name, {}) for name in ("DE", "SUE", "OUE", "BLH", "OLH"))
    yield from (("HR", {"variant": variant}) for variant in ("pure", "block"))
    item_bits = (size - 1).bit_length()
    yield from (("HM", {"coefficients": t}) for t in range(1, min(8, item_bits) + 1))
    # The default has the least error over all items; a rare item may prefer fewer, a common one more.
    for scheme in _schemes([("SS", {})], Integers(size), epsilon):
        default = int(scheme.parameters["subset_size"])
        yield from (("SS", {"subset_size": w}) for w in (default, default - 1, default + 1) if 1 <= w < size)
    for t in range(1, MAX_HASH_BITS + 1):
        w = best_window(epsilon, t)
        yield "TLH", {"hash_bits": t, "window": w}
        for m in {max(2, -(-item_bits // t)), -(-item_bits // t)}:
            if t * m <= _LARGEST_STATE.bit_length() - 1:
                # A window of 1 needs no stretch, which saves a field of the report.
                windows = (w, 1, w - 1, w + 1) if m == 1 else (w, 1)
                yield from (("AGR", {"hash_bits": t, "dimension": m, "window": x}) for x in windows if 0 < x < 2**t)


def _sketches(domain: Domain, epsilon: Fraction, memory: int) -> Iterator[Scheme]:
    for width in _WIDTHS:
        for oracle in _cell_oracles(width, epsilon):
            if domain.size is not None and oracle.size >= domain.size:
                continue
            # One row at least: what does not fit is then known, with its size.
            most = max(1, min(memory // (8 * prod(oracle.cell_shape or ())), _MOST_ROWS))
            for rows in sorted({min(rows, most) for rows in _ROWS}):
                yield make("CM", oracle=oracle, rows=rows, domain=domain)


def _cell_oracles(width: int, epsilon: Fraction) -> list[Scheme]:
    made: list[Made] = [("TLH", {}), ("AGR", {}), ("DE", {})]
    schemes = _schemes(made, Integers(width), epsilon)
    # Row 0 of a Hadamard matrix is no code: one item less lets the code be half as long.
    pure = _schemes([("HR", {"variant": "pure"})], Integers(width - 1), epsilon)
    blocks = int(make("HR", epsilon=epsilon, domain_size=width, variant="block").to_dict()["blocks"])
    block = _schemes([("HR", {"variant": "block"})], Integers(max(2, width - blocks)), epsilon)
    return schemes + pure + block
