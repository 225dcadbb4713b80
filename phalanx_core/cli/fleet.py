"""``Fleet``: one planner a GPU type, under the names that a person uses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phalanx_core.cli.jobs_file import JobSpec
from phalanx_core.cli.near import did_you_mean
from phalanx_core.cli.targets import find_domain, find_level
from phalanx_core.errors import InvalidRequest
from phalanx_core.placement import Gang, Misfit, Placement, Planner, Repair, Spares
from phalanx_core.topology import Topology
