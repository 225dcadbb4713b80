"""Members of a HyperNode: by exact name, by pattern, by labels of Nodes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

from phalanx_core.topology.readers.documents import Document
from phalanx_core.topology.readers.inventory import Inventory
from phalanx_core.topology.readers.patterns import Pattern

_SELECTORS = ("exactMatch", "regexMatch", "labelMatch")
_KINDS = ("Node", "HyperNode")
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
_NO_NODES = "needs the Nodes in the same read"


class Members:
    """What a member may be: the HyperNodes, and the Nodes if the input has any."""

    def __init__(
        self, hyper_nodes: Sequence[str], labels: Mapping[str, Mapping[str, str]]
    ) -> None:
        self.labels = labels
        self.names = {"Node": sorted(labels), "HyperNode": sorted(hyper_nodes)}
        self._known = {kind: frozenset(names) for kind, names in self.names.items()}
        self._by_label: dict[tuple[str, str], list[str]] = {}
        for name in self.names["Node"]:
            for pair in labels[name].items():
                self._by_label.setdefault(pair, []).append(name)

    def knows(self, kind: str, name: str) -> bool:
        """Whether the input has an object of a kind and name."""
        return name in self._known[kind]

    def matching(self, kind: str, pattern: Pattern) -> list[str]:
        """Names that a pattern matches, sorted; only those of its prefix are tried."""
        names = self.names[kind]
        found: list[str] = []
        for at in range(bisect_left(names, pattern.prefix), len(names)):
            if not names[at].startswith(pattern.prefix):
                break
            if pattern.search(names[at]):
                found.append(names[at])
        return found

    def labelled(self, wanted: Mapping[str, str]) -> list[str]:
        """Nodes that have all of some labels, sorted."""
        rows = [self._by_label.get(pair, []) for pair in wanted.items()]
        if not rows:
            return self.names["Node"]
        fewest = min(rows, key=len)
        return [
            name
            for name in fewest
            if all(self.labels[name].get(key) == text for key, text in wanted.items())
        ]


def resolve(
    document: Document, members: Members, inventory: Inventory
) -> tuple[list[str], list[str]]:
    """Names of a HyperNode's host members and HyperNode members, each once.

    Raises
    ------
    TopologyError
        On a member of another shape, a HyperNode that is not in the input, or a
        selector that needs Nodes where the input has none.
    """
    rows = document.body["spec"].get("members")
    if rows is not None and not isinstance(rows, list):
        raise document.refuse("spec.members", "must be a list")
    found: dict[str, dict[str, None]] = {kind: {} for kind in _KINDS}
    for index, row in enumerate(rows or []):
        path = f"spec.members[{index}]"
        if not isinstance(row, dict):
            raise document.refuse(path, "must be a mapping")
        kind = row.get("type")
        if kind not in _KINDS:
            rule = f"must be Node or HyperNode, got {kind!r:.60}"
            raise document.refuse(f"{path}.type", rule)
        names = _select(document, path, row, members, inventory)
        if not names and "exactMatch" not in row["selector"]:
            why = "its pattern or labels match nothing"
            inventory.leave_out("member", why, f"{document.object_name} {path}")
        found[kind].update(dict.fromkeys(names))
    return list(found["Node"]), list(found["HyperNode"])


def _select(
    document: Document,
    path: str,
    row: dict[str, Any],
    members: Members,
    inventory: Inventory,
) -> Sequence[str]:
    selector = row.get("selector")
    if not isinstance(selector, dict):
        rule = f"must be a mapping with one of {', '.join(_SELECTORS)}"
        raise document.refuse(f"{path}.selector", rule)
    given = [key for key in _SELECTORS if selector.get(key) is not None]
    if len(given) != 1:
        said = " and ".join(given) or "none"
        rule = f"exactly one of {', '.join(_SELECTORS)} is needed, got {said}"
        raise document.refuse(f"{path}.selector", rule)
    path = f"{path}.selector.{given[0]}"
    body = selector[given[0]]
    if not isinstance(body, dict):
        raise document.refuse(path, "must be a mapping")
    kind = row["type"]
    if given[0] == "labelMatch" and kind != "Node":
        raise document.refuse(path, "selects by labels of Nodes, not HyperNodes")
    if given[0] == "exactMatch":
        return _exact(
            document,
            path,
            kind,
            _text(document, path, body, "name"),
            members,
            inventory,
        )
    if kind == "Node" and not members.labels:
        raise document.refuse(path, _NO_NODES)
    if given[0] == "labelMatch":
        return _by_labels(document, path, body, members)
    text = _text(document, path, body, "pattern")
    try:
        pattern = Pattern(text)
    except ValueError as error:
        rule = f"{text!r:.200} cannot be used: {error}"
        raise document.refuse(f"{path}.pattern", rule) from None
    return members.matching(kind, pattern)


def _exact(
    document: Document,
    path: str,
    kind: str,
    name: str,
    members: Members,
    inventory: Inventory,
) -> list[str]:
    if members.knows(kind, name):
        return [name]
    if kind == "HyperNode":
        raise document.refuse(f"{path}.name", f"HyperNode {name} is not in the input")
    if members.labels:
        # A Node that is gone takes no part; Volcano keeps such a member too.
        why = "no Node of this name is in the input"
        inventory.leave_out("member", why, name)
        return []
    return [name]


def _text(document: Document, path: str, body: dict[str, Any], key: str) -> str:
    value = body.get(key)
    if not isinstance(value, str) or not value or not value.isprintable():
        rule = f"must be a printable text, got {value!r:.60}"
        raise document.refuse(f"{path}.{key}", rule)
    return value


def _by_labels(
    document: Document, path: str, body: dict[str, Any], members: Members
) -> list[str]:
    """Nodes that meet ``matchLabels`` and every row of ``matchExpressions``."""
    wanted = body.get("matchLabels") or {}
    if not isinstance(wanted, dict) or not all(
        isinstance(key, str) and isinstance(text, str) for key, text in wanted.items()
    ):
        rule = f"must map texts to texts, got {wanted!r:.60}"
        raise document.refuse(f"{path}.matchLabels", rule)
    found = members.labelled(wanted)
    rows = body.get("matchExpressions") or []
    if not isinstance(rows, list):
        raise document.refuse(f"{path}.matchExpressions", "must be a list")
    for index, row in enumerate(rows):
        place = f"{path}.matchExpressions[{index}]"
        key, operator, values = _expression(document, place, row)
        found = [
            name
            for name in found
            if _meets(members.labels[name], key, operator, values)
        ]
    return found


def _expression(
    document: Document, path: str, row: Any
) -> tuple[str, str, frozenset[str]]:
    if not isinstance(row, dict):
        raise document.refuse(path, "must be a mapping")
    key = _text(document, path, row, "key")
    operator = row.get("operator")
    if operator not in _OPERATORS:
        rule = f"must be one of {', '.join(_OPERATORS)}, got {operator!r:.60}"
        raise document.refuse(f"{path}.operator", rule)
    values = row.get("values") or []
    texts = isinstance(values, list) and all(isinstance(text, str) for text in values)
    if not texts or bool(values) != (operator in ("In", "NotIn")):
        rule = "must be a list of texts, empty for Exists and DoesNotExist"
        raise document.refuse(f"{path}.values", rule)
    return key, operator, frozenset(values)


def _meets(
    labels: Mapping[str, str], key: str, operator: str, values: frozenset[str]
) -> bool:
    if operator == "In":
        return labels.get(key) in values
    if operator == "NotIn":
        return labels.get(key) not in values
    return (key in labels) == (operator == "Exists")
