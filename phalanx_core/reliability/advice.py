"""``advise``: what a training run loses to failures, and what each remedy buys back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phalanx_core.checks import is_number
from phalanx_core.errors import InvalidRequest
from phalanx_core.reliability.budget import RecoveryBudget
from phalanx_core.reliability.domains import above_zero, from_zero, whole
from phalanx_core.reliability.intervals import BestInterval, best_interval
from phalanx_core.reliability.renewal import GPU_MTBF_HOURS, ettr, mtbf_s
from phalanx_core.reliability.spares import (
    hosts_under_repair,
    spare_probabilities,
    spare_probability,
    spares_for,
)

GPUS_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Fleet:
    """What a job runs on.

    Attributes
    ----------
    gpus_per_host
        A failure takes a host with all of them; at least 1.
    hosts_per_domain
        That share spares, those of a pod, say; at least 1.
    gpu_mtbf_hours
        Mean hours between failures of one GPU and what it needs, above 0.
    repair_s
        Mean seconds until a host that failed is a spare, above 0.
    without_spare_s
        Seconds of a recovery where no spare is free, at least 0.

    Raises
    ------
    InvalidRequest
        If a value is outside its domain.
    """

    gpus_per_host: int = 8
    hosts_per_domain: int = 256
    gpu_mtbf_hours: float = GPU_MTBF_HOURS
    repair_s: float = 4 * 3600.0
    without_spare_s: float = 900.0

    def __post_init__(self) -> None:
        whole("gpus_per_host", self.gpus_per_host, 1, GPUS_MAX)
        whole("hosts_per_domain", self.hosts_per_domain, 1, GPUS_MAX)
        above_zero("gpu_mtbf_hours", self.gpu_mtbf_hours)
        above_zero("repair_s", self.repair_s)
        from_zero("without_spare_s", self.without_spare_s)


class Remedy(NamedTuple):
    """One change, and the ratio with it.

    Attributes
    ----------
    what
        In words.
    ettr, gained
        With it, and beyond that of today.
    """

    what: str
    ettr: float
    gained: float


class SpareLevel(NamedTuple):
    """A number of spares in each domain.

    Attributes
    ----------
    spares
        Hosts.
    probability, simulated
        That one is free when a host fails: by theory, and of simulated failures.
    recovery_s
        Mean recovery, with and without a spare.
    ettr
        With that recovery, at today's interval.
    """

    spares: int
    probability: float
    simulated: float
    recovery_s: float
    ettr: float


@dataclass(frozen=True, slots=True)
class Advice:
    """What failures cost a job, and what helps.

    Attributes
    ----------
    gpus
        Of the job.
    mtbf_s
        Mean seconds between its failures.
    spares
        That each domain has today.
    recovery
        Items of a recovery with a spare.
    recovery_s
        Mean of today's recoveries, with and without a spare.
    interval_s, overhead
        Today's, and the share of it that a checkpoint takes.
    ettr
        Today's ratio.
    best
        The best interval, beside Young's and Daly's.
    spare_levels
        From none to as many as the target asks for.
    remedies
        Each alone and all together; the one that gains most first.
    """

    gpus: int
    mtbf_s: float
    spares: int
    recovery: RecoveryBudget
    recovery_s: float
    interval_s: float
    overhead: float
    ettr: float
    best: BestInterval
    spare_levels: tuple[SpareLevel, ...]
    remedies: tuple[Remedy, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "gpus": self.gpus,
            "mtbf_s": self.mtbf_s,
            "spares": self.spares,
            "recovery": dict(self.recovery.items),
            "recovery_s": self.recovery_s,
            "interval_s": self.interval_s,
            "overhead": self.overhead,
            "ettr": self.ettr,
            "best_interval": {
                "exact_s": self.best.exact_s,
                "young_s": self.best.young_s,
                "daly_s": self.best.daly_s,
            },
            "spare_levels": [one._asdict() for one in self.spare_levels],
            "remedies": [one._asdict() for one in self.remedies],
        }


def advise(
    gpus: int,
    checkpoint_s: float,
    interval_s: float | None = None,
    *,
    recovery: RecoveryBudget | None = None,
    fleet: Fleet | None = None,
    spares: int = 1,
    target: float = 0.99,
    seed: int = 0,
) -> Advice:
    """What a job of so many GPUs loses to failures, and what each remedy buys back.

    Parameters
    ----------
    gpus
        1 to 2 ** 31 - 1.
    checkpoint_s
        Seconds that a checkpoint stops the job, above 0.
    interval_s
        From one checkpoint to the next, longer than a checkpoint; None: the best.
    recovery
        With a spare; None: the paper's.
    fleet
        None: hosts of 8 GPUs, 256 to a pod, repaired in four hours.
    spares
        That each domain has today, from 0.
    target
        Probability of a free spare that is asked for, in (0, 1).
    seed
        Of the simulation beside the theory.

    Raises
    ------
    InvalidRequest
        If a value is outside its domain.

    Notes
    -----
    Ratios are :func:`ettr`'s exact form at the mean recovery: it depends on a recovery's
    distribution by its mean alone. O(spares) and one simulation of 100,000 failures.

    Examples
    --------
    >>> advice = advise(131_072, checkpoint_s=1.05, interval_s=150)
    >>> round(advice.ettr, 3), round(advice.best.exact_s, 1)
    (0.822, 54.1)
    >>> [(one.spares, round(one.probability, 3)) for one in advice.spare_levels]
    [(0, 0.0), (1, 0.849), (2, 0.988), (3, 0.999)]
    >>> advice.remedies[0].what
    'all of these'
    """
    fleet = fleet or Fleet()
    recovery = recovery or RecoveryBudget.paper()
    count = whole("gpus", gpus, 1, GPUS_MAX)
    held = whole("spares", spares)
    time = mtbf_s(count, gpu_mtbf_hours=fleet.gpu_mtbf_hours)
    best = best_interval(time, checkpoint_s)
    interval = best.exact_s if interval_s is None else interval_s
    if not (is_number(interval) and interval > checkpoint_s):
        raise InvalidRequest(
            f"interval_s {interval!r}: finite, and longer than the checkpoint of "
            f"{checkpoint_s:g} s"
        )
    model = _Model(time, checkpoint_s, interval, recovery, fleet)
    needed = spares_for(target, *model.domain()).spares
    under_repair = hosts_under_repair(*model.domain(), seed=seed)
    today = model.mean_recovery(held)
    ratio = model.ratio(today, interval)
    return Advice(
        gpus=count,
        mtbf_s=time,
        spares=held,
        recovery=recovery,
        recovery_s=today,
        interval_s=float(interval),
        overhead=checkpoint_s / interval,
        ettr=ratio,
        best=best,
        spare_levels=model.levels(needed, under_repair),
        remedies=model.remedies(ratio, held, max(needed, held), best.exact_s),
    )


class _Model(NamedTuple):
    """One job on one fleet."""

    mtbf_s: float
    checkpoint_s: float
    interval_s: float
    recovery: RecoveryBudget
    fleet: Fleet

    def domain(self) -> tuple[int, float, float]:
        """Hosts, seconds between failures of one, and of a repair."""
        fleet = self.fleet
        host_s = mtbf_s(fleet.gpus_per_host, gpu_mtbf_hours=fleet.gpu_mtbf_hours)
        return fleet.hosts_per_domain, host_s, fleet.repair_s

    def mean_recovery(self, spares: int) -> float:
        """With a spare as often as there is one."""
        return self.recovery_with(spare_probability(spares, *self.domain()))

    def recovery_with(self, found: float) -> float:
        """Mean where a spare is free with that probability."""
        return found * self.recovery.total_s + (1 - found) * self.fleet.without_spare_s

    def ratio(self, recovery_s: float, interval_s: float) -> float:
        """The exact one."""
        share = self.checkpoint_s / interval_s
        return float(ettr(self.mtbf_s, recovery_s, interval_s, share))

    def levels(
        self, most: int, under_repair: NDArray[np.int64]
    ) -> tuple[SpareLevel, ...]:
        """The table of spares, from none to the most."""
        found = spare_probabilities(most, *self.domain())
        times = [self.recovery_with(one) for one in found]
        return tuple(
            SpareLevel(
                spares,
                probability,
                float((under_repair < spares).mean()),
                recovery_s,
                self.ratio(recovery_s, self.interval_s),
            )
            for spares, (probability, recovery_s) in enumerate(
                zip(found, times, strict=True)
            )
        )

    def remedies(
        self, today: float, spares: int, needed: int, best_s: float
    ) -> tuple[Remedy, ...]:
        """Each alone, and all together, by what they gain."""
        now = self.mean_recovery(spares)
        ratios = {
            f"a checkpoint every {best_s:.{1 if best_s < 100 else 0}f} s": self.ratio(
                now, best_s
            ),
            f"{needed} spares a domain": self.ratio(
                self.mean_recovery(needed), self.interval_s
            ),
        }
        changed = self
        items = self.recovery.items
        if items:
            longest = max(items, key=lambda name: items[name])
            shorter = self.recovery.with_items(**{longest: items[longest] / 2})
            changed = self._replace(recovery=shorter)
            ratios[f"half of {longest}"] = changed.ratio(
                changed.mean_recovery(spares), self.interval_s
            )
        ratios["all of these"] = changed.ratio(changed.mean_recovery(needed), best_s)
        found = [Remedy(what, ratio, ratio - today) for what, ratio in ratios.items()]
        return tuple(sorted(found, key=lambda one: -one.gained))
