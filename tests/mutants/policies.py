"""Breaks scores, OAK and evolution one line at a time; a test must fail for each.

``python -m tests.mutants.policies [NAME...]``

Each fault is made in a copy of the package, so the checkout stays as it is. A fault is
killed when its test fails with it; the same test passes on the unchanged copy.
"""

from __future__ import annotations

import sys

from tests.mutants.lines import Fault, Table

FORMULA = "scoring/test_score.py::test_every_utility_is_that_of_the_formula"
BITS = "scoring/test_score.py::test_threads_and_numpy_give_the_same_bits"
FRONT = "assignment/test_evolving.py::test_a_front_is_what_it_says"

SCORES = (
    Fault(
        "restart factor twice",
        "scoring/utility.py",
        "    _fill(answer, value, factor, age, fairness, held)\n",
        "    _fill(answer, value, factor * factor, age, fairness, held)\n",
        FORMULA,
    ),
    Fault(
        "restart factor outside the power",
        "scoring/utility.py",
        "    _powers(out, value, factor.astype(value.dtype), age.astype(value.dtype), power)\n",
        "    ones = np.ones_like(factor, value.dtype)\n"
        "    _powers(out, value, ones, (age * factor).astype(value.dtype), power)\n",
        FORMULA,
    ),
    Fault(
        "age key without a cap",
        "scoring/utility.py",
        "    capped = exponent >= np.log(cap)\n",
        "    capped = exponent >= 700.0\n",
        "scoring/test_score.py::test_the_age_key_ends_at_its_cap_exactly",
    ),
    Fault(
        "age key below its cap by rounding",
        "scoring/utility.py",
        "    return np.where(capped, cap, grown)\n",
        "    return np.where(capped, np.exp(np.log(cap)), grown)\n",
        "scoring/test_score.py::test_the_age_key_ends_at_its_cap_exactly",
    ),
    Fault(
        "a new job is divided",
        "scoring/utility.py",
        "    new = (age < penalty) | (age + penalty == 0)\n",
        "    new = age + penalty == 0\n",
        "scoring/test_score.py::test_a_new_job_is_not_divided",
    ),
    Fault(
        "new up to the penalty and at it",
        "scoring/utility.py",
        "    new = (age < penalty) | (age + penalty == 0)\n",
        "    new = (age <= penalty) | (age + penalty == 0)\n",
        "scoring/test_score.py::test_a_new_job_is_not_divided",
    ),
    Fault(
        "lost time counts as work",
        "scoring/utility.py",
        "        work = np.maximum(progress, 0.0)\n",
        "        work = np.maximum(age, 0.0)\n",
        "scoring/test_score.py::test_no_progress_starves_unless_there_is_a_floor",
    ),
    Fault(
        "restarts cost nothing",
        "scoring/utility.py",
        "np.maximum(age - restarts * penalty, 0.0)",
        "np.maximum(age, 0.0)",
        FORMULA,
    ),
    Fault(
        "what cannot run is worth 0",
        "scoring/utility.py",
        "    _fill(answer, value, factor, age, fairness, held)\n",
        "    _fill(answer, np.nan_to_num(value), factor, age, fairness, held)\n",
        FORMULA,
    ),
    Fault(
        "root skipped by NumPy",
        "scoring/kernels.py",
        "        np.sqrt(out, out=out)\n",
        "        pass\n",
        FORMULA,
    ),
    Fault(
        "root skipped by threads",
        "scoring/kernels.py",
        "                product = sqrt(product)\n",
        "                pass\n",
        BITS,
    ),
    Fault(
        "floor ignored",
        "scoring/utility.py",
        "    factor = np.maximum(factor, restart_floor)\n",
        "",
        "scoring/test_score.py::test_no_progress_starves_unless_there_is_a_floor",
    ),
    Fault(
        "what is held ignored",
        "scoring/utility.py",
        "    if held is not None and rows is not None and kept is not None:\n",
        "    if held is not None and rows is None and kept is not None:\n",
        FORMULA,
    ),
    Fault(
        "what is held loses its age key",
        "scoring/utility.py",
        "        ages = age[rows].astype(value.dtype)\n",
        "        ages = ones\n",
        FORMULA,
    ),
    Fault(
        "gradients accumulated once too often",
        "scoring/goodput.py",
        "np.ceil(share / batches.local_most - 1e-9).astype(np.int64) - 1\n",
        "np.ceil(share / batches.local_most - 1e-9).astype(np.int64)\n",
        "scoring/test_goodput.py::test_goodput_is_the_best_of_the_batches",
    ),
    Fault(
        "efficiency of one GPU's batch",
        "scoring/goodput.py",
        "noise.efficiency(count * local * (steps + 1))",
        "noise.efficiency(local * (steps + 1))",
        "scoring/test_goodput.py::test_goodput_is_the_best_of_the_batches",
    ),
    Fault(
        "one GPU synchronises",
        "scoring/throughput.py",
        "    return np.where(count > 1, told, 0.0)\n",
        "    return np.where(count > 0, told, 0.0)\n",
        "scoring/test_goodput.py::test_goodput_is_the_best_of_the_batches",
    ),
)
OAK = (
    Fault(
        "idling is punished",
        "scheduling/oak.py",
        "capacity, idle=idle, current",
        "capacity, idle=-idle, current",
        "scheduling/test_oak.py::"
        "test_a_fresh_job_waits_until_its_age_key_passes_the_threshold",
    ),
    Fault(
        "who is overdue is not put first",
        "scheduling/oak.py",
        "    solved = _boosted(worth, overdue, waiting, idle)\n",
        "    solved = worth\n",
        "scheduling/test_oak.py::test_overdue_jobs_come_before_any_number_of_others",
    ),
    Fault(
        "who is overdue outweighs one",
        "scheduling/oak.py",
        "float(best.sum())",
        "float(best.max())",
        "scheduling/test_oak.py::test_overdue_jobs_come_before_any_number_of_others",
    ),
    Fault(
        "who is overdue does not pass the threshold",
        "scheduling/oak.py",
        " + abs(idle) * worth.shape[0] + 1.0",
        "",
        "scheduling/test_oak.py::"
        "test_a_job_without_progress_starves_for_ever_unless_guarded",
    ),
    Fault(
        "the boost is told",
        "scheduling/oak.py",
        "    return OakRound(worth, answer, overdue, solved)\n",
        "    return OakRound(solved, answer, overdue, solved)\n",
        "scheduling/test_oak.py::"
        "test_a_job_without_progress_starves_for_ever_unless_guarded",
    ),
    Fault(
        "changes alone are scored, asked or not",
        "scheduling/oak.py",
        "current=current if changed_only else None",
        "current=current",
        "scheduling/test_oak.py::test_the_restart_factor_of_a_change_alone",
    ),
)
EVOLUTION = (
    Fault(
        "repair skips the last row",
        "assignment/evolution.py",
        "        for row in range(free.size):\n            guilty |=",
        "        for row in range(free.size - 1):\n            guilty |=",
        FRONT,
    ),
    Fault(
        "what fits the last row is not asked",
        "assignment/evolution.py",
        "                for row in range(free.size):\n"
        "                    fits &= choices.demand[choice, row] <= free[row]\n",
        "                for row in range(free.size - 1):\n"
        "                    fits &= choices.demand[choice, row] <= free[row]\n",
        FRONT,
    ),
    Fault(
        "children in the places of the best",
        "assignment/evolution.py",
        "        for slot in order[alive : alive + batch]:\n",
        "        for slot in order[:batch]:\n",
        "assignment/test_evolving.py::test_no_seed_is_better_than_the_answer",
    ),
    Fault(
        "fewest changes are lost first",
        "assignment/evolution.py",
        "            keys[1, slot] = -LAST\n",
        "            keys[1, slot] = 0\n",
        "assignment/test_evolving.py::test_who_changes_nobody_stays",
    ),
    Fault(
        "the most worth is lost",
        "assignment/evolution.py",
        "            keys[1, slot] = -BEST\n",
        "            keys[1, slot] = BEST\n",
        "assignment/test_evolving.py::test_no_seed_is_better_than_the_answer",
    ),
    Fault(
        "changes are not counted",
        "assignment/evolution.py",
        "        changes += place != choices.held[job]\n",
        "        changes += place < choices.held[job]\n",
        FRONT,
    ),
    Fault(
        "one row of what is given back is kept",
        "assignment/evolution.py",
        "    for row in range(free.size):\n        free[row] -= times",
        "    for row in range(free.size - (times < 0)):\n        free[row] -= times",
        "assignment/test_evolving.py::test_the_stream_is_pinned",
    ),
)

TABLE = Table("phalanx_core", "tests/unit", (*SCORES, *OAK, *EVOLUTION))

if __name__ == "__main__":
    sys.exit(TABLE.tried(sys.argv[1:]))
