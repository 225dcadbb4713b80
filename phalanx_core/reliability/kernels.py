"""The compiled loop of the simulation: one run after another, each with its own stream.

The stream of a run is xoshiro256++, begun by splitmix64 from the seed and the number of
the run, so that no other run, thread or process is part of what it draws. Exponential and
normal numbers come from it by ziggurats (Marsaglia and Tsang, J. Stat. Soft. 5(8), 2000).
"""

from __future__ import annotations

from math import erfc, exp, log, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phalanx_core.kernel import kernel

prange: Any = range
FloatArray = NDArray[np.float64]
# Four words of 64 bits: as a tuple the compiler keeps them in registers.
State = tuple[Any, Any, Any, Any]

# Places in the row of numbers: all seconds but the last, which is 1 where a failure may
# break off a recovery.
HORIZON, MTBF, INTERVAL, MEAN, DEVIATION, BREAKS = range(6)

# The low bits of a word choose one of so many layers of equal area; the others, how far
# along it.
LAYERS = 256
LAYER_BITS = 8
# Where the lowest layer of each ends and its tail begins.
EXPONENTIAL_END = 7.69711747013104972
NORMAL_END = 3.6541528853610088
EXPONENTIAL_SCALE = 2.0**53
NORMAL_STEPS = 2**52


def layers(
    end: float, area: float, density: Any, inverse: Any, scale: float
) -> tuple[NDArray[np.int64], FloatArray, FloatArray]:
    """Of each layer: steps that are surely below the curve, length of one, height above.

    Parameters
    ----------
    end
        Where the lowest layer ends.
    area
        Of each layer; that of the lowest is with the tail.
    density, inverse
        The falling curve from 1 at 0, and the place of a height of it.
    scale
        Steps of a layer.
    """
    sure, step = np.empty(LAYERS, np.int64), np.empty(LAYERS)
    height = np.empty(LAYERS)
    whole = area / density(end)
    sure[0], step[0], height[0] = int(end / whole * scale), whole / scale, 1.0
    outer = end
    for at in range(LAYERS - 1, 0, -1):
        step[at], height[at] = outer / scale, density(outer)
        inner = inverse(area / outer + height[at]) if at > 1 else 0.0
        sure[at] = int(inner / outer * scale)
        outer = inner
    return sure, step, height


def _bell(x: float) -> float:
    return exp(-0.5 * x * x)


EXPONENTIAL_SURE, EXPONENTIAL_STEP, EXPONENTIAL_HEIGHT = layers(
    EXPONENTIAL_END,
    (EXPONENTIAL_END + 1.0) * exp(-EXPONENTIAL_END),
    lambda x: exp(-x),
    lambda y: -log(y),
    EXPONENTIAL_SCALE,
)
NORMAL_SURE, NORMAL_STEP, NORMAL_HEIGHT = layers(
    NORMAL_END,
    NORMAL_END * _bell(NORMAL_END) + sqrt(pi / 2) * erfc(NORMAL_END / sqrt(2)),
    _bell,
    lambda y: sqrt(-2.0 * log(y)),
    float(NORMAL_STEPS),
)


def rotated(word: Any, bits: int) -> Any:
    """A word turned left."""
    return (word << np.uint64(bits)) | (word >> np.uint64(64 - bits))


def begun(seed: int, run: int) -> State:
    """The stream of a run (splitmix64 four times)."""
    word = np.uint64(seed) ^ (np.uint64(run) * np.uint64(0xD1342543DE82EF95))
    first, word = mixed(word)
    second, word = mixed(word)
    third, word = mixed(word)
    fourth, word = mixed(word)
    return first, second, third, fourth


def mixed(word: Any) -> tuple[Any, Any]:
    """One number of splitmix64, and its state after it."""
    word = word + np.uint64(0x9E3779B97F4A7C15)
    found = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return found ^ (found >> np.uint64(31)), word


def drawn(state: State) -> tuple[Any, State]:
    """The next word of 64 bits, and the stream after it (xoshiro256++)."""
    first, second, third, fourth = state
    word = rotated(first + fourth, 23) + first
    third ^= first
    fourth ^= second
    return word, (
        first ^ fourth,
        second ^ third,
        third ^ (second << np.uint64(17)),
        rotated(fourth, 45),
    )


