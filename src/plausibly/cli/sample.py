"""plausibly sample: write a CSV file of made-up visits for trying out the other commands."""

from __future__ import annotations

from rich.markup import escape

from ..core.atomic import expect_suffix
from ..core.errors import StateError
from ..demo.data import SITES, counts, sites, write_sites, write_visits
from .common import echo_json, exit_on_error, messages, results
from .options.sample import SampleOptions


def sample(request: SampleOptions) -> None:
    """Run ``plausibly sample``."""
    with exit_on_error(messages(), request):
        top = list(zip(sites()[:3], counts(request.users).tolist()[:3], strict=True))
        for path in (request.out, request.list_sites):
            if path is not None and path.exists():
                raise StateError(f"{path}: the file exists already; remove it or choose another name")
        expect_suffix(request.out, [".csv"])
        if request.list_sites is not None:
            expect_suffix(request.list_sites, [".txt"])
        write_visits(request.out, request.users)
        if request.list_sites is not None:
            write_sites(request.list_sites)
    if request.as_json:
        echo_json({"file": str(request.out), "users": request.users, "sites": SITES, "top": dict(top)})
        return
    printed = results()
    printed.print(
        f"{escape(str(request.out))}: {request.users:,} made-up users, each with one of {SITES:,} sites.",
        highlight=False,
    )
    known = ", ".join(f"{site} {count:,}" for site, count in top)
    printed.print(f"The true counts, which the server never learns, begin: {known} …", highlight=False, soft_wrap=True)
