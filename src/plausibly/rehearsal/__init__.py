"""Rehearsals of a collection on known counts, which ``plausibly simulate`` runs."""
