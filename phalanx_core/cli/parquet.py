"""Parquet as columns of Python values, by pyarrow, which is loaded only here."""

from __future__ import annotations

import importlib
import io
import math
from collections.abc import Mapping
from typing import Any

from phalanx_core.errors import InvalidRequest


def from_parquet(
    path: str, content: bytes
) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """Columns of a file, and the Arrow type of each.

    Raises
    ------
    InvalidRequest
        If pyarrow is missing, the file is damaged, or two columns have one name.
    """
    arrow, parquet = _pyarrow(path)
    try:
        table = parquet.ParquetFile(io.BytesIO(content)).read()
        names = list(table.column_names)
        columns = {name: table.column(at).to_pylist() for at, name in enumerate(names)}
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise InvalidRequest(f"{path}: not Parquet: {_first_line(error)}") from None
    for name in names:
        if names.count(name) > 1:
            raise InvalidRequest(
                f"{path}: the name of a column, {name!r}, occurs twice"
            )
    return columns, {one.name: one.type for one in table.schema}


def to_parquet(
    path: str, columns: Mapping[str, list[Any]], kinds: Mapping[str, Any]
) -> bytes:
    """The bytes of a file; a column that came from one has the type it had.

    Raises
    ------
    InvalidRequest
        If pyarrow is missing, or a column's values have no type in common.
    """
    arrow, parquet = _pyarrow(path)
    arrays = {}
    for name, values in columns.items():
        try:
            arrays[name] = arrow.array(
                [_known(value) for value in values], type=kinds.get(name)
            )
        except (arrow.ArrowException, TypeError, ValueError) as error:
            raise InvalidRequest(
                f"{path}: column {name}: no Parquet column: {_first_line(error)}"
            ) from None
    out = io.BytesIO()
    parquet.write_table(arrow.table(arrays), out)
    return out.getvalue()


def _pyarrow(path: str) -> tuple[Any, Any]:
    try:
        parquet = importlib.import_module("pyarrow.parquet")
        return importlib.import_module("pyarrow"), parquet
    except ImportError:
        raise InvalidRequest(
            f"{path}: Parquet needs the package pyarrow: "
            "pip install 'phalanx_core[parquet]'"
        ) from None


def _known(value: Any) -> Any:
    """What is no number is missing, as readers of Parquet expect."""
    return None if isinstance(value, float) and math.isnan(value) else value


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
