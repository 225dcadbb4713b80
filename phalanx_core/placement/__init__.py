"""Place gangs on a topology and repair them: planner, gang, spares and answers."""

from phalanx_core.placement.advice import Advice
from phalanx_core.placement.communication import Communication, communication
from phalanx_core.placement.defragment_plan import DefragmentPlan
from phalanx_core.placement.gang import Gang
from phalanx_core.placement.keys import Handle
from phalanx_core.placement.misfit import LevelRecord, Misfit, MisfitCode
from phalanx_core.placement.parallelism import Parallelism
from phalanx_core.placement.planner import Planner
from phalanx_core.placement.repair import DrainPlan, Repair
from phalanx_core.placement.results import Block, Health, Owner, OwnerKind, Placement
from phalanx_core.placement.spares import Spares
from phalanx_core.placement.sync_report import SyncReport

__all__ = [
    "Advice",
    "Block",
    "Communication",
    "DefragmentPlan",
    "DrainPlan",
    "Gang",
    "Handle",
    "Health",
    "LevelRecord",
    "Misfit",
    "MisfitCode",
    "Owner",
    "OwnerKind",
    "Parallelism",
    "Placement",
    "Planner",
    "Repair",
    "Spares",
    "SyncReport",
    "communication",
]
