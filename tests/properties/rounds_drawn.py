"""Random rounds of every shape that is hard for a solver, and slow judges of answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Worth = Callable[[np.random.Generator, Ints, int], Floats]


@dataclass(frozen=True)
class Drawn:
    """A round as `solve` takes it, and what follows from it by definition.

    Attributes
    ----------
    kind
        Of its utilities.
    demand
        As it is given, which may be without an axis; ``full`` has all of them.
    full
        What each pair wants of each row, those of the quotas last: shape (jobs,
        configurations, rows).
    limits
        Of these rows.
    worth
        Utilities, NaN where forbidden, with the bonus of what is held.
    options
        Everything else that is given.
    """

    kind: str
    utility: Floats
    demand: Any
    capacity: Any
    full: Ints
    limits: Ints
    worth: Floats
    options: dict[str, Any]

    @property
    def idle(self) -> float:
        """What a job that is left out is worth."""
        return float(self.options["idle"])

    @property
    def stay(self) -> Ints:
        """Configuration of each job that is fixed, -1 = it is free."""
        held = self.options.get("current")
        if held is None or "fixed" not in self.options:
            return np.full(self.worth.shape[0], -1)
        return np.where(self.options["fixed"], held, -1)

    def used(self, choice: Ints) -> Ints:
        """Of each row."""
        jobs = np.flatnonzero(choice >= 0)
        taken: Ints = self.full[jobs, choice[jobs]].sum(axis=0)
        return taken

    def value(self, choice: Ints) -> float:
        """What it is worth with the bonus; NaN where a job cannot run so."""
        jobs = np.flatnonzero(choice >= 0)
        left = self.idle * (choice.size - jobs.size)
        return float(self.worth[jobs, choice[jobs]].sum() + left)

    def legal(self, choice: Ints) -> bool:
        """Whether it breaks no rule."""
        stay = self.stay
        kept = (choice == stay)[stay >= 0].all()
        jobs = np.flatnonzero((choice >= 0) & (stay < 0))
        possible = not np.isnan(self.worth[jobs, choice[jobs]]).any()
        return bool(kept and possible and (self.used(choice) <= self.limits).all())

    def kept(self, choice: Ints) -> int:
        """How many jobs keep what they hold."""
        held = self.options.get("current")
        return 0 if held is None else int(((choice == held) & (choice >= 0)).sum())

    def net(self) -> Floats:
        """What pairs that fit alone are worth beyond leaving the job out, else 0."""
        stay = self.stay
        fits = (self.full <= self.limits - self.used(stay)).all(axis=2)
        fits &= (stay < 0)[:, None]
        more = np.nan_to_num(self.worth - self.idle, nan=0.0)
        return np.where(fits, np.maximum(more, 0.0), 0.0)

    def has_ties(self) -> bool:
        """Whether two pairs that may be taken are worth the same."""
        some = self.net()
        some = some[some > 0]
        return bool(np.unique(some).size < some.size)

    def tolerance(self) -> float:
        """How far two answers that whole numbers call equal may be apart."""
        jobs, net = self.worth.shape[0], self.net()
        bits = jobs.bit_length() if "current" in self.options else 0
        best = float(net.max(axis=1, initial=0.0).sum())
        unit = max(best * 2.0**-49, float(net.sum()) * 2.0 ** (bits - 57))
        exact = abs(self.idle) * jobs + best
        return jobs * unit + exact * 2.0**-48


def _uniform(rng: np.random.Generator, wants: Ints, jobs: int) -> Floats:
    return rng.uniform(0, 10, (jobs, wants.shape[1]))


def _signed(rng: np.random.Generator, wants: Ints, jobs: int) -> Floats:
    return rng.uniform(-2, 3, (jobs, wants.shape[1]))


def _ties(rng: np.random.Generator, wants: Ints, jobs: int) -> Floats:
    return rng.integers(0, 4, (jobs, wants.shape[1])).astype(float)


def _families(rng: np.random.Generator, wants: Ints, jobs: int) -> Floats:
    rows = rng.uniform(1, 9, (3, wants.shape[1]))
    age = rng.choice([1.0, 2.0], jobs)
    return np.asarray(rows[rng.integers(0, 3, jobs)] * age[:, None])


def _alike(rng: np.random.Generator, wants: Ints, jobs: int) -> Floats:
    return np.tile(rng.integers(1, 9, wants.shape[1]).astype(float), (jobs, 1))


def _sums(_rng: np.random.Generator, wants: Ints, jobs: int) -> Floats:
    total = wants.sum(axis=2).astype(float)
    return np.asarray(np.broadcast_to(total, (jobs, wants.shape[1])).copy())


def _correlated(rng: np.random.Generator, wants: Ints, jobs: int) -> Floats:
    return _sums(rng, wants, jobs) + 10


def _nearly(rng: np.random.Generator, wants: Ints, jobs: int) -> Floats:
    noise = rng.uniform(0, 2, (jobs, wants.shape[1]))
    return np.asarray(_sums(rng, wants, jobs) + noise)


def _paper(rng: np.random.Generator, wants: Ints, jobs: int) -> Floats:
    age = np.exp(rng.uniform(0, np.log(100), (jobs, 1)))
    return np.asarray(np.sqrt(1 + _sums(rng, wants, jobs)) * age)


def _huge(rng: np.random.Generator, wants: Ints, jobs: int) -> Floats:
    return _uniform(rng, wants, jobs) * 1e300


def _tiny(rng: np.random.Generator, wants: Ints, jobs: int) -> Floats:
    return _uniform(rng, wants, jobs) * 1e-300


def _mixed(rng: np.random.Generator, wants: Ints, jobs: int) -> Floats:
    return rng.choice([1e12, 1.2, 3.5e-3, 7.0], (jobs, wants.shape[1]))


KINDS: dict[str, Worth] = {
    "uniform": _uniform,
    "signed": _signed,
    "ties": _ties,
    "families": _families,
    "alike": _alike,
    "subset-sum": _sums,
    "correlated": _correlated,
    "nearly": _nearly,
    "paper": _paper,
    "huge": _huge,
    "tiny": _tiny,
    "mixed": _mixed,
}
SIZES = (
    (1, 2, 4, 8, 16, 32),
    (1, 3, 7, 11, 13, 17),
    tuple(range(1, 11)),
    (0, 1, 2, 3),
    (2, 4, 6),
)
IDLES = (0.0, 0.0, 0.0, 1.1, 3.0, -1.0)


def _demand(draw: Random, rng: np.random.Generator, jobs: int, rows: int) -> Ints:
    """Configurations that want of one row each or of several, of all jobs or each."""
    configurations = draw.randint(1, 12)
    sizes = np.array(draw.choice(SIZES))
    groups = jobs if draw.random() < 0.4 else 1
    wants = rng.choice(sizes, (groups, configurations, rows))
    if draw.random() < 0.6:
        only = rng.integers(0, rows, (groups, configurations, 1))
        wants = np.where(np.arange(rows) == only, wants, 0)
    return np.asarray(wants, np.int64)


def _capacity(draw: Random, wants: Ints, jobs: int) -> Ints:
    """Nothing, a little, about what is wanted, or plenty."""
    share = draw.choice((0.0, 0.05, 0.2, 0.4, 0.7, 5.0))
    mean = wants.mean(axis=(0, 1)) if wants.size else np.ones(wants.shape[2])
    limits = np.ceil(share * jobs * mean).astype(np.int64)
    limits += np.array([draw.randint(0, 3) for _ in limits])
    if draw.random() < 0.1:
        limits[draw.randrange(limits.size)] = 0
    return np.asarray(limits)


def _held(
    draw: Random, rng: np.random.Generator, utility: Floats, options: dict[str, Any]
) -> Floats:
    """Adds what jobs hold; the bonus of each pair."""
    jobs, configurations = utility.shape
    bonus = np.zeros_like(utility)
    held = rng.integers(-1, configurations, jobs)
    options["current"] = held
    some = np.flatnonzero(held >= 0)
    if draw.random() < 0.4:
        options["keep_bonus"] = draw.choice((0.25, 1e-6, 3.0))
        bonus[some, held[some]] = options["keep_bonus"]
    if draw.random() < 0.4:
        runs = np.zeros(jobs, np.bool_)
        runs[some] = ~np.isnan(utility[some, held[some]])
        options["fixed"] = runs & (rng.random(jobs) < 0.15)
    return bonus


def _quotas(
    draw: Random, rng: np.random.Generator, full: Ints, limits: Ints
) -> tuple[dict[str, Any], Ints, Ints]:
    """Tenants and their limits, and what these add, a row for each limit."""
    jobs, rows = full.shape[0], limits.size
    tenants = draw.randint(1, 4)
    tenant = rng.integers(0, tenants, jobs)
    quota = np.array(
        [
            [draw.choice((-1, draw.randint(0, int(limits[row]) + 1))) for row in rows_]
            for rows_ in [range(rows)] * tenants
        ]
    )
    wide, caps = [full], [limits]
    for who, row in product(range(tenants), range(rows)):
        if quota[who, row] >= 0:
            mine = (tenant == who)[:, None]
            wide.append((full[:, :, row] * mine)[:, :, None])
            caps.append(quota[who, row : row + 1])
    options = {"tenant": tenant, "quota": quota}
    return options, np.concatenate(wide, axis=2), np.concatenate(caps)


def drawn(draw: Random, jobs_max: int = 60) -> Drawn:
    """A round; every part of it may be at an edge."""
    rng = np.random.default_rng(draw.getrandbits(63))
    jobs, rows = draw.choice((0, 1, 2, 3, draw.randint(0, jobs_max))), 1
    jobs = draw.randint(4, jobs_max) if draw.random() < 0.6 else jobs
    rows = draw.choice((1, 1, 2, 3, 4))
    wants = _demand(draw, rng, jobs, rows)
    kind = draw.choice(tuple(KINDS))
    utility = KINDS[kind](rng, wants, jobs)
    if draw.random() < 0.5:
        utility[rng.random(utility.shape) < 0.15] = np.nan
    limits = _capacity(draw, wants, jobs)
    full = np.broadcast_to(wants, (jobs, *wants.shape[1:])).astype(np.int64)
    options: dict[str, Any] = {"idle": draw.choice(IDLES)}
    demand: Any = wants if wants.shape[0] != 1 or jobs == 1 else wants[0]
    capacity: Any = limits
    if rows == 1 and draw.random() < 0.5:
        demand, capacity = demand[..., 0], int(limits[0])
    runs = utility
    if draw.random() < 0.15:
        options["forbidden"] = rng.random(utility.shape) < 0.2
        runs = np.where(options["forbidden"], np.nan, utility)
    worth = runs
    if draw.random() < 0.3:
        worth = runs + _held(draw, rng, runs, options)
    if draw.random() < 0.2:
        quotas, full, limits = _quotas(draw, rng, full, limits)
        options |= quotas
    if draw.random() < 0.5:
        options["keys"] = rng.permutation(3 * jobs + 1)[:jobs] - jobs
    return Drawn(kind, utility, demand, capacity, full, limits, worth, options)


def permuted(round_: Drawn, order: Ints) -> Drawn:
    """The same round, its jobs in another order."""
    options = dict(round_.options)
    for name in ("current", "fixed", "forbidden", "tenant", "keys"):
        if name in options:
            options[name] = options[name][order]
    alike = np.ndim(round_.demand) < np.ndim(round_.utility) + (
        np.ndim(round_.capacity) > 0
    )
    return Drawn(
        round_.kind,
        round_.utility[order],
        round_.demand if alike else round_.demand[order],
        round_.capacity,
        round_.full[order],
        round_.limits,
        round_.worth[order],
        options,
    )


def brute(round_: Drawn) -> tuple[float, int]:
    """The most that any answer is worth, and the most kept among those worth as much."""
    best, most = -np.inf, 0
    stay, near = round_.stay, round_.tolerance()
    jobs, configurations = round_.worth.shape
    picks = [
        range(-1, configurations) if stay[job] < 0 else (stay[job],)
        for job in range(jobs)
    ]
    for picked in product(*picks):
        choice = np.array(picked, np.int64)
        if round_.legal(choice):
            value, kept = round_.value(choice), round_.kept(choice)
            if value > best + near:
                best, most = value, kept
            elif value >= best - near:
                best, most = max(best, value), max(most, kept)
    return best, most


def greedy(round_: Drawn, *, by_share: bool) -> float:
    """Worth of the answer in which jobs choose in turn, each the best that fits.

    Parameters
    ----------
    by_share
        Who is worth most for its share of the capacities comes first, else who is worth
        most.
    """
    net, choice = round_.net(), round_.stay.copy()
    rate = net.copy()
    left = round_.limits - round_.used(choice)
    if by_share:
        share = (round_.full / np.maximum(left, 1)).sum(axis=2)
        rate = net / net.max(initial=1e-300) / np.maximum(share, 1e-12)
    first = net.argmax(axis=1) if net.size else np.zeros(net.shape[0], int)
    for job in np.argsort(-rate[np.arange(first.size), first], kind="stable"):
        fits = (round_.full[job] <= left).all(axis=1) & (net[job] > 0)
        if choice[job] < 0 and fits.any():
            choice[job] = int(np.where(fits, net[job], -1.0).argmax())
            left -= round_.full[job, choice[job]]
    return round_.value(choice)
