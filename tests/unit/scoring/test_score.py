"""``score`` against the formula in plain floats, and what it refuses."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import pytest

from phalanx_core.errors import InvalidRequest
from phalanx_core.scoring import restart_penalty_s, score
from phalanx_core.scoring.kernels import multiply_plain, multiply_threads


def naive(
    goodput: float,
    job: tuple[float, float, float, float, float],
    held: bool,
    power: float = 0.5,
    aggregate: bool = False,
    floor: float = 0.0,
) -> float:
    """One utility, by the paper's equations read one after the other."""
    progress, checkpoint, penalty, waiting, restarts = job
    age = progress + checkpoint
    if age < penalty or age + penalty == 0:
        factor = 1.0
    elif aggregate:
        factor = max(age - restarts * penalty, 0.0) / (age + penalty)
    else:
        factor = max(progress, 0.0) / (age + penalty)
    factor = 1.0 if held else max(factor, floor)
    key = 100.0 if 0.01 * waiting >= math.log(100.0) else math.exp(0.01 * waiting)
    return (goodput * factor) ** power * key


def drawn(rng: Random, jobs: int) -> list[tuple[float, float, float, float, float]]:
    """Jobs of every kind: new, young, old, without progress, long waiting."""
    return [
        (
            rng.choice((0.0, rng.uniform(0, 100), rng.uniform(0, 1e5))),
            rng.choice((0.0, rng.uniform(0, 50), rng.uniform(0, 1e4))),
            rng.choice((0.0, 30.0, 250.0)),
            rng.choice((0.0, rng.uniform(0, 400), rng.uniform(400, 1e9))),
            float(rng.randint(0, 5)),
        )
        for _ in range(jobs)
    ]


@pytest.mark.parametrize("power", [0.5, 1.0, 0.3])
@pytest.mark.parametrize("restart", ["decomposed", "aggregate"])
def test_every_utility_is_that_of_the_formula(
    power: float, restart: str, seed: int
) -> None:
    """Relative error of a few units in the last place, NaN where it was."""
    rng = Random(seed)
    met = {"nan": 0, "held": 0, "zero": 0}
    for _ in range(60):
        jobs = drawn(rng, 12)
        goodput = np.array([[rng.uniform(0, 40) for _ in range(6)] for _ in jobs])
        goodput[rng.randrange(12), rng.randrange(6)] = np.nan
        held = [rng.choice((-1, -1, rng.randrange(6))) for _ in jobs]
        columns = np.array(jobs).T
        floor = rng.choice((0.0, 0.1))
        found = score(
            goodput,
            *columns[:4],
            fairness=power,
            restart=restart,
            restarts=columns[4] if restart == "aggregate" else None,
            restart_floor=floor,
            current=np.array(held),
        )
        for at, job in enumerate(jobs):
            for choice in range(6):
                value = float(goodput[at, choice])
                if math.isnan(value):
                    met["nan"] += 1
                    assert math.isnan(found[at, choice])
                    continue
                aggregate = restart == "aggregate"
                same = choice == held[at]
                expected = naive(value, job, same, power, aggregate, floor)
                met["held"] += same
                met["zero"] += expected == 0
                assert found[at, choice] == pytest.approx(expected, rel=1e-13)
    assert min(met.values()) >= 20


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("root", [False, True])
def test_threads_and_numpy_give_the_same_bits(dtype: Any, root: bool) -> None:
    """Else ties would flip with the number of jobs."""
    rng = np.random.default_rng(5)
    value = (rng.random((300, 17)) * 100).astype(dtype)
    value[rng.random(value.shape) < 0.1] = np.nan
    factor = rng.random(300).astype(dtype)
    factor[:20] = 0.0
    age = np.exp(rng.random(300) * 4).astype(dtype)
    plain, threads = np.empty_like(value), np.empty_like(value)
    multiply_plain(value, factor, age, root, plain)
    multiply_threads(value, factor, age, root, threads)
    assert plain.tobytes() == threads.tobytes()


@pytest.mark.parametrize("restart", ["decomposed", "aggregate"])
def test_a_restart_that_costs_nothing_leaves_a_new_job_whole(restart: str) -> None:
    """Nothing was lost and nothing will be: 0 over 0 is 1."""
    more: dict[str, Any] = {"restarts": [0]} if restart == "aggregate" else {}
    worth = score([[4.0]], [0.0], [0.0], 0.0, [0.0], restart=restart, **more)
    assert worth.tolist() == [[2.0]]


def test_a_new_job_is_not_divided() -> None:
    """The factor is 1 while the age is below the penalty, and from there what is useful of it."""
    ages = [0.0, 29.999, 30.0, 300.0]
    found = score([[1.0]] * 4, ages, [0.0] * 4, 30.0, [0.0] * 4, fairness=1.0)
    assert found.ravel().tolist() == [1.0, 1.0, 0.5, 300.0 / 330.0]


def test_the_age_key_ends_at_its_cap_exactly() -> None:
    """exp(0.01 T) up to 460.5 s, 100 from there on, whatever T is."""
    waiting = [0.0, 100.0, 460.0, 461.0, 1e300]
    found = score([[1.0]] * 5, [0.0] * 5, [0.0] * 5, 30.0, waiting).ravel()
    assert found[0] == 1.0
    assert found[1] == pytest.approx(math.e)
    assert found[2] < 100.0
    assert found[3:].tolist() == [100.0, 100.0]


