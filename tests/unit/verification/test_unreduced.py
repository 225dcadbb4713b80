"""The unreduced search: golden counts, the slow twin, counterexamples, bounds, bad input."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product

import pytest

from phalanx_core.errors import InvalidRequest, InvariantBroken
from phalanx_core.native import lib
from phalanx_core.verification import unreduced
from phalanx_core.verification.unreduced import Search, explore
from phalanx_core.verification.unreduced_result import Progress, Verdict
from phalanx_core.verification.unreduced_scope import (
    ACTIONS,
    FIXED,
    PRINTED,
    PROPERTIES,
    Rule,
    Scope,
    Step,
)
from tests.unit.verification.figure_2 import Graph, initial, mask, owned, shown

BOTH = ("ReformLive", "ESR")
STRICT = Rule.LIVE_RESTORE
GUARDED = STRICT | Rule.LIVE_COMMIT
SEEN = GUARDED | Rule.DETECT_RESTORE

# Scope, then initial, generated and distinct states, depth, and what is violated. Counts
# of the first two are TLC's and the paper's (Table 2).
GOLDEN = {
    "2/6/2": (Scope(2, 6, 2), 20, 120_000, 43_070, 13, ()),
    "2/7/2": (Scope(2, 7, 2), 210, 3_146_990, 834_050, 13, ()),
    "no Abort": (
        Scope(2, 7, 2, Rule.NO_ABORT),
        *(210, 1_937_390, 713_090, 13, BOTH),
    ),
    "pinned": (Scope(2, 7, 2, Rule.PINNED), 210, 431_270, 157_220, 13, ()),
    "pinned at 3": (Scope(2, 8, 3, Rule.PINNED), 70, 1_735_090, 566_230, 19, ()),
    "strict": (Scope(2, 7, 2, STRICT), 210, 3_142_790, 834_050, 13, BOTH),
    "guarded": (Scope(2, 7, 2, GUARDED), 210, 3_198_230, 848_330, 13, BOTH),
    "seen": (Scope(2, 7, 2, SEEN), 210, 3_202_430, 848_330, 13, ()),
    "fixed size": (
        Scope(2, 7, 2, Rule.FIXED_SIZE),
        *(210, 131_180, 50_890, 11, BOTH),
    ),
    "crash": (Scope(2, 7, 2, Rule.CRASH), 210, 10_651_130, 1_442_490, 13, BOTH),
    "one start at 3": (
        Scope(2, 8, 3, Rule.PINNED, start=(0x0F, 0xF0)),
        *(1, 29_491, 10_033, 19, ()),
    ),
}
# From Init by action; TLC's.
STEPS = {
    "2/6/2": (20, 8_520, 6_240, 25_200, 25_680, 0, 40_240, 14_100, 0),
    "2/7/2": (
        *(210, 115_710, 71_680, 1_482_460, 529_060),
        *(120_960, 605_080, 221_830, 0),
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_counts_and_verdicts_are_the_published_ones(name: str) -> None:
    """Generated, distinct, depth and what is violated, row by row."""
    scope, first, generated, distinct, depth, violated = GOLDEN[name]
    found = explore(scope)
    assert found.initial == first
    assert (found.generated, found.distinct, found.depth) == (
        generated,
        distinct,
        depth,
    )
    assert found.violated == violated
    assert found.verdict is (Verdict.VIOLATED if violated else Verdict.HOLDS)
    assert sum(found.steps.values()) == generated
    if name in STEPS:
        assert tuple(found.steps.values()) == STEPS[name]
    if name != "crash":
        assert (found.components, found.largest) == (distinct, 1)


def test_the_primary_scope_needs_little_memory() -> None:
    """2/7/2 with all properties takes less than a third of 64 MiB."""
    assert explore(Scope(2, 7, 2)).bytes_peak < 64 << 20 >> 1


def starts(scope: Scope) -> list:
    """Initial states of the twin, those of the scope's start alone where it has one."""
    jobs = range(scope.jobs)
    return [
        state
        for state in initial(scope)
        if scope.start is None
        or tuple(mask(owned(state, job)) for job in jobs) == scope.start
    ]


