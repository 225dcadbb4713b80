"""``SyncReport``: what a sync found changed, by name."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from phalanx_core.native import lib
from phalanx_core.placement.keys import Handle, Job
from phalanx_core.placement.outside import ELSEWHERE, GONE, TAINTED

if TYPE_CHECKING:
    from phalanx_core.placement.rebuild import Rebuild
    from phalanx_core.placement.state import State
    from phalanx_core.topology import Topology

_MOST = 8
_WHY = {
    GONE: "gone",
    ELSEWHERE: "moved out of the gang's domain",
    TAINTED: "unhealthy by their source",
}


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What the cluster's description changed; prints as a short text.

    Attributes
    ----------
    changed
        Whether anything in the planner changed.
    added, removed
        Host to its number of leaves.
    moved
        Host to the pair (where it was, where it is): domain paths, broadest first.
    altered
        Host to what is different on it: "8 -> 6 gpu", "2 gpu unhealthy by their
        source", "8 gpu cordoned", "1 gpu back with the mark it left with".
    kept
        Jobs that lost nothing to the description, in order of ``jobs()``, then handles.
    broken
        Job to why it needs a repair: leaves that it holds and that are gone, out of
        the gang's domain, or unhealthy by their source.
    held
        Names of leaves that the description lacks, or has elsewhere, and that the
        planner keeps, down, until their job is repaired or released and fenced.
    warnings
        Domains that can hold no spare on this topology and could before.
    """

    changed: bool
    added: dict[str, int] = field(default_factory=dict)
    removed: dict[str, int] = field(default_factory=dict)
    moved: dict[str, tuple[str, str]] = field(default_factory=dict)
    altered: dict[str, tuple[str, ...]] = field(default_factory=dict)
    kept: tuple[Job | Handle, ...] = ()
    broken: dict[Job | Handle, str] = field(default_factory=dict)
    held: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; jobs as lists, since keys may be numbers.

        Examples
        --------
        >>> SyncReport(True, added={"h1": 8}).to_dict()["added"]
        {'h1': 8}
        """
        return {
            "changed": self.changed,
            "added": dict(self.added),
            "removed": dict(self.removed),
            "moved": {host: list(ways) for host, ways in self.moved.items()},
            "altered": {host: list(told) for host, told in self.altered.items()},
            "kept": [_plain(job) for job in self.kept],
            "broken": [[_plain(job), why] for job, why in self.broken.items()],
            "held": list(self.held),
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        rows = [
            ("added", [f"{host} ({count})" for host, count in self.added.items()]),
            ("removed", [f"{host} ({count})" for host, count in self.removed.items()]),
            ("moved", [f"{h}: {a} -> {b}" for h, (a, b) in self.moved.items()]),
            ("altered", [f"{h}: {', '.join(t)}" for h, t in self.altered.items()]),
            ("broken", [f"{job!r}: {why}" for job, why in self.broken.items()]),
            ("held", list(self.held)),
        ]
        counts = {name: len(told) for name, told in rows if told}
        head = ", ".join(f"{count} {name}" for name, count in counts.items())
        lines = [f"sync: {head or 'nothing changed'}; {len(self.kept)} jobs kept"]
        for name, told in rows:
            more = f", and {len(told) - _MOST} more" if len(told) > _MOST else ""
            if told:
                lines.append(f"  {name:<9}{'; '.join(told[:_MOST])}{more}")
        lines += [f"  warning  {text}" for text in self.warnings]
        return "\n".join(lines)


def _plain(job: Job | Handle) -> Job:
    return int(job) if isinstance(job, Handle) else job


def reported(rebuild: Rebuild, after: State, changed: bool) -> SyncReport:
    """What a rebuild comes to, ``after`` being the planner as it is then."""
    differ = _Differences(rebuild)
    broken = _broken(after)
    jobs = [holder.who for holder in rebuild.holders]
    warned = set(rebuild.warned)
    differ.marks(after)
    return SyncReport(
        changed=changed,
        added=differ.added,
        removed=differ.removed,
        moved=differ.moved,
        altered={host: tuple(told) for host, told in differ.altered.items()},
        kept=tuple(who for who in jobs if who not in broken),
        broken={who: broken[who] for who in jobs if who in broken},
        held=tuple(one.name for one in after._outside.kept),
        warnings=tuple(text for text in after.warnings if text not in warned),
    )


def _broken(after: State) -> dict[Job | Handle, str]:
    """Who holds barred leaves, and why each is barred."""
    frame, found = after._frame, dict[Any, Counter[str]]()
    first: dict[Any, str] = {}
    for at, barred in sorted(after._outside.barred.items()):
        state = int(lib.phx_leaf_state(after._core, at))
        if state & 3 == lib.PHX_JOB:
            who = after._name(state >> 8)
            found.setdefault(who, Counter())[barred.why] += 1
            leaf = int(frame.leaf_ids(np.array([at]))[0])
            first.setdefault(who, frame.topology.names[leaf])
    unit = frame.topology.levels[0]
    return {
        who: ", ".join(f"{whys[why]} {unit} {_WHY[why]}" for why in _WHY if whys[why])
        + f" ({first[who]}{', ...' if whys.total() > 1 else ''})"
        for who, whys in found.items()
    }


def host_names(topology: Topology) -> list[str]:
    """Name of each leaf's host; its own where it has none."""
    level = topology.levels.index("host") if "host" in topology.levels else 1
    labels = topology.domain_names(level)
    names, hosts = topology.names, topology.domain_of(level).tolist()
    return [names[at] if host < 0 else labels[host] for at, host in enumerate(hosts)]


