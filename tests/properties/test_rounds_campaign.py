"""The campaign of ``solve`` in its short form."""

from __future__ import annotations

from tests.properties.rounds_campaign import campaign


def test_short_rounds_campaign_breaks_no_promise(seed: int) -> None:
    """300 rounds: every promise holds, every outcome is met."""
    assert campaign(300, seed, print) == []