def steps_are_the_twins(search: Search, twin: Graph) -> None:
    """Every step from every state is the twin's, as often."""
    for state, known in twin.moves.items():
        wanted = Counter(
            (action, job, mask(leaves), shown(after))
            for action, job, leaves, after in known
        )
        found: Counter = Counter()
        for step in search.successors(shown(state)):
            found[step.action, step.job, step.leaves, step.after] += step.times
        assert found == wanted


@pytest.mark.parametrize(
    "scope",
    [
        *(Scope(2, 4, 1, Rule(rules)) for rules in range(128)),
        *(Scope(2, 5, 1, Rule(rules)) for rules in (0, 1, 2, 4, 8, 15, 16, 32, 64)),
        Scope(1, 4, 2),
        Scope(3, 5, 0, Rule.CRASH),
        Scope(2, 7, 2, Rule.FIXED_SIZE, start=(0x07, 0x38)),
        # Two words a state.
        Scope(3, 9, 2, FIXED, start=(0x007, 0x038, 0x1C0)),
    ],
    ids=lambda scope: (
        f"{scope.jobs}-{scope.leaves}-{scope.failures}-{int(scope.rules)}"
    ),
)
def test_it_is_figure_2_as_sets(scope: Scope) -> None:
    """States, successors, counts, verdicts and components equal those of the twin."""
    twin = Graph(scope, starts(scope))
    search = Search(scope)
    while not search.done:
        assert search.run()
    search.validate()
    states = list(search.states())
    assert len(set(states)) == len(states)
    assert set(states) == {shown(state) for state in twin.moves}
    if len(states) < 3000:
        steps_are_the_twins(search, twin)
    found = search.result()
    assert (found.generated, found.depth) == (twin.generated, twin.depth)
    assert found.endless == twin.endless()
    assert ("ESR" in found.violated) is not twin.esr_holds()
    stuck = {one.job for one in found.counterexamples if one.property == "ReformLive"}
    assert stuck == {job for job in range(scope.jobs) if not twin.reforms(job)}


def replayed(search: Search, steps: tuple[Step, ...]) -> None:
    """Every step of a run is one that the state before it allows."""
    for before, step in pairwise(steps):
        assert step in search.successors(before.after)


def test_three_failures_starve_a_job() -> None:
    """ReformLive is violated at 2/8/3 by a run of 13 states, as the specification says it."""
    scope = Scope(2, 8, 3, start=(0x0F, 0xF0))
    found = explore(scope)
    assert found.violated == BOTH
    assert [one.job for one in found.counterexamples] == [0, 1, None]
    search = Search(scope)
    for one in found.counterexamples:
        assert len(one.steps) == 13
        assert one.loop == 1
        assert one.steps[0].action == "Init"
        replayed(search, one.steps)
        last = one.steps[-1].after
        assert {step.action for step in search.successors(last)} <= {"Seal"}
    starved = found.counterexamples[0]
    last = starved.steps[-1].after
    assert last.jobs[0].phase == "Plan"
    assert last.jobs[0].owned & last.live == 0
    # Five of eight leaves live, and the other job holds them all.
    assert last.live.bit_count() == 5
    assert last.jobs[1].owned == last.live
    assert [step.action for step in starved.steps] == [
        *("Init", "Fail", "Fail", "Detect", "Plan", "Fail", "Commit", "Restore"),
        *("Detect", "Detect", "Plan", "Commit", "Restore"),
    ]


