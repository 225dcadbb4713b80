"""``SchedulerOptions``: how rounds are decided; checked once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

from phalanx_core.assignment.solving import SEED_MAX
from phalanx_core.checks import is_number, is_whole
from phalanx_core.errors import InvalidRequest
from phalanx_core.fairness import owed

ORDERS = ("utility", "owed", "owed-then-utility")
ENTITLEMENTS = ("quota", "demand")
TRIGGERS = ("timer", "event")
RELEASES = ("reported", "immediate")
PASSES = ("job", "tenant")
AGES = ("last", "total")


@dataclass(frozen=True, slots=True)
class EarlyEviction:
    """Whose lease may be ended early for a job of the same tenant that just came.

    Attributes
    ----------
    for_new, for_urgent
        Whether jobs that never ran, and urgent ones, may have others evicted. Nobody is
        evicted for a job of another tenant, and no urgent job at all.
    first_s
        How long the first lease of the evicted has run, in seconds, from and to: before,
        it would be lost to its start alone; after, too much of its work.
    renewed_s
        How long a renewed one has run at most.

    Notes
    -----
    The defaults are those of ASTRAEA's public simulator.
    """

    for_new: bool = True
    for_urgent: bool = True
    first_s: tuple[float, float] = (120.0, 300.0)
    renewed_s: float = 300.0

    def __post_init__(self) -> None:
        for name in ("for_new", "for_urgent"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidRequest(f"{name} {getattr(self, name)!r}: True or False")
        pair = self.first_s
        good = isinstance(pair, tuple) and len(pair) == 2 and all(map(is_number, pair))
        if not (good and 0 <= pair[0] <= pair[1]):
            raise InvalidRequest(f"first_s {pair!r}: two numbers from 0, rising")
        if not (is_number(self.renewed_s) and self.renewed_s >= 0):
            raise InvalidRequest(f"renewed_s {self.renewed_s!r}: at least 0")


@dataclass(frozen=True, slots=True)
class SchedulerOptions:
    """How rounds are decided.

    Attributes
    ----------
    order
        "utility" (OAK): the most utility. "owed" (ASTRAEA): the most-owed tenant, then
        its most-owed job. "owed-then-utility": what each tenant may have follows from
        the ledger, and within that the most utility.
    lease_s, round_s
        Length of a lease, and time between rounds, at most a lease. A job within its
        lease is not touched by a choice; an end of a lease is a choice.
    trigger
        "timer": a round is due every ``round_s``. "event": as well as soon as a job
        came, ended or was released, or leaves failed or healed.
    releases
        "reported": leaves of a stopped job are unusable until ``released(job)``, and who
        is to have them starts in a later round. "immediate": for programs that carry a
        decision out in its order, waiting for each stop: all in one round.
    entitlement, window_s
        Of the ledger: see ``phalanx_core.fairness.Ledger``.
    waiting_bound_s
        A job that has waited longer comes before all others, and where it does not fit
        gets leaves reserved; infinite: nobody does.
    reservations
        Most reservations at a time.
    early_eviction
        None: no lease ends early but by failure or drain.
    fairness, age_rate_per_s, age_cap, restart_floor
        As for ``score``. The floor keeps a job alive that lost all it ever did.
    age
        Which waiting makes a job worth more: "last", since it last had leaves, so that
        jobs take turns; "total", all it ever did.
    idle
        As for ``solve``: no configuration worth less is taken, whatever is free.
    normalized
        Whether each job's goodput counts in units of its smallest configuration's, so
        that samples of one application are not weighed against tokens of another.
    gap, effort, time_limit_s, seed
        As for ``solve``, whose own defaults prove the optimum however long that takes: a
        thousandth of a round's utility is less than fragments of the topology cost.
    repairs
        Choices that the topology cannot hold are cut and the rest chosen anew, at most
        so many times a round.
    reward
        Order of jobs within a tenant where the order is "owed": a function as in
        ``phalanx_core.fairness``.
    pass_over
        What is passed over where the most-owed tenant's first job does not fit: "job",
        or as ASTRAEA prints it, "tenant".

    Raises
    ------
    InvalidRequest
        If a value is not as said above.
    """

    order: str = "utility"
    lease_s: float = 900.0
    round_s: float = 60.0
    trigger: str = "timer"
    releases: str = "reported"
    entitlement: str = "quota"
    window_s: float | None = None
    waiting_bound_s: float = 6 * 3600.0
    reservations: int = 8
    early_eviction: EarlyEviction | None = None
    fairness: float = 0.5
    age_rate_per_s: float = 0.01
    age_cap: float = 100.0
    restart_floor: float = 0.01
    age: str = "last"
    idle: float = 0.0
    normalized: bool = True
    gap: float = 1e-3
    effort: int | None = 10_000
    time_limit_s: float | None = None
    seed: int = 0
    repairs: int = 8
    reward: Callable[[Any], Any] = owed
    pass_over: str = "job"

    def __post_init__(self) -> None:
        for name, known in (
            ("order", ORDERS),
            ("trigger", TRIGGERS),
            ("releases", RELEASES),
            ("entitlement", ENTITLEMENTS),
            ("pass_over", PASSES),
            ("age", AGES),
        ):
            value = getattr(self, name)
            if not (isinstance(value, str) and value in known):
                raise InvalidRequest(f"{name} {value!r}: one of {', '.join(known)}")
        for name in ("lease_s", "round_s"):
            value = getattr(self, name)
            if not (is_number(value) and value > 0):
                raise InvalidRequest(f"{name} {value!r}: finite and above 0")
        if self.round_s > self.lease_s:
            raise InvalidRequest(
                f"round_s {self.round_s!r}: at most lease_s, which is {self.lease_s!r}"
            )
        bound = self.waiting_bound_s
        if bound != inf and not (is_number(bound) and bound >= 0):
            raise InvalidRequest(f"waiting_bound_s {bound!r}: from 0, or infinite")
        for name in ("reservations", "repairs"):
            if not is_whole(getattr(self, name)):
                raise InvalidRequest(
                    f"{name} {getattr(self, name)!r}: a whole number from 0"
                )
        early = self.early_eviction
        if early is not None and not isinstance(early, EarlyEviction):
            raise InvalidRequest(f"early_eviction {early!r}: EarlyEviction or None")
        if not is_number(self.idle):
            raise InvalidRequest(f"idle {self.idle!r}: a finite number")
        if not isinstance(self.normalized, bool):
            raise InvalidRequest(f"normalized {self.normalized!r}: True or False")
        self._check_numbers()
        if not callable(self.reward):
            raise InvalidRequest(f"reward {self.reward!r}: a function of candidates")

    def _check_numbers(self) -> None:
        """Those of ``score`` and ``solve``, by their rules."""
        for name, least, most, rule in (
            ("fairness", 1e-9, 1.0, "in (0, 1]"),
            ("age_rate_per_s", 1e-12, 1e12, "above 0"),
            ("age_cap", 1.0, 1e50, "from 1 to 1e50"),
            ("restart_floor", 0.0, 1.0, "in [0, 1]"),
            ("gap", 0.0, 1.0 - 1e-12, "in [0, 1)"),
        ):
            value = getattr(self, name)
            if not (is_number(value) and least <= value <= most):
                raise InvalidRequest(f"{name} {value!r}: {rule}")
        if self.effort is not None and not is_whole(self.effort):
            raise InvalidRequest(f"effort {self.effort!r}: a whole number, or None")
        limit = self.time_limit_s
        if limit is not None and not (is_number(limit) and limit >= 0):
            raise InvalidRequest(f"time_limit_s {limit!r}: from 0, or None")
        if not (is_whole(self.seed) and self.seed <= SEED_MAX):
            raise InvalidRequest(f"seed {self.seed!r}: a whole number to {SEED_MAX}")
