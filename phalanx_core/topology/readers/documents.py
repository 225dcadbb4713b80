"""From paths to documents: JSON, bounded YAML, and lines of key=value."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from phalanx_core.errors import TopologyError

BYTES_MAX = 1 << 30
YAML_DEPTH_MAX = 64
RULE_LENGTH_MAX = 500
YAML_EXPANDED_MAX = 50_000_000
NUMBER_LENGTH_MAX = 1000
_KEY_VALUE = re.compile(r"[A-Za-z]\w*\s*=")
_NUMBER = re.compile(r"[-+]?(?:0x[0-9a-fA-F_]+|0b[01_]+|[0-9][0-9_:]*)")
_SPACE = re.compile(r"\s*")
_SUFFIXES = (".yaml", ".yml", ".json", ".conf", ".csv")


@dataclass(slots=True)
class Document:
    """One object of a file: a parsed JSON or YAML value, or the text of a conf or CSV."""

    file: str
    number: int
    body: Any
    is_conf: bool = False
    is_table: bool = False

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


def load(paths: Sequence[str | PathLike[str]]) -> Loaded:
    """Read files; a directory gives its known files in sorted order, "-" is stdin.

    Raises
    ------
    TopologyError
        If nothing is given, a file cannot be read, is too large, or does not parse.
    """
    if not paths:
        raise TopologyError("no file was given: a cluster needs at least one")
    files: list[str] = []
    documents: list[Document] = []
    for path in _expanded(paths):
        files.append(path)
        documents.extend(parse(path, _text(path)))
    return Loaded(tuple(files), tuple(documents))


def _expanded(paths: Sequence[str | PathLike[str]]) -> Iterator[str]:
    for path in paths:
        if str(path) != "-" and Path(path).is_dir():
            inside = sorted(p for p in Path(path).iterdir() if p.suffix in _SUFFIXES)
            if not inside:
                known = " ".join(_SUFFIXES)
                raise TopologyError(f"{path}: the directory has no file of {known}")
            yield from map(str, inside)
        else:
            yield str(path)


def _text(path: str) -> str:
    try:
        if path == "-":
            raw = sys.stdin.buffer.read(BYTES_MAX + 1)
        else:
            with open(path, "rb") as stream:
                raw = stream.read(BYTES_MAX + 1)
        if len(raw) > BYTES_MAX:
            raise TopologyError(f"{path}: a file may have at most {BYTES_MAX} bytes")
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise TopologyError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise TopologyError(f"{path}: byte {error.start}: not UTF-8 text") from None


def parse(path: str, text: str) -> Iterator[Document]:
    """Documents of one text, told apart by its content; the path is for errors.

    Raises
    ------
    TopologyError
        If the text does not parse, or holds nothing.
    """
    start = text.lstrip()
    if start[:1] in ("{", "["):
        bodies = _json(path, text)
    elif path.endswith(".csv") or _is_table(start):
        yield Document(path, 1, text, is_table=True)
        return
    elif _is_conf(text):
        yield Document(path, 1, text, is_conf=True)
        return
    else:
        bodies = _yaml(path, text)
    number = 0
    empty = True
    for body in bodies:
        empty = False
        for item in _items(path, body):
            number += 1
            yield Document(path, number, item)
    if empty:
        raise TopologyError(f"{path}: the file holds no document")


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


def _items(path: str, body: Any) -> Iterator[Any]:
    """A Kubernetes list's items, which may leave their kind to the list."""
    kind = body.get("kind") if isinstance(body, dict) else None
    if not (isinstance(kind, str) and kind.endswith("List") and "items" in body):
        yield body
        return
    items = body["items"]
    if not isinstance(items, list):
        raise TopologyError(f"{path}: {kind}: items: must be a list")
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            raise TopologyError(f"{path}: {kind}: items[{index}]: must be a mapping")
        if kind != "List" and "kind" not in item:
            version = {"apiVersion": body["apiVersion"]} if "apiVersion" in body else {}
            item = {"kind": kind[:-4], **version, **item}
        yield item


def _json(path: str, text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder()
    at = 0
    while (at := _space_end(text, at)) < len(text):
        try:
            body, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            place = f"line {error.lineno} column {error.colno}"
            raise TopologyError(f"{path}: {place}: not JSON: {error.msg}") from None
        except (ValueError, RecursionError) as error:
            raise TopologyError(f"{path}: not JSON: {_one_line(error)}") from None
        yield body


def _space_end(text: str, start: int) -> int:
    match = _SPACE.match(text, start)
    return match.end() if match else start


def _yaml(path: str, text: str) -> Iterator[Any]:
    try:
        yaml: Any = importlib.import_module("yaml")
    except ImportError:
        rule = "reading YAML needs the package pyyaml"
        install = "pip install 'phalanx_core[readers]'"
        raise TopologyError(f"{path}: {rule}: {install}") from None
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_events(path, yaml, text, loader)
        for body in yaml.load_all(text, Loader=loader):
            if body is not None:
                yield body
    except yaml.YAMLError as error:
        raise TopologyError(f"{path}: not YAML: {_one_line(error)}") from None
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        if isinstance(error, TopologyError):
            raise
        raise TopologyError(f"{path}: not YAML: {_one_line(error)}") from None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _check_events(path: str, yaml: Any, text: str, loader: Any) -> None:
    """Refuse deep nesting and aliases that expand without end, before building."""
    sizes: dict[str, int] = {}
    open_: list[tuple[str | None, int]] = []
    total = 0
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes and any(a == event.anchor for a, _ in open_):
                raise TopologyError(f"{path}: alias *{event.anchor} holds itself")
            total += sizes.get(event.anchor, 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            open_.append((event.anchor, total))
            total += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_.pop()
            if anchor is not None:
                sizes[anchor] = total - before
        elif isinstance(event, yaml.ScalarEvent):
            total += 1
            long = event.implicit[0] and len(event.value) > NUMBER_LENGTH_MAX
            if long and _NUMBER.fullmatch(event.value):
                # Hexadecimal numbers have no limit of Python's own, but in messages.
                rule = f"a number has more than {NUMBER_LENGTH_MAX} digits"
                raise TopologyError(f"{path}: {rule}")
            if event.anchor is not None:
                sizes[event.anchor] = 1
        if len(open_) > YAML_DEPTH_MAX:
            rule = f"YAML is nested deeper than {YAML_DEPTH_MAX}"
            raise TopologyError(f"{path}: {rule}")
        if total > YAML_EXPANDED_MAX:
            rule = f"YAML expands to more than {YAML_EXPANDED_MAX} values"
            raise TopologyError(f"{path}: {rule}")
