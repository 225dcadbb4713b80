"""Small rounds with every option of ``solve``, and the best answer by looking at all."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random
from typing import Any, NamedTuple

import numpy as np

from phalanx_core.assignment import Assignment, Certificate, certificate, solve


class Drawn(NamedTuple):
    """Arguments of ``solve``: by place, and by name."""

    places: tuple[Any, Any, Any]
    named: dict[str, Any]

    def solved(self, **how: Any) -> Assignment:
        """By ``solve``, with options of how."""
        return solve(*self.places, **self.named, **how)

    def checked(self, answer: Assignment, **how: Any) -> Certificate:
        """By ``certificate``."""
        return certificate(answer, *self.places, **self.named, **how)


def drawn(draw: Random, jobs: int, rows: int) -> Drawn:
    """Holes, ties, values of any size, and each option now and then."""
    rng = np.random.default_rng(draw.randrange(2**32))
    shape = (jobs, int(rng.integers(1, 5)))
    worth = rng.random(shape) * 10
    if rng.random() < 0.5:
        worth = rng.integers(0, 7, shape).astype(float)
    if rng.random() < 0.2:
        worth *= 10.0 ** rng.integers(-12, 12)
    worth[rng.random(shape) < 0.15] = np.nan
    named: dict[str, Any] = {"idle": draw.choice((0.0, 0.0, 1.1, 3.0, -1.0))}
    if rng.random() < 0.5:
        held = rng.integers(-1, shape[1], jobs)
        named["current"] = held
        named["keep_bonus"] = draw.choice((0.0, 0.0, 0.01, 0.1, 2.0))
        if rng.random() < 0.4:
            can = (held >= 0) & ~np.isnan(worth[np.arange(jobs), held])
            named["fixed"] = can & (rng.random(jobs) < 0.3)
    if rng.random() < 0.3:
        forbidden = rng.random(shape) < 0.1
        forbidden[named.get("fixed", np.zeros(jobs, np.bool_))] = False
        named["forbidden"] = forbidden
    if rng.random() < 0.3:
        tenants = int(rng.integers(1, 4))
        named["tenant"] = rng.integers(0, tenants, jobs)
        named["quota"] = rng.integers(-1, jobs + 1, (tenants, rows))
    capacity = rng.integers(jobs // 3, jobs + 3, rows)
    return Drawn((worth, rng.integers(0, 5, (*shape, rows)), capacity), named)


def best_of_all(given: Drawn) -> tuple[Fraction, Fraction] | None:
    """Highest score of any answer, and the worth that has no bonus in it; None: no one."""
    worth, demand, capacity = given.places
    jobs, configurations = worth.shape
    named = {"current": np.full(jobs, -1), "keep_bonus": 0.0, **given.named}
    found: tuple[Fraction, Fraction] | None = None
    for choice in product(range(-1, configurations), repeat=jobs):
        if not _is_allowed(worth, demand, capacity, named, choice):
            continue
        values = [
            worth[job, at] if at >= 0 else named["idle"]
            for job, at in enumerate(choice)
        ]
        kept = sum(
            at >= 0 and at == held
            for at, held in zip(choice, named["current"], strict=True)
        )
        total = sum(map(Fraction, map(float, values)), Fraction())
        score = total + kept * Fraction(named["keep_bonus"])
        found = max(found, (score, total)) if found else (score, total)
    return found


def _is_allowed(
    worth: Any, demand: Any, capacity: Any, named: dict[str, Any], choice: Any
) -> bool:
    used = np.zeros((3, len(capacity)), np.int64)
    for job, at in enumerate(choice):
        if "fixed" in named and named["fixed"][job] and at != named["current"][job]:
            return False
        if at < 0:
            continue
        if np.isnan(worth[job, at]) or named.get("forbidden", worth < -1e99)[job, at]:
            return False
        used[named["tenant"][job] if "tenant" in named else 0] += demand[job, at]
    quota = named.get("quota", np.zeros((0, len(capacity)), np.int64))
    within = (quota == -1) | (used[: len(quota)] <= quota)
    return bool((used.sum(axis=0) <= capacity).all() and within.all())
