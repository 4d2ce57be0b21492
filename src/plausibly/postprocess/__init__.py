"""Layer 4, post-processing: one function and one line here per step. ``Estimates.postprocess`` takes these names.

``mle`` and ``ibu`` need the reports themselves.
"""

from __future__ import annotations

from collections.abc import Mapping

# The public package imports Estimates from here, so that the steps are always registered.
from ..core.estimates import Estimates
from ..core.ordered_estimates import OrderedEstimates
from ..core.steps import STEPS, register
from .clipping import base, base_cut, base_pos, norm_cut, norm_mul
from .likelihood import ibu, mle
from .monotone import monotone
from .power_law import power_ns
from .significance import significance_cut
from .simplex import norm_sub, norm_sub_once, simplex

register("base", base)
register("base-pos", base_pos)
register("base-cut", base_cut)
register("norm-sub", norm_sub)
register("norm-sub-once", norm_sub_once)
register("simplex", simplex)
register("norm-cut", norm_cut)
register("norm-mul", norm_mul)
register("significance-cut", significance_cut)
register("power-ns", power_ns)
register("monotone", monotone, needs_order=True)

POSTPROCESS: Mapping[str, str] = {name: step.description for name, step in STEPS.items()}
"""Every post-processing step by name, with a description of its result."""

__all__ = ["POSTPROCESS", "Estimates", "OrderedEstimates", "ibu", "mle"]
