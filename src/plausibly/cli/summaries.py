"""The commands that ``plausibly --help`` lists, by panel, each with the first paragraph of its own help.

A test compares these copies with the docstrings; reading the docstrings would import every command, and NumPy.
"""

from __future__ import annotations

SUMMARIES = {
    "Start here": {
        "demo": "Watch a histogram emerge from noise: plan, privatize, collect, estimate and search on made-up visits.",
        "sample": 'Write made-up visits for trying things out: a CSV file with a column "site" and one line per user.',
    },
    "Prepare a collection": {
        "plan": (
            "Recommend a scheme, from two of --users, --epsilon and a target (--within, --find or --quantile-within)."
        ),
        "show": "Describe in words what a scheme protects, reveals and costs, for those who must sign it off.",
        "audit": (
            "Certify the ε of a scheme: run the client on every outcome of its private coins. "
            "Exit code 1 unless it holds."
        ),
        "simulate": (
            "Rehearse a collection on known counts: the actual errors, beside those that the scheme predicts."
        ),
    },
    "Collect": {
        "privatize": (
            "Randomize the value in each row of a CSV, TSV, NDJSON, Parquet or text file, and write a file of reports."
        ),
        "collect": "Add up files of reports into a tally file, ready for estimate and search.",
        "merge": "Merge tally files into a new one, as if all their reports had been collected together.",
    },
    "Run a collector": {
        "serve": "Run a collector: devices send reports over HTTP, analysts read estimates with a token.",
        "collections": (
            "Create, list, read, close or delete the collections of a collector: in its folder, or over HTTP while it "
            "runs."
        ),
        "upload": "Send files of reports to a collection of a collector, over HTTP.",
        "tokens": (
            "Create, list or revoke tokens for analysts (--scope read) or administrators (--scope admin) "
            "of a collector."
        ),
        "ledger": "Show what this device has sent: every question, every report, and the ε of all of them.",
        "backup": "Copy the folder of a collector as it is at one moment, whether the collector runs or not.",
    },
    "Learn": {
        "estimate": "Estimate how many users have each item, with confidence intervals.",
        "table": (
            "Show how the answers to two questions go together: a table with intervals, shares by row and a test."
        ),
        "changes": ("Show what changed between two tallies: the shares of all items, and which of them really differ."),
        "series": "Show the trend of a question that is asked again and again: one tally per slot, with intervals.",
        "search": "Find the most common strings, with their counts and the certainty that users have them.",
    },
    "Research": {
        "compare": "Compare schemes on a made-up crowd or on your own data: errors, F1, bytes, time.",
        "reproduce": "Measure figures and tables of the paper, check its findings, and write a report.",
    },
    "This installation": {
        "doctor": "Show versions, active kernels, threads and extras, then run every scheme once (half a minute).",
    },
}
