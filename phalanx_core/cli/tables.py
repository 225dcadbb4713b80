"""Tables of rounds: named columns, read from and written as CSV, JSON or Parquet."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from phalanx_core.cli.near import did_you_mean
from phalanx_core.cli.standard_input import standard_input
from phalanx_core.errors import InvalidRequest

FORMATS = ("csv", "json", "parquet")
PARQUET_MAGIC = b"PAR1"
# A field of CSV may be as long as any text; the module's own bound is 128 KiB.
FIELD_MAX = 2**31 - 1


@dataclass(frozen=True)
class Table:
    """Columns of equal length; rows are counted from 1, without the head.

    Attributes
    ----------
    path
        Where it was read, for messages.
    columns
        Name to what stands in each row: text where the file is CSV, else as it was.
    kinds
        Name to the Arrow type of a column that was read from Parquet.
    """

    path: str
    columns: Mapping[str, list[Any]]
    kinds: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return max((len(one) for one in self.columns.values()), default=0)

    def column(self, name: str) -> list[Any]:
        """What stands in a column.

        Raises
        ------
        InvalidRequest
            If there are rows but no such column.

        Examples
        --------
        >>> Table("a.csv", {"jobs": ["a"]}).column("job")
        Traceback (most recent call last):
        ...
        phalanx_core.errors.InvalidRequest: a.csv: no column job; columns are jobs; did
        you mean jobs?
        """
        if name in self.columns:
            return self.columns[name]
        if not self.rows:
            return []
        known = ", ".join(self.columns)
        near = did_you_mean(name, self.columns)
        raise InvalidRequest(
            f"{self.path}: no column {name}; columns are {known}{near}"
        )

    def with_column(self, name: str, values: list[Any]) -> Table:
        """The table with a column more, or with other values in it."""
        kinds = {key: kind for key, kind in self.kinds.items() if key != name}
        return replace(self, columns={**self.columns, name: values}, kinds=kinds)

    def wrong(self, row: int, name: str, rule: str) -> InvalidRequest:
        """The error of one value; ``row`` counts from 0."""
        return InvalidRequest(f"{self.path}: row {row + 1}: {name}: {rule}")


def read_table(path: str) -> Table:
    """The table of a file, by its extension, or of "-", standard input, by its content.

    Raises
    ------
    InvalidRequest
        Naming the file, and the row and column where one is at fault.
    """
    content = _content(path)
    suffix = Path(path).suffix.lower()[1:]
    kind = suffix if suffix in FORMATS else _kind_of(content)
    if kind == "parquet":
        from phalanx_core.cli.parquet import from_parquet

        columns, kinds = from_parquet(path, content)
        return Table(path, columns, kinds)
    try:
        text = content.decode("utf-8-sig")
    except ValueError:
        raise InvalidRequest(f"{path}: cannot be read: not UTF-8 text") from None
    return Table(
        path, _from_json(path, text) if kind == "json" else _from_csv(path, text)
    )


def format_of(option: str, path: str) -> str:
    """The format that a file to be written has by its extension.

    Raises
    ------
    InvalidRequest
        If the extension is none of a table.

    Examples
    --------
    >>> format_of("--output", "round.JSON")
    'json'
    """
    suffix = Path(path).suffix.lower()[1:]
    if suffix not in FORMATS:
        raise InvalidRequest(f"{option} {path!r}: must end in .csv, .json or .parquet")
    return suffix


def written(table: Table, kind: str) -> bytes:
    r"""The table as the bytes of a file.

    Raises
    ------
    InvalidRequest
        If a column has no one type, for Parquet.

    Examples
    --------
    >>> written(Table("-", {"job": ["a"], "utility": [float("nan")]}), "csv")
    b'job,utility\na,\n'
    """
    if kind == "csv":
        return _to_csv(table).encode("utf-8")
    if kind == "json":
        return _to_json(table).encode("utf-8")
    from phalanx_core.cli.parquet import to_parquet

    return to_parquet(table.path, table.columns, table.kinds)


def _content(path: str) -> bytes:
    if not path:
        raise InvalidRequest("'': the path of a table must not be empty")
    stdin = standard_input() if path == "-" else None
    try:
        return stdin.read() if stdin else Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidRequest(f"{path}: cannot be read: {reason}") from None


def _kind_of(content: bytes) -> str:
    if content.startswith(PARQUET_MAGIC):
        return "parquet"
    start = content[:64].removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return "json" if start in (b"[", b"{") else "csv"


def _from_csv(path: str, text: str) -> dict[str, list[Any]]:
    csv.field_size_limit(FIELD_MAX)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        rows = [row for row in reader if row]
    except csv.Error as error:
        raise InvalidRequest(
            f"{path}: not CSV: line {reader.line_num}: {error}"
        ) from None
    if not rows:
        raise InvalidRequest(f"{path}: is empty; its first line names the columns")
    head = [name.strip() for name in rows[0]]
    for at, name in enumerate(head):
        if not name or name in head[:at]:
            rule = "occurs twice" if name else "is empty"
            raise InvalidRequest(
                f"{path}: the name of column {at + 1}, {name!r}, {rule}"
            )
    for number, row in enumerate(rows[1:], 1):
        if len(row) != len(head):
            raise InvalidRequest(
                f"{path}: row {number}: has {len(row)} values for {len(head)} columns"
            )
    return {name: [row[at] for row in rows[1:]] for at, name in enumerate(head)}


def _from_json(path: str, text: str) -> dict[str, list[Any]]:
    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise InvalidRequest(f"{path}: key {twice!r} occurs twice in one object")
        return found

    try:
        value = json.loads(text, object_pairs_hook=distinct)
    except InvalidRequest:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"{path}: not JSON: {error}") from None
    if isinstance(value, dict):
        return _of_columns(path, value)
    if not isinstance(value, list):
        raise InvalidRequest(
            f"{path}: must be a list of rows, each an object, or an object of columns, "
            "each a list"
        )
    names: dict[str, None] = {}
    for number, row in enumerate(value, 1):
        if not isinstance(row, dict):
            raise InvalidRequest(
                f"{path}: row {number}: must be an object, got {shown(row)}"
            )
        names.update(dict.fromkeys(row))
    return {name: [row.get(name) for row in value] for name in names}


def _of_columns(path: str, columns: dict[str, Any]) -> dict[str, list[Any]]:
    first: tuple[str, int] | None = None
    for name, values in columns.items():
        if not isinstance(values, list):
            raise InvalidRequest(
                f"{path}: column {name}: must be a list, got {shown(values)}"
            )
        first = first or (name, len(values))
        if len(values) != first[1]:
            raise InvalidRequest(
                f"{path}: column {name}: has {len(values)} values, column {first[0]} "
                f"has {first[1]}"
            )
    return columns


def shown(value: Any) -> str:
    """A value as messages quote it, cut where it is long.

    Examples
    --------
    >>> shown(None), shown({}), shown("x" * 99)[-6:]
    ('nothing', 'an object', 'xxx...')
    """
    if value is None or value == "":
        return "nothing"
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _to_csv(table: Table) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(
        [_word(value) for value in row]
        for row in zip(*table.columns.values(), strict=True)
    )
    return out.getvalue()


def _word(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (dict, list)):
        return json.dumps(value, default=str)
    # Python writes a float so that the same float is read back.
    return str(value)


def _to_json(table: Table) -> str:
    rows = [
        {name: _plain(value) for name, value in zip(table.columns, row, strict=True)}
        for row in zip(*table.columns.values(), strict=True)
    ]
    # One row a line: a person can read it, and a difference shows the row.
    lines = [json.dumps(row, default=str) for row in rows]
    return "[" + ",\n ".join(lines) + "]\n"


def _plain(value: Any) -> Any:
    """JSON has no number that is none."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
