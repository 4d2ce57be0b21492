"""Estimates after a step: what is kept, what is refused, and whether the steps help on data like the paper's."""

from __future__ import annotations

import doctest
import pickle
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import plausibly
from drawn import drawn
from plausibly import Estimates, ParameterError, SeededRandom, StateError, make
from plausibly.core.history import Applied, Kind
from plausibly.core.ordered_estimates import in_order
from plausibly.core.steps import STEPS, Floats, apply, register

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "postprocessing.md"

every_step = pytest.mark.parametrize("name", list(plausibly.POSTPROCESS))


def some() -> Estimates:
    return Estimates(
        np.array(list("abcd")), np.array([3.0, -1.0, 8.0, 3.0]), np.array([4.0, 4.0, 9.0, 1.0]), 12, complete=True
    )


def some_for(name: str) -> Estimates:
    """Estimates to which a step applies: of items in order if it needs an order."""
    return in_order(some(), plausibly.Integers(4), None) if STEPS[name].needs_order else some()


@every_step
def test_a_step_changes_the_values_and_nothing_else_but_the_variance(name: str) -> None:
    before, after = some(), some_for(name).postprocess(name)
    np.testing.assert_array_equal(after.values, apply(name, before.values, 12, before.variance)[0])
    assert after.items.tolist() == before.items.tolist()
    assert (after.n, after.complete, after.history) == (12, True, (Applied(name),))
    assert not np.shares_memory(after.values, before.values)


@every_step
def test_only_a_linear_step_keeps_the_variance(name: str) -> None:
    after = some_for(name).postprocess(name)
    if name == "base":
        np.testing.assert_array_equal(after.variance, some().variance)
        after.interval()
    else:
        assert after.variance is None
        with pytest.raises(StateError, match=f"no variance, hence no interval, after {name}"):
            after.interval()
    assert name in repr(after)


def test_a_linear_step_may_state_another_variance() -> None:
    def scaled(values: Floats, variance: Floats | None = None, *, factor: float = 0.5) -> tuple[Floats, Floats | None]:
        """The estimates times a factor."""
        return values * factor, None if variance is None else variance * factor**2

    with patch.dict(STEPS):
        register("scaled", scaled)
        half = some().postprocess("scaled")
        np.testing.assert_array_equal(half.values, some().values / 2)
        np.testing.assert_array_equal(half.variance, some().variance / 4)
        np.testing.assert_allclose(half.interval(), np.stack(some().interval()) / 2)
        tripled = some().postprocess("scaled", factor=3.0)
        np.testing.assert_array_equal(tripled.variance, some().variance * 9)
        assert tripled.history == (Applied("scaled", (("factor", 3.0),)),)
        assert replace(some(), variance=None).postprocess("scaled").variance is None
        # In a chain the next step sees the variance as it is now.
        kept = half.postprocess("significance-cut").values
        np.testing.assert_array_equal(kept, some().postprocess("significance-cut").values / 2)


def test_a_step_of_one_s_own_that_returns_values_alone_leaves_no_variance() -> None:
    with patch.dict(STEPS):
        register("half", lambda values: values / 2)
        assert some().postprocess("half").variance is None


def test_no_estimates_stay_none_with_their_variance() -> None:
    nothing = Estimates(np.zeros(0), np.zeros(0), np.zeros(0), 5, complete=True)
    after = nothing.postprocess("base")
    assert after.values.shape == after.variance.shape == (0,)
    assert nothing.postprocess("norm-sub").variance is None


@every_step
def test_a_part_of_the_domain_is_refused_where_the_sum_counts(name: str) -> None:
    part = replace(some(), complete=False)
    if name in ("base", "base-pos", "significance-cut"):
        assert not part.postprocess(name).complete
    else:
        with pytest.raises(StateError, match=f"{name} needs every item of the domain.*estimate the whole domain"):
            part.postprocess(name)
        with pytest.raises(StateError, match="whole domain"):
            some().top(2).postprocess(name)


@pytest.mark.parametrize("name", ["significance-cut", "power-ns"])
def test_without_the_variance_a_step_that_needs_it_is_refused(name: str) -> None:
    with pytest.raises(StateError, match=f"{name} needs the variance, which is gone after base-pos and top 9; apply"):
        some().postprocess("base-pos").top(9).postprocess(name)
    with pytest.raises(StateError, match=f"{name} needs the variance, which these estimates do not have"):
        replace(some(), variance=None).postprocess(name)


def test_steps_follow_each_other_and_the_history_tells() -> None:
    after = some().postprocess("significance-cut", alpha=0.3).postprocess("norm-sub").top(2)
    assert [str(step) for step in after.history] == ["significance-cut alpha=0.3", "norm-sub", "top 2"]
    assert [step.kind for step in after.history] == [Kind.POSTPROCESSING, Kind.POSTPROCESSING, Kind.SELECTION]
    assert after.history[0] == Applied("significance-cut", (("alpha", 0.3),))
    assert some().postprocess("significance-cut", alpha=0.05).history == (Applied("significance-cut"),)


