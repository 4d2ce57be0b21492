"""The hot loops: arrays in, arrays out, exact; no randomness, no validation.

Each name is the C function if its library loads, else its NumPy twin, which gives the same bits. `active`
says which ("c" or "numpy") and `reason` why. The environment variable PLAUSIBLY_KERNELS=numpy asks for the
twins.
"""

import os
import warnings

from . import native as _native


def _choose() -> tuple[str, str]:
    """Which kernels to use, and why."""
    wish = os.environ.get("PLAUSIBLY_KERNELS", "")
    if wish == "numpy":
        return "numpy", "PLAUSIBLY_KERNELS=numpy"
    if wish:
        raise ValueError(f"PLAUSIBLY_KERNELS must be 'numpy' or unset, not {wish!r}")
    try:
        _native.load()
    except _native._UnavailableError as error:
        warnings.warn(
            f"plausibly uses its slower NumPy kernels: {error}; rebuild: pip install -e .",
            RuntimeWarning,
            stacklevel=2,
        )
        return "numpy", str(error)
    return "c", "the library matches its source"


active, reason = _choose()

if active == "c":
    from .native import (
        affine_gather,
        affine_response,
        column_sums,
        direct_response,
        extremes,
        gray_scatter,
        hadamard_response,
        histogram,
        keyed_hash,
        local_hash,
        local_hash_response,
        parity_response,
        promising_children,
        row_sums,
        settle_ties,
        sign_sums,
        stretched_histogram,
        subset_response,
        support_counts,
        support_of,
        table_support,
        table_support_of,
        toeplitz_response,
        toeplitz_scatter,
        toeplitz_support_of,
        unary_response,
        walsh_hadamard,
    )
else:
    from .reference import (
        affine_gather,
        affine_response,
        column_sums,
        direct_response,
        extremes,
        gray_scatter,
        hadamard_response,
        histogram,
        keyed_hash,
        local_hash,
        local_hash_response,
        parity_response,
        promising_children,
        row_sums,
        settle_ties,
        sign_sums,
        stretched_histogram,
        subset_response,
        support_counts,
        support_of,
        table_support,
        table_support_of,
        toeplitz_response,
        toeplitz_scatter,
        toeplitz_support_of,
        unary_response,
        walsh_hadamard,
    )

__all__ = [
    "active",
    "affine_gather",
    "affine_response",
    "column_sums",
    "direct_response",
    "extremes",
    "gray_scatter",
    "hadamard_response",
    "histogram",
    "keyed_hash",
    "local_hash",
    "local_hash_response",
    "parity_response",
    "promising_children",
    "reason",
    "row_sums",
    "settle_ties",
    "sign_sums",
    "stretched_histogram",
    "subset_response",
    "support_counts",
    "support_of",
    "table_support",
    "table_support_of",
    "toeplitz_response",
    "toeplitz_scatter",
    "toeplitz_support_of",
    "unary_response",
    "walsh_hadamard",
]
