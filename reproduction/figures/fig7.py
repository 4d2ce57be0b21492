"""Figure 7: sketches of different sizes, with different ways to combine the rows, on clicked addresses."""

from plausibly.experiments import Figure, Sweep

from .sketches import CLICKED, CLICKS, FLH, errors, six

_LINES = six(oracle=FLH)

FIGURE = Figure(
    name="fig7",
    title="Numbers of cells and rows of sketches over FLH (k′ = 500)",
    about="A sketch hashes a large domain into r rows of c cells. The panels show the error as the number of cells and "
    "then the number of rows grows, for six ways to combine the rows: over all items and over the 50 most common, and "
    "both again with estimates clipped at zero.",
    sweeps=[
        Sweep(
            name="width",
            lines=_LINES,
            vary={"width": tuple(2**bits for bits in range(5, 12)), "rows": (32,)},
            data="url-clicks",
            n=CLICKS,
            d=CLICKED,
        ),
        Sweep(
            name="rows",
            lines=_LINES,
            vary={"rows": tuple(2**bits for bits in range(1, 10)), "width": (1024,)},
            data="url-clicks",
            n=CLICKS,
            d=CLICKED,
        ),
    ],
    panels=[
        *errors("width", "width", "c", title="Varying c, r = 32", logx=2),
        *errors("rows", "rows", "r", title="Varying r, c = 1024", logx=2),
    ],
)
