"""Small clusters, and answers by leaf name, for the cases of this folder."""

from __future__ import annotations

from collections.abc import Mapping

from phalanx_core import Gang, Misfit, Placement, Planner, Repair, Topology


def cluster(levels: str, hosts: Mapping[str, int]) -> Topology:
    """A topology from host paths, widest domain first, and their numbers of workers.

    ``cluster("rack host", {"r1/n1": 2})`` has the leaves n1.0 and n1.1; the leaf of a
    host with one worker has the host's name. A domain "-" is none.
    """
    widest_first = levels.split()
    names: list[str] = []
    rows: list[list[str | None]] = [[] for _ in widest_first]
    for path, workers in hosts.items():
        labels = path.split("/")
        for worker in range(workers):
            names.append(labels[-1] if workers == 1 else f"{labels[-1]}.{worker}")
            for row, label in zip(rows, labels, strict=True):
                row.append(None if label == "-" else label)
    return Topology.from_labels(widest_first[::-1], rows[::-1], names=names)


def busy(planner: Planner, *leaves: str) -> None:
    """Let a filler job of its own hold each of these leaves."""
    for leaf in leaves:
        planner.adopt(f"filler of {leaf}", Gang(1), [leaf])


def leaves_of(planner: Planner, placement: Placement | Repair | Misfit) -> list[str]:
    """Leaf names of a placement or repair, in rank order."""
    assert placement, placement
    return [planner.topology.names[leaf] for leaf in placement.leaves.tolist()]


def held_by(planner: Planner, job: str) -> list[str]:
    """Leaf names that a job holds now, in rank order."""
    return leaves_of(planner, planner.placement(job))


def moves_of(planner: Planner, repair: Repair | Misfit) -> list[tuple[int, str, str]]:
    """Moves of a repair: rank, name of the leaf it leaves, name of the one it takes."""
    assert repair, repair
    names = planner.topology.names
    return [(rank, names[old], names[new]) for rank, old, new in repair.moves.tolist()]


def available(planner: Planner) -> list[str]:
    """Names of the leaves that Place may use, in order of their ids."""
    names = planner.topology.names
    return [name for name in names if planner.owner(name).available]
