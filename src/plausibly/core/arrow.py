"""One column of a table in memory as Arrow arrays, whichever library holds it: its memory is shared, not copied.

Libraries are recognized by their methods, so that none of them is needed, or imported, for others. pyarrow is imported
only to take over a column that another library offers through Arrow's C interface or the dataframe interchange.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .words import Words, kind_of

_OFFERS = ("to_arrow", "__arrow_c_stream__", "__arrow_c_array__", "__dataframe__")


def arrow_chunks(given: Any, what: str, error: type[Exception]) -> list[Any] | None:
    """The Arrow arrays of a column, at least one and all of one type; None if this is not an Arrow column.

    Raise ``error`` for a table of several columns; ``what`` names the argument in its message.
    """
    if _holds_objects(getattr(given, "dtype", None)) or not any(hasattr(given, offer) for offer in _OFFERS):
        return None
    several = Words(f"{what}: expected one dimension, got ", kind_of(given), "; choose a column")
    if hasattr(given, "columns") and len(given.columns) != 1:
        raise error(several)
    column = _taken(given, what, error)
    if column is None:
        return None
    # A column without chunks still has a type.
    chunks = (column.chunks or [column.combine_chunks()]) if hasattr(column, "chunks") else [column]
    if not str(column.type).startswith("struct<"):
        return list(chunks)
    if column.type.num_fields != 1:
        raise error(several)
    return [chunk.flatten()[0] for chunk in chunks]


def only_column(given: Any) -> Any:
    """The column of a pandas table that has only one, since Arrow would add its index as another; else unchanged."""
    single = hasattr(given, "iloc") and hasattr(given, "columns") and len(given.columns) == 1
    return given.iloc[:, 0] if single else given


def buffer_of(array: Any, place: int, dtype: Any, *, more: int = 0) -> npt.NDArray[Any]:
    """One of the Arrow array's buffers as NumPy numbers, one for each element and ``more`` at the end.

    Arrow's own conversion would import pandas first, which takes longer than a million values.
    """
    if not len(array):
        return np.zeros(more, dtype=dtype)
    return np.frombuffer(array.buffers()[place], dtype=dtype)[array.offset : array.offset + len(array) + more]


def _holds_objects(dtype: Any) -> bool:
    # Of pandas: Arrow would turn a column of texts and bytes, which are different items, into one of bytes.
    if hasattr(dtype, "categories"):
        return _holds_objects(getattr(dtype.categories, "dtype", None))
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def _taken(given: Any, what: str, error: type[Exception]) -> Any:
    # The column in classes of pyarrow; a table becomes a column of structs.
    if hasattr(given, "to_arrow"):  # of Polars, whose own conversion puts the bytes of texts together
        try:
            given = given.to_arrow()
        except ImportError:  # Polars without pyarrow
            return None
    if hasattr(given, "dictionary_encode"):
        return given
    try:
        import pyarrow
        from pyarrow.interchange import from_dataframe
    except ImportError:
        if hasattr(given, "__iter__"):
            return None
        raise ImportError(Words(f"{what}: taking a ", kind_of(given), " needs pyarrow: pip install pyarrow")) from None
    try:
        if hasattr(given, "__arrow_c_stream__"):
            return pyarrow.chunked_array(given)
        if hasattr(given, "__arrow_c_array__"):
            return pyarrow.array(given)
        return pyarrow.chunked_array(from_dataframe(given))
    except pyarrow.ArrowException:  # its message may show a value
        raise error(Words(f"{what}: expected an Arrow column, got ", kind_of(given), " that cannot be read")) from None
