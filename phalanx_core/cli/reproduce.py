"""``phalanx reproduce``: published tables and claims, measured again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phalanx_core.cli import exits
from phalanx_core.cli.columns import named_as
from phalanx_core.cli.files import put
from phalanx_core.cli.near import did_you_mean
from phalanx_core.cli.progress import StepsBar
from phalanx_core.cli.screen import Screen
from phalanx_core.errors import InvalidRequest
from phalanx_core.experiments import EXPERIMENTS, Experiment
from phalanx_core.experiments.page import Result, because, page, summary
from phalanx_core.experiments.sweep import PUBLISHED, curve
from phalanx_core.plots import Bars, Curve, check_format, drawn

OPTIONS = {"seed": "--seed", "processes": "--processes"}


@dataclass(frozen=True)
class Wanted:
    """The command line of one run."""

    names: tuple[str, ...] = ()
    list_only: bool = False
    all: bool = False
    seed: int = 0
    processes: int = 1
    figure: str | None = None
    markdown: bool = False
    as_json: bool = False


def run_reproduce(wanted: Wanted) -> int:
    """Measure and print; an exit code.

    Raises
    ------
    InvalidRequest
        If an experiment does not exist, or the options do not go together.
    FileFault
        If the figure cannot be written.
    """
    chosen = chosen_experiments(wanted)
    if wanted.list_only:
        return _list(wanted.as_json)
    results = _measured(wanted, chosen)
    if wanted.figure is not None:
        put(Path(wanted.figure), drawn(wanted.figure, panels(results)))
    unexpected = [
        figure for _, figures in results for figure in figures if figure.unexpected
    ]
    code = exits.REFUSED if unexpected else exits.DONE
    screen = Screen(wanted.as_json or wanted.markdown)
    _print(screen, results)
    if wanted.as_json:
        screen.document(_document(wanted, results, code))
    if wanted.markdown:
        screen.paste(page(results, wanted.seed))
    return code


def chosen_experiments(wanted: Wanted) -> tuple[Experiment, ...]:
    """Those of the command line, each once, in its order.

    Raises
    ------
    InvalidRequest
        If one does not exist, or the options do not go together.

    Examples
    --------
    >>> [one.name for one in chosen_experiments(Wanted(("table4", "table3")))]
    ['table4', 'table3']
    """
    ways = [bool(wanted.names), wanted.all, wanted.list_only]
    if sum(ways) != 1:
        raise InvalidRequest("give names of experiments, or --all, or --list")
    if wanted.as_json and wanted.markdown:
        raise InvalidRequest("--json and --markdown both print: give one")
    if wanted.list_only and (wanted.markdown or wanted.figure is not None):
        raise InvalidRequest("--list measures nothing: give names, or --all")
    for name in wanted.names:
        if name not in EXPERIMENTS:
            raise InvalidRequest(
                f"{name!r}: one of {', '.join(EXPERIMENTS)}"
                f"{did_you_mean(name, EXPERIMENTS)}"
            )
    if wanted.figure is not None:
        with named_as({repr(wanted.figure) + ":": f"--figure {wanted.figure!r}:"}):
            check_format(wanted.figure)
    names = dict.fromkeys(wanted.names or EXPERIMENTS)
    return tuple(EXPERIMENTS[name] for name in names)


def panels(results: list[Result]) -> list[Bars | Curve]:
    """Bars of measured over published, and the sweep where it was asked for.

    Notes
    -----
    Times and bounds are left out, and what was published as 0.
    """
    compared = [
        (f"{experiment.name}: {figure.name}", figure)
        for experiment, figures in results
        for figure in figures
        if figure.published and not figure.timing and not figure.bound
    ]
    found: list[Bars | Curve] = [
        Bars(
            "Measured beside published",
            "measured / published",
            [name for name, _ in compared],
            [figure.measured / figure.published for _, figure in compared],
            [figure.status for _, figure in compared],
            reference=1.0,
        )
    ]
    if any(experiment.name == "sweep" for experiment, _ in results):
        found.append(
            Curve(
                "131,072 GPUs, recovery in 75 s",
                "minutes between checkpoints",
                "effective training time ratio",
                curve(),
                list(PUBLISHED.items()),
                "ours, exact form",
            )
        )
    return found


def _measured(wanted: Wanted, chosen: tuple[Experiment, ...]) -> list[Result]:
    results = []
    with named_as(OPTIONS), StepsBar(len(chosen)) as bar:
        for experiment in chosen:
            bar(experiment.name)
            figures = experiment.run(wanted.seed, wanted.processes)
            results.append((experiment, figures))
    return results


def _list(as_json: bool) -> int:
    screen = Screen(as_json)
    rows = [(one.name, f"{one.paper} {one.section}", one.title) for one in _every()]
    screen.table(("name", "published", "what"), rows)
    screen.show()
    if as_json:
        screen.document({"experiments": [_told(one) for one in _every()]})
    return exits.DONE


def _every() -> tuple[Experiment, ...]:
    return tuple(EXPERIMENTS.values())


def _print(screen: Screen, results: list[Result]) -> None:
    for experiment, figures in results:
        told = f"{experiment.name}  {experiment.paper} {experiment.section}: "
        screen.text(told + experiment.title, "bold")
        screen.text("")
        screen.table(
            ("figure", "published", "measured", "tolerance", "status"),
            [
                (
                    figure.name,
                    figure.published_text,
                    figure.measured_text,
                    figure.tolerance_text,
                    "UNEXPECTED" if figure.unexpected else figure.status,
                )
                for figure in figures
            ],
            right="published measured tolerance",
        )
        screen.text("")
        for sentence in experiment.reading:
            screen.text(f"reading  {sentence}")
        for reason, names in because(figures).items():
            screen.text(f"because  {names}: {reason}")
        screen.text("")
    screen.text(summary(results))
    screen.show()


def _told(experiment: Experiment) -> dict[str, Any]:
    return {
        "name": experiment.name,
        "paper": experiment.paper,
        "section": experiment.section,
        "title": experiment.title,
        "reading": list(experiment.reading),
    }


def _document(wanted: Wanted, results: list[Result], code: int) -> dict[str, Any]:
    return {
        "seed": wanted.seed,
        "experiments": [
            {**_told(experiment), "figures": [one.to_dict() for one in figures]}
            for experiment, figures in results
        ],
        "exit_code": code,
    }
