"""A reproduction of Cormode, Maddock and Maple, Frequency Estimation under Local Differential Privacy.

    plausibly reproduce --quick

Everything here is declared with the public names of ``plausibly.experiments``, as your own experiment would be.
Importing the package registers its schemes and measures by name.
"""

from __future__ import annotations

from plausibly.experiments import MEASURES, SCHEMES, Citation, Experiment

from .baselines import SEARCHES
from .ceilings import CEILINGS
from .figures import FIGURES
from .findings import FINDINGS
from .poisoned import MEASURED as POISONED
from .published_rappor import MEASURED, REFUSED
from .times import TIMED
from .top_ten import METHODS
from .variants import SKETCHES

SCHEMES.update({**SEARCHES, **SKETCHES, **REFUSED})
MEASURES.update({**CEILINGS, **METHODS, **MEASURED, **POISONED, **TIMED})

EXPERIMENT = Experiment(
    figures=list(FIGURES.values()),
    findings=FINDINGS,
    title="Frequency estimation under local differential privacy: a reproduction",
    about="The figures and tables of the paper by Cormode, Maddock and Maple (VLDB 2021), measured again with "
    "plausibly: what each shows, what the paper claims about it, and whether the claim holds.",
    citation=Citation(
        "Graham Cormode, Samuel Maddock and Carsten Maple: Frequency Estimation under Local Differential Privacy. "
        "Proceedings of the VLDB Endowment 14 (11), 2021.",
        "https://doi.org/10.14778/3476249.3476261",
    ),
    # The rows in docs/reproduction are keyed by names only.
    published=True,
)
