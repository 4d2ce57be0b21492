"""Files of values, reports (Parquet) and tallies, checked on reading and written atomically: docs/files.md."""

from ..core.skipped import Skipped
from .authentication import Key, KeyNeededError
from .batches import Glue
from .checking import Checked, check_values
from .faults import Fault, Faults
from .openers import LocalFile, Opener
from .privatizing import Privatized, privatize_values
from .reports import DamagedError, ReportFile, ReportWriter, report_writer, write_reports
from .sources import ValuesError
from .stores import StoredFile
from .tallies import Collected, SimulatedError, read_tally, write_tally
from .unreachable import UnreachableError
from .values import Values, values

__all__ = [
    "Checked",
    "Collected",
    "DamagedError",
    "Fault",
    "Faults",
    "Glue",
    "Key",
    "KeyNeededError",
    "LocalFile",
    "Opener",
    "Privatized",
    "ReportFile",
    "ReportWriter",
    "SimulatedError",
    "Skipped",
    "StoredFile",
    "UnreachableError",
    "Values",
    "ValuesError",
    "check_values",
    "privatize_values",
    "read_tally",
    "report_writer",
    "values",
    "write_reports",
    "write_tally",
]
