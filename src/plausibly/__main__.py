"""python -m plausibly: the command line."""

from .cli import app

app()
