"""Cases of fairness: examples of the ASTRAEA paper, placed by the real planner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import pytest

from phalanx_core import Gang, Misfit, Planner, Topology
from phalanx_core.fairness.allocation import Allocation, allocate_round
from phalanx_core.fairness.candidates import Candidates, TenantAccounts

Placing = Callable[[int], int]


def placing(planner: Planner, gangs: Sequence[Gang]) -> Placing:
    """Place job by job on a planner; GPUs granted, 0 where it refuses."""

    def place(job: int) -> int:
        answer = planner.place(job, gangs[job])
        return 0 if isinstance(answer, Misfit) else len(answer.leaves)

    return place


def hosts_of(planner: Planner, job: int) -> list[str]:
    """Names of the hosts where a job stands."""
    return list(planner.placement(job).by_host())


def six_gpus(rounds: int, by_gpus: bool) -> list[int]:
    """GPU-minutes of jobs of 6, 3 and 3 GPUs after rounds of 10 minutes.

    The jobs are owed the same: 2 of 6 GPUs each, or, by run time alone, each minute.
    """
    gpus = [6, 3, 3]
    gangs = [Gang(count) for count in gpus]
    had = [0, 0, 0]
    planner = Planner(Topology.from_spec("host:1 gpu:6"))
    for number in range(rounds):
        minutes = 10 * number
        due = 2 * minutes if by_gpus else minutes
        service = had if by_gpus else [a // b for a, b in zip(had, gpus, strict=True)]
        jobs = Candidates(
            tenant=[0, 0, 0],
            ratio=[float(Fraction(one, due)) if due else 0.0 for one in service],
            gpus=gpus,
        )
        tenant = TenantAccounts([sum(had)], [6 * minutes], [6])
        found = allocate_round(jobs, tenant, 10, placing(planner, gangs))
        for job, count in zip(found.granted.tolist(), found.gpus.tolist(), strict=True):
            had[job] += count * 10
            planner.release(job)
    return had


def test_rotation_by_run_time_favours_the_large_job() -> None:
    """In 20 minutes 60, 30 and 30 GPU-minutes, and so on for ever."""
    assert six_gpus(1, by_gpus=False) == [60, 0, 0]
    assert six_gpus(2, by_gpus=False) == [60, 30, 30]
    assert six_gpus(4, by_gpus=False) == [120, 60, 60]


def test_rotation_by_gpu_time_is_fair() -> None:
    """In 30 minutes 60 GPU-minutes each: two rounds of the small for one of the large."""
    assert six_gpus(1, by_gpus=True) == [60, 0, 0]
    assert six_gpus(2, by_gpus=True) == [60, 30, 30]
    assert six_gpus(3, by_gpus=True) == [60, 60, 60]
    assert six_gpus(6, by_gpus=True) == [120, 120, 120]


A1, A2, B1 = range(3)
GANGS = [Gang(8, within="host"), Gang(4, within="host"), Gang(8, within="host")]


def first_round(planner: Planner) -> Allocation:
    """Two tenants of equal weight on 16 GPUs, A behind by 18,000 GPU-seconds."""
    jobs = Candidates(tenant=[0, 0, 1], ratio=[0.50, 0.80, 0.40], gpus=[8, 4, 8])
    accounts = TenantAccounts([54_000, 72_000], [72_000, 72_000], [8, 8])
    return allocate_round(jobs, accounts, 900, placing(planner, GANGS))


def test_the_walk_through_of_16_gpus() -> None:
    """A1 and A2 are chosen at 0.75 and 0.85; B1's 8 GPUs have no host at 0.90."""
    planner = Planner(Topology.from_spec("host:2 gpu:8"))
    found = first_round(planner)
    assert found.ratio_before.tolist() == [0.75, 1.0]
    assert found.granted.tolist() == [A1, A2]
    assert found.gpus.tolist() == [8, 4]
    assert found.ratios.tolist() == [0.85, 0.90]
    assert found.passed_over.tolist() == [B1]
    assert found.ratio_after.tolist() == [0.90, 1.0]
    assert (hosts_of(planner, A1), hosts_of(planner, A2)) == (["host-0"], ["host-1"])
    assert planner.free_leaves() == 4
    assert str(found) == "granted 2 (12 GPUs), passed over 1"


