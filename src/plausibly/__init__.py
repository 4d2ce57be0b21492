"""plausibly: learn what is common in a crowd while each person keeps plausible deniability."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .catalog import CATALOG, from_json
    from .certify import Certificate, audit, audit_statistically
    from .core.accumulator import Accumulator
    from .core.changes import Changes, changes
    from .core.codec import decode_reports, encode_reports
    from .core.combining import combine
    from .core.cross_table import CrossTable
    from .core.derived import Derived, Shares
    from .core.diagnosis import Diagnosis, diagnose_reports
    from .core.domain import Choices, Integers, Keys, Labels, Ordered, Strings, Table
    from .core.errors import DomainError, ParameterError, PlausiblyError, ReportError, StateError
    from .core.randomness import SecureRandom, SeededRandom
    from .core.scheme import Scheme
    from .core.series import Series, series
    from .making import make
    from .planner import Above, Limits, Plan, QuantileWithin, Shuffler, Within, plan
    from .postprocess import POSTPROCESS, Estimates, OrderedEstimates
    from .presets import CMS, FOLDED, HCMS, RAPPOR, ROUNDS, TRELLIS
    from .search.heavy_hitters import HeavyHitters
    from .shuffling import Shuffled, local_epsilon, shuffled
    from .version import __version__ as __version__

_HOME = {
    "catalog": ("CATALOG", "from_json"),
    "certify": ("Certificate", "audit", "audit_statistically"),
    "core.accumulator": ("Accumulator",),
    "core.changes": ("Changes", "changes"),
    "core.codec": ("decode_reports", "encode_reports"),
    "core.combining": ("combine",),
    "core.cross_table": ("CrossTable",),
    "core.derived": ("Derived", "Shares"),
    "core.diagnosis": ("Diagnosis", "diagnose_reports"),
    "core.domain": ("Choices", "Integers", "Keys", "Labels", "Ordered", "Strings", "Table"),
    "core.errors": ("DomainError", "ParameterError", "PlausiblyError", "ReportError", "StateError"),
    "core.randomness": ("SecureRandom", "SeededRandom"),
    "core.scheme": ("Scheme",),
    "core.series": ("Series", "series"),
    "making": ("make",),
    "planner": ("Above", "Limits", "Plan", "QuantileWithin", "Shuffler", "Within", "plan"),
    "postprocess": ("POSTPROCESS", "Estimates", "OrderedEstimates"),
    "presets": ("CMS", "HCMS", "RAPPOR", "FOLDED", "ROUNDS", "TRELLIS"),
    "search.heavy_hitters": ("HeavyHitters",),
    "shuffling": ("Shuffled", "local_epsilon", "shuffled"),
    "version": ("__version__",),
}
_FORMER = {"Folded": "FOLDED", "rounds": "ROUNDS", "trellis": "TRELLIS"}
"""Names of earlier versions, which still work."""
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "CATALOG",
    "CMS",
    "FOLDED",
    "HCMS",
    "POSTPROCESS",
    "RAPPOR",
    "ROUNDS",
    "TRELLIS",
    "Above",
    "Accumulator",
    "Certificate",
    "Changes",
    "Choices",
    "CrossTable",
    "Derived",
    "Diagnosis",
    "DomainError",
    "Estimates",
    "HeavyHitters",
    "Integers",
    "Keys",
    "Labels",
    "Limits",
    "Ordered",
    "OrderedEstimates",
    "ParameterError",
    "Plan",
    "PlausiblyError",
    "QuantileWithin",
    "ReportError",
    "Scheme",
    "SecureRandom",
    "SeededRandom",
    "Series",
    "Shares",
    "Shuffled",
    "Shuffler",
    "StateError",
    "Strings",
    "Table",
    "Within",
    "audit",
    "audit_statistically",
    "changes",
    "combine",
    "decode_reports",
    "diagnose_reports",
    "encode_reports",
    "from_json",
    "local_epsilon",
    "make",
    "plan",
    "series",
    "shuffled",
]


def __getattr__(name: str) -> Any:
    # Resolved on first use (PEP 562), so that `import plausibly.device` loads no NumPy.
    if name == "device":
        return import_module(".device", __name__)
    if name in _FORMER:
        warnings.warn(f"plausibly.{name} is now plausibly.{_FORMER[name]}", DeprecationWarning, stacklevel=2)
        name = _FORMER[name]
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'plausibly' has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    # For tab completion, without the imports of this file itself.
    own = {"Any", "TYPE_CHECKING", "annotations", "import_module", "warnings"}
    return sorted({*globals(), *__all__, "device"} - own)