def test_unknown_steps_and_options_are_refused_with_the_nearest_name() -> None:
    with pytest.raises(ParameterError, match=r"unknown step 'norm_sub'; did you mean 'norm-sub'\? valid: base, "):
        some().postprocess("norm_sub")
    with pytest.raises(ParameterError, match="unknown step None; valid: base"):
        some().postprocess(None)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"unknown option 'alhpa' for significance-cut; did you mean 'alpha'\?"):
        some().postprocess("significance-cut", alhpa=0.1)
    for option in ("alpha", "total", "values", "variance"):
        with pytest.raises(ParameterError, match=f"unknown option '{option}' for norm-sub; valid: none"):
            some().postprocess("norm-sub", **{option: 0.1})


@every_step
def test_zero_reports_stay_zero(name: str) -> None:
    after = make("OUE", epsilon=1, domain_size=5).accumulator().estimate().postprocess(name)
    assert after.values.tolist() == [0.0] * 5


@pytest.mark.full
@pytest.mark.parametrize(
    "code",
    [
        "import plausibly; plausibly.Estimates(*{}).postprocess('base-pos')",
        "from plausibly import Estimates; Estimates(*{}).postprocess('base-pos')",
        "import plausibly; plausibly.POSTPROCESS['base-pos']",
        "import plausibly; plausibly.make('DE', epsilon=1, domain_size=2).accumulator().estimate().postprocess('base')",
    ],
)
def test_a_fresh_process_knows_the_steps(code: str) -> None:
    arguments = "([0], __import__('numpy').ones(1), None, 1, True)"
    subprocess.run([sys.executable, "-c", code.format(arguments)], check=True, timeout=60)


@pytest.mark.full
def test_unpickled_estimates_say_what_to_import() -> None:
    code = "import pickle, sys; pickle.load(sys.stdin.buffer).postprocess('base-pos')"
    run = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(some()), capture_output=True, timeout=60)
    assert b"import plausibly.postprocess first" in run.stderr


# --- what the steps are for ------------------------------------------------------------------------------------------


def zipf(size: int, n: int) -> np.ndarray:
    weights = np.arange(1, size + 1) ** -1.1
    counts = np.floor(weights / weights.sum() * n).astype(np.int64)
    counts[0] += n - counts.sum()
    return counts


def errors(seed: int, *names: str) -> dict[str, float]:
    """Mean squared error of each step on the estimates of 100,000 users over 1,024 items, Zipf(1.1), epsilon 1."""
    counts = zipf(1024, 100_000)
    scheme = make("OUE", epsilon=1, domain_size=1024)
    base = scheme.simulate(counts, rng=SeededRandom(seed)).estimate()
    return {name: float(np.mean((base.postprocess(name).values - counts) ** 2)) for name in names}


# The paper's finding (section 7.6) and Wang et al.'s: most items are rare, so that most of the error is noise around
# zero, half of it negative. False alarm: norm-sub's order is a theorem (see below), the others left at most 0.17 of
# base's error in 200 other seeds; a half is far out of reach.
@pytest.mark.full
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_steps_reduce_the_squared_error_on_skewed_data(seed: int) -> None:
    found = errors(seed, "base", "norm-sub", "significance-cut", "power-ns")
    assert found["norm-sub"] <= 0.5 * found["base"]
    assert found["power-ns"] <= 0.5 * found["base"]
    assert found["significance-cut"] <= 0.5 * found["base"]


@pytest.mark.parametrize("name", ["base-pos", "norm-sub", "simplex"])
@given(
    counts=st.lists(st.integers(0, 50), min_size=1, max_size=10),
    noise=st.lists(st.floats(-90, 90), min_size=10, max_size=10),
)
@drawn(20)
def test_a_projection_is_never_further_from_the_truth(name: str, counts: list[int], noise: list[float]) -> None:
    # The truth lies in the convex set that is projected on: no data and no noise can make it worse.
    truth = np.array(counts, dtype=float)
    values = truth + noise[: len(counts)]
    after, _ = apply(name, values, sum(counts))
    assert np.linalg.norm(after - truth) <= np.linalg.norm(values - truth) * (1 + 1e-9) + 1e-9


# --- the page --------------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_the_page_prints_what_it_shows() -> None:
    failed, attempted = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert attempted >= 5
    assert failed == 0


def test_every_step_has_its_row() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \|", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(rows) == sorted(plausibly.POSTPROCESS)


@pytest.mark.full
def test_the_figure_is_drawn(tmp_path: Path) -> None:
    picture = tmp_path / "figure.png"
    subprocess.run([sys.executable, str(ROOT / "examples" / "postprocessing.py"), "--output", str(picture)], check=True)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_step_is_not_replaced_by_another_of_its_name() -> None:
    def other(values: Floats) -> Floats:
        return values

    before = STEPS["norm-sub"]
    with pytest.raises(ParameterError, match="name: 'norm-sub' is already the name of a step; choose another name"):
        register("norm-sub", other)
    with pytest.raises(ParameterError, match="name: expected the name of a step, got ''"):
        register("", other)
    register("norm-sub", before.function)  # the same once more, as an import does
    assert STEPS["norm-sub"].function is before.function
