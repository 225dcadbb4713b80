"""The report as plain text."""

from __future__ import annotations

from typing import Any

from bench.budgets import Check, ratio

Row = dict[str, Any]
HEAD = ("row", "leaves", "median", "p99", "worst", "peer", "theirs", "ours/theirs")
PLAIN = {
    *("row", "leaves", "seed", "ours", "theirs", "peer"),
    *("checksum", "bytes_max", "capped"),
}


def duration(nanoseconds: float) -> str:
    """A time with the unit that suits it."""
    for unit, size in (("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= 10 * size:
            return f"{nanoseconds / size:.1f} {unit}"
    digits = 1 if nanoseconds < 100 else 0
    return f"{nanoseconds:.{digits}f} ns"


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _cells(row: Row) -> tuple[str, ...]:
    name, leaves = row["row"], f"{row['leaves']:,}" if "leaves" in row else ""
    if "ours" not in row:
        return (name, leaves, "", "", "", "", "", "")
    ours = row["ours"]
    times = tuple(duration(ours[key]) for key in ("median", "p99", "max"))
    if "theirs" not in row:
        return (name, leaves, *times, row.get("peer", ""), "", "")
    theirs = duration(row["theirs"]["median"])
    # A peer that was stopped would have taken longer.
    least = "<" if row.get("capped") else ""
    return (name, leaves, *times, row["peer"], theirs, f"{least}{ratio(row):.3g}")


def _notes(row: Row) -> str:
    found = [f"{key} {_shown(row[key])}" for key in row if key not in PLAIN]
    return "; ".join(found)


def render(rows: list[Row], checks: list[Check]) -> str:
    """Rows with their notes, then each budget with its verdict."""
    table = [HEAD, *(_cells(row) for row in rows if row["row"] != "timer")]
    notes = ["", *(_notes(row) for row in rows if row["row"] != "timer")]
    widths = [max(len(line[at]) for line in table) for at in range(len(HEAD))]
    lines = []
    for cells, note in zip(table, notes, strict=True):
        padded = [
            cell.ljust(width) if at in (0, 5) else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        lines.append("  ".join([*padded, note]).rstrip())
    if checks:
        width = max(len(check.row) for check in checks)
        lines += ["", "budgets (of the full run)"]
        lines += [f"{check.row.ljust(width)}  {check}" for check in checks]
        met = sum(check.verdict == "met" for check in checks)
        near = sum(check.verdict == "near" for check in checks)
        missed = len(checks) - met - near
        lines.append(
            f"{met} met, {near} missed by less than 1.5x, {missed} missed by more"
        )
    return "\n".join(lines)
