"""A scheme that the planner has never heard of: what it says of itself decides, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest

import plausibly
from contract.entries import SCHEMES
from plausibly import CATALOG, Integers, Keys, Limits
from plausibly.core.laws import Estimator
from plausibly.core.randomness import Layout
from plausibly.oracles import DE, OUE
from plausibly.planner.fakes import fakes_of


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BEST(DE):
    """Direct encoding that claims a variance which nobody can have."""

    name = "BEST"

    depth: int = 1

    @property
    def parameters(self) -> dict[str, Any]:
        return {"depth": self.depth}

    @classmethod
    def variants(cls, epsilon: Fraction, domain: plausibly.Domain, memory: int) -> Iterator[dict[str, Any]]:
        yield from ({"depth": depth} for depth in (1, 3, 2))

    def estimator(self) -> Estimator:
        usual = super().estimator()
        return replace(usual, law=replace(usual.law, per_report=Fraction(1, 1000 * self.depth), per_holder=Fraction(0)))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PLAIN(OUE):
    """One that says nothing of its costs."""

    name = "PLAIN"

    seconds = plausibly.Scheme.seconds
    support = plausibly.Scheme.support


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in (BEST, PLAIN):
        monkeypatch.setitem(CATALOG._kinds, kind.name, kind)  # type: ignore[attr-defined]


@pytest.mark.full
@pytest.mark.usefixtures("known")
def test_the_best_scheme_is_proposed_with_its_best_parameters_whatever_its_name() -> None:
    plan = plausibly.plan(1000, 100_000, epsilon=1)
    assert (plan.scheme.name, plan.scheme.depth) == ("BEST", 3)  # type: ignore[attr-defined]
    assert "PLAIN" in [choice.name for choice in plan.runners_up]
    # In a sketch, too, where items cannot be listed.
    opened = plausibly.plan(Keys(), 100_000, epsilon=1, limits=Limits(memory="1 MB"))
    assert opened.best.name == "CM over BEST"


def test_a_scheme_is_forgotten_with_its_entry_in_the_catalogue() -> None:
    assert plausibly.plan(1000, 100_000, epsilon=1).scheme.name == "TLH"


def test_an_unknown_scheme_is_priced_by_its_cells_and_its_words() -> None:
    plain = PLAIN(epsilon=1, domain=Integers(1000))
    cost = plain.cost(10**6, 1000)
    assert (cost.report_bytes, cost.state_bytes, cost.keeps_reports) == (125, 8000, False)
    assert 0.5 < cost.seconds / OUE(epsilon=1, domain=Integers(1000)).cost(10**6, 1000).seconds < 2
    # One that draws a word for each of a hundred places takes as long to count in as many.
    assert Draws100(epsilon=1, domain=Integers(1000)).cost(10**6, 0).seconds > 5 * plain.cost(10**6, 0).seconds


class Draws100(PLAIN):
    """One with many words and no bitmap."""

    @property
    def layout(self) -> Layout:
        return Layout(dense=100)


def test_fakes_of_an_unknown_scheme_are_bounded() -> None:
    known, unknown = (kind(epsilon=1, domain=Integers(50)) for kind in (OUE, PLAIN))
    exact, bound = (fakes_of(scheme) for scheme in (known, unknown))
    assert exact.every_exact
    assert not bound.every_exact
    assert (bound.raises, bound.every, bound.total) == (exact.raises, exact.every, exact.total)


def test_shares_of_components_are_those_of_the_users_and_their_costs_add_up() -> None:
    for label, scheme in SCHEMES.items():
        parts = scheme.components
        assert all(0 < part.share <= 1 for part in parts), label
        assert all(isinstance(part.scheme, plausibly.Scheme) for part in parts), label
        if parts and scheme.channels is None:
            whole = scheme.cost(10**6, 10)
            own = [part.scheme.cost(round(10**6 * part.share), 0) for part in parts]
            assert whole.state_bytes == pytest.approx(sum(cost.state_bytes for cost in own), rel=1e-5), label
            assert whole.seconds > sum(cost.seconds for cost in own) * 0.99, label
