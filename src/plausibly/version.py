"""The version of the package, for those who should not import the rest of it to know."""

__version__ = "0.2.0"
