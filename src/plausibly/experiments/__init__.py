"""Experiments: crowds with known counts, scores of what a search finds among them, and how good it could be."""
