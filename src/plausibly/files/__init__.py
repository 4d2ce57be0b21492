"""Files of reports (Parquet) and of tallies, checked and written whole or not at all: docs/files.md."""

from .reports import DamagedError, ReportFile, ReportWriter, report_writer, write_reports
from .tallies import Collected, Skipped, read_tally, write_tally

__all__ = [
    "Collected",
    "DamagedError",
    "ReportFile",
    "ReportWriter",
    "Skipped",
    "read_tally",
    "report_writer",
    "write_reports",
    "write_tally",
]
