"""Layer 3, the searches for heavy hitters: one file for each."""

from .bitstogram import BITSTOGRAM as BITSTOGRAM
from .fragment_puzzle import SFP as SFP
from .prefix_extending import PEM as PEM
from .rounds import ROUND as ROUND
from .tree_histogram import TH as TH
from .trellis import TRELLIS as TRELLIS
