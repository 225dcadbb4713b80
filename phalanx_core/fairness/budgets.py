"""Budgets: how many GPUs each tenant may spend this round, by one level for all."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phalanx_core.checks import integers_of, is_number, is_whole
from phalanx_core.errors import InvalidRequest
from phalanx_core.fairness.candidates import INT64_MAX, TenantAccounts, integers_row

Account = tuple[int, int]


def tenant_budgets(
    tenants: TenantAccounts, claims: ArrayLike, capacity: int, lease_s: float
) -> NDArray[np.int64]:
    r"""GPUs of one type that each tenant may spend during the next lease.

    Parameters
    ----------
    tenants
        Accounts up to now.
    claims
        GPUs that the tenant's jobs could use at most, at least 0: int, shape (tenants,).
    capacity
        GPUs to share, at least 0.
    lease_s
        Seconds of a lease, above 0.

    Returns
    -------
    int64, shape (tenants,): none above its claim, together the lesser of ``capacity``
    and the claims.

    Raises
    ------
    InvalidRequest
        If a value is not as said above; names it.

    Notes
    -----
    Water-filling: with E = entitled + quota * lease, so that a new tenant has a share,
    every tenant is brought to one ratio r at the end of the lease,

    .. math::

        \sum_j \min(c_j, \max(0, (r E_j - s_j) / L)) = \min(C, \sum_j c_j)

    and whole GPUs go by largest remainder, ties by the tenants' order: each budget is
    less than one GPU from its share. Tenants whose E is 0 share what the others leave,
    as if all had the same E. The level is found among its breakpoints in exact
    arithmetic. O(tenants log tenants) operations on whole numbers of some hundred bits.

    Examples
    --------
    A tenant that is behind gets all it claims, within the level:

    >>> accounts = TenantAccounts([54_000, 72_000], [72_000, 72_000], [8, 8])
    >>> tenant_budgets(accounts, [16, 16], 16, 900).tolist()
    [16, 0]
    >>> tenant_budgets(accounts, [12, 16], 16, 900).tolist()
    [12, 4]
    """
    _check(tenants, lease_s)
    row = integers_row("claims", claims, tenants.service.size).tolist()
    _check_capacity("capacity", capacity)
    accounts, lease = _exact(tenants, lease_s)
    return np.array(_budgets(accounts, row, int(capacity), lease), np.int64)


def tenant_budgets_by_type(
    tenants: TenantAccounts, claims: ArrayLike, capacity: ArrayLike, lease_s: float
) -> NDArray[np.int64]:
    """GPUs of every type that each tenant may spend during the next lease.

    Parameters
    ----------
    tenants
        Accounts up to now, over all types.
    claims
        As in :func:`tenant_budgets`: int, shape (tenants, types).
    capacity
        GPUs of each type: int, shape (types,).
    lease_s
        Seconds of a lease, above 0.

    Returns
    -------
    int64, shape (tenants, types): of every type as :func:`tenant_budgets` says.

    Raises
    ------
    InvalidRequest
        If a value is not as said above; names it.

    Notes
    -----
    Each account is split in proportion to the types' capacities, exactly, and each type
    is filled by itself: what a tenant does not claim of one type earns it nothing of
    another before the next round. O(types * tenants log tenants).

    Examples
    --------
    >>> accounts = TenantAccounts([0, 0], [0, 0], [8, 8])
    >>> tenant_budgets_by_type(accounts, [[8, 0], [8, 8]], [8, 4], 900).tolist()
    [[4, 0], [4, 4]]
    """
    _check(tenants, lease_s)
    room = integers_row("capacity", capacity, None).tolist()
    for at, count in enumerate(room):
        _check_capacity(f"capacity[{at}]", count)
    found = integers_of("claims", claims)
    shape = (tenants.service.size, len(room))
    if found.shape != shape:
        raise InvalidRequest(
            f"claims of shape {found.shape}: {shape}, tenants and types"
        )
    accounts, lease = _exact(tenants, lease_s)
    answer = np.zeros(shape, np.int64)
    for at, count in enumerate(room):
        row = integers_row(f"claims[:, {at}]", found[:, at], shape[0]).tolist()
        # The split by count / sum(room), multiplied through by the sum.
        split = [(had * count, due * count) for had, due in accounts]
        answer[:, at] = _budgets(split, row, count, lease * sum(room))
    return answer


def largest_remainder(numerators: Sequence[int], denominator: int) -> list[int]:
    """Shares that add up to a whole number, made whole.

    Parameters
    ----------
    numerators, denominator
        Shares, at least 0, over one denominator above 0.

    Returns
    -------
    Whole numbers with the same sum, each less than 1 from its share; of equal remainders
    the first is rounded up.

    Notes
    -----
    O(shares log shares), exact.

    Examples
    --------
    >>> largest_remainder([6, 6, 5], 4)
    [2, 1, 1]
    """
    pairs = [divmod(share, denominator) for share in numerators]
    whole = [pair[0] for pair in pairs]
    missing = sum(pair[1] for pair in pairs) // denominator
    # The sort is stable: of equal remainders the first stays first.
    for at in sorted(range(len(pairs)), key=lambda at: -pairs[at][1])[:missing]:
        whole[at] += 1
    return whole


def _budgets(
    accounts: list[Account], claims: list[int], capacity: int, lease: int
) -> list[int]:
    total = min(capacity, sum(claims))
    budgets = [0] * len(claims)
    # Whoever was never owed anything comes after all others, each as owed as another.
    for due in (True, False):
        group = [at for at, account in enumerate(accounts) if (account[1] > 0) == due]
        wanted = [claims[at] for at in group]
        part = min(total, sum(wanted))
        if part < sum(wanted):
            chosen = [(accounts[at][0], accounts[at][1] or 1) for at in group]
            wanted = _leveled(chosen, wanted, part, lease) if part else [0] * len(group)
        for at, count in zip(group, wanted, strict=True):
            budgets[at] = count
        total -= part
    return budgets


def _leveled(
    accounts: list[Account], claims: list[int], total: int, lease: int
) -> list[int]:
    """Whole budgets of a total below the claims, entitlements all above 0."""
    top, below = _level(accounts, claims, total, lease)
    scale = below * lease
    shares = [
        min(claim * scale, max(0, top * due - below * had))
        for (had, due), claim in zip(accounts, claims, strict=True)
    ]
    return largest_remainder(shares, scale)


def _level(
    accounts: list[Account], claims: list[int], total: int, lease: int
) -> tuple[int, int]:
    """The ratio to which all are brought, as numerator and denominator.

    Between breakpoints the GPU-seconds handed out at ratio r are r * dues - hads + full:
    over tenants who take part, and claims that are met.
    """
    dues = hads = full = 0
    wanted = total * lease
    for (_, level), at, is_end in _breakpoints(accounts, claims, lease):
        top, below = level.numerator, level.denominator
        if top * dues + below * (full - hads) >= below * wanted:
            break
        had, due = accounts[at]
        step = -1 if is_end else 1
        dues, hads = dues + step * due, hads + step * had
        full += claims[at] * lease if is_end else 0
    return wanted - full + hads, dues


def _breakpoints(
    accounts: list[Account], claims: list[int], lease: int
) -> list[tuple[tuple[float, Fraction], int, bool]]:
    """Ratios at which a tenant begins to get GPUs, and has all it claims, in order."""
    found = [
        (_sortable(had + claim * lease * is_end, due), at, is_end)
        for at, ((had, due), claim) in enumerate(zip(accounts, claims, strict=True))
        for is_end in (False, True)
    ]
    return sorted(found)


def _sortable(had: int, due: int) -> tuple[float, Fraction]:
    """A ratio behind its nearest double, which is monotone and quick to compare."""
    try:
        near = had / due
    except OverflowError:
        near = inf
    return near, Fraction(had, due)


def _exact(tenants: TenantAccounts, lease_s: float) -> tuple[list[Account], int]:
    """Service and entitlement of each tenant, and the lease: whole, in one small unit."""
    lease = Fraction(float(lease_s))
    rows = zip(
        tenants.service.tolist(),
        tenants.entitled.tolist(),
        tenants.quota.tolist(),
        strict=True,
    )
    pairs = [
        (Fraction(had), Fraction(due) + Fraction(quota) * lease)
        for had, due, quota in rows
    ]
    # Every double is a whole number over a power of two: the greatest serves all.
    unit = max(
        (number.denominator for pair in pairs for number in pair),
        default=1,
    )
    unit = max(unit, lease.denominator)
    whole = [(int(had * unit), int(due * unit)) for had, due in pairs]
    return whole, int(lease * unit)


def _check(tenants: TenantAccounts, lease_s: float) -> None:
    if not isinstance(tenants, TenantAccounts):
        raise InvalidRequest(f"tenants {type(tenants).__name__}: TenantAccounts")
    if not (is_number(lease_s) and lease_s > 0):
        raise InvalidRequest(f"lease_s {lease_s!r}: seconds, finite and above 0")


def _check_capacity(name: str, capacity: int) -> None:
    if not (is_whole(capacity) and capacity <= INT64_MAX):
        raise InvalidRequest(f"{name} {capacity!r}: GPUs, a whole number from 0")
