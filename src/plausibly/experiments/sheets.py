"""Tables for the terminal and for pages."""

from __future__ import annotations

from dataclasses import dataclass

from rich.table import Table


@dataclass(frozen=True)
class Sheet:
    """A sheet: a table for the terminal and for pages; the first column holds text, the others numbers."""

    title: str
    header: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    caption: str = ""

    def table(self) -> Table:
        """The sheet as a rich table."""
        table = Table(title=self.title, caption=self.caption or None)
        for i, name in enumerate(self.header):
            table.add_column(name, justify="right" if i else "left", no_wrap=not i)
        for line in self.lines:
            table.add_row(*line)
        return table

    def markdown(self) -> str:
        """The sheet as a page of Markdown."""
        rule = ["---", *["---:"] * (len(self.header) - 1)]
        lines = ["| " + " | ".join(cells) + " |" for cells in (self.header, rule, *self.lines)]
        return "\n".join([f"# {self.title}", "", *lines, "", *[self.caption, ""] * bool(self.caption)])
