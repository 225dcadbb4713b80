"""CP-SAT: the general solver, and the prover of what little prices leave open."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from phalanx_core.assignment.problem import AssignmentProblem, ChosenArray, IntArray
from phalanx_core.errors import InvariantBroken

# One deterministic second of CP-SAT, in steps of effort.
STEPS_PER_UNIT = 1_000_000


@dataclass(frozen=True, slots=True)
class Proof:
    """What CP-SAT said of some choices.

    Attributes
    ----------
    chosen
        Its best answer, None where it has none.
    finished
        Whether it proved the answer the best, or that there is none.
    steps
        Effort it took: deterministic.
    bound
        No answer of these choices is worth more, in whole numbers; None: unknown.
    """

    chosen: ChosenArray | None
    finished: bool
    steps: int
    bound: int | None


def prove(
    problem: AssignmentProblem,
    kept: Any,
    least: int,
    *,
    steps: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
) -> Proof:
    """The best answer among kept choices that is worth at least so much.

    Parameters
    ----------
    kept
        Which choices count: bool, shape (choices,).
    least
        Answers worth less do not count.
    steps, seconds
        Most effort and wall time.

    Notes
    -----
    One worker without presolve and with all of the linear relaxation, which is fastest on
    rounds by far, and whose answer is the same on every run.
    """
    picked = np.flatnonzero(kept)
    if int(problem.value[picked].sum()) < least:
        return Proof(None, True, 0, None)
    helper = import_module("ortools.sat.python.cp_model_helper")
    model = helper.CpModelProto()
    for _ in range(picked.size):
        model.variables.add().domain.extend([0, 1])
    _add_rows(model, problem, picked)
    _add_jobs(model, problem, picked)
    value = problem.value[picked]
    model.objective.vars.extend(range(picked.size))
    model.objective.coeffs.extend((-value).tolist())
    model.objective.scaling_factor = -1
    model.objective.domain.extend([-int(value.sum()), -least])
    answer = _solve(helper, model, steps, seconds, seed)
    status = answer.status
    if status == helper.MODEL_INVALID:
        raise InvariantBroken("A2", f"solve: CP-SAT refuses the model: {answer}")
    effort = round(answer.deterministic_time * STEPS_PER_UNIT)
    if status == helper.INFEASIBLE:
        return Proof(None, True, effort, None)
    bound = int(-answer.inner_objective_lower_bound)
    if status not in (helper.OPTIMAL, helper.FEASIBLE):
        return Proof(None, False, effort, bound if picked.size else None)
    chosen = _chosen(problem, picked[np.array(answer.solution, np.bool_)])
    return Proof(chosen, status == helper.OPTIMAL, effort, bound)


def _solve(
    helper: Any, model: Any, steps: int | None, seconds: float | None, seed: int
) -> Any:
    parameters = helper.SatParameters()
    parameters.num_workers = 1
    parameters.cp_model_presolve = False
    parameters.linearization_level = 2
    parameters.symmetry_level = 0
    parameters.cp_model_probing_level = 0
    parameters.random_seed = seed
    if steps is not None:
        parameters.max_deterministic_time = max(steps / STEPS_PER_UNIT, 1e-9)
    if seconds is not None:
        parameters.max_time_in_seconds = max(seconds, 1e-4)
    solver = helper.SolveWrapper()
    solver.set_parameters(parameters)
    return solver.solve(model)


def _add_rows(model: Any, problem: AssignmentProblem, picked: IntArray) -> None:
    for row in range(problem.capacity.size):
        wanted = problem.demand[picked, row]
        some = np.flatnonzero(wanted)
        if int(wanted.sum()) > int(problem.capacity[row]):
            linear = model.constraints.add().linear
            linear.vars.extend(some.tolist())
            linear.coeffs.extend(wanted[some].tolist())
            linear.domain.extend([0, int(problem.capacity[row])])


def _add_jobs(model: Any, problem: AssignmentProblem, picked: IntArray) -> None:
    job = np.searchsorted(problem.first, picked, side="right") - 1
    cuts = np.flatnonzero(np.diff(job)) + 1
    for held in np.split(np.arange(picked.size), cuts):
        if held.size > 1:
            model.constraints.add().at_most_one.literals.extend(held.tolist())


def _chosen(problem: AssignmentProblem, taken: IntArray) -> ChosenArray:
    job = np.searchsorted(problem.first, taken, side="right") - 1
    chosen = np.full(problem.jobs, -1, np.int32)
    chosen[job] = taken - problem.first[job]
    return chosen
