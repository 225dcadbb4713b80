"""The state file: planners' saved bytes beside the table of jobs, checked whole."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass
from typing import Any

from phalanx_core.cli.jobs_file import JobSpec, check_job
from phalanx_core.cli.sealed_file import read_sealed, write_sealed
from phalanx_core.errors import InvalidRequest, SaveError
from phalanx_core.topology import Topology
from phalanx_core.topology.saved import from_table, to_table

VERSION = 2
KIND = "phalanx_state"


@dataclass(frozen=True)
class State:
    """What a run leaves behind for the next one.

    Attributes
    ----------
    topology
        The cluster as its files described it; a later run's may differ.
    spares, alignment
        The options that the planners were made with.
    jobs
        The jobs that hold leaves, in the order they were placed.
    planners
        GPU type to the bytes of ``Planner.save``.
    """

    topology: Topology
    spares: str | None
    alignment: str
    jobs: tuple[JobSpec, ...]
    planners: dict[str, bytes]


def write_state(path: str, state: State) -> None:
    """Write a state file; readers see the old one or the new one, never a part.

    Raises
    ------
    SaveError
        If the file cannot be written.
    """
    body = {
        "topology": _packed(state.topology),
        "spares": state.spares,
        "alignment": state.alignment,
        "jobs": [job.to_dict() for job in state.jobs],
        "planners": {
            name: base64.b64encode(saved).decode("ascii")
            for name, saved in state.planners.items()
        },
    }
    write_sealed(path, KIND, VERSION, body)


def read_state(path: str) -> State | None:
    """A state file's content, or None where there is no such file.

    Raises
    ------
    SaveError
        If the file is no state file, damaged, or of another version.
    """
    body = read_sealed(path, KIND, VERSION, "a state file of phalanx")
    return None if body is None else _state(path, body)


def _state(path: str, body: dict[str, Any]) -> State:
    try:
        jobs = [check_job(path, n, row) for n, row in enumerate(body["jobs"], 1)]
        return State(
            topology=_unpacked(body["topology"]),
            spares=body["spares"],
            alignment=body["alignment"],
            jobs=tuple(jobs),
            planners={
                name: base64.b64decode(text, validate=True)
                for name, text in body["planners"].items()
            },
        )
    except InvalidRequest as error:
        raise SaveError(f"{error} (state file)") from None
    except (KeyError, TypeError, ValueError, AttributeError, zlib.error) as error:
        raise SaveError(f"{path}: is damaged: {error!r}") from None


def _packed(topology: Topology) -> str:
    text = json.dumps(to_table(topology), separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("ascii"))).decode("ascii")


def _unpacked(text: str) -> Topology:
    whole = zlib.decompress(base64.b64decode(text, validate=True))
    return from_table(json.loads(whole))
