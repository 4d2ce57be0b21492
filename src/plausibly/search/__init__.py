"""Layer 3: searches for heavy hitters, one file each."""

from .bitstogram import BITSTOGRAM as BITSTOGRAM
from .fragment_puzzle import SFP as SFP
from .prefix_extending import PEM as PEM
from .tree_histogram import TH as TH
