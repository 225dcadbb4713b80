"""``Pair``: a planner and its slow twin, one operation at a time, never apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from phalanx_core.testing.judging import Difference, Judge, RepairCase, expect
from phalanx_core.testing.needs import GangLike, LimitTable
from phalanx_core.testing.sizes import Growth, Sized, ranks_left, sizes_of
from phalanx_core.testing.slow_planner import SlowPlanner
from phalanx_core.testing.slow_state import JobKey


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
        expect(compare(self.planner, self.twin), "state")

    def place(
        self,
        job: JobKey,
        gang: GangLike,
        limits: LimitTable | None = None,
        apply: bool = True,
    ) -> str:
        """Place a gang; "placed", "reduced" to a template, or the name of the Misfit's code.

        "UNPROVEN" where a gang of parts fits but a bounded search gave up and said so.
        """
        twin = self.twin
        told = self.planner.place(job, gang, limits=limits, apply=apply)
        about = f"place {gang!r} limits {limits}: {told!r}"
        fit = twin.size_that_fits(gang, limits)
        if fit and not told and not told.proven and twin.needs(gang).bounded:
            return "UNPROVEN"
        size = told.template if told else None
        if size != fit:
            raise Difference(f"{about}; the twin says that {fit or 'no size'} fits")
        if not told:
            code = twin.misfit_code(gang, limits)
            if told.code.name != code:
                raise Difference(f"{about}; the twin says {code}")
            return code
        sized = Sized(gang, told.template)
        leaves = told.leaves.tolist()
        expect(twin.check_placement(sized, leaves, limits), about)
        best = twin.best_level(sized, limits)
        if best is not None:
            expect(twin.check_balance(sized, leaves, limits), about)
        expect(self._bad_level(sized, told.level, best, leaves), about)
        if apply:
            held = leaves if not twin.buddy else self._held(job)
            expect(twin.check_held(sized, leaves, held), about)
            twin.commit_place(job, sized, leaves, held, limits)
        return "placed" if told.template == gang.ranks else "reduced"

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
        widen: bool = False,
    ) -> str:
        """Repair a job; the outcome of :meth:`Judge.verdict`.

        Parameters
        ----------
        job, failed, limits, partial, widen
            As for ``Planner.replan``.
        later
            Make a plan first, see that it changes nothing, then apply it.
        """
        case = RepairCase(job, failed, limits, partial, widen)
        part = None
        if not partial and len(sizes_of(self.twin.jobs[job].gang)) > 1:
            part = self._asked(case, True, False)
        result = self._asked(case, partial, not later)
        outcome = Judge(self.twin, case, result, part).verdict()
        if later and result:
            self.check()
            self.planner.apply(result)
        self._commit(case, result)
        return outcome

    def _asked(self, case: RepairCase, partial: bool, apply: bool) -> Any:
        return self.planner.replan(
            case.job,
            failed=case.failed,
            limits=case.limits,
            partial=partial,
            widen=case.widen and not (partial and not case.partial),
            apply=apply,
        )

    def resize(
        self,
        job: JobKey,
        ranks: int,
        limits: LimitTable | None = None,
        later: bool = False,
    ) -> str:
        """Give a job another size: "same", "smaller", "grown" or the Misfit's code.

        Parameters
        ----------
        job, ranks, limits
            As for ``Planner.resize``.
        later
            Make a plan first, see that it changes nothing, then apply it.
        """
        twin = self.twin
        record = twin.jobs[job]
        before = record.gang.ranks
        result = self.planner.resize(job, ranks, limits=limits, apply=not later)
        about = f"resize {job!r} from {before} to {ranks} limits {limits}: {result!r}"
        if ranks > before:
            table = record.limits if limits is None else limits
            needs = twin.needs(record.gang, table)
            free = frozenset(twin.free_leaves())
            growth = Growth(twin.tree, needs, record.leaves, ranks - before, free)
            exists = growth.lowest_level() is not None
            if bool(result) != exists:
                raise Difference(f"{about}; room exists: {exists}")
            if not result:
                return str(result.code.name)
            expect(growth.broken(result), about)
        else:
            needs = twin.needs(record.gang)
            kept = ranks_left(needs, twin.dead_ranks(job), ranks)
            if result.kept.tolist() != kept or len(result.moves):
                raise Difference(f"{about}; ranks {kept} should stay as they are")
        if later:
            self.check()
            self.planner.apply(result)
        self._commit(RepairCase(job), result)
        return "same" if ranks == before else "grown" if ranks > before else "smaller"

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
            outcomes.append(Judge(self.twin, case, result).verdict())
            self._commit(case, result)
        return outcomes

    def _commit(self, case: RepairCase, result: Any) -> None:
        if not result:
            return
        self.twin.commit_repair(case.job, result, case.failed)
        record = self.twin.jobs[case.job]
        expected = record.leaves
        told = (result.leaves.tolist(), result.template)
        if told != (expected, record.gang.ranks):
            raise Difference(f"{case}: {result!r}; leaves should be {expected}")

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
