"""Order by utility: what every choice is worth, then the best choice that fits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from phalanx_core.assignment import Assignment, solve
from phalanx_core.fairness import tenant_budgets_by_type
from phalanx_core.placement import Misfit
from phalanx_core.scheduling.decision import Why
from phalanx_core.scheduling.records import JobRecord
from phalanx_core.scheduling.round import Bid, Kept, Refused, Round, array
from phalanx_core.scoring import score


def choose(round: Round) -> None:
    """The choice of most utility; what the topology cannot hold is cut, the rest anew."""
    open_ = round.undecided()
    if not open_:
        return
    worth = _worth(round, open_)
    room = _capacity(round, open_).tolist()
    round.room = dict(zip(round.types, room, strict=True))
    round.worth = dict(zip((one.job for one in open_), worth, strict=True))
    if round.options.order == "owed-then-utility":
        round.budgets = _budgets(round, open_)
        round.clock.lap("fairness")
        _settle(round, open_, worth, round.budgets, Why.CHOSEN)
        rest = _still_open(round, open_)
        left = [open_[at] for at in rest]
        _settle(round, left, _without(round, left, worth[rest], ()), None, Why.BORROWED)
    else:
        _settle(round, open_, worth, None, Why.CHOSEN)
    _leave(round, open_, worth)


def _worth(round: Round, jobs: Sequence[JobRecord]) -> NDArray[np.float64]:
    options, now = round.options, round.now
    rows = array((one.row for one in jobs), np.intp)
    total = options.age == "total"
    # Columns that no job here has are left out: they would be part of ties.
    width = max(len(one.types) for one in jobs)
    worth = score(
        round.table.goodput[rows, :width],
        [one.progress_s for one in jobs],
        [one.lost_s + one.checkpoint_cost_s for one in jobs],
        [one.request.restart_s for one in jobs],
        [one.total_waiting_s(now) if total else one.waiting_s(now) for one in jobs],
        fairness=options.fairness,
        age_rate_per_s=options.age_rate_per_s,
        age_cap=options.age_cap,
        restart_floor=options.restart_floor,
        current=array((one.configuration for one in jobs), np.int64),
    )
    round.clock.lap("score")
    return np.asarray(worth, np.float64)


def _capacity(round: Round, jobs: Sequence[JobRecord]) -> NDArray[np.int64]:
    """Leaves of each type that are free, or of jobs about which a choice is made."""
    free = [round.whatif.free(type) for type in round.types]
    for one in jobs:
        if one.holds and one.job not in round.whatif.given:
            free[round.columns[one.type]] += one.gpus
    return np.array(free, np.int64)


def _budgets(round: Round, jobs: Sequence[JobRecord]) -> NDArray[np.int64]:
    """GPUs of each type for each tenant, those among them that are held already."""
    claims = _taken(round)
    capacity = _capacity(round, jobs) + claims.sum(axis=0)
    rows = array((one.row for one in jobs), np.intp)
    wanted = np.where(
        np.isnan(round.table.goodput[rows])[:, :, None], 0, round.table.demand[rows]
    ).max(axis=1)
    tenant = array((round.tenants[one.request.tenant] for one in jobs), np.intp)
    np.add.at(claims, tenant, wanted)
    lease_s = round.options.lease_s
    return tenant_budgets_by_type(round.accounts, claims, capacity, lease_s)


def _taken(round: Round) -> NDArray[np.int64]:
    """GPUs of each type that each tenant has whatever is chosen now."""
    tenants, columns = round.tenants, round.columns
    taken = np.zeros((len(tenants), len(columns)), np.int64)
    kept = (one for one in round.ending if one.job in round.kept)
    for one in (*round.fixed, *kept):
        taken[tenants[one.request.tenant], columns[one.type]] += one.gpus
    for one in (*round.pending, *round.ending):
        started = round.started.get(one.job)
        if started is not None:
            column = columns[one.types[started.configuration]]
            gpus = one.request.ways[started.configuration].gpus
            taken[tenants[one.request.tenant], column] += gpus
    return taken


def _settle(
    round: Round,
    jobs: list[JobRecord],
    worth: NDArray[np.float64],
    budgets: NDArray[np.int64] | None,
    why: Why,
) -> None:
    """Solve and place until nothing more is cut."""
    prices = None
    for _ in range(round.options.repairs + 1):
        if not jobs:
            break
        answer = _solved(round, jobs, worth, budgets, prices)
        prices = answer.prices
        if round.objective is None:
            round.objective, round.bound = answer.objective, answer.bound
        cut = _carry_out(round, jobs, answer.choice.tolist(), why)
        round.clock.lap("place")
        _tell(round, jobs, answer, worth)
        if not cut:
            break
        rest = _still_open(round, jobs)
        jobs, worth = [jobs[at] for at in rest], _without(round, jobs, worth, cut)[rest]


def _without(
    round: Round,
    jobs: Sequence[JobRecord],
    worth: NDArray[np.float64],
    cut: Sequence[tuple[int, int]],
) -> NDArray[np.float64]:
    """The utilities, NaN for what was cut and what has the shape of that.

    What a job holds may be kept all the same, while nobody has taken it.
    """
    rows = array((one.row for one in jobs), np.intp)
    unfit = np.isin(round.table.shape[rows, : worth.shape[1]], list(round.unfit))
    for at, one in enumerate(jobs):
        if one.holds and unfit[at, one.configuration]:
            unfit[at, one.configuration] = not round.may_keep(one)
    for at, choice in cut:
        unfit[at, choice] = True
    return np.where(unfit, np.nan, worth)


def _solved(
    round: Round,
    jobs: Sequence[JobRecord],
    worth: NDArray[np.float64],
    budgets: NDArray[np.int64] | None,
    prices: NDArray[np.float64] | None,
) -> Assignment:
    options = round.options
    rows = array((one.row for one in jobs), np.intp)
    demand = round.table.demand[rows, : worth.shape[1]]
    tenant = quota = None
    if budgets is not None:
        tenant = array((round.tenants[one.request.tenant] for one in jobs), np.int64)
        quota = np.maximum(budgets - _taken(round), 0)
    # A job whose leaves were given away holds nothing any more.
    given = round.whatif.given
    current = array(
        (-1 if one.job in given else one.configuration for one in jobs), np.int64
    )
    answer = solve(
        worth,
        demand[:, :, 0] if len(round.types) == 1 else demand,
        _capacity(round, jobs),
        idle=options.idle,
        current=current,
        tenant=tenant,
        quota=quota,
        prices=prices,
        gap=options.gap,
        effort=options.effort,
        time_limit_s=options.time_limit_s,
        seed=options.seed,
    )
    round.clock.lap("solve")
    return answer


def _carry_out(
    round: Round, jobs: Sequence[JobRecord], choice: Sequence[int], why: Why
) -> list[tuple[int, int]]:
    """Keep, free, then place, the largest first; what did not fit, by place in jobs."""
    fresh = []
    kept = Kept(Why.RENEWED if why is Why.CHOSEN else why)
    for at, record in enumerate(jobs):
        chosen = choice[at]
        same = record.holds and chosen == record.configuration
        if same and round.keep(record, kept):
            continue
        if record.holds and record.job not in round.whatif.given:
            round.whatif.give(record)
        if chosen >= 0:
            fresh.append(at)
    if len(fresh) > 1:
        fresh.sort(key=lambda at: _rank(jobs[at], choice[at]))
    cut = []
    for at in fresh:
        record, chosen = jobs[at], choice[at]
        shape = record.shapes[chosen]
        known = round.unfit.get(shape)
        placed = round.start(record, chosen, why) if known is None else known
        if isinstance(placed, Misfit):
            round.unfit[shape] = placed
            round.cut(record, chosen, placed)
            cut.append((at, chosen))
    return cut


def _rank(record: JobRecord, choice: int) -> tuple[int, int, int]:
    request = record.request
    return -request.priority, -request.ways[choice].gpus, record.sequence


def _still_open(round: Round, jobs: Sequence[JobRecord]) -> NDArray[np.intp]:
    """Places of jobs of which nothing is decided."""
    return array(
        (
            at
            for at, one in enumerate(jobs)
            if one.job not in round.kept and one.job not in round.started
        ),
        np.intp,
    )


def _tell(
    round: Round,
    jobs: Sequence[JobRecord],
    answer: Assignment,
    worth: NDArray[np.float64],
) -> None:
    """Why those of whom nothing is decided were not chosen."""
    rest = _still_open(round, jobs)
    if not rest.size:
        return
    rows = array((jobs[at].row for at in rest), np.intp)
    demand = round.table.demand[rows, : worth.shape[1]]
    prices = None
    if answer.prices is not None:
        prices = answer.prices[: len(round.types)]
    price = np.zeros(demand.shape[:2]) if prices is None else demand @ prices
    gain = np.nan_to_num(worth[rest] - price, nan=-np.inf)
    best = gain.argmax(axis=1)
    line = np.arange(rest.size)
    columns = zip(
        rest.tolist(),
        demand.sum(axis=2)[line, best].tolist(),
        worth[rest][line, best].tolist(),
        price[line, best].tolist(),
        strict=True,
    )
    for at, gpus, value, cost in columns:
        told = None if prices is None else cost
        round.bids[jobs[at].job] = Bid(gpus, value, told, round.options.idle)


def _leave(round: Round, jobs: Sequence[JobRecord], worth: NDArray[np.float64]) -> None:
    """Jobs whose lease is over and whose leaves nobody took stay where they are."""
    for record, row in zip(jobs, worth, strict=True):
        job = record.job
        if job in round.kept or job in round.started:
            continue
        if not record.holds:
            round.refused[job] = _refusal(round, record)
        elif row[record.configuration] >= round.options.idle:
            beyond = round.options.order == "owed-then-utility"
            round.keep(record, Kept(Why.BORROWED if beyond else Why.RENEWED))


def _refusal(round: Round, record: JobRecord) -> Refused:
    """Why a job without leaves gets none: none fit, or others are worth more."""
    ways = record.choices
    misfits = [_misfit(round, record, at) for at in ways]
    known = [one for one in misfits if one is not None]
    if known and len(known) == len(misfits):
        return Refused(Why.MISFIT, known[0])
    return Refused(Why.OUTBID, round.bids.get(record.job, ""))


def _misfit(round: Round, record: JobRecord, at: int) -> Misfit | None:
    """Why a configuration found no place, or would have found none of all there were."""
    shape, type = record.shapes[at], record.types[at]
    gang = record.request.ways[at].gang
    if shape not in round.unfit and gang.ranks > round.room[type]:
        answer = round.whatif.read(type).fits(gang)
        if isinstance(answer, Misfit):
            round.unfit[shape] = answer
    return round.unfit.get(shape)
