"""CP-SAT: the general solver, and the prover of what little prices leave open."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from importlib import import_module
from threading import Event, Thread
from typing import Any

import numpy as np

from phalanx_core.assignment.classes import Classes
from phalanx_core.assignment.core import Core
from phalanx_core.assignment.problem import ChosenArray, IntArray
from phalanx_core.assignment.rounds import Round
from phalanx_core.errors import InvariantBroken

# One deterministic second of CP-SAT, in steps of effort.
STEPS_PER_UNIT = 1_000_000


@dataclass(frozen=True, slots=True)
class Proof:
    """What CP-SAT said of a core.

    Attributes
    ----------
    chosen
        Its best answer, None where it has none.
    finished
        Whether it proved the answer the best, or that there is none.
    steps
        Effort it took: deterministic.
    """

    chosen: ChosenArray | None
    finished: bool
    steps: int


def prove(
    core: Core,
    least: int,
    *,
    steps: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
) -> Proof:
    """The best answer of a core that is worth at least so much.

    Parameters
    ----------
    least
        Answers worth less do not count.
    steps, seconds
        Most effort and wall time.

    Notes
    -----
    Of jobs that are alike only how many take what is asked. One worker without presolve and with all of the linear relaxation, which is fastest on
    rounds by far, and whose answer is the same on every run.
    """
    round_, classes = core.round, Classes.alike(core)
    choice, owner = core.choices()
    picked = np.flatnonzero(classes.first[classes.of[owner]] == owner)
    most = classes.size[classes.of[owner[picked]]]
    choice = choice[picked]
    value = np.where(choice < 0, 0, round_.value[choice])
    outside = np.delete(core.base, core.job)
    least -= _worth(round_, np.delete(np.arange(round_.jobs), core.job), outside)
    left = core.room()
    if int(value @ most) < least or (left < 0).any():
        return Proof(None, True, 0)
    helper = import_module("ortools.sat.python.cp_model_helper")
    model = helper.CpModelProto()
    for count in most.tolist():
        model.variables.add().domain.extend([0, count])
    _add_rows(model, round_, left, choice, most)
    _add_classes(model, classes.of[owner[picked]], most)
    model.objective.vars.extend(range(picked.size))
    model.objective.coeffs.extend((-value).tolist())
    model.objective.scaling_factor = -1
    model.objective.domain.extend([-int(value @ most), -least])
    answer = _solve(helper, model, steps, seconds, seed)
    status = answer.status
    if status == helper.MODEL_INVALID:
        raise InvariantBroken("A2", f"solve: CP-SAT refuses the model: {answer}")
    effort = round(answer.deterministic_time * STEPS_PER_UNIT)
    if status == helper.INFEASIBLE:
        return Proof(None, True, effort)
    if status not in (helper.OPTIMAL, helper.FEASIBLE):
        return Proof(None, False, effort)
    counts = np.array(answer.solution, np.int64)
    some = counts > 0
    chosen = classes.dealt(core, picked[some], counts[some])
    return Proof(chosen, status == helper.OPTIMAL, effort)


def _worth(round_: Round, jobs: IntArray, places: ChosenArray) -> int:
    some = places >= 0
    return int(round_.value[round_.first[jobs[some]] + places[some]].sum())


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
    parameters.catch_sigint_signal = False
    solver = helper.SolveWrapper()
    solver.set_parameters(parameters)
    return _interruptible(solver, model)


def _interruptible(solver: Any, model: Any) -> Any:
    """Solve on another thread, so that an interrupt reaches the caller and ends it."""
    answers: Future[Any] = Future()
    over = Event()

    def work() -> None:
        try:
            answers.set_result(solver.solve(model))
        except BaseException as error:
            answers.set_exception(error)
        finally:
            over.set()

    thread = Thread(target=work)
    thread.start()
    try:
        # Not by joining: a join that is interrupted takes the thread for ended.
        over.wait()
    except BaseException:
        solver.stop_search()
        over.wait()
        raise
    finally:
        thread.join()
    return answers.result()


def _add_rows(
    model: Any, round_: Round, left: IntArray, choice: IntArray, most: IntArray
) -> None:
    """The capacities that may bind."""
    for row in range(left.size):
        wanted = np.where(choice < 0, 0, round_.demand[round_.kind[choice], row])
        wanted = wanted.astype(np.int64)
        if int(wanted @ most) > int(left[row]):
            some = np.flatnonzero(wanted)
            linear = model.constraints.add().linear
            linear.vars.extend(some.tolist())
            linear.coeffs.extend(wanted[some].tolist())
            linear.domain.extend([0, int(left[row])])


def _add_classes(model: Any, group: IntArray, most: IntArray) -> None:
    """Each job of a class takes one of its options, of which none may be one."""
    cuts = np.flatnonzero(np.diff(group)) + 1
    for held in np.split(np.arange(group.size), cuts):
        if held.size and most[held[0]] == 1:
            model.constraints.add().exactly_one.literals.extend(held.tolist())
        elif held.size:
            linear = model.constraints.add().linear
            linear.vars.extend(held.tolist())
            linear.coeffs.extend([1] * held.size)
            linear.domain.extend([int(most[held[0]])] * 2)
