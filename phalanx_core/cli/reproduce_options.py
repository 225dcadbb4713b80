"""Arguments and options of ``reproduce``, as Typer reads them."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

Names: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(metavar="NAME...", help="Experiments; --list names them."),
]
List: TypeAlias = Annotated[
    bool, typer.Option("--list", help="Name the experiments; measure nothing.")
]
All: TypeAlias = Annotated[bool, typer.Option("--all", help="Every experiment.")]
Seed: TypeAlias = Annotated[
    int, typer.Option(metavar="NUMBER", help="Of all that is drawn.")
]
Processes: TypeAlias = Annotated[
    int,
    typer.Option(
        metavar="COUNT",
        help="Local processes that share fills; the figures are the same for any number.",
    ),
]
Figure: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Draw measured over published there, .pdf, .png or .svg; needs "
        "matplotlib.",
    ),
]
Markdown: TypeAlias = Annotated[
    bool, typer.Option("--markdown", help="Print a page in Markdown and nothing else.")
]
