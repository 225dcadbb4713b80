"""From texts to documents: JSON, YAML, lines of key=value, tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from os import PathLike
from typing import Any

from phalanx_core.errors import TopologyError
from phalanx_core.topology.readers.json_stream import JsonStream
from phalanx_core.topology.readers.object_lists import items_of, json_items
from phalanx_core.topology.readers.sources import (
    Meter,
    Progress,
    expanded,
    pieces,
    total_size,
)
from phalanx_core.topology.readers.yaml_documents import yaml_bodies

RULE_LENGTH_MAX = 500
# A text that is no JSON is held whole.
TEXT_MAX = 1 << 30
# A JSON document of up to so many signs is parsed at once, a longer one item by item.
WHOLE_MAX = 1 << 20
_KEY_VALUE = re.compile(r"[A-Za-z]\w*\s*=")


@dataclass(slots=True)
class Document:
    """One object of a file: a parsed JSON or YAML value, or the text of a conf or CSV.

    ``claimed_by`` is the index of the reader that knows it, None where none does.
    """

    file: str
    number: int
    body: Any
    is_conf: bool = False
    is_table: bool = False
    claimed_by: int | None = None

    @property
    def kind(self) -> str:
        """The Kubernetes kind, or "" for anything else."""
        kind = self.body.get("kind") if isinstance(self.body, dict) else None
        return kind if isinstance(kind, str) else ""

    @property
    def object_name(self) -> str:
        """``metadata.name`` as written, or the document's number."""
        body = self.body if isinstance(self.body, dict) else {}
        metadata = body.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        if not isinstance(name, str) or not name:
            return f"document {self.number}"
        return shown(name)

    @property
    def where(self) -> str:
        """File, kind and name: the start of an error message."""
        return f"{self.file}: {self.kind + ' ' if self.kind else ''}{self.object_name}"

    def cut(self, *fields: str) -> None:
        """Keep the object's kind and name, and these fields of it."""
        kept = {key: self.body[key] for key in fields if key in self.body}
        metadata = self.body.get("metadata")
        if isinstance(metadata, dict):
            kept["metadata"] = {"name": metadata["name"]} if "name" in metadata else {}
        self.body = {"kind": self.kind, **kept}

    def refuse(self, path: str, rule: str) -> TopologyError:
        """Error that names file, object, field and rule, and shows what can be shown."""
        # A rule quotes the value that breaks it, which may be a whole file.
        if len(rule) > RULE_LENGTH_MAX:
            rule = rule[:RULE_LENGTH_MAX] + "..."
        return TopologyError(f"{self.where}: {shown(path)}: {rule}")


def shown(text: str) -> str:
    r"""Text as a terminal may show it; what would steer one is written as its code.

    Examples
    --------
    >>> shown("rack"), shown("a" + chr(27))
    ('rack', "'a\\x1b'")
    """
    return text if text.isprintable() else ascii(text)


@dataclass(frozen=True)
class Loaded:
    """The files that were read, and their documents with lists taken apart."""

    files: tuple[str, ...]
    documents: tuple[Document, ...]


Claim = Callable[[Document], None]


def load(
    paths: Sequence[str | PathLike[str]],
    claim: Claim,
    progress: Progress | None = None,
) -> Loaded:
    """Read files; a directory gives its known files in sorted order, "-" is stdin.

    Parameters
    ----------
    paths
        Files, directories or "-".
    claim
        Called with each document as soon as it is parsed: it may cut its body down to
        what is needed, so that no more than that of all files is held.
    progress
        Called with the bytes read so far and all bytes, None where that is not known;
        once more at the end, where the two are the same.

    Raises
    ------
    TopologyError
        If nothing is given, a file cannot be read, is too large, or does not parse.
    """
    if not paths:
        raise TopologyError("no file was given: a cluster needs at least one")
    files = tuple(expanded(paths))
    documents: list[Document] = []
    meter = Meter(progress, total_size(files) if progress is not None else None)
    for path in files:
        documents += parse(path, pieces(path, meter), claim)
    meter.finish()
    return Loaded(files, tuple(documents))


def parse(path: str, text: Iterator[str], claim: Claim) -> list[Document]:
    """Documents of one text, told apart by its content; the path is for errors.

    Raises
    ------
    TopologyError
        If the text does not parse, or holds nothing.
    """
    number = 0

    def keep(body: Any, **kind: bool) -> Document:
        nonlocal number
        number += 1
        document = Document(path, number, body, **kind)
        claim(document)
        return document

    first = ""
    for piece in text:
        first += piece
        if piece and not piece.isspace():
            break
    if first.lstrip()[:1] in ("{", "["):
        stream = JsonStream(path, chain([first], text))
        return list(json_items(stream, WHOLE_MAX, keep))
    whole = _joined(path, chain([first], text))
    if path.endswith(".csv") or _is_table(whole.lstrip()):
        return [keep(whole, is_table=True)]
    if _is_conf(whole):
        return [keep(whole, is_conf=True)]
    found: list[Document] = []
    is_empty = True
    for body in yaml_bodies(path, whole):
        is_empty = False
        found += map(keep, items_of(path, body))
    if is_empty:
        raise TopologyError(f"{path}: the file holds no document")
    return found


def _joined(path: str, text: Iterator[str]) -> str:
    parts: list[str] = []
    size = 0
    for piece in text:
        parts.append(piece)
        size += len(piece)
        if size > TEXT_MAX:
            rule = f"a text that is no JSON may have at most {TEXT_MAX} characters"
            raise TopologyError(f"{path}: {rule}")
    return "".join(parts)


def _is_table(start: str) -> bool:
    """Whether the first line is the header of a table with a GPU a row."""
    words = [word.strip(' "\r') for word in start.split("\n", 1)[0].split(",")]
    return "host" in words and "gpu" in words


def _is_conf(text: str) -> bool:
    for line in text.splitlines():
        words = line.strip()
        if words and not words.startswith("#"):
            return _KEY_VALUE.match(words) is not None
    return False
