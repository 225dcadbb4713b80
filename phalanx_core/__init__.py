"""phalanx_core: the scheduling core for GPU clusters that fail.

Examples
--------
>>> from phalanx_core import Gang, Planner, Topology
>>> planner = Planner(Topology.from_spec("rack:2 host:4 gpu:8"))
>>> print(planner.place("train", Gang(16, group=8, within="rack")))
16 ranks in rack-0 (rack): leaves 0-15
>>> _ = planner.fail(range(8, 16))
>>> print(planner.replan("train"))
job 'train': 8 ranks move (8-15), leaves 8-15 -> 16-23, level rack -> rack
"""

from phalanx_core.assignment import Assignment, solve
from phalanx_core.errors import (
    ConcurrentUse,
    InvalidRequest,
    InvariantBroken,
    OutputError,
    OwnershipError,
    PhalanxError,
    SaveError,
    StalePlan,
    TopologyError,
    UnknownJob,
)
from phalanx_core.placement import (
    Advice,
    Block,
    Communication,
    DefragmentPlan,
    DrainPlan,
    Gang,
    Handle,
    Health,
    LevelRecord,
    Misfit,
    MisfitCode,
    Owner,
    OwnerKind,
    Parallelism,
    Placement,
    Planner,
    Repair,
    Spares,
    SyncReport,
    communication,
)
from phalanx_core.scoring import score
from phalanx_core.topology import Topology

__all__ = [
    "Advice",
    "Assignment",
    "Block",
    "Communication",
    "ConcurrentUse",
    "DefragmentPlan",
    "DrainPlan",
    "Gang",
    "Handle",
    "Health",
    "InvalidRequest",
    "InvariantBroken",
    "LevelRecord",
    "Misfit",
    "MisfitCode",
    "OutputError",
    "Owner",
    "OwnerKind",
    "OwnershipError",
    "Parallelism",
    "PhalanxError",
    "Placement",
    "Planner",
    "Repair",
    "SaveError",
    "Spares",
    "StalePlan",
    "SyncReport",
    "Topology",
    "TopologyError",
    "UnknownJob",
    "communication",
    "score",
    "solve",
]
