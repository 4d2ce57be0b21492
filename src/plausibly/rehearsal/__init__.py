"""Rehearsals of a collection on known counts: what ``plausibly simulate`` runs."""
