"""The hardened protocol over explicit sets, by its definition; slow, and on its own."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from phalanx_core.reformation import Event, Records, leaves_of

State = dict[str, Any]


def as_sets(records: Records) -> State:
    """Records as sets and words."""
    jobs = []
    for job in records.jobs:
        jobs.append(
            {
                "phase": job.phase.name,
                "epoch": job.epoch,
                "alloc": set(leaves_of(job.alloc)),
                "plan": set(leaves_of(job.plan)),
                "sealed": set(leaves_of(job.sealed)),
                "fenced": set(leaves_of(job.fenced)),
                "cause": job.cause.name,
                "base": job.base,
                "uid": job.uid,
            }
        )
    return {
        "live": set(leaves_of(records.live)),
        "suspect": set(leaves_of(records.suspect)),
        "lost": set(leaves_of(records.lost)),
        "failures": records.failures,
        "jobs": jobs,
    }


def after(state: State, event: Event) -> State | None:
    """State after an event; None where it may not happen."""
    state = deepcopy(state)
    leaves, name = set(leaves_of(event.leaves)), event.action.name
    if name in ("FAIL", "HEAL", "SUSPECT", "TRUST"):
        return state if leaves and of_leaves(state, name, leaves) else None
    job = state["jobs"][event.job]
    if name == "ADMIT":
        if job["phase"] != "GONE" or event.uid != job["uid"] + 1:
            return None
        job.update(phase="PLAN", cause="ADMIT", uid=event.uid, sealed={0})
        return state
    if name == "FENCE":
        if not leaves or not leaves <= job["fenced"] & state["live"]:
            return None
        job["fenced"] -= leaves
        return state
    if name == "LOSE":
        if event.manifest == 0 or event.manifest not in job["sealed"]:
            return None
        job["sealed"].remove(event.manifest)
        return state
    if name != "CRASH" and (event.epoch, event.uid) != (job["epoch"], job["uid"]):
        return None
    return state if of_job(state, event, job, leaves) else None


def of_leaves(state: State, name: str, leaves: set[int]) -> bool:
    """Leaves die, come back, are suspected or trusted."""
    if name == "FAIL":
        if not leaves <= state["live"]:
            return False
        for job in state["jobs"]:
            state["lost"] |= leaves & job["alloc"]
        state["live"] -= leaves
        state["failures"] += len(leaves)
    elif name == "HEAL":
        if leaves & state["live"]:
            return False
        state["live"] |= leaves
        state["suspect"] -= leaves
    elif name == "SUSPECT":
        if not leaves <= state["live"] - state["suspect"]:
            return False
        state["suspect"] |= leaves
    else:
        if not leaves <= state["suspect"]:
            return False
        state["suspect"] -= leaves
    return True


def healthy(state: State, job: State) -> bool:
    """Every worker of the job is there."""
    return job["alloc"] <= state["live"] - state["lost"]


def taken(state: State, job: State) -> set[int]:
    """Leaves that the job may not have."""
    found = set()
    for other in state["jobs"]:
        found |= other["fenced"]
        if other is not job:
            found |= other["alloc"]
    return found


def repair_waits(state: State, job: State) -> bool:
    """Another job is to be repaired."""
    return any(
        not healthy(state, other)
        or (other["phase"] in ("PLAN", "COMMIT") and other["cause"] == "REPAIR")
        for other in state["jobs"]
        if other is not job
    )


def waits(state: State, job: State, cause: str, plan: set[int]) -> bool:
    """The claim comes after a repair of another job."""
    if cause == "REPAIR" or (cause == "RESIZE" and plan <= job["alloc"]):
        return False
    return repair_waits(state, job)


def committable(state: State, job: State) -> bool:
    """A plan may be taken."""
    plan = job["plan"]
    ill = state["suspect"] | state["lost"] | (job["alloc"] - state["live"])
    return (
        not plan & taken(state, job)
        and plan <= state["live"]
        and not (plan - job["alloc"]) & state["suspect"]
        and (job["cause"] != "DRAIN" or bool((job["alloc"] - plan) & ill))
        and not waits(state, job, job["cause"], plan)
    )


def offered(state: State, event: Event, job: State, plan: set[int]) -> bool:
    """Plan, drain and resize: leaves are offered."""
    name, own = event.action.name, job["alloc"]
    spare = state["live"] - state["suspect"] - taken(state, job)
    if not plan:
        return False
    if name == "PLAN":
        pinned = (own & state["live"]) - state["lost"] - state["suspect"]
        cause = job["cause"]
        allowed = job["phase"] == "PLAN" and pinned <= plan
        allowed = allowed and plan <= spare | (own & state["live"])
    else:
        allowed = job["phase"] == "RUN" and healthy(state, job)
        cause = name
        if name == "DRAIN":
            allowed = allowed and bool(own & state["suspect"])
            allowed = allowed and own - state["suspect"] <= plan <= own | spare
            allowed = allowed and not plan & state["suspect"]
            allowed = allowed and len(plan) == len(own)
        else:
            allowed = allowed and (plan < own or own < plan <= own | spare)
    if not allowed or waits(state, job, cause, plan):
        return False
    job.update(phase="COMMIT", plan=plan, cause=cause)
    return True


def of_job(state: State, event: Event, job: State, leaves: set[int]) -> bool:
    """What happens to a job that speaks with the right token."""
    name, phase = event.action.name, job["phase"]
    works = phase == "RUN" or (
        phase == "COMMIT" and job["cause"] in ("DRAIN", "RESIZE")
    )
    earlier = {epoch for epoch in job["sealed"] if epoch < job["epoch"]}
    if name in ("PLAN", "DRAIN", "RESIZE"):
        return offered(state, event, job, leaves)
    if name == "DETECT":
        allowed = phase in ("RUN", "RESTORE") and not healthy(state, job)
        if allowed:
            job.update(phase="PLAN", plan=set(), cause="REPAIR", base=-1)
    elif name == "COMMIT":
        allowed = phase == "COMMIT" and committable(state, job)
        if allowed:
            state["lost"] -= job["alloc"] | job["plan"]
            job["fenced"] |= job["alloc"] - job["plan"]
            job.update(phase="RESTORE", alloc=set(job["plan"]), cause="REPAIR", base=-1)
            job["epoch"] += 1
    elif name in ("ABORT", "CRASH"):
        allowed = phase == "COMMIT" and (name == "CRASH" or not committable(state, job))
        if allowed and works:
            job.update(phase="RUN", plan=set(job["alloc"]), cause="REPAIR")
        elif allowed:
            job.update(phase="PLAN", plan=set())
    elif name == "SEAL":
        allowed = works
        if allowed:
            job["sealed"].add(job["epoch"])
    elif name == "RESTORE":
        allowed = phase == "RESTORE" and healthy(state, job)
        allowed = allowed and event.manifest == max(earlier, default=None)
        allowed = allowed and event.manifest != job["base"]
        if allowed:
            job["base"] = event.manifest
    elif name == "RUN":
        allowed = phase == "RESTORE" and healthy(state, job) and job["base"] in earlier
        if allowed:
            job.update(phase="RUN", cause="REPAIR")
    else:
        allowed = phase != "GONE"
        if allowed:
            state["lost"] -= job["alloc"]
            job["fenced"] |= job["alloc"]
            job.update(phase="GONE", epoch=0, alloc=set(), plan=set(), sealed=set())
            job.update(cause="REPAIR", base=-1)
    return allowed
