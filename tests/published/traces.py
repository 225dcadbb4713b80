"""Published traces of jobs, and the plainest replay of them."""

from __future__ import annotations

import csv
import gzip
import heapq
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
FloatArray = NDArray[np.float64]


class Trace(NamedTuple):
    """Jobs of a trace in order of submission."""

    names: tuple[str, ...]
    tenant: NDArray[np.int64]
    demand: NDArray[np.int64]
    submit_s: FloatArray
    lasts_s: FloatArray

    def requested(self) -> FloatArray:
        """GPUs that all jobs of each tenant ask for: weights, as the ASTRAEA paper has it."""
        return np.bincount(self.tenant, self.demand, len(self.names))


def folder() -> Path:
    """Where traces lie: PHALANX_DATA, or beside the checkout; else the test is skipped."""
    told = os.environ.get("PHALANX_DATA")
    found = Path(told) if told else ROOT / "../shared/data"
    if not found.is_dir():
        pytest.skip("needs published traces: PHALANX_DATA names their folder")
    return found


def read(path: str, tenant: str) -> Trace:
    """A table of jobs whose tenants stand in a column of that name."""
    with gzip.open(folder() / path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = tuple(sorted({row[tenant] for row in rows}))
    place = {name: at for at, name in enumerate(names)}
    return Trace(
        names,
        np.array([place[row[tenant]] for row in rows]),
        np.array([int(row["num_gpus"]) for row in rows]),
        np.array([float(row["submit_s"]) for row in rows]),
        np.array([float(row["duration_s"]) for row in rows]),
    )


def first_come(trace: Trace, gpus: int) -> FloatArray:
    """When each job starts where GPUs are only counted and nobody is passed over."""
    starts = np.empty(trace.submit_s.size)
    free, now = gpus, 0.0
    running: list[tuple[float, int]] = []
    for job, (submit, demand) in enumerate(
        zip(trace.submit_s.tolist(), trace.demand.tolist(), strict=True)
    ):
        now = max(now, submit)
        while running and (free < demand or running[0][0] <= now):
            end, held = heapq.heappop(running)
            now = max(now, end)
            free += held
        free -= demand
        starts[job] = now
        heapq.heappush(running, (now + float(trace.lasts_s[job]), demand))
    return starts
