"""The state file of ``phalanx schedule``: the scheduler's bytes and how far jobs came."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

from phalanx_core.cli.sealed_file import read_sealed, write_sealed
from phalanx_core.cli.workload_file import Entry, check_entry
from phalanx_core.errors import InvalidRequest, SaveError

VERSION = 1
KIND = "phalanx_schedule"
WHAT = "a state file of phalanx schedule"


@dataclass(frozen=True)
class SavedRun:
    """What a run leaves behind for the next one.

    Attributes
    ----------
    scheduler
        Bytes of ``Scheduler.save``.
    embedder
        ``Embedder.to_dict``.
    entries
        Jobs of the files so far, ended ones among them.
    options
        Those that later runs must have as well: spares, entitlement, window_s; and
        "open", whether whoever submits is a tenant.
    rounds
        Rounds so far.
    ill
        Leaves that the cluster's files called down, and cordoned.
    waited
        Why each job waits, by the last round.
    letters
        Of jobs in pictures.
    """

    scheduler: bytes
    embedder: dict[str, Any]
    entries: tuple[Entry, ...]
    options: dict[str, Any]
    rounds: int
    ill: dict[str, list[str]]
    waited: dict[str, str]
    letters: dict[str, str]


def write_run(path: str, run: SavedRun) -> None:
    """Write a state file whole or not at all.

    Raises
    ------
    SaveError
        If it cannot be written.
    """
    body = {
        "options": run.options,
        "rounds": run.rounds,
        "ill": run.ill,
        "waited": run.waited,
        "letters": run.letters,
        "embedder": run.embedder,
        "jobs": [entry.row for entry in run.entries],
        "scheduler": base64.b64encode(run.scheduler).decode("ascii"),
    }
    write_sealed(path, KIND, VERSION, body)


def read_run(path: str) -> SavedRun | None:
    """A state file's content, or None where there is no such file.

    Raises
    ------
    SaveError
        If the file is no such state file, damaged, or of another version.
    """
    body = read_sealed(path, KIND, VERSION, WHAT)
    if body is None:
        return None
    try:
        return SavedRun(
            scheduler=base64.b64decode(body["scheduler"], validate=True),
            embedder=dict(body["embedder"]),
            entries=tuple(
                check_entry(path, at, row) for at, row in enumerate(body["jobs"], 1)
            ),
            options=dict(body["options"]),
            rounds=int(body["rounds"]),
            ill={key: list(names) for key, names in body["ill"].items()},
            waited=dict(body["waited"]),
            letters=dict(body["letters"]),
        )
    except InvalidRequest as error:
        raise SaveError(f"{error} (state file)") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SaveError(f"{path}: is damaged: {error!r}") from None
