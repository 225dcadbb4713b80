"""Options of ``ettr``, as Typer reads them."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

Gpus: TypeAlias = Annotated[
    int, typer.Option(metavar="N", help="GPUs of the job, any of which ends it.")
]
Checkpoint: TypeAlias = Annotated[
    float, typer.Option(metavar="SECONDS", help="For which a checkpoint stops the job.")
]
Interval: TypeAlias = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="From one checkpoint to the next. Default: the best there is.",
    ),
]
Recovery: TypeAlias = Annotated[
    list[str],
    typer.Option(
        metavar="ITEM=SECONDS",
        help="Change an item of the recovery (detect, replan, commit, start, restore, "
        "connect), or add one. Repeat. Default: the Phalanx paper's.",
    ),
]
Spares: TypeAlias = Annotated[
    int, typer.Option(metavar="HOSTS", help="That each domain keeps today.")
]
Target: TypeAlias = Annotated[
    float,
    typer.Option(
        metavar="P", help="Share of failures that are to find a spare, in (0, 1)."
    ),
]
Repair: TypeAlias = Annotated[
    float,
    typer.Option(metavar="SECONDS", help="Mean time until a lost host is a spare."),
]
WithoutSpare: TypeAlias = Annotated[
    float,
    typer.Option(metavar="SECONDS", help="Of a recovery where no spare is free."),
]
GpuMtbfHours: TypeAlias = Annotated[
    float,
    typer.Option(
        metavar="HOURS", help="Mean time between failures of one GPU and what it needs."
    ),
]
GpusPerHost: TypeAlias = Annotated[
    int, typer.Option(metavar="N", help="That a failure takes.")
]
HostsPerDomain: TypeAlias = Annotated[
    int, typer.Option(metavar="N", help="That share spares: those of a pod, say.")
]
