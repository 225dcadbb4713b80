"""Bits of the simulation: compiled or plain, on any threads, split in any way."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phalanx_core.reliability import Recovery, simulate
from phalanx_core.reliability.kernels import begun, run_all, uniform

DAY = 86_400.0
MASK = 2**64 - 1
# Horizon, mean time between failures, interval, mean and deviation, whether it breaks.
SETTINGS: dict[str, tuple[list[float], list[float]]] = {
    "normal": ([10 * DAY, 1373.3, 150.0, 75.0, 10.0, 0.0], []),
    "wide": ([5 * DAY, 1373.3, 150.0, 10.0, 300.0, 0.0], []),
    "fixed": ([5 * DAY, 700.0, 60.0, 75.0, 0.0, 0.0], []),
    "observed": ([5 * DAY, 700.0, 60.0, 0.0, 0.0, 0.0], [0.0, 10.0, 900.0]),
    "broken": ([5 * DAY, 700.0, 60.0, 500.0, 80.0, 1.0], []),
    "hopeless": ([1 * DAY, 100.0, 60.0, 1e6, 0.0, 1.0], []),
    "tiny interval": ([DAY, 700.0, 5e-324, 5.0, 1.0, 0.0], []),
    "short horizon": ([50.0, 100.0, 7.0, 30.0, 9.0, 1.0], []),
}
STREAMS = ((0, 0), (7, 1), (3, 2**64 - 1), (2**63 - 8, 2**63))


def both(first: int, seed: int, name: str) -> list[tuple[Any, Any]]:
    """Ratios and failures of eight runs, compiled and as plain Python."""
    found = []
    for call in (run_all, run_all.plain):  # type: ignore[attr-defined]
        kept, failures = np.empty(8), np.empty(8, np.int64)
        numbers, observed = map(np.array, SETTINGS[name])
        # The words of a stream wrap around, of which NumPy warns.
        with np.errstate(over="ignore"):
            call(first, seed, numbers, observed.astype(float), kept, failures)
        found.append((kept.tobytes(), failures.tolist()))
    return found


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize(("first", "seed"), STREAMS)
def test_compiled_and_plain_are_the_same_bits(name: str, first: int, seed: int) -> None:
    """At several settings, at both ends of seeds and runs."""
    compiled, plain = both(first, seed, name)
    assert compiled == plain


def words(seed: int, run: int) -> Any:
    """Xoshiro256++ begun by splitmix64, in Python's own whole numbers."""
    word, state = seed ^ (run * 0xD1342543DE82EF95 & MASK), []
    for _ in range(4):
        word = word + 0x9E3779B97F4A7C15 & MASK
        mixed = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & MASK
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & MASK
        state.append(mixed ^ mixed >> 31)

    def turned(given: int, bits: int) -> int:
        return (given << bits | given >> 64 - bits) & MASK

    while True:
        yield turned(state[0] + state[3] & MASK, 23) + state[0] & MASK
        shifted = state[1] << 17 & MASK
        state[2] ^= state[0]
        state[3] ^= state[1]
        state[1] ^= state[2]
        state[0] ^= state[3]
        state[2] ^= shifted
        state[3] = turned(state[3], 45)


@given(st.integers(0, MASK), st.integers(0, 2**63 - 1))
def test_the_stream_is_the_published_one(seed: int, run: int) -> None:
    """Its first numbers, by whole numbers of any size."""
    wanted = words(seed, run)
    with np.errstate(over="ignore"):
        state = begun(seed, run)
        for _ in range(10):
            found, state = uniform(state)
            assert found == ((next(wanted) >> 11) + 1) * 2.0**-53


def test_runs_have_streams_of_their_own() -> None:
    """No two of many runs and seeds are alike."""
    given = {"runs": 500, "horizon_s": DAY}
    recovery = Recovery(75.0, 10.0)
    found = [
        simulate(700.0, recovery, 1e-9, seed=seed, **given).ettr for seed in range(4)
    ]
    assert np.unique(np.concatenate(found)).size == 2000


@pytest.mark.parametrize("parts", [(1, 199), (64, 64, 72), (20,) * 10])
def test_parts_of_a_campaign_are_the_campaign(parts: tuple[int, ...]) -> None:
    """Split by first_run, put side by side."""
    given = {"recovery": Recovery(75.0, 10.0), "interval_s": 60.0, "seed": 2**64 - 1}
    whole = simulate(1373.3, **given, runs=200, first_run=5)
    starts = np.cumsum([5, *parts])
    found = [
        simulate(1373.3, **given, runs=count, first_run=int(start))
        for start, count in zip(starts, parts, strict=False)
    ]
    assert np.array_equal(np.concatenate([one.ettr for one in found]), whole.ettr)
    failures = np.concatenate([one.failures for one in found])
    assert np.array_equal(failures, whole.failures)


PROGRAM = """
import sys
import numba
from phalanx_core.reliability import Recovery, simulate
numba.set_num_threads(int(sys.argv[1]))
first, runs = int(sys.argv[2]), int(sys.argv[3])
found = simulate(700.0, Recovery(75.0, 40.0), 60.0, 0.01, runs=runs, first_run=first,
                 seed=9, horizon_s=432000.0, failures_in_recovery=True)
print(found.ettr.tobytes().hex() + found.failures.tobytes().hex())
"""


def printed(threads: int, first: int, runs: int, most: int = 4) -> bytes:
    """Bits of runs that a process of its own simulates on so many threads."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(threads), str(first), str(runs)],
        env={**os.environ, "NUMBA_NUM_THREADS": str(most)},
        capture_output=True,
        text=True,
        check=True,
    )
    return bytes.fromhex(done.stdout)


def test_threads_and_processes_give_the_same_bits() -> None:
    """1, 2, 3 and 4 threads; and two processes with half of the runs each."""
    one = printed(1, 0, 60, most=1)
    for threads in (2, 3, 4):
        assert printed(threads, 0, 60) == one
    halves = [printed(2, first, 30) for first in (0, 30)]
    # Ratios come first, failures after them, 8 bytes each.
    joined = b"".join(half[:240] for half in halves)
    assert joined + b"".join(half[240:] for half in halves) == one
