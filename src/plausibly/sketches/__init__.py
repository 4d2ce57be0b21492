"""Layer 2, the sketches: many items in few cells, over any oracle. One file and one line here for each."""

from .bloom import BLOOM as BLOOM
from .count_min import CM as CM
from .count_sketch import CS as CS
