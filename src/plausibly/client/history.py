"""What a device has sent, for its user: every question, every report, and the epsilon of all of them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from .ledger import Ledger, default_path


def sent(ledger: str | Path | None = None) -> dict[str, Any]:
    """What this device has sent to all questions, and the epsilon of each and of all together, as plain data for JSON.

    ``ledger`` is the file; by default, that of this user. It has no values: not even the device knows them any more.
    """
    accounts = Ledger(default_path() if ledger is None else Path(ledger)).accounts()
    total = sum((account.spent for account in accounts.values()), Fraction(0))
    return {
        "spent": str(total),
        "questions": [{"question": question, **account.facts()} for question, account in sorted(accounts.items())],
    }
