"""Arguments and options of ``verify`` and ``history``, as Typer reads them."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

Scope: TypeAlias = Annotated[
    str | None,
    typer.Argument(
        metavar="SCOPE",
        help="JOBS/LEAVES/FAILURES, such as 2/7/2, or with the hardened protocol the name "
        "of a scope with changes: heal, drain, admit, resize, lose, crash... "
        "Default: 2/7/2.",
    ),
]
Protocol: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="printed: Figure 2. fixed: with the four fixes that its liveness needs. "
        "hardened: what the engine runs.",
    ),
]
Mutant: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="A protocol that is wrong in one place, in a scope of its own; --list names "
        "them.",
    ),
]
List: TypeAlias = Annotated[
    bool, typer.Option("--list", help="Name the mutants and scopes; check nothing.")
]
Unreduced: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--unreduced",
        help="Visit every state, in the native core, and not one for all that "
        "permutations of leaves make of it.",
    ),
]
Property: TypeAlias = Annotated[
    list[str],
    typer.Option(
        metavar="NAME",
        help="Judge this property; paper stands for the paper's six. Repeat. Default: all.",
    ),
]
File: TypeAlias = Annotated[
    str, typer.Argument(metavar="FILE", help="A history, NDJSON; - is standard input.")
]
Steps: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--steps", help="Print each transition as a sentence, before the counts."
    ),
]
