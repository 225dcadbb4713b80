"""DeviceTaintRules of Dynamic Resource Allocation: health that administrators set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from phalanx_core.topology.readers.documents import Document
from phalanx_core.topology.readers.inventory import Inventory, Reader, Texts
from phalanx_core.topology.readers.resource_slices import GROUP
from phalanx_core.topology.readers.slice_devices import effect_of
from phalanx_core.topology.readers.taint_rules import TaintRule

KIND = "DeviceTaintRule"
VERSIONS = ("v1alpha3", "v1beta1", "v1beta2", "v1")
_CRITERIA = ("driver", "pool", "device")


class DeviceTaintRules(Reader):
    """Reader of ``kind: DeviceTaintRule``; its taints count as those of the slices do."""

    def claims(self, document: Document) -> bool:
        """A DeviceTaintRule of any version."""
        return document.kind == KIND

    def trim(self, document: Document, texts: Texts) -> None:
        """Keep selector and taint."""
        document.cut("apiVersion", "spec")

    def read(self, documents: Sequence[Document], inventory: Inventory) -> None:
        """Add the rules; the reader of slices applies them."""
        for document in documents:
            rule = _rule(document, inventory)
            if rule is not None:
                inventory.taint_rules.add(rule)
        inventory.finishers.append(_tell_unused)


def _rule(document: Document, inventory: Inventory) -> TaintRule | None:
    """The rule of an object; None, counted, where it selects by what is not known."""
    version = document.body.get("apiVersion")
    if version not in [GROUP + known for known in VERSIONS]:
        rule = f"must be {GROUP} with one of {', '.join(VERSIONS)}, got {version!r}"
        raise document.refuse("apiVersion", rule)
    spec = document.body.get("spec")
    if not isinstance(spec, dict):
        raise document.refuse("spec", "must be a mapping")
    taint: Any = spec.get("taint")
    key = taint.get("key") if isinstance(taint, dict) else None
    if not isinstance(key, str) or not key or not key.isprintable():
        raise document.refuse("spec.taint", "must be a mapping with a printable key")
    selector = spec.get("deviceSelector")
    if selector is None:
        why = "it has no deviceSelector, so it selects nothing"
        inventory.leave_out(KIND, why, document.object_name)
        return None
    if not isinstance(selector, dict):
        raise document.refuse("spec.deviceSelector", "must be a mapping")
    other = [str(name) for name in selector if name not in _CRITERIA and selector[name]]
    if other:
        why = "it selects by more than driver, pool and device"
        inventory.leave_out(KIND, why, document.object_name)
        return None
    driver, pool, device = (_text(document, selector, name) for name in _CRITERIA)
    name = document.object_name
    return TaintRule(name, key, effect_of(taint), driver, pool, device)


def _text(document: Document, selector: dict[str, Any], name: str) -> str | None:
    value = selector.get(name)
    if value is not None and (not isinstance(value, str) or not value):
        rule = f"must be a text, got {value!r}"
        raise document.refuse(f"spec.deviceSelector.{name}", rule)
    return value


def _tell_unused(inventory: Inventory) -> None:
    for rule in inventory.taint_rules.unused():
        inventory.leave_out(
            KIND, "it selects no GPU of these ResourceSlices", rule.name
        )


READER = DeviceTaintRules()
