"""Breaks the testbed and its cost model one line at a time; a test must fail for each.

``python -m tests.mutants.experiments [NAME...]``

Each fault is made in a copy of the package, so the checkout stays as it is. A fault is
killed when its test fails with it; the same test passes on the unchanged copy.
"""

from __future__ import annotations

import sys

from tests.mutants.lines import Fault, Table

SECONDS = "unit/experiments/test_step_cost.py::test_seconds_of_a_step"
INFLATION = "unit/experiments/test_step_cost.py::test_inflation_is_after_over_before"
HARDWARE = "unit/experiments/test_step_cost.py::test_other_hardware"
BLIND = "unit/experiments/test_testbed.py::test_levels_of_a_blind_replacement"
IDLE = "unit/experiments/test_testbed.py::test_idle_leaves"
LOSS = "unit/experiments/test_testbed.py::test_a_loss_is_a_host_of_its_job"
FILLING = "unit/experiments/test_latency.py::test_a_filling"
STATUS = "unit/experiments/test_figure.py::test_status"

FAULTS = (
    Fault(
        "the ring goes round once",
        "step_cost.py",
        "ring = 2 * (replicas - 1)",
        "ring = (replicas - 1)",
        SECONDS,
    ),
    Fault(
        "every replica is sent to",
        "step_cost.py",
        "2 * (replicas - 1) / replicas",
        "2 * replicas / replicas",
        SECONDS,
    ),
    Fault(
        "ranks are replicas",
        "step_cost.py",
        "divmod(ranks, self.group_ranks)",
        "divmod(ranks, 1)",
        SECONDS,
    ),
    Fault(
        "group on the gang's level",
        "step_cost.py",
        "self.group_gb / self.bandwidths[group_level]",
        "self.group_gb / self.bandwidths[gang_level]",
        SECONDS,
    ),
    Fault(
        "gang on the group's level",
        "step_cost.py",
        "+ ring / self.bandwidths[gang_level]",
        "+ ring / self.bandwidths[group_level]",
        SECONDS,
    ),
    Fault(
        "the slower of both",
        "step_cost.py",
        "return (\n            self.group_gb / self.bandwidths[group_level]\n            + ring",
        "return max(\n            self.group_gb / self.bandwidths[group_level],\n            ring",
        SECONDS,
    ),
    Fault(
        "rail as fast as the pod",
        "step_cost.py",
        "(900.0, 900.0, 50.0, 12.5, 6.25)",
        "(900.0, 900.0, 12.5, 12.5, 6.25)",
        INFLATION,
    ),
    Fault(
        "gradients in float32",
        "step_cost.py",
        "gradient_gb: float = 17.5",
        "gradient_gb: float = 35.0",
        SECONDS,
    ),
    Fault(
        "activations are nothing",
        "step_cost.py",
        "group_gb: float = 4.0",
        "group_gb: float = 0.0",
        SECONDS,
    ),
    Fault(
        "before over after",
        "step_cost.py",
        "self.step_s(ranks, *after) / self.step_s(ranks, *before)",
        "self.step_s(ranks, *before) / self.step_s(ranks, *after)",
        INFLATION,
    ),
    Fault(
        "groups of eight on any hardware",
        "step_cost.py",
        "divmod(ranks, self.group_ranks)",
        "divmod(ranks, 8)",
        HARDWARE,
    ),
    Fault(
        "parts of groups",
        "step_cost.py",
        "if rest or replicas < 1:",
        "if replicas < 1:",
        "unit/experiments/test_step_cost.py::test_groups_are_whole",
    ),
    Fault(
        "a gang on its old leaves",
        "testbed.py",
        "    after[lost] = chosen\n",
        "",
        BLIND,
    ),
    Fault(
        "a gang together with what it lost",
        "testbed.py",
        "topology.distance(int(after.min()), int(after.max()))",
        "topology.distance(int(min(after.min(), leaves.min())), "
        "int(max(after.max(), leaves.max())))",
        "unit/experiments/test_testbed.py::test_a_gang_may_come_together",
    ),
    Fault(
        "neighbours of the first leaf",
        "testbed.py",
        "group = topology.distance(min(chosen), max(chosen))",
        "group = topology.distance(chosen[0], chosen[1])",
        BLIND,
    ),
    Fault(
        "a caller's leaves are changed",
        "testbed.py",
        "after = leaves.copy()",
        "after = leaves",
        BLIND,
    ),
    Fault(
        "spares are idle",
        "testbed.py",
        "< POD_LEAVES - HOST_LEAVES",
        "< POD_LEAVES",
        IDLE,
    ),
    Fault(
        "a host across two",
        "testbed.py",
        "first = HOST_LEAVES * rng.randrange(len(leaves) // HOST_LEAVES)",
        "first = rng.randrange(len(leaves) - HOST_LEAVES)",
        LOSS,
    ),
    Fault(
        "small jobs lose hosts",
        "testbed.py",
        "if ranks >= ranks_min]",
        "if ranks > 0]",
        LOSS,
    ),
    Fault(
        "refused gangs have ranks",
        "testbed.py",
        "        if planner.place(len(asked), gang(size)):\n",
        "        planner.place(len(asked), gang(size))\n        if True:\n",
        IDLE,
    ),
    Fault(
        "events of gangs of 32",
        "table5.py",
        "RANKS_MIN = 64",
        "RANKS_MIN = 32",
        "published/test_testbed.py::test_table_5_blind",
    ),
    Fault(
        "blind is kept where Replan is",
        "table5.py",
        "kept[1] += whole == level",
        "kept[1] += repair.level_after == level",
        "published/test_testbed.py::test_table_5_blind",
    ),
    Fault(
        "every repair keeps its level",
        "latency.py",
        "if repair and repair.level_after == repair.level_before:",
        "if repair:",
        FILLING,
    ),
    Fault(
        "the first leaf of a pod is spare",
        "latency.py",
        "range(POD_LEAVES - 1, LEAVES, POD_LEAVES)",
        "range(0, LEAVES, POD_LEAVES)",
        FILLING,
    ),
    Fault(
        "times of another state",
        "latency.py",
        "            planner.release(job)\n            planner.adopt(job, gang(filled.ranks[job]), leaves)\n",
        "",
        "unit/experiments/test_latency.py::test_repairs_are_timed_on_the_same_state",
    ),
    Fault(
        "rounded to hosts alone",
        "fabrics.py",
        "return host << (hosts - 1).bit_length()",
        "return host * hosts",
        "unit/experiments/test_fabrics.py::test_rounding",
    ),
    Fault(
        "what rounding adds is load",
        "fabrics.py",
        "            held += size\n",
        "            held += placed.leaves.size\n",
        "unit/experiments/test_fabrics.py::test_what_is_admitted",
    ),
    Fault(
        "a bound from below",
        "figure.py",
        "(away if self.bound else abs(away))",
        "(-away if self.bound else abs(away))",
        STATUS,
    ),
    Fault(
        "what is told is unexpected",
        "figure.py",
        "return self.status == DIFFERS and not self.because",
        "return self.status == DIFFERS",
        STATUS,
    ),
)


TABLE = Table("phalanx_core/experiments", "tests", FAULTS)

if __name__ == "__main__":
    sys.exit(TABLE.tried(sys.argv[1:]))
