"""The ledger beside its slow twin, which counts in fractions, over any history."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from phalanx_core.fairness import Ledger, kernels, settling
from tests.unit.fairness.histories import (
    KINDS,
    Step,
    Teller,
    both,
    compare,
    steps,
)

WINDOWS = (None, 10.0, 30.0)
entitlements = st.sampled_from(["quota", "demand"])


@given(steps, entitlements, st.sampled_from(WINDOWS), st.sampled_from([0.0, -3.5, 1e6]))
def test_it_is_the_twin(
    history: list[Step], entitlement: str, window: float | None, start_s: float
) -> None:
    """All accounts to 1e-12 after the last event, asked for once."""
    ledger, slow = both(entitlement, window, start_s)
    teller = Teller([ledger, slow], start_s)
    for step in history:
        teller.step(step)
    compare(ledger, slow)


@given(steps, entitlements, st.sampled_from(WINDOWS))
def test_asking_changes_nothing(
    history: list[Step], entitlement: str, window: float | None
) -> None:
    """All accounts to 1e-12 after every event, asked for each time."""
    ledger, slow = both(entitlement, window)
    teller = Teller([ledger, slow])
    for step in history:
        teller.step(step)
        compare(ledger, slow)


@pytest.fixture(params=["loop", "arrays", "kernel", "tree"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """One of the ways of reading a log, whatever its length."""
    loops, arrays = {"loop": (10**9, 10**9), "arrays": (0, 10**9)}.get(
        request.param, (0, 0)
    )
    monkeypatch.setattr(settling, "LOOP_PRODUCTS", loops)
    monkeypatch.setattr(settling, "ARRAY_PRODUCTS", arrays)
    if request.param == "tree":
        monkeypatch.setattr(kernels, "FEW", 0)
        monkeypatch.setattr(settling, "sum_segments", kernels.sum_segments.plain)
    return str(request.param)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=steps, entitlement=entitlements)
def test_every_way_of_reading_a_log(
    way: str, history: list[Step], entitlement: str
) -> None:
    """A loop, arrays, and the kernel with sums or a tree find the same to 1e-12."""
    ledger, slow = both(entitlement, None)
    teller = Teller([ledger, slow])
    for step in history:
        teller.step(step)
    compare(ledger, slow)


def drawn(rng: np.random.Generator, count: int) -> list[Step]:
    """A long history of as many events."""
    return [
        (
            KINDS[int(rng.integers(len(KINDS)))],
            int(rng.integers(100)),
            float(rng.exponential(5.0)),
            int(rng.integers(1, 13)),
            float(rng.choice([1.0, 0.1, 0.7, 2.0])),
        )
        for _ in range(count)
    ]


@pytest.mark.parametrize("entitlement", ["quota", "demand"])
@pytest.mark.parametrize("window", WINDOWS)
def test_a_long_history(
    rng: np.random.Generator, entitlement: str, window: float | None
) -> None:
    """600 events, of which most accounts see hundreds, read three times."""
    ledger, slow = both(entitlement, window)
    teller = Teller([ledger, slow])
    for at, step in enumerate(drawn(rng, 600)):
        teller.step(step)
        if at % 200 == 199:
            compare(ledger, slow)


def goes_on(
    before: list[Step], after: list[Step], entitlement: str, window: float | None
) -> None:
    """A ledger saved in between, and what was loaded, are told the same and are the same."""
    ledger, _ = both(entitlement, window)
    teller = Teller([ledger])
    for step in before:
        teller.step(step)
    data = ledger.save()
    other = Ledger.load(data)
    assert other.save() == data
    teller.ledgers = [ledger, other]
    for step in after:
        teller.step(step)
    assert other.save() == ledger.save()
    jobs = ledger.jobs(active=False)
    assert other.jobs(active=False) == jobs
    assert [other.job(job) for job in jobs] == [ledger.job(job) for job in jobs]
    assert other.tenants() == ledger.tenants()


@given(steps, steps, entitlements, st.sampled_from(WINDOWS))
def test_a_loaded_ledger_goes_on_bit_for_bit(
    before: list[Step], after: list[Step], entitlement: str, window: float | None
) -> None:
    """The same later events give the same bytes; and a save is saved as itself."""
    goes_on(before, after, entitlement, window)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("entitlement", ["quota", "demand"])
def test_a_long_history_goes_on_bit_for_bit(
    rng: np.random.Generator, entitlement: str, window: float | None
) -> None:
    """As above, over times of 53 bits, whose sums are never without a rest."""
    goes_on(drawn(rng, 500), drawn(rng, 200), entitlement, window)


@given(steps, entitlements)
def test_service_is_conserved(history: list[Step], entitlement: str) -> None:
    """What tenants and jobs were given adds up to what was leased, in fractions."""
    ledger, slow = both(entitlement, None)
    teller = Teller([ledger, slow])
    for step in history:
        if step[0] != "remove_tenant":
            teller.step(step)
    leased = Fraction(ledger.leased_s)
    of_tenants = sum(Fraction(ledger.tenant(name).service) for name in ledger.tenants())
    jobs = ledger.jobs(active=False)
    of_jobs = sum(Fraction(ledger.job(job).service) for job in jobs)
    assert abs(of_tenants - leased) <= Fraction(1, 10**9) * leased
    assert abs(of_jobs - leased) <= Fraction(1, 10**9) * leased
    ended = ledger.forget_ended()
    assert {account.job for account in ended} == set(jobs) - set(ledger.jobs())
    ledger.validate()
