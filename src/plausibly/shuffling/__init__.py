"""What a shuffler is worth: the central privacy of reports that are released without senders, order and times.

``answer`` has the questions, ``crowd`` one batch, ``rounds`` several; ``sums`` computes, and ``clones`` has published
closed forms to compare with.
"""

from .answer import Shuffled, local_epsilon, shuffled
from .clones import clones, stronger_clones

__all__ = ["Shuffled", "clones", "local_epsilon", "shuffled", "stronger_clones"]
