"""Schemes for records of several attributes: tables of one, two or three of them from one report of each user."""

from .clique import CLIQUE
from .sampling import SMP
from .splitting import SPL

__all__ = ["CLIQUE", "SMP", "SPL"]