class _Differences:
    """Hosts of the given topology beside those of the one before it."""

    def __init__(self, rebuild: Rebuild) -> None:
        self.added: dict[str, int] = {}
        self.removed: dict[str, int] = {}
        self.moved: dict[str, tuple[str, str]] = {}
        self.altered: dict[str, list[str]] = {}
        self.rebuild = rebuild
        self.unit = rebuild.given.levels[0]
        frame, before = rebuild.frame, rebuild.before
        gone = [at for at, one in before.barred.items() if one.why == GONE]
        was = np.ones(frame.leaf_count, np.bool_)
        was[gone] = False
        self.ids = frame.tree.leaf_at[was].astype(np.int64)
        if rebuild.given.fingerprint != (before.base or frame.topology.fingerprint):
            self._hosts()
            self._moves()

    def _hosts(self) -> None:
        given = self.rebuild.given
        code = given.type_index(self.rebuild.type)
        old_hosts, new_hosts = (
            host_names(self.rebuild.frame.topology),
            host_names(given),
        )
        old = Counter(old_hosts[leaf] for leaf in self.ids.tolist())
        new = Counter(new_hosts[leaf] for leaf in np.flatnonzero(given.type_of == code))
        self.added = {host: count for host, count in new.items() if host not in old}
        self.removed = {host: count for host, count in old.items() if host not in new}
        for host, count in new.items():
            if host in old and old[host] != count:
                self._note(host, f"{old[host]} -> {count} {self.unit}")

    def _moves(self) -> None:
        """Hosts whose leaves lie in other domains; one look a pair of lowest domains."""
        old, new = self.rebuild.frame.topology, self.rebuild.given
        barred = self.rebuild.before.barred.items()
        leaf_at = self.rebuild.frame.tree.leaf_at
        # A leaf that is kept elsewhere was told of when it moved.
        told = [int(leaf_at[at]) for at, one in barred if one.why == ELSEWHERE]
        ids = np.setdiff1d(self.ids[self.rebuild.passage.to[self.ids] >= 0], told)
        now = self.rebuild.passage.to[ids]
        if not ids.size:
            return
        sides = [(old, ids), (new, now)]
        columns = [
            topology.domain_of(level)[leaves]
            for topology, leaves in sides
            for level in range(1, len(topology.levels))
        ]
        _, firsts = np.unique(np.stack(columns), axis=1, return_index=True)
        firsts.sort()
        # A root that all share, before and after, tells nothing.
        levels = [
            level
            for level in range(len(new.levels) - 1, 0, -1)
            if max(old.domain_count(level), new.domain_count(level)) > 1
        ]
        if not levels:
            return
        hosts = host_names(new)
        ways = zip(
            _paths(old, ids[firsts], levels),
            _paths(new, now[firsts], levels),
            strict=True,
        )
        for leaf, (before, after) in zip(now[firsts].tolist(), ways, strict=True):
            if before != after:
                self.moved.setdefault(hosts[leaf], (before, after))

    def marks(self, after: State) -> None:
        """Health and cordon by the topology's word that are new, and old marks back."""
        frame, before = self.rebuild.frame, self.rebuild.before
        topology = after._frame.topology
        hosts = host_names(topology)
        outside = after._outside
        ill = {at for at, one in outside.barred.items() if one.why == TAINTED}
        was = {at for at, one in before.barred.items() if one.why == TAINTED}
        self._count(hosts, after, ill, frame, was, "unhealthy by their source")
        self._count(
            hosts, after, set(outside.shut), frame, set(before.shut), "cordoned"
        )
        back = Counter(hosts[topology.leaf(name)] for name in self.rebuild.marks.back)
        for host, count in back.items():
            self._note(host, f"{count} {self.unit} back with the mark it left with")

    def _count(
        self,
        hosts: list[str],
        after: State,
        now: set[int],
        frame: Any,
        was: set[int],
        word: str,
    ) -> None:
        had = {frame.topology.names[leaf] for leaf in _ids(frame, was)}
        names = after._frame.topology.names
        leaves = [leaf for leaf in _ids(after._frame, now) if names[leaf] not in had]
        for host, count in Counter(hosts[leaf] for leaf in leaves).items():
            self._note(host, f"{count} {self.unit} {word}")
        has = {names[leaf] for leaf in _ids(after._frame, now)}
        lifted = [
            name
            for leaf in _ids(frame, was)
            if (name := frame.topology.names[leaf]) not in has
            and self.rebuild.now[leaf] >= 0
        ]
        topology = after._frame.topology
        freed = Counter(hosts[topology.leaf(name)] for name in lifted)
        for host, count in freed.items():
            self._note(host, f"{count} {self.unit} no longer {word}")

    def _note(self, host: str, text: str) -> None:
        self.altered.setdefault(host, []).append(text)


def _ids(frame: Any, positions: set[int]) -> list[int]:
    at: NDArray[np.int64] = np.array(sorted(positions), np.int64)
    found: list[int] = frame.leaf_ids(at).tolist()
    return found


def _paths(
    topology: Topology, leaves: NDArray[np.int64], levels: list[int]
) -> list[str]:
    """Labels of each leaf's domains at some levels, joined by "/"; "-" for none."""
    columns = []
    for level in levels:
        labels = [*map(str, topology.labels_of(level)), "-"]
        domains = topology.domain_of(level)[leaves].tolist()
        columns.append([labels[domain] for domain in domains])
    return ["/".join(path) for path in zip(*columns, strict=True)]
