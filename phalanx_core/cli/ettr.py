"""``phalanx ettr``: what failures cost a job, and what each remedy brings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from phalanx_core.cli import exits
from phalanx_core.cli.columns import named_as
from phalanx_core.cli.curve import drawn
from phalanx_core.cli.screen import Screen
from phalanx_core.errors import InvalidRequest
from phalanx_core.reliability import (
    Advice,
    Fleet,
    RecoveryBudget,
    SpareLevel,
    advise,
    ettr,
)

OPTIONS = {
    "gpus": "--gpus",
    "items": "--recovery",
    "checkpoint_s": "--checkpoint",
    "interval_s": "--interval",
    "spares": "--spares",
    "target": "--target",
    "repair_s": "--repair",
    "without_spare_s": "--without-spare",
    "gpu_mtbf_hours": "--gpu-mtbf-hours",
    "gpus_per_host": "--gpus-per-host",
    "hosts_per_domain": "--hosts-per-domain",
}
LEVELS_SHOWN_MAX = 12
# The curve goes from a so-much shorter interval than the best to a so-much longer one.
CURVE_FACTOR = 10.0
UNITS = (("d", 86_400.0), ("h", 3600.0), ("min", 60.0))


@dataclass(frozen=True)
class Wanted:
    """The command line of one run; the fields are those of ``advise`` and ``Fleet``."""

    gpus: int
    checkpoint_s: float
    interval_s: float | None = None
    recovery: tuple[str, ...] = ()
    spares: int = 1
    target: float = 0.99
    repair_s: float = 14_400.0
    without_spare_s: float = 900.0
    gpu_mtbf_hours: float = 50_000.0
    gpus_per_host: int = 8
    hosts_per_domain: int = 256
    as_json: bool = False


def run_ettr(wanted: Wanted) -> int:
    """Advise, and print tables and the curve, or JSON; an exit code.

    Raises
    ------
    InvalidRequest
        If an option breaks its rule.
    """
    changed = _items(wanted.recovery)
    with named_as(OPTIONS):
        advice = advise(
            wanted.gpus,
            wanted.checkpoint_s,
            wanted.interval_s,
            recovery=RecoveryBudget.paper().with_items(**changed),
            fleet=Fleet(
                wanted.gpus_per_host,
                wanted.hosts_per_domain,
                wanted.gpu_mtbf_hours,
                wanted.repair_s,
                wanted.without_spare_s,
            ),
            spares=wanted.spares,
            target=wanted.target,
        )
    screen = Screen(wanted.as_json)
    if wanted.as_json:
        screen.document({"checkpoint_s": wanted.checkpoint_s, **advice.to_dict()})
        return exits.DONE
    _print_today(screen, advice, wanted)
    _print_recovery(screen, advice, changed, wanted)
    _print_intervals(screen, advice, wanted)
    _print_levels(screen, advice, wanted)
    _print_remedies(screen, advice)
    _print_curve(screen, advice, wanted)
    screen.show()
    return exits.DONE


def span(seconds: float) -> str:
    """A time with the unit that suits it.

    Examples
    --------
    >>> span(54.1), span(1373.3), span(14400), span(1e9)
    ('54.1 s', '22.9 min', '4 h', '1.16e+04 d')
    """
    for unit, size in UNITS:
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


def _items(told: Sequence[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for text in told:
        where = f"--recovery {text!r}"
        name, _, value = text.partition("=")
        if not name.strip() or not name.isprintable():
            raise InvalidRequest(f"{where}: must be ITEM=SECONDS, such as restore=30")
        if name in found:
            raise InvalidRequest(f"{where}: {name} is given twice")
        try:
            found[name] = float(value)
        except ValueError:
            found[name] = -1.0
        if not 0 <= found[name] < float("inf"):
            raise InvalidRequest(f"{where}: seconds are a finite number from 0")
    return found


def _ratio(advice: Advice, wanted: Wanted, interval_s: float) -> float:
    share = wanted.checkpoint_s / interval_s
    return float(ettr(advice.mtbf_s, advice.recovery_s, interval_s, share))


def _print_today(screen: Screen, advice: Advice, wanted: Wanted) -> None:
    gpus = "1 GPU" if advice.gpus == 1 else f"{advice.gpus:,} GPUs"
    screen.text(
        f"ETTR {advice.ettr:.3f}: {gpus} that fail every {span(advice.mtbf_s)}", "bold"
    )
    screen.text(
        f"a checkpoint of {span(wanted.checkpoint_s)} every {span(advice.interval_s)} "
        f"({100 * advice.overhead:.2g} %), recovery in {span(advice.recovery_s)} on average"
    )


def _print_recovery(
    screen: Screen, advice: Advice, changed: dict[str, float], wanted: Wanted
) -> None:
    held = "1 spare" if advice.spares == 1 else f"{advice.spares} spares"
    rows = [
        (name, f"{seconds:.1f}", "given" if name in changed else "the paper's")
        for name, seconds in advice.recovery.items.items()
    ]
    rows += [
        ("with a spare", f"{advice.recovery.total_s:.1f}", ""),
        ("without", f"{wanted.without_spare_s:.1f}", ""),
        ("on average", f"{advice.recovery_s:.1f}", f"{held} a domain"),
    ]
    screen.text("")
    screen.table(("recovery", "seconds", ""), rows, right="seconds")


def _print_intervals(screen: Screen, advice: Advice, wanted: Wanted) -> None:
    best = advice.best
    named = {
        "today": advice.interval_s,
        "best": best.exact_s,
        "Young": best.young_s,
        "Daly": best.daly_s,
    }
    rows = [
        (name, f"{seconds:.1f}", f"{_ratio(advice, wanted, seconds):.4f}")
        for name, seconds in named.items()
    ]
    screen.text("")
    screen.table(("interval", "seconds", "ETTR"), rows, right="seconds ETTR")


def _print_levels(screen: Screen, advice: Advice, wanted: Wanted) -> None:
    rows = [
        (
            f"{one.spares}",
            f"{one.probability:.4f}",
            f"{one.simulated:.4f}",
            f"{one.recovery_s:.1f}",
            f"{one.ettr:.4f}",
            "today" if one.spares == advice.spares else "",
        )
        for one in shown(advice.spare_levels, advice.spares)
    ]
    rows[-1] = (*rows[-1][:5], " ".join([*rows[-1][5].split(), "target"]))
    screen.text("")
    heads = ("spares", "found", "simulated", "seconds", "ETTR", "")
    screen.table(heads, rows, right="spares found simulated seconds ETTR")
    screen.text(
        f"of {wanted.hosts_per_domain} hosts a domain, repaired in {span(wanted.repair_s)}; "
        f"target {wanted.target:g}"
    )


def shown(levels: Sequence[SpareLevel], today: int) -> list[SpareLevel]:
    """All levels, or of many the first, today's and the last."""
    first = len(levels) - LEVELS_SHOWN_MAX + 1
    return [
        one
        for one in levels
        if one.spares > first
        or one.spares in (0, today)
        or len(levels) <= LEVELS_SHOWN_MAX
    ]


def _print_remedies(screen: Screen, advice: Advice) -> None:
    rows = [
        (one.what, f"{one.ettr:.4f}", f"{one.gained:+.4f}") for one in advice.remedies
    ]
    screen.text("")
    screen.table(("remedy", "ETTR", "gained"), rows, right="ETTR gained")


def _print_curve(screen: Screen, advice: Advice, wanted: Wanted) -> None:
    best, today = advice.best.exact_s, advice.interval_s
    least = max(best / CURVE_FACTOR, (wanted.checkpoint_s * best) ** 0.5)
    ends = min(least, today), max(best * CURVE_FACTOR, today)
    screen.text("\nETTR over the interval in seconds", "bold")
    screen.text(
        drawn(
            lambda seconds: _ratio(advice, wanted, seconds),
            ends,
            {"T": today, "B": best},
            screen.width,
        )
    )
    screen.text(f"T today {span(today)}  B best {span(best)}")
