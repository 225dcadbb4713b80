"""Plain tables, one row a GPU: CSV by its header, JSON by ``levels`` and ``leaves``."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from phalanx_core.errors import TopologyError
from phalanx_core.topology.readers.documents import Document
from phalanx_core.topology.readers.inventory import (
    Gpu,
    Host,
    Inventory,
    Reader,
    natural,
)

HEALTHS = ("up", "suspect", "down", "cordoned")
RAIL_MAX = 1023
_OPTIONAL = ("type", "nic_rail", "health")
_OWN = ("host", "gpu", *_OPTIONAL)
_DIGITS_MAX = 4
# A row of text cells by column, and where it stands.
_Row = tuple[str, Mapping[str, str]]


@dataclass
class _Seen:
    """A host as its rows say it: where it is, and the place and health of its GPUs."""

    where: str
    domains: dict[str, str]
    gpus: dict[str, tuple[str, str]] = field(default_factory=dict)


class Tables(Reader):
    """Reader of CSV and JSON tables; all tables of a read have the same levels."""

    def claims(self, document: Document) -> bool:
        """A CSV text, or a mapping of levels and leaves."""
        body = document.body
        return document.is_table or (
            isinstance(body, dict)
            and "kind" not in body
            and {"levels", "leaves"} <= body.keys()
        )

    def read(self, documents: Sequence[Document], inventory: Inventory) -> None:
        """Add hosts, GPUs and domains row by row.

        Raises
        ------
        TopologyError
            Naming file, line or index, column and rule of the first bad row.
        """
        levels: list[str] | None = None
        seen: dict[str, _Seen] = {}
        for document in documents:
            rows = _csv_rows(document) if document.is_table else _json_rows(document)
            found, first = next(rows), documents[0].file
            if levels is not None and found != levels:
                rule = f"levels {found} differ from {levels} of {first}"
                raise TopologyError(f"{document.file}: {rule}")
            levels = found
            for where, row in rows:
                _add(where, row, levels, seen, inventory)
        inventory.set_levels(levels or [], documents[0].file)
        for name, host in seen.items():
            _close(inventory.host(name), host)


def _add(
    where: str,
    row: Mapping[str, str],
    levels: Sequence[str],
    seen: dict[str, _Seen],
    inventory: Inventory,
) -> None:
    for column, text in row.items():
        if not text.isprintable():
            rule = f"must be printable, got {text!a:.60}"
            raise TopologyError(f"{where}: {column}: {rule}")
    name, gpu = row["host"], row["gpu"]
    for column, text in (("host", name), ("gpu", gpu)):
        if not text:
            raise TopologyError(f"{where}: {column}: must not be empty")
    domains = {level: row[level] for level in levels if row.get(level)}
    host = inventory.host(name)
    known = seen.get(name)
    if known is None:
        known = seen[name] = _Seen(where, domains)
        # A table names every GPU, so it replaces a Node's bare count.
        host.gpus, host.domains = [], domains
    if known.domains != domains:
        wrong = next(k for k in levels if known.domains.get(k) != domains.get(k))
        ours, theirs = domains.get(wrong, ""), known.domains.get(wrong, "")
        rule = f"{ours!r}, but host {name} is in {theirs!r} at {known.where}"
        raise TopologyError(f"{where}: {wrong}: {rule}")
    if gpu in known.gpus:
        rule = f"{gpu} of host {name} is already at {known.gpus[gpu][0]}"
        raise TopologyError(f"{where}: gpu: {rule}")
    health = row.get("health") or "up"
    if health not in HEALTHS:
        rule = f"must be one of {', '.join(HEALTHS)}, got {health!r:.60}"
        raise TopologyError(f"{where}: health: {rule}")
    known.gpus[gpu] = where, health
    made = Gpu(gpu, row.get("type") or "gpu", health in ("suspect", "down"))
    rail = row.get("nic_rail") or ""
    if rail:
        digits = rail.isascii() and rail.isdecimal() and len(rail) <= _DIGITS_MAX
        if not digits or int(rail) > RAIL_MAX:
            rule = f"must be a whole number from 0 to {RAIL_MAX}, got {rail!r:.60}"
            raise TopologyError(f"{where}: nic_rail: {rule}")
        made.nic_rail = int(rail)
    host.gpus.append(made)


def _close(host: Host, seen: _Seen) -> None:
    """Order a host's GPUs by name and settle what its rows say together."""
    host.gpus.sort(key=lambda gpu: natural(gpu.name))
    cordoned = [w for w, health in seen.gpus.values() if health == "cordoned"]
    if cordoned and len(cordoned) < len(seen.gpus):
        other = next(w for w, health in seen.gpus.values() if health != "cordoned")
        rule = f"a cordon is of a whole host, but {host.name} has none at {other}"
        raise TopologyError(f"{cordoned[0]}: health: {rule}")
    host.cordoned = host.cordoned or bool(cordoned)


