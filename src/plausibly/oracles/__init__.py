"""Layer 1, the frequency oracles: one file each, one line here. The catalogue is made of these lines."""

from .affine_response import AGR as AGR
from .direct import DE as DE
from .fast_local_hashing import FLH as FLH
from .hadamard_mechanism import HM as HM
from .hadamard_response import HR as HR
from .local_hashing import BLH as BLH
from .local_hashing import OLH as OLH
from .subset_selection import SS as SS
from .toeplitz_hashing import TLH as TLH
from .unary import OUE as OUE
from .unary import SUE as SUE
