"""What the slow twin says to an answer of Replan or of resize."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from phalanx_core.testing.needs import LimitTable
from phalanx_core.testing.repair_rules import broken_repair
from phalanx_core.testing.repairing import Wound
from phalanx_core.testing.sizes import (
    broken_shrink,
    largest_without,
    sizes_of,
    units_hit,
)
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
    widen: bool = False
    cordoned: bool = False


def expect(broken: list[str], about: str) -> None:
    """Raise where rules are broken.

    Raises
    ------
    Difference
        With the rules, and what the answer is about.
    """
    if broken:
        raise Difference(f"{about}: {'; '.join(broken)}")


@dataclass(slots=True)
class Judge:
    """Judges one answer of Replan while the twin is as it was before.

    Parameters
    ----------
    twin, case, result
        The twin, what was asked, and what a planner answered.
    part
        What the planner answers to the same case with ``partial=True``, where the gang
        has templates.

    Notes
    -----
    Of a gang without slices under ``partial=True`` the most units are mended. Of one
    with slices that is not promised: its partial repairs have to be legal, and whole
    where a whole one exists. Where several parts are broken not even that is.
    """

    twin: SlowPlanner
    case: RepairCase
    result: Any
    part: Any = None

    @property
    def about(self) -> str:
        """The case and the answer, for messages."""
        return f"{self.case}: {self.result!r}"

    def verdict(self) -> str:
        """The outcome's name.

        "whole", "repaired", "partial", "widened", "shrunk", "REPLACEMENT", or
        "UNPROVEN" where a repair exists and the refusal says that it is not proven.

        Raises
        ------
        Difference
            If the twin does not allow the answer.
        """
        case = self.case
        asked = (case.job, case.failed, case.limits, case.cordoned)
        wound = self.twin.wound(*asked)
        exists = self.twin.repair_exists(*asked)
        if not self.result:
            return self._refused(wound, exists)
        if len(self.result.kept) != wound.needs.ranks:
            return self._shrunk(wound, exists)
        return self._repaired(wound, exists)

    def _most(self, wound: Wound, exists: bool) -> int | None:
        """Most units that a repair mends, None where that is not promised."""
        several = len({unit.part for unit in wound.units()}) > 1
        if exists and not (several and self.case.partial):
            return len(wound.units())
        if wound.needs.limited or wound.needs.chained:
            return None
        case = self.case
        return self.twin.max_repairable(
            case.job, case.failed, case.limits, case.cordoned
        )

    def _refused(self, wound: Wound, exists: bool) -> str:
        result, case = self.result, self.case
        # Under slices or in parts a search may give up, if it says so.
        given_up = not result.proven and wound.needs.chained
        if not given_up and (exists or not result.proven):
            raise Difference(f"{self.about}; a repair exists: {exists}")
        most = self._most(wound, exists)
        if case.partial and most:
            raise Difference(f"{self.about}; {most} units can be repaired")
        if not (case.partial or case.cordoned):
            self._no_size(wound)
        if exists or (case.widen and widened_exists(wound)):
            if not given_up:
                raise Difference(f"{self.about}; slices around could move along")
            return "UNPROVEN"
        return str(result.code.name)

    def _repaired(self, wound: Wound, exists: bool) -> str:
        twin, case, result = self.twin, self.case, self.result
        moved = {int(rank) for rank in result.moves[:, 0]}
        units = wound.units()
        broken = {rank for unit in units for rank in unit.ranks}
        if case.widen and not moved <= broken:
            return self._widened(wound, exists, moved)
        spares = twin.spare_vertices()
        expect(broken_repair(wound, result, spares, case.partial), self.about)
        mended = [unit for unit in units if moved.intersection(unit.ranks)]
        left = [rank for unit in units if unit not in mended for rank in unit.dead]
        if sorted(result.unresolved.tolist()) != left:
            raise Difference(f"{self.about}; unresolved should be {left}")
        most = self._most(wound, exists)
        if most is not None and len(mended) != most:
            total = len(units)
            raise Difference(f"{self.about}; {most} of {total} can be repaired")
        if not units:
            return "whole"
        return "repaired" if len(mended) == len(units) else "partial"

    def _widened(self, wound: Wound, exists: bool, moved: set[int]) -> str:
        """Whole slices around broken units move along, since nothing less does."""
        if exists and self._is_proven(wound):
            raise Difference(f"{self.about}; nothing has to move along")
        runs = [run for run in wound.around() if moved.issuperset(run)]
        spares = self.twin.spare_vertices()
        wide = wound.widened(runs)
        expect(broken_repair(wide, self.result, spares, False, False), self.about)
        if self.result.unresolved.size:
            raise Difference(f"{self.about}; nothing may be unresolved")
        return "widened"

    def _is_proven(self, wound: Wound) -> bool:
        """Whether the planner has to find a whole repair where one exists."""
        return not (wound.needs.chained and wound.needs.limited)

    def _shrunk(self, wound: Wound, exists: bool) -> str:
        """Units that cannot be repaired end, then the highest, as few as can be."""
        case, result = self.case, self.result
        if case.partial or case.cordoned:
            raise Difference(f"{self.about}; this must not change the size")
        if exists and self._is_proven(wound):
            raise Difference(f"{self.about}; a repair exists")
        spares = self.twin.spare_vertices()
        expect(broken_shrink(wound, result, spares), self.about)
        best = self._best_size(wound)
        if best != result.template or len(result.kept) != best:
            raise Difference(f"{self.about}; size {best} would do")
        return "shrunk"

    def _no_size(self, wound: Wound) -> None:
        best = self._best_size(wound)
        if best is not None:
            raise Difference(f"{self.about}; size {best} would do")

    def _best_size(self, wound: Wound) -> int | None:
        """The largest template once all units end that cannot be repaired."""
        needs = wound.needs
        sizes = sizes_of(self.twin.jobs[self.case.job].gang)
        if min(sizes) >= needs.ranks:
            return None
        lost = self.part.unresolved.tolist() if self.part else wound.dead
        hit = units_hit(needs, lost)
        most = self._most(wound, False)
        if most is not None and len(hit) != len(wound.units()) - most:
            raise Difference(f"{self.part!r}; {most} units can be repaired")
        return largest_without(needs, sizes, hit)


def widened_exists(wound: Wound) -> bool:
    """Whether a repair exists that moves slices around the broken units as well."""
    runs = wound.around()
    choices = (
        chosen
        for count in range(1, len(runs) + 1)
        for chosen in combinations(runs, count)
    )
    return any(
        any(True for _ in wound.widened(chosen).outcomes()) for chosen in choices
    )
