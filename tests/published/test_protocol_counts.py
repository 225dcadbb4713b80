"""State spaces of the reformation protocol: the paper's counts, and all that are known.

Sources: Phalanx, Table 2 (2/6/2 and 2/7/2), and TLC's own runs of Figure 2 and of its
fixes. Every number is a literal; the quotient by leaf symmetry must add up to it.
"""

from __future__ import annotations

import pytest

from phalanx_core.reformation import FIXED, PRINTED, Action, Phase, Rules
from phalanx_core.reformation.guards import commit_refusal
from phalanx_core.verification import (
    ESR,
    PAPER_INVARIANTS,
    PAPER_STEPS,
    REFORM_LIVE,
    STRONG_INVARIANTS,
    STRONG_STEPS,
    Model,
    Scope,
    State,
    job_orbits,
    search,
    violated,
)
from phalanx_core.verification.liveness import components

PINNED = Rules(pin_survivors=True)
STRICT = Rules(restore_live=True)
STRICT_LIVE = Rules(restore_live=True, commit_live=True)
STRICT_DETECT = Rules(restore_live=True, commit_live=True, detect_in_restore=True)

# Rules, scope; init, generated, distinct, depth, orbits; whether liveness holds.
ROWS = [
    (PRINTED, (2, 6, 2), 20, 120_000, 43_070, 13, 213, True),
    (PRINTED, (2, 7, 2), 210, 3_146_990, 834_050, 13, 759, True),
    (PRINTED, (2, 8, 2), 1_302, 70_201_362, 12_314_974, 13, 2_029, True),
    (PRINTED, (2, 9, 2), 6_258, 1_312_188_696, 149_625_840, 13, 4_568, True),
    (PRINTED, (2, 10, 2), 25_902, 21_409_792_626, 1_605_685_422, 13, 9_154, True),
    (PRINTED, (2, 12, 2), 343_508, 4_383_691_963_596, 152_262_549_164, 13, 29_121, True),
    (PRINTED, (3, 9, 2), 1_680, 37_814_280, 9_973_320, 13, 523, True),
    (PRINTED, (3, 10, 2), 29_400, 1_456_209_300, 307_038_900, 13, 2_405, True),
    (PRINTED, (3, 11, 2), 293_370, 43_693_432_860, 6_656_807_850, 13, 7_566, True),
    (PRINTED, (3, 12, 2), 2_206_050, 1_079_323_171_080, 114_842_229_810, 13, 19_453, True),
    (PRINTED, (2, 8, 3), 70, 86_278_402, 22_255_534, 19, 4_273, False),
    (PRINTED, (2, 9, 3), 882, 4_147_823_232, 588_087_864, 24, 17_322, False),
    (PRINTED, (2, 10, 3), 6_342, 173_692_512_426, 12_483_823_902, 24, 46_871, False),
    (PRINTED, (3, 12, 3), 34_650, 3_277_344_494_160, 268_007_203_530, 19, 28_854, False),
    (Rules(abort=False), (2, 7, 2), 210, 1_937_390, 713_090, 13, 705, False),
    (PINNED, (2, 7, 2), 210, 431_270, 157_220, 13, 311, True),
    (PINNED, (2, 8, 3), 70, 1_735_090, 566_230, 19, 441, True),
    (PINNED, (2, 9, 3), 882, 43_695_288, 14_399_784, 24, 1_802, True),
    (STRICT, (2, 7, 2), 210, 3_142_790, 834_050, 13, 759, False),
    (STRICT_LIVE, (2, 7, 2), 210, 3_198_230, 848_330, 13, 783, False),
    (STRICT_DETECT, (2, 7, 2), 210, 3_202_430, 848_330, 13, 783, True),
    (FIXED, (2, 9, 3), 882, 47_281_248, 15_481_872, 19, 1_801, True),
    (FIXED, (3, 12, 3), 34_650, 4_803_460_200, 1_176_332_850, 19, 1_342, True),
    (Rules(fixed_gang=True), (2, 7, 2), 210, 131_180, 50_890, 11, 95, False),
    (Rules(crashes=True), (2, 7, 2), 210, 10_651_130, 1_442_490, 13, 1_156, False),
]  # fmt: skip

# Orbits of printed rows if jobs are permuted as well; of 2/6/2 and 3/12/3 none is known.
WITH_JOBS = {
    (2, 7, 2): 387,
    (2, 8, 2): 1_030,
    (2, 9, 2): 2_305,
    (2, 10, 2): 4_612,
    (2, 12, 2): 14_630,
    (3, 9, 2): 112,
    (3, 10, 2): 460,
    (3, 11, 2): 1_396,
    (3, 12, 2): 3_484,
    (2, 8, 3): 2_147,
    (2, 9, 3): 8_689,
    (2, 10, 3): 23_477,
}


def told(row: tuple) -> str:
    """A row's scope, and which rules differ from the printed ones."""
    rules = row[0]
    differ = (
        name
        for name in rules.__slots__
        if getattr(rules, name) != getattr(PRINTED, name)
    )
    return "/".join(map(str, row[1])) + "".join(f" {name}" for name in differ)


@pytest.mark.parametrize("row", ROWS, ids=told)
def test_state_space(row: tuple) -> None:
    """Generated, distinct, depth, orbits and liveness are those that TLC reports.

    Permuting jobs as well leaves as many states as TLC with both symmetries.
    """
    rules, scope, init, generated, distinct, depth, orbits, live = row
    report = search(Model(Scope(*scope), rules))
    counts = report.counts
    assert (counts.init, counts.generated, counts.distinct) == (
        init,
        generated,
        distinct,
    )
    assert (counts.depth, counts.orbits) == (depth, orbits)
    names = [one.name for one in violated(report.graph, [REFORM_LIVE, ESR])]
    assert names == ([] if live else ["ReformLive", "ESR"])
    if rules == PRINTED and scope in WITH_JOBS:
        assert job_orbits(report.graph) == WITH_JOBS[scope]


