"""Quotas made of what tenants request, for workloads that name none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import lcm
from typing import Any

from phalanx_core.checks import is_number, is_whole
from phalanx_core.errors import InvalidRequest
from phalanx_core.fairness.budgets import largest_remainder


def quotas_from_requests(
    requests: Mapping[str, float] | Iterable[tuple[str, float]],
    capacity: int,
    unit: int = 1,
) -> dict[str, int]:
    """A quota for each tenant, in proportion to all GPUs that its jobs request.

    Parameters
    ----------
    requests
        GPUs by tenant, or (tenant, GPUs) of one job after another, which are added up:
        each finite and at least 0.
    capacity
        GPUs of the cluster, a multiple of ``unit``.
    unit
        GPUs that are not divided between tenants, as those of a host; at least 1.

    Returns
    -------
    GPUs by tenant, in the order of first appearance: multiples of ``unit`` that add up to
    ``capacity``; 0 for a tenant that requests nothing.

    Raises
    ------
    InvalidRequest
        If a value is not as said above, or nothing is requested of a cluster that has
        GPUs; names it.

    Notes
    -----
    The ASTRAEA paper's quotas for the Philly trace. Whole units by largest remainder, ties
    by the tenants' names, so the answer does not depend on an order. Who requests
    anything gets at least one unit where there are as many units as such tenants: the
    rest is shared anew among the others. (A quota that was rounded to 0 made the
    published simulator divide by zero.) O(requests + tenants² log tenants).

    Examples
    --------
    >>> quotas_from_requests({"a": 300, "b": 100, "c": 1, "d": 0}, 64, unit=8)
    {'a': 40, 'b': 16, 'c': 8, 'd': 0}
    >>> quotas_from_requests([("a", 8), ("b", 4), ("a", 4)], 16)
    {'a': 12, 'b': 4}
    """
    if not (is_whole(unit) and unit >= 1):
        raise InvalidRequest(f"unit {unit!r}: GPUs, a whole number from 1")
    if not (is_whole(capacity) and capacity % unit == 0):
        raise InvalidRequest(
            f"capacity {capacity!r}: GPUs, a multiple of the unit, {unit}, from 0"
        )
    sums = _sums(requests)
    asking = sorted(tenant for tenant, gpus in sums.items() if gpus > 0)
    if not asking and capacity > 0:
        raise InvalidRequest(
            f"requests of {len(sums)} tenants: at least one that requests GPUs, to share "
            f"{capacity}"
        )
    units = int(capacity) // int(unit)
    shared = _shared([sums[tenant] for tenant in asking], units) if asking else []
    quotas = dict.fromkeys(sums, 0)
    for tenant, count in zip(asking, shared, strict=True):
        quotas[tenant] = count * int(unit)
    return quotas


def _sums(
    requests: Mapping[str, float] | Iterable[tuple[str, float]],
) -> dict[str, Fraction]:
    pairs: Iterable[Any] = (
        requests.items() if isinstance(requests, Mapping) else requests
    )
    sums: dict[str, Fraction] = {}
    for at, pair in enumerate(pairs):
        if not (isinstance(pair, tuple) and len(pair) == 2):
            raise InvalidRequest(f"requests[{at}] is {pair!r}: a tenant and its GPUs")
        tenant, gpus = pair
        if not isinstance(tenant, str):
            raise InvalidRequest(f"requests[{at}] of tenant {tenant!r}: a text")
        if not (is_number(gpus) and gpus >= 0):
            raise InvalidRequest(
                f"requests[{at}] of tenant {tenant!r}: {gpus!r} GPUs: finite and at least 0"
            )
        exact = Fraction(int(gpus)) if is_whole(gpus) else Fraction(float(gpus))
        sums[tenant] = sums.get(tenant, Fraction(0)) + exact
    return sums


def _shared(requests: list[Fraction], units: int) -> list[int]:
    """Units for requests above 0; none is 0 where there are enough of them."""
    scale = lcm(*(request.denominator for request in requests))
    whole = [int(request * scale) for request in requests]
    left = list(range(len(whole)))
    answer = [1] * len(whole)
    has_minimum = units >= len(whole)
    while True:
        total = sum(whole[at] for at in left)
        shares = largest_remainder([whole[at] * units for at in left], total)
        if not has_minimum or all(shares):
            break
        # Who was rounded to nothing keeps the one unit it has already.
        units -= shares.count(0)
        left = [at for at, count in zip(left, shares, strict=True) if count]
    for at, count in zip(left, shares, strict=True):
        answer[at] = count
    return answer
