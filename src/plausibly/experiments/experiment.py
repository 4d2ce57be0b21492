"""An experiment: figures to measure, findings to check on their rows, and the heading of its report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..core.errors import ParameterError
from ..core.wording import nearest, shown
from .figure import Figure
from .findings import Finding


@dataclass(frozen=True)
class Citation:
    """A publication: authors, title and venue as text, and its web address."""

    text: str
    link: str


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """An experiment: figures, and the findings that are checked on their rows.

    A file or package declares it as ``EXPERIMENT``; without findings, ``FIGURE`` or ``FIGURES`` is enough.
    """

    figures: Sequence[Figure]
    findings: Sequence[Finding] = ()
    title: str = ""
    """Title of the report; by default, the titles of the figures."""
    about: str = ""
    citation: Citation | None = None
    published: bool = False
    """Whether the names of schemes, crowds and steps alone identify a measurement.

    Otherwise the source code that defines them counts as well, and cells are measured again when it changes. In a
    published experiment a name never changes its meaning, so that rows measured years ago can still be read.
    """

    def __post_init__(self) -> None:
        names = [figure.name for figure in self.figures]
        for name in names:
            if names.count(name) > 1:
                raise ParameterError(f"expected a different name for each figure, got {name} twice")

    def find(self, name: str) -> Figure | None:
        """The figure of the experiment with this name, or None."""
        return next((figure for figure in self.figures if figure.name == name), None)

    def figure(self, name: str) -> Figure:
        """The figure or panel of the experiment with this name: ``fig1`` or ``fig1a``."""
        if (figure := self.find(name)) is not None:
            return figure
        whole = self.find(name[:-1])
        if whole is not None and name[-1] in whole.letters:
            return whole.panel(name[-1])
        panels = f"; panels of {whole.name}: {', '.join(whole.letters) or 'none'}" if whole is not None else ""
        names = [figure.name for figure in self.figures]
        raise ParameterError(f"unknown figure {shown(name)}; {nearest(name, names)}{panels}")
