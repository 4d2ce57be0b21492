"""Table 1: the constants of its variances, against the laws of the schemes."""

from __future__ import annotations

import re
from math import exp, sqrt

import numpy as np
import pytest

from plausibly.core.laws import choose_estimator
from plausibly.experiments import Cell, crowd
from reproduction.figures.table1 import FIGURE

LINES = {line.label: line for sweep in FIGURE.sweeps for line in sweep.lines}
N, D, HASHES = 100_000, 1024, 1000


def computed(formula: str, epsilon: float, f2: float) -> float:
    """The value of a formula as it is printed."""
    text = formula.translate(str.maketrans({"−": "-", "²": "**2"}))
    text = text.replace("√E", "root").replace("nk′E", "n*k*E").replace("F₂", "f2")
    text = re.sub(r"([0-9.]+)E", r"\1*E", text)
    known = {"E": exp(epsilon), "root": sqrt(exp(epsilon)), "d": D, "n": N, "k": HASHES, "f2": f2}
    return float(eval(text, {"__builtins__": {}}, known))


@pytest.mark.full
@pytest.mark.parametrize("label", LINES)
@pytest.mark.parametrize("epsilon", [3.0, 4.0])  # the constant of HR is that for large ε
def test_every_row_has_its_constant(label: str, epsilon: float) -> None:
    assert FIGURE.table is not None
    truth = crowd("zipf-1.1", N, D, 0).astype(np.float64)
    cell = Cell(LINES[label].scheme, LINES[label].parameters, n=N, d=D, epsilon=epsilon)
    scheme = cell.make()
    keywords = LINES[label].view.keywords
    law = choose_estimator(scheme.estimator, keywords).law
    assert law is not None
    predicted = float(np.mean(law.at(N, truth, f2=float((truth**2).sum()), **law.context_of(truth)))) / N
    _, bound, formula = FIGURE.table.said[label][1].rpartition("≤")
    printed = computed(formula.strip(), epsilon, float((truth**2).sum()))
    # Rounding of g and of blocks, and the term in the true count, which the formula leaves out.
    assert printed == pytest.approx(predicted, rel=0.1)
    assert predicted <= printed or not bound


def test_no_bound_of_the_paper_has_a_constant() -> None:
    assert FIGURE.table is not None
    assert not any(re.match(r"[0-9]", words[0]) for words in FIGURE.table.said.values())
