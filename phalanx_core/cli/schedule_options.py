"""Options of ``phalanx schedule``, as Typer reads them and as the scheduler takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

import typer

Order: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="utility|owed|owed-then-utility",
        help="Who comes first: the most utility (OAK), the most owed (ASTRAEA), or the "
        "most utility within what tenants are owed.",
    ),
]
Lease: TypeAlias = Annotated[
    float, typer.Option(metavar="SECONDS", help="Length of a lease.")
]
RoundLength: TypeAlias = Annotated[
    float, typer.Option("--round", metavar="SECONDS", help="Time between two rounds.")
]
Rounds: TypeAlias = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Rounds to play. Default: 1, and as many more as answer every --fail, "
        "--drain and --heal.",
    ),
]
Start: TypeAlias = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="When the first round is; jobs that came before have waited since. "
        "Default: 0, with a state one --round after its last.",
    ),
]
Entitlement: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="quota|demand",
        help="What a tenant is due: its quota at all times, or no more than it asks for. "
        "Default: quota, or as the state has it.",
    ),
]
Window: TypeAlias = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="How far back tenants' accounts reach, a multiple of an hour. "
        "Default: all, or as the state has it.",
    ),
]
WaitingBound: TypeAlias = Annotated[
    float,
    typer.Option(
        metavar="SECONDS", help="Who waited longer comes before all others; or inf."
    ),
]
Reward: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,...",
        help="With --order owed, who of a tenant comes first: owed, new, urgent or "
        "long-running, the next where the first are equal. Default: owed.",
    ),
]
Idle: TypeAlias = Annotated[
    float,
    typer.Option(
        metavar="WORTH", help="No configuration worth less is taken. OAK has 1.1."
    ),
]
Fail: TypeAlias = Annotated[
    list[str],
    typer.Option(
        metavar="LEVEL=NAME[@SECONDS]",
        help="Lose host=NAME (or host=A,B at once, gpu=NAME, any level) then, or before "
        "the second round. Repeat.",
    ),
]
Drain: TypeAlias = Annotated[
    list[str],
    typer.Option(
        metavar="LEVEL=NAME[@SECONDS]", help="Then, jobs are to move away. Repeat."
    ),
]
Heal: TypeAlias = Annotated[
    list[str],
    typer.Option(
        metavar="LEVEL=NAME[@SECONDS]",
        help="Then, this is well and open again. Repeat; what has the same time happens "
        "in the order given.",
    ),
]
State: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Go on from this file, and save to it."),
]

REWARDS = ("owed", "new", "urgent", "long-running")
# Names of ``SchedulerOptions`` and of the option that sets each.
NAMES = {
    "order": "--order",
    "lease_s": "--lease",
    "round_s": "--round",
    "entitlement": "--entitlement",
    "window_s": "--window",
    "waiting_bound_s": "--waiting-bound",
    "idle": "--idle",
}


def checked_options(given: Mapping[str, Any], reward: str | None) -> Any:
    """``SchedulerOptions`` of the command line; its releases are immediate.

    Parameters
    ----------
    given
        Fields of ``SchedulerOptions``.
    reward
        Names joined by commas.

    Raises
    ------
    InvalidRequest
        Naming the option and its rule.

    Examples
    --------
    >>> checked_options({"order": "owed"}, "urgent,owed").releases
    'immediate'
    """
    from phalanx_core.errors import InvalidRequest
    from phalanx_core.scheduling import SchedulerOptions

    made = dict(given)
    if reward is not None:
        if given.get("order") != "owed":
            raise InvalidRequest(f"--reward {reward}: goes with --order owed alone")
        made["reward"] = _reward(reward)
    try:
        return SchedulerOptions(**made, releases="immediate")
    except InvalidRequest as error:
        field, space, rest = str(error).partition(" ")
        for name, option in NAMES.items():
            rest = rest.replace(f"{name},", f"{option},")
        raise InvalidRequest(f"{NAMES.get(field, field)}{space}{rest}") from None


def _reward(text: str) -> Any:
    from phalanx_core import fairness
    from phalanx_core.cli.near import did_you_mean
    from phalanx_core.errors import InvalidRequest

    known = dict(
        zip(
            REWARDS,
            (
                fairness.owed,
                fairness.new_first,
                fairness.urgent_first,
                fairness.long_running_first,
            ),
            strict=True,
        )
    )
    names = text.split(",")
    for name in names:
        if name not in known:
            near = did_you_mean(name, known)
            raise InvalidRequest(
                f"--reward {text!r}: {name!r}: one of {', '.join(REWARDS)}{near}"
            )
    if len(names) != len(dict.fromkeys(names)):
        raise InvalidRequest(f"--reward {text!r}: names one twice")
    if len(names) == 1:
        return known[names[0]]
    return fairness.in_order(*(known[name] for name in names))
