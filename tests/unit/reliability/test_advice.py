"""What failures cost one fleet, and what each remedy gains, in figures worked by hand."""

from __future__ import annotations

import json
from math import exp, expm1
from typing import Any

import numpy as np
import pytest

from phalanx_core.errors import InvalidRequest
from phalanx_core.reliability import (
    Advice,
    Fleet,
    Recovery,
    RecoveryBudget,
    advise,
    best_interval,
    ettr,
    simulate,
)

GPUS = 131_072
MTBF_S = 50_000 * 3600 / GPUS
# Of one domain: 256 hosts of 8 GPUs, repaired in 4 of 6,250 hours.
LOAD = 256 * 4 / 6250


@pytest.fixture
def advice() -> Advice:
    """The paper's large cluster; one spare a pod, a checkpoint every 2.5 minutes."""
    return advise(GPUS, checkpoint_s=1.05, interval_s=150)


def ratio(recovery_s: float, interval_s: float) -> float:
    """By the closed form, written out."""
    kept = interval_s / expm1(interval_s / MTBF_S)
    return (1 - 1.05 / interval_s) * kept / (MTBF_S + recovery_s)


def test_today(advice: Advice) -> None:
    """A spare is free in 85 % of failures; the other recoveries take 900 s."""
    found = exp(-LOAD)
    mean = 71.1 * found + 900 * (1 - found)
    assert advice.mtbf_s == pytest.approx(1373.291)
    assert advice.recovery_s == pytest.approx(mean)
    assert advice.overhead == pytest.approx(0.007)
    assert advice.ettr == pytest.approx(ratio(mean, 150))
    assert round(advice.ettr, 4) == 0.8222
    assert (advice.gpus, advice.spares, advice.interval_s) == (GPUS, 1, 150.0)


def test_levels_of_spares(advice: Advice) -> None:
    """From none to the fewest that find one in 99 % of failures."""
    found = [
        (one.spares, round(one.probability, 4), round(one.recovery_s, 1), one.ettr)
        for one in advice.spare_levels
    ]
    shares = [0, exp(-LOAD), exp(-LOAD) * (1 + LOAD)]
    shares.append(shares[2] + exp(-LOAD) * LOAD**2 / 2)
    times = [71.1 * share + 900 * (1 - share) for share in shares]
    assert [row[:3] for row in found] == [
        (0, 0.0, 900.0),
        (1, 0.8489, 196.4),
        (2, 0.988, 81.1),
        (3, 0.9994, 71.6),
    ]
    assert [row[3] for row in found] == pytest.approx([ratio(t, 150) for t in times])
    for one in advice.spare_levels:
        assert one.simulated == pytest.approx(one.probability, abs=0.005)


def test_remedies(advice: Advice) -> None:
    """Each alone and all together; what it gains is its ratio less today's."""
    best = best_interval(MTBF_S, 1.05).exact_s
    spared = 71.1 + 828.9 * (1 - advice.spare_levels[3].probability)
    halved = advice.recovery_s - 20 * exp(-LOAD)
    both = spared - 20 * advice.spare_levels[3].probability
    wanted = {
        "all of these": ratio(both, best),
        "3 spares a domain": ratio(spared, 150),
        "a checkpoint every 54.1 s": ratio(advice.recovery_s, best),
        "half of restore": ratio(halved, 150),
    }
    assert {one.what: one.ettr for one in advice.remedies} == pytest.approx(wanted)
    assert [one.what for one in advice.remedies] == list(wanted)
    for one in advice.remedies:
        assert one.gained == one.ettr - advice.ettr
    most = advice.remedies[0].gained
    assert most > max(one.gained for one in advice.remedies[1:])


def test_gains_multiply(advice: Advice) -> None:
    """An interval's gain and a recovery's are factors of their own."""
    today = advice.ettr
    found = {one.what: one.ettr / today for one in advice.remedies}
    shorter = advise(
        GPUS,
        1.05,
        150,
        recovery=RecoveryBudget.paper().with_items(restore=20),
        spares=3,
    )
    times = found["a checkpoint every 54.1 s"] * shorter.ettr / today
    assert found["all of these"] == pytest.approx(times)


def test_the_best_interval_is_todays_where_none_is_given() -> None:
    """And then gains nothing."""
    found = advise(GPUS, 1.05)
    assert found.interval_s == found.best.exact_s == best_interval(MTBF_S, 1.05).exact_s
    (row,) = [one for one in found.remedies if "checkpoint" in one.what]
    assert row.gained == 0.0


