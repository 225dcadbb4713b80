"""``Pair``: a planner and its slow twin, one operation at a time, never apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from phalanx_core.testing.needs import GangLike, LimitTable
from phalanx_core.testing.repair_rules import broken_repair
from phalanx_core.testing.repairing import Wound
from phalanx_core.testing.slow_planner import SlowPlanner
from phalanx_core.testing.slow_state import JobKey


class Difference(AssertionError):
    """A planner's answer that the slow twin does not allow."""


@dataclass(frozen=True, slots=True)
class RepairCase:
    """What a repair was asked for."""

    job: JobKey
    failed: Sequence[int] = ()
    limits: LimitTable | None = None
    partial: bool = False
    cordoned: bool = False


def compare(planner: Any, twin: SlowPlanner) -> list[str]:
    """Everything in which a planner's state differs from its twin's.

    Parameters
    ----------
    planner
        A ``Planner`` of the twin's topology and options.
    twin
        The slow twin that adopted every answer of the planner.

    Returns
    -------
    One sentence a difference in leaf states, jobs, ranks, broken jobs or free leaves;
    empty = equal. O(leaves).

    Raises
    ------
    InvariantBroken
        If the planner finds its own state wrong.
    """
    planner.validate()
    found = []
    spares = frozenset(twin.spares())
    for leaf in twin.tree.leaves:
        owner = planner.owner(leaf)
        told = (str(owner.kind), str(owner.health), owner.cordoned, owner.job)
        job = twin.held_by.get(leaf, twin.quarantine.get(leaf))
        state = (*twin.state(leaf, spares), job)
        if told != state:
            found.append(f"leaf {leaf}: planner says {told}, twin {state}")
    free = int(planner.free_leaves())
    if free != len(twin.free_leaves()):
        found.append(f"{free} free leaves, twin {len(twin.free_leaves())}")
    if sorted(map(str, planner.jobs())) != sorted(map(str, twin.jobs)):
        found.append(f"jobs {list(planner.jobs())}, twin {list(twin.jobs)}")
        return found
    for job, record in twin.jobs.items():
        leaves = planner.placement(job).leaves.tolist()
        if leaves != record.leaves:
            found.append(f"job {job!r}: ranks on {leaves}, twin {record.leaves}")
    if set(planner.broken()) != set(twin.broken()):
        found.append(f"broken {list(planner.broken())}, twin {twin.broken()}")
    return found