def _csv_rows(document: Document) -> Iterator[Any]:
    """The levels, then a row of cells a GPU."""
    lines = csv.reader(io.StringIO(document.body, newline=""), strict=True)
    columns: list[str] = []
    levels: list[str] = []
    while True:
        try:
            cells = [cell.strip() for cell in next(lines)]
        except StopIteration:
            break
        except csv.Error as error:
            where = f"{document.file}: line {lines.line_num}"
            raise TopologyError(f"{where}: not CSV: {error}") from None
        where = f"{document.file}: line {lines.line_num}"
        if not any(cells):
            continue
        if not columns:
            columns = cells
            levels = _header(where, cells)
            yield levels
        elif len(cells) != len(columns):
            rule = f"{len(cells)} cells, but the header has {len(columns)}"
            raise TopologyError(f"{where}: {rule}")
        else:
            yield where, dict(zip(columns, cells, strict=True))
    if not columns:
        raise TopologyError(f"{document.file}: a header line is needed")


def _header(where: str, columns: Sequence[str]) -> list[str]:
    """Level names, broadest first: the columns before ``host``."""
    where = f"{where}: header"
    for name in columns:
        if not name or not name.isprintable():
            rule = f"a column must have a printable name, got {name!a:.60}"
            raise TopologyError(f"{where}: {rule}")
        if list(columns).count(name) > 1:
            raise TopologyError(f"{where}: column {name} occurs twice")
    for needed in ("host", "gpu"):
        if needed not in columns:
            shown = ", ".join(columns)
            rule = f"column {needed} is needed, separated by commas, got {shown:.200}"
            raise TopologyError(f"{where}: {rule}")
    at = list(columns).index("host")
    levels = list(columns[:at])
    if list(columns[at + 1 : at + 2]) != ["gpu"]:
        raise TopologyError(f"{where}: column gpu must follow host")
    for name in columns[at + 2 :]:
        if name not in _OPTIONAL:
            rule = f"column {name}: levels stand before host, and after gpu only"
            raise TopologyError(f"{where}: {rule} {', '.join(_OPTIONAL)}")
    _check_levels(where, levels)
    return levels


def _check_levels(where: str, levels: Sequence[Any]) -> None:
    for name in levels:
        if not isinstance(name, str) or not name or not name.isprintable():
            rule = f"a level's name must be a printable text, got {name!r:.60}"
            raise TopologyError(f"{where}: {rule}")
        if name in _OWN:
            raise TopologyError(f"{where}: {name} is no name of a level")


def _json_rows(document: Document) -> Iterator[Any]:
    """The levels, then a row of texts a GPU."""
    levels, leaves = document.body["levels"], document.body["leaves"]
    for path, value in (("levels", levels), ("leaves", leaves)):
        if not isinstance(value, list):
            raise document.refuse(path, "must be a list")
    _check_levels(f"{document.where}: levels", levels)
    yield levels
    known = (*levels, *_OWN)
    for index, leaf in enumerate(leaves):
        path = f"leaves[{index}]"
        if not isinstance(leaf, dict):
            raise document.refuse(path, "must be a mapping")
        row = dict.fromkeys(("host", "gpu"), "")
        for key, value in leaf.items():
            if key not in known:
                raise document.refuse(f"{path}.{key}", "is no level and no column")
            if value is None:
                continue
            if key == "nic_rail" and type(value) is int:
                value = str(value)
            if not isinstance(value, str):
                rule = f"must be a text, got {value!r:.60}"
                raise document.refuse(f"{path}.{key}", rule)
            row[key] = value
        yield f"{document.where}: {path}", row


READER = Tables()
