"""plausibly estimate: counts with confidence intervals, from a tally."""

from __future__ import annotations

from ..core.errors import ParameterError, StateError
from ..core.estimates import Estimates
from ..core.wording import shown
from ..files.overwriting import refuse_replacing
from ..files.tallies import Collected
from ..pages.answers import Answer
from ..pages.estimates import check_name
from ..sketches.rows import RowSketch
from .answers import show_answer, write_answer
from .asking import asked_items, typed_items
from .common import echo_json, exit_on_error, key_of, messages, progress, results
from .inputs import inputs_of
from .options.estimate import EstimateOptions


def estimate(request: EstimateOptions) -> None:
    """Run ``plausibly estimate``."""
    console = messages()
    with exit_on_error(console, request):
        for path in request.out or ():
            refuse_replacing(check_name(path), inputs_of(request))
        if request.show_all and request.top is not None:
            raise ParameterError("expected --top or --all, got both")
        source = Collected.read(request.tally, key=key_of(console, request.key_file))
        typed = typed_items(request.items, request.item)
        asked = asked_items(console, source.scheme.answers, request.tally, typed, request.items_file)
        if request.combine is not None and not isinstance(source.scheme, RowSketch):
            raise ParameterError(f"--combine is for sketches, and {source.scheme.name} is not a sketch; leave it out")
        if not len(source):
            raise StateError(f"{request.tally}: the tally has no reports; add some with plausibly collect")
        with progress(console, "estimating", "items"):
            made = source.tally.estimate(asked, **({} if request.combine is None else {"combine": request.combine}))
            for step in request.postprocess or ():
                made = _processed(made, step)
            made = made if request.top is None else made.top(request.top)
            largest = max(1, len(made)) if request.show_all or request.top is not None else made.usual_number
            answer = Answer(made, source, request.level, largest, title=request.title, unit=request.unit)
            write_answer(console, answer, request.out or ())
    if request.as_json:
        echo_json(answer.to_dict())
    else:
        show_answer(results(), answer, request.out or ())


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
