"""Estimates for people and programs: charts, HTML pages and tables, described in docs/files.md."""

from .answers import Answer
from .estimates import write_estimates, write_tree

__all__ = ["Answer", "write_estimates", "write_tree"]
