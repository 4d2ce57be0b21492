"""What a shuffler is worth: the central privacy of reports that are released without senders, order and times.

``answer`` has the questions, ``crowd`` one batch, ``rounds`` several; ``sums`` computes, and ``clones`` has published
closed forms to compare with.
"""

from .answer import Shuffled, crowd_of, local_epsilon, rounded_up, shuffled
from .clones import clones, stronger_clones
from .crowd import Crowd

__all__ = ["Crowd", "Shuffled", "clones", "crowd_of", "local_epsilon", "rounded_up", "shuffled", "stronger_clones"]
