"""The crowds of the benchmarks, for tests."""

from __future__ import annotations

from bench.latent import FOURS, MIXED, YES_OR_NO, counted, latent, table

__all__ = ["FOURS", "MIXED", "YES_OR_NO", "counted", "latent", "table"]
