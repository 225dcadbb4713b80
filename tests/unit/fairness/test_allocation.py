"""Rounds beside a twin that follows the paper's text, ties, zeros, and what is refused."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phalanx_core.errors import InvalidRequest
from phalanx_core.fairness.allocation import Allocation, allocate_round
from phalanx_core.fairness.candidates import Candidates, TenantAccounts
from phalanx_core.fairness.rewards import in_order, new_first, owed, urgent_first
from tests.unit.fairness.slow_round import Hosts, rounds, slow_round, told

Round = tuple[Candidates, TenantAccounts, list[int]]


def jobs_of(tenant: list[int], **rows: Any) -> Candidates:
    """Jobs of one GPU that never had anything, unless said otherwise."""
    given = {"ratio": [0.0] * len(tenant), "gpus": [1] * len(tenant), **rows}
    return Candidates(tenant=tenant, **given)


def accounts(service: list[float], entitled: list[float], quota: Any = 8) -> Any:
    """Accounts of equal quotas, unless said otherwise."""
    return TenantAccounts(service, entitled, np.broadcast_to(quota, len(service)))


def all_granted(jobs: Candidates, tenants: TenantAccounts, **options: Any) -> list[int]:
    """The order in which a cluster with room for all grants the jobs."""
    lease = options.pop("lease_s", 900)
    found = allocate_round(
        jobs, tenants, lease, lambda job: int(jobs.gpus[job]), **options
    )
    return found.granted.tolist()


@given(rounds(), st.sampled_from(["job", "tenant"]), st.sampled_from([900, 0, 0.5]))
def test_the_twin_grants_the_same(drawn: Round, pass_over: str, lease: float) -> None:
    """Order, GPUs and what is passed over, for either way to pass over."""
    jobs, tenants, free = drawn
    rewards = [(-ratio,) for ratio in jobs.ratio.tolist()]
    slow, fast = Hosts(list(free)), Hosts(list(free))
    wanted = slow_round(
        jobs, tenants, lease, slow.placing(jobs), rewards, pass_over == "tenant"
    )
    found = allocate_round(
        jobs, tenants, lease, fast.placing(jobs), pass_over=pass_over
    )
    assert told(found) == wanted
    assert fast.asked == slow.asked
    known = found.granted.tolist() + found.passed_over.tolist() + found.untried.tolist()
    assert sorted(known) == list(range(jobs.tenant.size))


@given(rounds())
def test_the_twin_grants_the_same_by_several_keys(drawn: Round) -> None:
    """Urgent, then new, then owed jobs, each key where those before are equal."""
    jobs, tenants, free = drawn
    rewards = list(
        zip(
            jobs.urgent.tolist(),
            jobs.never_ran.tolist(),
            (-jobs.ratio).tolist(),
            strict=True,
        )
    )
    slow, fast = Hosts(list(free)), Hosts(list(free))
    wanted = slow_round(jobs, tenants, 900, slow.placing(jobs), rewards, False)
    reward = in_order(urgent_first, new_first, owed)
    found = allocate_round(jobs, tenants, 900, fast.placing(jobs), reward=reward)
    assert told(found) == wanted


@given(rounds())
def test_nothing_that_fits_is_left(drawn: Round) -> None:
    """Work conservation: after the round no job that is left could be placed."""
    jobs, tenants, free = drawn
    hosts = Hosts(list(free))
    found = allocate_round(jobs, tenants, 900, hosts.placing(jobs))
    left = set(range(jobs.tenant.size)) - set(found.granted.tolist())
    assert not any(hosts.fits(int(jobs.gpus[job])) for job in left)
    assert found.untried.size == 0


@given(rounds())
def test_every_pre_charge_is_seen(drawn: Round) -> None:
    """Ratios after each grant and at the end are those of all GPUs for all the lease."""
    jobs, tenants, free = drawn
    found = allocate_round(jobs, tenants, 900, Hosts(list(free)).placing(jobs))
    service = tenants.service.copy()
    for job, gpus, ratio in zip(found.granted, found.gpus, found.ratios, strict=True):
        tenant = jobs.tenant[job]
        service[tenant] += gpus * 900
        due = tenants.entitled[tenant]
        assert ratio == (service[tenant] / due if due else inf)
    assert found.ratio_before.tolist() == tenants.ratio.tolist()
    after = TenantAccounts(service, tenants.entitled, tenants.quota)
    assert found.ratio_after.tolist() == after.ratio.tolist()


@given(rounds(), st.randoms(use_true_random=False))
def test_the_order_of_the_jobs_does_not_matter(drawn: Round, random: Any) -> None:
    """Where all submissions differ, however the arrays or what fills them are ordered."""
    jobs, tenants, free = drawn
    count = jobs.tenant.size
    order = list(range(count))
    random.shuffle(order)
    rows = {
        name: getattr(jobs, name)
        for name in ("tenant", "ratio", "gpus", "never_ran", "urgent", "leases")
    }
    rows["submitted"] = np.arange(count)
    there = Candidates(**rows)
    moved = Candidates(**{name: row[order] for name, row in rows.items()})
    first = allocate_round(there, tenants, 900, Hosts(list(free)).placing(there))
    second = allocate_round(moved, tenants, 900, Hosts(list(free)).placing(moved))
    assert [order[job] for job in second.granted] == first.granted.tolist()
    assert [order[job] for job in second.passed_over] == first.passed_over.tolist()


def test_tenants_go_before_jobs() -> None:
    """The job with the least ratio of all waits for the more owed tenant's."""
    jobs = jobs_of([0, 0, 1], ratio=[0.5, 0.8, 0.4], gpus=[8, 4, 8])
    assert all_granted(jobs, accounts([54_000, 72_000], [72_000, 72_000])) == [0, 1, 2]