def test_orbits_with_jobs_are_of_rows() -> None:
    """Each count of orbits with jobs is of a printed row, and so is compared."""
    assert set(WITH_JOBS) <= {row[1] for row in ROWS if row[0] == PRINTED}


@pytest.mark.parametrize(
    ("scope", "counts"),
    [
        ((2, 6, 2), (8_520, 6_240, 25_200, 25_680, 0, 40_240, 14_100)),
        (
            (2, 7, 2),
            (115_710, 71_680, 1_482_460, 529_060, 120_960, 605_080, 221_830),
        ),
    ],
)
def test_transitions_by_action(
    scope: tuple[int, int, int], counts: tuple[int, ...]
) -> None:
    """Each action of Figure 2 fires as often as under TLC; with six leaves none aborts."""
    actions = (
        Action.FAIL,
        Action.DETECT,
        Action.PLAN,
        Action.COMMIT,
        Action.ABORT,
        Action.SEAL,
        Action.RESTORE,
    )
    found = search(Model(Scope(*scope))).counts.by_action
    assert tuple(found.get(action, 0) for action in actions) == counts
    assert sum(found.values()) == sum(counts)


@pytest.mark.parametrize("scope", [(2, 6, 2), (2, 7, 2)])
def test_table_2_passes(scope: tuple[int, int, int]) -> None:
    """All that the paper checks, and the stronger set, holds in the scopes of Table 2."""
    for invariants, steps in (
        (PAPER_INVARIANTS, PAPER_STEPS),
        (STRONG_INVARIANTS, STRONG_STEPS),
    ):
        report = search(Model(Scope(*scope)), invariants, steps)
        assert report.violations == ()


@pytest.mark.parametrize(
    ("rules", "scope", "generated", "distinct", "depth"),
    [
        (PINNED, Scope(2, 8, 3, sizes=(4, 4), one_start=True), 29_491, 10_033, 19),
        (PRINTED, Scope(2, 7, 2, sizes=(3, 3), one_start=True), None, 16_874, 13),
    ],
)
def test_one_start(
    rules: Rules, scope: Scope, generated: int | None, distinct: int, depth: int
) -> None:
    """From one initial allocation the counts are those of TLC from that one."""
    counts = search(Model(scope, rules)).counts
    assert (counts.init, counts.distinct, counts.depth) == (1, distinct, depth)
    assert generated in (None, counts.generated)


def test_crash_loop() -> None:
    """Crashes without end go round 100 orbits; weak fairness cannot end them (F9)."""
    graph = search(Model(Scope(2, 7, 2), Rules(crashes=True))).graph
    [violation] = violated(graph, [ESR])
    assert len(violation.loop) > 1
    successors = [[to for _, to in edges] for edges in graph.edges]
    everywhere = [True] * len(successors)
    assert max(map(len, components(successors, everywhere))) == 100


@pytest.mark.parametrize(("scope", "states"), [((2, 6, 2), 480), ((2, 7, 2), 14_280)])
def test_states_with_a_dead_commit(scope: tuple[int, int, int], states: int) -> None:
    """States in which a job may commit leaves of which one died after the plan (F2).

    Printed, the guard of a commit asks for owners only, and so is not stable: what is
    committed is broken at once. With liveness in the guard there is none.
    """

    def dead_commits(rules: Rules) -> int:
        graph = search(Model(Scope(*scope), rules)).graph
        return sum(
            graph.symmetry.orbit(key)
            for key, state in zip(graph.keys, graph.states, strict=True)
            if any(
                job.phase == Phase.COMMIT
                and job.plan & ~state.records.live
                and not commit_refusal(state.records, index, rules)
                for index, job in enumerate(state.records.jobs)
            )
        )

    assert dead_commits(PRINTED) == states
    assert dead_commits(Rules(commit_live=True)) == 0


def test_deadlocks_without_smaller_templates() -> None:
    """With a fixed gang two orbits have no step at all: both jobs wait for one spare.

    Orbits in which one job is left waiting, while the other runs on, are 16 more.
    """
    model = Model(Scope(2, 7, 2), Rules(fixed_gang=True))
    graph = search(model).graph
    ends = [at for at, edges in enumerate(graph.edges) if not edges]
    dead = [
        graph.states[at]
        for at in ends
        if not any(
            isinstance(model.step(graph.states[at], event), State)
            for event, _ in model.events(
                graph.states[at], graph.symmetry.choices(graph.keys[at])
            )
        )
    ]
    assert len(dead) == 2
    assert all(job.phase == Phase.PLAN for one in dead for job in one.records.jobs)
    waiting = [
        at
        for at in ends
        if any(job.phase == Phase.PLAN for job in graph.states[at].records.jobs)
    ]
    assert len(waiting) == len(dead) + 16


@pytest.mark.parametrize("scope", [(2, 6, 2), (2, 7, 2), (3, 9, 2), (2, 8, 3)])
def test_printed_there_is_no_cycle(scope: tuple[int, int, int]) -> None:
    """Every component is a single orbit, so liveness is that no state is stuck."""
    graph = search(Model(Scope(*scope))).graph
    successors = [[to for _, to in edges] for edges in graph.edges]
    found = components(successors, [True] * len(successors))
    assert len(found) == len(graph.keys)
