"""``Planner.preempt_advice``: the cheapest jobs whose leaving makes a gang fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import fsum, isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from phalanx_core import native
from phalanx_core.errors import InvalidRequest, InvariantBroken
from phalanx_core.native import lib
from phalanx_core.placement.capacity import Capacity
from phalanx_core.placement.gang import Gang
from phalanx_core.placement.keys import Handle, Job
from phalanx_core.placement.limits import Limits, VertexLimits, copied
from phalanx_core.placement.misfit import Misfit
from phalanx_core.placement.results import Placement
from phalanx_core.placement.state import State
from phalanx_core.placement.victims import Answer, Victims

if TYPE_CHECKING:
    from phalanx_core.placement.planner import Planner

# With spares, whose hosts change as jobs leave, all subsets of so many jobs are tried.
TRIED_MAX = 8


@dataclass(frozen=True, slots=True)
class Advice:
    """Whose leaving makes a gang fit; truthy, also where nobody need leave.

    Attributes
    ----------
    gang
        That is to be placed.
    victims
        Jobs that leave, in order of ``jobs()``, then handles; none is superfluous.
    cost
        Sum of their costs.
    placement
        Where the gang would go then.
    proven
        Whether no cheaper set exists; False where the search was bounded.
    """

    gang: Gang
    victims: tuple[Job | Handle, ...]
    cost: float
    placement: Placement
    proven: bool

    def __bool__(self) -> bool:
        return True

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        plain = [int(job) if isinstance(job, Handle) else job for job in self.victims]
        return {
            "victims": plain,
            "cost": self.cost,
            "placement": self.placement.to_dict(),
            "proven": self.proven,
        }

    def __str__(self) -> str:
        if not self.victims:
            return f"nobody need leave: {self.placement}"
        names = ", ".join(map(repr, self.victims))
        sure = "" if self.proven else ", not proven to be the least"
        return f"{names} leave (cost {self.cost:g}{sure}): {self.placement}"


class Advising(State):
    """The part of a planner that weighs who should leave; see :class:`Planner`."""

    __slots__ = ()

    def preempt_advice(
        self,
        gang: Gang,
        costs: Mapping[Any, float],
        limits: Limits | None = None,
    ) -> Advice | Misfit:
        """The cheapest set of jobs whose release makes a gang fit; changes nothing.

        Parameters
        ----------
        gang, limits
            As for :meth:`fits`, at its own size: templates do not count.
        costs
            Job, or :class:`Handle`, to what its leaving costs, above 0. Nobody else is
            asked to leave: list jobs of lower priority alone.

        Returns
        -------
        Advice
            With the victims, their cost, and where the gang would go. The answer was
            tried: on a copy they were released and the gang fitted.
        Misfit
            Why it does not fit even when all of them leave.

        Raises
        ------
        UnknownJob, OwnershipError
            If a job or handle of ``costs`` is not there.
        InvalidRequest
            If a cost is not a number above 0, the gang or limits do not go with the
            topology, or alignment is "buddy".

        Notes
        -----
        Down, suspect and cordoned leaves of a job help nobody. Exact as long as, in each
        domain that could hold the gang, jobs that share hosts (domains that its groups,
        slices or limits cut at) come in clusters of at most 4,096 distinguishable
        choices: 12 jobs that are all different, thousands that are alike. Beyond that,
        and where spares move as jobs leave (more than 8 jobs), the search is bounded and
        ``proven`` says whether its answer is known to be the cheapest all the same. Of
        sets that cost the same the first is given, by domain and order of jobs.

        Examples
        --------
        >>> from phalanx_core import Gang, Planner, Topology
        >>> planner = Planner(Topology.from_spec("host:2 gpu:4"))
        >>> for job, ranks in (("a", 4), ("b", 2), ("c", 2)):
        ...     _ = planner.place(job, Gang(ranks))
        >>> costs = {"a": 5, "b": 2, "c": 2}
        >>> advice = planner.preempt_advice(Gang(4, within="host"), costs)
        >>> advice.victims, advice.cost, advice.proven
        (('b', 'c'), 4.0, True)
        """
        with self._inside:
            if not isinstance(gang, Gang):
                raise InvalidRequest(f"gang {gang!r}: a Gang")
            if self._frame.alignment == "buddy":
                raise InvalidRequest("preempt_advice: alignment 'buddy' has none")
            gang = gang.at_this_size
            _, _, bound = self._frame.compiled(gang, self._core)
            if limits is not None:
                bound = self._frame.limits(copied(limits))
            jobs, prices = self._candidates(costs)
            planner = cast("Planner", self._copy())
        weighed = _Weighed(planner, gang, limits, jobs, prices)
        if not weighed.placed(()):
            return weighed.advice(bound)
        return weighed.told(Answer((), 0.0, True))

    def _candidates(
        self, costs: Mapping[Any, float]
    ) -> tuple[list[Job | Handle], list[float]]:
        if not isinstance(costs, Mapping):
            raise InvalidRequest(f"costs {costs!r}: a mapping of job to cost")
        for job in costs:
            self._find(job)
        prices = {job: _price(job, cost) for job, cost in costs.items()}
        names: list[Job | Handle] = [
            job for job in costs if not isinstance(job, Handle)
        ]
        order = {job: at for at, job in enumerate(self._jobs)}
        names.sort(key=order.__getitem__)
        names += sorted((job for job in costs if isinstance(job, Handle)), key=int)
        return names, [prices[job] for job in names]

    def _copy(self) -> State:
        other: State = object.__new__(type(self))
        self._copy_to(other)
        return other


def _price(job: object, cost: Any) -> float:
    real = isinstance(cost, (Real, np.number)) and not isinstance(cost, bool)
    if not (real and isfinite(cost) and cost > 0):
        raise InvalidRequest(f"costs[{job!r}] is {cost!r}; a number above 0")
    return float(cost)


class _Weighed:
    """Candidates on a copy of the planner, which is never changed itself."""

    def __init__(
        self,
        planner: Planner,
        gang: Gang,
        limits: Limits | None,
        jobs: list[Job | Handle],
        costs: list[float],
    ) -> None:
        self.planner, self.gang, self.limits = planner, gang, limits
        self.jobs, self.costs = jobs, costs

    def placed(self, members: tuple[int, ...]) -> Placement | Misfit:
        """Where the gang goes once these are really gone."""
        planner = self.planner
        if members:
            planner = planner.clone()
            for one in members:
                job = self.jobs[one]
                if isinstance(job, Handle):
                    planner.release_many([int(job)])
                else:
                    planner.release(job)
        return planner.fits(self.gang, self.limits)

    def told(self, answer: Answer) -> Advice:
        placement = self.placed(answer.members)
        if not isinstance(placement, Placement):
            raise InvariantBroken("P5", f"advice: {answer} leave, and yet: {placement}")
        victims = tuple(self.jobs[one] for one in answer.members)
        return Advice(self.gang, victims, answer.cost, placement, answer.proven)

    def advice(self, bound: VertexLimits | None) -> Advice | Misfit:
        spares = self.planner._frame.spares_levels is not None
        if (spares or self.gang.parts) and len(self.jobs) <= TRIED_MAX:
            return self._tried()
        if self.gang.parts:
            return self._with_parts(bound, spares)
        plain = self._victims(bound, with_spares=False)
        best = plain.cheapest()
        if not spares:
            if best is None:
                return self._none_fits(proven=True)
            return self.told(best if best.proven else self._trimmed(best, plain.fits))
        return self._with_spares(
            best, self._victims(bound, with_spares=True).cheapest()
        )

    def _victims(self, bound: VertexLimits | None, with_spares: bool) -> Victims:
        planner = self.planner
        frame = planner._frame
        states = native.leaf_states(planner._core, 0, frame.leaf_count)
        kind, fit = states & 3, (states >> 2) & 7 == 0
        usable = (states >> 5) & 1 == 1
        if with_spares:
            usable |= (kind == lib.PHX_SPARE) & fit
        known: dict[int, int] = {
            planner._find(job)._slot: one for one, job in enumerate(self.jobs)
        }
        table: NDArray[np.int64] = np.full(max([0, *known]) + 1, -1, np.int64)
        table[list(known)] = list(known.values())
        holder = np.full(states.size, -1, np.int64)
        held = (kind == lib.PHX_JOB) & fit & (states >> 8 < table.size)
        holder[held] = table[(states >> 8)[held]]
        capacity = Capacity(frame, self.gang, bound)
        return Victims(capacity, self.gang.ranks, usable, holder, self.costs)

    def _none_fits(self, proven: bool) -> Misfit:
        refused = self.placed(tuple(range(len(self.jobs))))
        if not isinstance(refused, Misfit):
            raise InvariantBroken("P5", f"advice: no room was found for {self.gang!r}")
        refused.proven = refused.proven and proven
        return refused

    def _tried(self) -> Advice | Misfit:
        """Every subset, the cheapest first."""
        everyone = range(len(self.jobs))
        subsets = [
            members
            for count in range(1, len(self.jobs) + 1)
            for members in combinations(everyone, count)
        ]
        priced = [(fsum(self.costs[one] for one in some), some) for some in subsets]
        sure = True
        for cost, some in sorted(priced, key=lambda row: (row[0], len(row[1]), row[1])):
            placement = self.placed(some)
            if isinstance(placement, Placement):
                return self.told(Answer(some, cost, sure))
            # Of parts a bounded search may have given up.
            sure &= placement.proven
        return self._none_fits(proven=sure)

    def _with_parts(self, bound: VertexLimits | None, spares: bool) -> Advice | Misfit:
        """Who leaves for parts, whose ranks alone are counted: the least they need."""
        return self._with_spares(None, self._victims(bound, spares).cheapest())

    def _with_spares(
        self, held: Answer | None, opened: Answer | None
    ) -> Advice | Misfit:
        """Who leaves where a spare may move to a host that becomes idle.

        ``held`` counts no spare as room, ``opened`` every one: the truth lies between,
        so an answer no dearer than ``opened`` is the cheapest.
        """
        if opened is None:
            return self._none_fits(proven=True)
        for answer in (opened, held):
            if answer is not None and self.placed(answer.members):
                if not opened.proven or answer.cost > opened.cost:
                    answer = self._trimmed(answer, self._really_fits)
                least = opened.proven and answer.cost <= opened.cost
                return self.told(answer._replace(proven=least))
        everyone = tuple(range(len(self.jobs)))
        if self._really_fits(everyone):
            answer = Answer(everyone, fsum(self.costs), False)
            return self.told(self._trimmed(answer, self._really_fits))
        return self._none_fits(proven=False)

    def _really_fits(self, members: tuple[int, ...]) -> bool:
        return bool(self.placed(members))

    def _trimmed(
        self, answer: Answer, fits: Callable[[tuple[int, ...]], bool]
    ) -> Answer:
        """Without whom it fits as well, the dearest first."""
        members = answer.members
        for one in sorted(members, key=lambda m: (-self.costs[m], m)):
            rest = tuple(other for other in members if other != one)
            if fits(rest):
                members = rest
        cost = fsum(self.costs[one] for one in members)
        return Answer(members, cost, answer.proven)