def test_no_progress_starves_unless_there_is_a_floor() -> None:
    """A job that only ever loses time is worth 0 for ever; 1 % of a restart saves it."""
    fields: Any = ([[4.0]], [0.0], [5000.0], 30.0, [1e6])
    assert score(*fields)[0, 0] == 0.0
    assert score(*fields, restart_floor=0.01)[0, 0] == pytest.approx(20.0)


def test_a_power_below_zero_is_sia_s() -> None:
    """With p = -0.5, where every product is above 0; a zero is refused, not made inf."""
    fields: Any = ([[4.0, 1.0]], [300.0], [0.0], 30.0, [0.0])
    found = score(*fields, fairness=-0.5)
    expected = [(4.0 * 300 / 330) ** -0.5, (300 / 330) ** -0.5]
    assert found.ravel().tolist() == pytest.approx(expected)
    with pytest.raises(
        InvalidRequest, match=r"goodput\[0, 1\] times its restart factor"
    ):
        score([[4.0, 0.0]], *fields[1:], fairness=-0.5)


def test_the_answer_may_take_the_goodput_s_place() -> None:
    """Also where a held configuration is worked out apart."""
    goodput = np.array([[1.0, 2.0, np.nan], [3.0, 4.0, 5.0]])
    fields: Any = ([300.0, 10.0], [30.0, 0.0], 30.0, [0.0, 50.0])
    expected = score(goodput, *fields, current=[1, -1])
    given = goodput.copy()
    assert score(given, *fields, current=[1, -1], out=given) is given
    assert given.tobytes() == expected.tobytes()
    assert expected[0, 1] == math.sqrt(2.0)


def test_single_precision_stays_single() -> None:
    """Computed in float32, not rounded from float64."""
    goodput = np.array([[2.0, 3.0]], np.float32)
    found = score(goodput, [300.0], [10.0], 30.0, [5.0])
    assert found.dtype == np.float32
    factor, age = np.float32(300 / 340), np.float32(math.exp(0.05))
    assert found.tolist() == [
        [float(np.sqrt(np.float32(value) * factor) * age) for value in (2.0, 3.0)]
    ]


GOOD: dict[str, Any] = {
    "goodput": [[1.0, 2.0], [3.0, 4.0]],
    "progress_s": [1.0, 2.0],
    "checkpoint_s": [0.0, 0.0],
    "restart_s": 30.0,
    "waiting_s": [0.0, 0.0],
}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"goodput": [1.0, 2.0]}, "goodput of shape (2,): a row of configurations"),
        ({"goodput": [["a"]]}, "goodput of dtype <U1: numbers"),
        ({"goodput": [[1.0, -1.0], [1.0, 1.0]]}, "goodput[0, 1] is -1.0: finite and"),
        ({"goodput": [[1.0, 1.0], [np.inf, 1.0]]}, "goodput[1, 0] is inf: finite and"),
        ({"progress_s": [1.0]}, "progress_s of shape (1,): one number for each of 2"),
        ({"progress_s": [1.0, np.nan]}, "progress_s[1] is nan: finite"),
        (
            {"checkpoint_s": [0.0, -1.0]},
            "checkpoint_s[1] is -1.0: finite and at least 0",
        ),
        ({"restart_s": -1.0}, "restart_s[0] is -1.0: finite and at least 0"),
        ({"waiting_s": ["x", "y"]}, "waiting_s: a number for each job"),
        ({"fairness": 0.0}, "fairness 0.0: in (0, 1], or below 0"),
        ({"fairness": 1.5}, "fairness 1.5: in (0, 1], or below 0"),
        ({"age_rate_per_s": 0.0}, "age_rate_per_s 0.0: above 0"),
        ({"age_cap": 0.5}, "age_cap 0.5: at least 1"),
        ({"restart": "none"}, "restart 'none': one of decomposed, aggregate"),
        ({"restart": "aggregate"}, 'restarts None: restart "aggregate" counts them'),
        ({"restarts": [0, 1]}, 'restarts: for restart "aggregate" alone'),
        ({"restart_floor": 2.0}, "restart_floor 2.0: in [0, 1]"),
        ({"current": [0, 2]}, "current[1] is 2: a configuration, 0 to 1, or -1"),
        (
            {"current": [0.0, 1.0]},
            "current of shape (2,) and dtype float64: an integer",
        ),
        ({"out": np.empty((1, 2))}, "out: a C-contiguous array of shape (2, 2)"),
    ],
)
def test_what_is_refused_is_named(wrong: dict[str, Any], message: str) -> None:
    """One exception with argument, job, value and rule; ``out`` is left alone."""
    out = np.full((2, 2), 7.0)
    fields = GOOD | {"out": out} | wrong
    with pytest.raises(InvalidRequest) as caught:
        score(**fields)
    assert str(caught.value).startswith(message)
    assert (out == 7.0).all()


def test_no_jobs_and_no_configurations() -> None:
    """Empty in, empty out."""
    assert score(np.empty((0, 3)), [], [], 30.0, []).shape == (0, 3)
    assert score(np.empty((2, 0)), [1, 2], [0, 0], 30.0, [0, 0]).shape == (2, 0)


def test_penalties_are_those_of_the_paper() -> None:
    """Section IV-D, and 30 s for what it does not list."""
    names = ("CIFAR-10", "DeepSpeech2", "BERT", "YOLOv3", "ImageNet", "NCF", "GPT", "?")
    assert [restart_penalty_s(name) for name in names] == [
        *(50.0, 25.0, 120.0, 80.0, 250.0, 25.0, 30.0, 30.0)
    ]
    with pytest.raises(InvalidRequest, match="application 3: a name"):
        restart_penalty_s(3)  # type: ignore[arg-type]
