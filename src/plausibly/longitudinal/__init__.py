"""Schemes for the same people again: users who report the same question every day or every week."""

from .loloha import LOLOHA
from .two_level import LOSUE, LSUE

__all__ = ["LOLOHA", "LOSUE", "LSUE"]
