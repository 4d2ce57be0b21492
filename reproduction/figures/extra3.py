"""Not shown in the paper: Norm-Sub on the rows of a sketch, on its estimates, and on both (section 7.6)."""

from plausibly.experiments import Figure, Sweep, View, line, view

from .sketches import DOMAINS, USERS, errors, over


def _way(rows: str | None, *estimates: str) -> View:
    return view(*estimates, combine="median", **{"postprocess_rows": rows} if rows else {})


_ONCE = "norm-sub-once"
"""The paper's Norm-Sub."""
_LINES = {
    "No post-processing": _way(None),
    "Rows": _way(_ONCE),
    "Estimates": _way(None, _ONCE),
    "Rows and estimates": _way(_ONCE, _ONCE),
}
_OURS = {
    "Estimates, simplex": _way(None, "simplex"),
    "Rows and estimates, simplex": _way("simplex", "simplex"),
}

FIGURE = Figure(
    name="extra3",
    title="Norm-Sub in CM (Median), ours, over FLH (k′ = 500), r = 32, c = 1024",
    about="Norm-Sub makes the counts add up to the number of users. It can be applied to each row of a sketch, to the "
    "final estimates, or to both. The median is ours, which subtracts the median of all cells, and not the text's, "
    "which subtracts n/c. Other papers use the name Norm-Sub for the step that is called simplex here.",
    sweeps=[
        Sweep(
            name="domain",
            lines=[
                line(label, "CM", view=way, ours=label in _OURS, **over("FLH", hashes=500))
                for label, way in {**_LINES, **_OURS}.items()
            ],
            vary={"d": DOMAINS},
            n=USERS,
        ),
    ],
    panels=errors("domain", "d", "items, d", optimum=True),
)
