"""Mutants: protocols that are wrong in one place each, and the property that says so.

A property set is worth what it catches. Those of the printed protocol are m01 to m20; of
the hardened one, each guard is left out once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation import HANDLERS, HARDENED, PRINTED, Action, Rules
from phalanx_core.reformation.enabling import candidates
from phalanx_core.reformation.transition import Handler
from phalanx_core.verification import broken
from phalanx_core.verification import hardened as hard
from phalanx_core.verification.liveness import violated
from phalanx_core.verification.model import FAIR, Model, Scope
from phalanx_core.verification.properties import (
    ESR,
    PAPER_INVARIANTS,
    PAPER_STEPS,
    REFORM_LIVE,
    RESTORE_READ,
    SEAL_LIVE,
    STRONG_INVARIANTS,
    STRONG_STEPS,
    Recurs,
    Settles,
)
from phalanx_core.verification.quotient import Graph, Violation, search

START = Scope(2, 7, 2, sizes=(3, 3), epochs=3)
"""Two jobs of three leaves and one free: the smallest in which two repairs contend."""
LOSSES = Rules(losses=True)
SMALL = {
    "m03": Scope(2, 5, 1, sizes=(2, 2), epochs=1),
    "m06": Scope(2, 5, 1, sizes=(2, 2), epochs=1),
    "m11": Scope(2, 4, 1, sizes=(2, 1), epochs=1),
    "m12": Scope(2, 5, 2, sizes=(2, 2), epochs=3),
}
"""Smaller ones for mutants that reform for ever, whose epochs are cut off sooner, and for
one whose plans are many."""


@dataclass(frozen=True)
class Mutant:
    """A wrong protocol.

    Attributes
    ----------
    name, says
        Its name, and what is wrong.
    model
        The protocol in the scope in which it is caught.
    caught_by
        The property that it breaks.
    paper
        The property of the paper's six that it breaks; "" where they let it pass.
    """

    name: str
    says: str
    model: Model
    caught_by: str
    paper: str = ""


def _printed(
    name: str, says: str, caught_by: str, paper: str = "", **how: object
) -> Mutant:
    """A mutant of the printed protocol: an action's handler replaced, or a rule."""
    rules = how.pop("rules", PRINTED)
    handlers = list(HANDLERS)
    for action, handler in how.items():
        handlers[Action[action.upper()]] = handler  # type: ignore[call-overload]
    offers = broken.generous if how else candidates
    assert isinstance(rules, Rules)
    fair = (*FAIR, Action.SEAL) if rules.losses else FAIR
    scope = SMALL.get(name, START)
    model = Model(scope, rules, tuple(handlers), offers, fair)
    return Mutant(name, says, model, caught_by, paper)


PLAN_DEAD = broken.plan_where(live=False, owners=True, empty=False)
PLAN_OWNED = broken.plan_where(live=True, owners=False, empty=False)
PLAN_EMPTY = broken.plan_where(live=True, owners=True, empty=True)
ANY_SEAL = broken.seal_where(phase=False, token=False)
ANY_PHASE = broken.seal_where(phase=False, token=True)
ANY_TOKEN = broken.seal_where(phase=True, token=False)

PRINTED_MUTANTS = (
    _printed(
        "m01",
        "abort does not exist",
        "ReformLive",
        "ReformLive",
        rules=Rules(abort=False),
    ),
    _printed(
        "m02",
        "commit has no guard, and steals",
        "Footprint",
        commit=broken.commit_stealing,
        abort=broken.never,
    ),
    _printed("m03", "a plan may have dead leaves", "PlanFeasible", plan=PLAN_DEAD),
    _printed("m04", "any token seals in any phase", "SealFence", seal=ANY_SEAL),
    _printed(
        "m05",
        "commit does not raise the epoch",
        "RestoreReady",
        "RestoreReady",
        commit=broken.commit_then(epoch="same epoch"),
    ),
    _printed(
        "m06",
        "commit keeps the old leaves",
        "Footprint",
        commit=broken.commit_then(alloc="old and new leaves"),
    ),
    _printed(
        "m07",
        "commit does not claim the spares",
        "Footprint",
        commit=broken.commit_then(alloc="old planned leaves"),
    ),
    _printed(
        "m08",
        "restore needs no manifest that can be read",
        "RestoreRead",
        rules=LOSSES,
        restore=broken.restore_any,
    ),
    _printed("m09", "nothing is sealed", "SealLive", rules=LOSSES, seal=broken.never),
    _printed(
        "m10",
        "the next epoch is sealed",
        "SealBound",
        "SealBound",
        seal=broken.seal_next,
    ),
    _printed(
        "m11",
        "deaths are detected that were none",
        "DetectReal",
        detect=broken.detect_any,
    ),
    _printed("m12", "plans ignore owners", "ReformLive", "ReformLive", plan=PLAN_OWNED),
    _printed(
        "m13",
        "commit raises the epoch by two",
        "EpochStep",
        commit=broken.commit_then(epoch="epoch by two"),
    ),
    _printed("m14", "seals come in any phase", "SealFence", seal=ANY_PHASE),
    _printed("m15", "abort goes to run", "PhaseStep", abort=broken.abort_to_run),
    _printed(
        "m16",
        "commit skips restore",
        "EpochStep",
        commit=broken.commit_then(phase="run"),
    ),
    _printed(
        "m17",
        "a seal drops older ones",
        "RunWitness",
        "RunWitness",
        seal=broken.seal_only,
    ),
    _printed(
        "m18",
        "commit frees the leaves of others",
        "NoTheft",
        commit=broken.commit_freeing,
    ),
    _printed("m19", "a plan may be empty", "PlanFeasible", plan=PLAN_EMPTY),
    _printed("m20", "any token seals in run", "SealFence", seal=ANY_TOKEN),
)
"""Mutants of the printed protocol; m08 and m09 change nothing that matters unless
manifests can be lost, so their models lose them."""


