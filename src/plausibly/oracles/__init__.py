"""Layer 1, the frequency oracles: one file and one line here for each.

The catalogue consists of these lines. A plan lists schemes that tie in this order, which is the paper's.
"""

# ruff: isort: off
from .direct import DE as DE
from .unary import SUE as SUE
from .unary import OUE as OUE
from .thresholded_histogram import THE as THE
from .local_hashing import BLH as BLH
from .local_hashing import OLH as OLH
from .fast_local_hashing import FLH as FLH
from .hadamard_response import HR as HR
from .hadamard_mechanism import HM as HM
from .subset_selection import SS as SS
from .toeplitz_hashing import TLH as TLH
from .affine_response import AGR as AGR
