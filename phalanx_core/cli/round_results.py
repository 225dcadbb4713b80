"""What one round decided, in the names a person uses; becomes table or JSON."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from math import isfinite
from typing import Any

from phalanx_core.cli.embedder import Embedder
from phalanx_core.cli.results import Event, HostRanks, host_ranks
from phalanx_core.fairness import Ledger
from phalanx_core.placement import Misfit
from phalanx_core.scheduling import Action, ActionKind, Decision, JobStatus, Why

# Two reasons that differ in numbers alone are one.
_NUMBERS = re.compile(r"\d[\d.e+-]*")


@dataclass(frozen=True)
class TenantRow:
    """A tenant's account: GPU-seconds it had and was due."""

    tenant: str
    weight: float
    quota: float
    gpus: int
    had_s: float
    due_s: float
    ratio: float

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for JSON, which has no infinite numbers."""
        told = asdict(self)
        return told | {"ratio": self.ratio if isfinite(self.ratio) else None}


@dataclass(frozen=True)
class JobRow:
    """What a round did with a job.

    Attributes
    ----------
    actions, whys, reasons
        Kinds in the order of the decision, the code of each one's reason, and that in a
        sentence; a release is part of its stop.
    changed
        Whether a reader of the round before learns something.
    worth
        Utility of its configuration, or of its best where it has none; None where that
        is not what decides.
    ratio
        What it had over what it was due.
    letter
        Of its leaves in the picture; empty where it has none.
    """

    name: str
    tenant: str
    actions: tuple[str, ...]
    whys: tuple[str, ...]
    reasons: tuple[str, ...]
    changed: bool
    ranks: int | None
    type: str | None
    worth: float | None
    ratio: float
    lease_end_s: float | None = None
    level: str | None = None
    domain: str | None = None
    hosts: tuple[HostRanks, ...] = ()
    misfit: Misfit | None = None
    letter: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for JSON; field names are documented."""
        return {
            "name": self.name,
            "tenant": self.tenant,
            "actions": [
                {"action": action, "why": why, "reason": reason}
                for action, why, reason in zip(
                    self.actions, self.whys, self.reasons, strict=True
                )
            ],
            "ranks": self.ranks,
            "type": self.type,
            "worth": self.worth,
            "ratio": self.ratio if isfinite(self.ratio) else None,
            "lease_end_s": self.lease_end_s,
            "level": self.level,
            "domain": self.domain,
            "hosts": [
                {"host": h.host, "ranks": list(h.ranks), "leaves": list(h.leaves)}
                for h in self.hosts
            ],
            "misfit": self.misfit.to_dict() if self.misfit is not None else None,
        }


@dataclass(frozen=True)
class RoundTold:
    """One round and what came before it.

    Attributes
    ----------
    arrived, finished
        Jobs since the round before.
    events
        What befell the cluster since then, with what the round made of it.
    tenants
        The most owed first, as the round found them.
    jobs, others
        Of the first round of a run all, of later ones those that changed; and how many
        further ones there are.
    marks
        The cluster after it, a character a leaf; None where nobody asked for it.
    """

    number: int
    now_s: float
    arrived: tuple[str, ...]
    finished: tuple[str, ...]
    events: tuple[Event, ...]
    tenants: tuple[TenantRow, ...]
    jobs: tuple[JobRow, ...]
    others: int
    objective: float | None
    marks: str | None = None

    @property
    def is_quiet(self) -> bool:
        """Whether there is nothing to tell."""
        told = self.arrived or self.finished or self.events
        return not told and not any(row.changed for row in self.jobs)

    def to_dict(self) -> dict[str, Any]:
        """Plain dict for JSON; field names are documented."""
        return {
            "round": self.number,
            "now_s": self.now_s,
            "arrived": list(self.arrived),
            "finished": list(self.finished),
            "events": [event.to_dict() for event in self.events],
            "tenants": [row.to_dict() for row in self.tenants],
            "jobs": [row.to_dict() for row in self.jobs if row.changed],
            "objective": self.objective,
        }


def tenant_rows(ledger: Ledger) -> tuple[TenantRow, ...]:
    """All tenants, the most owed first; of equal ratios the order of the ledger."""
    found = [ledger.tenant(name) for name in ledger.tenants()]
    rows = [
        TenantRow(
            one.tenant,
            one.weight,
            one.quota,
            one.gpus,
            one.service,
            one.entitled,
            one.ratio,
        )
        for one in found
    ]
    return tuple(sorted(rows, key=lambda row: row.ratio))


def job_rows(
    embedder: Embedder,
    decision: Decision,
    before: dict[str, JobStatus],
    waited: dict[str, str],
    worth: dict[str, list[float]] | None,
) -> tuple[JobRow, ...]:
    """What a decision did with each job, in order of submission.

    Parameters
    ----------
    before
        Jobs as they stood when the round began.
    waited
        Why each job waited after the round before; brought on.
    worth
        Utility of each configuration by job; None where utility does not decide.
    """
    actions: dict[str, list[Action]] = {}
    for action in decision:
        actions.setdefault(str(action.job), []).append(action)
    names = list(before)
    ratios = dict(
        zip(names, embedder.scheduler.ledger.job_ratios(names).tolist(), strict=True)
    )
    rows = []
    for name, status in before.items():
        own = [one for one in actions[name] if one.kind is not ActionKind.RELEASE]
        row = _row(embedder, status, own, ratios[name])
        last = own[-1]
        decided = last.kind is not ActionKind.MOVE and last.why is not Why.LEASED
        if worth is not None and decided:
            row = replace(row, worth=_worth(worth[name], last.configuration))
        known = waited.pop(name, None)
        if last.kind is ActionKind.WAIT:
            waited[name] = _NUMBERS.sub("", last.reason)
        rows.append(replace(row, changed=_changed(own, known)))
    return tuple(rows)


def _worth(found: list[float], configuration: int) -> float | None:
    if configuration >= 0:
        return found[configuration]
    return max((one for one in found if one == one), default=None)


def _changed(own: list[Action], waited: str | None) -> bool:
    """Whether a job does not just go on, or wait for the reason that it waited for."""
    last = own[-1]
    if len(own) > 1:
        return True
    if last.kind is ActionKind.WAIT:
        return waited != _NUMBERS.sub("", last.reason)
    return last.kind is not ActionKind.KEEP or last.checkpoint


def _row(
    embedder: Embedder, status: JobStatus, own: list[Action], ratio: float
) -> JobRow:
    """A job after a round, without what it is worth."""
    name, last = str(status.job), own[-1]
    placement = embedder.scheduler.placement(name)
    topology = embedder.scheduler.topology
    row = JobRow(
        name=name,
        tenant=status.request.tenant,
        actions=tuple(one.kind.value for one in own),
        whys=tuple(one.why.value for one in own),
        reasons=tuple(one.reason for one in own),
        changed=True,
        ranks=None,
        type=None,
        worth=None,
        ratio=ratio,
        lease_end_s=last.lease_end_s,
        misfit=next((one.misfit for one in own[::-1] if one.misfit is not None), None),
    )
    if placement is None:
        return row
    leaves = placement.leaves.tolist()
    return replace(
        row,
        ranks=len(leaves),
        type=last.type,
        level=placement.level_name,
        domain=placement.domain_name,
        hosts=tuple(host_ranks(topology, leaves)),
    )
