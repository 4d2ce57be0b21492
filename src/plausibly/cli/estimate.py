"""plausibly estimate: counts with confidence intervals, from a tally, or from reports that a tally would keep."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from ..core.candidates import additive_estimator
from ..core.errors import ParameterError, StateError
from ..core.estimates import Estimates
from ..core.mean_only import MeanOnly
from ..core.ordered_answers import OrderedAnswer
from ..core.scheme import Scheme
from ..core.wording import shown
from ..engines.asking import scored
from ..engines.survey import survey
from ..files.contents import has_reports, is_tally
from ..files.overwriting import refuse_replacing
from ..files.tallies import Collected
from ..pages.answers import Answer
from ..pages.estimates import check_name
from ..sketches.rows import RowSketch
from .answers import show_answer, write_answer
from .asking import asked_items, expect_items, typed_items
from .common import echo_json, exit_on_error, key_of, messages, progress, results, tell_skipped
from .engines import engine_of
from .inputs import inputs_of
from .options.estimate import EstimateOptions
from .questions import mean_alone, ordered_answers


def estimate(request: EstimateOptions) -> None:
    """Run ``plausibly estimate``."""
    console = messages()
    with exit_on_error(console, request):
        for path in request.out or ():
            refuse_replacing(check_name(path), inputs_of(request))
        if request.show_all and request.top is not None:
            raise ParameterError("expected --top or --all, got both")
        source, asked = (_from_reports if _names_reports(request) else _from_tally)(console, request)
        with progress(console, "estimating", "items"):
            made, answers = _answered(source, asked, request)
            made = made if request.top is None else made.top(request.top)
            largest = max(1, len(made)) if request.show_all or request.top is not None else made.usual_number
            answer = Answer(made, source, request.level, largest, title=request.title, unit=request.unit, asked=answers)
            write_answer(console, answer, request.out or ())
    if request.as_json:
        echo_json(answer.to_dict())
    else:
        show_answer(results(), answer, request.out or ())


def _answered(
    source: Collected, asked: list[Any] | None, request: EstimateOptions
) -> tuple[Estimates, tuple[OrderedAnswer, ...]]:
    if isinstance(source.scheme.estimator(), MeanOnly):
        return mean_alone(source.tally, request)
    made = source.tally.estimate(asked, **({} if request.combine is None else {"combine": request.combine}))
    for step in request.postprocess or ():
        made = _processed(made, step)
    return made, ordered_answers(made, request)


def _names_reports(request: EstimateOptions) -> bool:
    if len(request.inputs) == 1:
        return has_reports(request.inputs[0])
    for place in filter(is_tally, request.inputs):
        raise ParameterError(f"{place}: expected one tally, got more files; merge several with plausibly merge")
    return True


def _from_tally(console: Console, request: EstimateOptions) -> tuple[Collected, list[Any] | None]:
    (tally,) = request.inputs
    for option, given in (
        ("engine", request.engine != "threads"),
        ("master", request.master is not None),
        ("skip-bad", request.skip_bad),
    ):
        if given:
            raise ParameterError(f"--{option} is for files of reports, and {tally} is not one; leave it out")
    source = Collected.read(tally, key=key_of(console, request.key_file))
    expect_items(tally, source.scheme)
    asked = _asked(console, request, source.scheme)
    if not len(source):
        raise StateError(f"{tally}: the tally has no reports; add some with plausibly collect")
    return source, asked


def _from_reports(console: Console, request: EstimateOptions) -> tuple[Collected, list[Any] | None]:
    engine, key = engine_of(request.engine, request.master), key_of(console, request.key_file)
    found = survey(request.inputs, None, skip_bad=request.skip_bad, key=key)
    additive_estimator(found.scheme)  # refuses schemes that need no candidates
    if not request.simulated:
        found.refuse_simulated()
    asked = _asked(console, request, found.scheme)
    with progress(console, "asking") as advance:
        source = scored(found, asked, engine=engine, key=key, skip_bad=request.skip_bad, progress=advance)
    tell_skipped(console, source.skipped)
    if not len(source):
        raise StateError(f"{request.inputs[0]}: there are no reports to estimate from")
    return source, asked


def _asked(console: Console, request: EstimateOptions, scheme: Scheme) -> list[Any] | None:
    typed = typed_items(request.items, request.item)
    asked = asked_items(console, scheme.answers, request.inputs[0], typed, request.items_file)
    if request.combine is not None and not isinstance(scheme, RowSketch):
        raise ParameterError(f"--combine is for sketches, and {scheme.name} is not a sketch; leave it out")
    return asked


def _processed(made: Estimates, words: str) -> Estimates:
    name, colon, rest = words.partition(":")
    options: dict[str, float] = {}
    for part in rest.split(",") if colon else ():
        option, equals, value = part.partition("=")
        try:
            options[option] = float(value)
        except ValueError:
            equals = ""
        if not (option and equals):
            raise ParameterError(f"--postprocess {shown(words)}: expected name:option=number, got {shown(part)}")
    return made.postprocess(name, **options)
