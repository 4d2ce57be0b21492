"""The planner: which scheme to use, how accurate it will be, and what more accuracy takes."""

from .description import Description
from .fakes import fakes_of
from .planning import plan
from .recommendation import Choice, Plan
from .shuffler import Shuffler
from .targets import Above, Limits, QuantileWithin, Within

__all__ = [
    "Above",
    "Choice",
    "Description",
    "Limits",
    "Plan",
    "QuantileWithin",
    "Shuffler",
    "Within",
    "fakes_of",
    "plan",
]
