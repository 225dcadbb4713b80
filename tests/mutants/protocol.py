"""Breaks the protocol and its checker one line at a time; a test must fail for each.

``python -m tests.mutants.protocol [NAME...]``

Each guard of the transitions, each property and each rule of the checker is broken once,
in a copy of the package. The mutants that the package ships are models; these are texts.
"""

from __future__ import annotations

import sys

from tests.mutants.lines import Fault, Table

CASES = "reformation/test_transition.py"
WALKS = "reformation/test_every_event.py"
FIGURE = "verification/test_figure2.py::test_every_orbit_of_2_7_2"
CAUGHT = "verification/test_mutants.py::test_mutant_is_caught"
FAIR = (
    "verification/test_liveness.py::test_fair_components_are_where_a_fair_run_can_stay"
)
COUNTS = "verification/test_symmetry.py::test_counts_are_those_of_every_state"

GUARDS = "reformation/guards.py"
REPAIRS = "reformation/repairs.py"
LIFE = "reformation/lifecycle.py"
PROPERTIES = "verification/properties.py"
HARD = "verification/hardened.py"
QUOTIENT = "verification/quotient.py"

TRANSITIONS = (
    Fault("epoch not compared", GUARDS, "event.epoch != job.epoch", "False", CASES),
    Fault("uid not compared", GUARDS, "event.uid != job.uid", "False", CASES),
    Fault(
        "lost leaves forgotten",
        GUARDS,
        "return job.alloc & (~records.live | records.lost) != 0",
        "return job.alloc & ~records.live != 0",
        CASES,
    ),
    Fault(
        "own fence ignored",
        "reformation/records.py",
        "one.fenced if index == job else",
        "0 if index == job else",
        CASES,
    ),
    Fault(
        "empty plan allowed",
        GUARDS,
        "return plan != 0 and not must",
        "return not must",
        FIGURE,
    ),
    Fault(
        "claimed leaves may be dead",
        GUARDS,
        "if rules.commit_live and job.plan & ~records.live:",
        "if rules.commit_live and job.plan & 0:",
        CASES,
    ),
    Fault(
        "verdict after the plan ignored",
        GUARDS,
        "job.plan & ~job.alloc & records.suspect)",
        "job.plan & 0)",
        CASES,
    ),
    Fault(
        "withdrawn verdict ignored",
        GUARDS,
        "return job.cause != DRAIN or",
        "return True or",
        CASES,
    ),
    Fault(
        "growth overtakes repair",
        GUARDS,
        "        rules.repairs_first\n        and job.cause != REPAIR",
        "        False\n        and job.cause != REPAIR",
        CASES,
    ),
    Fault(
        "an older manifest will do",
        REPAIRS,
        "if rules.newest_manifest and not",
        "if False and not",
        CASES,
    ),
    Fault("no epoch spent", REPAIRS, "RESTORE, epoch + 1,", "RESTORE, epoch,", FIGURE),
    Fault(
        "nothing is fenced", REPAIRS, "fenced |= alloc & ~plan", "fenced |= 0", CASES
    ),
    Fault("lost for ever", REPAIRS, "lost & ~(alloc | plan))", "lost)", CASES),
    Fault(
        "released and free at once",
        LIFE,
        "job.fenced | job.alloc if rules",
        "job.fenced if rules",
        CASES,
    ),
    Fault(
        "uid used again",
        LIFE,
        "if event.uid != old.uid + 1:",
        "if event.uid < 1:",
        CASES,
    ),
    Fault(
        "no smaller drain refused",
        LIFE,
        "if not guards.same_size(job, plan):",
        "if False:",
        CASES,
    ),
    Fault(
        "fence of a dead leaf",
        "reformation/leaves.py",
        "if leaves & ~records.live:",
        "if False:",
        CASES,
    ),
    Fault(
        "a drain is not offered",
        "reformation/enabling.py",
        "if alloc & records.suspect:",
        "if False:",
        WALKS,
    ),
    Fault(
        "a dead leaf is not offered to heal",
        "reformation/enabling.py",
        "choices.singles(choices.everything & ~records.live)",
        "choices.singles(0)",
        WALKS,
    ),
)
TWIN = (
    Fault(
        "suspect leaves must be kept",
        GUARDS,
        "            must &= ~records.suspect\n",
        "            pass\n",
        WALKS,
    ),
    Fault(
        "a repair keeps its base",
        REPAIRS,
        "job = Job(PLAN, epoch, alloc, 0, sealed, fenced, REPAIR, -1, uid)",
        "job = Job(PLAN, epoch, alloc, 0, sealed, fenced, REPAIR, job.base, uid)",
        WALKS,
    ),
    Fault(
        "a crash leaves the plan",
        "reformation/changes.py",
        "return Job(PLAN, epoch, alloc, 0, sealed",
        "return Job(PLAN, epoch, alloc, job.plan, sealed",
        WALKS,
    ),
)
CHECKER = (
    Fault(
        "stuttering is no run",
        "verification/liveness.py",
        "        if always <= taken:",
        "        if always <= taken and len(component) > 1:",
        FAIR,
    ),
    Fault(
        "what is cut off is impossible",
        "verification/liveness.py",
        "always &= possible.union(graph.cut[at])",
        "always &= possible",
        FAIR,
    ),
    Fault(
        "enabled somewhere is enabled always",
        "verification/liveness.py",
        "always &= possible.union(graph.cut[at])",
        "always |= set()",
        FAIR,
    ),
    Fault(
        "steps out of a component count",
        "verification/liveness.py",
        "for label, to in graph.edges[at] if to in within}",
        "for label, to in graph.edges[at]}",
        FAIR,
    ),
    Fault(
        "equal leaves counted once",
        "verification/symmetry.py",
        "comb(size, taken)",
        "1",
        COUNTS,
    ),
    Fault(
        "orbits too large",
        "verification/symmetry.py",
        "count //= factorial(len(list(equal)))",
        "count //= len(list(equal))",
        COUNTS,
    ),
    Fault(
        "zombies left out of the key",
        "verification/symmetry.py",
        "word |= spread[mask] << at\n                at += 1",
        "at += 1",
        f"{CAUGHT}[no fence_freed]",
    ),
    Fault(
        "seals that change nothing left out",
        QUOTIENT,
        "            self.by_action[event.action] += size * count\n",
        "            self.by_action[event.action] += size * count * (after != state)\n",
        COUNTS,
    ),
    Fault(
        "depth one too small",
        QUOTIENT,
        "depth = level = 0",
        "depth = level = -1",
        COUNTS,
    ),
    Fault(
        "zombies end by themselves",
        "verification/model.py",
        "zombies[index] | old & ~new",
        "zombies[index]",
        f"{CAUGHT}[no fence_freed]",
    ),
    Fault(
        "a dead agent ends zombies",
        "verification/model.py",
        "ended = event.leaves & before.live",
        "ended = event.leaves",
        f"{CAUGHT}[fence]",
    ),
    Fault(
        "a restore that is given up is not looked at",
        HARD,
        "(old.phase != RESTORE or new.phase == RESTORE)",
        "True",
        "verification/test_hardened.py::test_a_restore_is_given_up_for_a_reason",
    ),
)
BLIND = tuple(
    Fault(f"{name} sees nothing", file, sound, faulty, f"{CAUGHT}[{mutant}]")
    for name, file, sound, faulty, mutant in (
        (
            "Footprint",
            PROPERTIES,
            "        job.alloc == job.plan\n",
            "        True\n",
            "m07",
        ),
        (
            "EpochStep",
            PROPERTIES,
            "new.epoch == old.epoch + 1 and",
            "new.epoch and",
            "m13",
        ),
        (
            "RestoreRead",
            PROPERTIES,
            "return event.manifest < job.epoch and",
            "return True or",
            "m08",
        ),
        ("SealLive", PROPERTIES, "one.sealed >> one.epoch & 1 == 1", "True", "m09"),
        ("DetectReal", PROPERTIES, "old.alloc & ~before.live != 0\n", "True\n", "m11"),
        ("NoTheft", PROPERTIES, "not old.alloc & ~new.alloc or", "True or", "m18"),
        (
            "Exclusive",
            HARD,
            "        if taken & job.alloc:",
            "        if False:",
            "release",
        ),
        ("RunStep", HARD, "return not missing and", "return", "no restore_live"),
        ("UidFresh", HARD, "or new.uid > old.uid", "or new.uid >= old.uid", "admit"),
        ("RestoreNewest", HARD, "- 1 == event.manifest", ">= 0", "no newest_manifest"),
    )
)

TABLE = Table("phalanx_core", "tests/unit", (*TRANSITIONS, *TWIN, *CHECKER, *BLIND))

if __name__ == "__main__":
    sys.exit(TABLE.tried(sys.argv[1:]))
