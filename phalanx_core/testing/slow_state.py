"""``SlowState``: who holds every leaf, kept in plain dicts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Self

from phalanx_core.errors import InvalidRequest, OwnershipError, UnknownJob
from phalanx_core.testing import buddy
from phalanx_core.testing.needs import GangLike, LimitTable, Needs
from phalanx_core.testing.repair_rules import RepairLike
from phalanx_core.testing.rules import broken_shape
from phalanx_core.testing.sizes import Sized
from phalanx_core.testing.slow_tree import SlowTree, Vertex
from phalanx_core.topology import Topology

JobKey = str | int


class SpareRule:
    """How many vertices of one level each domain of another holds back.

    Parameters
    ----------
    topology
        Whose levels are named.
    spares
        Anything with ``per``, ``size`` and ``count``.
    """

    def __init__(self, topology: Topology, spares: object) -> None:
        self.per = topology.level_index(getattr(spares, "per", ""))
        self.size = topology.level_index(getattr(spares, "size", ""))
        self.count = int(getattr(spares, "count", 1))

    def eligible(self, tree: SlowTree, domain: Vertex) -> list[Vertex]:
        """Vertices a domain may choose from; none where it has no more than enough."""
        inside = [
            vertex
            for vertex in tree.levels[self.size]
            if vertex.real and tree.above(self.per, vertex.leaves[0]) is domain
        ]
        return inside if domain.real and len(inside) > self.count else []

    def chosen(self, tree: SlowTree, idle: Collection[int]) -> list[Vertex]:
        """Spare vertices of a tree whose idle leaves are these."""
        found: list[Vertex] = []
        for domain in tree.levels[self.per]:
            inside = self.eligible(tree, domain)
            whole = [v for v in inside if all(leaf in idle for leaf in v.leaves)]
            whole.sort(key=lambda v: (len(v.leaves), tree.position[v.leaves[0]]))
            found += whole[::-1][: self.count]
        return found


@dataclass(slots=True)
class SlowJob:
    """A gang that runs: leaf ids in rank order, all it holds, its call's limits."""

    gang: GangLike
    leaves: list[int]
    held: list[int]
    limits: LimitTable | None = None


