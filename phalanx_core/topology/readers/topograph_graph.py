"""topograph's graph engine: instances with their network layers, nearest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from phalanx_core.topology.readers.accelerators import (
    Accelerator,
    accelerator_of,
    add_accelerators,
)
from phalanx_core.topology.readers.documents import Document
from phalanx_core.topology.readers.host_gpus import fill
from phalanx_core.topology.readers.inventory import Inventory, Reader
from phalanx_core.topology.readers.products import type_name
from phalanx_core.topology.spec import LEVELS_MAX

_LAYERS_MAX = LEVELS_MAX - 5


class TopographGraph(Reader):
    """Reader of ``{"instances": [...]}``; layer N becomes level ``tier-N``."""

    def claims(self, document: Document) -> bool:
        """A mapping with a list of instances."""
        body = document.body
        return (
            isinstance(body, dict)
            and "kind" not in body
            and isinstance(body.get("instances"), list)
        )

    def read(self, documents: Sequence[Document], inventory: Inventory) -> None:
        """Add each instance as a host with a domain a layer.

        Raises
        ------
        TopologyError
            On an instance of another shape, or a switch under two others.
        """
        layers: dict[str, tuple[str, ...]] = {}
        accelerators: dict[str, Accelerator] = {}
        types: dict[str, str] = {}
        above: dict[tuple[int, str], tuple[tuple[str, ...], str]] = {}
        for document in documents:
            for index, row in enumerate(document.body["instances"]):
                path = f"instances[{index}]"
                name, found = _instance(document, path, row)
                if name in layers:
                    raise document.refuse(f"{path}.id", f"{name} occurs twice")
                _check_tree(document, path, name, found, above)
                layers[name] = found
                accelerators[name] = _accelerator(document, path, row)
                types[name] = _type(document, path, row)
        depth = max((len(found) for found in layers.values()), default=0)
        tiers = [f"tier-{tier}" for tier in range(depth)]
        inventory.set_levels(tiers[::-1], documents[0].file)
        for name, found in layers.items():
            pairs = zip(tiers, found, strict=False)
            inventory.host(name).domains.update(
                (t, label) for t, label in pairs if label
            )
        add_accelerators(inventory, accelerators)
        file = documents[0].file
        inventory.finishers.append(
            lambda known: fill(
                known, layers, file, "its Node in the same read", types=types
            )
        )


def _instance(document: Document, path: str, row: Any) -> tuple[str, tuple[str, ...]]:
    if not isinstance(row, dict):
        raise document.refuse(path, "must be a mapping")
    name = row.get("id")
    if not isinstance(name, str) or not name or not name.isprintable():
        rule = f"must be a printable text, got {name!a:.60}"
        raise document.refuse(f"{path}.id", rule)
    layers = row.get("network_layers") or []
    texts = isinstance(layers, list) and all(
        isinstance(text, str) and text.isprintable() for text in layers
    )
    if not texts or len(layers) > _LAYERS_MAX:
        rule = f"must be a list of at most {_LAYERS_MAX} texts, got {layers!a:.60}"
        raise document.refuse(f"{path}.network_layers", rule)
    return name, tuple(layers)


def _check_tree(
    document: Document,
    path: str,
    name: str,
    layers: tuple[str, ...],
    above: dict[tuple[int, str], tuple[tuple[str, ...], str]],
) -> None:
    for tier, switch in enumerate(layers):
        rest = layers[tier + 1 :]
        known, other = above.setdefault((tier, switch), (rest, name))
        if switch and known != rest:
            rule = f"switch {switch} is under {rest} here and {known} at {other}"
            raise document.refuse(f"{path}.network_layers", f"{rule}: no tree")


def _accelerator(document: Document, path: str, row: dict[str, Any]) -> Accelerator:
    labels: dict[str, Any] = {}
    for key in ("attributes", "labels"):
        found = row.get(key) or {}
        if not isinstance(found, dict):
            raise document.refuse(f"{path}.{key}", "must be a mapping")
        labels.update(found)
    return accelerator_of(labels)


def _type(document: Document, path: str, row: dict[str, Any]) -> str:
    value = row.get("type") or "gpu"
    if not isinstance(value, str):
        raise document.refuse(f"{path}.type", f"must be a text, got {value!r:.60}")
    return type_name(value) or "gpu"


READER = TopographGraph()
