"""Commands and their options; the work is in the modules they load when called."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import typer
from typer.core import TyperCommand

from phalanx_core.cli import exits

ORDERED = ("fail", "drain")

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Place gangs of GPUs on a cluster that fails, and repair them.",
    epilog=exits.HELP,
)


class EventsInOrder(TyperCommand):
    """Remembers the order in which options of several names were given."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as always, and note each event option as it comes."""
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        ctx.meta["events"] = [p.name for p in given if p.name in ORDERED]
        return super().parse_args(ctx, args)


GpusPerHost = Annotated[
    Optional[int],  # noqa: UP045  Typer reads this at run time
    typer.Option(
        metavar="N", help="GPUs of Slurm hosts of which no slurm.conf speaks."
    ),
]
Labels = Annotated[
    list[str],
    typer.Option(
        "--label",
        metavar="KEY",
        help="Host label that names a level; broadest first. Repeat. "
        "Default: the known keys that are present.",
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON document and nothing else.")
]


@app.callback()
def _commands() -> None:
    """Keep subcommands even where there is only one."""


@app.command(epilog=exits.HELP)
def topology(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILES...", help='Cluster files or directories; "-".'),
    ],
    gpus_per_host: GpusPerHost = None,
    label: Labels = [],  # noqa: B006  Typer copies it
    json: Json = False,
) -> None:
    """Compile cluster files; show what came of them, and a picture."""
    from phalanx_core.cli.topology import show_topology

    code = exits.guarded(
        lambda: show_topology(files, gpus_per_host, label or None, as_json=json)
    )
    raise typer.Exit(code)


@app.command(cls=EventsInOrder, epilog=exits.HELP)
def place(
    context: typer.Context,
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="CLUSTER... JOBS",
            help="Cluster files or directories, then the YAML file of jobs.",
        ),
    ],
    type: Annotated[
        Optional[str],  # noqa: UP045  Typer reads this at run time
        typer.Option(metavar="T", help="GPU type of jobs that name none."),
    ] = None,
    spares: Annotated[
        Optional[str],  # noqa: UP045  Typer reads this at run time
        typer.Option(
            metavar="PER:SIZE:COUNT",
            help="Hold back COUNT whole SIZEs in each PER for repairs: pod:host:1.",
        ),
    ] = None,
    alignment: Annotated[
        Optional[str],  # noqa: UP045  Typer reads this at run time
        typer.Option(metavar="exact|buddy", help="Default: exact."),
    ] = None,
    fail: Annotated[
        list[str],
        typer.Option(
            metavar="LEVEL=NAME",
            help="After placing, lose host=NAME (or host=A,B at once, gpu=NAME, "
            "any level) and repair. Repeat.",
        ),
    ] = [],  # noqa: B006  Typer copies it
    drain: Annotated[
        list[str],
        typer.Option(
            metavar="LEVEL=NAME",
            help="After placing, move jobs away from there. Repeat; --fail and "
            "--drain happen in the order given.",
        ),
    ] = [],  # noqa: B006  Typer copies it
    heal: Annotated[
        list[str],
        typer.Option(metavar="LEVEL=NAME", help="Before placing, this is well again."),
    ] = [],  # noqa: B006  Typer copies it
    release: Annotated[
        list[str],
        typer.Option(metavar="JOB", help="Before placing, this job of the state ends."),
    ] = [],  # noqa: B006  Typer copies it
    fenced: Annotated[
        list[str],
        typer.Option(
            metavar="JOB", help="Before placing, the old pods of this job are gone."
        ),
    ] = [],  # noqa: B006  Typer copies it
    state: Annotated[
        Optional[str],  # noqa: UP045  Typer reads this at run time
        typer.Option(metavar="FILE", help="Go on from this file, and save to it."),
    ] = None,
    gpus_per_host: GpusPerHost = None,
    label: Labels = [],  # noqa: B006  Typer copies it
    json: Json = False,
) -> None:
    """Place jobs on a cluster, then lose or drain parts of it and repair."""
    from phalanx_core.cli.place import Wanted, run_place

    left = {"fail": iter(fail), "drain": iter(drain)}
    events = tuple((name, next(left[name])) for name in context.meta["events"])
    wanted = Wanted(
        paths=tuple(paths),
        type=type,
        spares=spares,
        alignment=alignment,
        heal=tuple(heal),
        release=tuple(release),
        fenced=tuple(fenced),
        events=events,
        state=state,
        gpus_per_host=gpus_per_host,
        label_keys=tuple(label) or None,
        as_json=json,
    )
    raise typer.Exit(exits.guarded(lambda: run_place(wanted)))


def run(arguments: list[str]) -> int:
    """Run a command line; its exit code."""
    try:
        app(arguments, prog_name="phalanx")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else exits.BROKEN
    return exits.DONE
