"""The state file: planners' saved bytes beside the table of jobs, checked whole."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phalanx_core.cli.jobs_file import JobSpec, check_job
from phalanx_core.errors import InvalidRequest, SaveError
from phalanx_core.topology import Topology
from phalanx_core.topology.saved import from_table, to_table

VERSION = 2
BYTES_MAX = 1 << 30
_HEAD = b'{\n "phalanx_state": '


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
    whole = {"phalanx_state": VERSION, "blake2b": _digest(body), **body}
    target = Path(os.path.realpath(path))
    try:
        handle, scratch = tempfile.mkstemp(
            prefix=f".{target.name}.", dir=target.parent or "."
        )
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                json.dump(whole, stream, indent=1)
                stream.write("\n")
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(scratch, target)
        except BaseException:
            Path(scratch).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise SaveError(f"{path}: cannot be written: {error.strerror}") from None


def read_state(path: str) -> State | None:
    """A state file's content, or None where there is no such file.

    Raises
    ------
    SaveError
        If the file is no state file, damaged, or of another version.
    """
    try:
        with open(path, "rb") as stream:
            raw = stream.read(BYTES_MAX + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SaveError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        whole = json.loads(raw.decode("utf-8")) if len(raw) <= BYTES_MAX else None
    except (ValueError, RecursionError):
        if raw.startswith(_HEAD):
            raise SaveError(f"{path}: is damaged: cut short or changed") from None
        whole = None
    if not isinstance(whole, dict) or "phalanx_state" not in whole:
        raise SaveError(f"{path}: is not a state file of phalanx")
    version = whole.pop("phalanx_state")
    if version != VERSION:
        raise SaveError(f"{path}: is of version {version!r}, this reads {VERSION}")
    if whole.pop("blake2b", None) != _digest(whole):
        raise SaveError(f"{path}: is damaged: its checksum does not match")
    return _state(path, whole)


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


def _digest(body: dict[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode("utf-8"), digest_size=16).hexdigest()
