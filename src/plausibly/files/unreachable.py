"""The error of files that cannot be reached."""

from __future__ import annotations

from ..core.errors import ReportError


class UnreachableError(ReportError):
    """A report file that cannot be opened or read here, although it may be intact; never skipped as damaged."""

    def __init__(self, name: str, reason: str, group: int | None = None) -> None:
        self.name, self.reason, self.group = name, reason, group
        super().__init__(name, reason, group)

    def __str__(self) -> str:
        place = self.name if self.group is None else f"{self.name}, row group {self.group}"
        advice = "" if ";" in self.reason else "; check that the machine that reads it has the file and may read it"
        return f"{place}: {self.reason}{advice}"
