"""A solved round, in the names of its table: for people, or as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phalanx_core.assignment import Assignment, LeftOut
from phalanx_core.cli.choices import Choices
from phalanx_core.cli.demands import ONE_TYPE, Demands
from phalanx_core.cli.screen import Screen


@dataclass(frozen=True)
class Solved:
    """A table's round and its answer.

    Attributes
    ----------
    utility
        Of each configuration of each job: shape (jobs, configurations).
    held
        Configuration that each job holds, -1 = none; None where nobody asked.
    reasons
        Why each job that is left out is; None where nobody asked.
    """

    choices: Choices
    utility: NDArray[np.float64]
    demands: Demands
    held: NDArray[np.int64] | None
    answer: Assignment
    reasons: Mapping[int, LeftOut] | None

    @property
    def taken(self) -> list[int]:
        """Jobs that get something."""
        return np.flatnonzero(self.answer.choice >= 0).tolist()

    @property
    def left_out(self) -> list[int]:
        """Jobs that get nothing."""
        return np.flatnonzero(self.answer.choice < 0).tolist()

    def configuration(self, job: int, place: int | None) -> str | None:
        """Name of a configuration of a job; None where it is none."""
        if place is None or place < 0:
            return None
        row = int(self.choices.row[job, place])
        return self.choices.configurations[row]

    def gpus(self, job: int) -> dict[str, int]:
        """Type to GPUs, of those types of which a job gets any."""
        row = self.choices.row[job, self.answer.choice[job]]
        wanted = self.demands.wanted[row].tolist()
        pairs = zip(self.demands.types, wanted, strict=True)
        return {name: want for name, want in pairs if want}

    def reason(self, job: int) -> str:
        """Why a job is left out, in one sentence."""
        found = (self.reasons or {})[job]
        configuration = self.configuration(job, found.configuration)
        row = "" if found.row is None else self.demands.types[found.row]
        return found.sentence(self.choices.jobs[job], f"{configuration}", row)

    def to_dict(self) -> dict[str, Any]:
        """The document of ``--json``; field names are documented."""
        answer = self.answer
        prices = [None] * len(self.demands.types)
        if answer.prices is not None:
            prices = answer.prices.tolist()
        rows = zip(
            self.demands.types,
            answer.used.tolist(),
            answer.capacity.tolist(),
            prices,
            strict=True,
        )
        return {
            "jobs": [self._job(job) for job in range(len(self.choices.jobs))],
            "types": [
                {"type": name, "used": used, "capacity": has, "price": price}
                for name, used, has, price in rows
            ],
            "objective": answer.objective,
            "bound": answer.bound,
            "gap": answer.gap,
            "status": answer.status,
            "solver": answer.solver,
            "effort": answer.effort,
            "limited": answer.limited,
        }

    def _job(self, job: int) -> dict[str, Any]:
        place = int(self.answer.choice[job])
        runs = place >= 0
        found: dict[str, Any] = {
            "job": self.choices.jobs[job],
            "configuration": self.configuration(job, place),
            "gpus": self.gpus(job) if runs else {},
            "utility": float(self.utility[job, place]) if runs else None,
        }
        if self.held is not None:
            found["held"] = self.configuration(job, int(self.held[job]))
        if self.reasons is not None:
            found["left_out"] = None if runs else self._reason(job)
        return found

    def _reason(self, job: int) -> dict[str, Any]:
        found = (self.reasons or {})[job]
        row = found.row
        return {
            **found.to_dict(),
            "job": self.choices.jobs[job],
            "configuration": self.configuration(job, found.configuration),
            "row": None if row is None else self.demands.types[row],
            "reason": self.reason(job),
        }


def print_solved(screen: Screen, solved: Solved) -> None:
    """Print who gets what, what is used, how good that is, and who is left out."""
    _print_jobs(screen, solved)
    _print_types(screen, solved)
    answer, jobs = solved.answer, solved.choices.jobs
    screen.text(
        f"{len(solved.taken)} of {len(jobs)} jobs  objective {answer.objective:.6g}  "
        f"bound {answer.bound:.6g}  gap {answer.gap:.2g}  {answer.status}, "
        f"{answer.solver}" + (", limited by time" if answer.limited else "")
    )
    if solved.reasons is not None:
        for job in solved.left_out:
            screen.text(f"left out  {solved.reason(job)}")
    elif solved.left_out:
        screen.text(f"left out  {', '.join(jobs[job] for job in solved.left_out)}")


def _print_jobs(screen: Screen, solved: Solved) -> None:
    typeless = solved.demands.types == (ONE_TYPE,)
    heads = ["job", "configuration", "gpus", "utility"]
    heads += ["held"] if solved.held is not None else []
    rows = []
    for job in solved.taken:
        place = int(solved.answer.choice[job])
        gpus = solved.gpus(job).items()
        words = [f"{want}" if typeless else f"{want} {name}" for name, want in gpus]
        row = [
            solved.choices.jobs[job],
            f"{solved.configuration(job, place)}",
            " ".join(words) or "0",
            f"{solved.utility[job, place]:.6g}",
        ]
        if solved.held is not None:
            row.append(solved.configuration(job, int(solved.held[job])) or "nothing")
        rows.append(row)
    if rows:
        screen.table(heads, rows, right="gpus utility" if typeless else "utility")
        screen.text("")


def _print_types(screen: Screen, solved: Solved) -> None:
    answer = solved.answer
    heads = ["type", "used", "of"]
    columns = [
        list(solved.demands.types),
        [f"{used}" for used in answer.used.tolist()],
        [f"{has}" for has in answer.capacity.tolist()],
    ]
    if answer.prices is not None:
        heads.append("price")
        columns.append([f"{price:.6g}" for price in answer.prices.tolist()])
    screen.table(heads, list(zip(*columns, strict=True)), right="used of price")
    screen.text("")
