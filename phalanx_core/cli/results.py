"""What happened to each job, in the names a person uses; becomes table or JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from phalanx_core.cli.jobs_file import JobSpec
from phalanx_core.placement import Misfit
from phalanx_core.topology import Topology


@dataclass(frozen=True)
class HostRanks:
    """The ranks of one job on one host, and the leaf of each."""

    host: str
    ranks: tuple[int, ...]
    leaves: tuple[str, ...]


@dataclass(frozen=True)
class GroupRanks:
    """One group's ranks and the domain that they share."""

    ranks: tuple[int, ...]
    domain: str


@dataclass(frozen=True)
class Placed:
    """One job of the jobs file.

    Attributes
    ----------
    status
        "placed", "kept" (it was in the state) or "refused".
    level, domain
        Level and name of the smallest domain that holds it; None when refused.
    """

    spec: JobSpec
    status: str
    type: str
    level: str | None = None
    domain: str | None = None
    hosts: tuple[HostRanks, ...] = ()
    groups: tuple[GroupRanks, ...] = ()
    misfit: Misfit | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for JSON; field names are documented."""
        return {
            "name": self.spec.name,
            "status": self.status,
            "type": self.type,
            "ranks": self.spec.ranks,
            "group": self.spec.group,
            "parts": [part.ranks for part in self.spec.parts],
            "level": self.level,
            "domain": self.domain,
            "hosts": [
                {"host": h.host, "ranks": list(h.ranks), "leaves": list(h.leaves)}
                for h in self.hosts
            ],
            "groups": [
                {"ranks": list(g.ranks), "domain": g.domain} for g in self.groups
            ],
            "misfit": self.misfit.to_dict() if self.misfit is not None else None,
        }


@dataclass(frozen=True)
class Change:
    """One host's leaves before and after a repair, a character each."""

    host: str
    before: str
    after: str


@dataclass(frozen=True)
class Mended:
    """One job that an event hit.

    Attributes
    ----------
    status
        "repaired", "refused", or where a round could start it elsewhere, "restarted".
    moves
        Rank, leaf name before, leaf name after.
    """

    name: str
    status: str
    moves: tuple[tuple[int, str, str], ...] = ()
    level_before: str | None = None
    level_after: str | None = None
    spares_used: int = 0
    changes: tuple[Change, ...] = ()
    misfit: Misfit | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for JSON; field names are documented."""
        return {
            "name": self.name,
            "status": self.status,
            "moves": [
                {"rank": rank, "from": old, "to": new} for rank, old, new in self.moves
            ],
            "level_before": self.level_before,
            "level_after": self.level_after,
            "spares_used": self.spares_used,
            "changes": [
                {"host": c.host, "before": c.before, "after": c.after}
                for c in self.changes
            ],
            "misfit": self.misfit.to_dict() if self.misfit is not None else None,
        }


@dataclass(frozen=True)
class Event:
    """One --fail or --drain, or the repairs owed from a run before ("resume")."""

    kind: str
    target: str
    leaves: tuple[str, ...]
    hit: tuple[Mended, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for JSON; field names are documented."""
        return {
            "event": self.kind,
            "target": self.target,
            "leaves": list(self.leaves),
            "hit": [mended.to_dict() for mended in self.hit],
        }


def domain_of(topology: Topology, level: int, leaf: int) -> str:
    """Name of a leaf's domain, or the leaf's own name where it has none there."""
    domain = int(topology.domain_of(level)[leaf])
    if domain < 0:
        return topology.names[leaf]
    return topology.domain_name(level, domain)


def host_ranks(topology: Topology, leaves: Sequence[int]) -> Iterator[HostRanks]:
    """Ranks by host, in the order in which rank order meets the hosts."""
    by_host: dict[str, list[int]] = {}
    for rank, leaf in enumerate(leaves):
        by_host.setdefault(domain_of(topology, 1, leaf), []).append(rank)
    for host, ranks in by_host.items():
        names = tuple(topology.names[leaves[rank]] for rank in ranks)
        yield HostRanks(host, tuple(ranks), names)


def group_ranks(
    topology: Topology, leaves: Sequence[int], group: int, level: int, ranks: range
) -> Iterator[GroupRanks]:
    """Each group with the domain it shares; none where groups are single ranks."""
    if group > 1:
        for first in ranks[::group]:
            held = tuple(range(first, first + group))
            yield GroupRanks(held, domain_of(topology, level, leaves[first]))


def folded(ranks: Sequence[int]) -> str:
    """Ascending numbers with runs folded.

    Examples
    --------
    >>> folded([0, 1, 2, 7, 9, 10])
    '0-2 7 9-10'
    """
    runs: list[list[int]] = []
    for rank in ranks:
        if runs and runs[-1][1] == rank - 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    return " ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs)
