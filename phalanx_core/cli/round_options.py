"""Arguments and options of ``score`` and ``solve``, as Typer reads them."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

ScoreTable: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="CSV, JSON or Parquet, a row for each configuration of a job: job, "
        "configuration, goodput (empty: cannot run so), progress_s, checkpoint_s, "
        'restart_s or application, waiting_s. "-" is stdin.',
    ),
]
SolveTable: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="CSV, JSON or Parquet, a row for each configuration of a job: job, "
        "configuration, utility (empty: cannot run so), and gpus, or type and gpus, or "
        'gpus.TYPE for each type. "-" is stdin.',
    ),
]
Fairness: TypeAlias = Annotated[
    float,
    typer.Option(
        metavar="P",
        help="Power of goodput times restart factor, in (0, 1], or below 0.",
    ),
]
AgeRate: TypeAlias = Annotated[
    float, typer.Option(metavar="RATE", help="Of the age key, a second; above 0.")
]
AgeCap: TypeAlias = Annotated[
    float, typer.Option(metavar="CAP", help="Most that the age key is; at least 1.")
]
Restart: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="decomposed|aggregate",
        help="Restart factor: useful work over age; or Sia's, by a column restarts.",
    ),
]
RestartFloor: TypeAlias = Annotated[
    float, typer.Option(metavar="FLOOR", help="Least restart factor, in [0, 1].")
]
ChangedOnly: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--changed-only",
        help="The restart factor is that of a change: none on rows whose column current "
        "is true.",
    ),
]
TableOutput: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        help='Write the table there, by its extension .csv, .json or .parquet; "-" is '
        "stdout, as CSV.",
    ),
]
TableJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print the table as JSON, a list of rows.")
]
Capacity: TypeAlias = Annotated[
    list[str],
    typer.Option(
        metavar="GPUS|TYPE=GPUS,...",
        help="GPUs that there are: 12, or h100=64,a100=32. Repeat.",
    ),
]
Idle: TypeAlias = Annotated[
    float,
    typer.Option(
        metavar="WORTH",
        help="What a job left out is worth: nothing worth less is taken. OAK has 1.1.",
    ),
]
Solver: TypeAlias = Annotated[str, typer.Option(metavar="auto|dp|core|cp-sat|nsga2")]
Gap: TypeAlias = Annotated[
    float,
    typer.Option(
        metavar="SHARE", help="Stop once no answer can be better by this share."
    ),
]
Effort: TypeAlias = Annotated[
    int | None,
    typer.Option(metavar="STEPS", help="Most steps of proving; the same on every run."),
]
TimeLimit: TypeAlias = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", help="Most wall time; two runs may then differ."),
]
Seed: TypeAlias = Annotated[
    int, typer.Option(metavar="NUMBER", help="Of cp-sat and nsga2.")
]
Certify: TypeAlias = Annotated[
    bool, typer.Option("--certify", help="Have CP-SAT prove that no answer is better.")
]
Current: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--current",
        help="Read a column current: true on the row that the job holds now.",
    ),
]
KeepBonus: TypeAlias = Annotated[
    float,
    typer.Option(metavar="WORTH", help="What keeping it is worth beyond its utility."),
]
Explain: TypeAlias = Annotated[
    bool, typer.Option("--explain", help="Say why each job that is left out is.")
]
