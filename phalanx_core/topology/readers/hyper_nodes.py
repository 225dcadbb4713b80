"""Volcano's ``HyperNode``: domains over hosts and over each other, by tier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from phalanx_core.errors import TopologyError
from phalanx_core.topology.readers.documents import Document
from phalanx_core.topology.readers.host_gpus import fill
from phalanx_core.topology.readers.hyper_members import Members, resolve
from phalanx_core.topology.readers.inventory import Inventory, Reader, Texts
from phalanx_core.topology.readers.label_families import RESERVED

VERSION = "topology.volcano.sh/v1alpha1"
TIER_MAX = 1 << 31


@dataclass
class HyperNode:
    """One HyperNode: its tier, and what its members turned out to be."""

    name: str
    document: Document
    tier: int
    tier_name: str
    hosts: list[str] = field(default_factory=list)
    children: list[str] = field(default_factory=list)
    parent: str = ""


class HyperNodes(Reader):
    """Reader of ``kind: HyperNode``; smaller tiers are nearer."""

    def claims(self, document: Document) -> bool:
        """A HyperNode of any version."""
        return document.kind == "HyperNode"

    def trim(self, document: Document, texts: Texts) -> None:
        """Keep what tells the shape, and the members."""
        document.cut("apiVersion", "version", "name", "spec")

    def read(self, documents: Sequence[Document], inventory: Inventory) -> None:
        """Add hosts with their domain at every tier.

        Raises
        ------
        TopologyError
            On an object of another shape, an unknown member, two domains over one
            member, or a member whose tier is not below its own.
        """
        made: dict[str, HyperNode] = {}
        for document in documents:
            row = _hyper_node(document)
            before = made.get(row.name)
            if before is None:
                made[row.name] = row
            elif before.document.body != document.body:
                rule = f"{before.document.where} is another HyperNode of this name"
                raise document.refuse("metadata.name", rule)
        members = Members(list(made), inventory.node_labels)
        for row in made.values():
            row.hosts, row.children = resolve(row.document, members, inventory)
        hosts = _adopt(made, inventory)
        _name_levels(made, hosts, inventory)
        file = documents[0].file
        inventory.finishers.append(
            lambda known: fill(known, hosts, file, "its Node in the same read")
        )


def _hyper_node(document: Document) -> HyperNode:
    body = document.body
    if "apiVersion" not in body and "version" in body:
        draft = str(body.get("name"))
        raise TopologyError(
            f"{document.file}: HyperNode {draft!r}: version: the draft shape with version "
            f"and name at the top is no HyperNode: apiVersion: {VERSION}, metadata.name "
            "and members[].selector are needed"
        )
    version = body.get("apiVersion")
    if version != VERSION:
        raise document.refuse("apiVersion", f"must be {VERSION}, got {version!r}")
    metadata = body.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not isinstance(name, str) or not name or not name.isprintable():
        raise document.refuse(
            "metadata.name", f"must be a printable text, got {name!r}"
        )
    spec = body.get("spec")
    if not isinstance(spec, dict):
        raise document.refuse("spec", "must be a mapping")
    tier = spec.get("tier", 0)
    whole = isinstance(tier, int) and not isinstance(tier, bool)
    if not whole or not 0 <= tier < TIER_MAX:
        raise document.refuse("spec.tier", f"must be a whole number >= 0, got {tier!r}")
    tier_name = spec.get("tierName", "")
    if not isinstance(tier_name, str) or not (tier_name.isprintable()):
        rule = f"must be a printable text, got {tier_name!r}"
        raise document.refuse("spec.tierName", rule)
    return HyperNode(name, document, tier, tier_name)


def _adopt(made: Mapping[str, HyperNode], inventory: Inventory) -> dict[str, str]:
    """Set each HyperNode's parent; returns the HyperNode of each host."""
    hosts: dict[str, str] = {}
    for row in made.values():
        for child in row.children:
            below = made[child]
            if below.tier >= row.tier:
                rule = (
                    f"HyperNode {child} has tier {below.tier}: a member's tier must be "
                    f"below {row.tier}, the tier of {row.name}"
                )
                raise row.document.refuse("spec.members", rule)
            if below.parent:
                rule = f"HyperNode {child} is also a member of {below.parent}"
                raise row.document.refuse("spec.members", f"{rule}: no tree")
            below.parent = row.name
        for host in row.hosts:
            if hosts.setdefault(host, row.name) != row.name:
                _overlap(row, host, made[hosts[host]])
    for row in made.values():
        if not row.hosts and not row.children:
            why = "it has no members among the hosts"
            inventory.leave_out("HyperNode", why, row.name)
    return hosts


def _overlap(row: HyperNode, host: str, other: HyperNode) -> None:
    rule = f"Node {host} is also a member of HyperNode {other.name}"
    raise row.document.refuse("spec.members", f"{rule}: no tree")


def _name_levels(
    made: Mapping[str, HyperNode], hosts: Mapping[str, str], inventory: Inventory
) -> None:
    """One level a tier that holds a host, and each host's domain on it."""
    paths: dict[str, dict[int, str]] = {}
    for row in made.values():
        at, path = row.name, {}
        while at:
            path[made[at].tier] = at
            at = made[at].parent
        paths[row.name] = path
    tiers = sorted({tier for name in hosts.values() for tier in paths[name]})
    names = _tier_names(made, tiers, inventory)
    inventory.set_levels([names[tier] for tier in reversed(tiers)], "Volcano")
    for host, name in hosts.items():
        domains = inventory.host(host).domains
        for tier, domain in paths[name].items():
            domains[names[tier]] = domain


def _tier_names(
    made: Mapping[str, HyperNode], tiers: Sequence[int], inventory: Inventory
) -> dict[int, str]:
    """``tierName`` where all of a tier agree on one that no other level has."""
    given: dict[int, list[str]] = {
        tier: sorted({row.tier_name for row in made.values() if row.tier == tier})
        for tier in tiers
    }
    single = [names[0] for names in given.values() if len(names) == 1]
    chosen: dict[int, str] = {}
    for tier, names in given.items():
        own = len(names) == 1 and single.count(names[0]) == 1
        usable = own and names[0] not in ("", *RESERVED)
        # A generated name may be another tier's own.
        chosen[tier] = (
            names[0] if usable and names[0][:5] != "tier-" else f"tier-{tier}"
        )
        if not usable and names != [""]:
            shown = ", ".join(name or "none" for name in names)
            inventory.notes.append(
                f"tier {tier} of HyperNodes is named {shown}: its level is tier-{tier}"
            )
    return chosen


READER = HyperNodes()
