"""A fleet that goes on: planners of a state file, on the cluster as it is now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from phalanx_core.cli.state_file import State
from phalanx_core.errors import PhalanxError, SaveError
from phalanx_core.placement import Health, Planner, SyncReport
from phalanx_core.placement.sync_report import host_names
from phalanx_core.topology import Topology
from phalanx_core.topology.keeping import KeptLeaf, settled, with_kept

UNHEALTHY = "unhealthy by their source"
_SHOWN = 2


def loaded(path: str, state: State, given: Topology) -> dict[str, Planner]:
    """Planners of a state file, still on the cluster that it was saved for.

    Raises
    ------
    SaveError
        If the state is of another cluster than ``given``, or of one that cannot have
        become it.
    """
    before = given if state.topology == given else state.topology
    if before is not given:
        _check_change(path, state, given)
    planners = {}
    for name, saved in state.planners.items():
        try:
            planners[name] = Planner.load(before, saved)
        except PhalanxError as error:
            raise SaveError(f"{path}: {error}") from None
    return planners


def _check_change(path: str, state: State, given: Topology) -> None:
    before = state.topology
    here = frozenset(given.names)
    if here.isdisjoint(before.names):
        raise SaveError(
            f"{path}: was saved for another cluster: none of its {before.leaf_count} "
            f"leaves ({', '.join(before.names[:_SHOWN])}, ...) is among the "
            f"{given.leaf_count} here ({', '.join(given.names[:_SHOWN])}, ...)"
        )
    if before.levels != given.levels:
        raise SaveError(
            f"{path}: was saved with levels {', '.join(before.levels)}, and this "
            f"cluster has {', '.join(given.levels)}; jobs are bound to their levels"
        )
    if before.nvlink_level != given.nvlink_level:
        raise SaveError(
            f"{path}: was saved with NVLink level {_nvlink(before)}, and this cluster "
            f"has {_nvlink(given)}; groups are bound to it"
        )
    if state.alignment == "buddy":
        raise SaveError(
            f"{path}: the cluster is not the one it was saved for, and --alignment "
            "buddy is for one that never changes; start a new state file"
        )


def _nvlink(topology: Topology) -> str:
    level = topology.nvlink_level
    return "none" if level is None else topology.levels[level]


def followed(planner: Planner, given: Topology) -> SyncReport:
    """Bring a planner to the cluster as its files describe it, health included.

    A planner of alignment "buddy" cannot tell its source's word from a command's: what
    the source calls ill becomes so, and ``--heal`` alone takes it back.
    """
    if planner.alignment != "buddy":
        return planner.sync(given)
    mine = {
        name
        for name, kind in zip(given.names, given.types, strict=True)
        if kind == planner.type
    }
    report = given.report
    ill = sorted(mine.intersection(report.tainted)) if report else []
    shut = sorted(mine.intersection(report.cordoned)) if report else []
    down = [name for name in ill if planner.owner(name).health is not Health.DOWN]
    closed = [name for name in shut if not planner.owner(name).cordoned]
    planner.cordon(closed)
    hit = planner.fail(down)
    return SyncReport(
        changed=bool(down or closed),
        altered=_altered(given, {UNHEALTHY: down, "cordoned": closed}),
        kept=tuple(job for job in planner.jobs() if job not in hit),
        broken=dict.fromkeys(hit, UNHEALTHY),
    )


def _altered(
    given: Topology, told: Mapping[str, list[str]]
) -> dict[str, tuple[str, ...]]:
    hosts = host_names(given)
    found: dict[str, list[str]] = {}
    for word, leaves in told.items():
        for host, count in Counter(hosts[given.leaf(one)] for one in leaves).items():
            found.setdefault(host, []).append(f"{count} {given.levels[0]} {word}")
    return {host: tuple(texts) for host, texts in found.items()}


def drawn(
    given: Topology, planners: Mapping[str, Planner], held: Mapping[str, SyncReport]
) -> Topology:
    """The given cluster, and beside it what jobs hold that it has no more."""
    made = given
    for name, report in held.items():
        own = planners[name].topology
        if report.held and made is given:
            made = own
        elif report.held:
            kept = settled(own, [_bare(own, leaf) for leaf in report.held])
            made = with_kept(made, kept, name)
    return made


def _bare(own: Topology, leaf: str) -> KeptLeaf:
    """A leaf whose place is yet to be found."""
    depth = len(own.levels)
    rail = 0 if own.nic_rails is None else int(own.nic_rails[own.leaf(leaf)])
    return KeptLeaf(leaf, rail, -1, depth, (None,) * (depth - 1))
