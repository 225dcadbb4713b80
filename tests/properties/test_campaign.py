"""The campaign in its short form."""

from __future__ import annotations

from collections import Counter
from random import Random

from phalanx_core.testing import Geometry, random_topology
from tests.properties.campaign import campaign
from tests.properties.test_replan_bruteforce import random_spares
from tests.properties.walk import Walk


def test_short_campaign_finds_no_difference(seed: int) -> None:
    """2,000 operations on each geometry: no difference, every outcome met."""
    assert campaign(2000, seed, print) == []


def test_short_full_campaign_finds_no_difference(seed: int) -> None:
    """2,000 operations with slices, balance, templates and resizes: no difference."""
    assert campaign(2000, seed, print, full=True) == []


def test_a_full_walk_over_random_clusters_finds_no_difference(seed: int) -> None:
    """200 operations on each of 60 clusters of any shape, with spares of any level."""
    met: Counter[str] = Counter()
    for at in range(60):
        rng = Random(f"{seed}/{at}")
        topology = random_topology(rng, 18)
        geometry = Geometry("random", topology, random_spares(rng, topology))
        met += Walk(geometry, rng, full=True).run(200, check_every=8)
    assert min(met["place placed"], met["place reduced"], met["lose repaired"]) >= 100
    assert met["resize smaller"] + met["resize grown"] >= 20