@pytest.mark.parametrize(
    ("fault", "seen", "length"),
    [
        (Rule.UNGUARDED, "NoTheft", 9),
        (Rule.DEAD_PLAN, "PlanFeasible", 4),
        (Rule.FOREIGN_PLAN, "PlanFeasible", 4),
        (Rule.EMPTY_PLAN, "PlanFeasible", 4),
        (Rule.LOOSE_SEAL, "SealFence", 6),
        (Rule.ABORT_RUNS, "PhaseStep", 9),
        (Rule.NO_RESTORE, "EpochStep", 5),
    ],
)
def test_faults_are_seen(fault: Rule, seen: str, length: int) -> None:
    """Each by its property; the run replays, and no shorter one can be written down."""
    scope = Scope(2, 7, 2, fault)
    found = explore(scope)
    (one,) = found.counterexamples
    assert found.verdict is Verdict.VIOLATED
    assert (one.property, one.job, one.loop) == (seen, None, 0)
    assert len(one.steps) == length
    assert found.distinct < 834_050
    replayed(Search(scope), one.steps)


def test_counterexamples_are_shortest() -> None:
    """No state that the twin finds stuck is nearer than the end of the run told."""
    scope = Scope(2, 7, 2, Rule.FIXED_SIZE, start=(0x07, 0x38))
    twin = Graph(scope, starts(scope))
    level, depth, seen = starts(scope), 1, set(starts(scope))
    while all(any(m[0] != "Seal" for m in twin.moves[state]) for state in level):
        following = {move[3] for state in level for move in twin.moves[state]}
        level, depth = list(following - seen), depth + 1
        seen |= following
    found = explore(scope).counterexamples
    assert min(len(one.steps) for one in found) == depth == 4


def test_a_counterexample_is_a_story() -> None:
    """It prints one step a line, then what goes on for ever."""
    scope = Scope(2, 7, 2, Rule.FIXED_SIZE, start=(0x07, 0x38))
    assert str(explore(scope).counterexamples[0]).splitlines() == [
        "ReformLive of job 0 is violated:",
        "   1 Init(leaves 0,1,2,3,4,5,6)",
        "   2 Fail(leaves 0)",
        "   3 Fail(leaves 1)",
        "   4 Detect(job 0; leaves 0,1; epoch 0)",
        "  ... and nothing more",
    ]
    crash = explore(Scope(2, 4, 1, Rule.CRASH)).counterexamples[0]
    assert str(crash).endswith(f"... and round {crash.loop} states for ever")
    assert crash.loop == 2


def test_safety_alone() -> None:
    """Without liveness the counts are the same and nothing is said of ESR."""
    found = explore(Scope(2, 7, 2, Rule.FIXED_SIZE), liveness=False)
    assert (found.generated, found.distinct, found.depth) == (131_180, 50_890, 11)
    assert found.verdict is Verdict.HOLDS
    assert (found.components, found.largest, found.endless) == (0, 0, 0)
    search = Search(Scope(1, 2, 1), liveness=False)
    assert search.counterexample("ESR") is None


def test_too_few_bytes_are_told() -> None:
    """A search that would exceed its bound ends, and says nothing of the rest."""
    found = explore(Scope(2, 6, 2), bytes_max=400_000)
    assert found.verdict is Verdict.OUT_OF_ROOM
    assert 0 < found.distinct < 43_070
    assert found.bytes_peak <= 400_000
    with pytest.raises(InvalidRequest, match="bytes_max 100: too few for any state"):
        explore(Scope(2, 6, 2), bytes_max=100)


def test_a_callback_sees_and_stops() -> None:
    """It is told of every slice; False ends the search, anything else does not."""
    seen: list[Progress] = []
    found = explore(Scope(2, 6, 2), progress=seen.append, slice_states=10_000)
    assert found.verdict is Verdict.HOLDS
    assert {look.stage for look in seen} == {"states", "components", "done"}
    assert [look.expanded for look in seen if look.stage == "states"][:2] == [
        10_000 - 3**6,
        20_000 - 3**6,
    ]
    assert all(look.per_second > 0 for look in seen)
    assert seen[-1].distinct == 43_070
    stopped = explore(
        Scope(2, 6, 2),
        progress=lambda look: look.distinct < 20_000,
        slice_states=1_000,
    )
    assert stopped.verdict is Verdict.STOPPED
    assert 20_000 <= stopped.distinct < 43_070


