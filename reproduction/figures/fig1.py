"""Figure 1: direct and unary encoding."""

from plausibly.experiments import line

from .shapes import comparison

FIGURE = comparison(
    "fig1",
    "Direct and unary encoding",
    "A user reports one item (DE), a bit for each item of the domain (SUE, OUE), or a set of items (SS). The panels "
    "show the error as privacy gets weaker and as the domain grows, the time, and the size of a report.",
    [line("DE"), line("SUE"), line("OUE"), line("SS", ours=True)],
)