def uniform(state: State) -> tuple[float, State]:
    """One of 2 ** 53 numbers in (0, 1], all equally likely."""
    word, state = drawn(state)
    return (float(np.int64(word >> np.uint64(11))) + 1.0) * 2.0**-53, state


def exponential(state: State) -> tuple[float, State]:
    """A number with mean 1: 53 bits along one of the layers, which 8 others choose."""
    while True:
        word, state = drawn(state)
        layer = word & np.uint64(LAYERS - 1)
        steps = np.int64(word >> np.uint64(11))
        found = float(steps) * EXPONENTIAL_STEP[layer]
        if steps < EXPONENTIAL_SURE[layer]:
            return found, state
        share, state = uniform(state)
        if layer == np.uint64(0):
            # The tail of an exponential distribution is one.
            return EXPONENTIAL_END - log(share), state
        low = EXPONENTIAL_HEIGHT[layer]
        high = EXPONENTIAL_HEIGHT[layer - np.uint64(1)]
        if low + (high - low) * share < exp(-found):
            return found, state


def normal(state: State) -> tuple[float, State]:
    """A number with mean 0 and deviation 1: 53 bits, one of them the sign, and 8."""
    while True:
        word, state = drawn(state)
        layer = word & np.uint64(LAYERS - 1)
        steps = np.int64(word >> np.uint64(11)) - NORMAL_STEPS
        found = float(steps) * NORMAL_STEP[layer]
        if abs(steps) < NORMAL_SURE[layer]:
            return found, state
        if layer == np.uint64(0):
            beyond, state = tail(state)
            return (beyond if steps > 0 else -beyond), state
        share, state = uniform(state)
        low = NORMAL_HEIGHT[layer]
        high = NORMAL_HEIGHT[layer - np.uint64(1)]
        if low + (high - low) * share < exp(-0.5 * found * found):
            return found, state


def tail(state: State) -> tuple[float, State]:
    """A normal number beyond the lowest layer's end (Marsaglia)."""
    while True:
        first, state = uniform(state)
        second, state = uniform(state)
        beyond = -log(first) / NORMAL_END
        if -2.0 * log(second) >= beyond * beyond:
            return NORMAL_END + beyond, state


def recovery(
    state: State, numbers: FloatArray, given: FloatArray
) -> tuple[float, State]:
    """Seconds of a recovery: one of those given, else normal, drawn anew while <= 0."""
    if given.size > 0:
        share, state = uniform(state)
        return given[min(int(share * given.size), given.size - 1)], state
    mean = numbers[MEAN]
    deviation = numbers[DEVIATION]
    if deviation == 0.0:
        return mean, state
    while True:
        found, state = normal(state)
        seconds = mean + deviation * found
        if seconds > 0.0:
            return seconds, state


def repaired(
    state: State, numbers: FloatArray, given: FloatArray, left: float
) -> tuple[float, int, State]:
    """Seconds of recoveries up to the first that no failure breaks off; and failures.

    It ends with what is ``left`` of the horizon, however many would be broken off.
    """
    spent = 0.0
    failures = 0
    while True:
        needed, state = recovery(state, numbers, given)
        fails, state = exponential(state)
        fails *= numbers[MTBF]
        if fails >= needed:
            return spent + needed, failures, state
        spent += fails
        if spent >= left:
            return spent, failures, state
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
        up, state = exponential(state)
        up *= mtbf
        if clock + up >= horizon:
            # What runs at the end is lost by nothing.
            return kept + (horizon - clock), failures
        failures += 1
        # No double may hold how many intervals of nothing there were.
        kept += min(up, np.floor(up / interval) * interval)
        clock += up
        if breaks:
            spent, more, state = repaired(state, numbers, given, horizon - clock)
            failures += more
        else:
            spent, state = recovery(state, numbers, given)
        clock += spent
        if clock >= horizon:
            return kept, failures


@kernel(
    "void(int64, uint64, float64[::1], float64[::1], float64[::1], int64[::1])",
    parallel=True,
    parts=(
        rotated,
        mixed,
        begun,
        drawn,
        uniform,
        exponential,
        tail,
        normal,
        recovery,
        repaired,
        productive,
    ),
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
        found, count = productive(begun(seed, first + at), numbers, given)
        kept[at] = found / numbers[HORIZON]
        failures[at] = count
