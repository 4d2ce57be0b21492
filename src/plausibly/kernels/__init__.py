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
        column_sums,
        direct_response,
        gray_scatter,
        hadamard_response,
        local_hash,
        parity_hash,
        support_counts,
        support_of,
        table_support,
        table_support_of,
        unary_response,
        walsh_hadamard,
    )
else:
    from .reference import (
        column_sums,
        direct_response,
        gray_scatter,
        hadamard_response,
        local_hash,
        parity_hash,
        support_counts,
        support_of,
        table_support,
        table_support_of,
        unary_response,
        walsh_hadamard,
    )

__all__ = [
    "active",
    "column_sums",
    "direct_response",
    "gray_scatter",
    "hadamard_response",
    "local_hash",
    "parity_hash",
    "reason",
    "support_counts",
    "support_of",
    "table_support",
    "table_support_of",
    "unary_response",
    "walsh_hadamard",
]
