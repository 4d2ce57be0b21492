"""The files that a request reads, which no result may overwrite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from ..files.stores import local_path
from .options.common import Names


def inputs_of(request: Any) -> list[Path]:
    """The paths of all files that the options of a request name, except those to write."""
    found = [getattr(request, name) for name in options_that_name(Names.INPUT, type(request))]
    several = [given if isinstance(given, list) else [given] for given in found if given is not None]
    return [local_path(each) for given in several for each in given]


def options_that_name(kind: Names, options: type) -> Iterator[str]:
    """The names of all options of a command that name inputs, or outputs."""
    for name, hint in get_type_hints(options, include_extras=True).items():
        marks = [mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, Names)]
        if kind in (marks or [Names.INPUT] * _is_path(hint)):
            yield name


def _is_path(hint: Any) -> bool:
    # Also for paths within lists and unions; the rest of ``Annotated`` is no type.
    inside = get_args(hint)[:1] if get_origin(hint) is Annotated else get_args(hint)
    return hint is Path or any(map(_is_path, inside))
