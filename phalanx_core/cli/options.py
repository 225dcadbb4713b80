"""Arguments and options of the commands, as Typer reads them from annotations."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

# Typer makes a new list for each call.
NONE_GIVEN: list[str] = []


def _tell_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        print(f"phalanx {version('phalanx_core')}")
        raise typer.Exit


Version: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--version",
        help="Print the version and exit.",
        is_eager=True,
        callback=_tell_version,
    ),
]
Files: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="FILES...", help='Cluster files or directories; "-" is stdin.'
    ),
]
Paths: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="CLUSTER... JOBS",
        help='Cluster files or directories, then the YAML file of jobs; "-" is stdin.',
    ),
]
GpusPerHost: TypeAlias = Annotated[
    int | None,
    typer.Option(metavar="N", help="GPUs of hosts of which no file tells them."),
]
Labels: TypeAlias = Annotated[
    list[str],
    typer.Option(
        "--label",
        metavar="KEY",
        help="Host label that names a level; broadest first. Repeat. "
        "Default: the known keys that are present.",
    ),
]
TopologyName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--topology",
        metavar="NAME",
        help="Topology object (Kueue, KAI) that names the levels, where there are "
        "several.",
    ),
]
Tolerate: TypeAlias = Annotated[
    list[str],
    typer.Option(
        metavar="KEY",
        help="Taint of hosts or GPUs that is no reason to keep work away. Repeat. "
        "nvidia.com/gpu of hosts always is none.",
    ),
]
Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON document and nothing else.")
]
Type: TypeAlias = Annotated[
    str | None, typer.Option(metavar="T", help="GPU type of jobs that name none.")
]
Spares: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="PER:SIZE:COUNT",
        help="Hold back COUNT whole SIZEs in each PER for repairs: pod:host:1.",
    ),
]
Alignment: TypeAlias = Annotated[
    str | None, typer.Option(metavar="exact|buddy", help="Default: exact.")
]
Fail: TypeAlias = Annotated[
    list[str],
    typer.Option(
        metavar="LEVEL=NAME",
        help="After placing, lose host=NAME (or host=A,B at once, gpu=NAME, any "
        "level) and repair. Repeat.",
    ),
]
Drain: TypeAlias = Annotated[
    list[str],
    typer.Option(
        metavar="LEVEL=NAME",
        help="After placing, move jobs away from there. Repeat; --fail and --drain "
        "happen in the order given.",
    ),
]
Heal: TypeAlias = Annotated[
    list[str],
    typer.Option(metavar="LEVEL=NAME", help="Before placing, this is well again."),
]
Release: TypeAlias = Annotated[
    list[str],
    typer.Option(metavar="JOB", help="Before placing, this job of the state ends."),
]
Fenced: TypeAlias = Annotated[
    list[str],
    typer.Option(
        metavar="JOB", help="Before placing, the old pods of this job are gone."
    ),
]
State: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Go on from this file on the cluster as it is now, and save to it.",
    ),
]
Output: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="FORMAT",
        help="Print what starts the ranks of each job instead of the report: json, "
        "kueue-v1beta1, kueue-v1beta2, slurm, slurm-nodelist, slurm-hostfile, "
        "mpi-hostfile, mpi-rankfile or torchrun.",
    ),
]
OutputDir: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="DIR", help="Write it into a file a job there, and print the report."
    ),
]
OutputOption: TypeAlias = Annotated[
    list[str],
    typer.Option(
        metavar="KEY=VALUE",
        help="Setting of the format: master_port, cores_per_gpu, ranks_per_pod, part or "
        "kueue_levels. Repeat.",
    ),
]
