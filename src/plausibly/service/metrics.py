"""Counters of the collector as Prometheus reads them: numbers of the whole process, none of a sender."""

from __future__ import annotations

from .collector import Collector


def metrics_text(collector: Collector) -> str:
    """The collector's counters in the text format of Prometheus."""
    counts = collector.writer.counts
    lines = _metric("batches_total", "counter", "Batches by outcome.")
    lines += [
        f'plausibly_batches_total{{outcome="{name}"}} {number}' for name, number in sorted(counts.batches.items())
    ]
    for name, kind, about, value in (
        ("reports_total", "counter", "Reports that were accepted.", counts.reports),
        ("commits_total", "counter", "Commits to the inbox.", counts.commits),
        ("rolls_total", "counter", "Report files that were written.", collector.roller.rolls),
        ("failed_rolls_total", "counter", "Rolls that failed.", collector.roller.failures),
        ("waiting_batches", "gauge", "Batches that wait for the writer.", collector.writer.waiting),
    ):
        lines += [*_metric(name, kind, about), f"plausibly_{name} {value}"]
    return "\n".join(lines) + "\n"


def _metric(name: str, kind: str, about: str) -> list[str]:
    return [f"# HELP plausibly_{name} {about}", f"# TYPE plausibly_{name} {kind}"]
