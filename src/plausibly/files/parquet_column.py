"""One column of a Parquet file as users' values: texts or whole numbers, named by row and never shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..core.errors import ParameterError, shown
from .text import Source, ValuesError, differs_little

_ROWS = 1 << 15
_BUFFER = 1 << 20


class ParquetColumn:
    """The values of a column in batches, with the numbers of their rows from 1; None where it is null.

    The column need not be named if there is only one. ``binary`` allows one of bytes.
    """

    def __init__(self, source: Source, column: str | None, *, binary: bool = False) -> None:
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError as error:
            needed = "pyarrow, which comes with the extra plausibly[files]: pip install pyarrow"
            raise ImportError(f"Parquet files need {needed}") from error
        if source.path is None:
            raise ParameterError("Parquet is read from its end: expected the name of a file, came a stream")
        self._arrow, self._source = pyarrow, source
        self._wrong = (pyarrow.ArrowException, OSError, ValueError, NotImplementedError, UnicodeDecodeError)
        # Whatever cannot be opened is told as of other files.
        with source.opened() as file:
            if not file.read(4).startswith(b"PAR"):
                raise source.refused("not a Parquet file")
        try:
            self._file = parquet.ParquetFile(source.path, buffer_size=_BUFFER)
            schema = self._file.schema_arrow
            self.rows: int = self._file.metadata.num_rows
            said = self._file.metadata.metadata or {}
        except self._wrong:
            raise source.refused("a Parquet file whose metadata are cut off or damaged") from None
        if b"plausibly.version" in said:
            raise self._refused("reports already; expected users' values (plausibly collect takes reports)")
        self._place = self._found(list(schema.names), column)
        self._refuse_type(schema.field(self._place).type, binary)

    def __iter__(self) -> Iterator[tuple[list[int], list[Any]]]:
        """Pairs of row numbers and values."""
        done = 0
        try:
            # By place: a name with a point in it would be taken for a path.
            name = self._file.schema_arrow.names[self._place]
            for batch in self._file.iter_batches(_ROWS, columns=[name]):
                yield list(range(done + 1, done + 1 + len(batch))), self._values(batch, name, done)
                done += len(batch)
        except ValuesError:
            raise
        except self._wrong:
            raise self._source.refused("cut off or damaged", f"after row {done}") from None
        finally:
            self._file.close()

    def _values(self, batch: Any, name: str, done: int) -> list[Any]:
        column = batch.column(batch.schema.names.index(name))
        try:
            values: list[Any] = column.to_pylist()
        except UnicodeDecodeError:
            for place, each in enumerate(column, done + 1):
                try:
                    each.as_py()
                except UnicodeDecodeError:
                    raise self._source.refused("expected text in UTF-8, came other bytes", f"row {place}") from None
            raise
        return values

    def _found(self, names: list[str], column: str | None) -> int:
        if column is None:
            if len(names) != 1:
                raise self._refused(f"expected one column, came {len(names)}; name the one to take")
            return 0
        if names.count(column) != 1:
            hint = differs_little(column, names)
            raise self._refused(
                f"expected one column named {shown(column)}, came {names.count(column)} among {len(names)}{hint}"
            )
        return names.index(column)

    def _refuse_type(self, kind: Any, binary: bool) -> None:
        types = self._arrow.types
        if types.is_dictionary(kind):
            kind = kind.value_type
        text = types.is_string(kind) or types.is_large_string(kind) or kind == self._arrow.string_view()
        bytes_ = types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)
        if not (text or types.is_integer(kind) or types.is_null(kind) or (binary and bytes_)):
            # Nested types would say the names of their fields.
            came = "a nested one" if types.is_nested(kind) else str(kind)
            why = "; whole numbers with gaps become such in pandas, but not as Int64" * types.is_floating(kind)
            raise self._refused(f"expected a column of texts or whole numbers, came {came}{why}")

    def _refused(self, why: str) -> ValuesError:
        self._file.close()
        return self._source.refused(why)
