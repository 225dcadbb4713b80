"""``told``: one transition as a sentence, for counterexamples and histories."""

from __future__ import annotations

from collections.abc import Callable

from phalanx_core.reformation import Action, Event, Phase, Records, leaves_of


def names(mask: int) -> str:
    """Leaves as people count them.

    Examples
    --------
    >>> names(0b101)
    'l1 l3'
    """
    return " ".join(f"l{leaf + 1}" for leaf in leaves_of(mask)) or "nothing"


def told(before: Records, event: Event, after: Records) -> str:
    """A transition as its name and a sentence.

    Parameters
    ----------
    before, event, after
        The transition.

    Returns
    -------
    For example ``Fail(l3): leaf l3 of j1 dies``.

    Examples
    --------
    >>> from phalanx_core.reformation import PRINTED, started, step
    >>> records, event = started([0b011], 3), Event(Action.FAIL, leaves=0b010)
    >>> told(records, event, step(records, event, PRINTED))
    'Fail(l2): l2 of j1 dies'
    """
    action = event.action
    of_leaves = action <= Action.TRUST
    subject = names(event.leaves) if of_leaves else f"j{event.job + 1}"
    if action in (Action.PLAN, Action.DRAIN, Action.RESIZE, Action.FENCE):
        subject += f", {names(event.leaves)}"
    name = action.name.capitalize()
    return f"{name}({subject}): {SENTENCES[action](before, event, after)}"


def _owned(records: Records, mask: int) -> str:
    """Leaves with their owners."""
    parts = [
        f"{names(job.alloc & mask)} of j{index}"
        for index, job in enumerate(records.jobs, 1)
        if job.alloc & mask
    ]
    for job in records.jobs:
        mask &= ~job.alloc
    return " and ".join([*parts, *([f"{names(mask)}, of nobody,"] if mask else [])])


def _fail(before: Records, event: Event, after: Records) -> str:
    return f"{_owned(before, event.leaves)} dies"


def _detect(before: Records, event: Event, after: Records) -> str:
    job = before.jobs[event.job]
    missing = job.alloc & (~before.live | before.lost)
    return f"j{event.job + 1} is seen to have lost {names(missing)}, and stops"


def _commit(before: Records, event: Event, after: Records) -> str:
    old, new = before.jobs[event.job], after.jobs[event.job]
    return (
        f"epoch {new.epoch} of j{event.job + 1} claims {names(new.alloc & ~old.alloc)}"
        f" and gives up {names(old.alloc & ~new.alloc)}"
    )


def _abort(before: Records, event: Event, after: Records) -> str:
    job = f"j{event.job + 1}"
    if after.jobs[event.job].phase == Phase.RUN:
        return f"the plan of {job} cannot be taken, and it runs on"
    return f"the plan of {job} cannot be taken, and it waits for another"


def _restore(before: Records, event: Event, after: Records) -> str:
    text = f"j{event.job + 1} loads the manifest of epoch {event.manifest}"
    ran = after.jobs[event.job].phase == Phase.RUN
    return f"{text} and runs" if ran else text


def _release(before: Records, event: Event, after: Records) -> str:
    owned = before.jobs[event.job].alloc
    return f"j{event.job + 1} ends and gives up {names(owned)}"


SENTENCES: dict[Action, Callable[[Records, Event, Records], str]] = {
    Action.FAIL: _fail,
    Action.HEAL: lambda b, e, a: f"{names(e.leaves)} comes back",
    Action.SUSPECT: lambda b, e, a: f"{_owned(b, e.leaves)} is suspect",
    Action.TRUST: lambda b, e, a: f"{names(e.leaves)} is trusted again",
    Action.ADMIT: lambda b, e, a: f"j{e.job + 1} comes and waits for leaves",
    Action.DETECT: _detect,
    Action.PLAN: lambda b, e, a: f"j{e.job + 1} is offered {names(e.leaves)}",
    Action.COMMIT: _commit,
    Action.ABORT: _abort,
    Action.CRASH: lambda b, e, a: f"the engine forgets the plan of j{e.job + 1}",
    Action.SEAL: lambda b, e, a: f"j{e.job + 1} seals a manifest of epoch {e.epoch}",
    Action.RESTORE: _restore,
    Action.RUN: lambda b, e, a: f"all workers of j{e.job + 1} run",
    Action.DRAIN: lambda b, e, a: (
        f"j{e.job + 1}, running, is offered {names(e.leaves)}"
    ),
    Action.RESIZE: lambda b, e, a: (
        f"j{e.job + 1}, running, is offered {names(e.leaves)}"
    ),
    Action.RELEASE: _release,
    Action.FENCE: lambda b, e, a: f"nothing of j{e.job + 1} runs on {names(e.leaves)}",
    Action.LOSE: lambda b, e, a: f"the manifest of epoch {e.manifest} is lost",
}
