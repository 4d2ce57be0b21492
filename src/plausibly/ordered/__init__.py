"""Schemes for values that have an order: ranges, distribution functions, quantiles and means."""

from .haar import HAAR
from .hierarchy import HH
from .one_bit import MEAN
from .slide import SLIDE
from .square_wave import SW

__all__ = ["HAAR", "HH", "MEAN", "SLIDE", "SW"]
