"""Without a C compiler there is no library to compare with its twins, and the NumPy path must pass alone.

`make` says so when it installs; `.ci/run` fails where the library was not built.
"""

from plausibly.kernels import native

collect_ignore = [] if native._LIBRARY.exists() else ["test_loading.py", "test_native_equals_reference.py"]
