"""The result of a rehearsal: the errors of each item, and of all items together."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.scheme import Scheme
from ..core.wording import percent, safe_cell
from .truth import Truth

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Item:
    """The result of a rehearsal for one item. A value is None without a variance law or an interval."""

    item: Any
    count: int
    mean: float
    rmse: float
    predicted: float | None
    """The standard error that the scheme's variance predicts, before any post-processing."""
    coverage: float | None
    """The share of the repeats whose interval contains the true count."""
    found: float
    """The share of the repeats with the item among the k largest estimates, or among the results of a search."""


@dataclass(frozen=True)
class Found:
    """The result of rehearsed searches for the k most common strings: mean scores."""

    f1: float
    precision: float
    recall: float


@dataclass(frozen=True, eq=False, repr=False)
class Rehearsal:
    """The result of a rehearsal: for each of the most common items, and for all items together."""

    scheme: Scheme
    truth: Truth
    repeats: int
    seed: int
    postprocess: str | None
    top: tuple[Item, ...]
    rmse: float
    """Root mean squared error over all items and repeats."""
    predicted_rmse: float | None
    largest: float
    """The largest error of any item in any repeat."""
    coverage: float | None
    top_found: float
    """Mean number of the true top k among the k largest estimates."""
    told_from_zero: int | None
    """The smallest count whose interval is above zero in 95 % of the collections; None if there is none."""
    search: Found | None
    estimates: Floats
    """Estimates of the top items, one row for each repeat."""

    @property
    def fixed_hashes(self) -> bool:
        """Whether the result has the same error from shared hash functions in all repeats of the rehearsal."""
        law = self.scheme.estimator().law
        return law is not None and bool(law.collision or law.per_pair or law.per_fellow)

    def facts(self) -> list[tuple[str, str]]:
        """The result of the rehearsal for all items together, as names and sentences."""
        n, items, k = self.truth.n, len(self.truth.counts), len(self.top)
        found = [("RMSE", f"{self.rmse:,.1f} users ({percent(self.rmse / n)}) over all {items:,} items")]
        if self.predicted_rmse is None:
            found.append(("predicted", f"none: the variance of {self.scheme.name} has no closed form"))
        else:
            before = ", before post-processing" if self.postprocess else ""
            mean = ", on average over all hash functions (see below)" if self.fixed_hashes else ""
            found.append(("predicted", f"{self.predicted_rmse:,.1f} users{mean}{before}"))
        found.append(("largest error", f"{self.largest:,.0f} users, of any item in any repeat"))
        if self.coverage is not None:
            found.append(("95 % intervals", f"contain the true count in {100 * self.coverage:.1f} % of all cases"))
        elif self.postprocess is not None:
            found.append(("95 % intervals", f"none after {self.postprocess}"))
        if self.search is not None:
            scores = f"F1 {self.search.f1:.2f}, precision {self.search.precision:.2f}, recall {self.search.recall:.2f}"
            found.append((f"search for {k}", scores))
        found.append((f"the true top {k}", f"{self.top_found:.1f} of them found, on average"))
        if self.told_from_zero is not None:
            least = f"{self.told_from_zero:,} users ({percent(self.told_from_zero / n)})"
            found.append(("detectable", f"items of at least {least}, in 95 % of collections{self._other_share}"))
        elif self.predicted_rmse is not None:
            found.append(("detectable", "no item: there are too few users, or ε is too small"))
        if self.truth.others:
            found.append(("other", f"{self.truth.others:,} users have items that the scheme does not list"))
        if self.fixed_hashes:
            same = "are the same in all repeats, and so is their part of an item's error"
            found.append(("hash functions", f"{same}; the prediction is the mean over all hash_seed"))
        found.append(("", "A simulation: it knew the true counts, sent nothing, and protects nobody's data."))
        return found

    @property
    def _other_share(self) -> str:
        # Readers compare the share with that of `plausibly show`, which has another meaning.
        meant = "the 95 % interval of such an item is above zero"
        if self.search is not None:
            return f": {meant} if you name it; the share that a search needs is in plausibly show"
        return f": {meant}; to stand out among all items, as in plausibly show, an item needs more users"

    def to_dict(self) -> dict[str, Any]:
        """The whole result of the rehearsal, ready for JSON."""
        return {
            "scheme": self.scheme.name,
            "fingerprint": self.scheme.fingerprint(),
            "epsilon": str(self.scheme.epsilon),
            "data": self.truth.name,
            "users": self.truth.n,
            "items": len(self.truth.counts),
            "counted_as_other": self.truth.others,
            "repeats": self.repeats,
            "seed": self.seed,
            "postprocess": self.postprocess,
            "rmse": self.rmse,
            "predicted_rmse": self.predicted_rmse,
            "largest_error": self.largest,
            "coverage": self.coverage,
            "top_found": self.top_found,
            "told_from_zero": self.told_from_zero,
            "search": None if self.search is None else asdict(self.search),
            "top": [asdict(each) | {"item": plain(each.item)} for each in self.top],
        }

    def to_csv(self) -> str:
        """The result of the rehearsal as CSV text, one line for each item."""
        lines = [asdict(each) | {"item": safe_cell(plain(each.item))} for each in self.top]
        text = io.StringIO()
        table = csv.DictWriter(text, list(lines[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(lines)
        return text.getvalue()


def plain(item: Any) -> Any:
    if isinstance(item, bytes):
        return item.decode("utf-8", "backslashreplace")
    return int(item) if isinstance(item, np.integer) else item
