"""Health of Nodes as their cluster tells it: cordons and taints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from phalanx_core.topology.readers.documents import Document
    from phalanx_core.topology.readers.inventory import Host, Inventory

# The taint that keeps work without GPUs away; it says nothing of health.
GPU_TAINT = "nvidia.com/gpu"
# Kubernetes adds it beside spec.unschedulable, which is counted already.
_CORDON_TAINT = "node.kubernetes.io/unschedulable"


def mark(document: Document, host: Host, tolerate: tuple[str, ...]) -> None:
    """Add a Node's cordon and taints to its host.

    NoSchedule keeps new work away and is a cordon; NoExecute also ends what runs there,
    so the host counts as down. Other effects, and tolerated keys, change nothing.

    Raises
    ------
    TopologyError
        If a field is of another type.
    """
    spec = document.body.get("spec")
    if spec is None:
        return
    if not isinstance(spec, dict):
        raise document.refuse("spec", "must be a mapping")
    cordon = spec.get("unschedulable")
    if cordon is not None and not isinstance(cordon, bool):
        rule = f"must be true or false, got {cordon!r}"
        raise document.refuse("spec.unschedulable", rule)
    marks = ["spec.unschedulable"] if cordon else []
    host.cordoned |= bool(cordon)
    for key, effect in _taints(document, spec):
        if key == GPU_TAINT or key in tolerate:
            continue
        if effect == "NoSchedule":
            host.cordoned = True
        elif effect == "NoExecute":
            host.down = True
        else:
            continue
        if key != _CORDON_TAINT or not cordon:
            marks.append(f"taint {key}:{effect}")
    host.marks = tuple(dict.fromkeys([*host.marks, *marks]))


def _taints(document: Document, spec: dict[str, Any]) -> list[tuple[str, Any]]:
    taints = spec.get("taints")
    if taints is None:
        return []
    if not isinstance(taints, list):
        raise document.refuse("spec.taints", "must be a list")
    found = []
    for at, taint in enumerate(taints):
        key = taint.get("key") if isinstance(taint, dict) else None
        if not isinstance(key, str) or not key.isprintable():
            rule = "must be a mapping with a key of printable text"
            raise document.refuse(f"spec.taints[{at}]", rule)
        found.append((key, taint.get("effect")))
    return found


def tell(inventory: Inventory) -> None:
    """Note why hosts with GPUs are cordoned or down, by cause."""
    for host in inventory.hosts.values():
        if not host.gpus:
            continue
        for cause in host.marks:
            state = "down" if cause.endswith(":NoExecute") else "cordoned"
            inventory.remark(f"host {state} at its source by {cause}", host.name)