def test_a_pre_charge_is_of_the_whole_lease() -> None:
    """9,000 GPU-seconds behind: the second lease of 8 GPUs closes the gap, not the first."""
    jobs = jobs_of([0, 0, 0, 1], gpus=[8, 8, 8, 1])
    tenants = accounts([63_000, 72_000], [72_000, 72_000])
    assert all_granted(jobs, tenants) == [0, 1, 3, 2]
    assert all_granted(jobs, tenants, lease_s=1200) == [0, 3, 1, 2]
    assert all_granted(jobs, tenants, lease_s=0) == [0, 1, 2, 3]


def test_jobs_are_passed_over_one_at_a_time() -> None:
    """The large job of the most owed tenant stops neither its small one nor others."""
    jobs = jobs_of([0, 0, 1], gpus=[8, 2, 2])
    found = allocate_round(
        jobs, accounts([0, 9], [9, 9]), 0, Hosts([4]).placing(jobs), pass_over="job"
    )
    assert told(found) == ([(1, 2), (2, 2)], [0])


def test_tenants_are_passed_over_as_printed() -> None:
    """As the paper has it the small job of that tenant is not tried in this round."""
    jobs = jobs_of([0, 0, 1], gpus=[8, 2, 2])
    found = allocate_round(
        jobs, accounts([0, 9], [9, 9]), 0, Hosts([4]).placing(jobs), pass_over="tenant"
    )
    assert told(found) == ([(2, 2)], [0])
    assert found.untried.tolist() == [1]
    assert str(found) == "granted 1 (2 GPUs), passed over 1, untried 1"


def test_equal_ratios_go_by_service_over_quota() -> None:
    """Ratios of 1/2 all: 8/8 before 12/4, and no quota at all last."""
    tenants = accounts([4, 12, 8], [8, 24, 16], [0, 4, 8])
    assert all_granted(jobs_of([0, 1, 2]), tenants) == [2, 1, 0]


def test_equal_accounts_go_by_the_tenants_order() -> None:
    """Whatever the order of their jobs."""
    assert all_granted(jobs_of([2, 1, 0]), accounts([1, 1, 1], [2, 2, 2])) == [2, 1, 0]


def test_nothing_over_nothing_is_nothing() -> None:
    """A tenant without entitlement is first before it has anything, then last."""
    jobs = jobs_of([0, 0, 1])
    tenants = accounts([0, 1], [0, 9], [0, 8])
    found = allocate_round(jobs, tenants, 900, lambda job: 1)
    assert found.granted.tolist() == [0, 2, 1]
    assert found.ratio_before.tolist() == [0.0, 1 / 9]
    assert found.ratio_after.tolist() == [inf, 901 / 9]


def test_equal_rewards_go_by_submission() -> None:
    """Then by the jobs' order."""
    jobs = jobs_of([0] * 4, submitted=[3, 1, 2, 1])
    assert all_granted(jobs, accounts([0], [9])) == [1, 3, 2, 0]


def test_what_is_granted_is_charged() -> None:
    """A planner may grant less than the demand: the account shows what it was."""
    jobs = jobs_of([0, 1], gpus=[8, 8])
    found = allocate_round(jobs, accounts([0, 0], [7200, 7200]), 900, lambda job: 4)
    assert found.gpus.tolist() == [4, 4]
    assert found.ratio_after.tolist() == [0.5, 0.5]


def test_no_jobs_and_no_tenants() -> None:
    """Nothing is asked for, and nothing granted."""
    found = allocate_round(jobs_of([]), accounts([], []), 900, pytest.fail)
    assert str(found) == "granted 0 (0 GPUs), passed over 0"
    assert [row.dtype for row in (found.granted, found.ratios)] == [
        np.int64,
        np.float64,
    ]


