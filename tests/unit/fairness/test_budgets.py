"""Budgets beside a level found by bisection and beside filling bit by bit."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from phalanx_core.errors import InvalidRequest
from phalanx_core.fairness.budgets import (
    largest_remainder,
    tenant_budgets,
    tenant_budgets_by_type,
)
from phalanx_core.fairness.candidates import TenantAccounts

# Bisection ends this near to the level; shares are then nearer than NEAR.
STEPS = 160
NEAR = Fraction(1, 10**12)
Case = tuple[TenantAccounts, list[int], int, float]


def dues(tenants: TenantAccounts, lease: float) -> list[Fraction]:
    """Entitlement at the end of the lease, exactly."""
    pairs = zip(tenants.entitled.tolist(), tenants.quota.tolist(), strict=True)
    return [Fraction(due) + Fraction(quota) * Fraction(lease) for due, quota in pairs]


def shares_at(level: Fraction, case: Case) -> list[Fraction]:
    """GPUs of each tenant at a ratio, by the definition."""
    tenants, claims, _, lease = case
    rows = zip(dues(tenants, lease), tenants.service.tolist(), claims, strict=True)
    return [
        min(
            Fraction(claim),
            max(Fraction(0), (level * due - Fraction(had)) / int(lease)),
        )
        for due, had, claim in rows
    ]


def fluid(case: Case) -> list[Fraction]:
    """Shares at the level, found by bisection."""
    total = min(case[2], sum(case[1]))
    low, high = Fraction(0), Fraction(1)
    while sum(shares_at(high, case)) < total:
        high *= 2
    for _ in range(STEPS):
        middle = (low + high) / 2
        if sum(shares_at(middle, case)) < total:
            low = middle
        else:
            high = middle
    return shares_at(high, case)


def filled(case: Case, parts: int) -> list[Fraction]:
    """Progressive filling: the least ratio gets the next part of a GPU, again and again."""
    tenants, claims, capacity, lease = case
    due = dues(tenants, lease)
    had = [Fraction(value) for value in tenants.service.tolist()]
    got = [0] * len(claims)
    for _ in range(min(capacity, sum(claims)) * parts):
        ratios = [
            ((had[at] + Fraction(got[at], parts) * int(lease)) / due[at], at)
            for at in range(len(claims))
            if got[at] < claims[at] * parts
        ]
        got[min(ratios)[1]] += 1
    return [Fraction(count, parts) for count in got]


@st.composite
def cases(draw: st.DrawFn, most: int = 30) -> Case:
    """Tenants with something owed, small claims, and a capacity around their sum."""
    count = draw(st.integers(1, 5))

    def row(values: Any) -> list[Any]:
        return draw(st.lists(values, min_size=count, max_size=count))

    tenants = TenantAccounts(
        row(st.sampled_from([0, 450, 900, 1800.5, 7200, 90_000])),
        row(st.sampled_from([0, 900, 3600, 7200.25, 72_000])),
        row(st.sampled_from([0.5, 1, 2, 4, 8])),
    )
    claims = row(st.integers(0, 9))
    capacity = draw(st.integers(0, min(most, sum(claims) + 2)))
    return tenants, claims, capacity, draw(st.sampled_from([900.0, 60.0]))


@given(cases())
def test_budgets_are_the_level_made_whole(case: Case) -> None:
    """Less than a GPU from the share, larger remainders first, none above its claim."""
    budgets = tenant_budgets(*case)
    claims = case[1]
    assert budgets.dtype == np.int64
    assert budgets.sum() == min(case[2], sum(claims))
    assert all(0 <= got <= claim for got, claim in zip(budgets, claims, strict=True))
    shares = fluid(case)
    off = [int(got) - share for got, share in zip(budgets, shares, strict=True)]
    assert all(abs(gap) < 1 + NEAR for gap in off)
    # What is rounded up by `gap` has the remainder 1 - gap, what is cut has -gap.
    up = [1 - gap for gap in off if gap > NEAR]
    cut = [-gap for gap in off if gap < -NEAR]
    assert not (up and cut) or min(up) >= max(cut) - NEAR


@given(cases(most=8))
@example((TenantAccounts([0] * 3, [9] * 3, [1] * 3), [9, 9, 9], 8, 60.0))
def test_filling_in_small_parts_comes_near(case: Case) -> None:
    """Within a part for each tenant of the shares, so within a GPU and these of budgets."""
    parts = 16
    slack = Fraction(len(case[1]), parts)
    found = filled(case, parts)
    pairs = zip(found, fluid(case), strict=True)
    assert all(abs(got - share) <= slack + NEAR for got, share in pairs)
    pairs = zip(found, tenant_budgets(*case).tolist(), strict=True)
    assert all(abs(got - budget) < 1 + slack for got, budget in pairs)


def test_filling_by_whole_gpus_is_another_rule() -> None:
    """It serves a crowd of small tenants first; the largest remainder stays at shares."""
    tenants = TenantAccounts([0] * 11, [90] + [9] * 10, [0] * 11)
    case = (tenants, [10] * 11, 10, 900.0)
    assert fluid(case)[0] == pytest.approx(5)
    assert filled(case, 1) == [1] * 10 + [0]
    assert tenant_budgets(*case).tolist() == [5] + [1] * 5 + [0] * 5


@given(cases(), st.integers(1, 5))
def test_accounts_in_another_unit_make_the_same_budgets(case: Case, unit: int) -> None:
    """Levels are ratios: twice the service and entitlement of twice the lease."""
    tenants, claims, capacity, lease = case
    scale = 2.0**unit
    scaled = TenantAccounts(
        tenants.service * scale, tenants.entitled * scale, tenants.quota
    )
    wanted = tenant_budgets(*case).tolist()
    assert tenant_budgets(scaled, claims, capacity, lease * scale).tolist() == wanted


@pytest.mark.parametrize(
    ("service", "entitled", "claims", "capacity", "wanted"),
    [
        # Level 0.9: 64,800 - 54,000 = 12 leases, and 72,000 * 0.9 - 64,800 = 0.
        ([54_000, 64_800], [64_800, 64_800], [20, 20], 12, [12, 0]),
        # Level 1: all the rest is shared alike.
        ([54_000, 64_800], [64_800, 64_800], [20, 20], 28, [20, 8]),
        ([0, 0, 0], [0, 0, 0], [9, 9, 9], 8, [3, 3, 2]),
        ([0, 0, 0], [0, 0, 0], [1, 9, 9], 8, [1, 4, 3]),
        ([0, 0, 0], [0, 0, 0], [1, 2, 3], 99, [1, 2, 3]),
        ([0, 0, 0], [0, 0, 0], [1, 2, 3], 0, [0, 0, 0]),
        # A new tenant's share is that of one lease; the old one is far ahead.
        ([99_999, 0], [72_000, 0], [8, 8], 10, [2, 8]),
        # Entitlements of 14,400 and 7,200, so two to one.
        ([0, 0], [7200, 0], [9, 9], 6, [4, 2]),
        ([0, 0], [7200, 0], [9, 9], 4, [3, 1]),
    ],
)
def test_budgets_worked_out_by_hand(
    service: Any, entitled: Any, claims: Any, capacity: int, wanted: list[int]
) -> None:
    """Quotas of 8, leases of 900 seconds."""
    tenants = TenantAccounts(service, entitled, [8] * len(service))
    assert tenant_budgets(tenants, claims, capacity, 900).tolist() == wanted


def test_who_is_owed_nothing_comes_last() -> None:
    """Without quota and entitlement: what the others leave, shared alike."""
    tenants = TenantAccounts([90_000, 0, 0, 900], [0, 0, 0, 0], [8, 0, 0, 0])
    assert tenant_budgets(tenants, [5, 9, 9, 9], 4, 900).tolist() == [4, 0, 0, 0]
    assert tenant_budgets(tenants, [5, 9, 9, 9], 13, 900).tolist() == [5, 3, 3, 2]
    assert tenant_budgets(tenants, [5, 9, 1, 9], 13, 900).tolist() == [5, 4, 1, 3]


def test_ties_do_not_hang_on_rounding() -> None:
    """Of 1 and 3 shares end in 1/2 both; of 0.1 and 0.1 * 3 the second is a hair more."""
    tied = TenantAccounts([0, 0], [1, 3], [0, 0])
    assert tenant_budgets(tied, [99, 99], 10, 0.3).tolist() == [3, 7]
    rounded = TenantAccounts([0, 0], [0.1, 0.1 * 3], [0, 0])
    assert tenant_budgets(rounded, [99, 99], 10, 0.3).tolist() == [2, 8]


def test_accounts_far_apart() -> None:
    """The least and the greatest that doubles hold stand side by side."""
    tenants = TenantAccounts([1e308, 0, 5e-324], [5e-324, 1e308, 1], [0, 0, 1])
    assert tenant_budgets(tenants, [9, 9, 9], 20, 5e-324).tolist() == [2, 9, 9]
    assert tenant_budgets(tenants, [9, 9, 9], 12, 1e300).tolist() == [0, 9, 3]
    beyond = TenantAccounts([1.5e308, 1e308], [5e-324] * 2, [0, 0])
    assert tenant_budgets(beyond, [9, 9], 5, 900).tolist() == [0, 5]


def test_no_tenants() -> None:
    """Nobody gets nothing."""
    nobody = TenantAccounts([], [], [])
    assert tenant_budgets(nobody, [], 8, 900).shape == (0,)
    assert tenant_budgets_by_type(nobody, np.empty((0, 2), int), [8, 8], 900).size == 0


@given(cases())
def test_one_type_is_the_cluster(case: Case) -> None:
    """Split into one part, an account is whole."""
    tenants, claims, capacity, lease = case
    found = tenant_budgets_by_type(
        tenants, [[one] for one in claims], [capacity], lease
    )
    assert found[:, 0].tolist() == tenant_budgets(*case).tolist()


@given(cases(), st.integers(1, 3))
def test_types_are_filled_by_themselves(case: Case, times: int) -> None:
    """Each as a cluster of its own with its part of the accounts."""
    tenants, claims, capacity, lease = case
    # Parts of a power of two, so that the test can write them down.
    room = [capacity * 2, capacity, capacity]
    wants = np.array([[claim * times, claim, 0] for claim in claims])
    found = tenant_budgets_by_type(tenants, wants, room, lease)
    for at, part in enumerate((0.5, 0.25, 0.25)):
        split = TenantAccounts(
            tenants.service * part, tenants.entitled * part, tenants.quota * part
        )
        alone = tenant_budgets(split, wants[:, at], room[at], lease)
        assert found[:, at].tolist() == alone.tolist()


def test_types_of_different_size() -> None:
    """A is behind by 5,400 GPU-seconds of each type: 6 leases, and half of 6 more."""
    tenants = TenantAccounts([54_000, 64_800], [64_800, 64_800], [8, 8])
    claims = [[16, 0], [16, 16]]
    found = tenant_budgets_by_type(tenants, claims, [12, 12], 900)
    assert found.tolist() == [[9, 0], [3, 12]]
    assert tenant_budgets_by_type(tenants, claims, [12, 0], 900).tolist() == [
        [12, 0],
        [0, 0],
    ]
    assert tenant_budgets_by_type(tenants, claims, [0, 0], 900).tolist() == [[0, 0]] * 2


@given(st.lists(st.integers(0, 50), min_size=1, max_size=8), st.integers(1, 9))
def test_the_largest_remainder_is_exact(parts: list[int], below: int) -> None:
    """The same sum, less than 1 from each share, larger remainders and first ones up."""
    parts[-1] += -sum(parts) % below
    found = largest_remainder(parts, below)
    assert sum(found) * below == sum(parts)
    gained = [whole * below - part for whole, part in zip(found, parts, strict=True)]
    assert all(-below < gain < below for gain in gained)
    order = sorted(range(len(parts)), key=lambda at: (-(parts[at] % below), at))
    up = [at for at in order if gained[at] > 0]
    assert up == order[: len(up)]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"claims": [1, -1]}, r"claims\[1\] is -1: from 0"),
        ({"claims": [1]}, r"claims of shape \(1,\)"),
        ({"claims": [1.5, 1.0]}, "claims of shape .* float64: integers"),
        ({"capacity": -1}, "capacity -1: GPUs, a whole number from 0"),
        ({"capacity": 2.5}, "capacity 2.5"),
        ({"capacity": 2**63}, "capacity 9223372036854775808"),
        ({"lease_s": 0}, "lease_s 0: seconds, finite and above 0"),
        ({"lease_s": inf}, "lease_s inf"),
        ({"tenants": None}, "tenants NoneType: TenantAccounts"),
    ],
)
def test_budgets_that_are_refused(changed: dict[str, Any], said: str) -> None:
    """The message names the value and the rule."""
    tenants = TenantAccounts([0, 0], [9, 9], [8, 8])
    call = {"tenants": tenants, "claims": [1, 1], "capacity": 2, "lease_s": 900}
    with pytest.raises(InvalidRequest, match=said):
        tenant_budgets(**{**call, **changed})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"claims": [[1, 1]]},
            r"claims of shape \(1, 2\): \(2, 2\), tenants and types",
        ),
        ({"claims": [[1, 1], [1, -1]]}, r"claims\[:, 1\]\[1\] is -1"),
        ({"claims": [[1, 1], [1, nan]]}, r"claims\[:, 0\] of shape .* float64"),
        ({"capacity": [8, -1]}, r"capacity\[1\] is -1"),
        ({"capacity": 8}, r"capacity of shape \(\)"),
        ({"lease_s": -9}, "lease_s -9"),
    ],
)
def test_budgets_by_type_that_are_refused(changed: dict[str, Any], said: str) -> None:
    """The message names the value, its type of GPU and the rule."""
    tenants = TenantAccounts([0, 0], [9, 9], [8, 8])
    call = {"tenants": tenants, "claims": [[1, 1]] * 2, "capacity": [2, 2]}
    with pytest.raises(InvalidRequest, match=said):
        tenant_budgets_by_type(**{**call, "lease_s": 900, **changed})
