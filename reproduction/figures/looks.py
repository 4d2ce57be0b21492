"""Colour and mark of each method, the same in every figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from plausibly.experiments import Figure, Map, Panel

LOOKS: Mapping[str, tuple[str, str]] = {
    "DE": ("#cc3311", "o"),
    "SUE": ("#ee7733", "s"),
    "OUE": ("#0077bb", "D"),
    "BLH": ("#cc3311", "o"),
    "OLH": ("#222222", "s"),
    "FLH (k′ = 100)": ("#a6dff4", "^"),
    "FLH (k′ = 500)": ("#66ccee", "<"),
    "FLH (k′ = 1,000)": ("#33aad4", ">"),
    "FLH (k′ = 5,000)": ("#1f86ad", "d"),
    "FLH (k′ = 10,000)": ("#15607d", "v"),
    "HR": ("#ee3377", "P"),
    "HM (t = 1)": ("#d6c999", "s"),
    "HM (t = 2)": ("#b8a04d", "D"),
    "HM (t = 3)": ("#997700", "^"),
    "HM (t = 4)": ("#6b5300", "v"),
    "HM (t = 5)": ("#3d3000", "<"),
    "HM (best t)": ("#6b5300", "h"),
    "HM (all products)": ("#997700", ">"),
    "SS": ("#009988", "*"),
    "TLH": ("#117733", "p"),
    "AGR": ("#882288", "o"),
    "AGR, no sketch": ("#882288", "o"),
    "Bloom filter": ("#222222", "p"),
    "CM (Mean)": ("#4da0cf", "o"),
    "CM (Median)": ("#58a070", "s"),
    "CM (Min)": ("#db7058", "D"),
    "CS (Mean)": ("#005383", "^"),
    "CS (Median)": ("#0c5324", "v"),
    "CS (Min)": ("#8f240c", "<"),
    "CM (Median), ours": ("#117733", ">"),
    "CM (Peel), ours": ("#882288", "*"),
    "CM (Mean) OUE": ("#0077bb", "D"),
    "CM (Mean) HM (t = 1)": ("#d6c999", "s"),
    "CM (Mean) HM (t = 3)": ("#997700", "^"),
    "CM (Mean) HM (best t)": ("#997700", "h"),
    "CM (Median) HM (t = 3)": ("#3d3000", ">"),
    "CM (Median) HM (best t)": ("#3d3000", "X"),
    "CM (Mean) FLH": ("#a6dff4", "<"),
    "CM (Median) FLH": ("#33aad4", "v"),
    "CM (Median) HR": ("#ee3377", "P"),
    "CM (Median) FLH, ours": ("#33aad4", "d"),
    "CM (Peel) TLH, ours": ("#117733", "p"),
    "SLIDE": ("#66aad7", "s"),
    "SLIDE, monotone": ("#0077bb", "o"),
    "HH₄": ("#88bb99", "v"),
    "HH₂, best shares": ("#117733", "^"),
    "HH₂, best shares, monotone": ("#117733", "^"),
    "HAAR": ("#222222", "D"),
    "HAAR, monotone": ("#222222", "D"),
    "SW, EMS": ("#dd6611", "*"),
    "random items": ("#117733", "o"),
    "random reports": ("#ee7733", "s"),
    "maximal gain": ("#cc3311", "D"),
    "no defence": ("#cc3311", "D"),
    "usual intervals": ("#cc3311", "D"),
    "normalization": ("#ee7733", "s"),
    "itemsets": ("#0077bb", "^"),
    "after itemsets": ("#0077bb", "^"),
    "itemsets, then normalization": ("#66aad7", "v"),
    "conditional probabilities": ("#222222", "p"),
    "after conditional probabilities": ("#222222", "p"),
    "despite_fakes": ("#117733", "*"),
    "tally.diagnose": ("#997700", "<"),
    "diagnose_reports": ("#117733", "*"),
}
"""Colour and mark by label. Shades of one colour belong to one method with several parameters."""


def with_looks(figure: Figure) -> Figure:
    """The same figure, with its methods drawn as in all other figures."""
    panels = [replace(panel, looks=LOOKS) if isinstance(panel, Panel | Map) else panel for panel in figure.panels]
    return replace(figure, panels=panels)
