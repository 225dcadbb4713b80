"""Histories of many tenants through scheduler, planners and ledger, carried out literally."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phalanx_core.scheduling import SchedulerOptions
from tests.properties.scheduler_drawn import ORDERS
from tests.properties.scheduler_walk import Walk, campaign, rare
from tests.properties.starvation import ROUND_S, Load

ROOT = Path(__file__).resolve().parents[2]
HISTORIES = 150


def test_histories_keep_every_promise(seed: int) -> None:
    """No leaf twice, gangs whole, accounts exact, one outcome each; all outcomes met."""
    seen, _ = campaign(HISTORIES, seed)
    assert rare(seen, HISTORIES) == {}


@settings(max_examples=25, deadline=None)
@given(rng=st.randoms(use_true_random=False))
def test_a_short_history_keeps_them(rng: Random) -> None:
    """The same with choices that shrink."""
    Walk(rng).run(25)


def test_equal_seeds_give_equal_decisions() -> None:
    """In this process, again, and in others that hash texts in another way."""
    digest = campaign(8, 5)[1]
    assert campaign(8, 5)[1] == digest
    command = [sys.executable, "-m", "tests.properties.scheduler_walk"]
    command += ["--histories", "8", "--seed", "5"]
    for hashing in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hashing}
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True
        )
        assert f"digest {digest}" in done.stdout.splitlines(), done.stderr


@pytest.mark.parametrize("releases", ["immediate", "reported"])
@pytest.mark.parametrize("order", ORDERS)
def test_nobody_waits_beyond_the_bound(order: str, releases: str, seed: int) -> None:
    """The k-th that waited too long starts within k leases, and a round or two for each.

    From the first round that finds a job to have waited longer than the bound, with k that
    waited longer before it: (k + 1) * (lease_s + round_s), where rounds come every
    ``round_s``; and one more round for each where stops are reported, each before the next
    round. The cluster is healthy, and holds the job when it is empty.
    """
    rng = Random(f"{order} {releases} {seed}")
    starts = 0
    for _ in range(8):
        options = SchedulerOptions(
            order=order,
            releases=releases,
            lease_s=rng.choice((60.0, 100.0, 301.0, 900.0)),
            waiting_bound_s=rng.choice((0.0, 200.0, 600.0)),
            reservations=rng.choice((1, 8)),
        )
        load = Load(rng, options)
        load.run(60)
        last = 59 * ROUND_S
        each = options.lease_s + ROUND_S * (2 if releases == "reported" else 1)
        waits = [(last - turn.since_s, turn.ahead) for turn in load.open.values()]
        for delay, ahead in load.delays + waits:
            assert delay <= (ahead + 1) * each
        starts += len(load.delays)
    assert starts >= 100


def test_only_reservations_keep_the_bound() -> None:
    """Without any the same load makes some wait for longer: it is heavy enough."""
    late = 0
    for seed in range(8):
        options = SchedulerOptions(
            releases="immediate", lease_s=100.0, waiting_bound_s=200.0, reservations=0
        )
        load = Load(Random(f"utility{seed}"), options)
        load.run(60)
        waits = [
            (59 * ROUND_S - turn.since_s, turn.ahead) for turn in load.open.values()
        ]
        each = options.lease_s + ROUND_S
        late += sum(delay > (ahead + 1) * each for delay, ahead in load.delays + waits)
    assert late >= 5
