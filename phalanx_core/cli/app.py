"""Commands and their options; the work is in the modules they load when called."""

from __future__ import annotations

from typing import Any, ClassVar

import typer
from typer.core import TyperCommand

from phalanx_core.cli import ettr_options as model
from phalanx_core.cli import exits, options
from phalanx_core.cli import reproduce_options as reproducing
from phalanx_core.cli import round_options as rounds
from phalanx_core.cli import schedule_options as scheduling
from phalanx_core.cli import verify_options as verifying

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Place gangs of GPUs on a cluster that fails, and repair them; schedule, score "
    "and solve rounds; say what failures cost; reproduce what papers published; check "
    "the protocol that repairs.",
    epilog=exits.HELP,
)


class EventsInOrder(TyperCommand):
    """Remembers the order in which options of several names were given."""

    ordered: ClassVar[tuple[str, ...]] = ("fail", "drain")

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as always, and note each event option as it comes."""
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        ctx.meta["events"] = [p.name for p in given if p.name in self.ordered]
        return super().parse_args(ctx, args)


class TimedEventsInOrder(EventsInOrder):
    """The same where healing is an event as well."""

    ordered = ("fail", "drain", "heal")


@app.callback()
def _commands(*, version: options.Version = False) -> None:
    """Keep subcommands even where there is only one."""


@app.command(epilog=exits.HELP)
def topology(
    files: options.Files,
    *,
    gpus_per_host: options.GpusPerHost = None,
    label: options.Labels = options.NONE_GIVEN,
    topology_name: options.TopologyName = None,
    tolerate: options.Tolerate = options.NONE_GIVEN,
    json: options.Json = False,
) -> None:
    """Compile cluster files; show what came of them, and a picture."""
    from phalanx_core.cli.topology import Source, show_topology

    source = Source(
        paths=tuple(files),
        gpus_per_host=gpus_per_host,
        label_keys=tuple(label) or None,
        topology=topology_name,
        tolerate=tuple(tolerate),
    )
    raise typer.Exit(exits.guarded(lambda: show_topology(source, as_json=json)))


@app.command(cls=EventsInOrder, epilog=exits.HELP)
def place(
    context: typer.Context,
    paths: options.Paths,
    *,
    type: options.Type = None,
    spares: options.Spares = None,
    alignment: options.Alignment = None,
    fail: options.Fail = options.NONE_GIVEN,
    drain: options.Drain = options.NONE_GIVEN,
    heal: options.Heal = options.NONE_GIVEN,
    release: options.Release = options.NONE_GIVEN,
    fenced: options.Fenced = options.NONE_GIVEN,
    state: options.State = None,
    gpus_per_host: options.GpusPerHost = None,
    label: options.Labels = options.NONE_GIVEN,
    topology_name: options.TopologyName = None,
    tolerate: options.Tolerate = options.NONE_GIVEN,
    output: options.Output = None,
    output_dir: options.OutputDir = None,
    output_option: options.OutputOption = options.NONE_GIVEN,
    json: options.Json = False,
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
        topology=topology_name,
        tolerate=tuple(tolerate),
        output=output,
        output_dir=output_dir,
        output_options=tuple(output_option),
        as_json=json,
    )
    raise typer.Exit(exits.guarded(lambda: run_place(wanted)))


@app.command(cls=TimedEventsInOrder, epilog=exits.SCHEDULE_HELP)
def schedule(
    context: typer.Context,
    paths: options.Paths,
    *,
    order: scheduling.Order = "utility",
    lease: scheduling.Lease = 900.0,
    round_: scheduling.RoundLength = 60.0,
    rounds: scheduling.Rounds = None,
    start: scheduling.Start = None,
    entitlement: scheduling.Entitlement = None,
    window: scheduling.Window = None,
    waiting_bound: scheduling.WaitingBound = 6 * 3600.0,
    reward: scheduling.Reward = None,
    idle: scheduling.Idle = 0.0,
    type: options.Type = None,
    spares: options.Spares = None,
    fail: scheduling.Fail = options.NONE_GIVEN,
    drain: scheduling.Drain = options.NONE_GIVEN,
    heal: scheduling.Heal = options.NONE_GIVEN,
    state: scheduling.State = None,
    gpus_per_host: options.GpusPerHost = None,
    label: options.Labels = options.NONE_GIVEN,
    topology_name: options.TopologyName = None,
    tolerate: options.Tolerate = options.NONE_GIVEN,
    json: options.Json = False,
) -> None:
    """Decide rounds of jobs by utility and by what tenants are owed; lose and repair."""
    from phalanx_core.cli.schedule import Wanted, run_schedule

    left = {"fail": iter(fail), "drain": iter(drain), "heal": iter(heal)}
    wanted = Wanted(
        paths=tuple(paths),
        options={
            "order": order,
            "lease_s": lease,
            "round_s": round_,
            "entitlement": entitlement,
            "window_s": window,
            "waiting_bound_s": waiting_bound,
            "idle": idle,
        },
        type=type,
        spares=spares,
        reward=reward,
        rounds=rounds,
        start_s=start,
        events=tuple((name, next(left[name])) for name in context.meta["events"]),
        state=state,
        gpus_per_host=gpus_per_host,
        label_keys=tuple(label) or None,
        topology=topology_name,
        tolerate=tuple(tolerate),
        as_json=json,
    )
    raise typer.Exit(exits.guarded(lambda: run_schedule(wanted)))


@app.command(epilog=exits.ROUND_HELP)
def score(
    table: rounds.ScoreTable,
    *,
    fairness: rounds.Fairness = 0.5,
    age_rate: rounds.AgeRate = 0.01,
    age_cap: rounds.AgeCap = 100.0,
    restart: rounds.Restart = "decomposed",
    restart_floor: rounds.RestartFloor = 0.0,
    changed_only: rounds.ChangedOnly = False,
    output: rounds.TableOutput = "-",
    json: rounds.TableJson = False,
) -> None:
    """Add to a table of configurations what each is worth (OAK): a column utility."""
    from phalanx_core.cli.score import Wanted, run_score

    wanted = Wanted(
        path=table,
        fairness=fairness,
        age_rate_per_s=age_rate,
        age_cap=age_cap,
        restart=restart,
        restart_floor=restart_floor,
        changed_only=changed_only,
        output=output,
        as_json=json,
    )
    raise typer.Exit(exits.guarded(lambda: run_score(wanted)))


@app.command(epilog=exits.ROUND_HELP)
def solve(
    table: rounds.SolveTable,
    *,
    capacity: rounds.Capacity,
    idle: rounds.Idle = 0.0,
    solver: rounds.Solver = "auto",
    gap: rounds.Gap = 0.0,
    effort: rounds.Effort = None,
    time_limit: rounds.TimeLimit = None,
    seed: rounds.Seed = 0,
    certify: rounds.Certify = False,
    current: rounds.Current = False,
    keep_bonus: rounds.KeepBonus = 0.0,
    explain: rounds.Explain = False,
    json: options.Json = False,
) -> None:
    """Choose who gets which configuration: the most utility that the capacities hold."""
    from phalanx_core.cli.solve import Wanted, run_solve

    wanted = Wanted(
        path=table,
        capacity=tuple(capacity),
        idle=idle,
        solver=solver,
        gap=gap,
        effort=effort,
        time_limit_s=time_limit,
        seed=seed,
        certify=certify,
        current=current,
        keep_bonus=keep_bonus,
        explain=explain,
        as_json=json,
    )
    raise typer.Exit(exits.guarded(lambda: run_solve(wanted)))


@app.command(epilog=exits.MODEL_HELP)
def ettr(
    *,
    gpus: model.Gpus,
    checkpoint: model.Checkpoint,
    interval: model.Interval = None,
    recovery: model.Recovery = options.NONE_GIVEN,
    spares: model.Spares = 1,
    target: model.Target = 0.99,
    repair: model.Repair = 14_400.0,
    without_spare: model.WithoutSpare = 900.0,
    gpu_mtbf_hours: model.GpuMtbfHours = 50_000.0,
    gpus_per_host: model.GpusPerHost = 8,
    hosts_per_domain: model.HostsPerDomain = 256,
    json: options.Json = False,
) -> None:
    """Say what failures cost a job (ETTR), and what shorter recoveries would bring."""
    from phalanx_core.cli.ettr import Wanted, run_ettr

    wanted = Wanted(
        gpus=gpus,
        checkpoint_s=checkpoint,
        interval_s=interval,
        recovery=tuple(recovery),
        spares=spares,
        target=target,
        repair_s=repair,
        without_spare_s=without_spare,
        gpu_mtbf_hours=gpu_mtbf_hours,
        gpus_per_host=gpus_per_host,
        hosts_per_domain=hosts_per_domain,
        as_json=json,
    )
    raise typer.Exit(exits.guarded(lambda: run_ettr(wanted)))


@app.command(epilog=exits.REPRODUCE_HELP)
def reproduce(
    names: reproducing.Names = None,
    *,
    list_only: reproducing.List = False,
    every: reproducing.All = False,
    seed: reproducing.Seed = 0,
    processes: reproducing.Processes = 1,
    figure: reproducing.Figure = None,
    markdown: reproducing.Markdown = False,
    json: options.Json = False,
) -> None:
    """Measure published tables and claims again; show both, and whether they agree."""
    from phalanx_core.cli.reproduce import Wanted, run_reproduce

    wanted = Wanted(
        names=tuple(names or ()),
        list_only=list_only,
        all=every,
        seed=seed,
        processes=processes,
        figure=figure,
        markdown=markdown,
        as_json=json,
    )
    raise typer.Exit(exits.guarded(lambda: run_reproduce(wanted)))


@app.command(epilog=exits.VERIFY_HELP)
def verify(
    scope: verifying.Scope = None,
    *,
    protocol: verifying.Protocol = "printed",
    mutant: verifying.Mutant = None,
    unreduced: verifying.Unreduced = False,
    property: verifying.Property = options.NONE_GIVEN,
    list_only: verifying.List = False,
    json: options.Json = False,
) -> None:
    """Check the reformation protocol: every state in a scope, and every property."""
    from phalanx_core.cli.verify import Wanted, run_verify

    wanted = Wanted(
        scope=scope,
        protocol=protocol,
        mutant=mutant,
        unreduced=unreduced,
        properties=tuple(property),
        list_only=list_only,
        as_json=json,
    )
    raise typer.Exit(exits.guarded(lambda: run_verify(wanted)))


@app.command(epilog=exits.HISTORY_HELP)
def history(
    file: verifying.File,
    *,
    steps: verifying.Steps = False,
    json: options.Json = False,
) -> None:
    """Replay a history of reformations against the protocol; the first bad line and why."""
    from phalanx_core.cli.history import Wanted, run_history

    wanted = Wanted(path=file, steps=steps, as_json=json)
    raise typer.Exit(exits.guarded(lambda: run_history(wanted)))


def run(arguments: list[str]) -> int:
    """Run a command line; its exit code."""
    return exits.guarded(lambda: _run(arguments))


def _run(arguments: list[str]) -> int:
    try:
        with exits.writing():
            app(arguments, prog_name="phalanx")
    except SystemExit as end:
        # Rich ends so where the reader of a help text has left.
        if end.code == exits.REFUSED and "--help" in arguments:
            return exits.DONE
        return end.code if isinstance(end.code, int) else exits.BROKEN
    return exits.DONE
