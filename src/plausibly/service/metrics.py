"""Counters of the collector as Prometheus reads them: numbers of the whole process, none of a sender."""

from __future__ import annotations

from shutil import disk_usage

from .collector import Collector
from .inbox import Outcome
from .writer import BUSY, Failure

OUTCOMES = (BUSY, *(each.name.lower() for kind in (Outcome, Failure) for each in kind))
"""The outcomes of a batch; all are shown from the start, so that an alert sees the first change."""


def metrics_text(collector: Collector) -> str:
    """The collector's counters in the text format of Prometheus."""
    counts = collector.writer.counts
    lines = _metric("batches_total", "counter", "Batches by outcome.")
    outcomes = dict.fromkeys(OUTCOMES, 0) | counts.batches
    lines += [f'plausibly_batches_total{{outcome="{name}"}} {number}' for name, number in sorted(outcomes.items())]
    for name, kind, about, value in (
        ("reports_total", "counter", "Reports that were accepted.", counts.reports),
        ("commits_total", "counter", "Commits to the inbox.", counts.commits),
        ("rolls_total", "counter", "Report files that were written.", collector.roller.rolls),
        ("failed_rolls_total", "counter", "Rolls that failed.", collector.roller.failures),
        ("dropped_reports_total", "counter", "Reports that were dropped at a close.", collector.roller.dropped),
        ("waiting_batches", "gauge", "Batches that wait for the writer.", collector.writer.waiting),
        ("disk_free_bytes", "gauge", "Room on the disk of the folder.", disk_usage(collector.folder.path).free),
    ):
        lines += [*_metric(name, kind, about), f"plausibly_{name} {value}"]
    return "\n".join(lines) + "\n"


def _metric(name: str, kind: str, about: str) -> list[str]:
    return [f"# HELP plausibly_{name} {about}", f"# TYPE plausibly_{name} {kind}"]
