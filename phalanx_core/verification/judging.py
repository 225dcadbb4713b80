"""``judge``: a model searched, with a verdict for each property of its protocol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation import Action
from phalanx_core.verification import hardened
from phalanx_core.verification.liveness import violated
from phalanx_core.verification.model import Model, State
from phalanx_core.verification.properties import (
    ESR,
    PAPER_INVARIANTS,
    PAPER_STEPS,
    REFORM_LIVE,
    RESTORE_READ,
    SEAL_LIVE,
    STRONG_INVARIANTS,
    STRONG_STEPS,
    Invariant,
    Recurs,
    Settles,
    StepProperty,
)
from phalanx_core.verification.quotient import Counts, Graph, Violation, search

Property = Invariant | StepProperty | Recurs | Settles
Lasting = Recurs | Settles

PAPER = tuple(one.name for one in (*PAPER_INVARIANTS, *PAPER_STEPS, REFORM_LIVE))
"""Names of the paper's six properties."""


@dataclass(frozen=True)
class Judgement:
    """What holds of a model, and what does not.

    Attributes
    ----------
    graph, counts
        The quotient, and the size of the state space.
    properties
        What was judged, in order.
    violations
        Of each property that does not hold, in that order.
    """

    graph: Graph
    counts: Counts
    properties: tuple[Property, ...]
    violations: tuple[Violation, ...]

    @property
    def verdicts(self) -> dict[str, bool]:
        """Whether each property holds, by name."""
        broken = {one.name for one in self.violations}
        return {one.name: one.name not in broken for one in self.properties}


def kind_of(one: Property) -> str:
    """What a property is of, in one word.

    Examples
    --------
    >>> kind_of(ESR), kind_of(RESTORE_READ)
    ('liveness', 'step')
    """
    if isinstance(one, Invariant):
        return "state"
    return "step" if isinstance(one, StepProperty) else "liveness"


def properties_of(model: Model) -> tuple[Property, ...]:
    """Every property that is known of a model's protocol.

    Examples
    --------
    >>> from phalanx_core.verification import Scope
    >>> [one.name for one in properties_of(Model(Scope(2, 7, 2)))][:3]
    ['TypeOK', 'SealBound', 'RunWitness']
    """
    if model.rules.lifecycle:
        live = hardened.ESR_ROOM if model.scope.allowed else hardened.ESR_ALL
        return (*hardened.INVARIANTS, *hardened.STEPS, live)
    found: tuple[Property, ...] = (*STRONG_INVARIANTS, *STRONG_STEPS)
    if model.rules.losses:
        found = (*found, RESTORE_READ)
    found = (*found, REFORM_LIVE, ESR)
    return (*found, SEAL_LIVE) if Action.SEAL in model.fair else found


def chosen(model: Model, names: Sequence[str]) -> tuple[Property, ...]:
    """Properties of a model by their names, all where none is given.

    Parameters
    ----------
    model
        Whose protocol they are of.
    names
        Of properties; ``paper`` stands for the paper's six.

    Raises
    ------
    InvalidRequest
        If the protocol has no property of a name.
    """
    every = properties_of(model)
    known = {one.name for one in every}
    wanted: set[str] = set()
    for name in names:
        group = PAPER if name == "paper" else (name,)
        if not known.issuperset(group):
            raise InvalidRequest(
                f"property {name!r}: one of {', '.join(sorted(known))}"
                f"{', or paper' if known.issuperset(PAPER) else ''}"
            )
        wanted.update(group)
    return tuple(one for one in every if not wanted or one.name in wanted)


def judge(
    model: Model,
    names: Sequence[str] = (),
    seen: Callable[[int], object] | None = None,
    every: int = 1000,
) -> Judgement:
    """Search every state of a model, and judge its properties.

    Parameters
    ----------
    model
        What is searched.
    names
        As of :func:`chosen`.
    seen
        Called with the number of orbits so far.
    every
        After so many orbits.

    Raises
    ------
    InvalidRequest
        If there is no property of a name, or the quotient is too large.

    Examples
    --------
    Three failures are too many for the printed protocol (F1), not for the fixed one.

    >>> from phalanx_core.reformation import FIXED
    >>> from phalanx_core.verification import Scope
    >>> scope = Scope(2, 8, 3, sizes=(4, 4))
    >>> [one.name for one in judge(Model(scope)).violations]
    ['ReformLive', 'ESR']
    >>> judge(Model(scope, FIXED)).violations
    ()
    """
    properties = chosen(model, names)
    watched: list[Invariant] = [one for one in properties if isinstance(one, Invariant)]
    if seen is not None:
        watched.append(_watch(seen, every))
    steps = [one for one in properties if isinstance(one, StepProperty)]
    lasting = [one for one in properties if isinstance(one, Lasting)]
    report = search(model, watched, steps)
    found = (*report.violations, *violated(report.graph, lasting))
    order = [one.name for one in properties]
    ordered = sorted(found, key=lambda one: order.index(one.name))
    return Judgement(report.graph, report.counts, properties, tuple(ordered))


def _watch(seen: Callable[[int], object], every: int) -> Invariant:
    """An invariant that always holds; the search asks it of every new orbit."""
    count = 0

    def holds(model: Model, state: State) -> bool:
        nonlocal count
        count += 1
        if not count % every:
            seen(count)
        return True

    return Invariant("", holds)
