"""How many spare hosts a domain needs, and how often there is one: queueing, simulated."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, islice
from math import exp, lgamma, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phalanx_core.checks import is_number
from phalanx_core.errors import InvalidRequest
from phalanx_core.reliability.domains import above_zero, whole

REPAIRS = ("fixed", "exponential")
# Hosts under repair at a time beyond which it is not spares that are wanted.
LOAD_MIN, LOAD_MAX = 1e-300, 1e5
# More make no difference that a double holds at any such load.
SPARES_MAX = 2 * int(LOAD_MAX)
HOSTS_MAX = 2**53
FAILURES_MAX = 10**8


class Sparing(NamedTuple):
    """How often a failure finds a spare.

    Attributes
    ----------
    spares
        Hosts of the domain that are kept.
    probability
        That one is free when a host fails, in the long run.
    """

    spares: int
    probability: float


def spare_probability(spares: int, hosts: int, mtbf_s: float, repair_s: float) -> float:
    """Probability that a host that fails finds a spare one free.

    Parameters
    ----------
    spares
        From 0.
    hosts
        That work, at least 1; a spare that steps in makes up for the one that failed.
    mtbf_s
        Mean seconds between failures of one host, above 0.
    repair_s
        Mean seconds until a host that failed is a spare, above 0.

    Raises
    ------
    InvalidRequest
        If a value is outside its domain, or more than 100,000 hosts would be under repair.

    Notes
    -----
    Hosts under repair are a Poisson number with mean hosts * repair / MTBF, whatever the
    distribution of repairs (M/G/∞), and a failure sees what is there at any time; so a
    spare is free with the probability that fewer than ``spares`` are under repair.
    O(spares).

    Examples
    --------
    A pod of 255 hosts, each failing every 6,250 hours, repaired in four:

    >>> [round(spare_probability(n, 255, 6250 * 3600, 4 * 3600), 4) for n in (0, 1, 2)]
    [0.0, 0.8494, 0.988]
    """
    return spare_probabilities(
        min(whole("spares", spares), SPARES_MAX), hosts, mtbf_s, repair_s
    )[-1]


def spare_probabilities(
    most: int, hosts: int, mtbf_s: float, repair_s: float
) -> list[float]:
    """:func:`spare_probability` of no spare, of one, and so on up to the most.

    Parameters
    ----------
    most
        0 to 200,000.
    hosts, mtbf_s, repair_s
        As there.

    Raises
    ------
    InvalidRequest
        If a value is outside its domain.

    Examples
    --------
    >>> found = spare_probabilities(2, 255, 6250 * 3600, 4 * 3600)
    >>> [round(one, 4) for one in found]
    [0.0, 0.8494, 0.988]
    """
    count = whole("most", most, 0, SPARES_MAX)
    terms = _poisson(_load(hosts, mtbf_s, repair_s))
    sums = accumulate(islice(terms, count), initial=0.0)
    return [min(1.0, one) for one in sums]


def spares_for(target: float, hosts: int, mtbf_s: float, repair_s: float) -> Sparing:
    """The fewest spares with which a failure finds one as often as that.

    Parameters
    ----------
    target
        Probability in (0, 1).
    hosts, mtbf_s, repair_s
        As for :func:`spare_probability`.

    Raises
    ------
    InvalidRequest
        If a value is outside its domain, more than 100,000 hosts would be under repair,
        or the target is closer to 1 than a sum of doubles comes.

    Examples
    --------
    >>> spares_for(0.99, 255, 6250 * 3600, 4 * 3600).spares
    3
    """
    if not (is_number(target) and 0 < target < 1):
        raise InvalidRequest(f"target {target!r}: in (0, 1)")
    terms = _poisson(_load(hosts, mtbf_s, repair_s))
    sums = islice(accumulate(terms), SPARES_MAX)
    for spares, probability in enumerate(sums, start=1):
        if probability >= target:
            return Sparing(spares, min(1.0, probability))
    raise InvalidRequest(f"target {target!r}: closer to 1 than a sum of doubles comes")


def simulated_probability(
    spares: int,
    hosts: int,
    mtbf_s: float,
    repair_s: float,
    *,
    failures: int = 100_000,
    repair: str = "fixed",
    seed: int = 0,
) -> float:
    """Share of simulated failures that find a spare, beside :func:`spare_probability`.

    Parameters
    ----------
    spares, hosts, mtbf_s, repair_s
        As there.
    failures
        How many, 1 to 1e8; those of the first ten repairs do not count.
    repair
        Whether each repair takes the same time, or an exponential one.
    seed
        Of NumPy's Philox.

    Raises
    ------
    InvalidRequest
        If a value is outside its domain.

    Examples
    --------
    >>> round(simulated_probability(2, 255, 6250 * 3600, 4 * 3600), 2)
    0.99
    """
    wanted = whole("spares", spares)
    under_repair = hosts_under_repair(
        hosts, mtbf_s, repair_s, failures=failures, repair=repair, seed=seed
    )
    return float((under_repair < wanted).mean())


def hosts_under_repair(
    hosts: int,
    mtbf_s: float,
    repair_s: float,
    *,
    failures: int = 100_000,
    repair: str = "fixed",
    seed: int = 0,
) -> NDArray[np.int64]:
    """Hosts under repair just before each of simulated failures.

    Parameters
    ----------
    hosts, mtbf_s, repair_s, failures, repair, seed
        As for :func:`simulated_probability`.

    Raises
    ------
    InvalidRequest
        If a value is outside its domain.

    Notes
    -----
    O((failures + 10 load) log).
    """
    load = _load(hosts, mtbf_s, repair_s)
    counted = whole("failures", failures, 1, FAILURES_MAX)
    if repair not in REPAIRS:
        raise InvalidRequest(f"repair {repair!r}: one of {', '.join(REPAIRS)}")
    random = np.random.Generator(np.random.Philox(whole("seed", seed)))
    warm = int(10 * load) + 1
    # In units of a repair: failures come at a rate of the load.
    fails = np.cumsum(random.exponential(1 / load, counted + warm))
    times: Any = 1.0 if repair == "fixed" else random.exponential(1.0, fails.size)
    repaired = np.searchsorted(np.sort(fails + times), fails, side="right")
    return (np.arange(fails.size) - repaired)[warm:]


def _poisson(load: float) -> Iterator[float]:
    """Probability of 0 hosts under repair, of 1, and so on."""
    for n in range(SPARES_MAX + 1):
        yield exp(n * log(load) - load - lgamma(n + 1))


def _load(hosts: Any, mtbf_s: Any, repair_s: Any) -> float:
    """Hosts under repair on average."""
    count = whole("hosts", hosts, 1, HOSTS_MAX)
    time, repair = above_zero("mtbf_s", mtbf_s), above_zero("repair_s", repair_s)
    load = count * (repair / time)
    if not LOAD_MIN <= load <= LOAD_MAX:
        raise InvalidRequest(
            f"repair_s {repair_s!r}: with {count} hosts and mtbf_s {time:g}, {load:g} are "
            f"under repair at a time: {LOAD_MIN:g} to {LOAD_MAX:g}"
        )
    return load
