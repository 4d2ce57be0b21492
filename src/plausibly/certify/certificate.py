"""The result of an exact audit, as text and JSON: the verdict never claims more than was run or proved."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..core.scheme import Scheme
from .memo import MemoRun
from .numbers import exact_text, rounded_up

ARGUMENT = "docs/adr/0015"
"""Name of the written proof for the released client, as certificates in JSON have it."""
_DOCUMENT = f"{ARGUMENT}-what-the-audit-covers.md"
"""File with that proof, for readers."""


@dataclass(frozen=True, repr=False)
class Certificate:
    """The result of an exact audit: ``findings`` lists all violations, ``covers`` says what was run."""

    scheme: Scheme
    enumerated: Scheme
    """The scheme whose client was run: the audited one, or its copy on a domain small enough to enumerate."""
    worst_ratio: Fraction | float
    """Largest likelihood ratio of one record under two items; infinite if one of them cannot send it."""
    epsilon: Fraction | float
    """Delivered epsilon: an upper bound of the log of that ratio and of the ratio that the client states."""
    attained: bool
    """Whether some record attains the worst ratio that the client states, so that the bound is tight."""
    items: int
    """Number of items that were run on all private coins."""
    all_items: int
    """Number of items of the scheme's domain; 2^64 for keys."""
    paths: int
    public_outcomes: int
    all_public_outcomes: int
    public_complete: bool
    """Whether every outcome of the public coins was run, instead of a sample."""
    argued: bool
    """Whether the client is the one that ``docs/adr/0015`` proves private, on any item and any coin."""
    tapes: int
    """Number of reports that client and bulk path made from the same words, many of them next to a threshold."""
    compared_items: int
    """Number of items of those reports."""
    compared: Scheme | None
    """The scheme of those reports: the audited one or a smaller copy; None if its reports are too large to make."""
    moment_items: int
    """Size of the domain on which mean and variance were computed; 0 if they were not."""
    unbiased: bool | None
    """Whether all decoders are unbiased over all coins; None if that rests on ``unbiased_given`` or is not promised."""
    variance_exact: bool | None
    """Whether all variances are the stated ones; None as above, and if the estimates have no variance law."""
    moments_exact: bool
    """Whether mean and variance were computed in fractions; otherwise they are right to nine digits."""
    findings: tuple[str, ...]
    memo: MemoRun | None = None
    """The laws of the entries of the memo, for a scheme with one."""

    @property
    def holds(self) -> bool:
        """Whether the certificate names no violation in what was run. ``proved`` says whether that is enough."""
        return not self.findings

    @property
    def complete(self) -> bool:
        """Whether the certified client was run on every item and every outcome of its public and private coins."""
        return self.enumerated is self.scheme and self.items == self.all_items and self.public_complete

    @property
    def proved(self) -> bool:
        """Whether epsilon is certified for the client on every item and coin.

        For the bulk path see ``bulk_complete``.
        """
        return self.holds and (self.complete or self.argued)

    @property
    def bulk_complete(self) -> bool:
        """Whether, for the certificate, the bulk path was compared with the client on every item."""
        return self.compared is self.scheme and self.compared_items == self.all_items

    @property
    def covers(self) -> str:
        """The coverage of the certificate in words: items and public outcomes run, with all private coins."""
        if self.complete:
            return "every item with every coin"
        if self.enumerated is self.scheme:
            run = "every item" if self.items == self.all_items else f"{self.items:,} of {_count(self.all_items)} items"
            drawn = f"{self.public_outcomes:,} of {_count(self.all_public_outcomes)}"
        else:
            run = _of_smaller(self.items, self.enumerated)
            drawn = f"{self.public_outcomes:,}"
        return run if self.public_complete else f"{run} with {drawn} public draw{'s' * (drawn != '1')}"

    def to_dict(self) -> dict[str, Any]:
        """The certificate as JSON values: exact numbers as text, infinite ones as "infinity"."""
        return {
            "verdict": "does not hold" if self.findings else "holds" if self.proved else "nothing wrong found",
            "proved": self.proved,
            "complete": self.complete,
            "covers": self.covers,
            "argument": ARGUMENT if self.argued else None,
            "holds": self.holds,
            "findings": list(self.findings),
            "scheme": self.scheme.name,
            "fingerprint": self.scheme.fingerprint(),
            "epsilon_asked": str(self.scheme.epsilon),
            "epsilon_delivered": exact_text(self.epsilon),
            "epsilon_rounded_up": rounded_up(self.epsilon),
            "worst_ratio": exact_text(self.worst_ratio),
            "attained": self.attained,
            "whole_domain": self.enumerated is self.scheme,
            "enumerated": self.enumerated.to_dict(),
            "items": self.items,
            "all_items": str(self.all_items),
            "paths": self.paths,
            "public_outcomes": self.public_outcomes,
            "all_public_outcomes": str(self.all_public_outcomes),
            "public_complete": self.public_complete,
            "tapes": self.tapes,
            "compared_items": self.compared_items,
            "compared_whole_domain": self.compared is self.scheme,
            "bulk_complete": self.bulk_complete,
            "moment_items": self.moment_items,
            "unbiased": self.unbiased,
            "variance_exact": self.variance_exact,
            "moments_exact": self.moments_exact,
            "rests_on": self.scheme.unbiased_given,
            **({} if self.memo is None else {"memo": self.memo.to_dict(), "caution": self.scheme.caution}),
        }

    def __str__(self) -> str:
        given = self.scheme.unbiased_given
        # A condition ("a fresh hash_seed"), or the unbiased part ("for the bits").
        rests = f"{'' if given.startswith('for ') else 'given '}{given}" if given else "not enumerated: too many coins"
        drawn = "" if self.public_complete else " (hash functions, rows or groups)"
        checked = (
            f"{'exactly' if self.moments_exact else 'to nine digits'}, over all coins, on {self.moment_items} items"
        )
        unpromised = "not promised: its estimates have no variance law" if self.moment_items else rests
        unstated = "not stated: its estimates have no variance law" if self.moment_items else rests
        lines = [
            f"{scheme_line(self.scheme)}{self._verdict}",
            f"  privacy   epsilon <= {rounded_up(self.epsilon)}{', attained' if self.attained else ''}",
            *([] if self.memo is None else [f"  memo      {self.memo}"]),
            f"  client    run on all private coins, {self.paths:,} paths: {self.covers}{drawn}",
            f"  bulk      {self._compared}",
            f"  unbiased  {({True: checked, False: 'NO', None: unpromised})[self.unbiased]}",
            f"  variance  {({True: checked, False: 'NO', None: unstated})[self.variance_exact]}",
        ]
        lines += [f"  CAUTION   {self.scheme.caution}"] * bool(self.scheme.caution)
        return "\n".join([*lines, *(f"  FINDING   {finding}" for finding in self.findings)])

    __repr__ = __str__

    @property
    def _verdict(self) -> str:
        if self.findings:
            return " DOES NOT HOLD"
        if not self.proved:
            return f": nothing wrong found on {self.covers}; the rest is NOT covered"
        proof = "" if self.complete else f", and a written proof covers the rest ({_DOCUMENT})"
        bulk = "" if self.bulk_complete else f"; bulk path compared on {self._compared_items}"
        return f" holds: the client was run on {self.covers}{proof}{bulk}"

    @property
    def _compared(self) -> str:
        if self.compared is None:
            return "not compared with the client: a report is too large"
        return f"compared with the client on {self._compared_items}, {self.tapes:,} tapes of words"

    @property
    def _compared_items(self) -> str:
        if self.compared is None:
            return "no item"
        if self.bulk_complete:
            return "every item"
        if self.compared is self.scheme:
            return f"{self.compared_items:,} items"
        return _of_smaller(self.compared_items, self.compared)


def _of_smaller(items: int, scheme: Scheme) -> str:
    # A scheme for strings has too many items for their number to matter.
    size = scheme.domain.size
    some = f"{items:,}" if size is None else f"all {size:,}" if items == size else f"{items:,} of {size:,}"
    return f"{some} items of a smaller copy of the scheme"


def scheme_line(scheme: Scheme) -> str:
    """The scheme on one line of a certificate, shortened if it is long.

    A search with all its parts would fill a page.
    """
    text = repr(scheme)
    # The text of a scheme with parts leaves out their parameters, and a certificate is for one scheme only.
    return (
        text
        if len(text) <= 200 and not scheme.components
        else f"{scheme.name} with epsilon={scheme.epsilon} ({scheme.fingerprint()[:12]})"
    )


def _count(number: int) -> str:
    if number < 10**9:
        return f"{number:,}"
    bits = number.bit_length() - 1
    return f"2^{bits}" if number == 1 << bits else f"more than 2^{bits}"
