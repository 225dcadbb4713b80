"""The reference in memory: conformance, and what is its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation.stores import Limits, MemoryStore, Store, VirtualClock
from tests.unit.reformation.stores.conformance import StoreConformance


class TestMemoryStore(StoreConformance):
    """The store in memory conforms."""

    def made(self, clock: VirtualClock, folder: Path, limits: Limits) -> Store:
        """A new one."""
        return MemoryStore(clock, limits)


def test_time_does_not_go_back() -> None:
    """The virtual clock refuses to, and stays where it is."""
    clock = VirtualClock(3.0)
    for seconds in (-1.0, float("nan")):
        with pytest.raises(InvalidRequest, match="time does not go back"):
            clock.advance(seconds)
    assert clock() == 3.0


@pytest.mark.parametrize("wrong", [{"operations": 0}, {"request_bytes": 1.5}])
def test_limits_are_whole_numbers(wrong: dict[str, float]) -> None:
    """A limit is at least 1."""
    name = next(iter(wrong))
    with pytest.raises(InvalidRequest, match=f"{name} is"):
        Limits(**wrong)  # type: ignore[arg-type]
