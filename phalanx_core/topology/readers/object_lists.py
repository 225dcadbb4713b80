"""Lists of Kubernetes objects, taken apart whole or as they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from phalanx_core.errors import TopologyError
from phalanx_core.topology.readers.json_stream import JsonStream, TooLong

Keep = Callable[[Any], Any]


def json_items(stream: JsonStream, size_max: int, keep: Keep) -> Iterator[Any]:
    """What ``keep`` makes of each document of a text, or of each item of a list.

    A document longer than ``size_max`` signs is read item by item, and each is handed to
    ``keep`` before the next is parsed.

    Raises
    ------
    TopologyError
        If the text is no JSON, or a list holds something else than objects.
    """
    while stream.has_document():
        try:
            body = stream.value(size_max)
        except TooLong:
            if stream.peek() != "{":
                yield keep(stream.value())
            else:
                yield from _long_object(stream, keep)
        else:
            yield from map(keep, items_of(stream.path, body))


def items_of(path: str, body: Any) -> Iterator[Any]:
    """A list's items, which may leave their kind to the list; else the body itself.

    Raises
    ------
    TopologyError
        If the items are no list of mappings.
    """
    if not _is_list(body):
        yield body
        return
    kind, items = body["kind"], body["items"]
    if not isinstance(items, list):
        raise TopologyError(f"{path}: {kind}: items: must be a list")
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            raise _no_mapping(path, kind, index)
        yield _named(item, body)


def _is_list(body: Any) -> bool:
    kind = body.get("kind") if isinstance(body, dict) else None
    return isinstance(kind, str) and kind.endswith("List") and "items" in body


def _no_mapping(path: str, kind: str, index: int) -> TopologyError:
    return TopologyError(f"{path}: {kind}: items[{index}]: must be a mapping")


def _named(item: dict[str, Any], owner: dict[str, Any]) -> dict[str, Any]:
    """An item with the kind that a list such as NodeList gives it."""
    kind = owner["kind"]
    if kind == "List" or "kind" in item:
        return item
    version = {"apiVersion": owner["apiVersion"]} if "apiVersion" in owner else {}
    return {"kind": kind[:-4], **version, **item}


@dataclass
class _Items:
    """What became of the items of one list so far.

    ``unnamed`` are the items without a kind, by index: they wait for the list's, and
    those of the API server, which writes it first, wait least.
    """

    kept: list[Any] = field(default_factory=list)
    unnamed: dict[int, dict[str, Any]] = field(default_factory=dict)
    named_by: tuple[Any, Any] | None = None
    wrong: int | None = None

    def add(self, item: Any, owner: dict[str, Any], keep: Keep) -> None:
        """Keep an item, if what is known of its list is enough for that."""
        index = len(self.kept)
        if not isinstance(item, dict):
            self.wrong = index if self.wrong is None else self.wrong
            self.kept.append(None)
        elif "kind" in item:
            self.kept.append(keep(item))
        elif _is_list({**owner, "items": None}) and "apiVersion" in owner:
            self.named_by = (owner["kind"], owner["apiVersion"])
            self.kept.append(keep(_named(item, owner)))
        else:
            self.unnamed[index] = item
            self.kept.append(None)

    def finish(self, path: str, owner: dict[str, Any], keep: Keep) -> list[Any]:
        """All items, now that the list is known."""
        kind = owner["kind"]
        if self.wrong is not None:
            raise _no_mapping(path, kind, self.wrong)
        if self.named_by not in (None, (kind, owner.get("apiVersion"))):
            rule = "kind and apiVersion occur twice and differ"
            raise TopologyError(f"{path}: {kind}: {rule}")
        for index, item in self.unnamed.items():
            self.kept[index] = keep(_named(item, owner))
        return self.kept


def _long_object(stream: JsonStream, keep: Keep) -> list[Any]:
    """What an object gives that is too long to be held.

    kubectl writes the kind behind the items, so whether it is a list shows at its end.
    """
    body: dict[str, Any] = {}
    items = _Items()
    for key in stream.members():
        if key == "items" and stream.peek() == "[":
            items = _Items()
            for item in stream.elements():
                items.add(item, body, keep)
            body[key] = []
        else:
            body[key] = stream.value()
    if not _is_list(body):
        return [keep(body)]
    if not isinstance(body["items"], list):
        raise TopologyError(f"{stream.path}: {body['kind']}: items: must be a list")
    return items.finish(stream.path, body, keep)
