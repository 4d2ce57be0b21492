"""Domains: the possible values of a user, and their codes for schemes; one file for each kind."""

from .attributes import MISSING, Attribute
from .base import MAX_DOMAIN_SIZE, OTHER, TAKE_OTHERS, Domain, Encoded, Facts, Items, Listable
from .choices import CHOSEN, Choices
from .columns import Column, encode_column
from .in_order import InOrder
from .integers import Integers
from .items import listed, object_array, refuse
from .keys import Keys
from .labels import Labels
from .making import as_domain, expect_domain, make_domain
from .normalizing import steps_of
from .ordered import Ordered
from .registry import domain_from_dict, is_domain_kind, register_domain
from .strings import MAX_LENGTH, MAX_SYMBOLS, OTHER_CHARACTER, Strings
from .table import Table

__all__ = [
    "CHOSEN",
    "MAX_DOMAIN_SIZE",
    "MAX_LENGTH",
    "MAX_SYMBOLS",
    "MISSING",
    "OTHER",
    "OTHER_CHARACTER",
    "TAKE_OTHERS",
    "Attribute",
    "Choices",
    "Column",
    "Domain",
    "Encoded",
    "Facts",
    "InOrder",
    "Integers",
    "Items",
    "Keys",
    "Labels",
    "Listable",
    "Ordered",
    "Strings",
    "Table",
    "as_domain",
    "domain_from_dict",
    "encode_column",
    "expect_domain",
    "is_domain_kind",
    "listed",
    "make_domain",
    "object_array",
    "refuse",
    "register_domain",
    "steps_of",
]
