"""The engine that runs on a Spark cluster, and functions for reports and values in Spark tables.

It uses DataFrames only: Spark Connect and shared clusters refuse RDDs. The workers need plausibly and pyarrow.
"""

from .connecting import connect
from .engine import Spark
from .tables import privatize, tally

__all__ = ["Spark", "connect", "privatize", "tally"]
