"""The paper's figures and tables by name, each declared in its own file; ``extra`` figures are not in the paper."""

from __future__ import annotations

from collections.abc import Mapping

from plausibly.experiments import Figure

from . import (
    extra1,
    extra2,
    extra3,
    extra4,
    extra5,
    extra6,
    extra7,
    extra8,
    extra9,
    fig1,
    fig2,
    fig3,
    fig4,
    fig5,
    fig6,
    fig7,
    fig8,
    fig9,
    fig10,
    fig11,
    table1,
    table2,
    times,
)
from .looks import with_looks

_FIGURES = (fig1, fig2, fig3, fig4, fig5, fig6, fig7, fig8, fig9, fig10, fig11)
_MODULES = (*_FIGURES, table1, table2, extra1, extra2, extra3, extra4, extra5, extra6, extra7, extra8, extra9, times)

FIGURES: Mapping[str, Figure] = {module.FIGURE.name: with_looks(module.FIGURE) for module in _MODULES}