def _without(rule: str, says: str, caught_by: str, scope: str) -> Mutant:
    """The hardened protocol with one rule turned off."""
    rules = replace(HARDENED, **{rule: False})
    model = Model(SCOPES[scope], rules)
    return Mutant(f"no {rule}", says, model, caught_by)


def _wrong(
    name: str, caught_by: str, scope: str, action: Action, handler: Handler
) -> Mutant:
    """The hardened protocol with one handler replaced."""
    says = (handler.__doc__ or "").rstrip(".")
    model = Model(SCOPES[scope], HARDENED, broken.replaced(action, handler))
    return Mutant(name, says, model, caught_by)


SCOPES = {
    **hard.SCOPES,
    "three failures": Scope(2, 8, 3, sizes=(4, 4)),
    "one drain": replace(hard.SCOPES["drain and heal"], epochs=1),
}

HARDENED_MUTANTS = (
    _without("pin_survivors", "healthy leaves are given up", "ESR", "three failures"),
    _without("commit_live", "dead leaves are claimed", "NoDeadClaim", "repair"),
    _without("detect_in_restore", "a death in restore is not seen", "ESR", "repair"),
    _without("restore_live", "jobs run with dead workers", "RunStep", "repair"),
    _without("fence_freed", "leaves are free at once", "Exclusive", "resize"),
    _without("incarnations", "a healed leaf counts as never dead", "ESR", "heal"),
    _without(
        "avoid_suspects",
        "suspect leaves are claimed",
        "NoSuspectClaim",
        "drain and heal",
    ),
    _without("drain_returns", "a drain in vain stops its job", "StopReal", "resize"),
    _without("repairs_first", "growth overtakes repair", "RepairsFirst", "resize"),
    _without("uids", "an earlier job of the name seals", "SealFence", "admit"),
    _without("tokens", "an earlier epoch seals", "SealFence", "repair"),
    _without("load_then_run", "jobs run before they load", "RunWitness", "repair"),
    _without("newest_manifest", "work is lost", "RestoreNewest", "repair"),
    _without("abort", "who lost a race waits for ever", "ESR", "repair"),
    _wrong("fence", "Exclusive", "heal", Action.FENCE, broken.fence_unanswered),
    _wrong("heal", "ESR", "heal", Action.HEAL, broken.heal_forgetting),
    _wrong("admit", "UidFresh", "admit", Action.ADMIT, broken.admit_again),
    _wrong("release", "Exclusive", "admit", Action.RELEASE, broken.release_at_once),
    _wrong("lose", "SealBound", "lose", Action.LOSE, broken.lose_any),
    _wrong("drain", "StopReal", "one drain", Action.DRAIN, broken.drain_stopping),
)
"""Each rule of the hardened protocol left out once, and handlers that are wrong."""

MUTANTS = {one.name: one for one in (*PRINTED_MUTANTS, *HARDENED_MUTANTS)}


def mutant(name: str) -> Mutant:
    """The mutant of that name.

    Raises
    ------
    InvalidRequest
        If there is none; lists the names.

    Examples
    --------
    >>> mutant("m13").says
    'commit raises the epoch by two'
    """
    if name not in MUTANTS:
        raise InvalidRequest(f"mutant {name!r}: one of {', '.join(MUTANTS)}")
    return MUTANTS[name]


def verdict(
    model: Model, *, paper: bool = False
) -> tuple[Graph, tuple[Violation, ...]]:
    """The graph of a model and every property of its protocol that it breaks.

    Parameters
    ----------
    model
        Of the printed or the hardened protocol, by its rules.
    paper
        Whether to check the paper's six properties only.

    Examples
    --------
    >>> graph, violations = verdict(mutant("m13").model, paper=True)
    >>> [violation.name for violation in violations]
    []
    >>> graph, violations = verdict(mutant("m13").model)
    >>> "EpochStep" in [violation.name for violation in violations]
    True
    """
    if model.rules.lifecycle:
        report = search(model, hard.INVARIANTS, hard.STEPS)
        live = hard.ESR_ROOM if model.scope.allowed else hard.ESR_ALL
        return report.graph, report.violations + violated(report.graph, [live])
    if paper:
        report = search(model, PAPER_INVARIANTS, PAPER_STEPS)
        return report.graph, report.violations + violated(report.graph, [REFORM_LIVE])
    steps = (*STRONG_STEPS, RESTORE_READ)
    report = search(model, STRONG_INVARIANTS, steps)
    lasting: list[Recurs | Settles] = [REFORM_LIVE, ESR]
    if Action.SEAL in model.fair:
        lasting.append(SEAL_LIVE)
    return report.graph, report.violations + violated(report.graph, lasting)
