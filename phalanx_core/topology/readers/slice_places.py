"""On which host a device of a ResourceSlice is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from phalanx_core.topology.readers.label_families import HOSTNAME

if TYPE_CHECKING:
    from phalanx_core.topology.readers.documents import Document
    from phalanx_core.topology.readers.inventory import Inventory

PLACES = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
_OWN_NAME = "metadata.name"


class Places:
    """Finds hosts; a selector counts where it names one host and no more."""

    def __init__(self, inventory: Inventory) -> None:
        self._names: dict[str, str | None] = {}
        for name, labels in inventory.node_labels.items():
            if HOSTNAME in labels:
                other = self._names.get(labels[HOSTNAME], name)
                # A host name of two Nodes names neither.
                self._names[labels[HOSTNAME]] = name if other == name else None

    def is_per_device(self, document: Document) -> bool:
        """Whether each device says itself where it is.

        Raises
        ------
        TopologyError
            If not exactly one of the four ways to say so is used.
        """
        return _only_way(document, "spec", document.body["spec"], PLACES) == PLACES[3]

    def host_of(
        self, document: Document, path: str, owner: dict[str, Any]
    ) -> str | None:
        """Host that a slice or device is on; None where it is on no single one.

        Raises
        ------
        TopologyError
            If not exactly one way is used, or a name or selector is malformed.
        """
        host = owner.get("nodeName")
        if host is None:
            return self._other(document, path, owner)
        if not isinstance(host, str) or not host or not host.isprintable():
            kind = "printable" if isinstance(host, str) and host else "a text"
            raise document.refuse(f"{path}.nodeName", f"must be {kind}, got {host!r}")
        if owner.get("nodeSelector") or owner.get("allNodes"):
            _only_way(document, path, owner, PLACES[:3])
        return host

    def _other(
        self, document: Document, path: str, owner: dict[str, Any]
    ) -> str | None:
        way = _only_way(document, path, owner, PLACES[:3])
        if way != "nodeSelector":
            return None
        selector = owner["nodeSelector"]
        path = f"{path}.nodeSelector"
        terms = (
            selector.get("nodeSelectorTerms") if isinstance(selector, dict) else None
        )
        if not isinstance(terms, list) or len(terms) != 1:
            raise document.refuse(f"{path}.nodeSelectorTerms", "must be a list of one")
        if not isinstance(terms[0], dict):
            raise document.refuse(f"{path}.nodeSelectorTerms[0]", "must be a mapping")
        for form, key in (("matchFields", _OWN_NAME), ("matchExpressions", HOSTNAME)):
            only = _only_value(document, f"{path}.{form}", terms[0].get(form), key)
            if only is not None:
                return only if key == _OWN_NAME else self._names.get(only, only)
        return None


def _only_way(
    document: Document, path: str, owner: dict[str, Any], ways: tuple[str, ...]
) -> str:
    used = [way for way in ways if owner.get(way)]
    if len(used) != 1:
        rule = f"exactly one of {', '.join(ways)} is needed, got {used}"
        raise document.refuse(path, rule)
    return used[0]


def _only_value(document: Document, path: str, rows: Any, key: str) -> str | None:
    """The one value that ``key In [value]`` allows, None where nothing says so."""
    if rows is None:
        return None
    if not isinstance(rows, list):
        raise document.refuse(path, "must be a list")
    for at, row in enumerate(rows):
        if not isinstance(row, dict):
            raise document.refuse(f"{path}[{at}]", "must be a mapping")
        values = row.get("values")
        if row.get("key") != key or row.get("operator") != "In":
            continue
        if isinstance(values, list) and len(values) == 1:
            if not isinstance(values[0], str) or not values[0].isprintable():
                rule = f"must be a printable text, got {values[0]!r}"
                raise document.refuse(f"{path}[{at}].values[0]", rule)
            return values[0] or None
    return None
