"""The planner: which scheme to take, how exact it will be, and what it takes to be more exact."""

from .planning import plan as plan
from .result import Choice as Choice
from .result import Plan as Plan
from .wishes import Above as Above
from .wishes import Limits as Limits
from .wishes import Within as Within