class SlowState:
    """Leaf states, jobs, spares and quarantine, and every way they change.

    Parameters
    ----------
    topology, type, spares, alignment
        As for :class:`SlowPlanner`.

    Notes
    -----
    Every change is O(leaves); spares are computed from their definition when asked.
    """

    def __init__(
        self,
        topology: Topology,
        type: str | None = None,
        spares: object = None,
        alignment: str = "exact",
    ) -> None:
        self.topology = topology
        self.tree = SlowTree(topology, type)
        self.rule = None if spares is None else SpareRule(topology, spares)
        self.buddy = str(getattr(alignment, "value", alignment)) == "buddy"
        self.jobs: dict[JobKey, SlowJob] = {}
        self.held_by: dict[int, JobKey] = {}
        self.quarantine: dict[int, JobKey] = {}
        self.health: dict[int, str] = dict.fromkeys(self.tree.leaves, "up")
        self.cordoned: dict[int, bool] = dict.fromkeys(self.tree.leaves, False)
        self._spares: list[Vertex] | None = None

    def clone(self) -> Self:
        """A copy that shares the tree alone."""
        other = copy(self)
        other.jobs = {
            job: replace(record, leaves=list(record.leaves), held=list(record.held))
            for job, record in self.jobs.items()
        }
        other.held_by = dict(self.held_by)
        other.quarantine = dict(self.quarantine)
        other.health = dict(self.health)
        other.cordoned = dict(self.cordoned)
        return other

    # State of a leaf.

    def idle(self) -> list[int]:
        """Leaves that nobody holds and nothing ails, spares included."""
        return [
            leaf
            for leaf in self.tree.leaves
            if leaf not in self.held_by
            and leaf not in self.quarantine
            and self.health[leaf] == "up"
            and not self.cordoned[leaf]
        ]

    def spare_vertices(self) -> list[Vertex]:
        """Vertices held back now: a function of the idle leaves alone."""
        if self._spares is None:
            idle = frozenset(self.idle()) if self.rule else frozenset()
            self._spares = self.rule.chosen(self.tree, idle) if self.rule else []
        return self._spares

    def spares(self) -> list[int]:
        """Leaves held back now, in address order."""
        leaves = {leaf for vertex in self.spare_vertices() for leaf in vertex.leaves}
        return [leaf for leaf in self.tree.leaves if leaf in leaves]

    def free_leaves(self) -> list[int]:
        """Available leaves in address order."""
        spares = set(self.spares())
        return [leaf for leaf in self.idle() if leaf not in spares]

    def owner(self, leaf: int) -> JobKey | None:
        """Job that holds a leaf, None = no job."""
        return self.held_by.get(leaf)

    def state(
        self, leaf: int, spares: Collection[int] | None = None
    ) -> tuple[str, str, bool]:
        """Owner kind (free, job, spare, quarantine), health and cordon of a leaf."""
        held_back = self.spares() if spares is None else spares
        kind = "spare" if leaf in held_back else "free"
        kind = "quarantine" if leaf in self.quarantine else kind
        kind = "job" if leaf in self.held_by else kind
        return kind, self.health[leaf], self.cordoned[leaf]

    def needs(self, gang: GangLike, limits: LimitTable | None = None) -> Needs:
        """The gang's constraints with levels as indexes."""
        return Needs.of(self.topology, gang, limits)

    # Changes.

    def commit_place(
        self,
        job: JobKey,
        gang: GangLike,
        leaves: Iterable[int],
        held: Iterable[int] | None = None,
        limits: LimitTable | None = None,
    ) -> None:
        """Adopt a planner's placement.

        Parameters
        ----------
        job, gang, leaves
            What was placed, leaf ids in rank order.
        held
            All leaves it holds where that is more than its ranks; None = the ranks',
            or with alignment "buddy" their aligned block.
        limits
            The call's limits, kept for the job's repairs.
        """
        ranked = [int(leaf) for leaf in leaves]
        taken = list(ranked) if held is None else [int(leaf) for leaf in held]
        if held is None and self.buddy:
            taken = buddy.block_leaves(self.tree, self.needs(gang), ranked)
        self.jobs[job] = SlowJob(gang, ranked, taken, limits)
        self.held_by.update(dict.fromkeys(taken, job))
        self._spares = None

    def adopt(self, job: JobKey, gang: GangLike, leaves: Sequence[int]) -> None:
        """Take exactly these leaves, in rank order.

        Raises
        ------
        OwnershipError
            If a leaf is held or quarantined.
        InvalidRequest
            If the leaves break the gang's own constraints.
        """
        taken = [v for v in leaves if v in self.held_by or v in self.quarantine]
        if taken:
            raise OwnershipError(f"leaves {taken} are held or quarantined")
        broken = broken_shape(self.tree, self.needs(gang), leaves)
        if broken:
            raise InvalidRequest(f"leaves {list(leaves)}: {broken[0]}")
        self.commit_place(job, gang, leaves, leaves)

    def commit_repair(
        self, job: JobKey, repair: RepairLike, failed: Iterable[int] = ()
    ) -> None:
        """Adopt a planner's repair: old leaves to quarantine, reported ones down.

        Of a gang that changes its size the ranks that end leave theirs too.
        """
        record = self._job(job)
        self.fail(failed)
        for rank, old, new in repair.moves.tolist():
            if old < 0:
                record.leaves.append(new)
                record.held.append(new)
            else:
                record.leaves[rank] = new
                del self.held_by[old]
                self.quarantine[old] = job
                record.held[record.held.index(old)] = new
            self.held_by[new] = job
        kept = getattr(repair, "kept", None)
        if kept is not None and len(kept) != record.gang.ranks:
            self._resize(job, [int(rank) for rank in kept])
        self._spares = None

    def _resize(self, job: JobKey, kept: Sequence[int]) -> None:
        """Number the ranks that stay anew; what the others held is quarantined."""
        record = self.jobs[job]
        gang = record.gang
        whole = gang.gang if isinstance(gang, Sized) else gang
        stay = set(kept)
        if -1 not in stay:
            for rank, leaf in enumerate(record.leaves):
                if rank not in stay:
                    del self.held_by[leaf]
                    self.quarantine[leaf] = job
            record.leaves = [record.leaves[rank] for rank in kept]
            record.held = list(record.leaves)
        record.gang = Sized(whole, len(kept))

    def release(self, job: JobKey) -> None:
        """Free a job's leaves; down ones go to quarantine."""
        for leaf in self._job(job).held:
            del self.held_by[leaf]
            if self.health[leaf] == "down":
                self.quarantine[leaf] = job
        del self.jobs[job]
        self._spares = None

    def fail(self, leaves: Iterable[int]) -> list[JobKey]:
        """Mark leaves down; the jobs hit."""
        return self._set_health(leaves, "down")

    def heal(self, leaves: Iterable[int]) -> list[JobKey]:
        """Mark leaves up again; the jobs hit."""
        return self._set_health(leaves, "up")

    def suspect(self, leaves: Iterable[int]) -> list[JobKey]:
        """Mark leaves suspect, except those that are down; the jobs hit."""
        return self._set_health(leaves, "suspect")

    def cordon(self, leaves: Iterable[int]) -> list[JobKey]:
        """Let nothing new onto leaves; the jobs hit."""
        return self._set_cordon(leaves, True)

    def uncordon(self, leaves: Iterable[int]) -> list[JobKey]:
        """Lift a cordon; the jobs hit."""
        return self._set_cordon(leaves, False)

    def release_quarantine(self, leaves: Iterable[int]) -> None:
        """Let leaves out of quarantine.

        Raises
        ------
        InvalidRequest
            If a leaf is not quarantined.
        """
        wanted = list(leaves)
        strange = [leaf for leaf in wanted if leaf not in self.quarantine]
        if strange:
            raise InvalidRequest(f"leaves {strange} are not in quarantine")
        for leaf in wanted:
            del self.quarantine[leaf]
        self._spares = None

    def fenced(self, job: JobKey) -> list[int]:
        """Let every leaf that was taken from a job out of quarantine."""
        leaves = [leaf for leaf in self.tree.leaves if self.quarantine.get(leaf) == job]
        self.release_quarantine(leaves)
        return leaves

    def dead_ranks(
        self, job: JobKey, failed: Iterable[int] = (), cordoned: bool = False
    ) -> frozenset[int]:
        """Ranks on down or reported leaves; on cordoned ones too for a drain.

        Raises
        ------
        OwnershipError
            If the job does not hold a reported leaf.
        """
        record = self._job(job)
        reported = set(failed)
        strange = sorted(reported - set(record.held))
        if strange:
            raise OwnershipError(f"job {job!r} does not hold leaves {strange}")
        return frozenset(
            rank
            for rank, leaf in enumerate(record.leaves)
            if leaf in reported
            or self.health[leaf] == "down"
            or (cordoned and self.cordoned[leaf])
        )

    def broken(self) -> list[JobKey]:
        """Jobs with a rank on a down leaf, in order of arrival."""
        return [job for job in self.jobs if self.dead_ranks(job)]

    def _job(self, job: JobKey) -> SlowJob:
        if job not in self.jobs:
            raise UnknownJob(f"job {job!r} is not held")
        return self.jobs[job]

    def _hit(self, leaves: Sequence[int]) -> list[JobKey]:
        return list(dict.fromkeys(self.held_by[v] for v in leaves if v in self.held_by))

    def _set_health(self, leaves: Iterable[int], health: str) -> list[JobKey]:
        wanted = list(leaves)
        for leaf in wanted:
            if health != "suspect" or self.health[leaf] != "down":
                self.health[leaf] = health
        self._spares = None
        return self._hit(wanted)

    def _set_cordon(self, leaves: Iterable[int], cordoned: bool) -> list[JobKey]:
        wanted = list(leaves)
        for leaf in wanted:
            self.cordoned[leaf] = cordoned
        self._spares = None
        return self._hit(wanted)
