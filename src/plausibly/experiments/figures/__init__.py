"""The paper's figures and tables by name, each declared in a file of its own; ``extra`` are what it has not drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .. import aol
from ..figure import Figure, Sweep
from . import (
    extra1,
    extra2,
    extra3,
    extra4,
    extra5,
    extra6,
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
)
from .sketches import CLICKED

_FIGURES = (fig1, fig2, fig3, fig4, fig5, fig6, fig7, fig8, fig9, fig10, fig11)
_MODULES = (*_FIGURES, table1, table2, extra1, extra2, extra3, extra4, extra5, extra6)

FIGURES: Mapping[str, Figure] = {module.FIGURE.name: module.FIGURE for module in _MODULES}


def on_log(figure: Figure) -> Figure:
    """The figure on one's own log (``aol.use``) wherever it is on the model of one: as many clicks and addresses."""
    found = aol.log()

    def moved(sweep: Sweep) -> Sweep:
        name, slash, length = sweep.data.partition("/")
        if name != "url-clicks":
            return sweep
        d = found.d if sweep.d == CLICKED else min(sweep.d, found.d)
        return replace(sweep, data=f"aol{slash}{length}", n=found.n, d=d, data_seed=found.seed)

    return replace(figure, sweeps=[moved(sweep) for sweep in figure.sweeps])
