"""What ``plausibly --help`` lists: the commands by panel, each with the first paragraph of its own help.

A copy, which a test compares with the docstrings: reading them there would import every command, and NumPy with them.
"""

from __future__ import annotations

SUMMARIES = {
    "Start here": {
        "demo": "Watch a histogram emerge from noise: plan, privatize, collect, estimate and search on made-up visits.",
        "sample": 'Write made-up visits to try things on: a CSV file with a column "site", one line for each user.',
    },
    "Prepare a collection": {
        "plan": "Recommend a scheme, from two of --users, --epsilon and a target (--within or --find).",
        "show": "Tell in words what a scheme protects, reveals and costs: for those who must sign it off.",
        "audit": (
            "Certify the ε of a scheme: run the shipped client on every outcome of its private coins. "
            "Exit code 1 if it fails."
        ),
        "simulate": (
            "Rehearse a collection on known counts: the errors to expect, beside those that the scheme predicts."
        ),
    },
    "Collect": {
        "privatize": (
            "Write a file of reports: the value in each row of a CSV, TSV, NDJSON, Parquet or text file, randomized."
        ),
        "collect": "Add up files of reports into a tally file, ready for estimate and search.",
        "merge": "Merge tally files into a new one: the same as if all their reports had been collected together.",
    },
    "Learn": {
        "estimate": "Estimate how many users hold each item, with confidence intervals.",
        "search": "Find the most common strings, with their counts and how certain it is that users hold them.",
    },
    "Research": {
        "compare": "Compare schemes on a made-up crowd or on your own data: errors, F1, bytes, time.",
        "reproduce": "Measure figures and tables of the paper, check its findings, and write a report.",
    },
    "This installation": {
        "doctor": "Show versions, active kernels, threads and extras, then run every scheme once (about ten seconds).",
    },
}