class Pair:
    """Runs every operation on both, checks each answer, and keeps them equal.

    Parameters
    ----------
    planner
        A fresh ``Planner``.
    twin
        A fresh ``SlowPlanner`` of the same topology and options.

    Notes
    -----
    Every method raises :class:`Difference` when the planner's answer is not one that
    the twin allows, and returns a word for the outcome.

    Examples
    --------
    >>> from phalanx_core import Gang, Planner, Topology
    >>> topology = Topology.from_spec("host:2 gpu:2")
    >>> pair = Pair(Planner(topology), SlowPlanner(topology))
    >>> pair.place("a", Gang(2)), pair.place("b", Gang(4)), pair.fail([0])
    ('placed', 'CAPACITY', ['a'])
    >>> pair.replan("a"), pair.twin.jobs["a"].leaves
    ('repaired', [2, 1])
    >>> pair.check()
    """

    def __init__(self, planner: Any, twin: SlowPlanner) -> None:
        self.planner = planner
        self.twin = twin

    def check(self) -> None:
        """Compare the whole state.

        Raises
        ------
        Difference
            If anything differs.
        """
        self._expect(compare(self.planner, self.twin), "state")

    def place(
        self,
        job: JobKey,
        gang: GangLike,
        limits: LimitTable | None = None,
        apply: bool = True,
    ) -> str:
        """Place a gang; "placed" or the name of the Misfit's code.

        "UNPROVEN" where a gang of parts fits but a bounded search gave up and said so.
        """
        twin = self.twin
        best = twin.best_level(gang, limits)
        fits = twin.feasible(gang, limits) if twin.buddy else best is not None
        result = self.planner.place(job, gang, limits=limits, apply=apply)
        about = f"place {gang!r} limits {limits}: {result!r}"
        if fits and not result and not result.proven and twin.needs(gang).bounded:
            return "UNPROVEN"
        if bool(result) != fits:
            raise Difference(
                f"{about}; the twin says it {'fits' if fits else 'does not fit'}"
            )
        if not result:
            code = twin.misfit_code(gang, limits)
            if result.code.name != code:
                raise Difference(f"{about}; the twin says {code}")
            return code
        leaves = result.leaves.tolist()
        self._expect(twin.check_placement(gang, leaves, limits), about)
        if best is not None:
            self._expect(twin.check_balance(gang, leaves, limits), about)
        self._expect(self._bad_level(gang, result.level, best, leaves), about)
        if apply:
            held = leaves if not twin.buddy else self._held(job)
            self._expect(twin.check_held(gang, leaves, held), about)
            twin.commit_place(job, gang, leaves, held, limits)
        return "placed"

    def _held(self, job: JobKey) -> list[int]:
        """Leaves that the planner's ledger gives to a job."""
        owner = self.planner.owner
        leaves = self.twin.tree.leaves
        return [v for v in leaves if owner(v).kind == "job" and owner(v).job == job]

    def _bad_level(
        self, gang: GangLike, level: int, best: int | None, leaves: list[int]
    ) -> list[str]:
        """Whether the level is told wrong, or higher than it has to be."""
        twin = self.twin
        spans = twin.tree.span_level(leaves)
        if level != spans:
            return [f"level {level} is told, the ranks span level {spans}"]
        needs = twin.needs(gang)
        if twin.buddy or not needs.near or best is None:
            return []
        most = max(best, needs.prefer or 0)
        return [f"level {level} where {most} would do"] if level > most else []

    def replan(
        self,
        job: JobKey,
        failed: Sequence[int] = (),
        limits: LimitTable | None = None,
        partial: bool = False,
        later: bool = False,
    ) -> str:
        """Repair a job: "whole", "repaired", "partial", "REPLACEMENT" or "UNPROVEN".

        The last where a repair exists, and the refusal says that it is not proven.

        Parameters
        ----------
        job, failed, limits, partial
            As for ``Planner.replan``.
        later
            Make a plan first, see that it changes nothing, then apply it.
        """
        result = self.planner.replan(
            job, failed=failed, limits=limits, partial=partial, apply=not later
        )
        case = RepairCase(job, failed, limits, partial)
        outcome = self._judge(case, result)
        if later and result:
            self.check()
            self.planner.apply(result)
        self._commit(case, result)
        return outcome

    def drain(self, leaves: Sequence[int], later: bool = False) -> list[str]:
        """Cordon leaves and move jobs off them; each job's outcome as of a repair."""
        plan = self.planner.drain(leaves, apply=not later)
        if later:
            self.check()
            self.planner.apply(plan)
        if list(plan) != self.twin.cordon(leaves):
            raise Difference(f"drain {leaves}: jobs {list(plan)} in another order")
        outcomes = []
        for job, result in plan.items():
            case = RepairCase(job, cordoned=True)
            outcomes.append(self._judge(case, result))
            self._commit(case, result)
        return outcomes

    def _judge(self, case: RepairCase, result: Any) -> str:
        """Whether the twin, still unchanged, allows an answer of Replan."""
        twin, about = self.twin, f"{case}: {result!r}"
        asked = (case.job, case.failed, case.limits, case.cordoned)
        wound = twin.wound(*asked)
        unlimited = not wound.needs.limited
        most = units = len(wound.units())
        exists = twin.repair_exists(*asked)
        if not exists and unlimited:
            most = twin.max_repairable(*asked)
        if not result:
            # Under slices or in parts a search may give up, if it says so.
            given_up = not result.proven and wound.needs.chained
            if exists and given_up:
                return "UNPROVEN"
            if exists or not (result.proven or given_up):
                raise Difference(f"{about}; a repair exists: {exists}")
            if case.partial and unlimited and most:
                raise Difference(f"{about}; {most} groups can be repaired")
            return str(result.code.name)
        broken = broken_repair(wound, result, twin.spare_vertices(), case.partial)
        self._expect(broken, about)
        mended = self._mended(wound, result, about)
        if (exists and mended != units) or (unlimited and mended != most):
            raise Difference(f"{about}; {most} of {units} groups can be repaired")
        if not units:
            return "whole"
        return "repaired" if mended == units else "partial"

    def _commit(self, case: RepairCase, result: Any) -> None:
        if not result:
            return
        self.twin.commit_repair(case.job, result, case.failed)
        expected = self.twin.jobs[case.job].leaves
        if result.leaves.tolist() != expected:
            raise Difference(f"{case}: {result!r}; leaves should be {expected}")

    def _mended(self, wound: Wound, repair: Any, about: str) -> int:
        """Broken groups that a repair mends; the others' ranks must be told."""
        moved = {int(rank) for rank in repair.moves[:, 0]}
        units = wound.units()
        mended = [unit for unit in units if moved.intersection(unit.ranks)]
        left = [rank for unit in units if unit not in mended for rank in unit.dead]
        if sorted(repair.unresolved.tolist()) != left:
            raise Difference(f"{about}; unresolved should be {left}")
        return len(mended)

    def adopt(self, job: JobKey, gang: GangLike, leaves: Sequence[int]) -> str:
        """Take leaves as they are; "adopted", or the error's name when both refuse."""
        told = expected = "adopted"
        try:
            self.twin.adopt(job, gang, leaves)
        except Exception as error:
            expected = type(error).__name__
        try:
            self.planner.adopt(job, gang, leaves)
        except Exception as error:
            told = type(error).__name__
        if told != expected:
            raise Difference(f"adopt {leaves}: planner {told}, twin {expected}")
        return told

    def release(self, job: JobKey) -> None:
        """Release a job on both."""
        self.planner.release(job)
        self.twin.release(job)

    def fail(self, leaves: Sequence[int]) -> list[JobKey]:
        """Mark leaves down on both; the jobs hit."""
        return self._hit(self.planner.fail, self.twin.fail, leaves)

    def heal(self, leaves: Sequence[int]) -> list[JobKey]:
        """Mark leaves up on both; the jobs hit."""
        return self._hit(self.planner.heal, self.twin.heal, leaves)

    def suspect(self, leaves: Sequence[int]) -> list[JobKey]:
        """Mark leaves suspect on both; the jobs hit."""
        return self._hit(self.planner.suspect, self.twin.suspect, leaves)

    def cordon(self, leaves: Sequence[int]) -> list[JobKey]:
        """Cordon leaves on both; the jobs hit."""
        return self._hit(self.planner.cordon, self.twin.cordon, leaves)

    def uncordon(self, leaves: Sequence[int]) -> list[JobKey]:
        """Lift a cordon on both; the jobs hit."""
        return self._hit(self.planner.uncordon, self.twin.uncordon, leaves)

    def release_quarantine(self, leaves: Sequence[int]) -> None:
        """Let leaves out of quarantine on both."""
        self.planner.release_quarantine(leaves)
        self.twin.release_quarantine(leaves)

    def fenced(self, job: JobKey) -> None:
        """Let all leaves taken from a job out of quarantine on both."""
        self.planner.fenced(job)
        self.twin.fenced(job)

    def _hit(
        self,
        change: Callable[[Sequence[int]], Iterable[JobKey]],
        mirror: Callable[[Sequence[int]], list[JobKey]],
        leaves: Sequence[int],
    ) -> list[JobKey]:
        told, expected = list(change(leaves)), mirror(leaves)
        if sorted(map(str, told)) != sorted(map(str, expected)):
            raise Difference(f"leaves {leaves}: jobs hit {told}, twin {expected}")
        return expected

    def _expect(self, broken: list[str], about: str) -> None:
        if broken:
            raise Difference(f"{about}: {'; '.join(broken)}")
