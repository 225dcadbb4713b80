"""``SlowPlanner``: the planner's promises, checked by definition and enumeration."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from phalanx_core.testing import buddy
from phalanx_core.testing.balance import broken_balance
from phalanx_core.testing.counting import fits, lowest_level
from phalanx_core.testing.needs import GangLike, LimitTable, Needs
from phalanx_core.testing.repair_rules import RepairLike, broken_repair
from phalanx_core.testing.repairing import Wound
from phalanx_core.testing.rules import broken_placement
from phalanx_core.testing.sizes import Sized, sizes_of
from phalanx_core.testing.slow_state import JobKey, SlowState


class SlowPlanner(SlowState):
    """The slow twin: what a planner may answer, by definition and enumeration.

    It does not choose. A caller asks a real planner, lets the twin check the answer
    (``check_placement``, ``check_repair``, ``feasible``, ``repair_exists``) and adopt
    it (``commit_place``, ``commit_repair``); leaf states must then be equal.

    Parameters
    ----------
    topology
        Any forest; up to some thirty leaves are comfortable.
    type
        GPU type to plan for, None = all leaves.
    spares
        Anything with ``per``, ``size`` and ``count``, or None.
    alignment
        "exact", or "buddy" for the paper's rounding.

    Raises
    ------
    InvalidRequest
        If a level or the type does not exist.

    Notes
    -----
    Every question is O(leaves^2) or worse; ``repair_exists`` is exponential in broken
    units. Buddy gangs of sizes that are not powers of two are not repaired.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from phalanx_core.topology import Topology
    >>> twin = SlowPlanner(Topology.from_spec("host:2 gpu:2"))
    >>> pair = SimpleNamespace(ranks=2, group=2, group_level="host", within=None,
    ...                        prefer=None, aim="near", limits=None)
    >>> twin.feasible(pair), twin.best_level(pair)
    (True, 1)
    >>> twin.check_placement(pair, [1, 2])
    ['ranks 0+2 span two domains of level 1']
    >>> twin.commit_place("a", pair, [2, 3])
    >>> twin.fail([3]), twin.owner(3), twin.free_leaves()
    (['a'], 'a', [0, 1])
    """

    # What a placement may be.

    def feasible(self, gang: GangLike, limits: LimitTable | None = None) -> bool:
        """Whether any legal placement exists now."""
        needs = self.needs(gang, limits)
        free = frozenset(self.free_leaves())
        if self.buddy:
            return buddy.fits(self.tree, needs, free, self._pieces(needs))
        return fits(self.tree, needs, free)

    def best_level(
        self, gang: GangLike, limits: LimitTable | None = None
    ) -> int | None:
        """Lowest level that confines any legal placement, None = there is none."""
        return lowest_level(
            self.tree, self.needs(gang, limits), frozenset(self.free_leaves())
        )

    def size_that_fits(
        self, gang: GangLike, limits: LimitTable | None = None
    ) -> int | None:
        """The most ranks, of the gang's and its templates, that fit; None: none do."""
        fitting = (
            size
            for size in sizes_of(gang)
            if size <= gang.ranks and self.feasible(Sized(gang, size), limits)
        )
        return max(fitting, default=None)

    def check_placement(
        self, gang: GangLike, leaves: Sequence[int], limits: LimitTable | None = None
    ) -> list[str]:
        """Rules that a placement breaks, leaves in rank order; empty = legal."""
        needs = self.needs(gang, limits)
        free = frozenset(self.free_leaves())
        broken = broken_placement(self.tree, needs, leaves, free)
        if self.buddy and not broken:
            broken = buddy.broken_blocks(self.tree, needs, leaves, self._pieces(needs))
        return broken

    def check_balance(
        self, gang: GangLike, leaves: Sequence[int], limits: LimitTable | None = None
    ) -> list[str]:
        """Whether a legal placement breaks the promise of ``balanced``; empty = no.

        Call it before committing. It is silent where only legality is promised.
        """
        free = frozenset(self.free_leaves())
        return broken_balance(self.tree, self.needs(gang, limits), leaves, free)

    def check_held(
        self, gang: GangLike, leaves: Sequence[int], held: Sequence[int]
    ) -> list[str]:
        """Rules that the leaves a gang holds break beyond its ranks' own."""
        if not self.buddy:
            return [] if sorted(held) == sorted(leaves) else [f"holds leaves {held}"]
        needs = self.needs(gang)
        return buddy.broken_held(self.tree, needs, leaves, held, self._pieces(needs))

    def misfit_code(self, gang: GangLike, limits: LimitTable | None = None) -> str:
        """Name of the code that a refusal must carry now."""
        needs = self.needs(gang, limits)
        unlimited = needs.unlimited()
        free = frozenset(self.free_leaves())
        pieces = self._pieces(needs)
        everything = frozenset(self.tree.leaves)
        if not self._fits(unlimited, everything, pieces):
            return "TOO_LARGE"
        if needs.limited and self._fits(unlimited, free, pieces):
            return "LIMITED"
        able = [leaf for leaf in self.free_leaves() if needs.serves(self.tree, leaf)]
        top = self.tree.depth if needs.within is None else needs.within
        most = max(
            (sum(self.tree.above(top, leaf) is root for leaf in able))
            for root in self.tree.levels[top]
        )
        if most < needs.ranks:
            return "CAPACITY"
        if self.buddy and fits(self.tree, needs, free):
            return "ALIGNMENT"
        return "GROUPS"

    def _fits(self, needs: Needs, usable: Collection[int], pieces: int) -> bool:
        if self.buddy:
            return buddy.fits(self.tree, needs, usable, pieces)
        return fits(self.tree, needs, usable)

    def _pieces(self, needs: Needs) -> int:
        """Blocks of one buddy gang; more than one only beside spares."""
        if not self.buddy or self.rule is None:
            return 1
        domain = self.tree.levels[self.rule.per][0]
        if not self.rule.eligible(self.tree, domain):
            return 1
        half = len(domain.leaves) // 2
        return max(1, buddy.held(needs.ranks) // half)

    # What a repair may be.

    def wound(
        self,
        job: JobKey,
        failed: Iterable[int] = (),
        limits: LimitTable | None = None,
        cordoned: bool = False,
    ) -> Wound:
        """The job with its dead ranks and the leaves that may replace them.

        Without ``limits`` those of its placement hold; an empty mapping lifts them.
        """
        record = self._job(job)
        return Wound(
            tree=self.tree,
            needs=self.needs(record.gang, record.limits if limits is None else limits),
            leaves=record.leaves,
            dead=self.dead_ranks(job, failed, cordoned),
            usable=frozenset(self.idle()),
        )

    def repair_exists(
        self,
        job: JobKey,
        failed: Iterable[int] = (),
        limits: LimitTable | None = None,
        cordoned: bool = False,
    ) -> bool:
        """Whether every broken unit can be mended at home or moved whole."""
        wound = self.wound(job, failed, limits, cordoned)
        return any(True for _ in wound.outcomes())

    def fewest_units_moved(
        self,
        job: JobKey,
        failed: Iterable[int] = (),
        limits: LimitTable | None = None,
        cordoned: bool = False,
    ) -> int | None:
        """Fewest units that change domain in a whole repair, None = there is none."""
        outcomes = self.wound(job, failed, limits, cordoned).outcomes()
        return min((moved for moved, _ in outcomes), default=None)

    def max_repairable(
        self,
        job: JobKey,
        failed: Iterable[int] = (),
        limits: LimitTable | None = None,
        cordoned: bool = False,
    ) -> int:
        """Most broken units that a partial repair can mend."""
        wound = self.wound(job, failed, limits, cordoned)
        omitted = min(left for _, left in wound.outcomes(omit=True))
        return len(wound.units()) - omitted

    def check_repair(
        self,
        job: JobKey,
        repair: RepairLike,
        failed: Iterable[int] = (),
        limits: LimitTable | None = None,
        partial: bool = False,
        cordoned: bool = False,
    ) -> list[str]:
        """Rules that a repair breaks; empty = legal. Call it before committing."""
        wound = self.wound(job, failed, limits, cordoned)
        return broken_repair(wound, repair, self.spare_vertices(), partial)
