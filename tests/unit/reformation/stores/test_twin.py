"""Every store against the slow twin, on random calls."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import settings

from phalanx_core.reformation.stores import (
    FaultyStore,
    MemoryStore,
    SqliteStore,
    Store,
)
from tests.unit.reformation.stores.machine import StoreMachine


class MemoryMachine(StoreMachine):
    """In memory."""

    def made(self) -> Store:
        """A new one."""
        return MemoryStore(self.clock)


class FaultyMachine(StoreMachine):
    """Through a link that has no faults."""

    def made(self) -> Store:
        """A new one."""
        return FaultyStore(MemoryStore(self.clock))


class SqliteMachine(StoreMachine):
    """In a file."""

    def made(self) -> Store:
        """A new one."""
        self.folder = tempfile.TemporaryDirectory()
        return SqliteStore(Path(self.folder.name) / "store.db", self.clock)

    def teardown(self) -> None:
        """Let go of the file."""
        super().teardown()
        self.folder.cleanup()


TestMemoryTwin = MemoryMachine.TestCase
TestMemoryTwin.settings = settings(max_examples=150, stateful_step_count=40)
TestFaultyTwin = FaultyMachine.TestCase
TestFaultyTwin.settings = settings(max_examples=30, stateful_step_count=30)
TestSqliteTwin = SqliteMachine.TestCase
TestSqliteTwin.settings = settings(max_examples=25, stateful_step_count=30)
