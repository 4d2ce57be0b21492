"""Sending reports from devices and gateways to a collector, with a ledger that limits the total epsilon.

Standard library only. To use it without the package, copy ``device.py`` and this folder side by side into a package of
your own. Described in docs/sending.md.
"""

from .collector import Collector
from .errors import ClientError, LedgerError, SpentError, UntrustedError
from .history import sent
from .rota import Rota
from .sending import Outcome

__all__ = ["ClientError", "Collector", "LedgerError", "Outcome", "Rota", "SpentError", "UntrustedError", "sent"]
