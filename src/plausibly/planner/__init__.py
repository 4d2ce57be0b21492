"""The planner: which scheme to take, how exact it will be, and what it takes to be more exact."""

from .planning import plan as plan
from .result import Choice as Choice
from .result import Plan as Plan
from .targets import Above as Above
from .targets import Limits as Limits
from .targets import Within as Within
