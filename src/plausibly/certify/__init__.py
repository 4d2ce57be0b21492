"""Audits: an exact one that runs the released client on every outcome of its coins, and a statistical one.

``exact`` makes the certificate: ``client`` runs the client on its coins, ``memo`` its memo if it has one, ``tapes``
compares it with the bulk path, ``moments`` checks bias and variance, and ``argument`` decides whether a written proof
covers the rest. ``statistical`` attacks wire records without knowing the client.
"""

from .certificate import Certificate
from .exact import DRAWS, audit
from .statistical import StatisticalAudit, audit_statistically, clopper_pearson

__all__ = ["DRAWS", "Certificate", "StatisticalAudit", "audit", "audit_statistically", "clopper_pearson"]
