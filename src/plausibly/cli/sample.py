"""plausibly sample: write a CSV file of made-up visits, or a made-up survey, for trying out the other commands."""

from __future__ import annotations

from rich.markup import escape

from ..core.atomic import expect_suffix
from ..core.errors import ParameterError, StateError
from ..demo.data import SITES, counts, sites, write_sites, write_visits
from ..demo.survey import QUESTIONS, write_questions, write_survey
from .common import echo_json, exit_on_error, messages, results
from .options.sample import SampleOptions


def sample(request: SampleOptions) -> None:
    """Run ``plausibly sample``."""
    with exit_on_error(messages(), request):
        if request.questions is not None and not request.survey:
            raise ParameterError("--questions needs --survey")
        if request.list_sites is not None and request.survey:
            raise ParameterError("expected --sites or --survey, got both")
        lists = request.questions if request.survey else request.list_sites
        for path in (request.out, lists):
            if path is not None and path.exists():
                raise StateError(f"{path}: the file exists already; remove it or choose another name")
        expect_suffix(request.out, [".csv"])
        if lists is not None:
            expect_suffix(lists, [".txt"])
        told, facts = _survey(request) if request.survey else _visits(request)
    if request.as_json:
        echo_json({"file": str(request.out), "users": request.users, **facts})
        return
    printed = results()
    for line in told:
        printed.print(escape(line), highlight=False, soft_wrap=True)


def _visits(request: SampleOptions) -> tuple[list[str], dict[str, object]]:
    top = list(zip(sites()[:3], counts(request.users).tolist()[:3], strict=True))
    write_visits(request.out, request.users)
    if request.list_sites is not None:
        write_sites(request.list_sites)
    known = ", ".join(f"{site} {count:,}" for site, count in top)
    told = [
        f"{request.out}: {request.users:,} made-up users, each with one of {SITES:,} sites.",
        f"The true counts, which the server never learns, begin: {known} …",
    ]
    return told, {"sites": SITES, "top": dict(top)}


def _survey(request: SampleOptions) -> tuple[list[str], dict[str, object]]:
    write_survey(request.out, request.users)
    if request.questions is not None:
        write_questions(request.questions)
    told = f"{request.out}: {request.users:,} made-up users, each with answers to {QUESTIONS} questions."
    return [told], {"questions": QUESTIONS}
