"""Questions about the order of values, as people type them: ``18..24,25..34``, ``.25,.5,.75``, ``0,18,65,120``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.accumulator import Accumulator
from ..core.domain.scales import parsed_number
from ..core.errors import ParameterError
from ..core.estimates import Estimates
from ..core.mean_only import no_counts
from ..core.ordered_answers import OrderedAnswer
from ..core.ordered_estimates import OrderedEstimates
from ..core.wording import shown
from ..core.words import Setting, Words
from .options.estimate import EstimateOptions

_QUESTIONS = ("bins", "ranges", "cdf", "quantiles", "mean")
_AUTO = "auto"


def ordered_answers(made: Estimates, request: EstimateOptions) -> tuple[OrderedAnswer, ...]:
    """The answers to all questions about an order that were asked for."""
    asked = [name for name in _QUESTIONS if getattr(request, name)]
    if not asked:
        return ()
    if request.items is not None or request.item is not None or request.items_file is not None:
        raise ParameterError(f"--{asked[0]} needs all items, got some; leave out --items, --item and --items-file")
    if not isinstance(made, OrderedEstimates):
        raise ParameterError(
            f"--{asked[0]} needs values that have an order, and those of this scheme have none; plan the collection "
            "with --range, --bins, --dates or --durations"
        )
    return tuple(_answers(made, request))


def mean_alone(tally: Accumulator, request: EstimateOptions) -> tuple[Estimates, tuple[OrderedAnswer, ...]]:
    """The mean from a scheme that counts no items, beside estimates of no item."""
    if not request.mean:
        raise no_counts()
    others = ("bins", "ranges", "cdf", "quantiles", "items", "item", "items_file", "top", "show_all", "postprocess")
    for name in others:
        if getattr(request, name):
            option = "all" if name == "show_all" else name.replace("_", "-")
            raise ParameterError(
                f"--{option} needs counts of items, and {tally.scheme.name} has only the mean; leave it out"
            )
    none = np.zeros(0)
    made = Estimates(none.astype(object), none, none, len(tally), complete=False, cautions=tally.cautions)
    return made, (tally.mean_answer(),)


def _answers(made: OrderedEstimates, request: EstimateOptions) -> Iterator[OrderedAnswer]:
    if request.bins is not None:
        yield made.binned(_bins(request.bins))
    if request.ranges:
        yield made.ranges([_range(text) for texts in request.ranges for text in texts.split(",")])
    if request.cdf:
        yield made.cdf(simultaneous=True)
    if request.quantiles is not None:
        yield made.quantiles([_share(text) for text in request.quantiles.split(",")])
    if request.mean:
        yield made.mean_answer()


def _range(text: str) -> tuple[str, str]:
    low, dots, high = text.partition("..")
    if not (low.strip() and dots and high.strip()):
        raise ParameterError(Words(Setting("ranges"), f": expected two ends such as 18..24, got {shown(text)}"))
    return low.strip(), high.strip()


def _share(text: str) -> Any:
    number = parsed_number(text)
    if number is None:
        raise ParameterError(Words(Setting("quantiles"), f": expected shares such as .25,.5,.75, got {shown(text)}"))
    return number


def _bins(text: str) -> Any:
    if text == _AUTO:
        return text
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > 1:
        return parts
    number = parsed_number(text)
    if not isinstance(number, int):
        expected = f": expected auto, a number of bins, or edges such as 0,18,65,120, got {shown(text)}"
        raise ParameterError(Words(Setting("bins"), expected))
    return number
