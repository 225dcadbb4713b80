"""The campaign in its short form."""

from __future__ import annotations

from tests.properties.campaign import campaign


def test_short_campaign_finds_no_difference(seed: int) -> None:
    """2,000 operations on each geometry: no difference, every outcome met."""
    assert campaign(2000, seed, print) == []


def test_short_full_campaign_finds_no_difference(seed: int) -> None:
    """2,000 operations with slices, balance, templates and resizes: no difference."""
    assert campaign(2000, seed, print, full=True) == []
