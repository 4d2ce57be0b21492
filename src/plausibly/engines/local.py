"""Former home of ``collect``, ``merge_files``, ``fold`` and ``merge``, kept for scripts that import them from here."""

from . import Collection as Collection
from . import Segment as Segment
from . import collect as collect
from . import fold as fold
from . import merge as merge
from . import merge_files as merge_files
