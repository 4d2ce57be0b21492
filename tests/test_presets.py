"""Presets: each is the ordinary scheme that its docstring names."""

from __future__ import annotations

from typing import Any

import pytest

import plausibly
from plausibly import Keys, make

PRESETS = {"CMS": plausibly.CMS, "HCMS": plausibly.HCMS, "RAPPOR": plausibly.RAPPOR, "FOLDED": plausibly.FOLDED}
SHAPES: dict[str, dict[str, int]] = {
    "CMS": {"rows": 4, "width": 16},
    "HCMS": {"rows": 4, "width": 16},
    "RAPPOR": {"bits": 16, "cohorts": 4},
    "FOLDED": {"cohorts": 4, "cells": 1024},
}


def test_presets_are_one_expression_of_ordinary_schemes() -> None:
    sue, oue = (make(name, epsilon="1/2", domain_size=64) for name in ("SUE", "OUE"))
    hadamard = make("HM", epsilon="1/2", domain_size=64, coefficients=1)
    given: dict[str, Any] = {"domain": ["a", "b"], "other": True, "hash_seed": 7}
    shape = {"rows": 8, "width": 64}
    assert plausibly.CMS("1/2", **shape, **given) == make("CM", oracle=sue, rows=8, **given)
    assert plausibly.CMS("1/2", oracle="OUE", **shape, **given) == make("CM", oracle=oue, rows=8, **given)
    assert plausibly.HCMS("1/2", **shape, **given) == make("CM", oracle=hadamard, rows=8, **given)
    whole = make("BLOOM", epsilon="1/2", bits=64, hashes=3, cohorts=5, **given)
    assert plausibly.RAPPOR("1/2", bits=64, hashes=3, cohorts=5, **given) == whole
    toeplitz = make("TLH", epsilon="1/2", domain_size=2**17)
    assert plausibly.FOLDED("1/2", cohorts=4, cells=2**17, **given) == make("CM", oracle=toeplitz, rows=4, **given)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_need_no_shape_and_travel(name: str) -> None:
    scheme = PRESETS[name](4, domain=Keys())
    assert plausibly.from_json(scheme.to_json()) == scheme
    assert scheme.epsilon == 4
    assert scheme.privacy_loss() <= 4


@pytest.mark.full
@pytest.mark.parametrize("name", PRESETS)
def test_presets_find_what_is_common(name: str) -> None:
    # The gap of 8,000 is beyond twenty standard errors of every preset.
    scheme = PRESETS[name](4, domain=Keys(), **SHAPES[name])
    crowd = {"common": 10_000, "": 1_000, "rare": 10}
    estimates = scheme.simulate(crowd, plausibly.SeededRandom(1)).estimate(list(crowd))
    assert estimates.top(1).items.tolist() == ["common"]


def test_more_coefficients_than_apple_s_one_have_a_fraction_of_the_noise() -> None:
    best = make("CM", oracle=make("HM", epsilon=4, domain_size=1024), rows=1024, domain=Keys())
    one = plausibly.HCMS(4, domain=Keys())
    assert one.variance(10**6, f2=10**6) > 3 * best.variance(10**6, f2=10**6)


@pytest.mark.parametrize("name", PRESETS)
def test_misspelt_parameters_are_refused(name: str) -> None:
    with pytest.raises(plausibly.ParameterError, match=r"unknown parameter 'hashseed' .* did you mean 'hash_seed'\?"):
        PRESETS[name](1, domain_size=10, hashseed=1, **SHAPES[name])


def test_former_names_go_on_working_with_a_warning() -> None:
    for former, name in {"Folded": "FOLDED", "rounds": "ROUNDS", "trellis": "TRELLIS"}.items():
        with pytest.warns(DeprecationWarning, match=f"plausibly.{name}"):
            assert getattr(plausibly, former) is getattr(plausibly, name)
