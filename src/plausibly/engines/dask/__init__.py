"""The engine that runs on a Dask cluster, and functions for reports and values in Dask tables.

The workers and the scheduler need plausibly and pyarrow.
"""

from .connecting import connect
from .engine import Dask
from .tables import privatize, tally

__all__ = ["Dask", "connect", "privatize", "tally"]
