"""The collector: devices send reports over HTTP, analysts read estimates, and no crash changes a count.

docs/collector.md is the guide, docs/adr/0035-the-collector.md gives the reasons.
"""
