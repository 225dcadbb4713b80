"""How many spare hosts a domain needs, and how often there is one: queueing, simulated."""

from __future__ import annotations

from itertools import accumulate, count
from math import exp, lgamma, log
from typing import Any, NamedTuple

import numpy as np

from phalanx_core.checks import is_number, is_whole
from phalanx_core.errors import InvalidRequest

REPAIRS = ("fixed", "exponential")
# Spares beyond which it is not spares that are wanted.
SPARES_MAX = 100_000


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
        If a value is outside its domain.

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
    if not is_whole(spares):
        raise InvalidRequest(f"spares {spares!r}: a whole number from 0")
    load = _load(hosts, mtbf_s, repair_s)
    terms = (exp(n * log(load) - load - lgamma(n + 1)) for n in range(spares))
    return min(1.0, sum(terms, 0.0))


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
        If a value is outside its domain, or so many would be needed that repairs are what
        is wrong.

    Examples
    --------
    >>> spares_for(0.99, 255, 6250 * 3600, 4 * 3600).spares
    3
    """
    if not (is_number(target) and 0 < target < 1):
        raise InvalidRequest(f"target {target!r}: in (0, 1)")
    load = _load(hosts, mtbf_s, repair_s)
    terms = (exp(n * log(load) - load - lgamma(n + 1)) for n in count())
    for spares, probability in enumerate(accumulate(terms), start=1):
        if probability >= target:
            return Sparing(spares, min(1.0, probability))
        if spares > load + SPARES_MAX:
            break
    raise InvalidRequest(
        f"target {target!r}: not with {SPARES_MAX} spares above the load"
    )


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
        How many, at least 1; those of the first ten repairs do not count.
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
    load = _load(hosts, mtbf_s, repair_s)
    if not is_whole(spares):
        raise InvalidRequest(f"spares {spares!r}: a whole number from 0")
    if not (is_whole(failures) and failures >= 1):
        raise InvalidRequest(f"failures {failures!r}: a whole number from 1")
    if repair not in REPAIRS:
        raise InvalidRequest(f"repair {repair!r}: one of {', '.join(REPAIRS)}")
    if not is_whole(seed):
        raise InvalidRequest(f"seed {seed!r}: a whole number from 0")
    random = np.random.Generator(np.random.Philox(seed))
    warm = int(10 * load) + 1
    # In units of a repair: failures come at a rate of the load.
    fails = np.cumsum(random.exponential(1 / load, failures + warm))
    times: Any = 1.0 if repair == "fixed" else random.exponential(1.0, fails.size)
    repaired = np.searchsorted(np.sort(fails + times), fails, side="right")
    under_repair = np.arange(fails.size) - repaired
    return float((under_repair[warm:] < spares).mean())


def _load(hosts: Any, mtbf_s: Any, repair_s: Any) -> float:
    if not (is_whole(hosts) and hosts >= 1):
        raise InvalidRequest(f"hosts {hosts!r}: a whole number from 1")
    for name, given in (("mtbf_s", mtbf_s), ("repair_s", repair_s)):
        if not (is_number(given) and given > 0):
            raise InvalidRequest(f"{name} {given!r}: finite and above 0")
    return float(hosts) * float(repair_s) / float(mtbf_s)
