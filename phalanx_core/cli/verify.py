"""``phalanx verify``: every state of the protocol in a scope, and what holds in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from phalanx_core.cli import exits
from phalanx_core.cli.near import did_you_mean
from phalanx_core.cli.progress import StatesBar
from phalanx_core.cli.screen import Screen
from phalanx_core.cli.verify_unreduced import explored
from phalanx_core.cli.verify_verdict import Verdict, shown
from phalanx_core.errors import InvalidRequest
from phalanx_core.reformation import FIXED, HARDENED, PRINTED
from phalanx_core.verification import (
    MUTANTS,
    SCOPES,
    Model,
    Scope,
    counterexample,
    mutant,
)
from phalanx_core.verification.judging import judge, kind_of

RULES = {"printed": PRINTED, "fixed": FIXED, "hardened": HARDENED}
DEFAULT = "2/7/2"
NUMBERS = re.compile(r"([0-9]{1,3})/([0-9]{1,3})/([0-9]{1,3})")
JOBS_MAX = 4
LEAVES_MAX = 16
FAILURES_MAX = 7


@dataclass(frozen=True)
class Wanted:
    """The command line of one run."""

    scope: str | None = None
    protocol: str = "printed"
    mutant: str | None = None
    unreduced: bool = False
    properties: tuple[str, ...] = ()
    list_only: bool = False
    as_json: bool = False


def run_verify(wanted: Wanted) -> int:
    """Search, and print counts, verdicts and counterexamples; an exit code.

    Raises
    ------
    InvalidRequest
        If the scope, protocol, mutant or a property does not exist, options do not go
        together, or the scope is too large.
    """
    if wanted.list_only:
        return _list(wanted)
    title, model = model_of(wanted)
    if wanted.unreduced:
        verdict = explored(title, model.scope, model.rules, wanted.properties)
    else:
        verdict = _judged(title, model, wanted.properties)
    code = exits.REFUSED if verdict.violated else exits.DONE
    screen = Screen(wanted.as_json)
    shown(screen, verdict)
    if wanted.as_json:
        screen.document({**verdict.to_dict(), "exit_code": code})
    return code


def model_of(wanted: Wanted) -> tuple[str, Model]:
    """What is searched, and how it is called.

    Raises
    ------
    InvalidRequest
        If there is no such thing.

    Examples
    --------
    >>> model_of(Wanted("2/8/3", "fixed"))[0]
    'the fixed protocol'
    """
    if wanted.protocol not in RULES:
        raise InvalidRequest(
            f"--protocol {wanted.protocol!r}: one of {', '.join(RULES)}"
            f"{did_you_mean(wanted.protocol, RULES)}"
        )
    if wanted.mutant is None:
        rules = RULES[wanted.protocol]
        return f"the {wanted.protocol} protocol", Model(scope_of(wanted), rules)
    if wanted.scope is not None or wanted.protocol != "printed":
        raise InvalidRequest(
            f"--mutant {wanted.mutant!r}: it has a protocol and a scope of its own"
        )
    if wanted.unreduced:
        raise InvalidRequest("--unreduced: of the printed and the fixed protocol alone")
    try:
        one = mutant(wanted.mutant)
    except InvalidRequest:
        raise InvalidRequest(
            f"--mutant {wanted.mutant!r}: there is none; --list names them"
            f"{did_you_mean(wanted.mutant, MUTANTS)}"
        ) from None
    return f"mutant {one.name}: {one.says}", one.model


def scope_of(wanted: Wanted) -> Scope:
    """The scope of a command line.

    Raises
    ------
    InvalidRequest
        If it is none, or beyond the bounds.

    Examples
    --------
    >>> scope_of(Wanted()).leaves
    7
    """
    told = wanted.scope or DEFAULT
    named = SCOPES if wanted.protocol == "hardened" and not wanted.unreduced else {}
    if told in named:
        return named[told]
    match = NUMBERS.fullmatch(told)
    if match is None and told in SCOPES:
        way = "not with --unreduced" if wanted.unreduced else "with --protocol hardened"
        raise InvalidRequest(f"scope {told!r}: {way}")
    if match is None:
        ways = f", or one of {', '.join(named)}" if named else ""
        raise InvalidRequest(
            f"scope {told!r}: JOBS/LEAVES/FAILURES, such as 2/7/2{ways}"
            f"{did_you_mean(told, named)}"
        )
    jobs, leaves, failures = map(int, match.groups())
    for name, value, least, most in (
        ("jobs", jobs, 1, JOBS_MAX),
        ("failures", failures, 0, FAILURES_MAX),
        ("leaves", leaves, jobs * (failures + 1), LEAVES_MAX),
    ):
        if not least <= value <= most:
            why = (
                ": each job begins with more than can fail" if name == "leaves" else ""
            )
            raise InvalidRequest(
                f"scope {told!r}: {value} {name}: from {least} to {most}{why}"
            )
    return Scope(jobs, leaves, failures)


def _judged(title: str, model: Model, names: tuple[str, ...]) -> Verdict:
    with StatesBar() as bar:
        found = judge(model, names, bar)
    counts = found.counts
    runs = [counterexample(found.graph, one) for one in found.violations]
    return Verdict(
        title=title,
        scope=(model.scope.jobs, model.scope.leaves, model.scope.failures),
        counts={
            "init": counts.init,
            "generated": counts.generated,
            "distinct": counts.distinct,
            "depth": counts.depth,
            "orbits": counts.orbits,
        },
        by_action={action.name: count for action, count in counts.by_action.items()},
        properties={
            one.name: (kind_of(one), "holds" if holds else "violated")
            for one, holds in zip(
                found.properties, found.verdicts.values(), strict=True
            )
        },
        stories=[run.story(model) for run in runs],
        runs=[run.to_json() for run in runs],
    )


def _list(wanted: Wanted) -> int:
    if wanted != Wanted(list_only=True, as_json=wanted.as_json):
        raise InvalidRequest("--list checks nothing: give nothing beside it but --json")
    screen = Screen(wanted.as_json)
    rows = [(one.name, one.caught_by, one.says) for one in MUTANTS.values()]
    screen.table(("mutant", "caught by", "what is wrong"), rows)
    screen.text("")
    scopes = [(name, _bounds(scope)) for name, scope in SCOPES.items()]
    screen.table(("hardened scope", "jobs/leaves/failures and changes"), scopes)
    screen.show()
    if wanted.as_json:
        screen.document(_listed())
    return exits.DONE


def _listed() -> dict[str, Any]:
    return {
        "mutants": [
            {"name": one.name, "caught_by": one.caught_by, "says": one.says}
            for one in MUTANTS.values()
        ],
        "scopes": {name: _bounds(scope) for name, scope in SCOPES.items()},
    }


def _bounds(scope: Scope) -> str:
    told = [f"{scope.jobs}/{scope.leaves}/{scope.failures}"]
    told += [f"{count} {action.name.lower()}" for action, count in scope.allowed]
    return ", ".join(told)
