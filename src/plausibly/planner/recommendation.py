"""A plan: the recommended scheme, its expected errors, and the reasons against the others."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from math import sqrt
from textwrap import fill
from typing import Any

from ..core.costs import Cost
from ..core.domain import Domain
from ..core.scheme import Scheme
from ..core.wording import at_most, decimal, percent, plural, size_text
from ..search.base import Search
from ..shuffling import Shuffled
from .prediction import Prediction
from .skew import Skew, skew_in_words
from .targets import Limits, Target, share_of, two_sided

_ALMOST_NOTHING = 0.5
"""Share of users from which on the smallest detectable share is hardly worth a collection."""
_WIDTH = 110
_BULLET: dict[str, Any] = {"initial_indent": "  * ", "subsequent_indent": "    ", "break_long_words": False}


@dataclass(frozen=True, eq=False, repr=False)
class Choice:
    """A scheme with its costs, its error and the reason for or against it."""

    scheme: Scheme
    error: float
    """Root mean squared error of a count: over all items of a list; without one, of an item that nobody holds."""
    costs: Cost
    influence: float | None
    """Largest change of a count by one fake report, in users; None if the scheme does not say."""
    reason: str
    """Reason for the scheme if it is recommended, otherwise against it."""
    finds: float | None = None
    """Smallest share of users that it finds, if that decides; otherwise None, and the error decides."""

    @property
    def name(self) -> str:
        """Short name of the scheme, recommended or not, with its oracle if it has one."""
        inside = {part.scheme for part in self.scheme.components}
        return f"{self.scheme.name} over {inside.pop().name}" if len(inside) == 1 else self.scheme.name

    @property
    def row(self) -> tuple[str, str, str, str]:
        """Row in the table of a recommendation: name, error or smallest share found, report size and reason."""
        error = f"±{self.error:,.{_digits(self.error)}f}"
        return (
            self.name,
            error if self.finds is None else f"finds from {percent(self.finds)}",
            plural(self.costs.report_bytes, "byte"),
            self.reason,
        )

    def to_dict(self) -> dict[str, Any]:
        """The choice, recommended or not, JSON-ready and without the definition of its scheme."""
        return {
            "name": self.name,
            "error": self.error,
            "report_bytes": self.costs.report_bytes,
            "state_bytes": self.costs.state_bytes,
            "keeps_reports": self.costs.keeps_reports,
            "server_time": self.costs.time_text,
            "influence": self.influence,
            "finds": self.finds,
            "reason": self.reason,
        }

    def __repr__(self) -> str:
        _, error, size, reason = self.row
        unit = " users" if self.finds is None else ""
        return f"<{self.name}: {error}{unit}, {size} a report; {reason}>"


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """The result of ``plan``. ``print(plan)`` shows everything; ``plan.scheme`` is ready for use.

    ``solved`` names the quantity that the plan has determined: "epsilon", "users", or neither. ``finds`` is the
    smallest detectable share of users: with 95 % confidence (or the target's), an item with that share is found and no
    item without holders is. For strings it holds up to the longest; ``shorter`` is a shorter length and the share that
    is enough for strings of up to that length. ``notes`` compare with the paper's recommendation and give caveats.
    """

    users: int
    epsilon: Fraction
    solved: str | None
    target: Target | None
    limits: Limits
    skew: Skew
    best: Choice
    runners_up: tuple[Choice, ...]
    finds: float
    notes: tuple[str, ...]
    shorter: tuple[int, float] | None = None
    central: Shuffled | None = None
    """Central privacy of the recommended scheme, if the plan has a shuffler."""

    @property
    def scheme(self) -> Scheme:
        """Recommended scheme."""
        return self.best.scheme

    @property
    def domain(self) -> Domain:
        """Domain of the users' values, for which the scheme is recommended."""
        return self.scheme.domain

    def half_width(self, frequency: float | str = 0.0, confidence: float | str = 0.95, *, every: bool = False) -> float:
        """Half-width of the recommended scheme's interval for an item of this ``frequency``, as a share of users."""
        share = share_of("frequency", frequency, zero=True)
        items = (self.domain.size or self.limits.candidates) if every else 1
        z = two_sided(share_of("confidence", confidence), items)
        return z * sqrt(Prediction(self.scheme, self.skew).variance(self.users, share)) / self.users

    def to_dict(self) -> dict[str, Any]:
        """The plan's recommendation with the definition of its scheme, JSON-ready."""
        return {
            "users": self.users,
            "epsilon": str(self.epsilon),
            "solved": self.solved,
            "target": None if self.target is None else self._target_text,
            "limits": self.limits.to_dict(),
            "skew": self.skew,
            "recommended": self.best.to_dict(),
            "half_width": self._half_widths,
            "finds": self.finds,
            "finds_shorter": None
            if self.shorter is None
            else dict(zip(("length", "share"), self.shorter, strict=True)),
            "verdict": self.verdict,
            "runners_up": [choice.to_dict() for choice in self.runners_up],
            "notes": list(self.notes),
            "scheme": self.scheme.to_dict(),
            **({} if self.central is None else {"central": self.central.to_dict()}),
        }

    @property
    def _half_widths(self) -> dict[str, float]:
        return {"nobody": self.half_width(), "1 %": self.half_width(0.01)}

    def to_json(self) -> str:
        """The plan's recommendation as JSON text; ``plausibly.from_json`` reads its "scheme"."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    @property
    def situation(self) -> str:
        """Situation of the recommendation in one line: domain, users and epsilon."""
        return f"{self.domain.describe()}, {plural(self.users, 'user')}, ε = {decimal(self.epsilon)}"

    @property
    def verdict(self) -> str:
        """What the recommended scheme will show, in one sentence; a plan that can show next to nothing says so."""
        what = "string" if self.domain.searchable else "item"
        if self.finds >= 1 and self.shorter is not None and self.shorter[1] < 1:
            length, share = self.shorter
            seen = f"strings of at most {length} characters that {percent(share)} of users have"
            return f"This plan shows almost nothing: you would only see {seen}."
        if self.finds >= 1:
            given = f"{plural(self.users, 'user')} and ε = {decimal(self.epsilon)}"
            all_have = f"not even {_article(what)} that all users have stands out from the noise"
            return f"This plan cannot show anything: with {given}, {all_have}."
        if self.finds >= _ALMOST_NOTHING:
            seen = f"you would only see what {percent(self.finds)} of users have{self._if_shorter}"
            return f"This plan shows almost nothing: {seen}."
        return f"You will see any {what} that at least {percent(self.finds)} of users have{self._if_shorter}."

    @property
    def _if_shorter(self) -> str:
        if self.shorter is None or self.shorter[1] >= 1:
            return ""
        return f" (usually {percent(self.shorter[1])} up to {self.shorter[0]} characters)"

    def facts(self) -> list[tuple[str, str]]:
        """Expected errors and costs of the recommended scheme, as names and values."""
        best, n = self.best, self.users
        where = "over all items" if self.domain.size is not None else "for an item that nobody holds"
        counted = "a count"
        if self.domain.searchable:
            where, counted = "for a given string", "the count of a string that you name"
        found, confidence = self._targeted(), self.confidence
        what = "strings" if self.domain.searchable else "items"
        finds = f"{what} held by at least {percent(self.finds)} of the users ({percent(confidence)} confidence)"
        if self.domain.searchable:
            finds = (
                f"strings that at least {percent(self.finds)} of users have, in {percent(confidence)} of collections"
            )
        if self.shorter is not None and self.shorter[1] < 1:
            shorter = f"those of up to {self.shorter[0]} characters that {percent(self.shorter[1])} have, in about 90 %"
            finds = f"{finds}; {shorter}" if self.finds < 1 else f"only {shorter}"
        elif self.finds >= 1:
            finds = "nothing: there are too few users, or ε is too small"
        found += [
            (
                "error",
                f"±{best.error:,.{_digits(best.error)}f} users, {percent(best.error / n)} (RMSE {where})",
            ),
            ("95 % interval", f"±{percent(self.half_width())}; ±{percent(self.half_width(0.01))} if 1 % hold the item"),
            ("finds", finds),
            *self._paid(counted),
        ]
        if Prediction(self.scheme, self.skew).assumes:
            found.append(("assumed", skew_in_words(self.skew, self.domain.size)))
        return found

    @property
    def confidence(self) -> float:
        """Confidence of the recommendation: that of the target, or 95 %."""
        return 0.95 if self.target is None else float(self.target.confidence)

    @property
    def _target_text(self) -> str:
        return "" if self.target is None else self.target.text

    def _targeted(self) -> list[tuple[str, str]]:
        needed = {"epsilon": f"ε = {decimal(self.epsilon)}", "users": f"{self.users:,} users"}
        found = [] if self.central is None else [("with a shuffler", self.central.verdict)]
        found += [] if self.solved is None or self.target is None else [("needed", needed[self.solved])]
        return found if self.target is None else [*found, ("target", self._target_text)]

    def _paid(self, counted: str) -> list[tuple[str, str]]:
        # Costs, and what a fake report does to what is counted.
        best, costs = self.best, self.best.costs
        state = f"{size_text(costs.state_bytes)} of state{', every report is kept' * costs.keeps_reports}"
        found = [
            ("report", plural(costs.report_bytes, "byte")),
            ("server", f"{state}, {costs.time_text} of one core"),
        ]
        if best.influence is not None:
            found.append(("a fake report", f"moves {counted} by {at_most(best.influence)} users at most"))
        return found

    def __str__(self) -> str:
        facts = self.facts()
        width = max(len(name) for name, _ in facts)
        lines = [self.verdict, "", f"Recommended: {expression(self.scheme)}", f"  for {self.situation}", ""]
        lines += [f"  {name:<{width}}  {value}" for name, value in facts]
        if self.runners_up:
            rows = [choice.row for choice in self.runners_up]
            widths = [max(len(row[i]) for row in rows) for i in range(3)]
            lines += ["", "Why not"]
            lines += [f"  {a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}  {d}" for a, b, c, d in rows]
        lines += ["", "In plain words", *(fill(note, _WIDTH, **_BULLET) for note in self.notes)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<plan for {self.situation}: {self.best.name}, ±{self.best.error:,.0f} users>"


def expression(scheme: Scheme) -> str:
    """Python expression that makes the recommended scheme, without its list of labels."""
    if scheme.domain.searchable:
        # The preset that the plan used; all its parts would fill a page.
        assert isinstance(scheme, Search)
        length = f"typical_length={scheme.strings.length}"
        return f"TRELLIS({_argument(scheme.epsilon)}, {scheme.domain.argument}, users=..., {length})"
    named = {name: value for name, value in scheme.parameters.items() if isinstance(value, int | str)}
    if not int(named.get("hash_seed", 1)):
        del named["hash_seed"]
    given = {field.name: getattr(scheme, field.name) for field in fields(scheme)}
    words = [f"{name}={expression(part)}" for name, part in given.items() if isinstance(part, Scheme)]
    words = words or [f"epsilon={_argument(scheme.epsilon)}"]
    words.append(scheme.domain.argument)
    words += [f"{name}={value if name == 'hash_seed' else repr(value)}" for name, value in named.items()]
    words += [f"{name}={value}" for name, value in _chosen_lists(scheme).items()]
    return f"make({scheme.name!r}, {', '.join(words)})".replace("'", '"')


def _chosen_lists(scheme: Scheme) -> dict[str, Any]:
    # Lists of a scheme that do not follow from its domain.
    lists = {name: value for name, value in scheme.parameters.items() if isinstance(value, list)}
    own = {field.name for field in fields(scheme) if field.default is None} & lists.keys()
    usual = replace(scheme, **dict.fromkeys(own)).parameters if own else {}  # type: ignore[arg-type]
    return {name: lists[name] for name in lists if name in own and lists[name] != usual[name]}


def short_text(scheme: Scheme) -> str | None:
    """The recommended scheme as commands take it, such as OLH:epsilon=1,domain_size=1000; None if they need a file."""
    words = [f"epsilon={decimal(scheme.epsilon)}", scheme.domain.argument]
    words += [f"{name}={value}" for name, value in scheme.parameters.items()]
    if scheme.components or not scheme.domain.argument.startswith("domain_size="):
        return None
    return f"{scheme.name}:{','.join(words)}"


def _article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def _argument(epsilon: Fraction) -> str:
    text = decimal(epsilon)
    return repr(text) if "/" in text else text


def _digits(error: float) -> int:
    return 0 if error >= 10 else 1
