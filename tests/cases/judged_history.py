"""The history of an engine test, written as in production and judged by the validator."""

from __future__ import annotations

import io

from phalanx_core.reformation import Layout
from phalanx_core.reformation.history import Historian
from phalanx_core.reformation.observing import observe
from phalanx_core.reformation.stores import Store
from phalanx_core.verification.history import validate


class JudgedHistory:
    """What a store takes from now on, whoever sends it."""

    def __init__(self, store: Store, layout: Layout) -> None:
        self.store, self.layout = store, layout
        self.file = io.StringIO()
        self.historian = Historian(store, layout, self.file)

    def poll(self) -> None:
        """Write what happened since."""
        self.historian.poll()

    def lines(self) -> list[str]:
        """What was written so far, the first line with the records it began with."""
        return self.file.getvalue().splitlines(keepends=True)

    def sound(self) -> None:
        """Every line is a legal step, and they lead to what the store holds."""
        self.poll()
        report = validate(self.lines())
        assert report.fault is None, str(report.fault)
        assert report.transitions == len(self.lines()) - 1
        told = self.historian.history.records
        assert told._replace(failures=0) == observe(self.store, self.layout).records
