"""The registry of post-processing steps: looked up here, filled by the package ``postprocess``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import ParameterError, StateError
from .wording import nearest, shown

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Step:
    """A way to change estimates. It needs what its function asks for: ``total``, ``variance``, keyword-only options.

    The function takes ``values`` of shape (..., d), a ``total`` of shape (..., 1) and a ``variance`` like the values,
    and returns new values. Only a ``linear`` step leaves the variance true.
    """

    name: str
    function: Callable[..., Floats]
    linear: bool = False

    @property
    def description(self) -> str:
        """The first line of the function's docstring."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    @property
    def needs_total(self) -> bool:
        """Whether the step needs the number of reports, and hence every item of the domain."""
        return "total" in inspect.signature(self.function).parameters

    @property
    def needs_variance(self) -> bool:
        """Whether the step has to know how noisy the values are."""
        return "variance" in inspect.signature(self.function).parameters

    def checked(self, options: Mapping[str, Any]) -> str:
        """The step as a history names it, with the options that are not the defaults; unknown options are refused."""
        parameters = inspect.signature(self.function).parameters
        valid = {name: p.default for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY}
        for option in options:
            if option not in valid:
                raise ParameterError(f"unknown option {shown(option)} for {self.name}; {nearest(option, valid)}")
        chosen = [f" {option}={shown(value)}" for option, value in options.items() if value != valid[option]]
        return self.name + "".join(chosen)


STEPS: dict[str, Step] = {}
"""Every step by its name, once ``plausibly.postprocess`` is imported."""


def register(name: str, function: Callable[..., Floats], *, linear: bool = False) -> None:
    """Make a step known under a name."""
    STEPS[name] = Step(name, function, linear)


def find_step(name: str) -> Step:
    """The step of that name."""
    if not STEPS:
        # For instance after unpickling estimates in a process that has used nothing else of the package.
        raise StateError("no post-processing step is loaded; import plausibly.postprocess first")
    if not isinstance(name, str) or name not in STEPS:
        raise ParameterError(f"unknown step {shown(name)}; {nearest(name, STEPS)}")
    return STEPS[name]


def apply(
    name: str, values: npt.ArrayLike, total: npt.ArrayLike, variance: npt.ArrayLike | None = None, **options: Any
) -> Floats:
    """New values after a step, on plain arrays: each row of ``values`` (..., d) has its ``total`` (...).

    >>> import plausibly.postprocess
    >>> apply("norm-sub", [[6.0, 3.0, -1.0], [1.0, 1.0, 1.0]], total=[7, 9]).tolist()
    [[5.0, 2.0, 0.0], [3.0, 3.0, 3.0]]
    """
    step = find_step(name)
    step.checked(options)
    given = _finite("values", values)
    if given.ndim == 0:
        raise ParameterError("values: expected one or more rows of numbers, got a single number")
    if step.needs_total:
        options["total"] = _like("total", total, given.shape[:-1])[..., np.newaxis]
    if step.needs_variance:
        if variance is None:
            raise StateError(f"{name} needs the variance of the values; got none")
        options["variance"] = _like("variance", variance, given.shape)
    return step.function(given, **options) if given.size else given.copy()


def _finite(name: str, given: npt.ArrayLike) -> Floats:
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"{name}: expected numbers, got something else") from None
    if not np.isfinite(numbers).all():
        raise ParameterError(f"{name}: expected finite numbers, got some that are not")
    return numbers


def _like(name: str, given: npt.ArrayLike, shape: tuple[int, ...]) -> Floats:
    numbers = _finite(name, given)
    if (numbers < 0).any():
        raise ParameterError(f"{name}: expected no negative number, got some")
    try:
        return np.broadcast_to(numbers, shape)
    except ValueError:
        raise ParameterError(f"{name}: expected the shape {shape}, got {numbers.shape}") from None
