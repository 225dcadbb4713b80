"""What came of each job by the end of a run; becomes table or JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from phalanx_core.cli.embedder import Embedder
from phalanx_core.cli.results import HostRanks, host_ranks


@dataclass(frozen=True)
class FinalRow:
    """One job of the files.

    Attributes
    ----------
    state
        "coming", "finished", or as the scheduler has it.
    submitted_s, finished_s
        When; None where that did not happen yet, as all below of a job that is coming.
    cold_starts
        Starts, repairs and moves, each from a checkpoint.
    lost_s
        Useful seconds lost to failures.
    had_s, due_s
        GPU-seconds by the ledger.
    ranks, type, level, domain, hosts
        Where it is; None and no hosts where it has no leaves.
    """

    name: str
    tenant: str
    state: str
    submitted_s: float | None = None
    finished_s: float | None = None
    waited_s: float | None = None
    leases: int | None = None
    cold_starts: int | None = None
    lost_s: float | None = None
    had_s: float | None = None
    due_s: float | None = None
    ranks: int | None = None
    type: str | None = None
    level: str | None = None
    domain: str | None = None
    hosts: tuple[HostRanks, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for JSON; field names are documented."""
        return asdict(self)


def final_rows(embedder: Embedder) -> tuple[FinalRow, ...]:
    """Every job, in order of the files."""
    return tuple(_row(embedder, name) for name in embedder.entries)


def _row(embedder: Embedder, name: str) -> FinalRow:
    tenant, scheduler = embedder.entries[name].tenant, embedder.scheduler
    ended = embedder.ended.get(name)
    if ended is not None:
        return FinalRow(state="finished", **asdict(ended))
    if name not in scheduler:
        return FinalRow(name, tenant, "coming")
    status, account = scheduler.status(name), scheduler.ledger.job(name)
    row = FinalRow(
        name,
        tenant,
        status.state.value,
        submitted_s=status.submitted_s,
        waited_s=status.waited_s,
        leases=status.leases,
        cold_starts=status.cold_starts,
        lost_s=status.lost_s,
        had_s=account.service,
        due_s=account.entitled,
    )
    placement = scheduler.placement(name)
    if placement is None:
        return row
    leaves = placement.leaves.tolist()
    return replace(
        row,
        ranks=len(leaves),
        type=status.request.ways[status.configuration].type,
        level=placement.level_name,
        domain=placement.domain_name,
        hosts=tuple(host_ranks(scheduler.topology, leaves)),
    )
