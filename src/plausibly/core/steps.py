"""The registry of post-processing steps, filled by the package ``postprocess``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import ParameterError, StateError
from .history import Applied
from .wording import nearest, shown

Floats = npt.NDArray[np.float64]
Changed = Floats | tuple[Floats, Floats | None]
"""Result of a step: values with their variance, or values alone if there is none."""


@dataclass(frozen=True)
class Step:
    """A post-processing step. The signature of its function states its needs: ``total``, ``variance``, options.

    The function takes ``values`` of shape (..., d), a ``total`` of shape (..., 1) and a ``variance`` like the values,
    which may be None if that is its default. It returns new values and their variance, or new values alone if their
    variance is unknown, as after every non-linear step. Keyword-only parameters are options. ``needs_order``: it is for
    items in order, and leaves the law of their sums.
    """

    name: str
    function: Callable[..., Changed]
    needs_order: bool = False

    @property
    def description(self) -> str:
        """The step in words: the first line of its function's docstring."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    @property
    def needs_total(self) -> bool:
        """Whether the step needs the number of reports, and therefore every item of the domain."""
        return "total" in inspect.signature(self.function).parameters

    @property
    def needs_variance(self) -> bool:
        """Whether the step requires the variance of the values."""
        variance = inspect.signature(self.function).parameters.get("variance")
        return variance is not None and variance.default is variance.empty

    @property
    def takes_variance(self) -> bool:
        """Whether the step uses the variance if there is one."""
        return "variance" in inspect.signature(self.function).parameters

    def checked(self, options: Mapping[str, Any]) -> Applied:
        """Record of the step for a history, with the options that are not defaults. Raises for unknown options."""
        parameters = inspect.signature(self.function).parameters
        valid = {name: p.default for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY}
        for option in options:
            if option not in valid:
                raise ParameterError(f"unknown option {shown(option)} for {self.name}; {nearest(option, valid)}")
        return Applied(self.name, tuple((name, value) for name, value in options.items() if value != valid[name]))


STEPS: dict[str, Step] = {}
"""Every step by its name, once ``plausibly.postprocess`` is imported."""


def register(name: str, function: Callable[..., Changed], *, needs_order: bool = False) -> None:
    """Add a post-processing step to the registry of steps under a name, which must not be taken.

    ``needs_order``: the step is for items in order, such as numbers or dates.

    Registering the same function again, or its new version from a module that is imported anew, replaces it.
    """
    if not isinstance(name, str) or not name:
        raise ParameterError(f"name: expected the name of a step, got {shown(name)}")
    taken = STEPS.get(name)
    if taken is not None and _origin(taken.function) != _origin(function):
        raise ParameterError(f"name: {shown(name)} is already the name of a step; choose another name")
    STEPS[name] = Step(name, function, needs_order)


def _origin(function: Callable[..., object]) -> tuple[str | None, str | None]:
    return getattr(function, "__module__", None), getattr(function, "__qualname__", None)


def find_step(name: str) -> Step:
    """The post-processing step of that name."""
    if not STEPS:
        # For instance after unpickling estimates in a process that has used nothing else of the package.
        raise StateError("no post-processing step is loaded; import plausibly.postprocess first")
    if not isinstance(name, str) or name not in STEPS:
        raise ParameterError(f"unknown step {shown(name)}; {nearest(name, STEPS)}")
    return STEPS[name]


def apply(
    name: str, values: npt.ArrayLike, total: npt.ArrayLike, variance: npt.ArrayLike | None = None, **options: Any
) -> tuple[Floats, Floats | None]:
    """New values after a post-processing step, and their variance or None.

    Each row of ``values`` (..., d) has its ``total`` (...).

    >>> import plausibly.postprocess
    >>> values, variance = apply("norm-sub", [[6.0, 3.0, -1.0], [1.0, 1.0, 1.0]], total=[7, 9])
    >>> values.tolist(), variance
    ([[5.0, 2.0, 0.0], [3.0, 3.0, 3.0]], None)
    """
    step = find_step(name)
    step.checked(options)
    given = _finite("values", values)
    if given.ndim == 0:
        raise ParameterError("values: expected one or more rows of numbers, got a single number")
    if step.needs_total:
        options["total"] = _like("total", total, given.shape[:-1])[..., np.newaxis]
    if step.needs_variance and variance is None:
        raise StateError(f"{name} needs the variance of the values; got none")
    if step.takes_variance:
        options["variance"] = None if variance is None else _like("variance", variance, given.shape)
    if not given.size:
        return given.copy(), options.get("variance")
    changed = step.function(given, **options)
    return changed if isinstance(changed, tuple) else (changed, None)


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