def test_an_error_in_the_callback_ends_it() -> None:
    """Ctrl-C reaches the caller as it is."""

    def interrupt(_: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explore(Scope(2, 6, 2), progress=interrupt, slice_states=100)


def test_a_broken_invariant_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search whose arrays do not add up raises with the tag."""
    search = Search(Scope(1, 2, 1))
    search.run()
    search.validate()

    class Broken:
        """The core, but what it validates is broken."""

        def __getattr__(self, name: str) -> object:
            return getattr(lib, name)

        def phx_verify_validate(self, core: object, reason: list) -> int:
            """Say that the table is too full."""
            self.text = unreduced.ffi.new("char[]", b"V2: the table is too full")
            reason[0] = self.text
            return int(lib.PHX_BROKEN)

    monkeypatch.setattr(unreduced, "lib", Broken())
    with pytest.raises(InvariantBroken, match="V2: the table is too full"):
        search.validate()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((0, 7, 2), "jobs 0: a whole number from 1 to 4"),
        ((True, 7, 2), "jobs True: a whole number"),
        ((5, 16, 0), "jobs 5: a whole number from 1 to 4"),
        ((2, 5, 2), "leaves 5: a whole number from 6 to 16"),
        ((2, 7.0, 2), "leaves 7.0: a whole number"),
        ((2, 17, 2), "leaves 17: a whole number from 6 to 16"),
        ((1, 16, 8), "failures 8: a whole number from 0 to 7"),
        ((2, 7, 2, 16384), "rules 16384: of Rule"),
        ((2, 7, 2, -1), "rules -1: of Rule"),
        ((2, 7, 2, PRINTED, (7,)), "start .*: one mask a job"),
        ((2, 7, 2, PRINTED, (7, 0x180)), r"start\[1\] 384: a whole number"),
        ((2, 7, 2, PRINTED, (7, 0x18)), r"start\[1\] 0x18: more than 2 leaves"),
        ((2, 7, 2, PRINTED, (7, 0x1C)), r"start\[1\] 0x1c: no leaf of another job"),
        ((4, 12, 2), "4 jobs, 12 leaves, 2 failures: a state must fit two words"),
    ],
)
def test_bad_scopes_are_refused(given: tuple, told: str) -> None:
    """Object, value and rule are named."""
    with pytest.raises(InvalidRequest, match=f"scope: {told}"):
        Scope(*given)


def test_every_scope_that_is_one_can_be_searched() -> None:
    """The core packs whatever has at most 128 bits."""
    searched = 0
    for jobs, leaves, failures in product(range(1, 5), range(1, 17), range(8)):
        if leaves >= jobs * (failures + 1):
            try:
                scope = Scope(jobs, leaves, failures)
            except InvalidRequest:
                continue
            Search(scope)
            searched += 1
    assert searched > 100


def test_bad_calls_are_refused() -> None:
    """Bytes, slices and names of properties are checked."""
    scope = Scope(1, 2, 1)
    with pytest.raises(InvalidRequest, match="bytes_max 0: at least 1"):
        explore(scope, bytes_max=0)
    with pytest.raises(InvalidRequest, match="slice_states 0: at least 1"):
        explore(scope, slice_states=0)
    with pytest.raises(InvalidRequest, match="property 'Live': one of TypeOK"):
        Search(scope).counterexample("Live")


def test_names_are_those_of_the_specification() -> None:
    """Actions and properties are called as in the paper and in the stronger set."""
    assert (
        *("Init", "Fail", "Detect", "Plan", "Commit"),
        *("Abort", "Seal", "Restore", "Crash"),
    ) == ACTIONS
    assert (
        *("TypeOK", "SealBound", "RunWitness", "RestoreReady", "EpochBound"),
        *("Footprint", "NonEmpty", "EpochMonotone", "EpochStep", "SealFence"),
        *("NoTheft", "CommitPlanned", "PlanFeasible", "PhaseStep", "DetectReal"),
        *("ReformLive", "ESR"),
    ) == PROPERTIES
