"""The hot loops: arrays in, arrays out, exact; no randomness, no validation.

Each name is the C function if the library loads, otherwise its NumPy twin, which gives the same bits. `active` says
which ("c" or "numpy") and `reason` why; `NAMES` lists the kernels. The environment variable PLAUSIBLY_KERNELS=numpy
selects the twins.
"""

import os
import sys
import warnings
from pathlib import Path

from . import native as _native
from .reference import affine_gather as affine_gather
from .reference import affine_response as affine_response
from .reference import block_response as block_response
from .reference import channel_bitmaps as channel_bitmaps
from .reference import channel_products as channel_products
from .reference import column_sums as column_sums
from .reference import direct_response as direct_response
from .reference import extremes as extremes
from .reference import gray_scatter as gray_scatter
from .reference import group_order as group_order
from .reference import hadamard_response as hadamard_response
from .reference import histogram as histogram
from .reference import keyed_hash as keyed_hash
from .reference import local_hash as local_hash
from .reference import local_hash_response as local_hash_response
from .reference import parity_response as parity_response
from .reference import promising_children as promising_children
from .reference import put_rows as put_rows
from .reference import row_sums as row_sums
from .reference import settle_ties as settle_ties
from .reference import sign_sums as sign_sums
from .reference import stretched_histogram as stretched_histogram
from .reference import subset_response as subset_response
from .reference import support_counts as support_counts
from .reference import support_of as support_of
from .reference import table_support as table_support
from .reference import table_support_of as table_support_of
from .reference import take_rows as take_rows
from .reference import toeplitz_response as toeplitz_response
from .reference import toeplitz_scatter as toeplitz_scatter
from .reference import toeplitz_support_of as toeplitz_support_of
from .reference import unary_response as unary_response
from .reference import uniform_choice as uniform_choice
from .reference import walsh_hadamard as walsh_hadamard
from .sources import has_source


def _choose() -> tuple[str, str]:
    """Choose the kernels and return the choice with its reason; C kernels replace the twins in this module."""
    wish = os.environ.get("PLAUSIBLY_KERNELS", "")
    if wish == "numpy":
        return "numpy", "PLAUSIBLY_KERNELS=numpy"
    if wish:
        raise ValueError(f"PLAUSIBLY_KERNELS: expected 'numpy' or no value, got {wish!r}")
    try:
        globals().update(_native.load())
    except _native._UnavailableError as error:
        _warn(f"plausibly uses its slower NumPy kernels: {error}; {error.fix}")
        return "numpy", str(error)
    from_source = has_source(Path(__file__).parent)
    return "c", "the library matches its source" if from_source else "the library that came with the package"


def _warn(message: str) -> None:
    """Show the warning once: not again in processes that `multiprocessing` starts, as it does on macOS and Windows."""
    multiprocessing = sys.modules.get("multiprocessing")
    if multiprocessing is None or multiprocessing.parent_process() is None:
        warnings.warn(message, RuntimeWarning, stacklevel=3)


NAMES = tuple(sorted(_native.declared))
active, reason = _choose()
