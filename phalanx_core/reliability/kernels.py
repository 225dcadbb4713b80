"""The compiled loop of the simulation: one run after another, each with its own stream.

The stream of a run is xoshiro256++, begun by splitmix64 from the seed and the number of
the run, so that no other run, thread or process is part of what it draws.
"""

from __future__ import annotations

from math import cos, log, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phalanx_core.kernel import kernel

prange: Any = range
FloatArray = NDArray[np.float64]
State = NDArray[np.uint64]

# Places in the row of numbers: all seconds but the last, which is 1 where a failure may
# break off a recovery.
HORIZON, MTBF, INTERVAL, MEAN, DEVIATION, BREAKS = range(6)


def rotated(word: Any, bits: int) -> Any:
    """A word turned left."""
    return (word << np.uint64(bits)) | (word >> np.uint64(64 - bits))


def begin(state: State, seed: int, run: int) -> None:
    """The stream of a run (splitmix64 four times)."""
    word = np.uint64(seed) ^ (np.uint64(run) * np.uint64(0xD1342543DE82EF95))
    for at in range(4):
        word += np.uint64(0x9E3779B97F4A7C15)
        mixed = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state[at] = mixed ^ (mixed >> np.uint64(31))


def uniform(state: State) -> float:
    """The next of 2 ** 53 numbers in (0, 1], all equally likely (xoshiro256++)."""
    word = rotated(state[0] + state[3], 23) + state[0]
    shifted = state[1] << np.uint64(17)
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= shifted
    state[3] = rotated(state[3], 45)
    return (float(word >> np.uint64(11)) + 1.0) * 2.0**-53


def recovery(state: State, numbers: FloatArray, given: FloatArray) -> float:
    """Seconds of a recovery: one of those given, else normal, drawn anew while <= 0."""
    if given.size > 0:
        return float(given[min(int(uniform(state) * given.size), given.size - 1)])
    mean = numbers[MEAN]
    deviation = numbers[DEVIATION]
    if deviation == 0.0:
        return float(mean)
    found = 0.0
    while found <= 0.0:
        # The first of a pair that Box and Muller's transform makes.
        length = sqrt(-2.0 * log(uniform(state)))
        found = mean + deviation * length * cos(2.0 * pi * uniform(state))
    return found


def repaired(
    state: State, numbers: FloatArray, given: FloatArray, left: float
) -> tuple[float, int]:
    """Seconds of recoveries up to the first that no failure breaks off; and failures.

    It ends with what is ``left`` of the horizon, however many would be broken off.
    """
    spent = 0.0
    failures = 0
    while True:
        needed = recovery(state, numbers, given)
        fails = -numbers[MTBF] * log(uniform(state))
        if fails >= needed:
            return spent + needed, failures
        spent += fails
        if spent >= left:
            return spent, failures
        failures += 1


def productive(
    state: State, numbers: FloatArray, given: FloatArray
) -> tuple[float, int]:
    """Seconds up to the horizon that checkpoints keep, overhead included; and failures."""
    horizon = numbers[HORIZON]
    mtbf = numbers[MTBF]
    interval = numbers[INTERVAL]
    breaks = numbers[BREAKS] != 0.0
    clock = 0.0
    kept = 0.0
    failures = 0
    while True:
        up = -mtbf * log(uniform(state))
        if clock + up >= horizon:
            # What runs at the end is lost by nothing.
            return kept + (horizon - clock), failures
        failures += 1
        # A quotient that is rounded up must not keep more than there was.
        kept += min(up, np.floor(up / interval) * interval)
        clock += up
        if breaks:
            spent, more = repaired(state, numbers, given, horizon - clock)
            clock += spent
            failures += more
        else:
            clock += recovery(state, numbers, given)
        if clock >= horizon:
            return kept, failures


@kernel(
    "void(int64, uint64, float64[::1], float64[::1], float64[::1], int64[::1])",
    parallel=True,
    parts=(rotated, begin, uniform, recovery, repaired, productive),
)
def run_all(
    first: int,
    seed: int,
    numbers: FloatArray,
    given: FloatArray,
    kept: FloatArray,
    failures: NDArray[np.int64],
) -> None:
    """Runs ``first`` and so on: share of the horizon that each keeps, and its failures.

    ``numbers``: see the names of their places; ``given``: seconds of recoveries, of which
    each is as likely, or none.
    """
    for at in prange(kept.size):
        state = np.empty(4, np.uint64)
        begin(state, seed, first + at)
        found, count = productive(state, numbers, given)
        kept[at] = found / numbers[HORIZON]
        failures[at] = count