def test_more_spares_than_asked_for() -> None:
    """They are not taken away, and the table ends where the target is met."""
    found = advise(GPUS, 1.05, 150, spares=9)
    assert "9 spares a domain" in [one.what for one in found.remedies]
    assert found.spare_levels[-1].spares == 3


def test_other_fleets() -> None:
    """Hosts of four, domains of 18, repaired in three days; no items at all."""
    fleet = Fleet(4, 18, 20_000.0, 3 * 86_400.0, 300.0)
    found = advise(72, 5, recovery=RecoveryBudget({}), fleet=fleet, spares=0)
    load = 18 * 72 * 4 / 20_000
    assert found.mtbf_s == 20_000 * 3600 / 72
    assert found.recovery_s == 300.0
    assert found.spare_levels[1].probability == pytest.approx(exp(-load))
    assert len(found.remedies) == 3


def test_a_mean_recovery_stands_for_its_distribution(advice: Advice) -> None:
    """Short and long recoveries, mixed as spares are found."""
    draw = np.random.default_rng(0)
    mixed = np.where(draw.random(100_000) < exp(-LOAD), 71.1, 900.0)
    given = {"runs": 40, "horizon_s": 5e8}
    found = simulate(MTBF_S, Recovery(observed_s=mixed), 150.0, 0.007, **given)
    wanted = ettr(MTBF_S, mixed.mean(), 150.0, 0.007)
    assert abs(found.mean - wanted) < 4 * found.standard_error
    assert wanted == pytest.approx(advice.ettr, abs=0.002)


def test_the_document_is_json(advice: Advice) -> None:
    """All of it, by these names."""
    found = json.loads(json.dumps(advice.to_dict()))
    assert list(found) == [
        "gpus",
        "mtbf_s",
        "spares",
        "recovery",
        "recovery_s",
        "interval_s",
        "overhead",
        "ettr",
        "best_interval",
        "spare_levels",
        "remedies",
    ]
    assert found["recovery"]["restore"] == 40.0
    assert found["spare_levels"][3]["spares"] == 3
    numbers = advise(np.int64(8), np.float64(1), np.int64(60), spares=np.int64(1))
    assert json.dumps(numbers.to_dict())


def test_many_repairs_at_a_time() -> None:
    """Ten thousand levels of spares in the time of a few."""
    found = advise(8, 1.0, fleet=Fleet(repair_s=1e9))
    assert len(found.spare_levels) > 10_000
    assert found.spare_levels[-1].probability >= 0.99


WRONG: list[tuple[Any, str]] = [
    (lambda: advise(0, 1), "gpus 0: a whole number from 1 to 2147483647"),
    (lambda: advise([8], 1), "gpus [8]: a whole number from 1 to 2147483647"),
    (lambda: advise(8, 0), "checkpoint_s 0: finite and above 0"),
    (lambda: advise(8, None), "checkpoint_s None: finite and above 0"),
    (
        lambda: advise(8, 30, 30),
        "interval_s 30: finite, and longer than the checkpoint of 30 s",
    ),
    (
        lambda: advise(8, 30, float("nan")),
        "interval_s nan: finite, and longer than the checkpoint of 30 s",
    ),
    (lambda: advise(8, 1, spares=-1), "spares -1: a whole number from 0"),
    (lambda: advise(8, 1, target=1.0), "target 1.0: in (0, 1)"),
    (lambda: advise(8, 1, seed=-1), "seed -1: a whole number from 0"),
    (lambda: Fleet(gpus_per_host=0), "gpus_per_host 0: a whole number from 1"),
    (lambda: Fleet(hosts_per_domain=1.5), "hosts_per_domain 1.5: a whole number"),
    (lambda: Fleet(gpu_mtbf_hours=-1), "gpu_mtbf_hours -1: finite and above 0"),
    (lambda: Fleet(repair_s=0), "repair_s 0: finite and above 0"),
    (lambda: Fleet(without_spare_s=-1), "without_spare_s -1: finite and at least 0"),
    (
        lambda: advise(8, 1, fleet=Fleet(repair_s=1e12)),
        "repair_s 1000000000000.0: with",
    ),
]


@pytest.mark.parametrize(("call", "told"), WRONG, ids=[told for _, told in WRONG])
def test_wrong_input_is_named(call: Any, told: str) -> None:
    """One error with argument, value and rule."""
    with pytest.raises(InvalidRequest) as caught:
        call()
    assert str(caught.value).startswith(told)