def test_great_numbers_do_not_overflow() -> None:
    """Accounts at the end of what doubles hold are compared, as infinite if need be."""
    tenants = accounts([1e308, 1e308, 0], [1e-300, 1e308, 5e-324], [1e-300, 1, 1])
    found = allocate_round(jobs_of([0, 1, 2]), tenants, 1e308, lambda job: 1)
    assert found.granted.tolist() == [2, 1, 0]
    assert found.ratio_before.tolist() == [inf, 1.0, 0.0]


def test_candidates_do_not_follow_their_arrays() -> None:
    """They were checked once, so they cannot change."""
    ratio = np.array([0.5])
    jobs = Candidates(tenant=[0], ratio=ratio, gpus=[1])
    ratio[0] = nan
    assert jobs.ratio.tolist() == [0.5]
    with pytest.raises(ValueError, match="read-only"):
        jobs.ratio[0] = 1.0


def test_an_exception_of_place_passes() -> None:
    """The caller's planner speaks for itself."""

    def place(job: int) -> int:
        raise KeyError(job)

    with pytest.raises(KeyError, match="0"):
        allocate_round(jobs_of([0]), accounts([0], [9]), 900, place)


@pytest.mark.parametrize("answer", [-1, 9, 1.0, True, None])
def test_what_place_may_not_answer(answer: Any) -> None:
    """GPUs are a whole number up to the demand."""
    jobs = jobs_of([0], gpus=[8])
    with pytest.raises(InvalidRequest, match=r"place\(0\) answers .*: GPUs granted"):
        allocate_round(jobs, accounts([0], [9]), 900, lambda job: answer)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({"tenant": [0, -1]}, r"tenant\[1\] is -1"),
        ({"tenant": [[0, 1]]}, r"tenant of shape \(1, 2\)"),
        ({"tenant": [0.0, 1.0]}, "tenant of shape .* dtype float64: integers"),
        ({"ratio": [0.0, nan]}, r"ratio\[1\] is nan: at least 0"),
        ({"ratio": [-0.5, 0.0]}, r"ratio\[0\] is -0.5: at least 0"),
        ({"ratio": [0.0]}, r"ratio of shape \(1,\): a number for each of 2"),
        ({"ratio": ["a", "b"]}, "ratio: numbers"),
        ({"gpus": [8, 0]}, r"gpus\[1\] is 0: from 1"),
        (
            {"gpus": [8]},
            r"gpus of shape \(1,\) and dtype int64: integers, one for each",
        ),
        (
            {"gpus": np.array([1, 2**63], np.uint64)},
            r"gpus\[1\] is 9223372036854775808",
        ),
        ({"leases": [0, -1]}, r"leases\[1\] is -1: from 0"),
        ({"submitted": [0.5, 1.5]}, "submitted of shape"),
        ({"urgent": [1, 0]}, "urgent of shape .* dtype int64: a bool for each of 2"),
        ({"never_ran": [True]}, r"never_ran of shape \(1,\)"),
    ],
)
def test_candidates_that_are_refused(rows: dict[str, Any], said: str) -> None:
    """The message names the array, the job and the rule."""
    given = {"tenant": [0, 1], "ratio": [0.0, 0.0], "gpus": [8, 8], **rows}
    with pytest.raises(InvalidRequest, match=said):
        Candidates(**given)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (([0, -1], [1, 1], [8, 8]), r"service\[1\] is -1"),
        (([0, inf], [1, 1], [8, 8]), r"service\[1\] is inf: finite"),
        (([0, 1], [1, nan], [8, 8]), r"entitled\[1\] is nan"),
        (([0, 1], [1, 1], [8]), r"quota of shape \(1,\)"),
        ((0, 1, 8), r"service of shape \(\)"),
    ],
)
def test_accounts_that_are_refused(rows: Any, said: str) -> None:
    """The message names the array, the tenant and the rule."""
    with pytest.raises(InvalidRequest, match=said):
        TenantAccounts(*rows)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"lease_s": -1}, "lease_s -1: seconds"),
        ({"lease_s": nan}, "lease_s nan"),
        ({"pass_over": "round"}, "pass_over 'round': one of job, tenant"),
        ({"candidates": jobs_of([0, 1])}, r"tenant\[1\] is 1: one of 1 tenants"),
        ({"candidates": [0]}, "candidates list: Candidates"),
        ({"tenants": [0]}, "tenants list: TenantAccounts"),
    ],
)
def test_rounds_that_are_refused(changed: dict[str, Any], said: str) -> None:
    """Before anything is placed."""
    given: dict[str, Any] = {
        "candidates": jobs_of([0]),
        "tenants": accounts([0], [9]),
        "lease_s": 900,
        "place": pytest.fail,
        **changed,
    }
    with pytest.raises(InvalidRequest, match=said):
        allocate_round(**given)


def test_it_reads_well() -> None:
    """One line that a log can hold."""
    row = np.array([8, 4])
    found = Allocation(row, row, row / 8, row[:1], row[:0], row / 8, row / 8)
    assert str(found) == "granted 2 (12 GPUs), passed over 1"