def test_the_round_after_the_walk_through() -> None:
    """900 s later A2 is done: A1 renews in place at 9/11, and B1 gets the other host."""
    planner = Planner(Topology.from_spec("host:2 gpu:8"))
    first_round(planner)
    planner.release(A2)
    # All that runs is decided anew; what is chosen again stays where it is.
    stands = {A1: hosts_of(planner, A1)}
    jobs = Candidates(tenant=[0, 1], ratio=[0.60, 0.35], gpus=[8, 8])
    accounts = TenantAccounts([64_800, 72_000], [79_200, 79_200], [8, 8])

    def place(index: int) -> int:
        job = (A1, B1)[index]
        return 8 if job in stands else placing(planner, GANGS)(job)

    found = allocate_round(jobs, accounts, 900, place)
    assert found.ratio_before.tolist() == [64_800 / 79_200, 72_000 / 79_200]
    assert found.granted.tolist() == [0, 1]
    assert found.ratio_after.tolist() == [72_000 / 79_200, 79_200 / 79_200]
    assert hosts_of(planner, A1) == stands[A1] == ["host-0"]
    assert hosts_of(planner, B1) == ["host-1"]


def long_run(
    demands: Sequence[Sequence[int]], rounds: int, by_gpus: bool = True
) -> list[int]:
    """GPU-leases of each job when all tenants and jobs have equal weight on 16 GPUs.

    Every job wants its demand in every round. Fair integrals by their definition: a job
    is owed the lesser of its demand and an equal part of its tenant's quota; without
    ``by_gpus`` an equal part of the time.
    """
    quota = Fraction(16, len(demands))
    owner = [at for at, row in enumerate(demands) for _ in row]
    gpus = [count for row in demands for count in row]
    share = [min(Fraction(count), quota / len(row)) for row in demands for count in row]
    had = [0] * len(gpus)
    for number in range(rounds):
        measure = had if by_gpus else [a // b for a, b in zip(had, gpus, strict=True)]
        due = [number * (part if by_gpus else 1) for part in share]
        ratios = [
            Fraction(a) / b if b else 0 for a, b in zip(measure, due, strict=True)
        ]
        jobs = Candidates(tenant=owner, ratio=list(map(float, ratios)), gpus=gpus)
        sums = [
            sum(a for a, of in zip(had, owner, strict=True) if of == at)
            for at in range(len(demands))
        ]
        entitled = [float(number * quota)] * len(demands)
        accounts = TenantAccounts(sums, entitled, [float(quota)] * len(demands))
        free = [16]

        def place(job: int, free: list[int] = free) -> int:
            granted = gpus[job] if gpus[job] <= free[0] else 0
            free[0] -= granted
            return granted

        found = allocate_round(jobs, accounts, 1, place)
        for job, count in zip(found.granted.tolist(), found.gpus.tolist(), strict=True):
            had[job] += count
    return had


@pytest.mark.parametrize(
    ("honest", "doubled"),
    [
        ([[4, 4, 4, 4, 4, 4, 4, 4]], [[8, 4, 4, 4, 4, 4, 4, 4]]),
        ([[4, 4, 8, 2], [8, 4, 4]], [[8, 4, 8, 2], [8, 4, 4]]),
        ([[2, 2, 2, 2], [4, 4, 4], [8, 8]], [[4, 2, 2, 2], [4, 4, 4], [8, 8]]),
        ([[8, 8, 8]], [[16, 8, 8]]),
    ],
)
def test_a_doubled_demand_gains_no_share(
    honest: list[list[int]], doubled: list[list[int]]
) -> None:
    """After 2,000 rounds the first job has no more than before and one lease of its own."""
    before, after = long_run(honest, 2000), long_run(doubled, 2000)
    assert after[0] <= before[0] + doubled[0][0]


def test_a_doubled_demand_gains_by_run_time() -> None:
    """What accounts of GPU-time are for: rotation by run time gives twice the others'."""
    before = long_run([[4] * 8], 2000, by_gpus=False)
    after = long_run([[8] + [4] * 7], 2000, by_gpus=False)
    assert before == [4000] * 8
    assert after[0] == 7112
    assert set(after[1:]) == {3552, 3556}


def test_up_to_its_share_a_demand_is_owed_in_full() -> None:
    """The bound of the claim: who asks for less than its share may ask for more."""
    assert long_run([[1, 8, 8]], 2000)[0] == 1714
    assert long_run([[2, 8, 8]], 2000)[0] == 3428
