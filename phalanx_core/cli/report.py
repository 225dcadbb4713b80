"""Results of a run as text for a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from phalanx_core.cli import exits
from phalanx_core.cli.fleet import Fleet
from phalanx_core.cli.marks import legend
from phalanx_core.cli.results import Event, Mended, Placed, folded
from phalanx_core.cli.screen import Screen
from phalanx_core.placement import Misfit, SyncReport
from phalanx_core.topology import Topology, picture

HOSTS_LISTED_MAX = 16


def print_placed(screen: Screen, fleet: Fleet, placed: Sequence[Placed]) -> None:
    """A table of all jobs, then the ranks of each by host and each refusal."""
    screen.text("")
    screen.table(
        ("", "job", "ranks", "groups", "hosts", "level", "where"),
        [_row(fleet, row) for row in placed],
        right="ranks hosts",
    )
    screen.text("")
    for row in placed:
        if row.misfit is not None:
            screen.text(f"refused  {row.spec.name}: {row.misfit.reason}", "bold red")
            _print_levels(screen, row.misfit)
            continue
        letter = fleet.letters.of(row.spec.name)
        shown = [f"{h.host} {folded(h.ranks)}" for h in row.hosts[:HOSTS_LISTED_MAX]]
        left = len(row.hosts) - len(shown)
        if left > 0:
            shown.append(f"and {left} more hosts")
        _wrapped(screen, f"{letter} {row.spec.name}:", shown)


def print_synced(screen: Screen, synced: Mapping[str, SyncReport]) -> None:
    """What the cluster's files changed since the state was saved, if they did."""
    for name, report in synced.items():
        told = (report.added, report.removed, report.moved, report.altered)
        if report.changed and any((*told, report.broken, report.warnings)):
            screen.text(f"{name}  {report}" if len(synced) > 1 else str(report))


def print_picture(screen: Screen, topology: Topology, marks: str, title: str) -> None:
    """The topology with a mark a leaf, and what the marks mean."""
    drawn = {leaf: mark for leaf, mark in enumerate(marks) if mark != "."}
    screen.text(f"\n{title}", "bold")
    screen.text(picture(topology, drawn, width=screen.width))
    screen.text(legend(marks))


def print_event(screen: Screen, event: Event) -> None:
    """What an event hit, and each repair before and after."""
    count = len(event.leaves)
    what = f"{event.kind} {event.target}" + (f": {count} leaves" if count else "")
    hit = ", ".join(row.name for row in event.hit) or "no job"
    screen.text(f"\n{what}, hit {hit}", "bold")
    for row in event.hit:
        _print_mended(screen, row)


def print_files(screen: Screen, paths: Mapping[str, Path]) -> None:
    """Which file holds which job's output."""
    if paths:
        screen.text("\nfiles", "bold")
    for name, path in paths.items():
        screen.text(f"  {name}: {path}")


def tell_refusals(placed: Sequence[Placed], events: Sequence[Event]) -> None:
    """Refusals on stderr, where standard output belongs to a program."""
    for row in placed:
        if row.misfit is not None:
            exits.say(f"job {row.spec.name!r} is refused: {row.misfit.reason}")
    for event in events:
        for hit in event.hit:
            if hit.misfit is not None:
                exits.say(f"job {hit.name!r} is not repaired: {hit.misfit.reason}")


def _print_mended(screen: Screen, row: Mended) -> None:
    if row.misfit is not None:
        anew = row.status == "restarted"
        told = "starts anew, since it is not repaired" if anew else "is not repaired"
        screen.text(f"  {row.name} {told}: {row.misfit.reason}", "bold red")
        _print_levels(screen, row.misfit)
        return
    same = row.level_before == row.level_after
    level = f"still {row.level_after}" if same else f"now {row.level_after}"
    spares = f", {row.spares_used} spare used" if row.spares_used else ""
    screen.text(
        f"  {row.name} is repaired: {len(row.moves)} ranks move, level {level}{spares}"
    )
    for line in _move_lines(row):
        screen.text(f"    {line}")
    wide = max((len(c.host) for c in row.changes), default=0)
    for change in row.changes:
        screen.text(f"    {change.host:<{wide}}  [{change.before}] -> [{change.after}]")


def _move_lines(row: Mended) -> list[str]:
    """Moves between the same two hosts in one line."""
    pairs: dict[tuple[str, str], list[int]] = {}
    for rank, old, new in row.moves:
        key = (old.rpartition("/")[0] or old, new.rpartition("/")[0] or new)
        pairs.setdefault(key, []).append(rank)
    return [
        f"ranks {folded(ranks)}: {old} -> {new}" for (old, new), ranks in pairs.items()
    ]


def _row(fleet: Fleet, row: Placed) -> tuple[str, ...]:
    spec = row.spec
    groups = f"{spec.ranks // spec.group} x {spec.group}" if spec.group > 1 else "-"
    if spec.parts:
        groups = " + ".join(
            f"{part.ranks // part.group} x {part.group}" for part in spec.parts
        )
    if row.misfit is not None:
        return ("", spec.name, f"{spec.ranks}", groups, "-", "-", "refused")
    where = f"{row.domain}" + (" (kept)" if row.status == "kept" else "")
    letter = fleet.letters.of(spec.name)
    hosts = f"{len(row.hosts)}"
    return (letter, spec.name, f"{spec.ranks}", groups, hosts, f"{row.level}", where)


def _print_levels(screen: Screen, misfit: Misfit) -> None:
    """What each level could give; of one level alone the reason tells all."""
    for record in misfit.records if len(misfit.records) > 1 else ():
        losses = record.losses()
        screen.text(
            f"    {record.level}: best {record.best or 'none'} could hold "
            f"{record.ranks} ranks, {record.available} of its {record.leaves} leaves "
            f"available" + (f" ({losses})" if losses else "")
        )


def _wrapped(screen: Screen, head: str, words: Sequence[str]) -> None:
    line = head
    for at, word in enumerate(words):
        word += "," if at < len(words) - 1 else ""
        if len(line) + 1 + len(word) > screen.width and line != head:
            screen.text(line)
            line = "   "
        line += " " + word
    screen.text(line)
