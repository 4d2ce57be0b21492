"""Files of values, reports (Parquet), tallies and estimates, checked and written whole or not at all: docs/files.md."""

from .answers import Answer
from .estimates import write_estimates, write_tree
from .keys import Key, KeyNeededError
from .privatizing import Privatized, privatize_values
from .reports import DamagedError, ReportFile, ReportWriter, report_writer, write_reports
from .tallies import Collected, SimulatedError, Skipped, read_tally, write_tally
from .text import ValuesError
from .values import Values, values

__all__ = [
    "Answer",
    "Collected",
    "DamagedError",
    "Key",
    "KeyNeededError",
    "Privatized",
    "ReportFile",
    "ReportWriter",
    "SimulatedError",
    "Skipped",
    "Values",
    "ValuesError",
    "privatize_values",
    "read_tally",
    "report_writer",
    "values",
    "write_estimates",
    "write_reports",
    "write_tally",
    "write_tree",
]
